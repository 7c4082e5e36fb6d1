# Made by tools/make_sync.py from _async/session.py; change that one.
"""A session: the stateful record that owns a sandbox."""
from __future__ import annotations

from types import TracebackType
from typing import Any, Iterator, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

from .. import errors
from .._bridge import Callback, sync_call, sync_closing, sync_shield
from .._wire import QueryValue, given, quoted
from ..models import (Artifact, Context, Execution, Record, Result, Sample, SessionInfo, Snapshot, ToolProgress,
                      ToolResult, Usage, parse, parse_list)
from .commands import Commands
from .files import Files
from .pty import Ptys
from .transport import DEFAULT, Transport, Timeout, events, is_event_stream

# Beyond the time that the service gives to guest code: to start, to queue, to store the record.
_GRACE = 60.0


class Contexts:
    """The stateful interpreters of a session."""

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport, self._base = transport, f"{base}/contexts"

    def create(self, *, language: Optional[str] = None, cwd: Optional[str] = None) -> Context:
        answer = self._transport.json("POST", self._base, body=given(language=language, cwd=cwd))
        return parse(Context.from_json, answer, "context")

    def list(self) -> List[Context]:
        answer = self._transport.json("GET", self._base)
        return parse_list(Context.from_json, answer.get("contexts"), "contexts")

    def remove(self, context: str) -> None:
        self._transport.call("DELETE", f"{self._base}/{quoted(context)}")

    def restart(self, context: str) -> None:
        """Starts it afresh under the same id."""
        self._transport.call("POST", f"{self._base}/{quoted(context)}/restart")

    def interrupt(self, context: str) -> None:
        """As Ctrl-C: what it runs ends with status interrupted or error."""
        self._transport.call("POST", f"{self._base}/{quoted(context)}/interrupt")


class Session:
    """Usable by several threads or tasks at once. As a context manager it ends its session when the block is left,
    also by an exception or a cancellation, unless keep() was called."""

    def __init__(self, transport: Transport, info: SessionInfo) -> None:
        self._transport = transport
        self._info = info
        self._kept = False
        self._base = f"/api/sessions/{info.session_id}"
        longest = info.limits.get("execution_time_seconds", 0)
        wait = max([longest, *info.limits.get("execution_time_by_language", {}).values()]) + _GRACE
        self._wait = float(wait)
        self.commands = Commands(transport, info.session_id, self._base, self._wait)
        self.files = Files(transport, self._base)
        self.contexts = Contexts(transport, self._base)
        self.pty = Ptys(transport, self._base)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, state={self._info.state!r}, provider={self._info.provider!r})"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if self._kept:
            return
        with sync_shield():
            try:
                self.end()
            except errors.AtollError:
                # The block's own exception says more; without one, that the session goes on must not be silent.
                if error is None:
                    raise

    @property
    def id(self) -> str:
        return self._info.session_id

    @property
    def sandbox_id(self) -> str:
        return self._info.sandbox_id

    @property
    def info(self) -> SessionInfo:
        """As of the last call that told it; refresh() asks again."""
        return self._info

    @property
    def state(self) -> str:
        return self._info.state

    def keep(self) -> Session:
        """Leaving the block does not end it: it goes on until its time to live is over."""
        self._kept = True
        return self

    def port_url(self, port: int) -> str:
        """The address of a server inside that listens on this port."""
        return self._info.url.replace("{port}", str(port))

    def _told(self, answer: Any) -> SessionInfo:
        self._info = parse(SessionInfo.from_json, answer, "session")
        return self._info

    def refresh(self) -> SessionInfo:
        return self._told(self._transport.json("GET", self._base))

    def update(self, *, metadata: Optional[Mapping[str, str]] = None, ttl_seconds: Optional[float] = None,
                     extend_on_use: Optional[bool] = None, on_expiry: Optional[str] = None,
                     auto_resume: Optional[bool] = None, env: Optional[Mapping[str, str]] = None) -> SessionInfo:
        body = given(metadata=metadata, ttl_seconds=ttl_seconds, extend_on_use=extend_on_use, on_expiry=on_expiry,
                     auto_resume=auto_resume, env=env)
        return self._told(self._transport.json("PATCH", self._base, body=body))

    def end(self, sandbox_id: Optional[str] = None) -> SessionInfo:
        """Ends it; harmless for one that has ended. Its record and history stay readable. With a sandbox's id the
        service refuses if the session has another."""
        return self._told(self._transport.json("DELETE", self._base, params={"sandbox_id": sandbox_id}))

    def pause(self, *, to: Optional[str] = None, force: Optional[bool] = None) -> SessionInfo:
        """Freezes its processes (`to="memory"`), or writes it to the disk and frees its memory (`to="disk"`)."""
        return self._told(self._transport.json("POST", f"{self._base}/pause", body=given(to=to, force=force)))

    def resume(self, *, ttl_seconds: Optional[float] = None) -> SessionInfo:
        return self._told(self._transport.json("POST", f"{self._base}/resume",
                                                     body=given(ttl_seconds=ttl_seconds)))

    def snapshot(self, name: Optional[str] = None) -> Snapshot:
        """Stores its files; `create(snapshot=...)` and restore() bring them back."""
        answer = self._transport.json("POST", f"{self._base}/snapshots", body=given(name=name),
                                            timeout=self._wait)
        return parse(Snapshot.from_json, answer, "snapshot")

    def snapshots(self) -> Iterator[Snapshot]:
        for one in pages(self._transport, f"{self._base}/snapshots", "snapshots", {}, None):
            yield parse(Snapshot.from_json, one, "snapshot")

    def restore(self, snapshot: Union[str, Snapshot]) -> SessionInfo:
        wanted = snapshot if isinstance(snapshot, str) else snapshot.snapshot_id
        return self._told(self._transport.json("POST", f"{self._base}/restore", body={"snapshot_id": wanted},
                                                     timeout=self._wait))

    def fork(self, *, kernels: Optional[str] = None, metadata: Optional[Mapping[str, str]] = None,
                   ttl_seconds: Optional[float] = None, env: Optional[Mapping[str, str]] = None) -> Session:
        """A new session with a copy of its files and of its idle Python interpreters. `kernels` is carry (what can
        be), require (all or an error) or fresh (files only); `info.left_behind` names what was not carried."""
        sessions, failures = self.fork_many(1, kernels=kernels, metadata=metadata, ttl_seconds=ttl_seconds,
                                                  env=env)
        if not sessions:
            raise failures[0]
        return sessions[0]

    def fork_many(self, count: int, *, kernels: Optional[str] = None,
                        metadata: Optional[Mapping[str, str]] = None, ttl_seconds: Optional[float] = None,
                        env: Optional[Mapping[str, str]] = None
                        ) -> Tuple[List[Session], List[errors.AtollError]]:
        """Several at once: those that came about, and the errors of the others."""
        body = given(count=count, kernels=kernels, metadata=metadata, ttl_seconds=ttl_seconds, env=env)
        answer = self._transport.json("POST", f"{self._base}/fork", body=body, timeout=self._wait)
        sessions: List[Session] = []
        failures: List[errors.AtollError] = []
        for copy in answer.get("fork", {}).get("copies", []):
            if "session" in copy:
                sessions.append(Session(self._transport, parse(SessionInfo.from_json, copy["session"], "session")))
            else:
                failures.append(errors.from_answer(0, copy))
        return sessions, failures

    def execute(self, code: str, *, language: Optional[str] = None, context: Union[str, Context, None] = None,
                      timeout: Optional[float] = None, stateless: bool = False,
                      env: Optional[Mapping[str, str]] = None, on_stdout: Optional[Callback[str]] = None,
                      on_stderr: Optional[Callback[str]] = None,
                      on_result: Optional[Callback[Result]] = None,
                      request_timeout: Timeout = DEFAULT) -> Execution:
        """Runs code in an interpreter that remembers. What the code did (an exception, a time-out, a policy's no) is
        the answer's `status` and no exception of this call. With callbacks output comes as it is produced. Giving up
        (cancelling the task, an exception in a callback, request_timeout) ends the execution."""
        body = given(code=code, language=language, context=context.id if isinstance(context, Context) else context,
                     timeout_seconds=timeout, stateless=stateless or None, env=env)
        wait = request_timeout
        if wait is DEFAULT:
            wait = self._wait if timeout is None else timeout + _GRACE
        path = f"{self._base}/execute"
        if on_stdout is None and on_stderr is None and on_result is None:
            return parse(Execution.from_json, self._transport.json("POST", path, body=body, timeout=wait),
                         "execution")
        with self._transport.stream("POST", path, body=body, headers={"Accept": "text/event-stream"},
                                          timeout=wait) as response:
            if not is_event_stream(response):
                response.read()
                return parse(Execution.from_json, response.json(), "execution")
            with sync_closing(events(response)) as source:
                for event in source:
                    if event.name == "done":
                        return parse(Execution.from_json, event.data, "execution")
                    if event.name == "stdout":
                        sync_call(on_stdout, str(event.data.get("text", "")))
                    elif event.name == "stderr":
                        sync_call(on_stderr, str(event.data.get("text", "")))
                    elif event.name == "result":
                        sync_call(on_result, parse(Result.from_json, event.data, "result"))
        raise errors.ConnectionLostError("the output of the execution ended without its end")

    def history(self, *, status: Optional[Sequence[str]] = None, text: Optional[str] = None,
                      since: Optional[str] = None, until: Optional[str] = None, order: str = "asc",
                      limit: Optional[int] = None) -> Iterator[Record]:
        """What was run in it, oldest first unless `order` is desc; at most `limit` records."""
        values = history_query(status, text, since, until, order)
        for one in pages(self._transport, f"{self._base}/history", "records", values, limit):
            yield parse(Record.from_json, one, "record")

    def tool(self, name: str, input: Optional[Mapping[str, Any]] = None, *,
                   timeout_seconds: Optional[float] = None,
                   on_progress: Optional[Callback[ToolProgress]] = None,
                   on_stdout: Optional[Callback[str]] = None,
                   on_stderr: Optional[Callback[str]] = None) -> ToolResult:
        """Calls a tool inside the sandbox. Input that its schema refuses raises InvalidArgumentError, a tool that the
        session's agent does not have PermissionDeniedError; what the tool itself does wrong is in the result. With a
        callback, it is told of progress and output while the tool runs."""
        wait = max(self._wait, (timeout_seconds or 0) + _GRACE)
        path = f"{self._base}/tools/{quoted(name)}"
        body = given(input=dict(input or {}), timeout_seconds=timeout_seconds)
        if on_progress is None and on_stdout is None and on_stderr is None:
            answer = self._transport.json("POST", path, timeout=wait, body=body)
            return parse(ToolResult.from_json, answer, "result of a tool")
        with self._transport.stream("POST", path, body=body, headers={"Accept": "text/event-stream"},
                                          timeout=wait) as response:
            with sync_closing(events(response)) as source:
                for event in source:
                    if event.name == "done":
                        return parse(ToolResult.from_json, event.data, "result of a tool")
                    if event.name == "error":
                        raise errors.from_answer(500, event.data)
                    if event.name == "progress":
                        sync_call(on_progress, parse(ToolProgress.from_json, event.data, "progress"))
                    elif event.name == "stdout":
                        sync_call(on_stdout, str(event.data.get("text", "")))
                    elif event.name == "stderr":
                        sync_call(on_stderr, str(event.data.get("text", "")))
        raise errors.ConnectionLostError("the events of the tool ended without its end")

    def tools(self, *, format: Optional[str] = None) -> List[Dict[str, Any]]:
        """The tools that this session may call; `format` is openai, anthropic or mcp for a model's API."""
        return list((self._transport.json("GET", f"{self._base}/tools", params={"format": format}))["tools"])

    def artifacts(self) -> List[Artifact]:
        answer = self._transport.json("GET", f"{self._base}/artifacts")
        return parse_list(Artifact.from_json, answer.get("artifacts"), "artifacts")

    def skills(self) -> List[Dict[str, Any]]:
        """Skills that this session was given; in its working directory they are `path` of each."""
        return list((self._transport.json("GET", f"{self._base}/skills"))["skills"])

    def list_skills(self) -> List[Dict[str, Any]]:
        """The same as skills()."""
        return self.skills()

    def skills_text(self) -> str:
        """The same as a text for a model: what each is for, and how its instructions are read."""
        return (self._transport.call("GET", f"{self._base}/skills", params={"format": "text"})).text

    def usage(self) -> Usage:
        return parse(Usage.from_json, self._transport.json("GET", f"{self._base}/usage"), "usage")

    def metrics(self) -> List[Sample]:
        answer = self._transport.json("GET", f"{self._base}/metrics")
        return parse_list(Sample.from_json, answer.get("samples"), "samples")

    def ports(self) -> List[int]:
        answer = self._transport.json("GET", f"{self._base}/ports")
        return [int(port) for port in answer.get("ports", [])]

    def network(self) -> Dict[str, Any]:
        """What programs inside may reach, and what they tried."""
        return dict(self._transport.json("GET", f"{self._base}/network"))

    def set_network(self, rules: Mapping[str, Any]) -> Dict[str, Any]:
        """Replaces the rules; connections that are no longer allowed are cut."""
        return dict(self._transport.json("PUT", f"{self._base}/network", body=dict(rules)))


def history_query(status: Optional[Sequence[str]], text: Optional[str], since: Optional[str], until: Optional[str],
                  order: str) -> Dict[str, QueryValue]:
    return {"status": None if status is None else list(status), "text": text, "from": since, "to": until,
            "order": order}


def pages(transport: Transport, path: str, name: str, values: Mapping[str, QueryValue],
                limit: Optional[int]) -> Iterator[Any]:
    """All entries of a list that the service gives in pages."""
    left, cursor = limit, None
    while left is None or left > 0:
        size = 100 if left is None else min(left, 100)
        answer = transport.json("GET", path, params={**values, "limit": size, "cursor": cursor})
        entries = answer.get(name) if isinstance(answer, dict) else None
        if not isinstance(entries, list):
            raise errors.ProtocolError(f"{path}: a page without '{name}'")
        for entry in entries:
            yield entry
        left = None if left is None else left - len(entries)
        cursor = answer.get("next_cursor")
        if not cursor:
            return
