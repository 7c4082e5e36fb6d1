"""A working directory for an agent, with its skills beside it, and the same directory inside a real sandbox."""
from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Optional, Set, Type, Union

from .._archive import names_below, pack, unpack_bytes
from .._sync.client import SandboxClient
from .._sync.session import Session
from ..errors import ConfigurationError, NotFoundError
from ..models import Context, Execution
from .skills import find_skills

WORKDIR = "/home/user/sandbox"
_SKILLS = "skills"


class Sandbox:
    """`sandbox_dir` is made if it is not there; `sandbox_dir/skills` leads to `skills_dir`, by a link or, where links
    cannot be made or `copy_skills` asks for it, as a copy.

    With a client, execute() and run() work in a session of the service whose working directory shows `sandbox_dir`:
    before each call changes of this side are sent, after it those of the sandbox are brought back. Skills are sent and
    never brought back. The directory itself is no wall: code that runs on this machine can leave it."""

    def __init__(self, sandbox_dir: Union[str, Path], skills_dir: Union[str, Path, None] = None, *,
                 client: Optional[SandboxClient] = None, environment: Optional[str] = None,
                 copy_skills: bool = False) -> None:
        self.sandbox_dir = Path(sandbox_dir).expanduser().resolve()
        self.skills_dir = None if skills_dir is None else Path(skills_dir).expanduser().resolve()
        self.skills_link = self.sandbox_dir / _SKILLS
        self._client, self._environment = client, environment
        self._session: Optional[Session] = None
        self._context: Optional[Context] = None
        self._known: Set[str] = set()
        if self.skills_dir is not None:
            if not self.skills_dir.is_dir():
                raise ConfigurationError(f"{self.skills_dir} is no directory", hint="make it, or leave skills_dir out")
            if self.skills_dir == self.skills_link or self.sandbox_dir in self.skills_dir.parents:
                raise ConfigurationError("skills_dir lies inside sandbox_dir",
                                         hint="keep skills in a place of their own")
        self.sandbox_dir.mkdir(parents=True, exist_ok=True)
        if self.skills_dir is not None:
            self._bring_skills(self.skills_dir, copy_skills)

    def _bring_skills(self, skills: Path, copy: bool) -> None:
        if self.skills_link.is_symlink() or self.skills_link.is_file():
            self.skills_link.unlink()
        elif self.skills_link.is_dir():
            shutil.rmtree(self.skills_link)
        if not copy:
            try:
                self.skills_link.symlink_to(skills, target_is_directory=True)
                return
            except OSError:
                pass  # a filesystem or a user without links
        shutil.copytree(skills, self.skills_link)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def list_skills(self) -> str:
        """One line for each skill: its name and what it is for."""
        skills = find_skills(self.skills_link) if self.skills_link.is_dir() else []
        if not skills:
            return "No skills available."
        return "Available skills:\n" + "\n".join(
            f"- {one.name}: {one.description}" if one.description else f"- {one.name}" for one in skills)

    @property
    def session(self) -> Session:
        """The session that shows the directory; created on first use."""
        if self._session is None:
            if self._client is None:
                raise ConfigurationError("this Sandbox has no client", hint="pass client=SandboxClient()")
            session = self._client.create(environment=self._environment,
                                          metadata={"sandbox_dir": self.sandbox_dir.name})
            try:
                session.files.mkdir(WORKDIR, exist_ok=True)
                self._session = session
                self.push()
                self._context = session.contexts.create(language="python", cwd=WORKDIR)
            except BaseException:
                self._session = None
                session.end()
                raise
        return self._session

    def push(self) -> None:
        """Sends this side: files that are new or changed, and removals."""
        session, names = self.session, names_below(self.sandbox_dir)
        for name in sorted(self._known - names, reverse=True):
            try:
                session.files.remove(f"{WORKDIR}/{name}", recursive=True)
            except NotFoundError:
                pass
        with pack(self.sandbox_dir) as packed:
            session.files.unpack(WORKDIR, packed)
        self._known = names

    def pull(self) -> None:
        """Brings the sandbox's side back: files that are new or changed, and removals. Links are left out."""
        came = unpack_bytes(self.session.files.archive(WORKDIR), self.sandbox_dir, _SKILLS)
        for name in sorted(self._known - came, reverse=True):
            if name.split("/", 1)[0] == _SKILLS:
                continue
            target = self.sandbox_dir / name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target, ignore_errors=True)
            else:
                target.unlink(missing_ok=True)
        self._known = names_below(self.sandbox_dir)

    def execute(self, code: str, *, language: Optional[str] = None, timeout: Optional[float] = None) -> Execution:
        """Runs code in the session; Python remembers and can import from `skills`."""
        session = self.session
        self.push()
        is_python = language in (None, "python", "python3", "py")
        try:
            if is_python:
                return session.execute(code, context=self._context, timeout=timeout)
            return session.execute(code, language=language, timeout=timeout)
        finally:
            self.pull()

    def run(self, command: str, *, timeout: Optional[float] = None) -> Execution:
        """Runs a command in the session, in the directory."""
        session = self.session
        self.push()
        try:
            return session.commands.run(command, cwd=WORKDIR, timeout=timeout)
        finally:
            self.pull()

    def close(self) -> None:
        """Ends the session, if one was begun. The directory stays."""
        session, self._session, self._context = self._session, None, None
        if session is not None:
            session.end()

    def cleanup(self) -> None:
        """Ends the session and removes the directory. What a link leads to is left alone."""
        self.close()
        if os.path.islink(self.skills_link):
            self.skills_link.unlink()
        shutil.rmtree(self.sandbox_dir, ignore_errors=False)
