"""commands, pty and git."""
import asyncio
import hashlib
import time
from concurrent.futures import ThreadPoolExecutor

import e2b
import e2b.sandbox_sync.commands.command
from e2b import PtySize

from harness import a, check, check_if, eventually, raises, slow


@check
async def output_exit_codes_and_users(api):
    async with api.sandbox() as box:
        done = await a(box.commands.run("echo out; echo err >&2"))
        assert (done.stdout, done.stderr, done.exit_code) == ("out\n", "err\n", 0)
        error = await raises(e2b.CommandExitException, lambda: box.commands.run("echo so; exit 3"))
        assert error.exit_code == 3 and error.stdout == "so\n"
        assert (await a(box.commands.run("whoami; pwd"))).stdout == "user\n/home/user\n"
        assert (await a(box.commands.run("whoami", user="root"))).stdout == "root\n"
        assert (await a(box.commands.run("sudo whoami"))).stdout == "root\n"
        assert (await a(box.commands.run("pwd", cwd="/tmp"))).stdout == "/tmp\n"
        assert (await a(box.commands.run("echo $X", envs={"X": "ü"}))).stdout == "ü\n"
        await raises(e2b.AuthenticationException, lambda: box.commands.run("true", user="nobody-here"))
        await raises(e2b.InvalidArgumentException, lambda: box.commands.run("true", cwd="/none"))


@check
async def output_comes_as_it_is_made(api):
    async with api.sandbox() as box:
        out, err = [], []
        await a(box.commands.run("echo a; echo b; echo c >&2", on_stdout=out.append, on_stderr=err.append))
        assert "".join(out) == "a\nb\n" and "".join(err) == "c\n"
        big = await a(box.commands.run("head -c 3000000 /dev/zero | tr '\\0' x", timeout=120))
        assert len(big.stdout) == 3_000_000


@check
async def time_limits(api):
    async with api.sandbox() as box:
        await raises(e2b.TimeoutException, lambda: box.commands.run("sleep 300", timeout=1))

        async def over():
            return not any("sleep" in " ".join(each.args) for each in await a(box.commands.list()))

        await eventually(over)


@check
async def background_processes(api):
    async with api.sandbox() as box:
        handle = await a(box.commands.run("sleep 300", background=True))
        assert any(each.pid == handle.pid for each in await a(box.commands.list()))
        again = await a(box.commands.connect(handle.pid))
        assert again.pid == handle.pid
        await a(again.disconnect())
        assert await a(box.commands.kill(handle.pid)) is True
        await raises(e2b.CommandExitException, handle.wait)
        assert await a(box.commands.kill(handle.pid)) is False
        other = await a(box.commands.run("sleep 300", background=True))
        assert await a(other.kill()) is True
        await raises(e2b.NotFoundException, lambda: box.commands.connect(999_999))


@check
async def standard_input(api):
    async with api.sandbox() as box:
        handle = await a(box.commands.run("cat", background=True, stdin=True))
        await a(box.commands.send_stdin(handle.pid, "fed "))
        await a(handle.send_stdin("twice"))
        await a(box.commands.close_stdin(handle.pid))
        assert (await a(handle.wait())).stdout == "fed twice"
        handle = await a(box.commands.run("wc -c", background=True, stdin=True))
        await a(handle.close_stdin())
        assert (await a(handle.wait())).stdout.strip() == "0"
        await raises(e2b.NotFoundException, lambda: box.commands.send_stdin(999_999, "x"))


STREAMS_INPUT = hasattr(e2b.sandbox_sync.commands.command.Commands, "stream_input")


@check_if(STREAMS_INPUT)
async def a_stream_of_input(api):
    async with api.sandbox() as box:
        handle = await a(box.commands.run("head -c 200009 | md5sum; echo end", background=True, stdin=True))
        pieces = ["x" * 100_000, b"y" * 100_000, "tail\n", "more"]
        if api.is_async:
            stream = await a(box.commands.stream_input(handle.pid))
            for piece in pieces:
                await stream.send(piece)
            await stream.close()
            missing = await a(box.commands.stream_input(999_999))
            await missing.send("x")
            await raises(e2b.NotFoundException, missing.close)
        else:
            box.commands.stream_input(handle.pid, pieces)
            await raises(e2b.NotFoundException, lambda: box.commands.stream_input(999_999, ["x"]))
        whole = b"x" * 100_000 + b"y" * 100_000 + b"tail\nmore"
        assert (await a(handle.wait())).stdout == hashlib.md5(whole[:200_009]).hexdigest() + "  -\nend\n"


@check
async def many_at_once(api):
    async with api.sandbox() as box:
        if api.is_async:
            results = await asyncio.gather(*(box.commands.run(f"echo {i}") for i in range(50)))
        else:
            with ThreadPoolExecutor(16) as pool:
                results = list(pool.map(lambda i: box.commands.run(f"echo {i}"), range(50)))
        assert [one.stdout for one in results] == [f"{i}\n" for i in range(50)]
        handles = [await a(box.commands.run("sleep 300", background=True, timeout=0)) for _ in range(40)]
        pids = {each.pid for each in await a(box.commands.list())}
        assert all(each.pid in pids for each in handles)
        for each in handles:
            assert await a(each.kill()) is True


@slow
async def a_stream_of_a_minute(api):
    async with api.sandbox() as box:
        out = []
        handle = await a(box.commands.run("echo begun; sleep 65; echo end", background=True, timeout=0))
        done = await a(handle.wait(**({} if api.is_async else {"on_stdout": out.append})))
        assert done.stdout == "begun\nend\n" and done.exit_code == 0


@check
async def output_that_is_cut_and_odd(api):
    async with api.sandbox() as box:
        assert (await a(box.commands.run("true"))).stdout == ""
        assert (await a(box.commands.run("printf 'a\\0b'"))).stdout == "a\0b"
        words = "grüße 漢字 🦀\n"
        assert (await a(box.commands.run(f"for i in $(seq 3000); do printf '{words.strip()}\\n'; done"))).stdout == words * 3000
        for status in (1, 2, 126, 127, 255):
            error = await raises(e2b.CommandExitException, lambda: box.commands.run(f"exit {status}"))
            assert error.exit_code == status
        error = await raises(e2b.CommandExitException, lambda: box.commands.run("no-such-program"))
        assert error.exit_code == 127 and "not found" in error.stderr
        await raises(e2b.CommandExitException, lambda: box.commands.run("kill -9 $$"))


@check
async def a_client_that_leaves(api):
    async with api.sandbox() as box:
        handle = await a(box.commands.run("echo begun; sleep 1; echo end > /tmp/left", background=True))
        await a(handle.disconnect())

        async def left():
            return await a(box.files.exists("/tmp/left"))

        await eventually(left)
        # One that connects too late is told how it ended.
        handle = await a(box.commands.run("sleep 0.2; exit 7", background=True))
        await a(handle.disconnect())

        async def over():
            return not any(each.pid == handle.pid for each in await a(box.commands.list()))

        await eventually(over)
        late = await a(box.commands.connect(handle.pid))
        assert (await raises(e2b.CommandExitException, late.wait)).exit_code == 7


@check
async def a_sandbox_killed_in_the_middle(api):
    box = await a(api.Sandbox.create(timeout=120))
    handle = await a(box.commands.run("echo begun; sleep 300", background=True))
    assert await a(box.kill()) is True
    await raises(e2b.TimeoutException, handle.wait)
    await raises(e2b.SandboxException, lambda: box.commands.run("true"))
    await raises(e2b.SandboxException, lambda: box.files.read("x"))
    await raises(e2b.SandboxException, lambda: box.files.list("/"))
    box = await a(api.Interpreter.create(timeout=120))
    begun = time.monotonic()
    await a(box.set_timeout(2))
    await raises(Exception, lambda: box.run_code("import time; time.sleep(300)", timeout=200))
    assert time.monotonic() - begun < 60, "told when it ends, not when somebody gives up"


async def terminal(api, box, **options):
    seen = []
    take = lambda data: seen.append(bytes(data))
    if api.is_async:
        handle = await box.pty.create(PtySize(rows=24, cols=80), on_data=take, **options)
        return handle, seen, lambda: handle.wait()
    handle = box.pty.create(PtySize(rows=24, cols=80), **options)
    return handle, seen, lambda: handle.wait(on_pty=take)


@check
async def terminals(api):
    async with api.sandbox() as box:
        handle, seen, wait = await terminal(api, box, envs={"PS1": "$ "}, cwd="/tmp")
        # Not while readline prepares its terminal: it reads the size and sets it again, and undoes what came between.
        await a(box.pty.send_stdin(handle.pid, b"touch ready; read go; stty size; pwd; echo py''thon; exit 0\n"))
        while not await a(box.files.exists("/tmp/ready")):
            await asyncio.sleep(0.05)
        await a(box.pty.resize(handle.pid, PtySize(rows=30, cols=100)))
        await a(box.pty.send_stdin(handle.pid, b"go\n"))
        await a(wait())
        told = b"".join(seen)
        assert b"30 100" in told and b"/tmp" in told and b"python" in told, told
        handle, seen, wait = await terminal(api, box)
        again = await a(box.pty.connect(handle.pid, on_data=lambda _: None) if api.is_async
                        else box.pty.connect(handle.pid))
        await a(again.disconnect())
        if not STREAMS_INPUT:
            await a(box.pty.send_stdin(handle.pid, b"echo stre''am\nexit 4\n"))
        elif api.is_async:
            stream = await a(box.pty.stream_input(handle.pid))
            await stream.send("echo stre''am\n")
            await stream.send(b"exit 4\n")
            await stream.close()
        else:
            box.pty.stream_input(handle.pid, ["echo stre''am\n", b"exit 4\n"])
        error = await raises(e2b.CommandExitException, wait)
        assert error.exit_code == 4 and b"stream" in b"".join(seen)
        handle, seen, wait = await terminal(api, box)
        assert await a(box.pty.kill(handle.pid)) is True
        assert await a(box.pty.kill(999_999)) is False


@check
async def git_alone(api):
    path = "/home/user/repo"
    async with api.sandbox() as box:
        git = box.git
        await a(git.init(path, initial_branch="main"))
        await a(git.configure_user("Ann", "ann@example.org", scope="local", path=path))
        assert await a(git.get_config("user.name", scope="local", path=path)) == "Ann"
        await a(git.set_config("core.abbrev", "12", scope="local", path=path))
        await a(box.files.write(f"{path}/a.txt", "1\n"))
        assert (await a(git.status(path))).has_untracked
        await a(git.add(path, files=["a.txt"]))
        await a(git.commit(path, "first"))
        await a(git.create_branch(path, "topic"))
        await a(git.checkout_branch(path, "main"))
        branches = await a(git.branches(path))
        assert sorted(branches.branches) == ["main", "topic"] and branches.current_branch == "main"
        await a(git.delete_branch(path, "topic", force=True))
        await a(box.files.write(f"{path}/a.txt", "2\n"))
        await a(git.add(path))
        await a(git.reset(path, mode="mixed"))
        await a(git.restore(path, ["a.txt"], worktree=True))
        assert await a(box.files.read(f"{path}/a.txt")) == "1\n"
        await raises(e2b.SandboxException, lambda: git.status("/tmp"))


@check
async def git_with_a_remote(api):
    path, origin = "/home/user/work", "/home/user/origin.git"
    async with api.sandbox() as box:
        git = box.git
        await a(git.init(origin, bare=True, initial_branch="main"))
        await a(git.clone(f"file://{origin}", path))
        await a(git.configure_user("Ann", "ann@example.org"))
        await a(box.files.write(f"{path}/a.txt", "1\n"))
        await a(git.add(path))
        await a(git.commit(path, "first"))
        await a(git.push(path, remote="origin", branch="main"))
        await a(git.remote_add(path, "second", f"file://{origin}"))
        assert await a(git.remote_get(path, "second")) == f"file://{origin}"
        await a(git.pull(path, remote="origin", branch="main"))
        await a(git.dangerously_authenticate("ann", "token"))
        assert "token" in (await a(box.commands.run("cat ~/.git-credentials"))).stdout
