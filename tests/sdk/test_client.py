"""The contract of the client and of sessions, for the blocking and the asynchronous form."""
import io
import os
import socket
import subprocess
import sys
import tarfile
import threading
import time

import atoll
import harness
import pytest
from atoll import errors
from conftest import HERE


def test_the_blocking_client_is_made_from_the_other():
    tool = HERE.parents[1] / "sdk/python/tools/make_sync.py"
    assert subprocess.run([sys.executable, tool, "--check"], check=False).returncode == 0


def test_it_remembers(session):
    assert session.execute("x = 6 * 7").status == "success"
    done = session.execute("print(x)\nimport sys\nprint('e', file=sys.stderr)\nx + 1")
    assert (done.stdout, done.stderr, done.status, done.error) == ("42\n", "e\n", "success", None)
    assert done.text == "43" and done.results[0].data["text/plain"] == "43" and done.check() is done
    assert done.record_id and done.session_id == session.id and done.usage.wall_seconds > 0
    assert session.execute("echo $((1+2))", language="shell").stdout == "3\n"
    alone = session.execute("print(x)", stateless=True)
    assert alone.status == "error" and "NameError" in alone.stderr
    assert session.execute("import os; print(os.environ['A'])", env={"A": "b"}).stdout == "b\n"


def test_output_comes_as_it_is_produced(session):
    seen, results = [], []
    code = "import time, sys\nfor i in range(3):\n    print(i, flush=True); time.sleep(0.2)\nsys.stderr.write('w')\n[1]"
    done = session.execute(code, on_stdout=lambda text: seen.append((text, time.monotonic())),
                           on_stderr=lambda text: seen.append(("!" + text, 0)), on_result=results.append)
    texts = "".join(text for text, _ in seen)
    assert texts == "0\n1\n2\n!w" and done.stdout == "0\n1\n2\n" and done.text == "[1]"
    assert seen[2][1] - seen[0][1] > 0.2 and results[0].text == "[1]"


def test_an_exception_in_a_callback_ends_the_execution(session):
    class Enough(Exception):
        pass

    def stop(text):
        raise Enough

    with pytest.raises(Enough):
        session.execute("import time\nprint(1, flush=True)\ntime.sleep(20)", on_stdout=stop)
    with pytest.raises(Enough):
        session.commands.run("echo 1; sleep 20", on_stdout=stop)
    deadline = time.monotonic() + 10
    while any("sleep 20" in " ".join(one.argv) for one in session.commands.list()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_request_timeout_ends_the_execution(session):
    with pytest.raises(errors.RequestTimeoutError):
        session.execute("import time; time.sleep(20)", request_timeout=0.3)
    start = time.monotonic()
    assert session.execute("1 + 1").text == "2"
    assert time.monotonic() - start < 10


def test_leaving_the_block_ends_the_session_unless_kept(client):
    with client.create() as ended:
        pass
    assert client.get(ended.id).state == "stopped"
    with pytest.raises(ZeroDivisionError), client.create() as failed:
        1 / 0
    assert client.get(failed.id).state == "stopped"
    with client.create() as kept:
        kept.keep()
    assert client.get(kept.id).state == "running"
    with client.connect(kept.sandbox_id) as connected:
        assert connected.id == kept.id
    assert client.get(kept.id).end().state == "stopped"


def test_create_with_everything(client):
    with client.create(environment="Python3", provider="native", metadata={"a": "b"}, ttl_seconds=100,
                       limits={"memory_mb": 256, "execution_time_seconds": 7}, policy="off", network="none",
                       env={"X": "y"}, extend_on_use=True, on_expiry="destroy", public_ports=False) as session:
        info = session.info
        assert (info.environment, info.provider, info.policy, info.ttl_seconds) == ("Python3", "native", "off", 100)
        assert info.limits["memory_mb"] == 256 and info.metadata == {"a": "b"} and info.state == "running"
        assert session.execute("import os; print(os.environ['X'])").stdout == "y\n"
        assert session.update(metadata={"c": "d"}, ttl_seconds=200).metadata == {"c": "d"}
        assert session.refresh().ttl_seconds == 200
        assert "{port}" not in session.port_url(80) and "80-" in session.port_url(80)


def test_lists_go_through_all_pages(client):
    made = [client.create(provider="virtual", metadata={"many": "yes"}) for _ in range(5)]
    try:
        found = [one.session_id for one in client.list(state=["running"], metadata={"many": "yes"})]
        assert sorted(found) == sorted(one.id for one in made)
        assert len(list(client.list(limit=3, order="desc"))) == 3 and list(client.list(limit=0)) == []
        for i in range(105):
            made[0].commands.run(f"echo {i}")
        codes = [one.code for one in made[0].history()]
        assert codes == [f"echo {i}" for i in range(105)]
        newest = list(made[0].history(order="desc", limit=2))
        assert [one.stdout for one in newest] == ["104\n", "103\n"] and newest[0].status == "success"
        assert [one.code for one in client.history(session_id=made[0].id, text="echo 77")] == ["echo 77"]
    finally:
        for one in made:
            one.end()


def test_commands(session):
    run = session.commands.run
    assert run("echo $A; pwd", env={"A": "b"}, cwd="/tmp").stdout == "b\n/tmp\n"
    assert run(["printf", "%s", "a b"]).stdout == "a b"
    assert run("cat", stdin="in").stdout == "in"
    assert run("id -un", user="root").stdout == "root\n"
    seen = []
    done = run("echo a; echo b >&2; exit 4", on_stdout=lambda text: seen.append(text),
               on_stderr=lambda text: seen.append("!" + text))
    assert (sorted(seen), done.stdout, done.stderr) == (["!b\n", "a\n"], "a\n", "b\n")
    assert (done.exit_code, done.status) == (4, "error")
    assert run("sleep 5", timeout=0.3, on_stdout=seen.append).status == "timeout"
    assert run("sleep 5", timeout=0.3).status == "timeout"


def test_background_processes(session):
    process = session.commands.start("read line; echo got $line; exit 5", stdin=True, tag="t")
    assert [one.tag for one in session.commands.list() if one.pid == process.pid] == ["t"]
    process.send_stdin("word\n")
    done = process.wait()
    assert (done.stdout, done.exit_code, done.status) == ("got word\n", 5, "error")
    assert process.wait().exit_code == 5

    counted = session.commands.start("cat | wc -c", stdin=True)
    counted.send_stdin(bytes(range(256)))
    counted.close_stdin()
    assert counted.wait().stdout.strip() == "256"

    sleeping = session.commands.start("sleep 60")
    sleeping.kill()
    assert sleeping.wait().exit_code == 137
    ended = session.commands.start("trap 'echo bye; exit 0' TERM; echo ready; while :; do :; done")
    output = ended.output()
    assert next(output) == ("stdout", "ready\n")
    ended.signal("TERM")
    assert list(output) == [("stdout", "bye\n")] and ended.wait().stdout == "ready\nbye\n"


def test_a_background_process_outlives_its_handle(session):
    process = session.commands.start("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done", follow=False)
    again = session.commands.connect(process.pid)
    with session.commands.start("sleep 0.5; echo x > /tmp/mark"):
        pass
    assert again.wait().stdout.endswith("6\n")
    deadline = time.monotonic() + 10
    while not session.files.exists("/tmp/mark"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_files(session):
    files = session.files
    written = files.write("/home/user/dir/a.txt", "grüße")
    assert (written.type, written.size, written.path) == ("file", 7, "/home/user/dir/a.txt")
    assert files.read("/home/user/dir/a.txt") == "grüße"
    assert files.read_bytes("/home/user/dir/a.txt", start=1, end=2) == b"r"
    assert files.read_bytes("/home/user/dir/a.txt", start=3) == b"\xbc\xc3\x9fe"
    assert files.read_bytes("/home/user/dir/a.txt", start=3, end=3) == b""
    assert files.read_bytes("/home/user/dir/a.txt", start=100) == b""
    files.write("/home/user/dir/a.txt", b"!", append=True)
    assert files.read("/home/user/dir/a.txt").endswith("!")
    assert files.write("/home/user/run", "#!/bin/sh\necho ran\n", mode=0o755).mode == "0755"
    assert session.commands.run("/home/user/run").stdout == "ran\n"
    assert files.stat("/home/user/run").mode == "0755" and files.exists("/home/user/run") and files.exists("/")
    assert not files.exists("/home/user/none") and not files.exists("/home/user/run/below")
    files.write("/home/user/x.json", '{"entries": []}')
    assert files.read("/home/user/x.json") == '{"entries": []}'
    files.write("/home/user/empty", "")
    assert files.read_bytes("/home/user/empty") == b""

    files.rename("/home/user/run", "/home/user/dir/ran")
    files.copy("/home/user/dir/ran", "/home/user/dir/again")
    files.mkdir("/home/user/dir/deep/er")
    files.mkdir("/home/user/dir/deep/er", exist_ok=True)
    names = {one.path for one in files.list("/home/user/dir", depth=3)}
    assert names == {f"/home/user/dir/{one}" for one in ("a.txt", "ran", "again", "deep", "deep/er")}
    session.commands.run("ln -s a.txt link", cwd="/home/user/dir").check()
    assert (files.stat("/home/user/dir/link").type, files.stat("/home/user/dir/link").target) == (
        "symlink", "/home/user/dir/a.txt")
    files.remove("/home/user/dir", recursive=True)
    assert not files.exists("/home/user/dir")


def test_large_files_are_streamed(session, tmp_path):
    content = bytes(range(256)) * 40000
    (tmp_path / "big").write_bytes(content)
    with open(tmp_path / "big", "rb") as source:
        assert session.files.write("/home/user/big", source).size == len(content)
    with session.files.stream("/home/user/big") as pieces:
        got = list(pieces)
    assert b"".join(got) == content and len(got) > 1
    session.files.write("/home/user/parts", iter([b"a", b"b" * 100000, b"c"]))
    assert session.files.read("/home/user/parts") == "a" + "b" * 100000 + "c"


def test_a_watch(session):
    session.files.mkdir("/home/user/seen")
    with session.files.watch("/home/user/seen", timeout=20) as changes:
        session.files.write("/home/user/seen/new", "x")
        first = next(changes)
    assert (first.type, first.name) == ("create", "new")


def test_archives(session, tmp_path):
    (tmp_path / "tree/deep").mkdir(parents=True)
    (tmp_path / "tree/deep/f").write_text("text")
    (tmp_path / "tree/run").write_text("#!/bin/sh\n")
    (tmp_path / "tree/run").chmod(0o755)
    (tmp_path / "tree/up").symlink_to("..")
    (tmp_path / "tree/deep/loop").symlink_to("../deep")
    done = session.files.upload_dir(tmp_path / "tree/deep", "/home/user/only")
    assert (done.files, done.skipped) == (1, 0)
    (tmp_path / "tree/up").unlink()
    session.files.upload_dir(tmp_path / "tree", "/home/user/tree")
    assert session.files.read("/home/user/tree/deep/f") == "text"
    assert session.files.stat("/home/user/tree/run").mode == "0755"
    session.commands.run("ln -s /etc/passwd tree/out; mkfifo tree/fifo", cwd="/home/user").check()
    session.files.download_dir("/home/user/tree", tmp_path / "back")
    assert (tmp_path / "back/deep/f").read_text() == "text" and (tmp_path / "back/run").stat().st_mode & 0o100
    assert not (tmp_path / "back/out").exists() and not (tmp_path / "back/fifo").exists()
    with tarfile.open(fileobj=io.BytesIO(session.files.archive("/home/user/tree"))) as archive:
        assert {"run", "deep/f"} <= {name.lstrip("./") for name in archive.getnames()}
    with session.files.stream_archive("/home/user/tree") as pieces:
        assert len(b"".join(pieces)) % 512 == 0


def test_a_download_does_not_leave_its_directory(tmp_path):
    from atoll._archive import unpack
    (tmp_path / "to").mkdir()
    (tmp_path / "to/link").symlink_to(tmp_path)
    for name in ("../escaped", "/escaped", "link/escaped", "a/../../escaped"):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as archive:
            info = tarfile.TarInfo(name)
            info.size = 1
            archive.addfile(info, io.BytesIO(b"x"))
        made.seek(0)
        with pytest.raises(tarfile.TarError):
            unpack(made, tmp_path / "to")
    assert not (tmp_path / "escaped").exists()


def test_a_terminal(session):
    with session.pty.open(columns=100, rows=30, cwd="/tmp") as terminal:
        terminal.resize(90, 20)
        terminal.send("stty size; pwd; echo do''ne\n")
        seen = b""
        while b"done" not in seen:
            seen += terminal.read(timeout=20)
        assert b"20 90" in seen and b"/tmp" in seen and terminal.exit is None
        with pytest.raises(errors.RequestTimeoutError):
            while True:
                terminal.read(timeout=0.3)
        terminal.send(b"exit 5\n")
        assert terminal.wait(timeout=20).exit_code == 5 and terminal.exit.ending == "exited"
        assert terminal.read() == b""
    with pytest.raises(errors.ConnectionLostError):
        terminal.send("x")
    with session.pty.open() as closed:
        pid = next(one.pid for one in session.commands.list() if one.pty)
        assert closed.exit is None
    deadline = time.monotonic() + 20
    while any(one.pid == pid for one in session.commands.list()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_terminal_is_read_and_written_at_once(plain):
    with plain.create() as session, session.pty.open() as terminal:
        seen = []
        reader = threading.Thread(target=lambda: seen.extend(terminal.output(timeout=30)))
        reader.start()
        for i in range(50):
            terminal.send(f"echo line''{i}\n")
        terminal.send("exit\n")
        reader.join(30)
        text = b"".join(seen)
        assert all(b"line%d\r\n" % i in text for i in range(50)) and terminal.exit is not None


def test_a_peer_that_vanishes_is_noticed(session):
    with session.pty.open() as terminal:
        opened = terminal._stream.get_extra_info("socket")
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60


def test_a_service_on_a_unix_socket(make_client, tmp_path):
    address = f"unix:{tmp_path}/s"
    process = subprocess.Popen([harness.ATOLL, "serve", "--listen", address, "--data", str(tmp_path / "data"), "--set",
                                "native.pool=0", "--set", "e2b.pool=0"],
                               env={**os.environ, "ATOLL_API_KEY": harness.KEY}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert b"ready" in process.stdout.readline()
        with make_client(url=address).create(provider="virtual") as session:
            assert session.commands.run("echo hi").stdout == "hi\n"
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def test_forks_know_what_their_source_knew(session):
    session.execute("x = [1]")
    session.files.write("/home/user/f", "1")
    with session.fork(metadata={"who": "copy"}) as copy:
        assert copy.execute("x.append(2); print(x)").stdout == "[1, 2]\n"
        assert copy.info.parent == session.id and copy.info.metadata == {"who": "copy"}
        assert copy.files.read("/home/user/f") == "1"
    assert session.execute("print(x)").stdout == "[1]\n"
    copies, failures = session.fork_many(3)
    assert len(copies) == 3 and not failures
    assert {one.execute("print(x)").stdout for one in copies} == {"[1]\n"}
    for one in copies:
        one.end()
    with session.fork(kernels="fresh") as fresh:
        assert fresh.execute("x").error.name == "NameError"


def test_snapshots(client, session):
    session.files.write("/home/user/f", "before")
    taken = session.snapshot("mine")
    assert taken.name == "mine" and [one.snapshot_id for one in session.snapshots()] == [taken.snapshot_id]
    assert taken.snapshot_id in [one.snapshot_id for one in client.snapshots()]
    session.files.write("/home/user/f", "after")
    session.restore(taken)
    assert session.files.read("/home/user/f") == "before"
    with client.create(snapshot=taken) as other:
        assert other.files.read("/home/user/f") == "before"
    with pytest.raises(errors.ConflictError, match=session.id):
        client.remove_snapshot(taken)
    session.end()
    client.remove_snapshot(taken)
    with pytest.raises(errors.NotFoundError):
        client.remove_snapshot(taken)


@pytest.mark.parametrize("to", ["memory", "disk"])
def test_pause_and_resume(client, session, to):
    session.execute("x = 1")
    assert session.pause(to=to).state == "paused"
    if to == "memory":
        assert session.resume(ttl_seconds=500).state == "running"
    else:
        assert session.info.on_disk
        assert client.connect(session.id).state == "running"
    assert session.execute("print(x)").stdout == "1\n"


def test_contexts(session):
    made = session.contexts.create(language="python", cwd="/tmp")
    assert made.id in [one.id for one in session.contexts.list()] and made.cwd == "/tmp"
    assert session.execute("import os; y = 1; print(os.getcwd())", context=made).stdout == "/tmp\n"
    assert session.execute("y").error.name == "NameError"
    session.contexts.restart(made.id)
    assert session.execute("y", context=made.id).error.name == "NameError"
    session.contexts.remove(made.id)
    assert made.id not in [one.id for one in session.contexts.list()]


def test_usage_network_ports_artifacts(client, session):
    session.execute("open('/home/user/output/a.txt', 'w').write('made')")
    made = session.artifacts()
    assert made[0].path.endswith("a.txt") and client.artifact(made[0].digest) == b"made"
    assert session.usage().memory_bytes > 0 and isinstance(session.metrics(), list)
    assert session.network()["mode"] == "none" and session.ports() == []
    assert session.set_network({"mode": "egress", "allow": ["example.com"]})["allow"] == ["example.com"]


def test_the_catalog(client):
    assert client.healthy() and client.version()
    assert {"host", "Python3"} <= {one["name"] for one in client.environments()} and client.agents()
    assert "native" in [one["name"] for one in client.capabilities()["providers"]]
    verdict = client.validate("import os", language="python", policy="strict")
    assert not verdict.allowed and verdict.imports == ["os"] and verdict.findings[0].line == 1
    assert client.validate("print(1)").allowed


def test_it_reads_the_environment(daemon, monkeypatch):
    monkeypatch.setenv("ATOLL_URL", "http://127.0.0.1:1/")
    with atoll.SandboxClient() as client:
        assert client.url == "http://127.0.0.1:1"
    monkeypatch.delenv("ATOLL_URL")
    with atoll.SandboxClient() as client:
        assert client.url == "http://127.0.0.1:8000"
