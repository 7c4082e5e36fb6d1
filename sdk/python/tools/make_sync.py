#!/usr/bin/env python3
"""Makes src/atoll/_sync from src/atoll/_async, so that both clients have one source.

    make_sync.py            writes the files
    make_sync.py --check    fails if a file differs from what would be written
"""
from __future__ import annotations

import pathlib
import re
import sys

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "src" / "atoll"
RULES = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync([A-Z]\w*)", r"\1"),
    (r"\basync_(\w+)", r"sync_\1"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\benter_async_context\b", "enter_context"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
]
HEAD = "# Made by tools/make_sync.py from _async/{name}; change that one.\n"


def converted(name: str, text: str) -> str:
    for pattern, instead in RULES:
        text = re.sub(pattern, instead, text)
    text = text.replace("anyio.ClosedResourceError, ", "").replace("import anyio\n", "")
    if name == "__init__.py":
        text = '"""The blocking client."""\n'
    return HEAD.format(name=name) + text


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    wrong = []
    for source in sorted((PACKAGE / "_async").glob("*.py")):
        target = PACKAGE / "_sync" / source.name
        text = converted(source.name, source.read_text())
        if check and (not target.exists() or target.read_text() != text):
            wrong.append(target.name)
        elif not check:
            target.write_text(text)
    if wrong:
        print("not what tools/make_sync.py makes:", ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
