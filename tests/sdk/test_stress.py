"""One client, many threads or tasks: every answer belongs to its own question."""
import asyncio
import threading

import anyio
import atoll

WORKERS, ROUNDS = 8, 12


def test_threads_share_a_client_and_a_session(daemon):
    wrong = []
    with atoll.SandboxClient() as client, client.create(provider="virtual", limits={"max_processes": 100}) as shared:
        def work(me):
            try:
                for i in range(ROUNDS):
                    name = f"/home/user/{me}-{i}"
                    shared.files.write(name, name * 100)
                    assert shared.files.read(name) == name * 100
                    assert shared.commands.run(f"echo {me} {i}").stdout == f"{me} {i}\n"
                    with client.create(provider="virtual", metadata={"me": str(me)}) as own:
                        assert own.refresh().metadata == {"me": str(me)}
                        assert own.commands.run(["echo", str(i)]).stdout == f"{i}\n"
            except BaseException as error:  # a thread's failure is the test's
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(me,)) for me in range(WORKERS)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert not wrong, wrong[0]
        assert len(list(shared.history())) == WORKERS * ROUNDS


def test_threads_share_an_interpreter(daemon):
    with atoll.SandboxClient() as client, client.create() as session:
        session.execute("seen = []")
        threads = [threading.Thread(target=session.execute, args=(f"seen.append({i})",)) for i in range(20)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert session.execute("print(sorted(seen) == list(range(20)))").stdout == "True\n"


def test_many_tasks(daemon):
    async def run():
        async with atoll.AsyncSandboxClient() as client:
            async def work(me):
                async with await client.create(provider="virtual") as session:
                    for i in range(4):
                        seen = []
                        done = await session.commands.run(f"echo {me} {i}", on_stdout=seen.append)
                        assert done.stdout == f"{me} {i}\n" == "".join(seen)
                        await session.files.write("/tmp/f", f"{me}")
                        assert await session.files.read("/tmp/f") == f"{me}"
                    return session.id

            ids = await asyncio.gather(*(work(me) for me in range(40)))
            assert len(set(ids)) == 40
            left = [one async for one in client.list(state=["running"]) if one.session_id in ids]
            assert not left

    asyncio.run(run())


def test_cancelled_tasks_leave_a_client_that_works(daemon):
    async def run():
        async with atoll.AsyncSandboxClient() as client, await client.create() as session:
            async def work(i):
                await session.execute("import time; time.sleep(5)" if i % 2 else f"print({i})", stateless=True)

            tasks = [asyncio.create_task(work(i)) for i in range(4)]
            await asyncio.sleep(0.3)
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert (await session.execute("print('well')")).stdout == "well\n"

    asyncio.run(run())


def test_it_runs_on_trio(daemon):
    async def run():
        async with atoll.AsyncSandboxClient() as client, await client.create() as session:
            seen = []
            await session.execute("print(1)", on_stdout=seen.append)
            assert seen == ["1\n"]
            async with await session.pty.open() as terminal:
                await terminal.send("exit 2\n")
                assert (await terminal.wait(timeout=20)).exit_code == 2
            with anyio.move_on_after(0.3) as scope:
                await session.commands.run("sleep 20")
            assert scope.cancelled_caught
        return session.id

    session_id = anyio.run(run, backend="trio")
    with atoll.SandboxClient() as client:
        assert client.get(session_id).state == "stopped"
