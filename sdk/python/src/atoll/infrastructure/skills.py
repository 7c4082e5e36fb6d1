"""Finds skills below a directory: `SKILL.md` with front matter, or Python with a docstring."""
from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional


@dataclass(frozen=True)
class Skill:
    name: str
    description: str
    path: Path


def find_skills(directory: Path) -> List[Skill]:
    """Sorted by name. What cannot be read is listed without a description, never left out."""
    found: List[Skill] = []
    for entry in sorted(directory.iterdir(), key=lambda one: one.name):
        if entry.name.startswith((".", "__")):
            continue
        skill = _skill(entry)
        if skill is not None:
            found.append(skill)
    return found


def _skill(entry: Path) -> Optional[Skill]:
    if entry.is_file():
        return Skill(entry.stem, _docstring(entry), entry) if entry.suffix == ".py" else None
    described = entry / "SKILL.md"
    if described.is_file():
        matter = front_matter(_text(described))
        return Skill(matter.get("name", entry.name), matter.get("description", ""), entry)
    modules = sorted(entry.glob("*.py"))
    if not modules:
        return None
    package = entry / "__init__.py"
    description = _docstring(package) if package.is_file() else ""
    names = ", ".join(one.stem for one in modules if one.name != "__init__.py")
    return Skill(entry.name, description or (f"modules {names}" if names else ""), entry)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _docstring(path: Path) -> str:
    """Its first line; the file is parsed and never run."""
    try:
        text = ast.get_docstring(ast.parse(_text(path)))
    except (SyntaxError, ValueError):
        return ""
    return text.strip().split("\n", 1)[0] if text else ""


def front_matter(text: str) -> Dict[str, str]:
    """The scalars of the first level: plain, quoted or folded over lines. Maps and lists below are left out."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    found: Dict[str, str] = {}
    name = ""
    for line in lines[1:]:
        if line.strip() in ("---", "..."):
            break
        if line[:1] in (" ", "\t"):
            if name:
                found[name] = f"{found[name]} {line.strip()}".strip()
            continue
        key, colon, value = line.partition(":")
        name = key.strip() if colon else ""
        if name:
            value = value.strip()
            found[name] = "" if value in (">", ">-", "|", "|-") else _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
