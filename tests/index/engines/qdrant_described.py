#!/usr/bin/env python3
"""Between us and a server that speaks as Qdrant does: every answer gets every member that Qdrant's published description has for it,
with each of the words that the description allows in turn, and is held against that description (the models of PyPI qdrant-client
are made from it). A test server.

Usage: qdrant_described.py TARGET_PORT LOG    prints the port it listens on; LOG gets a line for each kind of answer and each complaint
"""
import http.client
import http.server
import itertools
import json
import sys
import threading

from qdrant_client.http import models

USAGE = {"hardware": dict.fromkeys(models.HardwareUsage.model_fields, 7), "inference": {"models": {"m": {"tokens": 3}}}}
UPDATES = [{"operation_id": 9, "status": word.value} for word in models.UpdateStatus] + [{"operation_id": None, "status": "completed"}]
HNSW = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000, "max_indexing_threads": 0, "on_disk": False, "payload_m": None}
OPTIMIZER = {"deleted_threshold": 0.2, "vacuum_min_vector_number": 1000, "default_segment_number": 0, "max_segment_size": None,
             "memmap_threshold": None, "indexing_threshold": 20000, "flush_interval_sec": 5, "max_optimization_threads": None}


def info_forms(result):
    params = result["config"]["params"]
    schema = {name: {"data_type": "keyword", "params": {"type": "keyword", "is_tenant": name == "place"}, "points": 5}
              for name in result["payload_schema"]}
    for status, optimizer in itertools.product(models.CollectionStatus, ("ok", {"error": "disk is slow"})):
        yield {"status": status.value, "optimizer_status": optimizer, "warnings": [{"message": "m"}], "indexed_vectors_count": 3, "points_count": 3,
               "segments_count": 2, "payload_schema": schema, "created_at": "2026-01-01T00:00:00Z",
               "config": {"params": {"vectors": {**params["vectors"], "on_disk": True, "hnsw_config": None, "datatype": "float32"}, "shard_number": 1,
                                     "sharding_method": "auto", "replication_factor": 1, "write_consistency_factor": 1,
                                     "read_fan_out_factor": None, "on_disk_payload": True, "sparse_vectors": None},
                          "hnsw_config": HNSW, "optimizer_config": OPTIMIZER, "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
                          "quantization_config": None, "strict_mode_config": {"enabled": False}, "metadata": {"a": 1}}}


def points_forms(result):
    more = [{"payload": None, "vector": None, "shard_key": "k", "order_value": 1.5}, {"payload": {"a": 1}, "vector": [0.1, 0.2], "shard_key": 3,
            "order_value": 2}, {}]
    for one in more:
        yield {"points": [{"version": at, **point, **one} for at, point in enumerate(result["points"])]}


def forms(method, path, result):
    """The model of the answer, and the answer in every form."""
    if path.endswith("/points/query"):
        return models.InlineResponse20022, list(points_forms(result))
    if path.endswith("/points/count"):
        return models.InlineResponse20020, [result]
    if path.endswith(("/points", "/points/delete", "/index")):
        return models.InlineResponse2008, UPDATES
    if method == "GET":
        return models.InlineResponse2007, list(info_forms(result))
    return models.InlineResponse2001, [True, result]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lock, turns, seen = threading.Lock(), itertools.count(), set()

    def note(self, line):
        with self.lock:
            if line not in self.seen:
                self.seen.add(line)
                with open(sys.argv[2], "a", encoding="utf-8") as log:
                    log.write(line + "\n")

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        target = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
        target.request(self.command, self.path, body, {"Content-Type": "application/json"})
        got = target.getresponse()
        said, path = json.loads(got.read()), self.path.split("?")[0]
        try:
            if got.status == 200:
                turn = next(self.turns)
                model, all_forms = forms(self.command, path, said["result"])
                at = turn % len(all_forms)
                said = {"usage": USAGE if turn % 2 else None, "time": 0.002, "status": "ok", "result": all_forms[at]}
                kind = f"{model.__name__} {at}"
            else:
                model, kind = models.ErrorResponse, f"ErrorResponse {got.status}"
            model.model_validate(said)
            self.note(f"ok {self.command} {'/'.join(path.split('/')[3:])} {kind}")
        except Exception as error:  # noqa: BLE001
            self.note(f"complaint {self.command} {path}: {error}")
        data = json.dumps(said).encode()
        self.send_response(got.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
