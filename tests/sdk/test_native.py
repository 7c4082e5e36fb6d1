"""The embedded filesystem, shell and policy, by the same contract as tests/sdk-cpp/embedded_test.cc."""
import os
import pathlib
import re
import threading

import pytest
from atoll import ConfigManager, RiskLevel, SecurityManager, embedded, errors
from atoll.embedded import FileStorage, Policy, SandboxShell, VirtualFileSystem, file_entry

if os.environ.get("ATOLL_NATIVE") == "0":
    pytest.skip("built without the native module", allow_module_level=True)


def test_it_is_there():
    assert embedded.available()


def test_files_that_are_not():
    files = VirtualFileSystem()
    with pytest.raises(errors.NotFoundError, match="No such file"):
        files.read("/none")
    with pytest.raises(errors.PathIsADirectoryError):
        files.read("/")
    with pytest.raises(errors.NotFoundError):
        files.write("/a/b", "x", parents=False)
    with pytest.raises(errors.NotFoundError):
        files.remove("/none")
    with pytest.raises(errors.InvalidArgumentError):
        files.read("/a\0b")
    files.write("/d/f", "x")
    with pytest.raises(errors.NotEmptyError):
        files.remove("/d")
    files.remove("/d", recursive=True)
    assert not files.exists("/d")


def test_a_quota_holds():
    files = VirtualFileSystem(embedded.memory_storage(), quota_bytes=10)
    files.write("/f", "0123456789")
    with pytest.raises(errors.NoSpaceError):
        files.write("/f", "x", append=True)
    assert files.read("/f") == b"0123456789"


def test_contents_and_names():
    files = VirtualFileSystem()
    files.write("/tmp/ä", b"\0\xff")
    assert files.read("/tmp/ä") == b"\0\xff"
    files.mkdir("/tmp/d/e", parents=True)
    files.symlink("/tmp/l", "ä")
    assert files.readlink("/tmp/l") == "ä" and files.stat("/tmp/l", follow=False)["type"] == "symlink"
    assert files.list("/tmp") == [("d", "directory"), ("l", "symlink"), ("ä", "file")]
    assert files.copy("/tmp/ä", "/tmp/d") == "/tmp/d/ä"
    files.rename("/tmp/d/ä", "/tmp/b")
    files.chmod("/tmp/b", 0o600)
    assert files.stat("/tmp/b")["mode"] == 0o600 and files.stat("/tmp/b")["size"] == 2
    assert files.usage()["files"] >= 3


def test_snapshots_and_forks():
    files = VirtualFileSystem()
    files.write("/f", "one")
    before, copy = files.snapshot(), files.fork()
    files.write("/f", "two")
    assert copy.read_text("/f") == "one"
    files.restore(before)
    assert files.read_text("/f") == "one"


def test_storages(tmp_path):
    for make in (lambda: embedded.sqlite_storage(tmp_path / "f.db"), lambda: embedded.host_storage(tmp_path / "host")):
        (tmp_path / "host").mkdir(exist_ok=True)
        VirtualFileSystem(make()).write("/a/b", "kept")
        assert VirtualFileSystem(make()).read_text("/a/b") == "kept"
    with pytest.raises(errors.ServiceError):
        embedded.host_storage(tmp_path / "none")


class Own(FileStorage):
    def __init__(self):
        self.entries, self.batches, self.broken = {}, 0, False

    def get(self, path):
        return self.entries.get(path)

    def apply(self, removals, entries):
        if self.broken:
            raise RuntimeError("out of order")
        self.batches += 1
        for path in removals:
            self.entries.pop(path, None)
        for entry in entries:
            self.entries[entry.path] = entry

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


def test_a_storage_of_ones_own():
    own = Own()
    files = VirtualFileSystem(own)
    files.write("/notes/today", "It rained.")
    assert own.batches >= 1 and own.entries["/notes/today"].content == b"It rained."
    own.broken = True
    with pytest.raises(errors.UnavailableError, match="out of order"):
        files.write("/notes/today", "No.")
    assert files.read_text("/notes/today") == "It rained."
    own.broken = False
    own.entries["/new"] = file_entry("/new", content=b"x")
    assert VirtualFileSystem(own).read("/new") == b"x"


def test_a_script_that_fails_is_no_error_of_ours():
    shell = SandboxShell(VirtualFileSystem())
    assert shell.execute("exit 3").status == 3
    assert shell.execute("nothing-of-this-name").status == 127
    assert shell.execute("if").status != 0
    shell.execute("X=1; cd /tmp")
    assert shell.execute("echo $X $PWD").stdout == "1 /tmp\n"
    assert shell.execute("cat", "from outside").stdout == "from outside"
    assert (shell.cwd, shell.variable("X")) == ("/tmp", "1")
    shell.set_variable("Y", "z")
    assert shell.execute("printf '\\xff'; echo $Y >&2").stderr == "z\n"
    assert SandboxShell(VirtualFileSystem(), env={"A": "b"}, cwd="/tmp").execute("echo $A; pwd").stdout == "b\n/tmp\n"


def test_output_while_it_runs():
    shell = SandboxShell(VirtualFileSystem())
    seen = []
    done = shell.execute("echo a; echo b >&2", on_stdout=seen.append)
    assert "".join(seen) == "a\n" and done.stderr == "b\n"
    with pytest.raises(KeyError):
        shell.execute("echo a; sleep 600", on_stdout=lambda text: {}[text])
    assert shell.execute("echo on").stdout == "on\n"


def test_limits_and_cancellation():
    with pytest.raises(errors.InvalidArgumentError, match="limit"):
        SandboxShell(VirtualFileSystem(), limits={"nothing": 1})
    shell = SandboxShell(VirtualFileSystem(), limits={"commands": 1000})
    done = shell.execute("while :; do :; done")
    assert done.limited and "commands" in done.reason
    sleeping = SandboxShell(VirtualFileSystem())
    threading.Timer(0.05, sleeping.cancel).start()
    assert sleeping.execute("sleep 600").canceled


def test_forked_shells_in_threads():
    base = SandboxShell(VirtualFileSystem())
    base.execute("x=1; echo 0 > f")
    results = []

    def work(number):
        own = base.fork()
        own.execute(f"echo $((x + {number})) > f")
        results.append(own.files.read_text("/home/user/f") == f"{number + 1}\n")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8 and base.execute("cat f").stdout == "0\n"


def test_verdicts(tmp_path):
    assert "strict" in embedded.policies()
    with pytest.raises(errors.NotFoundError, match="strict"):
        Policy("nothing")
    strict = Policy("strict")
    assert not strict.validate("import os; os.system('x')").allowed
    assert not strict.validate("rm -rf /", "shell").allowed
    assert strict.validate("1 + 1", "javascript").allowed
    with pytest.raises(errors.InvalidArgumentError, match="cobol"):
        strict.validate("x", "cobol")
    own = tmp_path / "own.yaml"
    own.write_text("extends: strict\nnonsense: 1\n")
    with pytest.raises(errors.InvalidArgumentError, match="own.yaml:2"):
        Policy(file=own)
    own.write_text("extends: strict\n")
    assert not Policy(file=own).validate("import os; os.system('x')").allowed


def test_the_security_manager_of_the_designs_needs_no_program(tmp_path, monkeypatch):
    monkeypatch.delenv("ATOLL_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    policies = tmp_path / "policies.yaml"
    policies.write_text("python:\n  forbidden_imports: [os]\nshell:\n  forbidden_commands: [rm]\n")
    manager = SecurityManager(config_path=str(policies))
    assert manager.check_imports("import os.path, json", "python") == ["os.path"]
    assert not manager.validate_shell_code("rm x").allowed and manager.validate_javascript_code("1").allowed
    assert SecurityManager("strict").validate_python_code("import os; os.system('x')").risk >= RiskLevel.HIGH
    policies.write_text("python:\n  forbidden_import: [os]\n")
    with pytest.raises(errors.ConfigurationError, match="policies.yaml:2:3"):
        SecurityManager(str(policies))
    with pytest.raises(errors.InvalidArgumentError, match="cobol"):
        manager.validate("x", "cobol")


def test_settings_need_no_program(tmp_path, monkeypatch):
    monkeypatch.delenv("ATOLL_PROGRAM", raising=False)
    file = tmp_path / "config.yaml"
    file.write_text("listen: 127.0.0.1:1\nworkers: 2\ncors:\n  origins: [a, b]\n")
    sources = {"environment": {"HOME": str(tmp_path), "ATOLL_WORKERS": "3", "ATOLL_API_KEY": "e2b_" + "0" * 40,
                               "ATOLL_URL": "http://x", "ATOLL_LISTN": "x"},
               "arguments": {"session.ttl": "4h", "log.access": "/a # b"}}
    asked = ConfigManager(file, program=os.environ["ATOLL"], **sources)
    monkeypatch.setenv("PATH", "/nonexistent")
    loaded = ConfigManager(file, **sources)
    assert list(loaded.values().items()) == list(asked.values().items()) and loaded.warnings == asked.warnings != []
    assert loaded.get("api_key") == "(set)" and loaded.origin("workers") == "environment ATOLL_WORKERS"
    for wrong in ("listn: x\n", "workers: many\n", "- a\n", "a: [\n"):
        file.write_text(wrong)
        with pytest.raises(errors.ConfigurationError, match="config.yaml"):
            ConfigManager(file, environment={})
    with pytest.raises(errors.ConfigurationError, match="no setting 'worker'"):
        ConfigManager(environment={}, arguments={"worker": "1"})
    with pytest.raises(errors.ConfigurationError, match="none.yaml"):
        ConfigManager(tmp_path / "none.yaml")
    with pytest.raises(errors.ConfigurationError, match="UTF-8"):
        ConfigManager(environment={"ATOLL_LOG_ACCESS": "\udcff"})
    (tmp_path / "xdg/atoll").mkdir(parents=True)
    (tmp_path / "xdg/atoll/config.yaml").write_text("workers: 7\n")
    assert ConfigManager(environment={"XDG_CONFIG_HOME": str(tmp_path / "xdg")}).get("workers") == "7"


def test_the_guide_runs_as_it_is_written(capsys):
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/guides/embedding.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) == 1
    exec(compile(blocks[0], "embedding.md", "exec"), {})
    assert capsys.readouterr().out == "hello\n\nb'hello\\n'\nFalse\n"
