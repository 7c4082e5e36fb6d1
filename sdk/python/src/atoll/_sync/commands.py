# Made by tools/make_sync.py from _async/commands.py; change that one.
"""Commands and processes of a session."""
from __future__ import annotations

import base64
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Iterator, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

from .. import errors
from .._bridge import Callback, sync_call, sync_closing
from .._wire import Event, given
from ..models import Execution, ProcessInfo, execution_of_exit, parse, parse_list
from .transport import DEFAULT, Transport, Timeout, events, is_event_stream

_LIVE = {"Accept": "text/event-stream"}


class Process:
    """A process in the background. It goes on when this object is closed or forgotten."""

    def __init__(self, transport: Transport, base: str, session_id: str, pid: int) -> None:
        self._transport = transport
        self._base = f"{base}/processes/{pid}"
        self._session_id = session_id
        self._stack: Optional[ExitStack] = None
        self._events: Optional[Iterator[Event]] = None
        self._last: Optional[Dict[str, Any]] = None
        self._out: List[str] = []
        self._err: List[str] = []
        self.pid = pid

    def __repr__(self) -> str:
        return f"{type(self).__name__}(pid={self.pid}, session_id={self._session_id!r})"

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.disconnect()

    def _follow(self, stack: ExitStack, source: Iterator[Event]) -> None:
        self._stack, self._events = stack, source

    def disconnect(self) -> None:
        """Stops reading its output; the process goes on."""
        stack, self._stack, self._events = self._stack, None, None
        if stack is not None:
            stack.close()

    def output(self) -> Iterator[Tuple[str, str]]:
        """("stdout" or "stderr", text) as it comes, until the process ends. Of one that this object does not follow
        yet it begins with what the service still has of its recent output."""
        if self._last is not None:
            return
        if self._events is None:
            with ExitStack() as stack:
                response = stack.enter_context(
                    self._transport.stream("GET", f"{self._base}/attach", params={"replay": True}, timeout=None))
                source = stack.enter_context(sync_closing(events(response)))
                self._follow(stack.pop_all(), source)
        assert self._events is not None
        try:
            for event in self._events:
                if event.name == "exit":
                    self._last = event.data
                    break
                if event.name in ("stdout", "stderr"):
                    text = str(event.data.get("text", ""))
                    (self._out if event.name == "stdout" else self._err).append(text)
                    yield event.name, text
        except errors.ConnectionLostError as error:
            error.hint = f"the process goes on: commands.connect({self.pid})"
            raise
        finally:
            self.disconnect()
        if self._last is None:
            raise errors.ConnectionLostError(f"the output of process {self.pid} ended without its exit",
                                             hint=f"look for it with commands.list() or commands.connect({self.pid})")

    def wait(self, *, on_stdout: Optional[Callback[str]] = None,
                   on_stderr: Optional[Callback[str]] = None) -> Execution:
        """Until it ends; all of its output that this object has read."""
        with sync_closing(self.output()) as output:
            for stream, text in output:
                sync_call(on_stdout if stream == "stdout" else on_stderr, text)
        assert self._last is not None
        return execution_of_exit(self._session_id, "".join(self._out), "".join(self._err), self._last)

    def kill(self) -> None:
        self._transport.call("DELETE", self._base)

    def signal(self, signal: Union[str, int] = "TERM") -> None:
        self._transport.call("POST", f"{self._base}/signal", body={"signal": signal})

    def send_stdin(self, data: Union[str, bytes]) -> None:
        """To its standard input; start it with stdin=True."""
        body = {"text": data} if isinstance(data, str) else {"base64": base64.b64encode(data).decode()}
        self._transport.call("POST", f"{self._base}/stdin", body=body)

    def close_stdin(self) -> None:
        self._transport.call("POST", f"{self._base}/stdin", body={"close": True})


class Commands:
    def __init__(self, transport: Transport, session_id: str, base: str, grace: float) -> None:
        self._transport, self._session_id, self._base, self._grace = transport, session_id, base, grace

    def _wait(self, timeout: Optional[float], request_timeout: Timeout) -> Timeout:
        if request_timeout is not DEFAULT:
            return request_timeout
        return self._grace if timeout is None else timeout + 60

    def run(self, command: Union[str, Sequence[str]], *, cwd: Optional[str] = None,
                  env: Optional[Mapping[str, str]] = None, stdin: Optional[str] = None,
                  timeout: Optional[float] = None, user: Optional[str] = None, tag: Optional[str] = None,
                  on_stdout: Optional[Callback[str]] = None, on_stderr: Optional[Callback[str]] = None,
                  request_timeout: Timeout = DEFAULT) -> Execution:
        """Runs it and waits: a string is a line for the shell, a list is words. A non-zero exit is no exception
        (`Execution.check()` makes it one). With callbacks output comes as it is produced. Giving up (cancelling the
        task, an exception in a callback, request_timeout) ends the command."""
        body = given(command=command if isinstance(command, str) else list(command), cwd=cwd, env=env, stdin=stdin,
                     timeout_seconds=timeout, user=user, tag=tag)
        wait = self._wait(timeout, request_timeout)
        if on_stdout is None and on_stderr is None:
            answer = self._transport.json("POST", f"{self._base}/commands", body=body, timeout=wait)
            return parse(Execution.from_json, answer, "execution")
        out: List[str] = []
        err: List[str] = []
        with self._transport.stream("POST", f"{self._base}/commands", body=body, headers=_LIVE,
                                          timeout=wait) as response:
            if not is_event_stream(response):  # a policy denied it
                response.read()
                return parse(Execution.from_json, response.json(), "execution")
            with sync_closing(events(response)) as source:
                for event in source:
                    if event.name == "exit":
                        return execution_of_exit(self._session_id, "".join(out), "".join(err), event.data)
                    if event.name == "stdout":
                        out.append(str(event.data.get("text", "")))
                        sync_call(on_stdout, out[-1])
                    elif event.name == "stderr":
                        err.append(str(event.data.get("text", "")))
                        sync_call(on_stderr, err[-1])
        raise errors.ConnectionLostError("the output of the command ended without its exit")

    def start(self, command: Union[str, Sequence[str]], *, cwd: Optional[str] = None,
                    env: Optional[Mapping[str, str]] = None, stdin: bool = False, timeout: Optional[float] = None,
                    user: Optional[str] = None, tag: Optional[str] = None, follow: bool = True) -> Process:
        """Starts it in the background. With `follow` its output is kept for wait() and output(), and a process that
        writes much waits until somebody reads; pass follow=False for servers. A command that a policy denies is
        PolicyDeniedError."""
        body = given(command=command if isinstance(command, str) else list(command), cwd=cwd, env=env,
                     stdin=True if stdin else None, timeout_seconds=timeout, user=user, tag=tag, background=True)
        path = f"{self._base}/commands"
        if not follow:
            answer = self._transport.json("POST", path, body=body)
            return Process(self._transport, self._base, self._session_id, started_pid(answer))
        with ExitStack() as stack:
            response = stack.enter_context(
                self._transport.stream("POST", path, body=body, headers=_LIVE, timeout=None))
            if not is_event_stream(response):
                response.read()
                started_pid(response.json())
            source = stack.enter_context(sync_closing(events(response)))
            for event in source:
                process = Process(self._transport, self._base, self._session_id, started_pid(event.data))
                process._follow(stack.pop_all(), source)
                return process
        raise errors.ConnectionLostError("the connection ended before the command was started")

    def list(self) -> List[ProcessInfo]:
        answer = self._transport.json("GET", f"{self._base}/processes")
        return parse_list(ProcessInfo.from_json, answer.get("processes"), "processes")

    def connect(self, pid: int) -> Process:
        """The running process with this id; NotFoundError if there is none."""
        for one in self.list():
            if one.pid == pid:
                return Process(self._transport, self._base, self._session_id, pid)
        raise errors.NotFoundError(f"no process {pid} runs in session {self._session_id}", code="not_found", status=404)


def started_pid(answer: Any) -> int:
    """The process of an answer to a start; an answer without one says that a policy denied it, or that it ended."""
    if isinstance(answer, dict) and isinstance(answer.get("pid"), int):
        return int(answer["pid"])
    ended = parse(Execution.from_json, answer, "execution")
    if ended.status == "denied":
        raise errors.PolicyDeniedError(ended.reason or "a policy denied the command", code="policy_denied", status=403)
    raise errors.ExecutionFailedError(f"the command did not start: {ended.reason or ended.status}", ended)
