# Made by tools/make_sync.py from _async/files.py; change that one.
"""Files of a session. Paths are absolute, as the sandbox sees them."""
from __future__ import annotations

import posixpath
import tarfile
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Iterable, Iterator, Iterable, List, Optional, Union

import httpx

from .. import errors
from .._archive import pack, unpack
from .._bridge import sync_blocking, sync_closing, sync_pieces
from .._wire import Event
from ..models import FileEvent, FileInfo, Unpacked, parse, parse_list
from .transport import DEFAULT, Transport, Timeout, events, translated

Content = Union[str, bytes, IO[bytes], Iterable[bytes], Iterable[bytes]]


class Files:
    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = f"{base}/files"

    def read(self, path: str, *, user: Optional[str] = None, encoding: str = "utf-8") -> str:
        return (self.read_bytes(path, user=user)).decode(encoding)

    def read_bytes(self, path: str, *, user: Optional[str] = None, start: Optional[int] = None,
                         end: Optional[int] = None) -> bytes:
        """The content, or the bytes from `start` up to but not including `end`. A directory is
        PathIsADirectoryError."""
        headers = {}
        if start is not None or end is not None:
            if end is not None and end <= (start or 0):
                return b""
            headers["Range"] = f"bytes={start or 0}-{'' if end is None else end - 1}"
        response = self._transport.call("GET", self._base, params={"path": path, "user": user}, headers=headers,
                                              accept=[416])
        if response.status_code == 416:  # it begins behind the end
            return b""
        refuse_listing(response, path)
        return response.content

    @contextmanager
    def stream(self, path: str, *, user: Optional[str] = None,
                     timeout: Timeout = DEFAULT) -> Iterator[Iterator[bytes]]:
        """The content piece by piece, for files that do not fit into memory."""
        with self._transport.stream("GET", self._base, params={"path": path, "user": user},
                                          timeout=timeout) as response:
            refuse_listing(response, path)
            with sync_closing(pieces(response)) as source:
                yield source

    def write(self, path: str, content: Content, *, mode: Optional[Union[int, str]] = None,
                    append: bool = False, user: Optional[str] = None, timeout: Timeout = DEFAULT) -> FileInfo:
        """Writes a whole file and its parent directories. Text is UTF-8; a file or an iterable of bytes is streamed
        and, because it can be read only once, never sent again."""
        whole = isinstance(content, (str, bytes))
        answer = self._transport.json(
            "PUT", self._base, content=content.encode() if isinstance(content, str) else sync_pieces(content),
            params={"path": path, "mode": oct(mode)[2:] if isinstance(mode, int) else mode,
                    "append": append or None, "user": user},
            idempotent=whole and not append, timeout=timeout)
        return parse(FileInfo.from_json, answer, "file")

    def list(self, path: str, *, depth: int = 1, user: Optional[str] = None) -> List[FileInfo]:
        response = self._transport.call("GET", self._base, params={"path": path, "depth": depth, "user": user})
        if not is_listing(response):
            raise errors.PathNotADirectoryError(f"{path} is a file", code="not_a_directory", status=400)
        return parse_list(FileInfo.from_json, response.json().get("entries"), "entries")

    def stat(self, path: str, *, user: Optional[str] = None) -> FileInfo:
        """What its directory says of it; a link is told as a link. The root has no directory above it:
        InvalidArgumentError."""
        parent, name = posixpath.split(posixpath.normpath(path))
        if not name:
            raise errors.InvalidArgumentError("the root has no entry in any directory", code="invalid_argument",
                                              status=400, field="path")
        for entry in self.list(parent, user=user):
            if entry.name == name:
                return entry
        raise errors.NotFoundError(f"{path}: No such file or directory", code="not_found", status=404)

    def exists(self, path: str, *, user: Optional[str] = None) -> bool:
        if posixpath.normpath(path) == "/":
            return True
        try:
            self.stat(path, user=user)
        except (errors.NotFoundError, errors.PathNotADirectoryError):
            return False
        return True

    def remove(self, path: str, *, recursive: bool = False, user: Optional[str] = None) -> None:
        self._transport.call("DELETE", self._base,
                                   params={"path": path, "recursive": recursive or None, "user": user})

    def mkdir(self, path: str, *, user: Optional[str] = None, exist_ok: bool = False) -> None:
        """Makes it and its parents."""
        body = {"path": path} if user is None else {"path": path, "user": user}
        try:
            self._transport.call("POST", f"{self._base}/mkdir", body=body)
        except errors.AlreadyExistsError:
            if not exist_ok or (self.stat(path, user=user)).type == "file":
                raise

    def rename(self, source: str, target: str, *, overwrite: bool = False,
                     user: Optional[str] = None) -> FileInfo:
        return self._two("move", source, target, overwrite, user)

    def copy(self, source: str, target: str, *, overwrite: bool = False,
                   user: Optional[str] = None) -> FileInfo:
        return self._two("copy", source, target, overwrite, user)

    def _two(self, what: str, source: str, target: str, overwrite: bool, user: Optional[str]) -> FileInfo:
        body = {"from": source, "to": target, "overwrite": overwrite, "user": user}
        answer = self._transport.json("POST", f"{self._base}/{what}", body=body)
        return parse(FileInfo.from_json, answer, "file")

    @contextmanager
    def watch(self, path: str, *, recursive: bool = False,
                    timeout: Timeout = None) -> Iterator[Iterator[FileEvent]]:
        """Changes below a directory. Inside the block the watch is set; `timeout` is the longest silence before
        RequestTimeoutError."""
        with self._transport.stream("GET", f"{self._base}/watch",
                                          params={"path": path, "recursive": recursive or None},
                                          timeout=timeout) as response:
            with sync_closing(events(response)) as source, sync_closing(changes(source)) as seen:
                for event in source:
                    if event.name != "start":
                        raise errors.ProtocolError(f"a watch began with '{event.name}'")
                    break
                yield seen

    def archive(self, path: str) -> bytes:
        """A tree as tar, names relative to `path`."""
        return (self._transport.call("GET", f"{self._base}/archive", params={"path": path})).content

    @contextmanager
    def stream_archive(self, path: str, *, timeout: Timeout = DEFAULT) -> Iterator[Iterator[bytes]]:
        with self._transport.stream("GET", f"{self._base}/archive", params={"path": path},
                                          timeout=timeout) as response:
            with sync_closing(pieces(response)) as source:
                yield source

    def unpack(self, path: str, archive: Content, *, timeout: Timeout = DEFAULT) -> Unpacked:
        """Unpacks a tar (plain, gzip, zstd) into a directory. Only regular files and directories come out of it."""
        content = archive.encode() if isinstance(archive, str) else sync_pieces(archive)
        answer = self._transport.json("POST", f"{self._base}/archive", params={"path": path}, content=content,
                                            timeout=timeout)
        return parse(Unpacked.from_json, answer, "unpacked")

    def upload_dir(self, local: Union[str, Path], path: str) -> Unpacked:
        """A directory of this machine with its file modes; links are followed, because archives carry none."""
        with sync_blocking(pack, Path(local)) as packed:
            return self.unpack(path, packed)

    def download_dir(self, path: str, local: Union[str, Path]) -> None:
        """A tree of the sandbox into a directory of this machine, made if needed. The sandbox is not trusted: names
        that lead out of the directory, links out of it and devices are errors or left out."""
        with tempfile.TemporaryFile() as packed:
            with self.stream_archive(path) as source:
                for piece in source:
                    packed.write(piece)
            packed.seek(0)
            try:
                sync_blocking(unpack, packed, Path(local))
            except tarfile.TarError as error:
                raise errors.ProtocolError(f"the archive of {path}: {error}") from error


def is_listing(response: httpx.Response) -> bool:
    """A directory's answer, which a JSON file's is not: that one can be asked for ranges."""
    return (str(response.headers.get("Content-Type", "")).startswith("application/json")
            and "Accept-Ranges" not in response.headers)


def refuse_listing(response: httpx.Response, path: str) -> None:
    if is_listing(response):
        raise errors.PathIsADirectoryError(f"{path} is a directory", code="is_a_directory", status=400)


def pieces(response: httpx.Response) -> Iterator[bytes]:
    try:
        with sync_closing(response.iter_bytes()) as source:
            for piece in source:
                yield piece
    except httpx.HTTPError as error:
        raise translated(error) from error


def changes(source: Iterator[Event]) -> Iterator[FileEvent]:
    for event in source:
        yield FileEvent(event.name, str(event.data.get("name", "")))
