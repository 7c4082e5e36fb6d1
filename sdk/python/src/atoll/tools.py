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
    registry.publish(client)                   # sessions of the tenant can call it now: it runs in their sandboxes
    session.tool("word_count", {"text": "a b"}).output

    registry.publish(client, served=True)      # or it runs here, in this process,
    registry.serve(client)                     # which answers calls until it is told to stop
"""
from __future__ import annotations

import inspect
import json
import re
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence

from . import errors
from .models import ToolCall

Json = Dict[str, Any]
Report = Callable[[float, Optional[float], Optional[str]], None]
# Who is told how far the call is that runs here.
_report: ContextVar[Optional[Report]] = ContextVar("atoll_tool_report", default=None)
# What a class has of ToolBase inside a sandbox.
_INSIDE = """import json, sys
class ToolBase:
    def progress(self, progress, total=None, message=None):
        told = {"progress": progress, "total": total, "message": message}
        print(json.dumps({name: value for name, value in told.items() if value is not None}), file=sys.stderr, flush=True)
"""
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

    def progress(self, progress: float, total: Optional[float] = None, message: Optional[str] = None) -> None:
        """For run() to tell how far it is. A call whose caller has left ends here with CallerLeft."""
        report = _report.get()
        if report is not None:
            report(progress, total, message)

    def code(self) -> str:
        """The program that a sandbox runs for one call; `tool_input` is there already."""
        kind = type(self)
        try:
            source = textwrap.dedent(inspect.getsource(kind))
        except (OSError, TypeError) as error:
            raise ValueError(f"the source of {kind.__name__} is not there: define it in a file") from error
        return (f"{_INSIDE}{source}\n"
                f"print(json.dumps({kind.__name__}().run(**tool_input)))\n")

    def declaration(self, *, served: bool = False) -> Json:
        """The tool as the registry wants it: run in a sandbox, or, if it is served, by this process."""
        if not NAME.match(self.name):
            raise ValueError(f"{type(self).__name__}.name is {self.name!r}: letters, digits, '_' and '-', a letter "
                             "first, at most 64")
        if not self.description:
            raise ValueError(f"{type(self).__name__}.description is empty: a model reads it")
        made: Json = {"name": self.name, "description": self.description, "input": dict(self.input),
                      "run": {"client": True} if served else {"language": "python", "code": self.code()}}
        if self.output is not None:
            made["output"] = dict(self.output)
        for key in ("timeout_seconds", "idempotent", "pure", "read_only"):
            if getattr(self, key):
                made[key] = getattr(self, key)
        for key in ("tags", "examples"):
            if getattr(self, key):
                made[key] = list(getattr(self, key))
        return made


class CallerLeft(Exception):
    """Nobody waits for the result any more: what runs for it may end."""


class _Publisher(Protocol):
    def put_tool(self, declaration: Mapping[str, Any]) -> None: ...


class _Server(Protocol):
    def next_tool_call(self, tools: Sequence[str], *, wait_seconds: float = ...) -> Optional[ToolCall]: ...

    def tell_tool_progress(self, call_id: str, progress: float, total: Optional[float] = ...,
                           message: Optional[str] = ...) -> None: ...

    def finish_tool_call(self, call_id: str, output: Any = ..., *,
                         error: Optional[Mapping[str, str]] = ...) -> None: ...


class ToolRegistry:
    """Tools of this process by name: described for models, called here, or published to a service."""

    def __init__(self) -> None:
        self._tools: Dict[str, ToolBase] = {}

    def register(self, tool: ToolBase, *, replace: bool = False) -> ToolBase:
        """Refuses a name that is taken, unless it is to be replaced, and a tool that could not be declared."""
        tool.declaration(served=True)
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

    def publish(self, client: _Publisher, *, served: bool = False) -> List[str]:
        """Declares all of them to the service, as tools of the key's tenant; gives their names. Served ones run in this
        process, while serve() does; the others in the sandbox of the session that calls them."""
        for name in self.list():
            client.put_tool(self._tools[name].declaration(served=served))
        return self.list()

    def serve(self, client: _Server, *, stop: Optional[threading.Event] = None, workers: int = 4,
              wait_seconds: float = 20.0) -> int:
        """Answers calls of the published tools until `stop` is set; gives how many. Up to `workers` calls run at once.
        What run() raises is the call's failure; a service that cannot be reached is asked again."""
        ended = stop or threading.Event()
        with ThreadPoolExecutor(workers, thread_name_prefix="atoll-tools") as pool:
            counts = [pool.submit(self._serve_one_by_one, client, ended, wait_seconds) for _ in range(workers)]
            return sum(count.result() for count in counts)

    def _serve_one_by_one(self, client: _Server, ended: threading.Event, wait_seconds: float) -> int:
        answered = 0
        while not ended.is_set():
            try:
                call = client.next_tool_call(self.list(), wait_seconds=wait_seconds)
            except (errors.RetryableError, errors.ConnectError, errors.ConnectionLostError, errors.RequestTimeoutError):
                ended.wait(1)
                continue
            if call is not None:
                self._answer(client, call)
                answered += 1
        return answered

    def _answer(self, client: _Server, call: ToolCall) -> None:
        def report(progress: float, total: Optional[float], message: Optional[str]) -> None:
            try:
                client.tell_tool_progress(call.call_id, progress, total, message)
            except errors.NotFoundError:
                raise CallerLeft(call.call_id) from None

        before = _report.set(report)
        try:
            result: Json = {"output": self.call(call.tool, call.input)}
        except CallerLeft:
            return
        except Exception as error:  # whatever an author's code raises is the call's failure
            result = {"error": {"name": type(error).__name__, "value": str(error)}}
        finally:
            _report.reset(before)
        try:
            client.finish_tool_call(call.call_id, **result)
        except errors.NotFoundError:
            pass  # the caller left meanwhile
        except errors.ServiceError as error:  # a result that the service does not take: too large, no JSON
            self._refuse(client, call, error)
        except errors.AtollError:
            pass  # it did not reach the service: lost with its call, which has a deadline

    def _refuse(self, client: _Server, call: ToolCall, error: errors.ServiceError) -> None:
        try:
            client.finish_tool_call(call.call_id, error={"name": type(error).__name__, "value": error.message})
        except errors.AtollError:
            pass


def _described(tool: ToolBase, format: str) -> Json:
    if format == "openai":
        return {"type": "function", "function": {"name": tool.name, "description": tool.description,
                                                 "parameters": dict(tool.input)}}
    if format == "anthropic":
        return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input)}
    if format == "mcp":
        return {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input)}
    raise ValueError(f"format {format!r} is none of openai, anthropic, mcp")
