"""A proxy between the service and an engine that breaks what it is told to break."""
import re
import socket
import threading


class Faults:
    """Listens at `path` and passes requests on to the engine at `target`, each over a connection of its own."""

    def __init__(self, path, target):
        self.target, self.pattern, self.mode, self.hits = target, None, "", 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def inject(self, mode, pattern):
        """From now on requests whose first line matches are broken: refused, or done while the answer is cut, halved or nonsense."""
        self.mode, self.pattern, self.hits = mode, re.compile(pattern), 0

    def heal(self):
        self.pattern = None

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            try:
                head, body = self.request(client)
                if not head:
                    return
                line = head.split(b"\r\n", 1)[0].decode()
                mode = self.mode if self.pattern and self.pattern.search(line) else ""
                if mode:
                    self.hits += 1
                if mode == "refused":
                    text = b'{"message": "broken on purpose"}'
                    return client.sendall(b"HTTP/1.1 500 Broken\r\nContent-Type: application/json\r\nConnection: close\r\n"
                                          b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
                answer = self.ask(head, body)
                if mode == "cut":
                    return None
                if mode == "half":
                    answer = answer[:len(answer) // 2]
                if mode == "nonsense":
                    answer = b"\x00\x01nonsense\r\n\r\n" + answer[:10]
                client.sendall(answer)
            except OSError:
                return None

    @staticmethod
    def request(client):
        data = b""
        while b"\r\n\r\n" not in data:
            got = client.recv(65536)
            if not got:
                return b"", b""
            data += got
        head, body = data.split(b"\r\n\r\n", 1)
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        while length and len(body) < int(length[1]):
            body += client.recv(65536)
        return head, body

    def ask(self, head, body):
        head = re.sub(rb"(?im)^connection:.*\r\n", b"", head + b"\r\n")
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(self.target)
            engine.sendall(head + b"Connection: close\r\n\r\n" + body)
            answer = b""
            while got := engine.recv(65536):
                answer += got
        return answer
