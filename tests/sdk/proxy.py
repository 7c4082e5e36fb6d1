"""A proxy that breaks connections as told: refuses them, cuts them after so many bytes, holds answers back."""
from __future__ import annotations

import socket
import threading


class Proxy:
    """`faults` is a list of rules, one for each connection in turn; later connections are left alone.

    A rule is a dict: `refuse` closes at once; `cut_answer_after` closes after so many bytes of answers; `silent` takes
    the request and never answers; `cut_request_after` closes after so many bytes of requests."""

    def __init__(self, port, listen=0):
        self.target, self.faults, self.connections = port, [], 0
        self.requests = []  # the first line of each request that went through
        self._lock = threading.Lock()
        self._open = set()
        self._listener = socket.create_server(("127.0.0.1", listen))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()
        self.cut_all()

    def cut_all(self):
        """Resets every connection, as a network that fails does."""
        with self._lock:
            for one in list(self._open):
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                rule = self.faults.pop(0) if self.faults else {}
            if rule.get("refuse"):
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.target))
            with self._lock:
                self._open |= {client, server}
            threading.Thread(target=self._pump, args=(client, server, rule.get("cut_request_after"), False, True),
                             daemon=True).start()
            threading.Thread(target=self._pump,
                             args=(server, client, rule.get("cut_answer_after"), rule.get("silent"), False),
                             daemon=True).start()

    def _pump(self, source, target, cut_after, silent, note):
        passed = 0
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                if note and data[:4] in (b"GET ", b"POST", b"PUT ", b"DELE", b"PATC"):
                    with self._lock:
                        self.requests.append(data.split(b"\r\n", 1)[0].decode())
                if silent:
                    continue
                if cut_after is not None and passed + len(data) >= cut_after:
                    target.sendall(data[:cut_after - passed])
                    break
                target.sendall(data)
                passed += len(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
            with self._lock:
                self._open.discard(one)
