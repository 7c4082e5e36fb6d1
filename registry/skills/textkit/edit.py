"""Exact replacement with a check."""


def replace_once(old, new, path):
    """Replaces the only occurrence of `old`. Raises ValueError, and changes nothing, if there is none or more."""
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    count = text.count(old)
    if count != 1:
        raise ValueError(f"{path}: found {count} times, must be found once: {old[:60]!r}")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text.replace(old, new))
