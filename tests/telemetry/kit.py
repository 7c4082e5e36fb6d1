"""What the cases of this suite share: a receiver that holds every span against OTLP, a follower of events, a subscriber of
NATS, and services with settings of their own."""
import http.client
import http.server
import json
import pathlib
import re
import socket
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/api"))
import harness  # noqa: E402

cases = []


def case(function):
    cases.append(function)
    return function


def comes_to(true_now, seconds=60):
    end = time.time() + seconds
    while time.time() < end:
        found = true_now()
        if found:
            return found
        time.sleep(0.02)
    return true_now()


class Receiver:
    """Takes posts and keeps them; answers with `status`."""

    def __init__(self):
        owner = self
        self.posts, self.status, self.tries, self.lock = [], 200, 0, threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with owner.lock:
                    owner.tries += 1
                    if owner.status == 200:
                        owner.posts.append((self.path, dict(self.headers), body))
                self.send_response(owner.status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self):
        with self.lock:
            posts = list(self.posts)
        found = []
        for path, headers, body in posts:
            assert path == "/v1/traces", path
            assert headers["Content-Type"] == "application/x-protobuf"
            found += spans_of(protobuf("ExportTraceServiceRequest", body))
        return found

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


# The messages of opentelemetry-proto (trace, common, resource) as far as a service sends them: field number -> name, kind. A
# kind in brackets may come several times. What stands in none of them is no OTLP.
MESSAGES = {
    "ExportTraceServiceRequest": {1: ("resourceSpans", ["ResourceSpans"])},
    "ResourceSpans": {1: ("resource", "Resource"), 2: ("scopeSpans", ["ScopeSpans"]), 3: ("schemaUrl", "text")},
    "Resource": {1: ("attributes", ["KeyValue"])},
    "ScopeSpans": {1: ("scope", "InstrumentationScope"), 2: ("spans", ["Span"]), 3: ("schemaUrl", "text")},
    "InstrumentationScope": {1: ("name", "text"), 2: ("version", "text")},
    "Span": {1: ("traceId", "id"), 2: ("spanId", "id"), 3: ("traceState", "text"), 4: ("parentSpanId", "id"), 5: ("name", "text"),
             6: ("kind", "number"), 7: ("startTimeUnixNano", "fixed64"), 8: ("endTimeUnixNano", "fixed64"),
             9: ("attributes", ["KeyValue"]), 15: ("status", "Status")},
    "Status": {2: ("message", "text"), 3: ("code", "number")},
    "KeyValue": {1: ("key", "text"), 2: ("value", "AnyValue")},
    "AnyValue": {1: ("stringValue", "text"), 3: ("intValue", "int64")},
}
WIRE = {"number": 0, "int64": 0, "fixed64": 1}  # everything else: 2


def protobuf(message, body):
    """A message as the JSON form of protocol buffers has it, but for ids, which OTLP writes in hex."""
    at, found = 0, {}

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = body[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def value_of(kind):
        nonlocal at
        if WIRE.get(kind) == 0:
            value = number()
            return value if kind == "number" else str(value - (value >> 63 << 64))
        size = 8 if kind == "fixed64" else number()
        piece = body[at:at + size]
        at += size
        assert len(piece) == size, "a field is longer than its message"
        if kind == "fixed64":
            return str(int.from_bytes(piece, "little"))
        return piece.decode() if kind == "text" else piece.hex() if kind == "id" else protobuf(kind, piece)

    while at < len(body):
        tag = number()
        assert tag >> 3 in MESSAGES[message], f"{message} has no field {tag >> 3}"
        name, kind = MESSAGES[message][tag >> 3]
        inner = kind[0] if isinstance(kind, list) else kind
        assert tag & 7 == WIRE.get(inner, 2), f"{message}.{name} is of another kind"
        assert isinstance(kind, list) or name not in found, f"{message}.{name} comes twice"
        if isinstance(kind, list):
            found.setdefault(name, []).append(value_of(inner))
        else:
            found[name] = value_of(inner)
    return found


def only(row, /, **fields):
    """The row is an object of exactly these members; a type that is a list allows the member to be missing."""
    assert isinstance(row, dict), row
    left = set(row) - set(fields)
    assert not left, f"OTLP has no {left}"
    for name, kind in fields.items():
        optional = isinstance(kind, list)
        if name not in row:
            assert optional, f"{name} is missing in {row}"
            continue
        assert isinstance(row[name], kind[0] if optional else kind), (name, row[name])
    return row


def attributes_of(rows):
    found = {}
    for row in rows:
        only(row, key=str, value=dict)
        [(kind, value)] = row["value"].items()
        assert kind in ("stringValue", "intValue", "boolValue", "doubleValue"), kind
        assert isinstance(value, str), "64-bit numbers are text in protobuf's JSON"
        found[row["key"]] = int(value) if kind == "intValue" else value
    return found


def spans_of(document):
    """Every span of an ExportTraceServiceRequest, held against the protocol."""
    found = []
    for resource in only(document, resourceSpans=list)["resourceSpans"]:
        only(resource, resource=dict, scopeSpans=list)
        named = attributes_of(only(resource["resource"], attributes=list)["attributes"])
        assert named["service.name"] == "atoll" and named["service.version"] and named["service.instance.id"]
        for scope in resource["scopeSpans"]:
            only(only(scope, scope=dict, spans=list)["scope"], name=str, version=[str])
            for span in scope["spans"]:
                only(span, traceId=str, spanId=str, parentSpanId=[str], name=str, kind=int, startTimeUnixNano=str,
                     endTimeUnixNano=str, attributes=[list], status=[dict])
                assert re.fullmatch("[0-9a-f]{32}", span["traceId"]) and re.fullmatch("[0-9a-f]{16}", span["spanId"])
                assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
                assert span["kind"] in (1, 2, 3)
                if "status" in span:
                    only(span["status"], code=int, message=[str])
                span["attributes"] = attributes_of(span.get("attributes", []))
                found.append(span)
    return found


class Following:
    """A connection that follows /api/events."""

    def __init__(self, daemon, query="", headers=None, key=harness.KEY):
        self.connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
        self.connection.request("GET", "/api/events" + query, headers={"X-API-Key": key, **(headers or {})})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, (self.answer.status, self.answer.read())
        assert self.answer.headers["Content-Type"] == "text/event-stream"
        assert self.answer.readline().startswith(b": following from ")
        assert self.answer.readline() == b"\n"

    def next(self):
        fields = {}
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if not line and fields:
                return fields["event"], json.loads(fields["data"]), fields.get("id")
            if line.startswith(":") or not line:
                continue
            name, _, value = line.partition(": ")
            fields[name] = value

    def until(self, kind, session=None):
        """The types that came, up to one of this kind; its data."""
        seen = []
        while True:
            name, data, number = self.next()
            seen.append(name)
            if name == kind and session in (None, data.get("session_id")):
                assert number == str(data["id"])
                return seen, data

    def close(self):
        self.connection.close()


def create(client, **more):
    return client.ok("POST", "/api/sessions", more)["session_id"]


def second_tenant(client):
    client.ok("POST", "/api/tenants", {"name": "acme"}, status=(200, 201, 409))
    return client.ok("POST", "/api/keys", {"name": "other", "role": "developer", "tenant": "acme"})["key"]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def with_service(*settings):
    flags = [word for setting in settings for word in ("--set", setting)]
    return harness.Daemon(*flags).start()


def whole(spans, **wanted):
    return [span for span in spans if all(span.get(name) == value for name, value in wanted.items())]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Subscriber:
    """The few words of NATS's protocol that a subscriber needs."""

    def __init__(self, port, subject):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.file = self.socket.makefile("rb")
        assert self.file.readline().startswith(b"INFO ")
        self.socket.sendall(f'CONNECT {{"verbose":false}}\r\nSUB {subject} 1\r\nPING\r\n'.encode())
        assert self.file.readline() == b"PONG\r\n"

    def next(self):
        while True:
            words = self.file.readline().split()
            if words[0] == b"PING":
                self.socket.sendall(b"PONG\r\n")
            if words[0] == b"MSG":
                body = self.file.read(int(words[-1]))
                self.file.readline()
                return words[1].decode(), json.loads(body)


class Door:
    """Hands connections on to another port of this machine, from now on."""

    def __init__(self, outside, inside):
        self.inside = inside
        self.socket = socket.create_server(("127.0.0.1", outside))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                one, _ = self.socket.accept()
            except OSError:
                return
            other = socket.create_connection(("127.0.0.1", self.inside))
            for source, target in ((one, other), (other, one)):
                threading.Thread(target=self.carry, args=(source, target), daemon=True).start()

    @staticmethod
    def carry(source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.socket.close()
