"""Cases about files that the API reads, copies, archives and removes while programs inside work against it."""
import http.client
import io
import os
import pathlib
import shutil
import tarfile
import tempfile
import threading
import time
import urllib.parse

from cases import case, settled
from harness import SLOW, daemon

PROGRAM = "/home/user/race"


class Place:
    """A session with the racing program in it, and what must stay as it is: a directory of the host and one inside."""

    def __init__(self, served, programs):
        self.served = served
        self.session = served.session(environment="host", limits={"max_processes": 20})
        self.put(PROGRAM, pathlib.Path(programs.directory, "race").read_bytes())
        self.shell(f"chmod +x {PROGRAM}; mkdir ~/victim; echo precious > ~/victim/kept")
        self.host = tempfile.mkdtemp(prefix="atoll-hostile-victim-")
        os.chmod(self.host, 0o777)
        pathlib.Path(self.host, "kept").write_text("precious\n")

    def path(self, route, **query):
        return f"/api/sessions/{self.session}/files{route}?" + urllib.parse.urlencode(query)

    def put(self, path, content):
        return self.served.ask("PUT", self.path("", path=path), raw=content)

    def shell(self, command):
        return self.served.shell(self.session, command)

    def race(self, *words):
        running = self.shell("setsid " + " ".join([PROGRAM, *words]) + " >/dev/null 2>&1 </dev/null & sleep 0.2; pgrep -c race")
        assert int(running) > 0, "the race does not run"

    def quiet(self):
        self.shell("pkill -9 race; sleep 0.1; true")

    def ask(self, method, route, **query):
        """Answers within its time and never with our own failure."""
        body = query.pop("body", None)
        began = time.monotonic()
        try:
            status, answer = self.served.ask(method, self.path(route, **query), body)
        except http.client.IncompleteRead as cut:
            # The file became shorter than was promised: the client is told by the broken stream.
            status, answer = 0, cut.partial
        except ConnectionResetError:
            status, answer = 0, b""  # the same, before anything of it was read
        assert time.monotonic() - began < 30 * SLOW, (method, route, query)
        assert status < 500, (method, route, query, status, answer[:300])
        return status, answer

    def two(self, route, source, target):
        return self.ask("POST", route, body={"from": source, "to": target})

    def check(self):
        assert self.shell("cat ~/victim/kept").strip() == "precious", "what a link led to was changed"
        assert pathlib.Path(self.host, "kept").read_text() == "precious\n", "the host's file was changed"
        assert os.listdir(self.host) == ["kept"], os.listdir(self.host)

    def close(self):
        self.served.end(self.session)
        shutil.rmtree(self.host)


def with_place(work):
    def run_case(programs):
        with daemon() as served:
            before, resident = settled(served), served.standing()[1]
            place = Place(served, programs)
            try:
                work(place)
                place.quiet()
                place.check()
            finally:
                place.close()
            assert settled(served) <= before + 8, ("descriptors", before, served.standing())
            assert served.standing()[1] <= resident + 64 * 1024, ("memory", resident, served.standing())
    return run_case


def readable(archive):
    """Names of a tar, read to its end: its sizes are true."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        names = []
        for entry in tar:
            if entry.isfile():
                assert len(tar.extractfile(entry).read()) == entry.size
            names.append(entry.name)
        return names


@case("53 a directory becomes a link while a tree is copied, archived and removed")
@with_place
def _(place):
    for target in ("/home/user/victim", place.host, "/etc"):
        place.shell(f"mkdir -p ~/t/d/e ~/t/d/f; for i in 1 2 3 4 5 6 7 8; do echo $i > ~/t/d/e/$i; echo $i > ~/t/d/f/$i; done; "
                    f"ln -sfn {target} ~/t/l")
        place.race("exchange", "/home/user/t/d", "/home/user/t/l")
        for turn in range(6):
            place.two("/copy", "/home/user/t", f"/home/user/copy{turn}")
            status, archive = place.ask("GET", "/archive", path="/home/user/t")
            if status == 200:
                assert not any("kept" in name or "passwd" in name for name in readable(archive)), readable(archive)
            place.ask("GET", "", path="/home/user/t", depth=8)
            place.ask("DELETE", "", path="/home/user/t/d", recursive="true")
            place.shell("mkdir -p ~/t/d/e ~/t/d/f 2>/dev/null; touch ~/t/d/e/new ~/t/d/f/new 2>/dev/null; true")
            seen = place.shell("find ~/copy* -name kept -o -name passwd | head -3; rm -rf ~/copy*")
            assert not seen.strip(), ("a copy went through a link", seen)
        place.ask("DELETE", "", path="/home/user/t", recursive="true")
        place.quiet()
        place.check()
        place.shell("rm -rf ~/t")


@case("55 pipes, sockets and devices where the API opens")
@with_place
def _(place):
    place.shell("mkdir ~/odd; cd ~/odd; mkfifo pipe; ln -s /dev/zero zero; ln -s /dev/full full; ln -s /dev/tty tty; "
                "ln -s /dev/ptmx ptmx; ln -s pipe to-pipe; ln -s /proc/self/fd/1 self; ln -s /proc/kmsg kmsg; "
                "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('socket')\"")
    for name in ("pipe", "to-pipe", "socket", "zero", "full", "tty", "ptmx", "self", "kmsg"):
        path = f"/home/user/odd/{name}"
        status, answer = place.ask("GET", "", path=path)
        assert status >= 400 or len(answer) <= 1 << 20, (name, status, len(answer))
        began = time.monotonic()
        status, answer = place.put(path, b"written")
        assert status < 500 and time.monotonic() - began < 30 * SLOW, (name, status, answer[:200])
        place.two("/copy", path, f"/home/user/copy-{name}")
        place.two("/move", path, path + ".moved")
        place.two("/move", path + ".moved", path)
    status, archive = place.ask("GET", "/archive", path="/home/user/odd")
    if status == 200:
        readable(archive)
    place.ask("GET", "", path="/home/user/odd", depth=2)
    assert place.shell("echo alive").strip() == "alive"


@case("57 a directory gets another name under an open walk")
@with_place
def _(place):
    place.shell("mkdir -p ~/t/a/1/2/3/4/5/6; for d in ~/t/a ~/t/a/1 ~/t/a/1/2 ~/t/a/1/2/3/4; do "
                "for i in $(seq 40); do echo $i > $d/f$i; done; done; mkdir ~/elsewhere")
    place.race("wander", "/home/user/t/a/1/2", "/home/user/elsewhere/x")
    place.race("wander", "/home/user/t/a", "/home/user/t/b")
    for turn in range(8):
        for name in ("a", "b"):
            place.ask("GET", "", path=f"/home/user/t/{name}", depth=16)
        place.ask("GET", "", path="/home/user/t", depth=16)
        status, archive = place.ask("GET", "/archive", path="/home/user/t")
        if status == 200:
            readable(archive)
        place.two("/copy", "/home/user/t", f"/home/user/copy{turn}")
        place.ask("DELETE", "", path=f"/home/user/copy{turn}", recursive="true")
    place.ask("DELETE", "", path="/home/user/t", recursive="true")


@case("59 a file grows and shrinks while it is read and archived")
@with_place
def _(place):
    place.shell("mkdir ~/t; echo first > ~/t/first; echo last > ~/t/last")
    place.race("breathe", "/home/user/t/grows")
    for turn in range(8):
        status, content = place.ask("GET", "", path="/home/user/t/grows")
        assert status != 200 or set(content) <= {ord("x")}, (status, content[:100])
        status, archive = place.ask("GET", "/archive", path="/home/user/t")
        if status == 200:
            names = readable(archive)
            assert any(name.endswith("last") for name in names), names
        place.two("/copy", "/home/user/t", f"/home/user/copy{turn}")
        place.shell("rm -rf ~/copy*")
        stored = place.served.ok("POST", f"/api/sessions/{place.session}/snapshots", {})
        place.served.ok("DELETE", f"/api/snapshots/{stored['snapshot_id']}")
    # Several readers at once.
    readers = [threading.Thread(target=place.ask, args=("GET", ""), kwargs={"path": "/home/user/t/grows"}) for _ in range(6)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
