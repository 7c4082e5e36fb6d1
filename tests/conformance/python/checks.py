"""The official Python SDKs, sync and async, against the daemon that ATOLL_URL names. Prints one line a check."""
import asyncio
import sys
import traceback
import uuid

from e2b import AsyncSandbox, CommandExitException, NotFoundException, Sandbox, TimeoutException
from e2b_code_interpreter import Sandbox as Interpreter

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def raises(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError(f"expected {kind}")


@check
def create_info_and_kill():
    box = Sandbox.create(timeout=60, metadata={"who": "python"})
    info = box.get_info()
    assert info.sandbox_id == box.sandbox_id and info.metadata == {"who": "python"}
    assert box.is_running()
    assert box.kill() is True
    assert not box.is_running()
    assert Sandbox.kill(box.sandbox_id) is False


@check
def lists_by_metadata():
    box = Sandbox.create(timeout=60, metadata={"k y": "v&1"})
    from e2b import SandboxQuery
    pages = Sandbox.list(query=SandboxQuery(metadata={"k y": "v&1"}))
    assert any(one.sandbox_id == box.sandbox_id for one in pages.next_items())
    box.kill()


@check
def commands():
    with Sandbox.create(timeout=60) as box:
        assert box.commands.run("echo out; echo err >&2").stdout == "out\n"
        raises(CommandExitException, lambda: box.commands.run("exit 3"))
        raises(TimeoutException, lambda: box.commands.run("sleep 20", timeout=1))
        handle = box.commands.run("sleep 30", background=True)
        assert any(one.pid == handle.pid for one in box.commands.list())
        assert handle.kill() is True
        seen = []
        box.commands.run("echo a; echo b", on_stdout=seen.append)
        assert "".join(seen) == "a\nb\n"


@check
def files():
    with Sandbox.create(timeout=60) as box:
        box.files.write("dir/ä b.txt", "text")
        assert box.files.read("dir/ä b.txt") == "text"
        box.files.write("bytes", bytes(range(256)))
        assert box.files.read("bytes", format="bytes") == bytearray(range(256))
        raises(NotFoundException, lambda: box.files.read("none"))
        assert [one.name for one in box.files.list("dir")] == ["ä b.txt"]
        assert box.files.exists("bytes") and not box.files.exists("none")
        assert box.files.make_dir("new") is True and box.files.make_dir("new") is False
        box.files.rename("bytes", "moved")
        box.files.remove("moved")
        assert box.files.get_info("dir").path == "/home/user/dir"
        handle = box.files.watch_dir("dir")
        box.files.write("dir/watched.txt", "x")
        for _ in range(50):
            if any(one.name == "watched.txt" for one in handle.get_new_events()):
                break
            import time
            time.sleep(0.1)
        else:
            raise AssertionError("no event")
        handle.stop()


@check
def pause_and_connect():
    box = Sandbox.create(timeout=60)
    box.files.write("kept", "kept")
    (box.pause if hasattr(box, "pause") else box.beta_pause)()
    again = Sandbox.connect(box.sandbox_id)
    assert again.files.read("kept") == "kept"
    again.kill()


@check
def interpreter():
    with Interpreter.create(timeout=60) as box:
        assert box.run_code("1 + 1").text == "2"
        box.run_code("x = 5")
        assert box.run_code("x").text == "5"
        assert box.run_code("1/0").error.name == "ZeroDivisionError"
        seen = []
        box.run_code("print('hello')", on_stdout=lambda message: seen.append(message.line))
        assert "".join(seen) == "hello\n"
        context = box.create_code_context(cwd="/tmp")
        assert box.run_code("import os; os.getcwd()", context=context).text == "/tmp"


@check
def volumes():
    from e2b import Volume, VolumeException, VolumeNotFoundException, VolumePathNotFoundException
    name = f"python-{uuid.uuid4().hex}"
    volume = Volume.create(name)
    raises(VolumeException, lambda: Volume.create(name))
    volume.write_file("/a.txt", "text")
    assert volume.read_file("/a.txt") == "text"
    volume.make_dir("/deep/er", force=True)
    assert [one.path for one in volume.list("/")] == ["/a.txt", "/deep"]
    assert volume.get_info("/a.txt").size == 4
    assert volume.update_metadata("/a.txt", mode=0o600).mode == 0o600
    assert volume.exists("/a.txt") and not volume.exists("/none")
    raises(VolumePathNotFoundException, lambda: volume.read_file("/none"))
    with Sandbox.create(timeout=60, volume_mounts={"/mnt/v": volume}) as box:
        assert box.files.read("/mnt/v/a.txt", user="user") == "text"
        box.commands.run("echo inside > /mnt/v/b.txt")
    assert volume.read_file("/b.txt") == "inside\n"
    volume.remove("/deep")
    assert any(one.name == name for one in Volume.list())
    assert Volume.destroy(volume.volume_id) is True
    assert Volume.destroy(volume.volume_id) is False
    raises(VolumeNotFoundException, lambda: Volume.get_info(volume.volume_id))


@check
def secrets():
    from e2b import Secret, SecretNotFoundException
    name = f"python-{uuid.uuid4().hex}"
    made = Secret.create(name, "value", metadata={"a": "b"})
    assert made.version == 1 and made.metadata == {"a": "b"}
    assert Secret.update(name, "other").version == 2
    assert Secret.get_info(made.secret_id).name == name
    assert Secret.exists(name)
    pages = Secret.list(limit=1)
    names = []
    while pages.has_next:
        names += [one.name for one in pages.next_items()]
    assert name in names
    assert Secret.destroy(name) is True and Secret.destroy(name) is False
    raises(SecretNotFoundException, lambda: Secret.get_info(name))


@check
def templates():
    from e2b import Template
    name = f"python-{uuid.uuid4().hex}"
    recipe = Template().from_python_image("3").set_envs({"A": "1"}).set_workdir("/srv").run_cmd('echo "$A" > /tmp/a')
    logs = []
    Template.build(recipe, name, on_build_logs=lambda entry: logs.append(entry.message))
    assert logs and Template.exists(name)
    with Sandbox.create(name, timeout=60) as box:
        assert box.files.read("/tmp/a") == "1\n"
        assert box.commands.run("echo $A; pwd").stdout == "1\n/srv\n"
    assert Template.exists("python-no-such-template") is False


@check
def snapshots_and_forks():
    with Sandbox.create(timeout=60) as box:
        box.files.write("kept", "kept")
        snapshot = box.create_snapshot()
        with Sandbox.create(snapshot.snapshot_id, timeout=60) as other:
            assert other.files.read("kept") == "kept"
        assert Sandbox.delete_snapshot(snapshot.snapshot_id) is True
        assert Sandbox.delete_snapshot(snapshot.snapshot_id) is False
        assert len(box.get_metrics()) >= 1
        box.set_timeout(120)


@check
def terminals_and_git():
    from e2b import PtySize
    with Sandbox.create(timeout=60) as box:
        seen = []
        terminal = box.pty.create(PtySize(rows=24, cols=80))
        box.pty.send_stdin(terminal.pid, b"echo py''thon; exit\n")
        try:
            terminal.wait(on_pty=lambda data: seen.append(bytes(data)))
        except CommandExitException:
            pass
        assert b"python" in b"".join(seen)
        box.git.init("/home/user/repo", initial_branch="main")
        assert box.git.status("/home/user/repo").current_branch == "main"


@check
def asynchronous_rest():
    from e2b import AsyncSecret, AsyncVolume
    from e2b_code_interpreter import AsyncSandbox as AsyncInterpreter

    async def run():
        name = f"python-{uuid.uuid4().hex}"
        volume = await AsyncVolume.create(name)
        await volume.write_file("/x", b"bytes")
        assert await volume.read_file("/x", format="bytes") == b"bytes"
        assert await AsyncVolume.destroy(volume.volume_id) is True
        await AsyncSecret.create(name, "v")
        assert await AsyncSecret.destroy(name) is True
        box = await AsyncInterpreter.create(timeout=60)
        assert (await box.run_code("6 * 7")).text == "42"
        handle = await box.commands.run("cat", background=True, stdin=True)
        await box.commands.send_stdin(handle.pid, "fed")
        await box.commands.close_stdin(handle.pid)
        assert (await handle.wait()).stdout == "fed"
        watched = []
        await box.files.make_dir("w")
        watch = await box.files.watch_dir("w", on_event=watched.append)
        await box.files.write("w/file", "x")
        for _ in range(200):
            if watched:
                break
            await asyncio.sleep(0.1)
        assert watched
        await watch.stop()
        await box.kill()

    asyncio.run(run())


@check
def asynchronous():
    async def run():
        box = await AsyncSandbox.create(timeout=60)
        results = await asyncio.gather(*(box.commands.run(f"echo {i}") for i in range(5)))
        assert [one.stdout for one in results] == [f"{i}\n" for i in range(5)]
        await box.files.write("a", "b")
        assert await box.files.read("a") == "b"
        await box.kill()

    asyncio.run(run())


def main() -> int:
    failed = 0
    for function in CHECKS:
        try:
            function()
            print(f"ok - python {function.__name__}")
        except Exception:  # every check runs, whatever the others did
            failed += 1
            print(f"not ok - python {function.__name__}")
            traceback.print_exc()
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
