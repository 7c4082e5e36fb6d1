# Made by tools/make_sync.py from _async/pty.py; change that one.
"""Terminals of a session, over WebSocket."""
from __future__ import annotations

import json
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Iterator, List, Optional, Type, Union

import httpcore
import httpx

from .. import errors
from .._bridge import Lock
from .._wire import (BINARY, CLOSE, PING, PONG, TEXT, Frame, FrameReader, masked_frame, websocket_accept,
                     websocket_key)
from ..models import PtyExit, parse
from .transport import DEFAULT, Transport, Timeout


class Pty:
    """A shell on a terminal. One reader at a time; others may write meanwhile. Closing it hangs the shell up."""

    def __init__(self, stack: ExitStack, stream: Any, timeout: float) -> None:
        self._stack, self._stream, self._timeout = stack, stream, timeout
        self._reader = FrameReader()
        self._frames: List[Frame] = []
        self._writing = Lock()
        self._exit: Optional[PtyExit] = None
        self._closed = False

    def __enter__(self) -> Pty:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Hangs up. Harmless the second time."""
        if not self._closed:
            self._closed = True
            self._stack.close()

    def _send(self, opcode: int, payload: bytes) -> None:
        if self._closed:
            raise errors.ConnectionLostError("the terminal is closed", hint="open another with pty.open()")
        with self._writing:
            try:
                self._stream.write(masked_frame(opcode, payload), self._timeout)
            except (httpcore.NetworkError, OSError) as error:
                raise errors.ConnectionLostError(f"the terminal was cut: {error}",
                                                 hint="open another with pty.open()") from error
            except httpcore.TimeoutException as error:
                raise errors.RequestTimeoutError("the terminal takes no keys") from error

    def send(self, keys: Union[str, bytes]) -> None:
        """Keys, as a person would type them: end a line with "\\n"."""
        self._send(BINARY, keys.encode() if isinstance(keys, str) else keys)

    def resize(self, columns: int, rows: int) -> None:
        self._send(TEXT, json.dumps({"type": "resize", "columns": columns, "rows": rows}).encode())

    def read(self, timeout: Optional[float] = None) -> bytes:
        """The next piece of output; empty when the shell has ended. RequestTimeoutError after `timeout` seconds of
        silence, and nothing is lost by it."""
        while self._exit is None:
            frame = self._next(timeout)
            if frame.opcode == BINARY:
                return frame.payload
            if frame.opcode == TEXT:
                self._obey(frame.payload)
            elif frame.opcode == PING:
                self._send(PONG, frame.payload)
            elif frame.opcode == CLOSE:
                raise errors.ConnectionLostError("the terminal was closed before the shell ended",
                                                 hint="open another with pty.open()")
        return b""

    def _obey(self, payload: bytes) -> None:
        try:
            word = json.loads(payload)
        except ValueError:
            raise errors.ProtocolError("the terminal sent text that is no JSON") from None
        if word.get("type") == "exit":
            self._exit = parse(PtyExit.from_json, word, "exit")
        elif word.get("type") == "error":
            raise errors.InvalidArgumentError(str(word.get("message")), code="invalid_argument", status=400)

    def _next(self, timeout: Optional[float]) -> Frame:
        while not self._frames:
            try:
                data = self._stream.read(65536, timeout)
            except httpcore.TimeoutException as error:
                raise errors.RequestTimeoutError("no output in time", hint="read again, or send something") from error
            except (httpcore.NetworkError, OSError) as error:
                raise errors.ConnectionLostError(f"the terminal was cut: {error}",
                                                 hint="open another with pty.open()") from error
            if not data:
                raise errors.ConnectionLostError("the terminal was cut", hint="open another with pty.open()")
            self._frames.extend(self._reader.feed(data))
        return self._frames.pop(0)

    def output(self, timeout: Optional[float] = None) -> Iterator[bytes]:
        """All output until the shell ends."""
        while True:
            piece = self.read(timeout)
            if not piece:
                return
            yield piece

    def wait(self, timeout: Optional[float] = None) -> PtyExit:
        """Reads and drops output until the shell ends."""
        while self.read(timeout):
            pass
        assert self._exit is not None
        return self._exit

    @property
    def exit(self) -> Optional[PtyExit]:
        """How the shell ended; None while it runs, as far as it was read."""
        return self._exit


class Ptys:
    def __init__(self, transport: Transport, base: str) -> None:
        self._transport, self._base = transport, base

    def open(self, *, columns: int = 80, rows: int = 24, cwd: Optional[str] = None,
                   timeout: Timeout = DEFAULT) -> Pty:
        """A new interactive shell."""
        key = websocket_key()
        headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": key,
                   "Sec-WebSocket-Version": "13"}
        with ExitStack() as stack:
            response: httpx.Response = stack.enter_context(self._transport.stream(
                "GET", f"{self._base}/terminal", params={"columns": columns, "rows": rows, "cwd": cwd},
                headers=headers, timeout=timeout))
            if (response.status_code != 101
                    or response.headers.get("Sec-WebSocket-Accept") != websocket_accept(key)):
                raise errors.ProtocolError("the service did not open a WebSocket")
            return Pty(stack.pop_all(), response.extensions["network_stream"], self._transport.timeout)
        raise AssertionError("not reached")
