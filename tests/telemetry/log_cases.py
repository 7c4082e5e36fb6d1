"""The service's log: lines that belong to a request say whose it is, and the level can be set while it runs."""
import json

from degraded_cases import kill_all, processes_of
from kit import case, comes_to, create, harness, second_tenant

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
HEADERS = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


def lines(path):
    """All of them are JSON objects; what is not would be found here."""
    return [json.loads(line) for line in path.read_text().splitlines() if line]


@case
def log_lines_name_trace_session_and_tenant(daemon):
    client, log = daemon.client(), daemon.work / "err"
    session = create(client, provider="virtual")
    client.ok("PUT", "/api/log", {"level": "debug"})
    try:
        before = len(lines(log))
        client.ok("GET", f"/api/sessions/{session}", headers=HEADERS)
        other = daemon.client(second_tenant(client))
        other.fails(404, "not_found", "GET", f"/api/sessions/{session}", headers=HEADERS)
        client("GET", "/api/sessions", key=False, headers=HEADERS)
        found = comes_to(lambda: [line for line in lines(log)[before:] if line.get("trace_id") == TRACE][2:] and
                         [line for line in lines(log)[before:] if line.get("trace_id") == TRACE])
        mine, theirs, nobodys = found
        assert (mine["tenant"], mine["session_id"], mine["status"]) == ("default", session, "200"), mine
        assert (theirs["tenant"], theirs["session_id"], theirs["status"]) == ("acme", session, "404"), theirs
        assert "tenant" not in nobodys and nobodys["status"] == "401", nobodys
    finally:
        client.ok("PUT", "/api/log", {"level": "info"})
    before = len(lines(log))
    client.ok("GET", f"/api/sessions/{session}", headers=HEADERS)
    client.ok("DELETE", f"/api/sessions/{session}")
    assert not [line for line in lines(log)[before:] if line["level"] == "debug"], "debug lines at level info"


@case
def log_level_is_audited_and_the_operators(daemon):
    client = daemon.client()
    for role in ("viewer", "developer"):
        key = client.ok("POST", "/api/keys", {"name": f"log-{role}", "role": role})["key"]
        daemon.client(key).fails(403, "permission_denied", "PUT", "/api/log", {"level": "debug"})
    client.ok("PUT", "/api/log", {"level": "warn"})
    assert client.ok("GET", "/api/log") == {"level": "warn"}
    client.ok("PUT", "/api/log", {"level": "info"})
    entries = client.ok("GET", "/api/audit?action=log.update&limit=50")["entries"]
    assert [one["outcome"] for one in entries if one["action"] == "log.update"].count("denied") >= 2, entries
    assert any(one["outcome"] == "ok" and one["actor"].startswith("key_") for one in entries), entries


@case
def access_log_names_them_too(_):
    daemon = harness.Daemon()
    target = daemon.work / "access"
    daemon.flags = ("--set", f"log.access={target}")
    daemon.start()
    try:
        client = daemon.client()
        session = create(client, provider="virtual")
        client.ok("GET", f"/api/sessions/{session}?x=secret", headers=HEADERS)
        found = comes_to(lambda: [line for line in lines(target) if line.get("trace_id") == TRACE])
        assert found[0]["tenant"] == "default" and found[0]["session_id"] == session, found
        assert "secret" not in target.read_text()
    finally:
        daemon.remove()


@case
def lines_about_a_session_that_nobody_asked_for(_):
    """The spawner dies, and a session with it. What sessions write for a request, with its trace, is in session_test (RetryTest)."""
    daemon = harness.Daemon().start()
    try:
        client, log = daemon.client(), daemon.work / "err"
        if not any(one["name"] == "native" for one in client.providers()):
            return print("# skipped: no native sandboxes here")
        other = daemon.client(second_tenant(client))
        session = create(other, provider="native")
        kill_all(processes_of(daemon))
        found = comes_to(lambda: [line for line in lines(log) if line["message"] == "a sandbox ended by itself"])
        assert [(line["tenant"], line["session_id"]) for line in found] == [("acme", session)], found
        assert "trace_id" not in found[0] and "session" not in found[0], found
    finally:
        daemon.remove()
