"""The service as a whole, each on a daemon of its own: limits, slow clients, time, retention, damage while it runs."""
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import cases
import harness
from cases import until


@contextlib.contextmanager
def running(*settings):
    daemon = harness.Daemon(*[word for one in settings for word in ("--set", one)])
    try:
        yield daemon.start()
    finally:
        daemon.remove()


def raw_answer(port, *pieces, patience=60):
    """Everything that comes back for these bytes until the other side closes or answers."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as sock:
        for piece in pieces:
            sock.sendall(piece)
        out = b""
        while b"\r\n\r\n" not in out:
            block = sock.recv(65536)
            if not block:
                break
            out += block
        return out


def a_burst_of_a_thousand_is_admitted():
    """With the settings as they are; what is over a key's rate is told to wait, and no other key feels it."""
    with running() as daemon:
        client = daemon.client()
        counts, lock = {}, threading.Lock()

        def ask():
            mine = harness.Client(daemon.port)
            for _ in range(50):
                status = mine("GET", "/api/tools").status
                with lock:
                    counts[status] = counts.get(status, 0) + 1
        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counts == {200: 1000}, counts
        daemon.stop()
        daemon.flags = ("--set", "rate.per_second=1", "--set", "rate.burst=5")
        client = daemon.start().client()
        answers = [client("GET", "/api/tools") for _ in range(20)]
        refused = [one for one in answers if one.status == 429]
        assert 200 in {one.status for one in answers[:5]} and refused, [one.status for one in answers]
        error = refused[0].json["error"]
        assert error["code"] == "resource_exhausted" and error["details"]["retryable"] is True, error
        assert int(refused[0].headers["retry-after"]) >= 1
        other = daemon.client(daemon.keys("create", "--tenant", "other").stdout.strip())
        until(lambda: other("GET", "/api/tools").status == 200, "another key is not held back")
        assert client("GET", "/health").status == 200


def slow_clients_hold_nobody_up():
    with running("http.header_time=3s", "http.body_stall_time=3s", "http.write_stall_time=3s") as daemon:
        client = daemon.client()
        key = f"Host: x\r\nX-API-Key: {client.key}\r\n".encode()
        idle = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(200)]
        for one in idle:
            one.sendall(b"GET /api/se")
        assert client("GET", "/api/tools").status == 200
        assert raw_answer(daemon.port, b"GET /api/sess").startswith(b"HTTP/1.1 408")
        assert raw_answer(daemon.port, b"POST /api/sessions HTTP/1.1\r\n" + key + b"Content-Length: 9\r\n\r\n{").startswith(
            b"HTTP/1.1 408")
        for one in idle:
            one.close()
        session = client.ok("POST", "/api/sessions", {"provider": "virtual"})
        path = f"/api/sessions/{session['session_id']}/files?path=/home/user/big"
        client.ok("PUT", path, raw=b"x" * (32 << 20))
        sockets = open_sockets(daemon)
        reader = socket.create_connection(("127.0.0.1", daemon.port))
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        before = daemon.memory_bytes()
        reader.sendall(f"GET {path} HTTP/1.1\r\n".encode() + key + b"\r\n")
        assert reader.recv(16)
        for _ in range(20):
            assert client("GET", "/api/tools").status == 200
        assert daemon.memory_bytes() - before < 24 << 20
        until(lambda: open_sockets(daemon) <= sockets, "who does not read is let go")
        reader.close()


def open_sockets(daemon):
    where = f"/proc/{daemon.process.pid}/fd"
    links = [os.readlink(f"{where}/{name}") for name in os.listdir(where) if os.path.lexists(f"{where}/{name}")]
    return sum(link.startswith("socket:") for link in links)


def strange_bytes_are_answered_clearly():
    with running() as daemon:
        client = daemon.client()
        key = f"Host: x\r\nX-API-Key: {client.key}\r\n".encode()
        for pieces, status in (
                ((b"POST /api/sessions HTTP/1.1\r\n", key, b"Content-Length: 10000000000\r\n\r\n"), 413),
                ((b"POST /api/sessions HTTP/1.1\r\n", key, b"Transfer-Encoding: chunked\r\n\r\n",
                  (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 17), 413),
                ((b"POST /api/sessions HTTP/1.1\r\n", key, b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), 400),
                ((b"POST /api/sessions HTTP/1.1\r\n", key, b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), 400),
                ((b"GET /", b"a" * 100000, b" HTTP/1.1\r\n", key, b"\r\n"), 431),
                ((b"GET /api/sessions/%zz HTTP/1.1\r\n", key, b"\r\n"), 400),
                ((b"GET /api/sessions?state=%ff HTTP/1.1\r\n", key, b"\r\n"), 400),
                ((b"FROB /api/sessions HTTP/1.1\r\n", key, b"\r\n"), 405),
                ((b"\x16\x03\x01\x00\xa5\x01\x00\x00\r\n\r\n",), 400)):
            answer = raw_answer(daemon.port, *pieces)
            assert answer.startswith(f"HTTP/1.1 {status}".encode()), (pieces[:1], answer[:300])
        for body, said in ((b'{"metadata":{"a":"\\ud800"}}', "bad JSON"), (b'{"metadata":{"a":"\xc3"}}', "UTF-8"),
                           ("{}".encode("utf-16"), "UTF-8"), (b"[" * 100000, "deep"), (b'{"a":' * 5000, "deep"),
                           (b'{"ttl_seconds":NaN}', "bad JSON"), (b'{"provider":"virtual",}', "bad JSON"), (b"{} {}", "bad JSON"),
                           (b'{"ttl_seconds":1e999}', "'ttl_seconds'"), (b'"x"', "object")):
            error = client.fails(400, "invalid_argument", "POST", "/api/sessions", raw=body)
            assert said in error["message"], (body[:40], error)
        assert client.ok("GET", "/api/sessions")["sessions"] == []


def what_is_not_used_ends_when_it_is_asked_for():
    with running("session.idle=4s") as daemon:
        client = daemon.client()
        busy = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        client.ok("POST", busy + "/commands", {"command": "sleep 300", "background": True})
        unused = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        until(lambda: client.ok("GET", unused)["state"] == "stopped", "it ends")
        assert "idle" in client.ok("GET", unused)["reason"]
        assert client.ok("GET", busy)["state"] == "running", "it ran something"


def what_is_paused_for_long_goes_to_the_disk():
    with running("session.to_disk=1s") as daemon:
        client = daemon.client()
        boxes = [cases.Sandbox(client, "native") for _ in range(2)]
        for box in boxes:
            cases.warm(client, box)
        whole, mixed = (box.base for box in boxes)
        for base in (whole, mixed):
            client.ok("POST", base + "/execute", {"code": "x = [1, 2]; open('here', 'w').write('file')"})
        client.ok("POST", mixed + "/commands", {"command": "sleep 300", "background": True})
        for base in (whole, mixed):
            assert not client.ok("POST", base + "/pause", {})["on_disk"]
        until(lambda: client.ok("GET", whole)["on_disk"], "it goes to the disk")
        assert client.ok("GET", mixed)["state"] == "paused" and not client.ok("GET", mixed)["on_disk"]
        daemon.kill()
        client = daemon.start().client()
        woken = client.ok("POST", whole + "/resume", {})
        assert woken["state"] == "running" and woken["left_behind"] == [], woken
        done = client.ok("POST", whole + "/execute", {"code": "x + [open('here').read()]"})
        assert done["results"][0]["data"]["text/plain"] == "[1, 2, 'file']", done


def history_goes_by_age_and_by_size():
    """Retention is applied at start and every ten minutes."""
    with running() as daemon:
        client = daemon.client()
        kept = client.ok("POST", "/api/sessions", {"provider": "virtual"})["session_id"]
        for number in range(40):
            client.ok("POST", f"/api/sessions/{kept}/commands", {"command": f"echo {number} {'x' * 1000}"})
        client.ok("POST", f"/api/sessions/{kept}/commands", {"command": "printf a > /home/user/output/kept"})
        digest = client.ok("GET", f"/api/sessions/{kept}/artifacts")["artifacts"][0]["digest"]
        daemon.stop()
        stored = daemon.work / "data" / "artifacts" / digest[:2] / digest[2:]
        assert stored.exists()
        daemon.flags = ("--set", "keep.record_bytes=20K")
        client = daemon.start().client()
        ask = lambda: client.ok("GET", f"/api/sessions/{kept}/history?order=asc&limit=1000")["records"]  # noqa: E731
        until(lambda: 0 < len(ask()) < 30, "the oldest records go")
        left = ask()
        assert left[-1]["code"].startswith("printf"), "the newest stay"
        assert [one["timestamp"] for one in left] == sorted(one["timestamp"] for one in left)
        assert client.ok("GET", "/api/sessions/" + kept)["state"] == "stopped"
        daemon.stop()
        daemon.flags = ("--set", "keep.sessions=1s", "--set", "keep.records=1s")
        time.sleep(1.2)
        client = daemon.start().client()
        until(lambda: client("GET", "/api/sessions/" + kept).status == 404, "the ended session goes")
        assert client.ok("GET", "/api/history")["records"] == []
        until(lambda: not stored.exists(), "its artifact goes")


def a_database_damaged_while_it_runs_is_told():
    """Real damage to the file under a running service: what lives goes on, what needs the damaged part says so, and
    nobody gets a wrong or an empty answer instead."""
    with running() as daemon:
        client = daemon.client()
        old = client.ok("POST", "/api/sessions", {"provider": "virtual"})["session_id"]
        for number in range(300):
            client.ok("POST", f"/api/sessions/{old}/commands", {"command": f"echo {number} {'y' * 3000}"})
        daemon.stop()  # everything is in the file now, and nothing in memory
        client = daemon.start().client()
        live = "/api/sessions/" + client.ok("POST", "/api/sessions", {"provider": "virtual"})["session_id"]
        database = daemon.work / "data" / "atoll.db"
        size = database.stat().st_size
        with open(database, "r+b") as file:
            file.seek(8192)
            file.write(os.urandom(size - 8192))
            file.flush()
            os.fsync(file.fileno())
        seen = set()
        for path in (f"/api/sessions/{old}/history?limit=1000", "/api/history?text=yyy&limit=1000", "/api/sessions?limit=1000",
                     f"/api/sessions/{old}"):
            answer = client("GET", path)
            seen.add(answer.status)
            if answer.status != 200:
                error = answer.json["error"]
                assert error["code"] in ("data_loss", "unavailable") and "store" in error["message"], error
            else:
                assert "records" not in answer.json or answer.json["records"], "an empty history would be a lie"
        assert seen - {200}, "the damage was never told"
        # What lives needs the database only for its records, and those wait in the journal.
        assert client("GET", "/health").status == 200
        assert client.ok("GET", live)["state"] == "running"
        done = client.ok("POST", live + "/commands", {"command": "echo still"})
        assert done["stdout"] == "still\n", done
        client.ok("PUT", live + "/files?path=/home/user/f", raw=b"1")
        assert client.ok("GET", live + "/files?path=/home/user/f") == b"1"
        assert daemon.process.poll() is None
        # Acknowledged is what is in the journal; the database is tried, and found wanting, after that.
        until(lambda: b"database" in (daemon.work / "err").read_bytes().lower(), "the log tells of it")
        daemon.stop()
        # The next start refuses with the reason, or serves what can be read; either way the journal still has it.
        try:
            daemon.start()
        except AssertionError as refused:
            assert "store" in str(refused), refused
        names = [one.name for one in (daemon.work / "data").iterdir() if one.name.startswith("atoll.journal")]
        journal = b"".join((daemon.work / "data" / name).read_bytes() for name in names)
        assert b"echo still" in journal or daemon.process.poll() is None, "what was acknowledged is nowhere"


def processes_with(words):
    """Processes of the host whose command line holds these words."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and words.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass  # gone meanwhile
    return found


def a_spawner_that_died_too_is_told():
    """kill -9 of the daemon and of its spawner: the sandboxes are gone, and their sessions say so."""
    with running() as daemon:
        client = daemon.client()
        if client.ok("GET", "/api/capabilities")["providers"][0]["name"] != "native":
            print("      (no native provider here: left out)")
            return
        path = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        seconds = f"3{os.getpid()}"
        client.ok("POST", path + "/commands", {"argv": ["sleep", seconds], "background": True})
        until(lambda: processes_with("sleep\0" + seconds), "it runs")
        spawners = [pid for pid in processes_with(str(daemon.work)) if pid != daemon.process.pid]
        assert spawners, "where is the spawner?"
        for pid in [daemon.process.pid, *spawners]:
            os.kill(pid, signal.SIGKILL)
        daemon.process.wait()
        client = daemon.start().client()
        now = client.ok("GET", path)
        assert now["state"] == "lost" and now["reason"], now
        assert [one["status"] for one in client.ok("GET", path + "/history")["records"]] == ["interrupted"]
        assert client.ok("POST", "/api/sessions", {})["state"] == "running"
        until(lambda: not processes_with("sleep\0" + seconds), "what ran inside is gone")


def keys_are_hashed_and_beyond_loopback_needed():
    with running() as daemon:
        client = daemon.client()
        made = daemon.keys("create", "--tenant", "t", "--name", "n").stdout.strip()
        listed = daemon.keys("list").stdout
        assert made not in listed and "name=n" in listed, listed
        client.ok("GET", "/api/sessions")
        daemon.stop()
        for name in os.listdir(daemon.work / "data"):
            if name.startswith("atoll."):
                assert made.encode() not in (daemon.work / "data" / name).read_bytes(), name
        other = daemon.work / "fresh"
        environment = {name: value for name, value in os.environ.items() if name != "ATOLL_API_KEY"}
        refused = subprocess.run([harness.ATOLL, "serve", "--listen", "0.0.0.0:0", "--data", str(other)], env=environment,
                                 capture_output=True, text=True, timeout=60, check=False)
        assert refused.returncode != 0 and "key" in refused.stderr, refused


ALL = (a_burst_of_a_thousand_is_admitted, slow_clients_hold_nobody_up, strange_bytes_are_answered_clearly,
       what_is_not_used_ends_when_it_is_asked_for, what_is_paused_for_long_goes_to_the_disk, history_goes_by_age_and_by_size,
       a_database_damaged_while_it_runs_is_told, a_spawner_that_died_too_is_told,
       keys_are_hashed_and_beyond_loopback_needed)
