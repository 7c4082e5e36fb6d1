"""A daemon on an empty data directory, and a client that holds every answer against sdk/openapi.yaml."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATOLL = os.environ.get("ATOLL", str(ROOT / "build" / "atoll"))
KEY = "e2b_00112233445566778899aabbccddeeff00112233"


class Schema:
    """The part of JSON Schema that our description uses; anything else in it is an error of the test."""

    KNOWN = {"type", "required", "additionalProperties", "properties", "items", "enum", "$ref", "oneOf", "format",
             "description", "minimum", "maximum", "minLength", "maxLength", "pattern", "contentMediaType", "default",
             "contentEncoding", "minItems", "maxItems", "propertyNames"}

    # Routes that other suites ask, by suite; tests/api asks all others. A path belongs to the longest beginning here.
    ELSEWHERE = {
        "governance": ("/api/keys", "/api/tenants", "/api/roles", "/api/usage", "/api/whoami"),
        "audit": ("/api/audit",),
        "index": ("/api/index", "/api/graph"),
        "mcp": ("/mcp", "/.well-known/oauth-protected-resource"),
        "telemetry": ("/api/events", "/api/health", "/api/log"),
        "toolkit": ("/api/registry", "/schemas", "/api/prompts/", "/api/skills", "/api/sessions/{id}/skills",
                    "/api/sessions/{id}/prompt"),
        "tools": ("/api/tools/", "/api/tool-calls", "/api/sessions/{id}/tools"),
    }

    def __init__(self, document):
        self.document = document
        self.seen = set()

    def never_asked(self, suite):
        """Operations of the description that this suite has to ask and did not."""
        def suite_of(path):
            found = [(len(start), name) for name, starts in self.ELSEWHERE.items() for start in starts if path.startswith(start)]
            return max(found)[1] if found else "api"
        return sorted({(method.upper(), path) for path, operations in self.document["paths"].items()
                       for method in operations if method != "description" and suite_of(path) == suite} - self.seen)

    def complaints(self, value, schema, where="$"):
        unknown = set(schema) - self.KNOWN
        assert not unknown, f"the test does not know {unknown}"
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return self.complaints(value, self.document["components"]["schemas"][name], where)
        if "oneOf" in schema:
            if any(not self.complaints(value, one, where) for one in schema["oneOf"]):
                return []
            return [f"{where}: fits none of {len(schema['oneOf'])} forms"]
        found = []
        if "type" in schema:
            types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            if not any(self.is_a(value, one) for one in types):
                return [f"{where}: {value!r:.80} is no {types}"]
        if "enum" in schema and value not in schema["enum"]:
            found.append(f"{where}: {value!r} is none of {schema['enum']}")
        if self.is_a(value, "number"):
            if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
                found.append(f"{where}: {value!r} is out of bounds")
        if isinstance(value, str):
            size = len(value)
            if not schema.get("minLength", 0) <= size <= schema.get("maxLength", size):
                found.append(f"{where}: {size} characters")
            if "pattern" in schema and not re.search(schema["pattern"], value):
                found.append(f"{where}: {value!r:.80} does not match {schema['pattern']}")
        if isinstance(value, dict):
            properties = schema.get("properties", {})
            found += [f"{where}: {name} is missing" for name in schema.get("required", []) if name not in value]
            more = schema.get("additionalProperties", True)
            for name, inner in value.items():
                if name in properties:
                    found += self.complaints(inner, properties[name], f"{where}.{name}")
                elif more is False:
                    found.append(f"{where}: {name} is not described")
                elif isinstance(more, dict):
                    found += self.complaints(inner, more, f"{where}.{name}")
        if isinstance(value, list) and "items" in schema:
            for at, inner in enumerate(value):
                found += self.complaints(inner, schema["items"], f"{where}[{at}]")
        return found

    @staticmethod
    def is_a(value, kind):
        if kind == "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        if kind == "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        return isinstance(value, {"string": str, "boolean": bool, "object": dict, "array": list,
                                  "null": type(None)}[kind])

    def operation(self, method, path):
        for pattern, operations in self.document["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path) and method.lower() in operations:
                self.seen.add((method, pattern))
                return operations[method.lower()]
        return None

    def check(self, method, path, status, headers, body):
        operation = self.operation(method, path)
        if operation is None:
            assert status in (401, 404, 405), f"{method} {path} is not described and gave {status}"
            return
        answer = operation["responses"].get(str(status), operation["responses"].get("default"))
        assert answer, f"{method} {path}: status {status} is not described"
        if "$ref" in answer:
            answer = self.document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
        kind = headers.get("content-type", "").split(";")[0]
        content = answer.get("content", {})
        if kind == "application/json" and "application/json" in content:
            found = self.complaints(json.loads(body), content["application/json"]["schema"])
            assert not found, f"{method} {path} {status}: {found[:5]}"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    schema = None

    def __init__(self, port, key=KEY):
        self.port, self.key = port, key
        self.connection = None

    def __call__(self, method, path, body=None, headers=None, raw=None, key=True):
        headers = dict(headers or {})
        if key and self.key:
            headers.setdefault("X-API-Key", self.key)
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        for attempt in (1, 2):
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=180)
            try:
                self.connection.request(method, path, data, headers)
                response = self.connection.getresponse()
                text = response.read()
                break
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.connection = None
                if attempt == 2:
                    raise
        found = {name.lower(): value for name, value in response.getheaders()}
        if self.schema:
            self.schema.check(method, urllib.parse.urlsplit(path).path, response.status, found, text)
        return Answer(response.status, found, text)

    def ok(self, method, path, body=None, status=(200, 201, 204), **more):
        answer = self(method, path, body, **more)
        assert answer.status in status, f"{method} {path}: {answer.status} {answer.body[:500]}"
        return answer.json if answer.headers.get("content-type") == "application/json" else answer.body

    def providers(self):
        """Those that work here."""
        return [one for one in self.ok("GET", "/api/capabilities")["providers"] if one["available"]]

    def fails(self, status, code, method, path, body=None, **more):
        answer = self(method, path, body, **more)
        assert answer.status == status, f"{method} {path}: {answer.status} {answer.body[:500]}"
        error = answer.json["error"]
        assert error["code"] == code, error
        assert error["request_id"], error
        return error


class Daemon:
    def __init__(self, *flags):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="atoll-api-"))
        self.flags = flags
        self.command = [ATOLL]
        self.process = None

    def start(self):
        out = open(self.work / "out", "wb")
        self.err = open(self.work / "err", "ab")
        environment = {**os.environ, "ATOLL_API_KEY": KEY}
        self.process = subprocess.Popen([*self.command, "serve", "--listen", "127.0.0.1:0", "--data", str(self.work / "data"),
                                         "--set", "network.internal=127.0.0.2", *self.flags], stdin=subprocess.DEVNULL, stdout=out, stderr=self.err,
                                        env=environment)
        deadline = time.time() + 120
        while time.time() < deadline and self.process.poll() is None:
            found = re.search(rb"ready on http://127.0.0.1:(\d+)", (self.work / "out").read_bytes())
            if found:
                self.port = int(found.group(1))
                return self
            time.sleep(0.02)
        raise AssertionError("the daemon did not start: " + (self.work / "err").read_text()[-2000:])

    def client(self, key=KEY):
        return Client(self.port, key)

    def described(self):
        """What this service says of itself; set as Client.schema, every answer is held against it."""
        return Schema(self.client().ok("GET", "/openapi.json"))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(120)
        return self.process.returncode

    def keys(self, *words):
        return subprocess.run([ATOLL, "keys", "--data", str(self.work / "data"), *words], capture_output=True,
                              text=True, check=False)

    def remove(self):
        self.stop()
        shutil.rmtree(self.work, ignore_errors=True)

    def memory_bytes(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) * 1024
