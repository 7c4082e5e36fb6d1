"""Tools: an author's class becomes a tool of the service and is called inside a sandbox."""
from __future__ import annotations

import pytest
from atoll import ToolBase, ToolRegistry, errors


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
    assert isinstance(client.skills(), list)
