"""The least of RFC 6455 that a test of a terminal needs."""
import base64
import os
import socket
import struct


class WebSocket:
    def __init__(self, port, path, headers, host="127.0.0.1"):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers, "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.socket.recv(4096)
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.head, self.status = head, int(head.split()[1])

    def rest(self):
        """What comes beside the head of an answer that is no upgrade, until the other side is done."""
        size = [int(line.split(b":")[1]) for line in self.head.split(b"\r\n") if line.lower().startswith(b"content-length:")][0]
        return self.take(size)

    def send(self, payload, text=False):
        mask = os.urandom(4)
        size = len(payload)
        head = bytes([0x81 if text else 0x82])
        head += bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + struct.pack(">H", size)
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def take(self, size):
        while len(self.buffer) < size:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError
            self.buffer += more
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def receive(self):
        """(opcode, payload); opcode 8 is the close."""
        first, second = self.take(2)
        size = second & 0x7F
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        return first & 0x0F, self.take(size)

    def close(self):
        self.socket.close()
