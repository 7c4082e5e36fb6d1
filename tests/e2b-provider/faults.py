"""A proxy between two services that records requests and spoils answers as it is told."""
import socket
import threading
import time


class FaultProxy:
    """Listens on loopback and passes connections on to `port`. `fault` decides about each connection by the head of its
    first request; one of:

    None              passes everything
    ("cut", N)        passes N bytes of the answer, then cuts both sides
    ("delay", S)      waits S seconds before the request is passed on
    ("answer", TEXT)  answers with these bytes instead
    ("lose",)         passes the request on and cuts before the answer comes
    """

    def __init__(self, port):
        self.target = port
        self.fault = lambda head: None
        self.requests = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = None
        try:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(65536)
                if not piece:
                    return
                head += piece
            text = head.split(b"\r\n\r\n")[0].decode("latin-1")
            with self.lock:
                self.requests.append(text)
            fault = self.fault(text)
            if fault and fault[0] == "answer":
                client.sendall(fault[1])
                return
            if fault and fault[0] == "delay":
                time.sleep(fault[1])
            server = socket.create_connection(("127.0.0.1", self.target))
            server.sendall(one_request(head))
            up = threading.Thread(target=self.pump, args=(client, server), daemon=True)
            up.start()
            if fault and fault[0] == "lose":
                server.settimeout(30)
                server.recv(65536)
                return
            left = fault[1] if fault and fault[0] == "cut" else None
            while left is None or left > 0:
                piece = server.recv(65536 if left is None else left)
                if not piece:
                    break
                if left is not None:
                    left -= len(piece)
                client.sendall(piece)
        except OSError:
            pass
        finally:
            for one in (client, server):
                if one:
                    try:
                        one.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
                    one.close()

    @staticmethod
    def pump(source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def paths(self):
        with self.lock:
            return [" ".join(head.split("\r\n")[0].split(" ")[:2]) for head in self.requests]

    def forget(self):
        with self.lock:
            self.requests.clear()

    def close(self):
        self.listener.close()


def one_request(head):
    """Asks the server to close after its answer, so that every request comes on a connection of its own and is seen."""
    lines, rest = head.split(b"\r\n\r\n", 1)
    lines = lines.split(b"\r\n")
    if any(line.lower().startswith(b"upgrade:") for line in lines):
        return head
    lines = [line for line in lines if not line.lower().startswith((b"connection:", b"keep-alive:"))]
    return b"\r\n".join([*lines, b"Connection: close"]) + b"\r\n\r\n" + rest


def answer(status, body='{"code":0,"message":"spoiled"}', headers=""):
    return ("answer", f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}"
                      f"Connection: close\r\n\r\n{body}".encode())
