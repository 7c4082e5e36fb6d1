"""What the service answers, as frozen dataclasses. Fields that a newer service adds stay readable in `raw`."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, TypeVar

from .errors import ExecutionFailedError, ProtocolError

Json = Dict[str, Any]
T = TypeVar("T")


def _object(value: Any, what: str) -> Json:
    if not isinstance(value, dict):
        raise ProtocolError(f"{what} is no object")
    return value


def parse(kind: Callable[[Json], T], value: Any, what: str) -> T:
    """Reads an answer; one that lacks a field is a ProtocolError and never a KeyError."""
    try:
        return kind(_object(value, what))
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError(f"{what}: {type(error).__name__}: {error}") from None


def parse_list(kind: Callable[[Json], T], value: Any, what: str) -> List[T]:
    if not isinstance(value, list):
        raise ProtocolError(f"{what} is no list")
    return [parse(kind, one, what) for one in value]


@dataclass(frozen=True)
class Usage:
    """What was consumed. Zero where the provider does not count it."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    memory_peak_bytes: int
    disk_bytes: int
    processes: int
    output_bytes: int
    raw: Json = field(repr=False, compare=False, default_factory=dict)

    @classmethod
    def from_json(cls, data: Json) -> Usage:
        return cls(data["cpu_seconds"], data["wall_seconds"], data["memory_bytes"], data["memory_peak_bytes"],
                   data["disk_bytes"], data["processes"], data["output_bytes"], data)


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered. `output` is None unless `status` is success."""

    status: str
    output: Any
    record_id: str
    error: Optional[Json]
    cached: bool
    duration_ms: float
    raw: Json = field(repr=False, compare=False, default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.status == "success"

    @classmethod
    def from_json(cls, data: Json) -> ToolResult:
        return cls(data["status"], data["output"], data["record_id"], data["error"], data["cached"],
                   data["duration_ms"], data)


@dataclass(frozen=True)
class ToolProgress:
    """How far a running tool is: `progress` of `total`, if it knows how much there is."""

    progress: float
    total: Optional[float]
    message: Optional[str]

    @classmethod
    def from_json(cls, data: Json) -> ToolProgress:
        return cls(data["progress"], data["total"], data["message"])


@dataclass(frozen=True)
class ToolCall:
    """A call that this process has taken and will answer (SandboxClient.next_tool_call)."""

    call_id: str
    tool: str
    session_id: str
    input: Any
    deadline_at: str

    @classmethod
    def from_json(cls, data: Json) -> ToolCall:
        return cls(data["call_id"], data["tool"], data["session_id"], data["input"], data["deadline_at"])


@dataclass(frozen=True)
class Sample:
    at: str
    cpu_percent: float
    usage: Usage

    @classmethod
    def from_json(cls, data: Json) -> Sample:
        return cls(data["at"], data["cpu_percent"], parse(Usage.from_json, data["usage"], "usage"))


@dataclass(frozen=True)
class Finding:
    """One reason of a verdict."""

    rule: str
    severity: str
    message: str
    line: int
    column: int
    excerpt: str
    recommendation: str

    @classmethod
    def from_json(cls, data: Json) -> Finding:
        return cls(data["rule"], data["severity"], data["message"], data.get("line", 0), data.get("column", 0),
                   data.get("excerpt", ""), data.get("recommendation", ""))


@dataclass(frozen=True)
class Verdict:
    """What a policy says of one piece of code."""

    allowed: bool
    language: str
    policy: str
    risk: str
    risk_score: int
    findings: List[Finding]
    notes: List[Finding]
    imports: List[str]
    raw: Json = field(repr=False, compare=False, default_factory=dict)

    @classmethod
    def from_json(cls, data: Json) -> Verdict:
        return cls(data["allowed"], data["language"], data["policy"], data["risk"]["level"], data["risk"]["score"],
                   parse_list(Finding.from_json, data["findings"], "findings"),
                   parse_list(Finding.from_json, data["notes"], "notes"), [one["name"] for one in data["imports"]],
                   data)


@dataclass(frozen=True)
class GuestError:
    """The exception that guest code raised."""

    name: str
    value: str
    traceback: str

    @classmethod
    def from_json(cls, data: Json) -> GuestError:
        return cls(data["name"], data["value"], data["traceback"])


@dataclass(frozen=True)
class Result:
    """A value that code showed: its forms by media type."""

    data: Mapping[str, str]
    is_main: bool

    @classmethod
    def from_json(cls, data: Json) -> Result:
        return cls(dict(data["data"]), data["is_main"])

    @property
    def text(self) -> Optional[str]:
        return self.data.get("text/plain")


@dataclass(frozen=True)
class Artifact:
    path: str
    digest: str
    size_bytes: int
    media_type: str
    created_at: str
    record_id: str
    url: str

    @classmethod
    def from_json(cls, data: Json) -> Artifact:
        return cls(data["path"], data["digest"], data["size_bytes"], data["media_type"], data["created_at"],
                   data["record_id"], data["url"])


@dataclass(frozen=True)
class Execution:
    """How code or a command ended.

    `status` is success, error, denied, timeout, killed, oom or interrupted. `error` is the exception that code raised,
    None for commands. `record_id` is empty for a command whose output was streamed: the service does not tell it there.
    """

    status: str
    stdout: str
    stderr: str
    exit_code: int
    results: List[Result]
    error: Optional[GuestError]
    reason: Optional[str]
    language: str
    context: Optional[str]
    duration_ms: float
    record_id: str
    session_id: str
    usage: Optional[Usage]
    verdict: Optional[Verdict]
    artifacts: List[Artifact]
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    execution_count: int = 0
    interpreter_restarted: Optional[str] = None

    @classmethod
    def from_json(cls, data: Json) -> Execution:
        error, verdict = data["error"], data["verdict"]
        return cls(
            status=data["status"], stdout=data["stdout"], stderr=data["stderr"], exit_code=data["exit_code"],
            results=parse_list(Result.from_json, data.get("results", []), "results"),
            error=None if error is None else parse(GuestError.from_json, error, "error"), reason=data["reason"],
            language=data["language"], context=data["context"], duration_ms=data["duration_ms"],
            record_id=data["record_id"], session_id=data["session_id"],
            usage=parse(Usage.from_json, data["usage"], "usage"),
            verdict=None if verdict is None else parse(Verdict.from_json, verdict, "verdict"),
            artifacts=parse_list(Artifact.from_json, data["artifacts"], "artifacts"),
            stdout_truncated=data["stdout_truncated"], stderr_truncated=data["stderr_truncated"],
            execution_count=data["execution_count"], interpreter_restarted=data["interpreter_restarted"])

    def __getitem__(self, name: str) -> Any:
        """The same fields by name, as the REST answer has them."""
        if name not in self.__dataclass_fields__:
            raise KeyError(name)
        return getattr(self, name)

    @property
    def ok(self) -> bool:
        return self.status == "success"

    @property
    def text(self) -> Optional[str]:
        """The value of the last expression as text."""
        for result in self.results:
            if result.is_main:
                return result.text
        return None

    def check(self) -> Execution:
        """Itself if it succeeded, else ExecutionFailedError."""
        if self.ok:
            return self
        why = f"{self.error.name}: {self.error.value}" if self.error else self.reason or f"exit code {self.exit_code}"
        raise ExecutionFailedError(f"{self.status}: {why}", self)


# The service's words for how a process ended, as the status that history gives them.
_STATUS_OF_ENDING = {"timed_out": "timeout", "out_of_memory": "oom", "signaled": "error"}


def execution_of_exit(session_id: str, stdout: str, stderr: str, last: Json) -> Execution:
    """What a streamed command came to, from its output and its last event."""
    usage = parse(Usage.from_json, last["usage"], "usage")
    ending, exit_code = str(last["ending"]), int(last["exit_code"])
    status = _STATUS_OF_ENDING.get(ending, "killed")
    if ending == "exited":
        status = "success" if exit_code == 0 else "error"
    return Execution(status=status, stdout=stdout, stderr=stderr, exit_code=exit_code, results=[], error=None,
                     reason=last["reason"] or None, language="shell", context=None,
                     duration_ms=usage.wall_seconds * 1000, record_id="", session_id=session_id, usage=usage,
                     verdict=None, artifacts=[])


@dataclass(frozen=True)
class Record:
    """One line of history."""

    record_id: str
    session_id: str
    timestamp: str
    finished_at: Optional[str]
    kind: str
    type: str
    code: str
    status: str
    stdout: str
    stderr: str
    error: Optional[GuestError]
    traceback: str
    exit_code: int
    metadata: Mapping[str, Any]
    raw: Json = field(repr=False, compare=False, default_factory=dict)

    @classmethod
    def from_json(cls, data: Json) -> Record:
        error = data["error"]
        return cls(data["record_id"], data["session_id"], data["timestamp"], data["finished_at"], data["kind"],
                   data["type"], data["code"], data["status"], data["stdout"], data["stderr"],
                   None if error is None else parse(GuestError.from_json, error, "error"), data["traceback"],
                   data["exit_code"], dict(data["metadata"]), data)


@dataclass(frozen=True)
class SessionInfo:
    """The service's record of a session, as of when it was asked."""

    session_id: str
    sandbox_id: str
    provider: str
    environment: str
    agent: Optional[str]
    policy: str
    url: str
    state: str
    reason: Optional[str]
    created_at: str
    expires_at: Optional[str]
    ended_at: Optional[str]
    ttl_seconds: float
    metadata: Mapping[str, str]
    limits: Mapping[str, Any]
    parent: Optional[str]
    snapshot: Optional[str]
    on_disk: bool
    left_behind: List[str]
    # Secrets of the session: kept out of repr, so that they stay out of logs.
    access_token: Optional[str] = field(repr=False, default=None)
    traffic_token: Optional[str] = field(repr=False, default=None)
    raw: Json = field(repr=False, compare=False, default_factory=dict)

    @classmethod
    def from_json(cls, data: Json) -> SessionInfo:
        return cls(data["session_id"], data["sandbox_id"], data["provider"], data["environment"], data["agent"],
                   data["policy"], data["url"], data["state"], data["reason"], data["created_at"],
                   data["expires_at"], data["ended_at"], data["ttl_seconds"], dict(data["metadata"]),
                   dict(data["limits"]), data["parent"], data["snapshot"], data["on_disk"],
                   list(data["left_behind"]), data["access_token"], data["traffic_token"], data)


@dataclass(frozen=True)
class Snapshot:
    snapshot_id: str
    name: Optional[str]
    session_id: str
    provider: str
    environment: str
    created_at: str
    size_bytes: int

    @classmethod
    def from_json(cls, data: Json) -> Snapshot:
        return cls(data["snapshot_id"], data["name"], data["session_id"], data["provider"], data["environment"],
                   data["created_at"], data["size_bytes"])


@dataclass(frozen=True)
class Context:
    """A stateful interpreter inside a session."""

    id: str
    language: str
    cwd: str

    @classmethod
    def from_json(cls, data: Json) -> Context:
        return cls(data["id"], data["language"], data["cwd"])


@dataclass(frozen=True)
class ProcessInfo:
    pid: int
    tag: str
    argv: List[str]
    cwd: str
    user: str
    pty: bool
    started_at: str

    @classmethod
    def from_json(cls, data: Json) -> ProcessInfo:
        return cls(data["pid"], data["tag"], list(data["argv"]), data["cwd"], data["user"], data["pty"],
                   data["started_at"])


@dataclass(frozen=True)
class FileInfo:
    """`type` is file, directory, symlink, other or unknown; `mode` is octal text; `target` is a link's."""

    name: str
    path: str
    type: str
    size: int
    mode: str
    owner: str
    group: str
    modified_at: str
    target: Optional[str] = None

    @classmethod
    def from_json(cls, data: Json) -> FileInfo:
        return cls(data["name"], data["path"], data["type"], data["size"], data["mode"], data["owner"],
                   data["group"], data["modified_at"], data.get("target"))


@dataclass(frozen=True)
class Unpacked:
    """How an archive was unpacked; links, devices and names that climb are skipped and counted."""

    path: str
    files: int
    directories: int
    skipped: int

    @classmethod
    def from_json(cls, data: Json) -> Unpacked:
        return cls(data["path"], data["files"], data["directories"], data["skipped"])


@dataclass(frozen=True)
class FileEvent:
    """A change below a watched directory: create, write, remove, rename or chmod."""

    type: str
    name: str


@dataclass(frozen=True)
class PtyExit:
    ending: str
    exit_code: int
    reason: str

    @classmethod
    def from_json(cls, data: Json) -> PtyExit:
        return cls(data["ending"], data["exit_code"], data["reason"])
