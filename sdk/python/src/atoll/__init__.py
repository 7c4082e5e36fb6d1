"""Client of Atoll: stateful sandboxes for AI agents.

    from atoll import SandboxClient

    with SandboxClient() as client, client.create() as session:
        session.execute("x = 6 * 7")
        print(session.execute("print(x)").stdout)
"""
from __future__ import annotations

from . import errors, models
from ._async.client import AsyncSandboxClient
from ._async.commands import AsyncProcess
from ._async.pty import AsyncPty
from ._async.session import AsyncSession
from ._sync.client import SandboxClient
from ._sync.commands import Process
from ._sync.pty import Pty
from ._sync.session import Session
from .errors import AtollError, ServiceError
from .models import Execution, FileInfo, GuestError, Record, Result, SessionInfo, Snapshot, Usage, Verdict

__version__ = "0.1.0"

__all__ = [
    "AsyncProcess", "AsyncPty", "AsyncSandboxClient", "AsyncSession", "AtollError", "Execution", "FileInfo",
    "GuestError", "Process", "Pty", "Record", "Result", "SandboxClient", "ServiceError", "Session", "SessionInfo",
    "Snapshot", "Usage", "Verdict", "errors", "models",
]
