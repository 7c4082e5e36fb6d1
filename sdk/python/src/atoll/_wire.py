"""What goes over the wire, without any input or output: server-sent events, WebSocket frames, query strings."""
from __future__ import annotations

import base64
import hashlib
import json
import os
import struct
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote

from .errors import ProtocolError

QueryValue = Union[str, int, float, bool, None, List[str]]
_EVENT_BYTES_MAX = 256 << 20
_FRAME_BYTES_MAX = 64 << 20


def query(values: Mapping[str, QueryValue]) -> List[Tuple[str, Union[str, int, float, bool, None]]]:
    """A query without what is None; a list is given several times, a boolean as the service spells it."""
    found: List[Tuple[str, Union[str, int, float, bool, None]]] = []
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, list):
            found.extend((name, one) for one in value)
        else:
            found.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return found


def quoted(name: str) -> str:
    """A name as one part of a path, whatever is in it."""
    return quote(name, safe="")


def given(**values: Any) -> Dict[str, Any]:
    """A JSON body without what is None."""
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Event:
    name: str
    data: Dict[str, Any]


class EventReader:
    """Bytes in, whole events out. An event may be cut anywhere, also inside a character."""

    def __init__(self) -> None:
        self._left = b""

    def feed(self, data: bytes) -> Iterator[Event]:
        self._left += data
        if len(self._left) > _EVENT_BYTES_MAX:
            raise ProtocolError("an event is longer than any that the service sends")
        while True:
            end = self._left.find(b"\n\n")
            if end < 0:
                return
            block, self._left = self._left[:end], self._left[end + 2:]
            event = self._read(block)
            if event is not None:
                yield event

    @staticmethod
    def _read(block: bytes) -> Optional[Event]:
        name, lines = "message", []
        for line in block.decode("utf-8", "replace").split("\n"):
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                name = value
            elif field == "data":
                lines.append(value)
        if not lines:
            return None
        try:
            data = json.loads("\n".join(lines))
        except ValueError:
            raise ProtocolError(f"the event '{name}' holds no JSON") from None
        if not isinstance(data, dict):
            raise ProtocolError(f"the event '{name}' holds no object")
        return Event(name, data)


TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


@dataclass(frozen=True)
class Frame:
    opcode: int
    payload: bytes


def websocket_key() -> str:
    return base64.b64encode(os.urandom(16)).decode()


def websocket_accept(key: str) -> str:
    digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    return base64.b64encode(digest).decode()


def masked_frame(opcode: int, payload: bytes) -> bytes:
    """A whole frame as a client must send it (RFC 6455, 5.3)."""
    size = len(payload)
    if size < 126:
        head = struct.pack(">BB", 0x80 | opcode, 0x80 | size)
    elif size < 65536:
        head = struct.pack(">BBH", 0x80 | opcode, 0x80 | 126, size)
    else:
        head = struct.pack(">BBQ", 0x80 | opcode, 0x80 | 127, size)
    mask = os.urandom(4)
    whole = (mask * (size // 4 + 1))[:size]
    masked = (int.from_bytes(payload, "big") ^ int.from_bytes(whole, "big")).to_bytes(size, "big")
    return head + mask + masked


class FrameReader:
    """Bytes in, whole messages out: fragments are joined; control frames come as they are."""

    def __init__(self) -> None:
        self._left = b""
        self._opcode = 0
        self._parts: List[bytes] = []

    def feed(self, data: bytes) -> Iterator[Frame]:
        self._left += data
        while True:
            taken = self._take()
            if taken is None:
                return
            final, opcode, payload = taken
            if opcode >= CLOSE:
                yield Frame(opcode, payload)
                continue
            if opcode:
                self._opcode, self._parts = opcode, []
            self._parts.append(payload)
            if final:
                whole = b"".join(self._parts)
                self._parts = []
                yield Frame(self._opcode, whole)

    def _take(self) -> Optional[Tuple[bool, int, bytes]]:
        left = self._left
        if len(left) < 2:
            return None
        first, second = left[0], left[1]
        if second & 0x80 or first & 0x70:
            raise ProtocolError("a WebSocket frame that no server may send")
        size, at = second & 0x7F, 2
        if size >= 126:
            width = 2 if size == 126 else 8
            if len(left) < at + width:
                return None
            size, at = int.from_bytes(left[at:at + width], "big"), at + width
        if size > _FRAME_BYTES_MAX:
            raise ProtocolError("a WebSocket frame is longer than any that the service sends")
        if len(left) < at + size:
            return None
        self._left = left[at + size:]
        return bool(first & 0x80), first & 0x0F, left[at:at + size]
