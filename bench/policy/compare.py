#!/usr/bin/env python3
"""The rules of `strict` for Python by CPython's ast, and bandit where it is installed, over the same files.

Prints one JSON line: megabytes a second in processor time, best of three.
"""
import ast
import json
import sys
import time

IMPORTS = {"os", "subprocess", "sys", "socket"}
NAMES = {"eval", "exec", "compile", "__import__", "globals", "locals", "__builtins__"}
ATTRIBUTES = {"__subclasses__", "__globals__", "__builtins__", "__code__", "f_back", "f_globals", "gi_frame", "tb_frame"}


def findings(text):
    found = 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += any(alias.name.split(".")[0] in IMPORTS for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found += node.level == 0 and (node.module or "").split(".")[0] in IMPORTS
        elif isinstance(node, ast.Name):
            found += isinstance(node.ctx, ast.Load) and node.id in NAMES
        elif isinstance(node, ast.Attribute):
            found += node.attr in ATTRIBUTES
    return found


def best(run):
    times = []
    for _ in range(3):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def main():
    texts = []
    for path in sys.argv[1:]:
        try:
            texts.append(open(path, encoding="utf-8").read())
        except UnicodeDecodeError:
            continue
    size = sum(len(text.encode()) for text in texts)
    result = {"ast_mb_per_s": round(size / best(lambda: [findings(text) for text in texts]) / 1e6, 2)}
    try:
        from bandit.core import config, manager
        few = sys.argv[1:][:40]

        def bandit():
            made = manager.BanditManager(config.BanditConfig(), "file")
            made.discover_files(few)
            made.run_tests()

        few_size = sum(len(open(path, "rb").read()) for path in few)
        result["bandit_mb_per_s"] = round(few_size / best(bandit) / 1e6, 3)
    except ImportError:
        result["bandit_mb_per_s"] = None
    print(json.dumps(result))


if __name__ == "__main__":
    main()
