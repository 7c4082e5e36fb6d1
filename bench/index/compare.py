#!/usr/bin/env python3
"""The same measure for others: Qdrant's engine (PyPI qdrant-edge-py) and sqlite-vec (npm), on vectors of the same kind.

Usage: compare.py COUNT [VEC0.so]    needs numpy, and qdrant_edge if it is to be measured; one line of JSON for each
"""
import json
import resource
import sqlite3
import sys
import tempfile
import time

import numpy

DIMENSION, LATENT, WANTED = 384, 32, 10


def vectors(dice, count, axes, centres):
    latent = centres[dice.integers(0, len(centres), count)] + 0.6 * dice.standard_normal((count, LATENT))
    made = (latent @ axes.T + 0.5 * dice.standard_normal((count, DIMENSION))).astype(numpy.float32)
    return made / numpy.linalg.norm(made, axis=1, keepdims=True)


def report(name, count, build, queries, exact, search, memory):
    right, times = 0, []
    for query, wanted in zip(queries, exact):
        begun = time.perf_counter()
        found = search(query)
        times.append((time.perf_counter() - begun) * 1000)
        right += len(set(found) & set(wanted))
    times.sort()
    print(json.dumps({"name": name, "vectors": count, "build_s": round(build, 1), "memory_mb": round(memory),
                      "recall": right / (WANTED * len(queries)), "p50_ms": round(times[len(times) // 2], 3),
                      "p95_ms": round(times[len(times) * 95 // 100], 3)}), flush=True)


def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def qdrant(data, queries, exact):
    import qdrant_edge as edge
    with tempfile.TemporaryDirectory() as place:
        before = resident()
        shard = edge.EdgeShard.create(place, edge.EdgeConfig(vectors=edge.EdgeVectorParams(size=DIMENSION, distance=edge.Distance.Cosine)))
        begun = time.perf_counter()
        for start in range(0, len(data), 1000):
            shard.update(edge.UpdateOperation.upsert_points(
                [edge.Point(start + i, one.tolist(), {}) for i, one in enumerate(data[start:start + 1000])]))
        shard.optimize()
        build = time.perf_counter() - begun
        report("qdrant-edge", len(data), build, queries, exact,
               lambda query: [one.id for one in shard.query(edge.QueryRequest(query=edge.Query.Nearest(query.tolist()), limit=WANTED))],
               resident() - before)
        shard.close()


def sqlite_vec(data, queries, exact, library):
    base = sqlite3.connect(":memory:")
    base.enable_load_extension(True)
    base.load_extension(library)
    before = resident()
    begun = time.perf_counter()
    base.execute(f"CREATE VIRTUAL TABLE v USING vec0(e float[{DIMENSION}] distance_metric=cosine)")
    base.executemany("INSERT INTO v(rowid, e) VALUES (?, ?)", ((i + 1, one.tobytes()) for i, one in enumerate(data)))
    build = time.perf_counter() - begun
    report("sqlite-vec", len(data), build, queries, exact,
           lambda query: [row[0] - 1 for row in base.execute("SELECT rowid FROM v WHERE e MATCH ? AND k = ?", (query.tobytes(), WANTED))],
           resident() - before)


def main():
    count = int(sys.argv[1])
    dice = numpy.random.default_rng(17)
    axes, centres = dice.standard_normal((DIMENSION, LATENT)), dice.standard_normal((2000, LATENT))
    data, queries = vectors(dice, count, axes, centres), vectors(dice, 100, axes, centres)
    exact = [numpy.argsort(-(data @ query))[:WANTED].tolist() for query in queries]
    try:
        qdrant(data, queries, exact)
    except ImportError:
        print("qdrant_edge is not installed: left out", file=sys.stderr)
    if len(sys.argv) > 2:
        sqlite_vec(data, queries, exact, sys.argv[2])


main()
