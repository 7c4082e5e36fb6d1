"""The Debian of a chroot, booted: a real systemd is process 1 of namespaces of its own."""
import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
# Nobody answers there, and nobody logs in.
MASKED = ("getty.target", "console-getty.service", "systemd-udevd.service", "systemd-networkd.service", "systemd-resolved.service",
          "systemd-timesyncd.service")


class Machine:
    def __init__(self, root):
        self.root = root
        subprocess.run(["systemctl", "--root", root, "mask", *MASKED], capture_output=True, check=False)
        self.outer = subprocess.Popen(["unshare", "-m", "-p", "-f", "-u", "-i", "-n", "-C", "--kill-child", "--propagation", "private",
                                       HERE / "boot", root], stdin=subprocess.DEVNULL)
        self.init = self._wait(self._child, "process 1")
        self._wait(lambda: self.call("systemctl", "is-system-running", check=False).strip() in ("running", "degraded"), "systemd")

    def _child(self):
        children = pathlib.Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children").read_text().split()
        # Not before it is systemd: then it has mounted and moved.
        return int(children[0]) if children and "systemd" in pathlib.Path(f"/proc/{children[0]}/cmdline").read_text() + \
            pathlib.Path(f"/proc/{children[0]}/comm").read_text() else None

    def _wait(self, done, what):
        deadline = time.monotonic() + 60
        while True:
            assert self.outer.poll() is None, f"the machine ended before {what}"
            found = done()
            if found:
                return found
            assert time.monotonic() < deadline, f"no {what}"
            time.sleep(0.1)

    def call(self, *words, check=True):
        done = subprocess.run(["nsenter", "-t", str(self.init), "-m", "-p", "-u", "-i", "-n", "-C", "--", "env", "-i",
                               "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "DEBIAN_FRONTEND=noninteractive", "LANG=C.UTF-8",
                               *[str(word) for word in words]],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, stdin=subprocess.DEVNULL)
        assert not check or done.returncode == 0, f"{words}: status {done.returncode}: {done.stdout[-3000:]}"
        return done.stdout

    def until_active(self, unit):
        self._wait(lambda: self.call("systemctl", "is-active", unit, check=False).strip() == "active", f"active {unit}")

    def close(self):
        self.outer.kill()
        self.outer.wait(60)
