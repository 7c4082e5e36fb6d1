"""Tools that authors write in Python, and their way to a service.

    class WordCount(ToolBase):
        name = "word_count"
        description = "Counts the words of a text."
        input = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        output = {"type": "object", "properties": {"words": {"type": "integer"}}, "required": ["words"]}

        def run(self, text):
            return {"words": len(text.split())}

    registry = ToolRegistry()
    registry.register(WordCount())
    registry.publish(client)                   # sessions of the tenant can call it now
    session.tool("word_count", {"text": "a b"}).output
"""
from __future__ import annotations

import inspect
import json
import re
import textwrap
from typing import Any, Dict, List, Mapping, Optional, Protocol, Sequence

Json = Dict[str, Any]
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")


class ToolBase:
    """One tool. A subclass says its name, description and schemas (JSON Schema, draft 7), and what run() does.

    Inside a sandbox only the class itself is there: run() imports what it needs, and uses no names from around the
    class. Its arguments are the members of the input, and what it returns is the output."""

    name: str = ""
    description: str = ""
    input: Mapping[str, Any] = {"type": "object"}
    output: Optional[Mapping[str, Any]] = None
    timeout_seconds: Optional[float] = None
    idempotent: bool = False
    pure: bool = False
    read_only: bool = False
    tags: Sequence[str] = ()
    examples: Sequence[Mapping[str, Any]] = ()

    def run(self, **arguments: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say what it does: define run()")

    def code(self) -> str:
        """The program that a sandbox runs for one call; `tool_input` is there already."""
        kind = type(self)
        try:
            source = textwrap.dedent(inspect.getsource(kind))
        except (OSError, TypeError) as error:
            raise ValueError(f"the source of {kind.__name__} is not there: define it in a file") from error
        return (f"import json\nclass ToolBase: pass\n{source}\n"
                f"print(json.dumps({kind.__name__}().run(**tool_input)))\n")

    def declaration(self) -> Json:
        """The tool as the registry wants it."""
        if not NAME.match(self.name):
            raise ValueError(f"{type(self).__name__}.name is {self.name!r}: letters, digits, '_' and '-', a letter "
                             "first, at most 64")
        if not self.description:
            raise ValueError(f"{type(self).__name__}.description is empty: a model reads it")
        made: Json = {"name": self.name, "description": self.description, "input": dict(self.input),
                      "run": {"language": "python", "code": self.code()}}
        if self.output is not None:
            made["output"] = dict(self.output)
        for key in ("timeout_seconds", "idempotent", "pure", "read_only"):
            if getattr(self, key):
                made[key] = getattr(self, key)
        for key in ("tags", "examples"):
            if getattr(self, key):
                made[key] = list(getattr(self, key))
        return made


class _Publisher(Protocol):
    def put_tool(self, declaration: Mapping[str, Any]) -> None: ...


class ToolRegistry:
    """Tools of this process by name: described for models, called here, or published to a service."""

    def __init__(self) -> None:
        self._tools: Dict[str, ToolBase] = {}

    def register(self, tool: ToolBase, *, replace: bool = False) -> ToolBase:
        """Refuses a name that is taken, unless it is to be replaced, and a tool that could not be declared."""
        tool.declaration()
        if tool.name in self._tools and not replace:
            raise ValueError(f"there is a tool {tool.name!r} already; say replace=True to replace it")
        self._tools[tool.name] = tool
        return tool

    def remove(self, name: str) -> None:
        del self._tools[name]

    def get(self, name: str) -> ToolBase:
        return self._tools[name]

    def list(self) -> List[str]:
        return sorted(self._tools)

    def describe(self, format: str = "openai") -> List[Json]:
        """All of them as a model's API wants them: openai, anthropic or mcp."""
        return [_described(self._tools[name], format) for name in self.list()]

    def call(self, name: str, input: Optional[Mapping[str, Any]] = None) -> Any:
        """Runs a tool here, in this process, without a sandbox: for tests of one's own code only. What it returns
        must be writable as JSON, as it must be in a sandbox."""
        return json.loads(json.dumps(self._tools[name].run(**dict(input or {}))))

    def publish(self, client: _Publisher) -> List[str]:
        """Declares all of them to the service, as tools of the key's tenant; gives their names."""
        for name in self.list():
            client.put_tool(self._tools[name].declaration())
        return self.list()


def _described(tool: ToolBase, format: str) -> Json:
    if format == "openai":
        return {"type": "function", "function": {"name": tool.name, "description": tool.description,
                                                 "parameters": dict(tool.input)}}
    if format == "anthropic":
        return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input)}
    if format == "mcp":
        return {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input)}
    raise ValueError(f"format {format!r} is none of openai, anthropic, mcp")
