"""Storages that stand elsewhere: a server of the S3 protocol, and shared objects in processes of their own."""
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]


def until(condition, what, seconds=30):
    deadline = time.time() + seconds
    while time.time() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("not in time: " + what)


class S3:
    """None of it where the package cannot be had: then `address` is None."""

    def __init__(self, place):
        self.process, self.address = None, None
        if subprocess.run([ROOT / "scripts/s3-server", "--python"], capture_output=True, check=False).returncode != 0:
            print("      no S3 server from PyPI: left out", flush=True)
            return
        told = place.path / "s3-port"
        self.process = subprocess.Popen([ROOT / "scripts/s3-server", told], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(told.exists, "the S3 server starts")
        self.address = "http://127.0.0.1:" + told.read_text().strip()

    def names(self, prefix):
        with urllib.request.urlopen(f"{self.address}/atoll?list-type=2&prefix={prefix}") as answer:
            return answer.read().decode().count("<Key>")

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()


def build_plugin(place):
    directory = place.path / "plugins"
    directory.mkdir()
    os.chmod(place.path, 0o755)
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", "-I", ROOT / "sdk/plugin",
                    ROOT / "examples/storage-plugin/notes_storage.cc", "-o", directory / "libnotes.so"], check=True)
    return directory


def plugin_process(place):
    """The process that holds the plugin of this test's daemon: it sees this test's directory."""
    for entry in os.listdir("/proc"):
        try:
            if b"plugin-host\0" in pathlib.Path(f"/proc/{entry}/cmdline").read_bytes() and \
                    "/run/atoll-storage" in pathlib.Path(f"/proc/{entry}/mountinfo").read_text() and \
                    str(place.daemon.work) in pathlib.Path(f"/proc/{entry}/mountinfo").read_text():
                return int(entry)
        except (OSError, ValueError):
            continue
    return None


def files_outlive_restarts(place, Session):
    s3 = S3(place)
    storages = {"notes": {"kind": "plugin", "library": "libnotes.so", "path": str(place.path / "notes")},
                "team": {"kind": "plugin", "library": "libnotes.so", "storage": "notes", "share": "tenant"}}
    if s3.address:
        storages["bucket"] = {"kind": "s3", "endpoint": s3.address, "bucket": "atoll", "access_key": "test",
                              "secret_key": "secret"}
    try:
        client = place.serve(settings={"storages": storages, "tools": {"plugins": [str(build_plugin(place))]}})
        if not [one for one in client.ok("GET", "/api/capabilities")["providers"] if one["name"] == "native"]:
            return
        sessions = {name: Session(client, provider="virtual", storage=name) for name in storages}
        for session in sessions.values():
            session.out("mkdir -p a/b && echo deep > a/b/c && echo home > note && ln -s note link && echo tmp > /tmp/t")
            client.ok("PUT", f"{session.base}/files?path=/home/user/api.txt", raw=b"x" * 300000)
        for restart in (place.restart, lambda: (place.daemon.kill(), place.restart())[1]):
            client = restart()
            for name, session in sessions.items():
                session.client = client
                assert session.out("cat a/b/c note link; wc -c < api.txt") == "deep\nhome\nhome\n300000", name
                assert session.run("cat /tmp/t")["status"] == "error"
        for name in set(storages) - {"team"}:
            with Session(client, provider="virtual", storage=name) as other:
                assert other.out("ls") == "output", name
        with Session(client, provider="virtual", storage="team") as other:
            assert other.out("cat note") == "home"
        for session in sessions.values():
            session.__exit__()
        if s3.address:
            until(lambda: s3.names("atoll/default") == 0, "an ended session leaves nothing in the bucket")
        with Session(client, provider="virtual", storage="team") as other:
            assert other.out("cat note") == "home"
    finally:
        s3.end()


def a_plugin_that_dies_is_started_again(place, Session):
    storages = {"notes": {"kind": "plugin", "library": "libnotes.so"}}
    client = place.serve(settings={"storages": storages, "tools": {"plugins": [str(build_plugin(place))]}})
    with Session(client, provider="virtual", storage="notes") as session:
        session.out("echo one > note")
        first = until(lambda: plugin_process(place), "the plugin has a process")
        status = pathlib.Path(f"/proc/{first}/status").read_text()
        assert "Seccomp:\t2" in status and "NoNewPrivs:\t1" in status, status
        os.kill(first, signal.SIGKILL)
        until(lambda: plugin_process(place) not in (None, first), "it is started again")
        # A call may meet the moment in which nobody listens yet.
        until(lambda: session.run("echo two > note")["status"] == "success", "the storage works again")
        assert session.out("cat note") == "two"
        # One that is stuck is ended from inside, and nobody else waits for it.
        second = plugin_process(place)
        os.kill(second, signal.SIGSTOP)
        answers = []
        writer = threading.Thread(target=lambda: answers.append(
            type(client)(client.port, client.key)("PUT", f"{session.base}/files?path=/home/user/x", raw=b"x").status))
        writer.start()
        begun = time.time()
        with Session(client, provider="virtual") as other:
            assert other.out("echo here") == "here"
        assert time.time() - begun < 5 and not answers, "others are served meanwhile"
        os.kill(second, signal.SIGCONT)
        writer.join()
        assert answers and answers[0] in (200, 201, 503), answers
    work = place.daemon.work
    place.daemon.stop()
    until(lambda: not any(str(work) in text for text in mounts()), "nothing of it is left")


def many_sessions_share_a_plugins_process(place, Session):
    """More than it may have threads: one tenant's sessions are no reason for it to end, and another's go on beside them."""
    storages = {"notes": {"kind": "plugin", "library": "libnotes.so"}}
    client = place.serve(settings={"storages": storages, "tools": {"plugins": [str(build_plugin(place))]}})
    if not [one for one in client.ok("GET", "/api/capabilities")["providers"] if one["name"] == "native"]:
        return
    sessions = [Session(client, provider="virtual", storage="notes") for _ in range(120)]
    process = plugin_process(place)
    for number, session in enumerate(sessions):
        assert session.out(f"echo {number} > note; cat note") == str(number)
    assert sessions[0].out("cat note") == "0" and plugin_process(place) == process, "it is the same one"
    for session in sessions:
        session.__exit__()


def mounts():
    for entry in os.listdir("/proc"):
        try:
            if b"plugin-host\0" in pathlib.Path(f"/proc/{entry}/cmdline").read_bytes():
                yield pathlib.Path(f"/proc/{entry}/mountinfo").read_text()
        except (OSError, ValueError):
            continue


def a_storage_that_does_not_answer_holds_nobody_up(place, Session):
    if not shutil.which("redis-server"):
        return
    socket = str(place.path / "redis.sock")
    redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", str(place.path)],
                             stdout=subprocess.DEVNULL)
    try:
        until(lambda: os.path.exists(socket), "redis-server starts")
        client = place.serve(settings={"storages": {"red": {"kind": "redis", "socket": socket}}})
        with Session(client, provider="virtual", storage="red") as session:
            redis.send_signal(signal.SIGSTOP)
            statuses = []
            ask = lambda *words, **more: statuses.append(type(client)(client.port, client.key)(*words, **more).status)  # noqa: E731
            threads = [threading.Thread(target=ask, args=("PUT", f"{session.base}/files?path=/home/user/x"), kwargs={"raw": b"x"}),
                       threading.Thread(target=ask, args=("POST", "/api/sessions", {"provider": "virtual", "storage": "red"}))]
            for thread in threads:
                thread.start()
            begun, asked = time.time(), 0
            while time.time() - begun < 1:
                client.ok("GET", "/api/sessions?limit=1")
                asked += 1
            assert asked > 10 and not statuses, (asked, statuses)
            redis.send_signal(signal.SIGCONT)
            for thread in threads:
                thread.join()
            assert sorted(statuses) in ([200, 201], [201, 201], [200, 503], [201, 503], [503, 503]), statuses
    finally:
        redis.kill()
        redis.wait()


CASES = [files_outlive_restarts, a_plugin_that_dies_is_started_again, many_sessions_share_a_plugins_process,
         a_storage_that_does_not_answer_holds_nobody_up]
