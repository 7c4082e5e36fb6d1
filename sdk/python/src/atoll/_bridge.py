"""Where the blocking and the asynchronous client differ in more than the words async and await.

`_sync` is made from `_async` by `tools/make_sync.py`, which turns `async_sleep` into `sync_sleep`, `AsyncLock` into
`Lock`, and so on: each pair here has the same meaning.
"""
from __future__ import annotations

import inspect
import socket
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from typing import (IO, Any, AsyncIterator, Awaitable, Callable, Iterable, Iterator, List, Optional, Tuple, TypeVar,
                    Union)

import anyio
import anyio.to_thread

T = TypeVar("T")
Callback = Callable[[T], Any]
# Of the asynchronous client: what it returns is awaited if it can be.
AsyncCallback = Callable[[T], Union[Awaitable[Any], Any]]


async def async_sleep(seconds: float) -> None:
    await anyio.sleep(seconds)


def sync_sleep(seconds: float) -> None:
    time.sleep(seconds)


async def async_call(callback: Optional[AsyncCallback[T]], value: T) -> None:
    if callback is not None:
        returned = callback(value)
        if inspect.isawaitable(returned):
            await returned


def sync_call(callback: Optional[Callback[T]], value: T) -> None:
    if callback is not None:
        callback(value)


async def async_blocking(function: Callable[..., T], *arguments: Any) -> T:
    """A call that reads or writes files of this machine, without holding up the event loop."""
    return await anyio.to_thread.run_sync(function, *arguments)


def sync_blocking(function: Callable[..., T], *arguments: Any) -> T:
    return function(*arguments)


@asynccontextmanager
async def async_closing(source: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """A generator that is ended when the block is left, instead of when somebody collects it."""
    try:
        yield source
    finally:
        await getattr(source, "aclose")()


@contextmanager
def sync_closing(source: Iterator[T]) -> Iterator[Iterator[T]]:
    try:
        yield source
    finally:
        getattr(source, "close")()


class AsyncLock:
    """Made on first use, so that it belongs to the event loop that uses it."""

    def __init__(self) -> None:
        self._lock: Optional[anyio.Lock] = None

    async def __aenter__(self) -> None:
        if self._lock is None:
            self._lock = anyio.Lock()
        await self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        assert self._lock is not None
        self._lock.release()


class Lock:
    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def async_shield() -> Any:
    """A scope whose calls go on although the task was cancelled: a session is ended even then."""
    return anyio.move_on_after(10, shield=True)


class _NoScope:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def sync_shield() -> Any:
    return _NoScope()


_PIECE = 256 << 10


async def _read_all(source: IO[bytes]) -> AsyncIterator[bytes]:
    while True:
        piece = await anyio.to_thread.run_sync(source.read, _PIECE)
        if not piece:
            return
        yield piece


def async_pieces(content: Any) -> Any:
    """What the HTTP library streams: bytes and iterables as they are, a file in pieces without holding up the loop."""
    if isinstance(content, bytes):
        return content
    if hasattr(content, "read"):
        return _read_all(content)
    if hasattr(content, "__aiter__"):
        return content
    return _each(content)


async def _each(content: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in content:
        yield piece


def sync_pieces(content: Any) -> Any:
    if isinstance(content, bytes) or not hasattr(content, "read"):
        return content
    return iter(lambda: content.read(_PIECE), b"")


def keep_alive() -> List[Tuple[int, int, int]]:
    """Socket options by which a peer that vanished without a word is noticed after about two minutes: a call that waits
    for guest code may wait for a day."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options
