#!/usr/bin/env python3
"""Turns the lines of vfs_bench and memfs.mjs into a section of bench/RESULTS.md."""
import sys

GOALS = {
    "overhead per file": "at most 200 bytes",
    "an empty filesystem": "under 1 KB",
}


def goal(operation):
    if operation.startswith(("snapshot at", "fork at")):
        return "under 1 µs"
    if operation.startswith("write after a snapshot"):
        return "under 5 µs"
    return GOALS.get(operation, "")


def number(value):
    value = float(value)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main():
    figures, version = sys.argv[1:]
    rows = [line.rstrip("\n").split("\t") for line in open(figures, encoding="utf-8")]
    by = {}
    for subject, operation, value, unit in rows:
        by.setdefault(operation, {"unit": unit})[subject] = value
    shared = [operation for operation, row in by.items() if "tmpfs" in row]
    print("## vfs\n")
    print("100,000 files of 1 KB in 1,000 directories, one thread. tmpfs is reached by system calls from the same"
          f" program; memfs is npm's memfs {version} through its synchronous calls. One run, one after the other;"
          " processor time (user and system), so that other work on the machine does not count. The last two columns say"
          " how many times faster Atoll is.\n")
    print("| operation | unit | Atoll | tmpfs | memfs | × tmpfs | × memfs |\n|---|---|---|---|---|---|---|")
    for operation in shared:
        row = by[operation]
        ratios = []
        for peer in ("tmpfs", "memfs"):
            if peer not in row:
                ratios.append("–")
                continue
            ratio = float(row["atoll"]) / float(row[peer])
            ratios.append(f"{1 / ratio if row['unit'] == 'us' else ratio:.1f}")
        peers = [number(row[peer]) if peer in row else "not installed" for peer in ("tmpfs", "memfs")]
        print(f"| {operation} | {row['unit']} | {number(row['atoll'])} | {peers[0]} | {peers[1]} | {ratios[0]} | {ratios[1]} |")
    print("\n| Atoll alone | figure | unit | goal |\n|---|---|---|---|")
    for operation, row in by.items():
        if operation not in shared:
            print(f"| {operation} | {number(row['atoll'])} | {row['unit']} | {goal(operation)} |")


if __name__ == "__main__":
    main()
