"""Cases in which one sandbox takes what is counted for all, and in which processes outlive what started them. A neighbour
and the host are asked, not only the attacker."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from cases import case, run
from harness import ATOLL, SLOW, Skip, daemon


@contextlib.contextmanager
def attacker(programs, kind):
    """A sandbox that holds everything of that kind that it could get. Gives how many, and the error at the end."""
    argv = [ATOLL, "run", "--policy", "off", "--processes", "50", "--memory", "256M", "--time", "60", "--user", "root",
            *programs.option(), "--", "/hostile/exhaust", kind]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        taken, error = process.stdout.readline().split()
        yield int(taken), int(error)
    finally:
        process.stdin.close()
        process.wait(30 * SLOW)


def shared_by_nobody(programs, kind, few):
    with attacker(programs, kind) as (taken, error):
        host = subprocess.run([f"{programs.directory}/exhaust", kind, str(few)], capture_output=True)
        beside = run("/hostile/exhaust", kind, str(few), options=programs.option())
    assert host.returncode == 0, f"the host got {host.stdout!r} of {few} after the attacker took {taken} (errno {error})"
    assert beside.status == 0, f"a neighbour got {beside.out!r} of {few} after the attacker took {taken} (errno {error})"
    return taken, error


@case("23 inotify instances, asked of a neighbour and the host")
def _(programs):
    taken, error = shared_by_nobody(programs, "inotify", 40)
    assert error == 24 and taken > 40, (taken, error)


@case("23 terminals, asked of a neighbour and the host")
def _(programs):
    taken, _error = shared_by_nobody(programs, "terminal", 20)
    assert taken <= 32, taken


@case("23 contexts of asynchronous I/O, asked of the host")
def _(programs):
    with attacker(programs, "aio") as (taken, error):
        host = subprocess.run([f"{programs.directory}/exhaust", "aio", "20"], capture_output=True)
    assert host.returncode == 0, (host.stdout, taken)
    assert taken == 0 and error == 38, (taken, error)


@case("23 message queues, asked of a neighbour and the host")
def _(programs):
    with attacker(programs, "queue") as (taken, error):
        host = subprocess.run([f"{programs.directory}/exhaust", "queue", "20"], capture_output=True)
        beside = run("/hostile/exhaust", "queue", "20", options=programs.option())
    assert host.returncode == 0, (host.stdout, taken, error)
    # Where Landlock stands there are none at all: queues lie outside of every directory.
    none_at_all = taken == 0 and error == 13 and beside.out == b"0 13\n"
    assert none_at_all or beside.status == 0, (beside.out, taken, error)


@case("23 pending signals, asked of a neighbour and the host")
def _(programs):
    taken, error = shared_by_nobody(programs, "signal", 1000)
    assert taken <= 4096 and error == 11, (taken, error)


@case("23 locked memory, asked of a neighbour and the host")
def _(programs):
    taken, _error = shared_by_nobody(programs, "locked", 20)
    assert taken <= 32, taken


@case("23 packet filters, for which the machine has one allowance")
def _(programs):
    with attacker(programs, "filter") as (taken, error):
        assert taken == 0 and error == 92, (taken, error)


@contextlib.contextmanager
def core_pattern(text):
    path = pathlib.Path("/proc/sys/kernel/core_pattern")
    before = path.read_text()
    try:
        path.write_text(text)
    except OSError as error:
        raise Skip(f"this kernel takes no such core_pattern: {error}") from error
    try:
        yield
    finally:
        path.write_text(before)


@case("22 a crash runs no program of the host")
def _(programs):
    room = tempfile.mkdtemp()
    try:
        handler = pathlib.Path(room, "handler")
        handler.write_text(f"#!/bin/sh\necho \"$1\" >>{room}/ran\ncat >/dev/null\n")
        handler.chmod(0o755)
        ran = pathlib.Path(room, "ran")
        with core_pattern(f"|{handler} %e"):
            # Without a limit, with the one that stops files only, with one of the shell's, as root inside, in a child.
            for user in ("user", "root"):
                run("bash", "-c", "kill -SEGV $$", options=("--user", user))
                run("bash", "-c", "ulimit -c 0; kill -SEGV $$", options=("--user", user))
                run("bash", "-c", "ulimit -c unlimited; python3 -c 'import ctypes; ctypes.string_at(0)'", options=("--user", user))
                run("prlimit", "--core=0:0", "python3", "-c", "import ctypes; ctypes.string_at(0)", options=("--user", user))
            assert not ran.exists(), f"the host ran its handler: {ran.read_text()}"
            # What is asked here can be answered with yes: a crash of the host's own does run it.
            subprocess.run(["python3", "-c", "import ctypes; ctypes.string_at(0)"], capture_output=True)
            deadline = time.monotonic() + 10 * SLOW
            while not ran.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            assert ran.exists(), "no crash at all runs the handler"
    finally:
        shutil.rmtree(room)


def walls_of(served):
    session = served.session()
    isolation = served.ok("GET", f"/api/sessions/{session}")["isolation"]
    served.end(session)
    return str(isolation.get("walls")), str(isolation.get("missing"))


@case("22 where crashes go to a socket, the wall is missing")
def _(programs):
    with daemon() as served:
        walls, missing = walls_of(served)
        assert "core_dumps" in walls and "core_dumps" not in missing, (walls, missing)
    with core_pattern("@/run/nobody-listens.sock"), daemon() as served:
        walls, missing = walls_of(served)
        assert "core_dumps" not in walls and "core_dumps" in missing, (walls, missing)


@case("36 families and protocols are those on the list")
def _(programs):
    ran = run("/hostile/protocols", options=(*programs.option(), "--user", "root", "--time", "60"))
    assert ran.status == 0 and b"wrong 0" in ran.out, (ran.status, ran.out[-500:], ran.err)


@case("36 no module is loaded because a sandbox asked")
def _(programs):
    setting = pathlib.Path("/proc/sys/kernel/modprobe")
    if not setting.exists():
        raise Skip("this kernel has no modules")
    room = tempfile.mkdtemp()
    before = setting.read_text()
    try:
        loader = pathlib.Path(room, "loader")
        loader.write_text(f"#!/bin/sh\necho \"$@\" >>{room}/asked\nexit 1\n")
        loader.chmod(0o755)
        setting.write_text(str(loader))
        run("/hostile/protocols", options=(*programs.option(), "--user", "root", "--time", "60"))
        run("python3", "/hostile/inside.py", options=(*programs.option(), "--user", "root", "--time", "60"))
        setting.write_text(before)
        asked = pathlib.Path(room, "asked")
        assert not asked.exists(), asked.read_text()
    finally:
        setting.write_text(before)
        shutil.rmtree(room)


@case("49 /proc shows the sandbox's limits and no name of the host")
def _(programs):
    ran = run("bash", "-c", "grep MemTotal /proc/meminfo; grep -c ^processor /proc/cpuinfo; grep -c ^cpu[0-9] /proc/stat; "
              "cat /proc/loadavg; free -m | sed -n 2p; cat /proc/self/cgroup /proc/1/cgroup",
              options=("--memory", "96M", "--disk", "32M", "--cpus", "0.5"))
    lines = ran.lines()
    assert lines[0].split() == ["MemTotal:", str(96 * 1024), "kB"], lines
    assert lines[1] == "1" and lines[2] == "1" and lines[3].startswith("0.00 0.00 0.00 "), lines
    assert lines[4].split()[1] == "96", lines
    groups = [line for line in lines[5:] if line]
    assert groups and all(line.split(":")[2] == "/" for line in groups), groups
    # As an interpreter sees it that was forked from outside.
    with daemon() as served:
        session = served.session()
        answer = served.ok("POST", f"/api/sessions/{session}/execute", {
            "code": "print(open('/proc/self/cgroup').read()); print(open('/proc/meminfo').read())", "language": "python"})
        paths = re.findall(r"^\d+:[^:]*:(.*)$", answer["stdout"], re.M)
        assert paths and set(paths) == {"/"}, answer["stdout"]
        assert re.search(r"MemTotal: +524288 kB", answer["stdout"]), answer["stdout"]


def somebody_else(*argv):
    # By way of a shell: what changes its user keeps its power until it executes something.
    return subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c", '"$@"', "sh", *argv],
                          capture_output=True)


@case("28 set-uid files of a volume take no effect outside")
def _(programs):
    with daemon() as served:
        status, made = served.ask("POST", "/volumes", {"name": "shared"})
        assert status < 300, (status, made)
        # As root inside would leave it: the volume's own file of root, with the bit.
        volumes = [path for path in pathlib.Path(served.directory, "data").rglob("*") if "vol_" in str(path)]
        found = [path for path in volumes if path.name == "files"]
        if not found:
            # A filesystem of its own, which is mounted for sandboxes alone: nobody outside meets a file of it.
            images = [path for path in volumes if path.is_file()]
            assert images, "no volume in the data directory"
            pathlib.Path(served.directory).chmod(0o755)
            for image in images:
                assert image.stat().st_mode & 0o077 == 0 and image.stat().st_uid == 0, image
                assert somebody_else("cat", str(image)).returncode != 0
            assert not [line for line in open("/proc/self/mounts") if served.directory in line], "mounted for all to see"
            return
        program = found[0] / "become"
        shutil.copy("/usr/bin/id", program)
        program.chmod(0o4755)
        # Where everybody gets at it, it does take effect: this is what must not be.
        shutil.copy("/usr/bin/id", served.directory + "/open")
        pathlib.Path(served.directory, "open").chmod(0o4755)
        pathlib.Path(served.directory).chmod(0o755)
        assert somebody_else(served.directory + "/open", "-u").stdout.strip() == b"0"
        ran = somebody_else(str(program), "-u")
        assert ran.returncode != 0 and ran.stdout.strip() != b"0", ran.stdout
        # Also where somebody opened the directory while nobody looked.
        for above in [found[0], *found[0].parents]:
            if str(above).startswith(served.directory):
                above.chmod(0o755)
        served.restart()
        ran = somebody_else(str(program), "-u")
        assert ran.returncode != 0 and ran.stdout.strip() != b"0", ran.stdout


@case("28 set-uid files of a volume give nothing inside")
def _(programs):
    with daemon() as served:
        status, made = served.ask("POST", "/volumes", {"name": "shared"})
        assert status < 300, (status, made)
        # Sandboxes of this dialect have sudo: whoever is root in one leaves the file, and another's user runs it.
        create = {"templateID": "base", "timeout": 600, "volumeMounts": [{"name": "shared", "path": "/data"}]}
        first, second = (served.ok("POST", "/sandboxes", create)["sandboxID"] for _ in range(2))
        left = command(served, first, "sudo -n cp /usr/bin/id /data/become && sudo -n chown 0:0 /data/become && "
                       "sudo -n chmod 4755 /data/become && stat -c '%u %a' /data/become; sudo -n cp /usr/bin/id /usr/bin/become; "
                       "sudo -n chmod 4755 /usr/bin/become; /usr/bin/become -u; id -u")
        lines = left["stdout"].split()
        assert lines[:3] == ["0", "4755", "0"] and lines[3] != "0", f"the file is not what it should be: {left}"
        for session in (first, second):
            ran = command(served, session, "/data/become -u; id -u")
            told = ran["stdout"].split()
            assert len(told) == 2 and told[0] == told[1] != "0", ran
            served.end(session)


# Processes

FEW = {"limits": {"max_processes": 5}}


def held(served, session):
    return served.ok("GET", f"/api/sessions/{session}/usage")["processes"]


def settles(served, session, most, seconds):
    """Seconds until no more than `most` are there."""
    began = time.monotonic()
    while held(served, session) > most:
        assert time.monotonic() - began < seconds * SLOW, f"{held(served, session)} processes after {seconds} s"
        time.sleep(0.01)
    return time.monotonic() - began


def execute(served, session, code, **more):
    return served.ok("POST", f"/api/sessions/{session}/execute", {"code": code, "language": "python", **more})


def command(served, session, text, **more):
    return served.ok("POST", f"/api/sessions/{session}/commands", {"command": text, **more})


def sleepers(served, session):
    """What sleeps inside, by how long; asked by a shell alone, because what it started would count."""
    ran = command(served, session, "for f in /proc/[0-9]*/cmdline; do mapfile -d '' -t a <$f; "
                  "[ \"${a[0]}\" = sleep ] && echo ${a[1]}; done 2>/dev/null; true")
    assert ran["status"] == "success", ran
    return sorted(int(word) for word in ran["stdout"].split())


def later(number, between=0):
    """Code that starts 40 processes after the execution has returned, with so many seconds between them."""
    return ("import subprocess, threading, time\n"
            "def later():\n    time.sleep(0.5)\n"
            "    for _ in range(40):\n"
            f"        subprocess.Popen(['sleep', '{number}'], start_new_session=True)\n"
            f"        time.sleep({between})\n"
            "    global done\n    done = True\n"
            "kept, done = 7, False\nthreading.Thread(target=later).start()")


@case("21 the limit of processes holds between executions")
def _(programs):
    with daemon() as served:
        session = served.session(policy="off", **FEW)
        # Inside one execution: it is ended, or it was faster than the count and what it left is.
        ran = execute(served, session, "import subprocess\n"
                      "for _ in range(40): subprocess.Popen(['sleep', '500'], start_new_session=True)")
        assert ran["status"] in ("success", "killed"), ran
        settles(served, session, 5, 1)
        served.end(session)
        # From a thread, after the execution has returned.
        session = served.session(policy="off", **FEW)
        assert execute(served, session, later(501))["status"] == "success"
        time.sleep(0.6)
        settles(served, session, 5, 2)
        # The interpreter itself is innocent.
        assert execute(served, session, "print(kept)")["stdout"].strip() == "7"
        served.end(session)
        session = served.session(policy="off", **FEW)
        for _round in range(25):
            command(served, session, "setsid sleep 502 >/dev/null 2>&1 & true")
        settles(served, session, 5, 1)
        served.end(session)


@case("21 what is allowed goes on in the background, beside what is not")
def _(programs):
    with daemon() as served:
        session = served.session(policy="off", limits={"max_processes": 8})
        assert command(served, session, "setsid sleep 503 >/dev/null 2>&1 & echo started")["status"] == "success"
        execute(served, session, "import subprocess; p = subprocess.Popen(['sleep', '504'])")
        assert sleepers(served, session) == [503, 504], sleepers(served, session)
        # The younger ones are too many, not these; also if they come so slowly that they are too many several times.
        for between in (0, 0.03):
            ran = execute(served, session, later(505, between))
            assert ran["status"] == "success", ran
            # It begins after half a second; a question in the middle of it would be counted with it.
            while execute(served, session, "print(done)")["stdout"].strip() != "True":
                time.sleep(0.2)
            # As many as are allowed may stay.
            settles(served, session, 8, 2)
            left = sleepers(served, session)
            assert left[:2] == [503, 504] and len(left) <= 8, (between, left)
        served.end(session)


@case("21 after its time nothing of an execution is left")
def _(programs):
    with daemon() as served:
        session = served.session(policy="off", limits={"max_processes": 20})
        command(served, session, "setsid sleep 506 >/dev/null 2>&1 & true")
        # Linux dates processes to a hundredth of a second: one that starts in the same hundredth as an execution would
        # be taken for the execution's own.
        time.sleep(0.02)
        assert sleepers(served, session) == [506], sleepers(served, session)
        for _round in range(5):
            ran = command(served, session, "(setsid setsid sleep 507 >/dev/null 2>&1 &); (sleep 508 &) ; sleep 100",
                          timeout_seconds=0.5)
            assert ran["status"] == "timeout", ran
            assert sleepers(served, session) == [506], sleepers(served, session)
            ran = execute(served, session, "import subprocess\nsubprocess.Popen(['setsid', 'sleep', '509'])\n"
                          "subprocess.run('(setsid sleep 510 &)', shell=True)\nwhile True: pass", timeout_seconds=0.5)
            assert ran["status"] == "timeout", ran
            assert sleepers(served, session) == [506], sleepers(served, session)
        served.end(session)


@case("21 after running out of memory nothing of an execution is left")
def _(programs):
    with daemon() as served:
        session = served.session(policy="off", limits={"max_processes": 20, "memory_mb": 128, "disk_mb": 32})
        for _round in range(3):
            ran = command(served, session, "(setsid sleep 511 >/dev/null 2>&1 &); exec python3 -c 'x = bytearray(400 << 20)'")
            assert ran["status"] == "oom", ran
            assert sleepers(served, session) == []
        served.end(session)


class Beside:
    """A session of another tenant on the same daemon that works while an attacker does; every answer is timed."""

    def __init__(self, served):
        made = subprocess.run([ATOLL, "keys", "create", "--tenant", "neighbour", "--name", "neighbour", "--data",
                               served.directory + "/data"], capture_output=True, text=True, env=served.env)
        assert made.returncode == 0, made.stderr
        self.url, self.key = served.url, made.stdout.strip()
        self.seconds, self.failures, self.over = [], [], threading.Event()
        # A key that was made by another process is known within a moment.
        deadline = time.monotonic() + 10 * SLOW
        while (made := self.ask("POST", "/api/sessions", {"provider": "native"}))[0] == 401 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert made[0] == 201, made
        self.session = made[1]["session_id"]
        self.thread = threading.Thread(target=self.work)

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, data=json.dumps(body).encode() if body else None, method=method,
                                         headers={"X-API-Key": self.key, "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30 * SLOW) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def work(self):
        while not self.over.is_set():
            began = time.monotonic()
            try:
                status, ran = self.ask("POST", f"/api/sessions/{self.session}/execute", {"code": "6*7", "language": "python"})
                if status != 200 or ran["status"] != "success":
                    self.failures.append((status, ran))
            except OSError as error:
                self.failures.append(repr(error))
            self.seconds.append(time.monotonic() - began)
            time.sleep(0.01)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        times = sorted(self.seconds)
        print(f"      (the neighbour, while they worked: {len(times)} answers, half within {times[len(times) // 2] * 1000:.0f} ms, "
              f"99 of 100 within {times[len(times) * 99 // 100] * 1000:.0f} ms, the slowest {times[-1] * 1000:.0f} ms)", flush=True)
        status, _answer = self.ask("DELETE", f"/api/sessions/{self.session}")
        assert not self.failures, self.failures[:3]
        assert status == 200 and times[len(times) // 2] < 0.25 * SLOW and times[-1] < 3 * SLOW, (status, times[-5:])


def bombs(served, programs, name, rounds):
    rounds = int(os.environ.get("ATOLL_BOMB_ROUNDS", rounds))
    bomb = pathlib.Path(programs.directory, name).read_bytes()
    for turn in range(rounds):
        session = served.session(policy="off", **FEW)
        status, answer = served.ask("PUT", f"/api/sessions/{session}/files?path=/home/user/bomb", raw=bomb)
        assert status < 300, (status, answer)
        command(served, session, "chmod 755 bomb")
        if turn % 2:
            ran = execute(served, session, "import subprocess; subprocess.run('./bomb')")
        else:
            ran = command(served, session, "./bomb")
        assert ran["status"] == "killed", f"{name}, round {turn}: {ran}"
        # An innocent command is not ended for it, and sees nothing of it; nor does one a little later.
        for _again in range(2):
            said = command(served, session, "ps -eo stat=,comm= | grep -c '^[^Z].* bomb'; echo innocent")
            assert said["stdout"].split() == ["0", "innocent"], f"{name}, round {turn}: {said} after {ran}"
            time.sleep(0.1)
        served.end(session)


@case("1 fork bombs in C end with their outcome, many rounds")
def _(programs):
    with daemon() as served, Beside(served):
        bombs(served, programs, "fork_bomb", 8)
        bombs(served, programs, "escaping_bomb", 8)
        bombs(served, programs, "vfork_bomb", 4)


@case("1 fork bomb in Go ends with its outcome, many rounds")
def _(programs):
    if not programs.compile_go():
        raise Skip("no Go compiler")
    with daemon() as served, Beside(served):
        bombs(served, programs, "go_bomb", 20)
