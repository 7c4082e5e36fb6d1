"""The service as a whole, each on a daemon of its own: limits, slow clients, time, retention, damage while it runs."""
import contextlib
import json
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


def nobody_asks_for_more_than_there_is():
    """A wall that says 16 TiB on a machine of 24 GB says nothing."""
    with running("limits.max.disk_mb=300", "limits.max.execution_time_seconds=100") as daemon:
        client = daemon.client()
        for field, value in (("memory_mb", 1 << 24), ("cpu_cores", 1024), ("disk_mb", 301), ("max_processes", 100000),
                             ("execution_time_seconds", 101), ("output_mb", 1 << 16)):
            if field == "max_processes" and int(pathlib.Path("/proc/sys/kernel/pid_max").read_text()) >= value:
                continue
            for provider in ("virtual", "native"):
                error = client.fails(400, "invalid_argument", "POST", "/api/sessions",
                                     {"provider": provider, "limits": {field: value}})
                assert error["details"]["field"] == "limits." + field and "at most" in error["message"], error
        error = client.fails(400, "invalid_argument", "POST", "/api/sessions", {"limits": {"disk_mb": 301}})
        assert "at most 300" in error["message"] and "limits.max.disk_mb" in error["message"], error
        made = client.ok("POST", "/api/sessions", {"provider": "virtual", "limits": {"disk_mb": 300}})
        assert made["limits"]["disk_mb"] == 300, made["limits"]
        # E2B's templates, in E2B's words.
        cores = os.cpu_count()
        answer = client("POST", "/v3/templates", {"name": "too-much", "cpuCount": cores + 1})
        assert answer.status == 400 and f"cpuCount must be between 1 and {cores}" in answer.json["message"], answer.body
        answer = client("POST", "/v3/templates", {"name": "too-much", "memoryMB": 1 << 20})
        assert answer.status == 400 and "memoryMB must be between 1 and" in answer.json["message"], answer.body
    for flag, value in (("--memory", "16T"), ("--cpus", "1024"), ("--disk", "10T")):
        refused = subprocess.run([harness.ATOLL, "run", flag, value, "--", "true"], capture_output=True, text=True,
                                 timeout=60, check=False)
        assert refused.returncode != 0 and flag in refused.stderr and "at most" in refused.stderr, refused


def history_is_trimmed_within_a_tenant():
    with running("keep.record_bytes=20K", "keep.records=30d") as daemon:
        quiet = daemon.client()
        loud = daemon.client(daemon.keys("create", "--tenant", "loud", "--name", "n").stdout.strip())
        until(lambda: loud("GET", "/api/sessions").status == 200, "the key is known")
        own = quiet.ok("POST", "/api/sessions", {"provider": "virtual"})["session_id"]
        quiet.ok("POST", f"/api/sessions/{own}/commands", {"command": "echo mine"})
        theirs = loud.ok("POST", "/api/sessions", {"provider": "virtual"})["session_id"]
        for number in range(40):
            loud.ok("POST", f"/api/sessions/{theirs}/commands", {"command": f"echo {number} {'x' * 1000}"})
        daemon.stop()
        daemon.start()
        quiet, loud = daemon.client(), daemon.client(loud.key)
        until(lambda: len(loud.ok("GET", "/api/history?limit=1000")["records"]) < 30, "the loud one's oldest go")
        assert [one["code"] for one in quiet.ok("GET", "/api/history")["records"]] == ["echo mine"]


def stored_things_have_bounds():
    """Snapshots, templates, uploads: the refusal says what there is, what may be and what to do."""
    with running("keep.snapshot_count=1", "keep.template_count=1", "keep.upload_bytes=1M", "keep.upload_links=2s",
                 "keep.uploads=4s") as daemon:
        client = daemon.client()
        one = client.ok("POST", "/api/sessions", {"provider": "virtual"})["session_id"]
        kept = client.ok("POST", f"/api/sessions/{one}/snapshots", {})
        error = client.fails(507, "no_space", "POST", f"/api/sessions/{one}/snapshots", {})
        assert "1 snapshots, and 1 may be kept" in error["message"] and "remove" in error["message"], error
        client.ok("DELETE", "/api/snapshots/" + kept["snapshot_id"])
        client.ok("POST", f"/api/sessions/{one}/snapshots", {})
        made = client.ok("POST", "/v3/templates", {"name": "first"}, status=(202,))
        made = client.ok("POST", "/v3/templates", {"name": "first"}, status=(202,))  # another build of the same
        answer = client("POST", "/v3/templates", {"name": "second"})
        assert answer.status == 507 and "1 templates, and 1 may be kept" in answer.json["message"], answer.body
        link = lambda digit: client.ok(  # noqa: E731
            "GET", f"/templates/{made['templateID']}/files/{digit * 64}")["url"].split("/upload/")[1]
        first = link("a")
        client.ok("PUT", "/upload/" + first, raw=b"x" * 700_000)
        answer = client("PUT", "/upload/" + link("b"), raw=b"x" * 700_000)
        assert answer.status == 507 and "1048576 bytes" in answer.json["message"], answer.body
        uploads = daemon.work / "data" / "e2b" / "uploads"
        assert [path.name[-6:] for path in uploads.iterdir()] == ["aa.tar"], "what did not fit leaves nothing"
        until(lambda: client("PUT", "/upload/" + first, raw=b"x").status in (401, 404), "the address is good for a while only")
        until(lambda: not list(uploads.iterdir()), "an old upload is gone from the disk")


def stored_bytes_have_bounds():
    """The bytes of snapshots and of what is paused on the disk count for their tenant, whatever their number is."""
    with running("keep.snapshot_bytes=3M", "keep.paused_bytes=3M") as daemon:
        client = daemon.client()
        if "native" not in [one["name"] for one in client.providers()]:
            return
        path = "/api/sessions/" + client.ok("POST", "/api/sessions", {"provider": "native"})["session_id"]
        grow = lambda: client.ok("POST", path + "/commands", {"command": "head -c 2000000 /dev/urandom >> big"})  # noqa: E731
        grow()
        kept = client.ok("POST", path + "/snapshots", {})
        grow()
        # What there is is counted before one more is taken: the second goes beyond the bound, the third is refused.
        taken = client("POST", path + "/snapshots", {})
        if taken.status == 201:
            taken = client("POST", path + "/snapshots", {})
        assert taken.status == 507 and taken.json["error"]["code"] == "no_space" and "bytes" in taken.json["error"]["message"], taken.body
        client.ok("DELETE", "/api/snapshots/" + kept["snapshot_id"])
        other = "/api/sessions/" + client.ok("POST", "/api/sessions", {"provider": "native"})["session_id"]
        client.ok("POST", other + "/commands", {"command": "head -c 4000000 /dev/urandom > big"})
        client.ok("POST", other + "/pause", {"to": "disk", "force": True})
        refused = client("POST", path + "/pause", {"to": "disk", "force": True})
        assert refused.status == 507 and "bytes" in refused.json["error"]["message"], refused.body
        assert client.ok("GET", path)["state"] == "running", "what is refused runs on"


def build(client, name, command):
    """Builds a template of one step and waits for its end."""
    made = client.ok("POST", "/v3/templates", {"name": name}, status=(202,))
    client.ok("POST", f"/v2/templates/{made['templateID']}/builds/{made['buildID']}",
              {"fromImage": "atoll/base", "steps": [{"type": "RUN", "args": [command, "user"]}], "force": True}, status=(202,))
    state = f"/templates/{made['templateID']}/builds/{made['buildID']}/status"
    until(lambda: client.ok("GET", state + "?logsOffset=0")["status"] in ("ready", "error"), "the build ends")
    assert client.ok("GET", state)["status"] == "ready", client.ok("GET", state)
    return made


def logs_of(client, made):
    return client("GET", f"/templates/{made['templateID']}/builds/{made['buildID']}/logs?limit=100")


def build_logs_have_bounds_and_outlive_a_restart():
    with running("keep.build_log_bytes=2K", "keep.builds=2") as daemon:
        client = daemon.client()
        if "native" not in [one["name"] for one in client.providers()]:
            return
        made = build(client, "loud", "seq -f 'line %06.0f of a long log' 1 1000")
        text = json.dumps(logs_of(client, made).json)
        assert "of a long log" in text and len(text) < 20_000, len(text)
        daemon.stop()
        client = daemon.start().client()
        assert "of a long log" in json.dumps(logs_of(client, made).json), "a log outlives the service"
        for number in range(4):
            last = build(client, "loud", f"echo build {number}")
        assert "build 3" in json.dumps(logs_of(client, last).json)
        until(lambda: logs_of(client, made).status == 404, "builds beyond the bound are forgotten")


def old_templates_go():
    with running("keep.templates=3s", "keep.build_logs=3s") as daemon:
        client = daemon.client()
        if "native" not in [one["name"] for one in client.providers()]:
            return
        made = build(client, "brief", "echo here")
        until(lambda: client("GET", "/templates/aliases/brief").status == 404, "a template's time is over")
        assert logs_of(client, made).status == 404


def what_is_paused_survives_the_daemon():
    """A pause that was acknowledged survives kill -9, and starting waits for nothing that stands still."""
    with running("session.to_disk=0s") as daemon:
        client = daemon.client()
        if "native" not in [one["name"] for one in client.providers()]:
            return
        paths = []
        for number in range(3):
            path = "/api/sessions/" + client.ok("POST", "/api/sessions", {"provider": "native"})["session_id"]
            client.ok("POST", path + "/commands", {"command": f"echo {number} > /home/user/file"})
            client.ok("POST", path + "/pause")
            paths.append(path)
        daemon.kill()
        started = time.time()
        client = daemon.start().client()
        assert time.time() - started < 14, "5 s for each that is paused"
        for number, path in enumerate(paths):
            now = client.ok("GET", path)
            assert now["state"] == "paused", now
            client.ok("POST", path + "/resume")
            said = client.ok("POST", path + "/commands", {"command": "cat /home/user/file"})
            assert said["stdout"] == f"{number}\n", said


def removed_groups_are_made_anew():
    """Somebody tidied up empty control groups, those of sandboxes that are prepared among them."""
    with running("native.pool=0", "e2b.pool=0") as daemon:
        client = daemon.client()
        if "native" not in [one["name"] for one in client.providers()]:
            return
        made = client.ok("POST", "/api/sessions", {"provider": "native"})
        spawner = [pid for pid in processes_with(str(daemon.work)) if pid != daemon.process.pid][0]
        groups = lambda: [path for path in pathlib.Path("/sys/fs/cgroup").rglob(f"atoll-{spawner}.*/s*")  # noqa: E731
                          if path.is_dir()]
        until(lambda: len({path.name for path in groups()}) >= 5, "parts are prepared")
        for path in groups():
            with contextlib.suppress(OSError):
                path.rmdir()
        for _ in range(5):
            client.ok("POST", "/api/sessions", {"provider": "native"})
        assert client.ok("GET", "/api/sessions/" + made["session_id"])["state"] == "running"


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
        if client.providers()[0]["name"] != "native":
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


def directories_that_come_later_need_a_restart():
    """The spawner believes only what it was told when it started, so an environment with another directory is refused
    until then, with what to do. One that stands on directories that were known is usable at once."""
    with running() as daemon:
        registry, trees = daemon.work / "registry", daemon.work / "trees"
        (registry / "environments").mkdir(parents=True)
        for name in ("known", "new"):
            (trees / name / "etc").mkdir(parents=True)
        (registry / "environments" / "known.yaml").write_text(f"name: known\nlayers: [{trees}/known]\n")
        daemon.stop()
        daemon.flags = ("--set", f"registry={registry}")
        client = daemon.start().client()
        if client.providers()[0]["name"] != "native":
            return
        (registry / "environments" / "later.yaml").write_text(f"name: later\nlayers: [{trees}/new]\n")
        (registry / "environments" / "same.yaml").write_text(f"name: same\nlayers: [{trees}/known]\n")
        error = client.fails(409, "conflict", "POST", "/api/sessions", {"environment": "later"})
        assert error["details"]["field"] == "environment" and "restart the service" in error["message"], error
        assert "'later' was added while the service ran" in error["message"], error
        # Nothing of a system is in these directories: whatever else is said of them, it is not that.
        for name in ("known", "same"):
            assert b"restart the service" not in client("POST", "/api/sessions", {"environment": name}).body
        daemon.stop()
        client = daemon.start().client()
        assert b"restart the service" not in client("POST", "/api/sessions", {"environment": "later"}).body


def an_environment_that_is_added_later_has_its_own_limits():
    """Both dialects read its file as they would have at the start, not as an environment without one."""
    with running() as daemon:
        registry = daemon.work / "registry"
        (registry / "environments").mkdir(parents=True)
        daemon.stop()
        daemon.flags = ("--set", f"registry={registry}")
        client = daemon.start().client()
        if client.providers()[0]["name"] != "native":
            return
        client.fails(400, "invalid_argument", "POST", "/api/sessions", {"environment": "later"})
        (registry / "environments" / "later.yaml").write_text(
            "name: later\nlanguages: [python, shell]\ndefault_language: shell\npolicy: strict\nnetwork: none\nsudo: true\n"
            "limits:\n  memory_mb: 333\n  disk_mb: 222\n  max_processes: 77\n  execution_time_seconds: 44\n")
        made = client.ok("POST", "/api/sessions", {"environment": "later"})
        told = {name: made["limits"][name] for name in ("memory_mb", "disk_mb", "max_processes", "execution_time_seconds")}
        assert told == {"memory_mb": 333, "disk_mb": 222, "max_processes": 77, "execution_time_seconds": 44}, made["limits"]
        assert made["policy"] == "strict", made
        box = client.ok("POST", "/v2/sandboxes", {"templateID": "later"})
        shown = client.ok("GET", "/sandboxes/" + box["sandboxID"])
        assert (shown["templateID"], shown["memoryMB"], shown["diskSizeMB"]) == (box["templateID"], 333, 222), shown


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


ALL = (directories_that_come_later_need_a_restart, an_environment_that_is_added_later_has_its_own_limits, a_burst_of_a_thousand_is_admitted, slow_clients_hold_nobody_up, strange_bytes_are_answered_clearly,
       what_is_not_used_ends_when_it_is_asked_for, what_is_paused_for_long_goes_to_the_disk, history_goes_by_age_and_by_size,
       nobody_asks_for_more_than_there_is, history_is_trimmed_within_a_tenant, stored_things_have_bounds, stored_bytes_have_bounds, build_logs_have_bounds_and_outlive_a_restart, old_templates_go,
       what_is_paused_survives_the_daemon, removed_groups_are_made_anew,
       a_database_damaged_while_it_runs_is_told, a_spawner_that_died_too_is_told,
       keys_are_hashed_and_beyond_loopback_needed)
