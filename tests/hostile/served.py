"""The same hostile programs in sessions of another provider, over REST: what of the list means something there."""
import importlib.util
import os
import pathlib
import shlex
import sys
import time

from harness import ROOT, SLOW, Ran, Skip

INSIDE = "/home/user/hostile"
# The words of `atoll run` for the states of executions.
ENDINGS = {"timeout": ("timed_out", 124), "oom": ("out_of_memory", 137)}

# Cases that ask what every provider with real processes owes.
EVERYWHERE = ("1 fork bomb, shell", "1 fork bomb, C", "2 thread bomb", "3 clone bomb", "4 memory bomb",
              "4 out of memory stays", "6 memory through memfd", "6 memory through System V", "6 memory through pipes",
              "7 no swap", "11 very deep tree", "13 descriptors", "14 CPU hogs", "15 CPU hog", "20 orphans", "21 daemon",
              "38 one that hides", "39 affinity", "39 priority", "40 processes", "43 environment", "45 working directory",
              "54 hard link", "60 absurd", "64-67 no way out")
# Docker's walls are the machine's kernel and our list of system calls.
ONLY = {"docker": ("24-39 system calls, as user", "22 crashes leave no core", "28 set-uid programs",
                   "37 programs that exist in memory"),
        "gvisor": ("5 shared-memory", "8 disk full", "10 inodes full", "22 crashes leave no core")}
# What is not so there, and why; held true by docs/guides.
NOT = {"docker": {"8 disk full": "no storage driver here has quotas: `disk_limit` is among what is missing (tests/docker)",
                  "33 other system-call": "the engine's filter ends such a program by a signal: ended_by_a_signal() below"},
       "gvisor": {"2 thread bomb": "threads inside are tasks of gVisor's kernel, which ends when it gets no more",
                  "4 out of memory stays": "memory inside is that of gVisor's kernel, which ends as a whole",
                  "9 fallocate": "the disk is full as it should be, but gVisor tells the blocks of a sparse file by its size",
                  "14 CPU hogs": "clocks of processor time inside are gVisor's own",
                  "20 orphans": "400 processes take longer than a command may there",
                  "39 ": "priorities are among the programs inside alone"}}
QUICK = ("1 fork bomb, C", "4 memory bomb", "15 CPU hog", "24-39 system calls, as user", "64-67 no way out")


def load(path, name):
    """A module of another suite: this one has a harness of its own."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


api = load(ROOT / "tests" / "api" / "harness.py", "api_harness")


def limits_of(options):
    """Limits of a session, seconds, and the user that `atoll run` would be asked for."""
    units = {"M": 1, "G": 1024}
    limits, seconds, given = {"max_processes": 5, "memory_mb": 512, "disk_mb": 100}, 10, list(options)
    while given:
        name = given.pop(0)
        value = given.pop(0) if name not in ("--sudo", "--pty") else ""
        if name == "--memory":
            limits["memory_mb"] = int(value[:-1]) * units[value[-1]]
        elif name == "--disk":
            limits["disk_mb"] = int(value[:-1]) * units[value[-1]]
        elif name == "--processes":
            limits["max_processes"] = int(value)
        elif name == "--cpus":
            limits["cpu_cores"] = float(value)
        elif name == "--time":
            seconds = int(value)
        elif name != "--mount":
            raise Skip(f"{name} is not asked for there")
    return limits, seconds


class Served:
    """A daemon with the provider; each program runs in a session of its own that is gone afterwards."""

    def __init__(self, provider, programs):
        self.provider, self.programs, self.engine = provider, programs, None
        flags, self.more = ["--set", "native.pool=0", "--set", "e2b.pool=0"], {}
        if provider == "docker":
            sys.path.insert(0, str(ROOT / "tests" / "docker"))
            engines = load(ROOT / "tests" / "docker" / "engines.py", "engines")
            try:
                self.engine = engines.Engine(os.environ.get("ENGINE", "docker")).start()
            except engines.Unavailable as reason:
                raise Skip(str(reason)) from reason
            self.engine.import_image()
            flags += ["--set", f"provider.docker.host=unix://{self.engine.socket}", "--set", "provider.docker.pool=0"]
            self.more = {"image": engines.IMAGE}
        elif provider == "gvisor":
            # Room for what every writable layer has from the start (kOwnInodes), of which a few are left.
            programs.own_inodes = 32
            flags += ["--set", "provider.gvisor.pool=0"]
            if os.environ.get("ATOLL_TEST_RUNSC"):
                flags += ["--set", "provider.gvisor.runsc=" + os.environ["ATOLL_TEST_RUNSC"]]
        os.environ["SECRET_TOKEN"] = "host-secret"
        self.daemon = api.Daemon(*flags).start()
        self.client = self.daemon.client()
        row = [one for one in self.client.ok("GET", "/api/capabilities")["providers"] if one["name"] == provider][0]
        if not row["available"]:
            self.close()
            raise Skip(row["reason"])
        self.neighbour = self.session({"max_processes": 5})

    def session(self, limits):
        made = self.client.ok("POST", "/api/sessions", {"provider": self.provider, "policy": "off", "limits": limits, **self.more})
        return "/api/sessions/" + made["session_id"]

    def ask(self):
        """Seconds until the neighbour answered."""
        began = time.monotonic()
        answer = self.client.ok("POST", self.neighbour + "/commands", {"command": "echo here"})
        assert answer["stdout"] == "here\n", answer
        return time.monotonic() - began

    def run(self, *command, options=(), stdin=b"", timeout=60, read=True, pass_fds=(), extra_env=None):
        if stdin or not read or pass_fds or extra_env:
            raise Skip("asks the command line, not the sandbox")
        limits, seconds = limits_of(options)
        box = self.session(limits)
        try:
            if any("/hostile/" in word for word in command):
                for file in pathlib.Path(self.programs.directory).iterdir():
                    if file.is_file():
                        self.client.ok("PUT", f"{box}/files?path={INSIDE}/{file.name}", raw=file.read_bytes())
                self.client.ok("POST", box + "/commands", {"command": f"chmod -R 755 {INSIDE}"})
            line = shlex.join(word.replace("/hostile/", INSIDE + "/") for word in command)
            began = time.monotonic()
            answer = self.client.ok("POST", box + "/commands", {"command": "exec " + line, "timeout_seconds": int(seconds * SLOW)})
            took = time.monotonic() - began
            word, status = ENDINGS.get(answer["status"], ("", answer["exit_code"]))
            if " are allowed" in (answer["reason"] or ""):
                word = "too_many_processes"
            if self.has_ended(box, answer):
                word, status = "too_many_processes out_of_memory", 137
            return Ran(status, answer["stdout"].encode(), (answer["stderr"] + word).encode(), took, 0)
        finally:
            self.client.ok("DELETE", box)

    def has_ended(self, box, answer):
        """Whether the sandbox went with the program: never on docker; gVisor's kernel is a process of the group whose
        memory and tasks are bounded, and may be what the machine's kernel ends."""
        after = self.client("POST", box + "/commands", {"command": "echo on"})
        if after.status == 200:
            assert after.json["stdout"] == "on\n", after.json
            return False
        assert self.provider == "gvisor" and answer["status"] in ("killed", "error", "oom"), (answer, after.body)
        assert after.status == 409 and b"is lost" in after.body, (after.status, after.body)
        return True

    def left(self):
        """What the sessions left behind, after an orderly stop."""
        self.daemon.stop()
        if self.engine:
            return self.engine.containers("atoll.session")
        work = str(self.daemon.work)
        return [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if is_kernel_of(path, work)]

    def close(self):
        self.daemon.remove()
        if self.engine:
            self.engine.remove()


def is_kernel_of(path, work):
    try:
        command = path.read_bytes()
    except OSError:
        return False
    return b"runsc" in command and work.encode() in command


def ended_by_a_signal(served):
    """33: where a sandbox of native refuses a call of another ABI, the engine's filter ends the program (SIGSYS, or
    SIGSEGV where the kernel has no such ABI at all). Either way the call is not made."""
    def case(programs):
        ran = served.run("/hostile/abi", options=programs.option())
        assert ran.status in (128 + 31, 128 + 11, -31, -11) and b"RAN" not in ran.out, (ran.status, ran.out, ran.err)
    return "33 other system-call ABIs end the program", case


def wanted(provider, cases, quick):
    for name, function in cases:
        if any(name.startswith(prefix) for prefix in NOT[provider]):
            continue
        if not any(name.startswith(prefix) for prefix in EVERYWHERE + ONLY[provider]):
            continue
        if not quick or any(name.startswith(prefix) for prefix in QUICK):
            yield name, function
