"""The OpenAI Agents SDK's sandbox agents in sessions of Atoll, with a model that follows a script."""
from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

pytest.importorskip("agents.sandbox")
from agents import RunConfig, Runner  # noqa: E402
from agents.items import ModelResponse  # noqa: E402
from agents.models.interface import Model  # noqa: E402
from agents.sandbox import SandboxAgent, SandboxRunConfig  # noqa: E402
from agents.sandbox.errors import ExecTimeoutError, WorkspaceReadNotFoundError  # noqa: E402
from agents.sandbox.manifest import Manifest  # noqa: E402
from agents.sandbox.snapshot import LocalSnapshotSpec  # noqa: E402
from agents.usage import Usage  # noqa: E402
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText  # noqa: E402

from atoll import AsyncSandboxClient  # noqa: E402
from atoll.integrations.openai_agents import WORKSPACE, AtollSandboxClient, AtollSandboxClientOptions  # noqa: E402

pytestmark = pytest.mark.anyio


class Scripted(Model):
    """Calls the shell once, then says what it saw."""

    def __init__(self):
        self.seen = []

    async def get_response(self, system_instructions, input, model_settings, tools, *more, **others):
        names = [tool.name for tool in tools]
        outputs = [item["output"] for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if not outputs:
            call = ResponseFunctionToolCall(type="function_call", call_id="one", name="exec_command",
                                            arguments=json.dumps({"cmd": "echo $((6 * 7)) > answer.txt; cat answer.txt"}))
            assert "exec_command" in names, names
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        self.seen = outputs
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed",
                                     content=[ResponseOutputText(type="output_text", text="done", annotations=[])])
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


@pytest.fixture
async def client(daemon):
    made = AtollSandboxClient()
    yield made
    await made.close()


async def test_failures_are_the_sdks_own(client):
    session = await client.create(options=AtollSandboxClientOptions(environment="host"))
    async with session:
        with pytest.raises(WorkspaceReadNotFoundError):
            await session.read(Path("none.txt"))
        with pytest.raises(ExecTimeoutError):
            await session.exec("sleep", "60", timeout=0.5, shell=False)
        failed = await session.exec("exit 3")
        assert failed.exit_code == 3 and not failed.ok()
        with pytest.raises(Exception):
            await session.read(Path("/etc/passwd"))
    with pytest.raises(TypeError):
        await client.delete(type("Other", (), {"_inner": None})())


async def test_files_commands_and_the_workspace(client):
    session = await client.create(manifest=Manifest(root=WORKSPACE), options=AtollSandboxClientOptions(environment="host"))
    async with session:
        await session.write(Path("a/b.txt"), io.BytesIO(b"hello"))
        assert (await session.read(Path("a/b.txt"))).read() == b"hello"
        done = await session.exec("cat a/b.txt; pwd; echo err >&2")
        assert done.stdout.decode() == f"hello{WORKSPACE}\n" and done.stderr == b"err\n", done.stdout
        assert [Path(entry.path).name for entry in await session.ls("a")] == ["b.txt"]
        packed = await session.persist_workspace()
        await session.rm("a", recursive=True)
        await session.hydrate_workspace(packed)
        assert (await session.read(Path("a/b.txt"))).read() == b"hello"
        assert await session.running()
    assert not await session.running()


async def test_a_session_is_resumed_from_its_state(client, tmp_path):
    options = AtollSandboxClientOptions(environment="host")
    session = await client.create(snapshot=LocalSnapshotSpec(base_path=tmp_path), options=options)
    await session.start()
    await session.write(Path("kept.txt"), io.BytesIO(b"kept"))
    payload = client.serialize_session_state(session.state)
    # The process that began it is gone; the sandbox is not.
    again = await client.resume(client.deserialize_session_state(json.loads(json.dumps(payload, default=str))))
    async with again:
        assert (await again.read(Path("kept.txt"))).read() == b"kept"
        state = client.serialize_session_state(again.state)
    # It ended, and its workspace went into the snapshot: a new one begins with that.
    third = await client.resume(client.deserialize_session_state(json.loads(json.dumps(state, default=str))))
    async with third:
        assert (await third.read(Path("kept.txt"))).read() == b"kept"
        assert third.state.atoll_session_id != payload["atoll_session_id"]


async def test_an_agent_works_in_a_session(client, daemon):
    model = Scripted()
    config = RunConfig(sandbox=SandboxRunConfig(client=client, options=AtollSandboxClientOptions(environment="host")),
                       tracing_disabled=True)
    result = await Runner.run(SandboxAgent(name="worker", model=model), "What is six times seven?", run_config=config)
    assert result.final_output == "done" and "42" in model.seen[0], model.seen
    async with AsyncSandboxClient() as service:
        assert not [one async for one in service.list(state=["running"])], "its session has ended"
