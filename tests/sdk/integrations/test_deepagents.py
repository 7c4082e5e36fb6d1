"""deepagents' own file operations and its agent, with a scripted model."""
import asyncio

import atoll
import pytest
from atoll.integrations.deepagents import AtollSandbox
from deepagents import create_deep_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage


@pytest.fixture
def backend(daemon):
    with AtollSandbox.create() as made:
        yield made


def test_errors(backend):
    uploaded = backend.upload_files([("/home/user/a", b"1"), ("relative", b"2"), ("/home/user", b"3"), ("/proc/x", b"4")])
    assert [one.error for one in uploaded][:3] == [None, "invalid_path", "is_directory"] and uploaded[3].error
    got = backend.download_files(["/home/user/a", "/home/user/none", "/home/user", "relative"])
    assert [(one.content, one.error) for one in got] == [
        (b"1", None), (None, "file_not_found"), (None, "is_directory"), (None, "invalid_path")]
    slow = backend.execute("echo begun; sleep 20", timeout=1)
    assert slow.exit_code == 124 and slow.output.startswith("begun\n") and "timeout" in slow.output
    assert backend.read("/home/user/none").error


def test_execute(backend):
    done = backend.execute("echo a; echo b >&2; exit 3")
    assert done.exit_code == 3 and sorted(done.output.split()) == ["a", "b"] and not done.truncated
    assert asyncio.run(backend.aexecute("echo hi")).output == "hi\n"
    assert backend.execute("echo 1", timeout=0).exit_code == 0


def test_its_file_operations(backend):
    assert backend.write("/home/user/d/f.py", "one = 1\ntwo = 2\n").error is None
    assert "two = 2" in str(backend.read("/home/user/d/f.py").file_data)
    assert backend.edit("/home/user/d/f.py", "one", "three").error is None
    assert backend.download_files(["/home/user/d/f.py"])[0].content == b"three = 1\ntwo = 2\n"
    assert [one["path"] for one in backend.ls("/home/user/d").entries] == ["/home/user/d/f.py"]
    assert [one["line"] for one in backend.grep("two", "/home/user/d").matches] == [2]
    assert [one["path"].endswith("f.py") for one in backend.glob("*.py", "/home/user/d").matches] == [True]


class Scripted(FakeMessagesListChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


def test_an_agent(backend):
    model = Scripted(responses=[
        AIMessage(content="", tool_calls=[{"name": "write_file", "id": "1", "args": {
            "file_path": "/home/user/note.txt", "content": "forty-two"}}]),
        AIMessage(content="", tool_calls=[{"name": "execute", "id": "2", "args": {"command": "cat /home/user/note.txt"}}]),
        AIMessage(content="done"),
    ])
    agent = create_deep_agent(model=model, backend=backend)
    said = agent.invoke({"messages": [{"role": "user", "content": "write it down"}]})["messages"]
    tools = [one.text for one in said if isinstance(one, ToolMessage)]
    assert "forty-two" in tools[1], tools
    assert backend.session.files.read("/home/user/note.txt") == "forty-two"


def test_a_session_of_its_own_ends(daemon):
    with AtollSandbox.create(environment="host") as made:
        session_id = made.id
    with atoll.SandboxClient() as client:
        assert client.get(session_id).state == "stopped"
