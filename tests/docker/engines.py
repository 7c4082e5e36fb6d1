"""Real engines in directories of their own: dockerd, or Podman's service."""
import http.client
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
CACHE = HERE.parents[1] / "build" / "tests" / "docker-image"
IMAGE = "atoll-test:latest"
CONTAINERS_CONF = """[containers]
default_ulimits=["nofile=16384:16384","nproc=16384:16384"]
log_driver="k8s-file"
[engine]
cgroup_manager="cgroupfs"
events_logger="file"
runtime="runc"
"""


class Unavailable(Exception):
    """This machine cannot run such an engine."""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Engine:
    def __init__(self, kind):
        self.kind = kind
        # Docker's listens over TCP as well, as one on another machine would.
        self.port = free_port()
        program = {"docker": "/usr/sbin/dockerd", "podman": "/usr/bin/podman"}[kind]
        if os.geteuid() != 0:
            raise Unavailable("only root can start an engine here")
        if not os.path.exists(program):
            raise Unavailable(f"{program} is not installed (scripts/setup test)")
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="atoll-engine-"))
        self.socket = str(self.work / "engine.sock")
        self.process = None
        if kind == "docker":
            self.command = [program, "--data-root", f"{self.work}/data", "--exec-root", f"{self.work}/exec", "--pidfile",
                            f"{self.work}/pid", "-H", "unix://" + self.socket, "-H", f"tcp://127.0.0.1:{self.port}",
                            "--tls=false", "--bridge=none", "--iptables=false",
                            "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"]
        else:
            (self.work / "containers.conf").write_text(CONTAINERS_CONF)
            self.command = [program, "--root", f"{self.work}/data", "--runroot", f"{self.work}/exec", "system", "service",
                            "--time", "0", "unix://" + self.socket]

    def environment(self):
        return {**os.environ, "HOME": str(self.work), "CONTAINERS_CONF": f"{self.work}/containers.conf"}

    def start(self):
        log = open(self.work / "log", "ab")
        environment = self.environment()
        # conmon leaves a file "oom" where it was started.
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                        cwd=self.work)
        deadline = time.time() + 60
        while time.time() < deadline and self.process.poll() is None:
            try:
                if self("GET", "/_ping")[0] == 200:
                    return self
            except OSError:
                time.sleep(0.1)
        raise Unavailable(f"{self.kind} did not start: " + (self.work / "log").read_text()[-500:])

    def __call__(self, method, target, body=None, kind="application/json", headers=None):
        connection = UnixConnection(self.socket)
        try:
            if body is not None and kind == "application/json":
                body = json.dumps(body)
            connection.request(method, target, body, {**({"Content-Type": kind} if body is not None else {}), **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def import_image(self, name=IMAGE, changes=("USER user", "WORKDIR /home/user", "CMD bash", "ENV FROM_IMAGE=yes")):
        made = CACHE / "image.tar"
        if not made.exists() or made.stat().st_mtime < (HERE / "image").stat().st_mtime:
            CACHE.mkdir(parents=True, exist_ok=True)
            subprocess.run([HERE / "image", CACHE], check=True)
        repository, tag = name.split(":")
        query = urllib.parse.urlencode([("fromSrc", "-"), ("repo", repository), ("tag", tag),
                                        *(("changes", change) for change in changes)])
        status, text = self("POST", "/v1.41/images/create?" + query, (CACHE / "image.tar").read_bytes(), "application/x-tar")
        assert status == 200, text

    def containers(self, label):
        filters = urllib.parse.quote(json.dumps({"label": [label]}))
        status, text = self("GET", f"/v1.41/containers/json?all=1&filters={filters}")
        assert status == 200, text
        return json.loads(text)

    def inspect(self, container):
        return json.loads(self("GET", f"/v1.41/containers/{container}/json")[1])

    def images(self):
        return json.loads(self("GET", "/v1.41/images/json")[1])

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            self.process.wait(60)

    def remove(self):
        self.stop()
        for line in reversed(pathlib.Path("/proc/self/mounts").read_text().splitlines()):
            where = line.split()[1]
            if where.startswith(str(self.work)):
                subprocess.run(["umount", "-l", where], check=False)
        shutil.rmtree(self.work, ignore_errors=True)


class Rootless(Engine):
    """An engine of an ordinary user, who is made for it and removed with it."""

    def __init__(self, kind):
        super().__init__(kind)
        for program in ("newuidmap", *(("rootlesskit",) if kind == "docker" else ())):
            if not shutil.which(program):
                raise Unavailable(f"{program} is not installed (scripts/setup test)")
        self.user = f"atoll{kind[0]}{os.getpid()}"
        subprocess.run(["useradd", "--no-create-home", "--home-dir", str(self.work), "--shell", "/bin/sh", self.user], check=True)
        self.number = pwd.getpwnam(self.user).pw_uid
        for path in (self.work, *self.work.glob("containers.conf")):
            os.chown(path, self.number, self.number)
        become = ["setpriv", f"--reuid={self.number}", f"--regid={self.number}", "--clear-groups"]
        if kind == "podman":
            self.command = [*become, self.command[0], "--storage-driver", "overlay", *self.command[1:]]
        else:
            kit = ["rootlesskit", "--net=host", "--copy-up=/etc", "--copy-up=/run", "--propagation=rslave", f"--state-dir={self.work}/kit"]
            over_tcp = self.command.index(f"tcp://127.0.0.1:{self.port}")
            local = self.command[:over_tcp - 1] + self.command[over_tcp + 1:]
            # What lies there belongs to root's engine, if there is one.
            self.command = [*become, *kit, "sh", "-c", 'rm -f /run/docker /run/containerd; exec "$@"', "sh", local[0], "--rootless",
                            "--storage-driver=overlay2", *local[1:]]

    def environment(self):
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.work), "XDG_RUNTIME_DIR": str(self.work),
                "CONTAINERS_CONF": f"{self.work}/containers.conf"}

    def remove(self):
        if self.kind == "podman":
            # What it started goes on without it: its own user's processes, and nobody else's.
            subprocess.run([*self.command[:4], "podman", *self.command[5:11], "rm", "--all", "--force"], env=self.environment(),
                           check=False, capture_output=True)
        self.stop()
        for status in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if status.stat().st_uid == self.number:
                    os.kill(int(status.name), signal.SIGKILL)
            except OSError:
                pass
        super().remove()
        subprocess.run(["userdel", self.user], check=False, capture_output=True)
