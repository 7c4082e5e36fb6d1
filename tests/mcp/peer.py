"""MCP as a client speaks it, message by message: over HTTP, with a connection or without, and over lines."""
import http.client
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))
import harness  # noqa: E402

NEWEST, OLDER, OLDEST = "2026-07-28", "2025-11-25", "2025-06-18"
META = "io.modelcontextprotocol/"


class Reply:
    """What came back: every message, and the answer among them."""

    def __init__(self, status, headers, messages):
        self.status, self.headers, self.messages = status, headers, messages

    @property
    def answer(self):
        found = [one for one in self.messages if "result" in one or "error" in one]
        assert len(found) == 1, (self.status, self.messages)
        return found[0]

    @property
    def result(self):
        assert "result" in self.answer, self.answer
        return self.answer["result"]

    @property
    def error(self):
        assert "error" in self.answer, self.answer
        return self.answer["error"]

    def told(self, method):
        return [one["params"] for one in self.messages if one.get("method") == method]


def events(response):
    """The messages of a stream, as they come."""
    data = []
    for line in response:
        line = line.decode().rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].strip())
        elif not line and data:
            text = "\n".join(data)
            data = []
            if text:
                yield json.loads(text)


class Peer:
    """A client with a connection (revision OLDER or OLDEST) or without (NEWEST)."""

    def __init__(self, port, key=harness.KEY, revision=OLDER, capabilities=None, begin=True):
        self.port, self.key, self.revision = port, key, revision
        self.capabilities = capabilities or {}
        self.connection_id, self.count = None, 0
        if begin and revision != NEWEST:
            reply = self.request("initialize", {"protocolVersion": revision, "capabilities": self.capabilities,
                                                "clientInfo": {"name": "peer", "version": "1"}})
            self.hello = reply.result
            self.connection_id = reply.headers["mcp-session-id"]
            assert self.send({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202

    def headers(self, message=None):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.key:
            headers["Authorization"] = "Bearer " + self.key
        if self.revision == NEWEST:
            headers["MCP-Protocol-Version"] = NEWEST
            if message:
                headers["Mcp-Method"] = message.get("method", "")
                params = message.get("params", {})
                name = params.get("uri" if message.get("method") == "resources/read" else "name")
                if isinstance(name, str):
                    headers["Mcp-Name"] = name
        elif self.connection_id:
            headers["Mcp-Session-Id"] = self.connection_id
            headers["MCP-Protocol-Version"] = self.revision
        return headers

    def open(self, method="POST", message=None, headers=None, raw=None, timeout=60):
        """The response before its body was read."""
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        all_headers = {**self.headers(message), **(headers or {})}
        all_headers = {name: value for name, value in all_headers.items() if value is not None}
        body = raw if raw is not None else None if message is None else json.dumps(message).encode()
        wire.request(method, "/mcp", body, all_headers)
        response = wire.getresponse()
        response.wire = wire
        return response

    def send(self, message=None, method="POST", headers=None, raw=None, timeout=60):
        response = self.open(method, message, headers, raw, timeout)
        found = {name.lower(): value for name, value in response.getheaders()}
        if "event-stream" in found.get("content-type", ""):
            messages = list(events(response))
        else:
            text = response.read()
            messages = [json.loads(text)] if text else []
        response.wire.close()
        return Reply(response.status, found, messages)

    def message(self, method, params=None, **meta):
        self.count += 1
        params = dict(params or {})
        if self.revision == NEWEST:
            meta = {META + "protocolVersion": NEWEST, META + "clientCapabilities": self.capabilities,
                    META + "clientInfo": {"name": "peer", "version": "1"}, **meta}
        if meta:
            params["_meta"] = {**meta, **params.get("_meta", {})}
        return {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}

    def request(self, method, params=None, headers=None, timeout=60, **meta):
        return self.send(self.message(method, params, **meta), headers=headers, timeout=timeout)

    def call(self, name, arguments=None, timeout=60, **meta):
        """The result of a tool, whatever it says."""
        return self.request("tools/call", {"name": name, "arguments": arguments or {}}, timeout=timeout, **meta).result

    def does(self, name, arguments=None, **more):
        """The structured part of a result that is no error."""
        result = self.call(name, arguments, **more)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def refuses(self, name, arguments=None, **more):
        """The text of a result that is an error."""
        result = self.call(name, arguments, **more)
        assert result.get("isError") is True, result
        return "\n".join(one["text"] for one in result["content"])


class Lines:
    """`atoll mcp` on pipes."""

    def __init__(self, *words, key=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ATOLL_")}
        if key:
            environment["ATOLL_API_KEY"] = key
        self.process = subprocess.Popen([harness.ATOLL, "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment)
        self.count = 0

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode()[-2000:]
        return json.loads(line)

    def request(self, method, params=None):
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params or {}})
        while True:
            message = self.receive()
            if message.get("id") == self.count:
                return message

    def initialize(self, revision=OLDER):
        answer = self.request("initialize", {"protocolVersion": revision, "capabilities": {},
                                             "clientInfo": {"name": "lines", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(60)
        self.process.stdout.close()
        self.process.stderr.close()
        return status
