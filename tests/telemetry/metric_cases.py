"""Every metric that is promised exists, has its unit in its name, and moves when the thing happens."""
import re
import socket
import subprocess

from kit import case, comes_to, create, harness


class Metrics:
    """Samples of one answer, by name and labels in any order."""

    def __init__(self, client):
        self.text = client.ok("GET", "/metrics").decode()
        self.rows = {}
        for line in self.text.splitlines():
            found = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if found:
                labels = frozenset(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found.group(2) or ""))
                self.rows[found.group(1), labels] = float(found.group(3))

    def sum(self, name, **labels):
        wanted = set(labels.items())
        return sum(value for (row, of), value in self.rows.items() if row == name and wanted <= of)


def moved(client, act, *wanted):
    """Each of these has grown after the act; most counts come with the answer, some a moment later."""
    before = Metrics(client)
    done = act()
    for name, labels in wanted:
        grown = comes_to(lambda: Metrics(client).sum(name, **labels) > before.sum(name, **labels), 20)
        assert grown, f"{name}{labels} stayed {before.sum(name, **labels)}"
    return done


@case
def metrics_move_when_it_happens(daemon):
    client = daemon.client()
    native = any(one["name"] == "native" for one in client.providers())
    provider = "native" if native else "virtual"
    session = moved(client, lambda: create(client, provider=provider),
                    ("atoll_create_seconds_count", {"provider": provider}), ("atoll_sessions", {"state": "running"}),
                    ("atoll_session_events_total", {"provider": provider, "event": "created"}),
                    ("atoll_tenant_sessions", {"tenant": "default"}), ("atoll_store_commit_seconds_count", {}),
                    ("atoll_audit_write_seconds_count", {}), ("atoll_audit_entries_total", {}), ("atoll_events_total", {}),
                    ("atoll_http_requests_total", {"method": "POST"}), ("atoll_http_request_seconds_count", {}),
                    ("atoll_loop_lag_seconds_count", {}), ("atoll_http_bytes_total", {"direction": "out"}),
                    ("atoll_http_bytes_total", {"direction": "in"}),
                    *([("atoll_pool_takes_total", {"provider": "native"}), ("atoll_pool_wait_seconds_count", {"provider": "native"})]
                      if native else []))
    path = f"/api/sessions/{session}"
    code, language = ("sum(range(10**6))", "python") if native else ("echo x", "shell")
    moved(client, lambda: client.ok("POST", f"{path}/execute", {"code": code, "language": language}),
          ("atoll_execute_seconds_count", {"provider": provider, "language": language}),
          ("atoll_executions_total", {"status": "success"}), ("atoll_tenant_executions_total", {"tenant": "default"}),
          *([("atoll_tenant_cpu_seconds_total", {"tenant": "default"})] if native else []))
    if native:
        assert comes_to(lambda: Metrics(client).sum("atoll_tenant_memory_bytes", tenant="default") > 2**20)
        assert Metrics(client).sum("atoll_pool_target", provider="native") > 0
        moved(client, lambda: client("POST", f"{path}/execute", {"code": "while True: pass", "timeout_seconds": 0.3}),
              ("atoll_limit_hits_total", {"limit": "time"}))
        # A kind of sandbox that no pool has is made by the spawner.
        odd = moved(client, lambda: create(client, limits={"memory_mb": 333}), ("atoll_pool_takes_total", {"result": "miss"}),
                    ("atoll_spawner_call_seconds_count", {"provider": "native"}))
        assert "# TYPE atoll_spawner_queue gauge" in Metrics(client).text
        client.ok("DELETE", f"/api/sessions/{odd}")
    strict = create(client, provider=provider, policy="strict")
    moved(client, lambda: client("POST", f"/api/sessions/{strict}/execute", {"code": "rm -rf /", "language": "shell"}),
          ("atoll_policy_denials_total", {}), ("atoll_executions_total", {"status": "denied"}))
    moved(client, lambda: client("POST", "/api/sessions", {"environment": "nowhere"}), ("atoll_http_requests_total", {"status": "400"}))
    if native:
        moved(client, lambda: client.ok("POST", f"{path}/pause", {}), ("atoll_session_events_total", {"event": "paused"}))
        moved(client, lambda: client.ok("POST", f"{path}/resume", {}), ("atoll_session_events_total", {"event": "resumed"}))
    moved(client, lambda: [client.ok("DELETE", f"/api/sessions/{one}") for one in (session, strict)],
          ("atoll_session_events_total", {"event": "ended"}))
    assert comes_to(lambda: Metrics(client).sum("atoll_sessions", state="stopped") >= 2)


@case
def metrics_of_the_way_out_and_of_tools(daemon):
    client = daemon.client()
    if not any(one["name"] == "native" for one in client.providers()):
        return print("# skipped: no native sandboxes here")
    session = create(client, provider="native", network="egress")
    ask = {"command": "python3 -c \"import urllib.request as u; u.urlopen('http://192.0.2.1/', timeout=5)\" || true"}
    moved(client, lambda: client.ok("POST", f"/api/sessions/{session}/commands", ask),
          ("atoll_egress_attempts_total", {"decision": "denied"}))
    tools = client.ok("GET", "/api/tools")["tools"]
    name = next(one["name"] for one in tools if one["name"] in ("file_read", "read_file"))
    client.ok("PUT", f"/api/sessions/{session}/files?path=/home/user/a.txt", raw=b"text")
    moved(client, lambda: client.ok("POST", f"/api/sessions/{session}/tools/{name}", {"input": {"path": "/home/user/a.txt"}}),
          ("atoll_tool_calls_total", {"tool": name}), ("atoll_tool_seconds_total", {"tool": name}))
    client.ok("DELETE", f"/api/sessions/{session}")


ANSWERS = """import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(self.path[1:]))
        self.send_header("Content-Length", "0")
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", 8095), Handler).serve_forever()
"""


@case
def what_a_server_inside_answers_is_not_ours(daemon):
    """Through an open port: a tenant makes no rows with it, and raises no alarm of the operator's."""
    client = daemon.client()
    if not any(one["name"] == "native" for one in client.providers()):
        return print("# skipped: no native sandboxes here")
    made = client.ok("POST", "/api/sessions", {"provider": "native"})
    path = f"/api/sessions/{made['session_id']}"
    client.ok("PUT", f"{path}/files?path=/home/user/a.py", raw=ANSWERS.encode())
    client.ok("POST", f"{path}/commands", {"command": "python3 a.py", "background": True})
    assert comes_to(lambda: 8095 in client.ok("GET", f"{path}/ports")["ports"])
    host = made["url"].replace("{port}", "8095").removeprefix("http://")
    before = Metrics(client)
    plain = daemon.client()
    plain.schema = None
    for status in (200, 418, 500, 503, 599, 777):
        assert plain("GET", f"/{status}", headers={"Host": host}).status == status
    now = Metrics(client)
    passed = {"status": "passed_on"}
    assert now.sum("atoll_http_requests_total", **passed) - before.sum("atoll_http_requests_total", **passed) == 6
    for status in ("418", "500", "503", "599", "777"):
        assert now.sum("atoll_http_requests_total", status=status) == before.sum("atoll_http_requests_total", status=status), status
    client.ok("DELETE", path)


@case
def metrics_are_bounded_and_well_named(_):
    """Many tenants do not make many rows, and every name has the suffix of its kind and unit."""
    daemon = harness.Daemon().start()
    try:
        client = daemon.client()
        for number in range(130):
            client.ok("POST", "/api/tenants", {"name": f"tenant-{number}"})
            key = client.ok("POST", "/api/keys", {"name": "k", "role": "developer", "tenant": f"tenant-{number}"})["key"]
            theirs = daemon.client(key)
            session = create(theirs, provider="virtual")
            theirs.ok("POST", f"/api/sessions/{session}/execute", {"code": "true", "language": "shell"})
            theirs.ok("DELETE", f"/api/sessions/{session}")
            theirs.connection.close()
        metrics = Metrics(client)
        tenants = {dict(labels)["tenant"] for (_, labels) in metrics.rows if "tenant" in dict(labels)}
        assert len(tenants) == 101 and "other" in tenants, len(tenants)
        assert metrics.sum("atoll_tenant_executions_total") == 130
        assert metrics.sum("atoll_tenant_executions_total", tenant="other") >= 30
        assert len(metrics.rows) < 3000, len(metrics.rows)
        for name, kind in re.findall(r"# TYPE (\S+) (\S+)", metrics.text):
            assert name.startswith(("atoll_", "process_")), name
            if kind == "counter":
                assert name.endswith("_total"), name
            if kind == "histogram":
                assert name.endswith("_seconds"), name
            assert not re.search(r"_(ms|millis|kb|mb|percent)(_|$)", name), name
        checked = subprocess.run(["promtool", "check", "metrics"], input=metrics.text, capture_output=True, text=True, timeout=60)
        assert checked.returncode == 0 and not checked.stderr + checked.stdout, checked
    finally:
        daemon.remove()


@case
def bytes_in_are_all_that_came(daemon):
    """Heads and bodies, small ones too, that come with their head in one packet; and requests behind each other in one packet."""
    client = daemon.client()
    head = f"POST /api/sessions HTTP/1.1\r\nHost: x\r\nX-API-Key: {harness.KEY}\r\nContent-Length: 17\r\n\r\n".encode()
    request = head + b'{"colour": "red"}'

    def send(pieces, answers):
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as one:
            for piece in pieces:
                one.sendall(piece)
            got = b""
            while got.count(b"HTTP/1.1 400 ") < answers or not got.endswith(b"}"):
                got += one.recv(65536)

    for pieces, answers in (([request], 1), ([head, request[len(head):]], 1), ([request * 3], 3)):
        Metrics(client)  # its own head is of the same size each time
        first = Metrics(client).sum("atoll_http_bytes_total", direction="in")
        own = Metrics(client).sum("atoll_http_bytes_total", direction="in") - first
        before = first + own
        send(pieces, answers)
        wanted = before + own + sum(map(len, pieces))
        now = Metrics(client).sum("atoll_http_bytes_total", direction="in")
        assert own > 0 and now == wanted, (pieces, own, now, wanted)
