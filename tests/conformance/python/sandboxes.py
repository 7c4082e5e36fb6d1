"""Sandbox and AsyncSandbox: the control plane."""
import datetime
import os
import urllib.error
import urllib.request

import e2b
from e2b import SandboxQuery, SandboxState

from harness import a, check, eventually, raises, unique


@check
async def create_info_and_kill(api):
    box = await a(api.Sandbox.create(timeout=60, metadata={"who": "python"}, envs={"A": "b"}))
    info = await a(box.get_info())
    assert info.sandbox_id == box.sandbox_id and info.metadata == {"who": "python"}
    assert info.state == SandboxState.RUNNING and info.cpu_count >= 1 and info.memory_mb >= 512
    assert info.started_at < info.end_at
    assert await a(box.is_running())
    assert (await a(box.commands.run("echo $A"))).stdout == "b\n"
    assert await a(box.kill()) is True
    assert not await a(box.is_running())
    assert await a(api.Sandbox.kill(box.sandbox_id)) is False


@check
async def unknown_things_are_not_found(api):
    nothing = "i00000000000000000000"
    await raises(e2b.NotFoundException, lambda: api.Sandbox.get_info(nothing))
    await raises(e2b.NotFoundException, lambda: api.Sandbox.connect(nothing))
    await raises(e2b.NotFoundException, lambda: api.Sandbox.set_timeout(nothing, 60))
    await raises(e2b.SandboxException, lambda: api.Sandbox.create("no-such-template"), "no-such-template")


@check
async def a_wrong_key_is_refused(api):
    await raises(e2b.AuthenticationException, lambda: api.Sandbox.create(api_key="e2b_" + "1" * 40))
    await raises(e2b.AuthenticationException, lambda: api.Sandbox.list(api_key="e2b_" + "1" * 40).next_items())


@check
async def a_client_with_its_own_key(api):
    client = e2b.E2B(api_key=os.environ["E2B_API_KEY"])
    Class = client.AsyncSandbox if api.is_async else client.Sandbox
    box = await a(Class.create(timeout=60))
    assert await a(box.kill()) is True


@check
async def lists_filter_order_and_page(api):
    mark = unique()
    async with api.sandbox(metadata={"k y": "v&1", "mark": mark}) as one, \
            api.sandbox(metadata={"mark": mark}) as two:
        found = await a(api.Sandbox.list(query=SandboxQuery(metadata={"k y": "v&1", "mark": mark})).next_items())
        assert [each.sandbox_id for each in found] == [one.sandbox_id]
        pages = api.Sandbox.list(query=SandboxQuery(metadata={"mark": mark}), limit=1)
        seen = []
        while pages.has_next:
            seen += [each.sandbox_id for each in await a(pages.next_items())]
        assert seen == [two.sandbox_id, one.sandbox_id], "newest first"
        oldest = await a(api.Sandbox.list(query=SandboxQuery(metadata={"mark": mark}), order="asc").next_items())
        assert [each.sandbox_id for each in oldest] == [one.sandbox_id, two.sandbox_id]
        await a(one.pause())
        paused = SandboxQuery(metadata={"mark": mark}, state=[SandboxState.PAUSED])
        assert [each.sandbox_id for each in await a(api.Sandbox.list(query=paused).next_items())] == [one.sandbox_id]
        later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        query = SandboxQuery(metadata={"mark": mark}, started_after=later)
        assert await a(api.Sandbox.list(query=query).next_items()) == []
        query = SandboxQuery(metadata={"mark": mark}, template="base")
        assert len(await a(api.Sandbox.list(query=query).next_items())) == 2


@check
async def pause_connect_and_time(api):
    async with api.sandbox() as box:
        await a(box.files.write("kept", "kept"))
        assert await a(box.pause()) is True
        assert not await a(box.is_running())
        assert await a(box.beta_pause()) is False, "it is paused already"
        again = await a(api.Sandbox.connect(box.sandbox_id, timeout=300))
        assert await a(again.files.read("kept")) == "kept"
        assert await a(box.files.read("kept")) == "kept", "the older handle still works"
        await a(box.set_timeout(1000))
        left = (await a(box.get_info())).end_at - datetime.datetime.now(datetime.timezone.utc)
        assert 900 < left.total_seconds() < 1010
        await a(box.connect(timeout=60))
        left = (await a(box.get_info())).end_at - datetime.datetime.now(datetime.timezone.utc)
        assert left.total_seconds() > 800, "connect only extends"


@check
async def a_sandbox_ends_with_its_time(api):
    box = await a(api.Sandbox.create(timeout=2))

    async def gone():
        return not await a(box.is_running())

    await eventually(gone)
    await raises(e2b.SandboxException, lambda: box.commands.run("true"))


@check
async def one_that_pauses_itself_wakes_on_traffic(api):
    box = await a(api.Sandbox.create(timeout=2, lifecycle={"on_timeout": "pause", "auto_resume": True}))
    try:
        await a(box.files.write("kept", "kept"))

        async def paused():
            return (await a(box.get_info())).state == SandboxState.PAUSED

        await eventually(paused)
        assert await a(box.files.read("kept")) == "kept"
    finally:
        await a(api.Sandbox.kill(box.sandbox_id))


@check
async def snapshots_and_forks(api):
    async with api.sandbox() as box:
        await a(box.files.write("kept", "kept"))
        snapshot = await a(box.create_snapshot())
        async with api.sandbox(snapshot.snapshot_id) as other:
            assert await a(other.files.read("kept")) == "kept"
        assert snapshot.snapshot_id in [each.snapshot_id for each in await a(box.list_snapshots().next_items())]
        assert await a(api.Sandbox.delete_snapshot(snapshot.snapshot_id)) is True
        assert await a(api.Sandbox.delete_snapshot(snapshot.snapshot_id)) is False
        forks = await a(box.fork(count=2, timeout=120))
        assert len(forks) == 2
        for fork in forks:
            assert await a(fork.files.read("kept")) == "kept"
            assert fork.sandbox_id != box.sandbox_id
            await a(fork.kill())


@check
async def metrics(api):
    async with api.sandbox() as box:
        one = (await eventually(box.get_metrics))[0]
        assert one.cpu_count >= 1 and one.mem_total > 0 and one.disk_total > 0 and one.timestamp is not None
        long_ago = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
        assert await a(box.get_metrics(start=long_ago, end=long_ago + datetime.timedelta(hours=1))) == []


@check
async def hosts_urls_and_gateways(api):
    async with api.sandbox() as box:
        assert box.get_host(3000).startswith(f"3000-{box.sandbox_id}.")
        assert box.get_mcp_url().startswith("https://50005-")
        await raises(e2b.FileNotFoundException, box.get_mcp_token)
        await a(box.files.write("signed.txt", "by url"))
        with urllib.request.urlopen(box.download_url("signed.txt", use_signature_expiration=600)) as answer:
            assert answer.read() == b"by url"
        assert "signature=" in box.upload_url("up.txt", use_signature_expiration=600)


@check
async def the_network_of_a_sandbox(api):
    async with api.sandbox(allow_internet_access=False) as box:
        info = await a(box.get_info())
        assert info.allow_internet_access is False
        await a(box.update_network({"allow_out": ["8.8.4.4"], "deny_out": [e2b.ALL_TRAFFIC]}))
        info = await a(box.get_info())
        assert info.network["allow_out"] == ["8.8.4.4"], info.network


@check
async def traffic_tokens(api):
    async with api.sandbox(network={"allow_public_traffic": False}) as box:
        assert box.traffic_access_token
        assert (await a(box.commands.run("echo in"))).stdout == "in\n"


@check
async def by_class_and_id(api):
    async with api.sandbox() as box:
        name, Sandbox = box.sandbox_id, api.Sandbox
        assert (await a(Sandbox.get_info(name))).sandbox_id == name
        await a(Sandbox.set_timeout(name, 900))
        assert await eventually(lambda: Sandbox.get_metrics(name))
        await a(Sandbox.update_network(name, {"allow_internet_access": False}))
        snapshot = await a(Sandbox.create_snapshot(name))
        listed = await a(Sandbox.list_snapshots(sandbox_id=name).next_items())
        assert [each.snapshot_id for each in listed] == [snapshot.snapshot_id]
        assert await a(Sandbox.delete_snapshot(snapshot.snapshot_id)) is True
        forks = await a(Sandbox.fork(name, count=1))
        await a(forks[0].kill())
        assert await a(Sandbox.pause(name)) is True and await a(Sandbox.beta_pause(name)) is False
        same = await a(Sandbox.connect(name))
        assert same.sandbox_id == name and await a(same.is_running())
        assert await a(Sandbox.kill(name)) is True and await a(Sandbox.kill(name)) is False


@check
async def what_cannot_be_is_an_error_of_its_type(api):
    await raises(e2b.SandboxException, lambda: api.Sandbox.create("base:no-such-tag"), "no-such-tag")
    await raises(e2b.SandboxException, lambda: api.Sandbox.create("Bad Name!"), "400")
    await raises(e2b.SandboxException, lambda: api.Sandbox.create(volume_mounts={"/mnt/x": "no-such-volume"}), "not found")
    await raises(e2b.SandboxException, lambda: api.Sandbox.create(network={"allow_out": ["example.org"]}), "0.0.0.0/0")
    await raises(e2b.SandboxException, lambda: api.Sandbox.create(iam={"tokens": {"x": {"audience": "a", "token_type": "JWT-SVID"}}}), "iam")
    await raises(e2b.SandboxException, lambda: api.Sandbox.list(limit=1000).next_items(), "limit")
    nothing = "i00000000000000000000"
    assert await a(api.Sandbox.kill(nothing)) is False
    for call in (lambda: api.Sandbox.pause(nothing), lambda: api.Sandbox.create_snapshot(nothing), lambda: api.Sandbox.fork(nothing),
                 lambda: api.Sandbox.update_network(nothing, {}), lambda: api.Sandbox.get_metrics(nothing)):
        await raises(e2b.NotFoundException, call)


@check
async def signatures_are_the_original_ones(api):
    made = e2b.get_signature("hello.txt", "read", "user", "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0")
    assert made["signature"] == "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E"
    async with api.sandbox() as box:
        url = box.upload_url("up.txt", use_signature_expiration=600)
        body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="any"\r\n\r\nuploaded\r\n--b--\r\n'
        request = urllib.request.Request(url, body, {"Content-Type": "multipart/form-data; boundary=b"})
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200
        assert await a(box.files.read("up.txt")) == "uploaded"
        for wrong in (url.replace("signature=v1_", "signature=v1_x"), box.download_url("up.txt", use_signature_expiration=-60)):
            error = await raises(urllib.error.HTTPError, lambda: urllib.request.urlopen(wrong, b"" if "x" in wrong[-5:] else None))
            assert error.code == 401
