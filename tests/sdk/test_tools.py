"""Tools: an author's class becomes a tool of the service and is called inside a sandbox."""
from __future__ import annotations

import io
import tarfile
import threading

import pytest
from atoll import ToolBase, ToolProgress, ToolRegistry, errors


class SdkWords(ToolBase):
    name = "sdk_words"
    description = "Counts the words of a text."
    input = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    output = {"type": "object", "properties": {"words": {"type": "integer"}}, "required": ["words"]}
    examples = [{"input": {"text": "a b"}, "output": {"words": 2}}]

    def run(self, text):
        import re
        return {"words": len(re.findall(r"\S+", text))}


class Nameless(ToolBase):
    description = "Has no name."


class Silent(ToolBase):
    name = "silent"


def test_what_cannot_be_declared_is_refused_where_it_is_registered():
    registry = ToolRegistry()
    with pytest.raises(ValueError, match="name"):
        registry.register(Nameless())
    with pytest.raises(ValueError, match="description"):
        registry.register(Silent())
    with pytest.raises(NotImplementedError):
        Silent().run()
    registry.register(SdkWords())
    with pytest.raises(ValueError, match="already"):
        registry.register(SdkWords())
    registry.register(SdkWords(), replace=True)
    with pytest.raises(ValueError, match="xml"):
        registry.describe("xml")
    with pytest.raises(KeyError):
        registry.call("none")


def test_models_are_told_and_the_author_can_try_it_here():
    registry = ToolRegistry()
    registry.register(SdkWords())
    assert registry.list() == ["sdk_words"]
    assert registry.describe()[0]["function"]["parameters"]["required"] == ["text"]
    assert registry.describe("anthropic")[0]["input_schema"] == registry.describe("mcp")[0]["inputSchema"]
    assert registry.call("sdk_words", {"text": "a b c"}) == {"words": 3}
    assert registry.get("sdk_words").name == "sdk_words"
    registry.remove("sdk_words")
    assert registry.list() == []


def test_a_published_tool_runs_inside_a_sandbox(client):
    client.put_tool(SdkWords().declaration())
    try:
        assert "sdk_words" in [tool["name"] for tool in client.tools(search="words text")]
        with client.create() as session:
            result = session.tool("sdk_words", {"text": "grüße an alle"})
            assert result.ok and result.output == {"words": 3} and not result.cached, result
            with pytest.raises(errors.InvalidArgumentError):
                session.tool("sdk_words", {"text": 5})
            with pytest.raises(errors.NotFoundError):
                session.tool("nothing")
            failed = session.tool("read_file", {"path": "/none"})
            assert not failed.ok and failed.error["name"] == "FileError", failed
    finally:
        client.remove_tool("sdk_words")
    assert client.tools(format="openai")[0]["type"] == "function"


def test_skills_of_ones_own(client):
    text = b"---\nname: sdk-greet\ndescription: Says hello.\n---\nSay hello.\n"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo("sdk-greet/SKILL.md")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    with pytest.raises(errors.ServiceError):
        client.add_skills(b"no archive")
    assert [one["name"] for one in client.add_skills(packed.getvalue())] == ["sdk-greet"]
    try:
        assert "sdk-greet" in [one["name"] for one in client.skills()] and client.list_skills() == client.skills()
        assert "- sdk-greet: Says hello.\n" in client.skills_text()
        with client.create(skills=["sdk-greet"]) as session:
            given = session.skills()
            assert "- sdk-greet: Says hello.\n" in session.skills_text() and "- csv" not in session.skills_text()
            assert [one["description"] for one in given] == ["Says hello."] and session.list_skills() == given
            assert "Say hello." in session.commands.run(f"cat {given[0]['path']}/SKILL.md").stdout
    finally:
        client.remove_skill("sdk-greet")
    with pytest.raises(errors.NotFoundError):
        client.remove_skill("sdk-greet")


class SdkSteps(ToolBase):
    name = "sdk_steps"
    description = "Counts, and tells how far it is."
    input = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    output = {"type": "integer"}
    timeout_seconds = 30.0

    def run(self, count):
        for i in range(count):
            self.progress(i + 1, count, f"step {i + 1}")
        if count == 5:
            return "x" * 5_000_000
        if count > 5:
            raise ValueError("too far")
        return count


def test_progress_is_told_from_inside_a_sandbox(client):
    client.put_tool(SdkSteps().declaration())
    try:
        with client.create() as session:
            told, err = [], []
            result = session.tool("sdk_steps", {"count": 2}, on_progress=told.append, on_stderr=err.append)
            assert result.ok and result.output == 2, result
            assert told == [ToolProgress(1, 2, "step 1"), ToolProgress(2, 2, "step 2")], (told, err)
            seen = []
            session.tool("run_command", {"command": "echo out; echo err >&2"}, on_stdout=seen.append, on_stderr=err.append)
            assert seen == ["out\n"] and err == ["err\n"], (seen, err)
            with pytest.raises(errors.InvalidArgumentError):
                session.tool("sdk_steps", {}, on_progress=told.append)
            assert "sdk_steps" in [tool["name"] for tool in session.tools()]
            assert session.tools(format="mcp")[0]["inputSchema"]
    finally:
        client.remove_tool("sdk_steps")


def test_this_process_serves_calls(client):
    registry = ToolRegistry()
    registry.register(SdkSteps())
    assert registry.publish(client, served=True) == ["sdk_steps"]
    stop, answered = threading.Event(), []
    server = threading.Thread(target=lambda: answered.append(registry.serve(client, stop=stop, workers=2, wait_seconds=1)))
    server.start()
    try:
        with client.create() as session:
            told = []
            result = session.tool("sdk_steps", {"count": 3}, on_progress=told.append)
            assert result.ok and result.output == 3 and [one.progress for one in told] == [1, 2, 3], (result, told)
            failed = session.tool("sdk_steps", {"count": 6})
            assert failed.status == "error" and failed.error["name"] == "ValueError", failed
            assert failed.error["value"] == "too far", failed
            # A result that the service does not take is the call's failure, and the server goes on.
            assert session.tool("sdk_steps", {"count": 5}).status == "error"
            assert session.tool("sdk_steps", {"count": 1}).output == 1
    finally:
        stop.set()
        server.join()
        assert answered == [4]
    with pytest.raises(errors.NotFoundError):
        client.finish_tool_call("call_none", 1)
    with pytest.raises(errors.NotFoundError):
        client.tell_tool_progress("call_none", 1)
    assert client.next_tool_call(["sdk_steps"], wait_seconds=0) is None
    client.remove_tool("sdk_steps")
    with pytest.raises(errors.NotFoundError):
        client.next_tool_call(["sdk_steps"], wait_seconds=0)
