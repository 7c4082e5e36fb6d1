"""Sessions from start to stop, under the names of the session service's design, over a daemon."""
from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Union

from ._sync.client import SandboxClient
from ._sync.session import Session
from .errors import InvalidArgumentError
from .models import Execution

Facts = Dict[str, str]


class SandboxManager:
    """Starts sandboxes and runs code in them. `session_id` is one that start_sandbox() was given, or the service's."""

    def __init__(self, client: SandboxClient) -> None:
        self._client = client
        self._sessions: Dict[str, Session] = {}

    def start_sandbox(self, session_id: Optional[str], environment: Optional[str] = None,
                      provider: Optional[str] = None, *, metadata: Optional[Mapping[str, str]] = None) -> Facts:
        """A running sandbox for a session; the service gives the id where `session_id` is None.

        The provider "e2b" means an E2B-compatible service, and the daemon is one: where it has no provider of that
        name, its default is taken, and `provider` of the answer says which that is. Any other name that the daemon
        does not have is InvalidArgumentError."""
        wanted = provider
        if provider == "e2b":
            working = [one["name"] for one in self._client.capabilities()["providers"] if one.get("available", True)]
            wanted = "e2b" if "e2b" in working else None
        if session_id is not None and session_id in self._sessions:
            raise InvalidArgumentError(f"session {session_id} has a sandbox", code="invalid_argument",
                                       field="session_id")
        known = {} if session_id is None else {"session_id": session_id}
        session = self._client.create(provider=wanted, environment=environment, metadata={**(metadata or {}), **known})
        name = session_id or session.id
        self._sessions[name] = session
        return {"session_id": name, "sandbox_id": session.sandbox_id, "provider": session.info.provider,
                "url": session.info.url}

    def session(self, session_id: str) -> Session:
        return self._sessions.get(session_id) or self._client.get(session_id)

    def execute_code(self, session_id: str, code: str, *, language: Optional[str] = None,
                     timeout: Optional[float] = None) -> Execution:
        return self.session(session_id).execute(code, language=language, timeout=timeout)

    def stop_sandbox(self, session_id: str, sandbox_id: Optional[str] = None) -> None:
        """Ends it; harmless for one that has ended. A sandbox of another session is refused."""
        self.session(session_id).end(sandbox_id)
        self._sessions.pop(session_id, None)


class Lifecycle:
    """`storage_path` gets a JSON file for each session and the artifacts of those that were stopped; `runtime_path` is
    made and left to the caller, because running state is the daemon's. The daemon is the one that ATOLL_URL names. The
    key is ATOLL_API_KEY's, else `e2b_api_key`: keys of Atoll and of E2B's clients are the same."""

    def __init__(self, storage_path: Union[str, Path] = "./storage",
                 runtime_path: Union[str, Path] = "./sandbox_runtime", e2b_api_key: Optional[str] = None, *,
                 client: Optional[SandboxClient] = None) -> None:
        self.storage_path, self.runtime_path = Path(storage_path), Path(runtime_path)
        key = os.environ.get("ATOLL_API_KEY") or e2b_api_key
        self.client = client or SandboxClient(api_key=key)
        self.sandbox_mgr = SandboxManager(self.client)
        for directory in (self.storage_path / "sessions", self.storage_path / "artifacts", self.runtime_path):
            directory.mkdir(parents=True, exist_ok=True)

    def close(self) -> None:
        """Closes its connections. Sessions go on."""
        self.client.close()

    def start(self, agent_config: Optional[Mapping[str, Any]] = None, environment: Optional[str] = None,
              provider: Optional[str] = None) -> Facts:
        """A running session: session_id, sandbox_id, provider, url."""
        metadata = {"agent_config": json.dumps(dict(agent_config))} if agent_config else {}
        facts = self.sandbox_mgr.start_sandbox(None, environment, provider, metadata=metadata)
        self._note(facts["session_id"], {**facts, "environment": environment, "agent_config": dict(agent_config or {}),
                                         "state": "running"})
        return facts

    def stop(self, session_id: str, sandbox_id: Optional[str] = None) -> None:
        """Keeps its artifacts below storage_path and ends it."""
        session = self.sandbox_mgr.session(session_id)
        artifacts = []
        for one in session.artifacts():
            # A sandbox chooses its files' names; the digest is ours.
            name = f"{one.digest[-16:]}-{re.sub(r'[^A-Za-z0-9._-]', '_', one.path)[-100:]}"
            target = self.storage_path / "artifacts" / session_id / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.client.artifact(one.digest))
            artifacts.append({"path": one.path, "file": str(target)})
        self.sandbox_mgr.stop_sandbox(session_id, sandbox_id)
        self._note(session_id, {"state": session.state, "artifacts": artifacts})

    def _note(self, session_id: str, facts: Mapping[str, Any]) -> None:
        path = self.storage_path / "sessions" / f"{session_id}.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps({**known, **facts}, indent=2) + "\n", encoding="utf-8")
        draft.replace(path)
