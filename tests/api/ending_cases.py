"""True endings and true limits: what is said about interpreters, commands and sessions after a daemon died, while a second one
tries, on a full disk, in the first second. Each on a daemon of its own."""
import http.client
import json
import os
import subprocess
import time

import cases
import harness
from cases import say, until
from service_cases import running


def is_native(client):
    traits = {one["name"]: one["traits"] for one in client.providers()}
    if traits.get("native", {}).get("live_fork") and os.geteuid() == 0:
        return True
    print("      (no zygote here: left out)")
    return False


def kept_records(client, base):
    return client.ok("GET", base + "/history?order=asc")["records"]


def second_daemon_is_refused():
    """At once, with the first one's number, and nothing of the first one is touched."""
    with running() as daemon:
        client = daemon.client()
        base = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        started = client.ok("POST", base + "/commands", {"command": "sleep 600", "background": True})
        second = subprocess.Popen([harness.ATOLL, "serve", "--listen", "127.0.0.1:0", "--data", str(daemon.work / "data")],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**os.environ, "ATOLL_API_KEY": harness.KEY}, text=True)
        try:
            begun = time.monotonic()
            out, err = second.communicate(timeout=60)
            took = time.monotonic() - begun
        finally:
            second.kill()
        assert second.returncode != 0 and "ready" not in out, (second.returncode, out, err)
        assert f"process {daemon.process.pid}" in err, err
        assert took < 8, f"it took {took:.1f} s to be refused"
        assert [one["status"] for one in kept_records(client, base)] == ["admitted"]
        assert client.ok("POST", base + "/commands", {"command": "echo on"})["stdout"] == "on\n"
        client.ok("POST", base + f"/processes/{started['pid']}/signal", {"signal": "SIGKILL"})
        until(lambda: [one["status"] for one in kept_records(client, base)] == ["killed", "success"], "the first one's own end")
        assert "UNIQUE" not in (daemon.work / "err").read_text()
        # Who works beside a running service still may.
        assert daemon.keys("list").returncode == 0
        daemon.kill()
        daemon.start()  # what a killed one held is free


def a_new_interpreter_says_so():
    """After kill -9 of the daemon, and after an interpreter died without a spare: once, with the reason, and in the history."""
    with running() as daemon:
        client = daemon.client()
        if not is_native(client):
            return
        base = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        first = client.ok("POST", base + "/execute", {"code": "x = 1", "language": "python"})
        assert first["interpreter_restarted"] is None, first
        daemon.kill()
        daemon.start()
        client = daemon.client()
        unused = client.ok("POST", base + "/execute", {"code": "1", "language": "javascript"})
        assert unused["interpreter_restarted"] is None, "there was none in this language"
        told = client.ok("POST", base + "/execute", {"code": "print('x' in globals())", "language": "python"})
        assert told["stdout"] == "False\n" and "service" in told["interpreter_restarted"], told
        again = client.ok("POST", base + "/execute", {"code": "1", "language": "python"})
        assert again["interpreter_restarted"] is None, again
        reasons = [one["interpreter_restarted"] for one in kept_records(client, base)]
        assert reasons == [None, None, told["interpreter_restarted"], None], reasons
        # Threads: no spare can be kept, so its death is its end.
        died = client.ok("POST", base + "/execute", {"language": "python", "code":
                         "import threading, time, os\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()"})
        assert died["status"] == "success", died
        died = client.ok("POST", base + "/execute", {"language": "python", "code": "os._exit(9)"})
        error = client.fails(409, "conflict", "POST", base + "/execute", {"language": "python", "code": "1"})
        assert "restart" in error["message"], error
        client.ok("POST", base + f"/contexts/{died['context']}/restart")
        told = client.ok("POST", base + "/execute", {"language": "python", "code": "1"})
        assert "died" in told["interpreter_restarted"] and "9" in told["interpreter_restarted"], told


def e2b_execute(daemon, sandbox, code):
    """The lines of one execution, as E2B's SDKs read them."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    headers = {"Host": f"49999-{sandbox['sandboxID']}.e2b.localhost:{daemon.port}", "Content-Type": "application/json"}
    if sandbox.get("envdAccessToken"):
        headers["X-Access-Token"] = sandbox["envdAccessToken"]
    connection.request("POST", "/execute", json.dumps({"code": code}), headers)
    response = connection.getresponse()
    text = response.read().decode()
    assert response.status == 200, (response.status, text)
    return [json.loads(line) for line in text.splitlines()]


def a_new_interpreter_says_so_to_e2b():
    """An event of its own, which SDKs pass over, and a line on standard error, which they show."""
    with running() as daemon:
        client = daemon.client()
        if not is_native(client):
            return
        sandbox = client.ok("POST", "/sandboxes", {"templateID": "base", "timeout": 600})
        assert not [line for line in e2b_execute(daemon, sandbox, "x = 1") if line["type"] == "interpreter_restarted"]
        daemon.kill()
        daemon.start()
        lines = e2b_execute(daemon, sandbox, "print('x' in globals())")
        events = [line for line in lines if line["type"] == "interpreter_restarted"]
        assert len(events) == 1 and "service" in events[0]["reason"], lines
        assert any(line["type"] == "stderr" and "new one" in line["text"] for line in lines), lines
        assert [line["text"] for line in lines if line["type"] == "stdout"] == ["False\n"], lines
        assert lines[0]["type"] == "number_of_executions" and lines[-1]["type"] == "end_of_execution", lines
        assert not [line for line in e2b_execute(daemon, sandbox, "1") if line["type"] == "interpreter_restarted"]


def commands_outlive_the_daemon_in_the_history():
    """One that still runs is not called interrupted, its end is recorded when it comes, and its time limit holds."""
    with running() as daemon:
        client = daemon.client()
        if not is_native(client):
            return
        base = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        go, seven = "/home/user/go", "while [ ! -e /home/user/go ]; do sleep 0.1; done; exit 7"
        client.ok("POST", base + "/commands", {"command": seven, "background": True})
        client.ok("POST", base + "/commands", {"command": "sleep 600", "background": True, "timeout_seconds": 4})
        daemon.kill()
        daemon.start()
        client = daemon.client()
        assert kept_records(client, base)[0]["status"] == "admitted", kept_records(client, base)
        client.ok("PUT", base + f"/files?path={go}", raw=b"")
        until(lambda: kept_records(client, base)[0]["status"] == "error", "the end of what outlived the daemon")
        assert kept_records(client, base)[0]["exit_code"] == 7
        until(lambda: kept_records(client, base)[1]["status"] == "timeout", "the time limit of what outlived the daemon")


def the_first_session_can_be_forked():
    """Made in the first moment of the service: its interpreter waits for the zygote instead of being a program of its own."""
    with running() as daemon:
        client = daemon.client()
        if not is_native(client):
            return
        base = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        say(client, base, "x = 41")
        forked = client.ok("POST", base + "/fork", {"kernels": "require"})
        assert say(client, "/api/sessions/" + forked["session_id"], "print(x + 1)") == "42\n"


def limits_are_told_by_language():
    """What is told is what binds: for a command it is the shell's time."""
    with running() as daemon:
        client = daemon.client()
        made = client.ok("POST", "/api/sessions", {"provider": "virtual"})
        times = made["limits"]["execution_time_by_language"]
        assert times == {"python": 30, "javascript": 15, "typescript": 15, "shell": 10, "r": 30, "java": 30, "deno": 30}, times
        assert client.ok("GET", "/api/sessions/" + made["session_id"])["limits"] == made["limits"]
        chosen = client.ok("POST", "/api/sessions", {"provider": "virtual", "limits": {"execution_time_seconds": 2}})
        assert set(chosen["limits"]["execution_time_by_language"].values()) == {2}, chosen["limits"]
        if not is_native(client):
            return
        base = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        cut = client.ok("POST", base + "/commands", {"command": "sleep 60"})
        assert cut["status"] == "timeout" and f"{times['shell']} s" in cut["reason"], cut


def sessions_end_on_a_full_disk():
    """DELETE works, the end is told at once, and it is in the store once there is room."""
    if os.geteuid() != 0:
        print("      (not root: left out)")
        return
    daemon = harness.Daemon()
    data = daemon.work / "data"
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(data)], check=True)
    try:
        client = daemon.start().client()
        bases = ["/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"] for _ in range(2)]
        with open(data / "ballast", "wb", buffering=0) as ballast:
            for size in (65536, 4096, 512, 1):
                try:
                    while True:
                        ballast.write(b"x" * size)
                except OSError:
                    pass
        until(lambda: client("POST", bases[0] + "/commands", {"command": "echo " + "x" * 20000}).status != 200, "a full disk")
        assert client.ok("DELETE", bases[0])["state"] == "stopped"
        # Its end may lie in the journal already: reading what the database lacks is refused, but nobody is told that it runs.
        for method in ("GET", "DELETE"):
            answer = client(method, bases[0])
            assert answer.status == 507 or answer.json["state"] == "stopped", answer.body
        assert client("POST", bases[0] + "/commands", {"command": "true"}).status in (409, 507)
        (data / "ballast").unlink()
        until(lambda: client("GET", bases[0]).status == 200, "room to read again")
        assert client.ok("GET", bases[0])["state"] == "stopped"
        until(lambda: client("POST", bases[1] + "/commands", {"command": "true"}).status == 200, "room")
        until(lambda: not [one for one in client.ok("GET", "/api/sessions?state=running")["sessions"]
                           if bases[0].endswith(one["session_id"])], "its end among the others")
        daemon.stop()
        client = daemon.start().client()
        assert client.ok("GET", bases[0])["state"] == "stopped"
        assert client.ok("GET", bases[0])["reason"] == "by request"
    finally:
        daemon.stop()
        subprocess.run(["umount", "-l", str(data)], check=False)
        daemon.remove()


DRAW_JAVASCRIPT = """const { randomBytes, randomUUID, randomInt } = require('crypto');
console.log([Math.random(), randomBytes(8).toString('hex'), randomUUID(), randomInt(2 ** 47),
             crypto.getRandomValues(new Uint32Array(4)).join('.')].join(' '))"""
DRAW_PYTHON = """import random, secrets, ssl, uuid
print(random.random(), secrets.token_hex(8), ssl.RAND_bytes(8).hex(), uuid.uuid4(), uuid.uuid1().node)"""


def forks_share_no_random_numbers():
    """A source and ten forks, in every language that has generators: no number twice."""
    with running("rate.per_second=100000", "rate.burst=100000") as daemon:
        client = daemon.client()
        if not is_native(client):
            return
        box = cases.Sandbox(client, "native")
        draws = {"python": DRAW_PYTHON, "javascript": DRAW_JAVASCRIPT}

        def draw(base):
            said = {language: client.ok("POST", base + "/execute", {"code": code, "language": language})
                    for language, code in draws.items()}
            return {f"{language}[{at}]": word for language, one in said.items()
                    for at, word in enumerate(one["stdout"].split())}
        draw(box.base)  # so that the generators have a state
        copies = client.ok("POST", box.base + "/fork", {"count": 10})["fork"]["copies"]
        drawn = [draw(base) for base in [box.base] + ["/api/sessions/" + one["session"]["session_id"] for one in copies]]
        assert len(drawn) == 11 and len(drawn[0]) == 10, drawn[0]
        for name in drawn[0]:
            assert len({one[name] for one in drawn}) == 11, (name, [one[name] for one in drawn])


ALL = [second_daemon_is_refused, a_new_interpreter_says_so, a_new_interpreter_says_so_to_e2b,
       commands_outlive_the_daemon_in_the_history, the_first_session_can_be_forked, limits_are_told_by_language,
       sessions_end_on_a_full_disk, forks_share_no_random_numbers]
