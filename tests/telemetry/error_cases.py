"""Errors, as users see them: every row of docs/errors.md (which base_test holds against the one table) is walked through the command
line and the Python library; REST, E2B, MCP and the C++ library walk the table itself in their unit tests, and
daemon_test walks every route of every dialect."""
import http.server
import importlib.util
import json
import re
import socket
import subprocess
import sys
import threading

from kit import ROOT, case, harness


def errors_of_the_library():
    """The module alone: the package wants an HTTP client that only tests/sdk installs."""
    spec = importlib.util.spec_from_file_location("atoll_errors", ROOT / "sdk/python/src/atoll/errors.py")
    module = sys.modules["atoll_errors"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table():
    """code -> category, HTTP status, exit status, retryable"""
    rows = {}
    for line in (ROOT / "docs/errors.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.fullmatch(r"`\w+`", cells[0]):
            rows[cells[0].strip("`")] = (cells[1], int(cells[2]), int(cells[4]), cells[5] == "yes")
    assert len(rows) > 20, rows
    return rows


class Refusing:
    """A service that refuses everything with the same error."""

    def __init__(self):
        owner = self
        self.status, self.body, self.asked = 500, b"", 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                owner.asked += 1
                self.send_response(owner.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(owner.body)))
                self.end_headers()
                self.wfile.write(owner.body)

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def refuse(self, code, category, status, retryable):
        self.status, self.asked = status, 0
        self.body = json.dumps({"error": {"code": code, "message": f"because of {code}", "request_id": "r-1",
                                          "details": {"category": category, "retryable": retryable}}}).encode()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@case
def every_code_has_its_exit_status(_):
    service = Refusing()
    try:
        for code, (category, status, wanted, retryable) in table().items():
            service.refuse(code, category, status, retryable)
            done = subprocess.run([harness.ATOLL, "session", "list", "--url", service.url], capture_output=True, text=True,
                                  timeout=60, env={"PATH": "/usr/bin:/bin", "ATOLL_API_KEY": harness.KEY})
            assert done.returncode == wanted and f"because of {code}" in done.stderr, (code, done)
    finally:
        service.stop()


@case
def every_code_has_its_class_in_python(_):
    errors = errors_of_the_library()
    for code, (category, status, _, retryable) in table().items():
        made = errors.from_answer(status, {"error": {"code": code, "message": "m", "request_id": "r",
                                                     "details": {"category": category, "retryable": retryable}}})
        assert (made.code, made.status, made.retryable) == (code, status, retryable), made
        kind = {"user": errors.UserError, "retryable": errors.RetryableError, "limit": errors.LimitError,
                "policy": errors.PolicyError, "provider": errors.ProviderError, "internal": errors.InternalError}[category]
        assert isinstance(made, kind) and type(made) is not kind, made


@case
def the_description_and_the_library_have_the_codes_of_the_table(daemon):
    """No more and no fewer. The answers of every suite are held against the description, so no other code is ever answered."""
    wanted = list(table())
    assert harness.Client.schema.document["components"]["schemas"]["ErrorCode"]["enum"] == wanted
    assert list(errors_of_the_library().BY_CODE) == wanted


def facts(code):
    category, _, _, retryable = table()[code]
    return f"{code}; category={category}; retryable={str(retryable).lower()}"


@case
def every_dialect_has_the_facts_in_a_header(daemon):
    client, mcp, rows = daemon.client(), daemon.client(), table()
    mcp.schema = None  # its own suite holds it against its own protocol
    asked = [(client("GET", "/api/sessions/nobody"), "not_found"), (client("GET", "/sandboxes/nobody"), "not_found"),
             (client("POST", "/api/sessions", {"colour": "red"}), "invalid_argument"),
             (client("GET", "/api/sessions", key=False), "unauthenticated"), (client("GET", "/sandboxes", key=False), "unauthenticated"),
             (mcp("POST", "/mcp", {}, key=False), "unauthenticated"),
             (client("GET", "/api/sessions", key=False, headers={"X-API-Key": "e2b_" + "0" * 40}), "unauthenticated"),
             (client("GET", "/no/such/path"), "not_found"), (client("PATCH", "/api/environments"), "method_not_allowed"),
             (client("PATCH", "/sandboxes"), "method_not_allowed"), (client("POST", "/health", {}), "method_not_allowed")]
    for answer, code in asked:
        assert answer.status == rows[code][1], (code, answer.status, answer.body)
        assert answer.headers["atoll-error"] == facts(code), (code, answer.headers)
        if code == "method_not_allowed":
            assert answer.headers["allow"], answer.headers
    viewer = daemon.client(client.ok("POST", "/api/keys", {"name": "w", "role": "viewer"})["key"])
    for answer in (viewer("POST", "/api/sessions", {}), viewer("PUT", "/api/log", {"level": "debug"})):
        assert answer.status == 403 and answer.headers["atoll-error"] == facts("permission_denied"), answer.headers
    assert "atoll-error" not in client("GET", "/api/sessions").headers


@case
def what_is_no_request_is_told_so(daemon):
    """Heads that reach no route: their answers come from the server itself."""
    for sent, status, code in ((b"nonsense\r\n\r\n", 400, "invalid_argument"),
                               (b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 200_000 + b"\r\n\r\n", 431, "too_large")):
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=30) as one:
            one.sendall(sent)
            head = b""
            while b"\r\n\r\n" not in head and (piece := one.recv(65536)):
                head += piece
        assert head.startswith(f"HTTP/1.1 {status} ".encode()), head
        assert f"Atoll-Error: {facts(code)}\r\n".encode() in head, head
