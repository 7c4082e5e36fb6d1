"""Records of what was executed."""
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Dict, TypedDict

from ..models import Execution, Record


@dataclass
class ExecutionRecord:
    """One execution. `type` is python, shell or another language; `status` is success, error or another status that
    `Execution` has."""

    timestamp: str
    type: str
    code: str
    status: str
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    traceback: str = ""
    metadata: Dict[str, object] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: ExecutionRecordData) -> ExecutionRecord:
        """From what a caller has, as of now: `command` stands for `code` of a shell, `returncode` goes to metadata and
        decides the status where none is given."""
        metadata = dict(data.get("metadata", {}))
        if "returncode" in data:
            metadata["returncode"] = data["returncode"]
        failed = bool(data.get("error") or data.get("returncode"))
        return cls(timestamp=now(), type=data.get("type", "shell" if "command" in data else "python"),
                   code=data.get("code", data.get("command", "")),
                   status=data.get("status", "error" if failed else "success"),
                   stdout=data.get("stdout", ""), stderr=data.get("stderr", ""), error=data.get("error", ""),
                   traceback=data.get("traceback", ""), metadata=metadata)

    @classmethod
    def from_record(cls, record: Record) -> ExecutionRecord:
        """From the service's history."""
        error = "" if record.error is None else f"{record.error.name}: {record.error.value}"
        return cls(record.timestamp, record.type, record.code, record.status, record.stdout, record.stderr, error,
                   record.traceback, dict(record.metadata))

    @classmethod
    def from_execution(cls, code: str, done: Execution) -> ExecutionRecord:
        error = "" if done.error is None else f"{done.error.name}: {done.error.value}"
        return cls(now(), done.language, code, done.status, done.stdout, done.stderr, error or done.reason or "",
                   "" if done.error is None else done.error.traceback,
                   {"returncode": done.exit_code, "record_id": done.record_id, "session_id": done.session_id,
                    "duration_ms": done.duration_ms})


class ExecutionRecordData(TypedDict, total=False):
    type: str
    code: str
    command: str
    status: str
    stdout: str
    stderr: str
    error: str
    traceback: str
    returncode: int
    metadata: Dict[str, object]


def now() -> str:
    return datetime.now(timezone.utc).isoformat()
