"""Uses everything of the native module in an environment where only the wheel and what it names are installed."""
import pathlib
import tempfile

import atoll
from atoll import ConfigManager, RiskLevel, SecurityManager, embedded
from atoll.embedded import FileStorage, Policy, SandboxShell, VirtualFileSystem

assert embedded.available()
files = VirtualFileSystem(quota_bytes=1 << 20)
shell = SandboxShell(files, limits={"wall_seconds": 10})
assert shell.execute("for i in 3 1 2; do echo $i; done | sort > sorted; cat sorted").stdout == "1\n2\n3\n"
assert files.read("/home/user/sorted") == b"1\n2\n3\n"
assert shell.execute("exit 3").status == 3


class Kept(FileStorage):
    def __init__(self):
        self.entries = {}

    def get(self, path):
        return self.entries.get(path)

    def apply(self, removals, entries):
        for path in removals:
            self.entries.pop(path, None)
        self.entries.update((entry.path, entry) for entry in entries)

    def paths_by_prefix(self, prefix):
        return sorted(path for path in self.entries if path.startswith(prefix))

    def children(self, directory):
        base = directory.rstrip("/") + "/"
        return sorted(path for path in self.entries if path.startswith(base) and "/" not in path[len(base):])

    def get_all(self):
        return [self.entries[path] for path in sorted(self.entries)]

    def count(self):
        return len(self.entries)

    def clear(self):
        self.entries.clear()


own = Kept()
VirtualFileSystem(own).write("/a/b", "kept")
assert VirtualFileSystem(own).read_text("/a/b") == "kept"
with tempfile.TemporaryDirectory() as directory:
    VirtualFileSystem(embedded.sqlite_storage(directory + "/f.db")).write("/x", "1")
    assert VirtualFileSystem(embedded.sqlite_storage(directory + "/f.db")).read("/x") == b"1"
    policy = pathlib.Path(directory) / "policy.yaml"
    policy.write_text("python:\n  forbidden_imports: [os]\n")
    assert SecurityManager(str(policy)).check_imports("import os, json", "python") == ["os"]
assert not Policy("strict").validate("import os; os.system('ls')", "python").allowed
assert SecurityManager("strict").analyze_security_risk("import os; os.system('ls')", "python") >= RiskLevel.HIGH
made = ConfigManager(environment={"ATOLL_WORKERS": "3"}, arguments={"session.ttl": "4h"})
assert made.origin("workers") == "environment ATOLL_WORKERS" and made.get("session.ttl") == "4h"
here = str(pathlib.Path(atoll.__file__).resolve())
assert "site-packages" in here, here
print("used", here)
