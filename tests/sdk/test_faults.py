"""Connections that are cut, answers that do not come, cancellations: what is repeated, what never is, what is told."""
import asyncio
import socket
import threading
import time

import atoll
import pytest
from atoll import errors
from proxy import Proxy


def sent(proxy, method):
    return [line for line in proxy.requests if line.startswith(method + " ")]


def test_a_call_that_was_never_sent_is_repeated(make_client, daemon):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    running = []
    timer = threading.Timer(0.25, lambda: running.append(Proxy(daemon.port, port).__enter__()))
    timer.start()
    made = make_client(url=f"http://127.0.0.1:{port}", retries=7).create()
    assert len(sent(running[0], "POST")) == 1 and running[0].connections == 1
    made.end()
    running[0].__exit__()


@pytest.mark.parametrize("fault", [{"refuse": True}, {"cut_answer_after": 0}, {"cut_answer_after": 40}])
def test_idempotent_calls_are_repeated(make_client, proxy, fault):
    proxy.faults = [fault, fault]
    client = make_client(url=proxy.url, retries=2)
    assert client.version()
    assert proxy.connections == 3


@pytest.mark.parametrize("fault", [{"cut_answer_after": 0}, {"cut_answer_after": 40}])
def test_other_calls_are_not_repeated(make_client, proxy, plain, fault):
    before = {one.session_id for one in plain.list(state=["running"])}
    client = make_client(url=proxy.url, retries=5)
    proxy.faults = [fault] * 3
    with pytest.raises(errors.ConnectionLostError, match="not known"):
        client.create()
    assert len(sent(proxy, "POST")) == 1
    time.sleep(0.3)
    lost = [one for one in plain.list(state=["running"]) if one.session_id not in before]
    assert len(lost) <= 1
    for one in lost:
        plain.get(one.session_id).end()


def test_retries_end(make_client, proxy):
    proxy.faults = [{"cut_answer_after": 0}] * 10
    with pytest.raises(errors.ConnectionLostError):
        make_client(url=proxy.url, retries=1).version()
    assert proxy.connections == 2


def test_a_removal_whose_answer_was_lost_is_done(make_client, proxy, plain):
    with plain.create() as session:
        session.files.write("/home/user/f", "x")
        client = make_client(url=proxy.url)
        found = client.connect(session.id)
        proxy.cut_all()
        proxy.faults = [{"cut_answer_after": 0}]
        found.files.remove("/home/user/f")
        assert not session.files.exists("/home/user/f")
        with pytest.raises(errors.NotFoundError):
            found.files.remove("/home/user/f")


def test_an_append_is_never_repeated(make_client, proxy, plain):
    with plain.create() as session:
        client = make_client(url=proxy.url)
        found = client.connect(session.id)
        proxy.cut_all()
        proxy.faults = [{"cut_answer_after": 0}]
        with pytest.raises(errors.ConnectionLostError):
            found.files.write("/home/user/log", "line\n", append=True)
        proxy.cut_all()
        proxy.faults = [{"cut_answer_after": 0}]
        found.files.write("/home/user/whole", "line\n")
        assert session.files.read("/home/user/whole") == "line\n"
        assert session.files.exists("/home/user/log") is False or session.files.read("/home/user/log") == "line\n"


def test_a_stream_that_is_cut(make_client, proxy, plain):
    with plain.create() as session:
        found = make_client(url=proxy.url).connect(session.id)
        seen = []

        def cut(text):
            seen.append(text)
            proxy.cut_all()

        with pytest.raises(errors.ConnectionLostError):
            found.execute("import time\nprint(1, flush=True)\ntime.sleep(20)", on_stdout=cut)
        with pytest.raises(errors.ConnectionLostError):
            found.commands.run("echo 1; sleep 20", on_stdout=cut)
        process = found.commands.start("echo 1; sleep 1; echo 2")
        with pytest.raises(errors.ConnectionLostError, match="commands.connect"):
            process.wait(on_stdout=cut)
        assert session.commands.connect(process.pid).wait().stdout.endswith("2\n")
        assert seen == ["1\n"] * 3
        session.files.write("/home/user/big", b"x" * 5_000_000)
        with pytest.raises(errors.ConnectionLostError), found.files.stream("/home/user/big") as pieces:
            for _ in pieces:
                proxy.cut_all()


def test_a_watch_that_is_cut(make_client, proxy, plain):
    with plain.create() as session:
        found = make_client(url=proxy.url).connect(session.id)
        with pytest.raises(errors.ConnectionLostError), found.files.watch("/home/user") as changes:
            threading.Timer(0.2, proxy.cut_all).start()
            next(changes)


def test_a_terminal_that_is_cut(make_client, proxy, plain):
    with plain.create() as session:
        terminal = make_client(url=proxy.url).connect(session.id).pty.open()
        threading.Timer(0.2, proxy.cut_all).start()
        with pytest.raises(errors.ConnectionLostError):
            while terminal.read(timeout=20):
                pass


def test_the_daemon_asks_to_wait(make_client):
    """429 with Retry-After: a read is repeated, a create is not."""
    import harness
    busy = harness.Daemon("--set", "rate.per_second=2", "--set", "rate.burst=2").start()
    try:
        client = make_client(url=f"http://127.0.0.1:{busy.port}", retries=4)
        start = time.monotonic()
        for _ in range(4):
            assert client.capabilities()
        assert time.monotonic() - start > 0.5
        with pytest.raises(errors.ResourceExhaustedError) as caught:
            for _ in range(20):
                client.create(provider="virtual")
        assert caught.value.retryable and caught.value.status == 429
    finally:
        busy.remove()


def test_a_cancelled_task_ends_its_execution_and_its_session(daemon, plain):
    async def run():
        async with atoll.AsyncSandboxClient() as client:
            started = asyncio.Event()
            ids = []

            async def work():
                async with await client.create() as session:
                    ids.append(session.id)
                    await session.execute("import time\nprint(1, flush=True)\ntime.sleep(30)",
                                          on_stdout=lambda _: started.set())

            task = asyncio.create_task(work())
            await asyncio.wait_for(started.wait(), 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return ids[0]

    start = time.monotonic()
    assert plain.get(asyncio.run(run())).state == "stopped"
    assert time.monotonic() - start < 15


def test_a_time_out_of_asyncio_ends_the_command(daemon, plain):
    async def run():
        async with atoll.AsyncSandboxClient() as client, await client.create() as session:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(session.commands.run("sleep 33"), 0.5)
            for _ in range(200):
                if not any("sleep 33" in " ".join(one.argv) for one in await session.commands.list()):
                    return
                await asyncio.sleep(0.05)
            raise AssertionError("the command goes on")

    asyncio.run(run())
