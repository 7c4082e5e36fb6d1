"""The virtual filesystem, the shell and the policy in this process: no daemon, nothing of the host.

    files = VirtualFileSystem()
    shell = SandboxShell(files)
    shell.execute("echo hello > greeting").status
    files.read("/home/user/greeting")

Failures are the classes of `atoll.errors`; what a script did is in what `execute` returns."""
from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import InvalidArgumentError, UnsupportedError
from .models import Verdict, parse

try:
    _native: Any = importlib.import_module("atoll._native")
except ImportError as _error:
    _native, _why = None, str(_error)
    try:  # what its build said
        _why = str(importlib.import_module("atoll._native_missing").REASON)
    except ImportError:
        pass


def available() -> bool:
    """Whether this installation has the native module."""
    return _native is not None


def _module() -> Any:
    if _native is None:
        error = UnsupportedError(f"this installation of atoll has no native module: {_why}", code="unsupported")
        error.hint = "install it from the repository with a compiler: pip install ./sdk/python"
        raise error
    return _native


class FileStorage:
    """Where a filesystem keeps its entries, by path. Subclass it for a storage of one's own; a `FileEntry` can be kept as
    it is. The caller keeps the set closed: parents of every entry are entries. Calls come from any thread."""

    def get(self, path: str) -> Optional[Any]:
        """The entry, or None."""
        raise NotImplementedError

    def apply(self, removals: Sequence[str], entries: Sequence[Any]) -> None:
        """First the removals (one that is not there is no error), then the entries: all of it, or an exception and
        nothing."""
        raise NotImplementedError

    def paths_by_prefix(self, prefix: str) -> List[str]:
        """In order. A prefix is text, not a directory: "/ab" finds "/abc"."""
        raise NotImplementedError

    def children(self, directory: str) -> List[str]:
        """Direct ones, in order."""
        raise NotImplementedError

    def get_all(self) -> List[Any]:
        raise NotImplementedError

    def count(self) -> int:
        raise NotImplementedError

    def clear(self) -> None:
        raise NotImplementedError


def file_entry(path: str, type: str = "file", content: bytes = b"", mode: int = 0o644) -> Any:
    """An entry for a storage."""
    return _module().FileEntry(path, type, content, mode)


def memory_storage() -> Any:
    return _module().memory_storage()


def sqlite_storage(file: Union[str, Path]) -> Any:
    """Entries in one SQLite file, made if it is missing. One process at a time."""
    return _module().sqlite_storage(os.fspath(file))


def host_storage(directory: Union[str, Path]) -> Any:
    """Entries as files of a directory of this machine, confined to it."""
    return _module().host_storage(os.fspath(directory))


class VirtualFileSystem:
    """A filesystem in memory, with POSIX semantics, and optionally a storage behind it that gets every change before a
    call answers. Usable by several threads at once; each call happens as a whole or not at all."""

    def __init__(self, storage: Any = None, *, quota_bytes: Optional[int] = None, quota_nodes: Optional[int] = None,
                 _made: Any = None) -> None:
        if _made is not None:
            self._fs = _made
        elif storage is None:
            self._fs = _module().VirtualFileSystem(quota_bytes, quota_nodes)
        else:
            kept = _module().python_storage(storage) if isinstance(storage, FileStorage) else storage
            self._fs = _module().open_files(kept, quota_bytes, quota_nodes)

    def read(self, path: str) -> bytes:
        return bytes(self._fs.read(path))

    def read_text(self, path: str) -> str:
        return self.read(path).decode("utf-8")

    def write(self, path: str, content: Union[str, bytes], *, parents: bool = True, append: bool = False,
              mode: int = 0o644) -> None:
        self._fs.write(path, content.encode() if isinstance(content, str) else bytes(content), parents, append, mode)

    def list(self, path: str) -> List[Tuple[str, str]]:
        """Names and types (file, directory, symlink, fifo), in order."""
        return list(self._fs.list(path))

    def stat(self, path: str, *, follow: bool = True) -> Dict[str, Any]:
        return dict(self._fs.stat(path, follow))

    def exists(self, path: str) -> bool:
        return bool(self._fs.exists(path))

    def mkdir(self, path: str, *, parents: bool = False) -> None:
        self._fs.mkdir(path, parents)

    def remove(self, path: str, *, recursive: bool = False) -> None:
        self._fs.remove(path, recursive)

    def rename(self, source: str, target: str) -> None:
        self._fs.rename(source, target)

    def copy(self, source: str, target: str, *, overwrite: bool = False) -> str:
        """Where it ended up."""
        return str(self._fs.copy(source, target, overwrite))

    def symlink(self, path: str, target: str) -> None:
        self._fs.symlink(path, target)

    def readlink(self, path: str) -> str:
        return str(self._fs.readlink(path))

    def chmod(self, path: str, mode: int) -> None:
        self._fs.chmod(path, mode)

    def snapshot(self) -> Any:
        """The state at this moment; costs nothing until it differs."""
        return self._fs.snapshot()

    def restore(self, snapshot: Any) -> None:
        self._fs.restore(snapshot)

    def fork(self) -> VirtualFileSystem:
        """An independent filesystem in memory with the same contents, at once whatever the size."""
        return VirtualFileSystem(_made=self._fs.fork())

    def sync(self) -> None:
        """Everything acknowledged is in the storage."""
        self._fs.sync()

    def usage(self) -> Dict[str, int]:
        return dict(self._fs.usage())


class SandboxShell:
    """A bash for agents on a virtual filesystem. Variables, functions and the working directory persist from one
    execute() to the next. One thread at a time; cancel() from any. `limits` may name commands, iterations, work,
    output_bytes, memory_bytes, processes, wall_seconds and cpu_seconds."""

    def __init__(self, files: VirtualFileSystem, *, env: Optional[Mapping[str, str]] = None, cwd: str = "/home/user",
                 limits: Optional[Mapping[str, float]] = None, _made: Any = None) -> None:
        self.files = files
        self._shell = _made if _made is not None else _module().SandboxShell(
            files._fs, dict(env or {}), cwd, {name: float(value) for name, value in (limits or {}).items()})

    def execute(self, script: str, input: Union[str, bytes] = b"", *, on_stdout: Optional[Callable[[str], Any]] = None,
                on_stderr: Optional[Callable[[str], Any]] = None) -> Any:
        """Runs a script to its end: `stdout`, `stderr`, `status`, `limited`, `canceled`, `reason`. With a callback that
        stream goes there instead; an exception in one cancels the script and is raised."""
        data = input.encode() if isinstance(input, str) else bytes(input)
        return self._shell.execute(script, data, on_stdout, on_stderr)

    def cancel(self) -> None:
        """Ends a running execute() within milliseconds, or the next one if none runs yet."""
        self._shell.cancel()

    def fork(self, files: Optional[VirtualFileSystem] = None) -> SandboxShell:
        """The same shell on another filesystem, a fork of this one's unless given."""
        target = files or self.files.fork()
        return SandboxShell(target, _made=self._shell.fork(target._fs))

    def variable(self, name: str) -> str:
        """Empty if unset."""
        return str(self._shell.variable(name))

    def set_variable(self, name: str, value: str) -> None:
        self._shell.set_variable(name, value)

    @property
    def cwd(self) -> str:
        return str(self._shell.cwd)

    @property
    def last_status(self) -> int:
        return int(self._shell.last_status)


def policies() -> List[str]:
    """Names of the policies that are part of the package."""
    return list(_module().shipped_policies())


class Policy:
    """Reads code and says what it thinks of it, before anything runs. `name` is a policy of the package; `file` is one
    of one's own in YAML, which may extend those."""

    def __init__(self, name: str = "standard", *, file: Union[str, Path, None] = None) -> None:
        module = _module()
        self._policy = module.shipped_policy(name) if file is None else module.load_policy(os.fspath(file))

    def validate(self, code: str, language: str = "python") -> Verdict:
        return parse(Verdict.from_json, json.loads(self._policy.validate(code, language)), "verdict")


def load_config(file: str, environment: Mapping[str, str], arguments: Mapping[str, str]) -> Dict[str, Any]:
    """`values` (key, value, origin, help) and `warnings` by the rules of `atoll config`; ConfigManager is the friendly
    form. `environment` is all that is looked at; text that is no UTF-8 is InvalidArgumentError."""
    for name, value in [*environment.items(), *arguments.items(), ("file", file)]:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidArgumentError(f"{name} is no UTF-8", code="invalid_argument", field=name) from None
    return dict(_module().load_config(file, dict(environment), dict(arguments)))
