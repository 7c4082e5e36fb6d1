"""The official Python SDKs, sync and async, against the daemon that ATOLL_URL names. Prints one line a check."""
import asyncio
import sys
import traceback

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
