"""Running one hostile program in a real sandbox, beside a neighbour that must not notice."""
import contextlib
import glob
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
ATOLL = os.environ.get("ATOLL", str(ROOT / "build" / "atoll"))
SLOW = float(os.environ.get("ATOLL_TEST_SLOW", "1"))  # emulated machines are slower


class Skip(Exception):
    """A case that cannot be tried here, and why."""


class Ran:
    def __init__(self, status, out, err, seconds, peak_kib):
        self.status, self.out, self.err, self.seconds, self.peak_kib = status, out, err, seconds, peak_kib

    def lines(self):
        return self.out.decode(errors="replace").split("\n")


def group_name():
    return "atoll-hostile-" + uuid.uuid4().hex[:12]


def groups(name):
    return glob.glob("/sys/fs/cgroup/**/" + name, recursive=True)


def spawners(mark):
    """Processes of ours that are still there: the spawner carries the environment of the run that started it."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            if mark.encode() in pathlib.Path(path).read_bytes():
                found.append(path)
        except OSError:
            pass
    return found


def run(*command, options=(), stdin=b"", timeout=60, read=True, pass_fds=(), extra_env=None):
    """The outcome of `atoll run options -- command`, after checking that it left nothing behind."""
    name = group_name()
    mark = "ATOLL_TEST_MARK=" + name
    env = dict(os.environ, ATOLL_TEST_MARK=name, SECRET_TOKEN="host-secret", **(extra_env or {}))
    # The limit of time is of no interest where none is set, but slow machines need more of it.
    if SLOW > 1 and "--time" not in options:
        options = (*options, "--time", str(int(10 * SLOW)))
    # The walls are what is tested here: no policy looks at the command first.
    argv = [ATOLL, "run", "--cgroup-parent", name, "--policy", "off", *options, "--", *command]
    began = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                               pass_fds=pass_fds)
    peak = 0
    if not read:
        time.sleep(2)
        peak = peak_kib(process.pid)
        process.terminate()
    try:
        out, err = process.communicate(stdin, timeout=timeout * SLOW)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"hung: {' '.join(argv)}")
    seconds = time.monotonic() - began
    deadline = time.monotonic() + 5 * SLOW
    while (groups(name) or spawners(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not groups(name), f"control groups left over: {groups(name)}"
    assert not spawners(mark), f"processes left over: {spawners(mark)}"
    return Ran(process.returncode, out, err, seconds, peak)


def peak_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().split("\n"):
        if line.startswith("VmHWM"):
            return int(line.split()[1])
    return 0


class Neighbour:
    """Another sandbox, with a shell that answers."""

    def __init__(self):
        self.process = subprocess.Popen(
            [ATOLL, "run", "--time", "3600", "--", "sh", "-c", 'while read -r line; do echo "$line"; done'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self):
        """Seconds until it answered."""
        began = time.monotonic()
        self.process.stdin.write(b"are you there\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], 5 * SLOW)
        assert ready, "the neighbour does not answer"
        line = self.process.stdout.readline()
        assert line == b"are you there\n", f"the neighbour answered {line!r}"
        return time.monotonic() - began

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


class Programs:
    """The C programs of this suite, compiled statically, in a directory that sandboxes see as /hostile."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="atoll-hostile-")
        os.chmod(self.directory, 0o755)
        for source in HERE.glob("programs/*.c"):
            subprocess.run(["gcc", "-O1", "-static", "-o", f"{self.directory}/{source.stem}", str(source)], check=True)
        shutil.copy(HERE / "inside.py", self.directory)

    def compile_go(self):
        """False where there is no compiler."""
        go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
        if not go:
            return False
        env = dict(os.environ, CGO_ENABLED="0", GOCACHE=self.directory + "/go-cache", GOFLAGS="-mod=mod", GO111MODULE="off")
        subprocess.run([go, "build", "-o", f"{self.directory}/go_bomb", str(HERE / "programs/go/bomb.go")], check=True, env=env)
        return True

    def option(self):
        return ("--mount", f"{self.directory}:/hostile:ro")

    def close(self):
        shutil.rmtree(self.directory)


def own_mounts():
    text = pathlib.Path("/proc/self/mountinfo").read_text()
    return sorted(line.split(" - ")[1] for line in text.split("\n") if "overlay" in line or "/dev/loop" in line)


class Daemon:
    """`atoll serve` on a data directory of its own, with pools: for cases that need a sandbox handed out by it."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="atoll-hostile-data-")
        self.name = group_name()
        env = dict(os.environ, ATOLL_TEST_MARK=self.name, ATOLL_NATIVE_CGROUP_PARENT=self.name)
        env.pop("ATOLL_API_KEY", None)
        self.env = env
        self.key = None
        self.log = open(self.directory + "/log", "w+b")
        self.start()

    def start(self):
        self.log.truncate(0)
        self.process = subprocess.Popen([ATOLL, "serve", "--listen", "127.0.0.1:0", "--data", self.directory + "/data"],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=self.env)
        deadline = time.monotonic() + 60 * SLOW
        self.url = None
        while time.monotonic() < deadline and not (self.url and self.key):
            text = pathlib.Path(self.directory + "/log").read_text(errors="replace")
            url, key = re.search(r"http://127[\d.:]+", text), re.search(r"e2b_[0-9a-f]{40}", text)
            # The key is told by the first start on a data directory only.
            self.url, self.key = url and url.group(), self.key or (key and key.group())
            assert self.process.poll() is None, f"the daemon ended: {text}"
            time.sleep(0.05)
        assert self.url and self.key, "the daemon does not get ready"

    def restart(self):
        self.process.terminate()
        self.process.wait(60 * SLOW)
        self.start()

    def ask(self, method, path, body=None, raw=None):
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={
            "X-API-Key": self.key,
            "Content-Type": "application/octet-stream" if raw is not None else "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60 * SLOW) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def ok(self, method, path, body=None, raw=None):
        status, answer = self.ask(method, path, body, raw)
        assert status < 300, (method, path, status, answer[:300])
        return json.loads(answer) if answer else None

    def session(self, **more):
        return self.ok("POST", "/api/sessions", {"provider": "native", **more})["session_id"]

    def shell(self, session, command):
        return self.ok("POST", f"/api/sessions/{session}/commands", {"command": command})["stdout"]

    def end(self, session):
        self.ok("DELETE", f"/api/sessions/{session}")

    def standing(self):
        """What of the machine the daemon holds: descriptors and resident kibibytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        resident = int(re.search(r"VmRSS:\s+(\d+)", status).group(1))
        return len(os.listdir(f"/proc/{self.process.pid}/fd")), resident

    def close(self):
        self.process.terminate()
        self.process.wait(60 * SLOW)
        deadline = time.monotonic() + 20 * SLOW
        while (groups(self.name) or spawners("ATOLL_TEST_MARK=" + self.name)) and time.monotonic() < deadline:
            time.sleep(0.05)
        left = groups(self.name) + spawners("ATOLL_TEST_MARK=" + self.name)
        self.log.close()
        shutil.rmtree(self.directory)
        assert not left, f"left over by the daemon: {left}"


@contextlib.contextmanager
def daemon():
    one = Daemon()
    try:
        yield one
    finally:
        one.close()
