"""Validates code, runs it in a sandbox with limits, and remembers what happened."""
from __future__ import annotations

import threading
import uuid
from collections import deque
from dataclasses import dataclass, field
from typing import Deque, Dict, List, Mapping, Optional

from ._sync.client import SandboxClient
from ._sync.session import Session
from .errors import NotFoundError
from .infrastructure.history import ExecutionRecord, now
from .models import Execution, Usage
from .resource_monitor import ResourceMonitor
from .security_manager import SecurityManager, SecurityResult

_RECORDS = 10_000


@dataclass(frozen=True)
class ExecutionContext:
    """`env_id` is a prepared environment, which remembers; without one each execution has a fresh sandbox."""

    env_id: Optional[str] = None
    timeout: Optional[float] = None
    env: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Environment:
    env_id: str
    language: str
    session_id: str
    limits: Mapping[str, float]


@dataclass(frozen=True)
class ExecutionResult:
    """`status` is denied where the security manager said no; then nothing ran and `usage` is None."""

    status: str
    stdout: str
    stderr: str
    exit_code: int
    error: str
    security: SecurityResult
    usage: Optional[Usage]
    execution: Optional[Execution]


class ExecutionEngine:
    """Runs code in sessions of a daemon: the one of `client`, else the one that ATOLL_URL names. The limits of
    `resource_monitor` become the sandbox's own, which the kernel enforces. Usable from several threads."""

    def __init__(self, security_manager: SecurityManager, resource_monitor: ResourceMonitor, *,
                 client: Optional[SandboxClient] = None) -> None:
        self.security_manager, self.resource_monitor = security_manager, resource_monitor
        self._client, self._own_client = client or SandboxClient(), client is None
        self._environments: Dict[str, Session] = {}
        self._records: Deque[ExecutionRecord] = deque(maxlen=_RECORDS)
        self._lock = threading.Lock()

    def execute_code(self, code: str, language: str, context: Optional[ExecutionContext] = None) -> ExecutionResult:
        context = context or ExecutionContext()
        security = self.security_manager.validate(code, language)
        if not security.allowed:
            why = "; ".join(one.message for one in security.findings)
            self._remember(ExecutionRecord(now(), language, code, "denied", error=why, metadata=dict(context.metadata)))
            return ExecutionResult("denied", "", "", 126, why, security, None, None)
        env_id = context.env_id or self.prepare_environment(language).env_id
        try:
            done = self._session(env_id).execute(code, language=language, timeout=context.timeout,
                                                 env=context.env or None)
        finally:
            if context.env_id is None:
                self.cleanup_environment(env_id)
        record = ExecutionRecord.from_execution(code, done)
        record.metadata.update(context.metadata)
        if done.usage is not None:
            record.metadata["usage"] = dict(done.usage.raw)
        self._remember(record)
        return ExecutionResult(done.status, done.stdout, done.stderr, done.exit_code, record.error, security,
                               done.usage, done)

    def _remember(self, record: ExecutionRecord) -> None:
        with self._lock:
            self._records.append(record)

    def _session(self, env_id: str) -> Session:
        with self._lock:
            found = self._environments.get(env_id)
        if found is None:
            raise NotFoundError(f"no environment '{env_id}'", code="not_found")
        return found

    def prepare_environment(self, language: str) -> Environment:
        """A sandbox of its own, with the limits that the monitor has for the language."""
        limits = self.resource_monitor.limits_for(language)
        session = self._client.create(limits=limits or None,
                                      metadata={"engine": "ExecutionEngine", "language": language})
        env_id = "env_" + uuid.uuid4().hex[:16]
        with self._lock:
            self._environments[env_id] = session
        return Environment(env_id, language, session.id, limits)

    def cleanup_environment(self, env_id: str) -> bool:
        """Ends it; whether there was one."""
        with self._lock:
            session = self._environments.pop(env_id, None)
        if session is None:
            return False
        session.end()
        return True

    def close(self) -> None:
        """Ends every environment that is left, and closes the client if the engine made it."""
        with self._lock:
            left = list(self._environments)
        for env_id in left:
            self.cleanup_environment(env_id)
        if self._own_client:
            self._client.close()

    def get_execution_history(self, limit: int = 100) -> List[ExecutionRecord]:
        """The newest first, of this engine; it keeps 10,000. The service keeps its own: SandboxClient.history()."""
        with self._lock:
            return list(reversed(self._records))[:max(limit, 0)]
