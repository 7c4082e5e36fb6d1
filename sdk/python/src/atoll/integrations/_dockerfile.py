"""What a Dockerfile does, as steps that can be carried out in a session of the environment that stands for its image."""
from __future__ import annotations

import json
import posixpath
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Tuple

# They say how a container is started or described, which is not what a sandbox is asked.
_IGNORED = {"CMD", "ENTRYPOINT", "EXPOSE", "LABEL", "HEALTHCHECK", "STOPSIGNAL", "VOLUME", "MAINTAINER"}


class DockerfileError(ValueError):
    """The file holds what cannot be carried out in a session; the message names the line and the way out."""


@dataclass(frozen=True)
class Step:
    """A command (`argv`), or files that are copied (`sources` to `target`)."""

    line: int
    user: str
    cwd: str
    env: Dict[str, str]
    argv: Tuple[str, ...] = ()
    sources: Tuple[str, ...] = ()
    target: str = ""
    mode: Optional[int] = None
    owner: str = ""


@dataclass
class Dockerfile:
    """`image` is what it begins with; `env`, `workdir` and `user` are what its image would leave to commands."""

    image: str = ""
    steps: List[Step] = field(default_factory=list)
    env: Dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = "root"


def _refuse(line: int, what: str, way_out: str) -> DockerfileError:
    return DockerfileError(f"Dockerfile:{line}: {what}; {way_out}")


def _logical_lines(text: str) -> List[Tuple[int, str]]:
    made: List[Tuple[int, str]] = []
    pending, begun = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        if raw.lstrip().startswith("#"):
            continue  # also between the lines of one instruction
        if not pending and not raw.strip():
            continue
        begun = begun or number
        if raw.rstrip().endswith("\\"):
            pending += raw.rstrip()[:-1] + " "
            continue
        made.append((begun, (pending + raw).strip()))
        pending, begun = "", 0
    if pending.strip():
        made.append((begun, pending.strip()))
    return made


def _filled_in(text: str, values: Dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(3)
        found = values.get(name, "")
        return found or (match.group(2) or "")[2:]

    return re.sub(r"\$\{(\w+)(:-[^}]*)?\}|\$(\w+)", value, text)


def _pairs(line: int, text: str, values: Dict[str, str]) -> Dict[str, str]:
    first = text.split(None, 1)
    if "=" not in first[0]:  # the old form: ENV NAME value with spaces
        if len(first) < 2:
            raise _refuse(line, f"ENV {text} has no value", "write NAME=VALUE")
        return {first[0]: _filled_in(first[1], values)}
    made = {}
    for word in shlex.split(text):
        name, _, content = word.partition("=")
        made[name] = _filled_in(content, values)
    return made


def _words(text: str) -> List[str]:
    if text.startswith("["):
        return [str(word) for word in json.loads(text)]
    return shlex.split(text)


class _Reader:
    def __init__(self) -> None:
        self.file, self.arguments = Dockerfile(), {}  # type: Tuple[Dockerfile, Dict[str, str]]

    def _values(self) -> Dict[str, str]:
        return {**self.arguments, **self.file.env}

    def _step(self, line: int, **more: object) -> None:
        file = self.file
        self.file.steps.append(Step(line, file.user, file.workdir, {**self.arguments, **file.env}, **more))  # type: ignore[arg-type]

    def take(self, line: int, name: str, rest: str) -> None:
        if name in _IGNORED:
            return
        if not self.file.image and name not in ("FROM", "ARG"):
            raise _refuse(line, f"{name} stands before FROM", "begin with FROM")
        handler = getattr(self, "_" + name.lower(), None)
        if handler is None:
            raise _refuse(line, f"{name} is not carried out in sessions", "build the image elsewhere and name it as environment")
        handler(line, rest)

    def _from(self, line: int, rest: str) -> None:
        if self.file.image:
            raise _refuse(line, "a second FROM", "several stages are not carried out; make it one")
        words = [word for word in rest.split() if not word.startswith("--")]
        self.file.image = _filled_in(words[0], self.arguments)

    def _arg(self, line: int, rest: str) -> None:
        name, _, default = rest.partition("=")
        self.arguments[name.strip()] = _filled_in(default.strip().strip("\"'"), self.arguments)

    def _env(self, line: int, rest: str) -> None:
        self.file.env.update(_pairs(line, rest, self._values()))

    def _workdir(self, line: int, rest: str) -> None:
        self.file.workdir = posixpath.normpath(posixpath.join(self.file.workdir, _filled_in(rest.strip("\"'"), self._values())))
        self._step(line, argv=("mkdir", "-p", self.file.workdir))

    def _user(self, line: int, rest: str) -> None:
        self.file.user = _filled_in(rest, self._values()).partition(":")[0]

    def _run(self, line: int, rest: str) -> None:
        while rest.startswith("--"):  # --mount and the like only make builds faster, except for secrets
            option, _, rest = rest.partition(" ")
            if "secret" in option or "ssh" in option:
                raise _refuse(line, f"RUN {option}", "give secrets as environment variables of the task")
            rest = rest.lstrip()
        if rest.startswith("<<"):
            raise _refuse(line, "a here-document", "write the lines with && instead")
        self._step(line, argv=tuple(_words(rest)) if rest.startswith("[") else ("/bin/sh", "-c", rest))

    def _add(self, line: int, rest: str) -> None:
        if re.search(r"(https?|git)://", rest):
            raise _refuse(line, "ADD of an address", "write RUN with curl")
        self._copy(line, rest)

    def _copy(self, line: int, rest: str) -> None:
        mode: Optional[int] = None
        owner = ""
        while rest.startswith("--"):
            option, _, rest = rest.partition(" ")
            rest = rest.lstrip()
            name, _, content = option.partition("=")
            if name == "--chmod":
                mode = int(content, 8)
            elif name == "--chown":
                owner = content
            elif name == "--from":
                raise _refuse(line, option, "several stages are not carried out; make it one")
        words = [_filled_in(word, self._values()) for word in _words(rest)]
        if len(words) < 2:
            raise _refuse(line, "COPY without a target", "write COPY SOURCE TARGET")
        target = posixpath.join(self.file.workdir, words[-1])
        if len(words) > 2 and not target.endswith("/"):
            raise _refuse(line, "several sources and no directory", "end the target with /")
        self._step(line, sources=tuple(words[:-1]), target=target, mode=mode, owner=owner)


def read_dockerfile(path: Path) -> Dockerfile:
    """DockerfileError names what cannot be carried out."""
    reader = _Reader()
    for line, text in _logical_lines(path.read_text(encoding="utf-8")):
        name, _, rest = text.partition(" ")
        try:
            reader.take(line, name.upper(), rest.strip())
        except DockerfileError:
            raise
        except (ValueError, IndexError) as error:
            raise _refuse(line, f"{name.upper()}: {error}", "write it as Docker's reference has it") from error
    if not reader.file.image:
        raise DockerfileError(f"{path} has no FROM; begin with one")
    return reader.file


def sources_of(step: Step, context: Path) -> List[Path]:
    """The files and directories that a COPY names; one outside the context, or none at all, is a DockerfileError."""
    found: List[Path] = []
    root = context.resolve()
    for pattern in step.sources:
        relative = pattern.lstrip("/") or "."
        matches = sorted(root.glob(relative)) if any(sign in relative for sign in "*?[") else [root / relative]
        matches = [one for one in matches if one.exists()]
        if not matches:
            raise _refuse(step.line, f"'{pattern}' is not in {context}", "put it there")
        for one in matches:
            if root not in one.resolve().parents and one.resolve() != root:
                raise _refuse(step.line, f"'{pattern}' leads out of {context}", "copy it into the directory")
            found.append(one)
    return found
