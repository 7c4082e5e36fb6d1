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
from .config import ConfigManager, ConfigValue
from .errors import AtollError, ServiceError
from .execution_engine import Environment, ExecutionContext, ExecutionEngine, ExecutionResult
from .infrastructure import ExecutionRecord, ExecutionRecordData, Sandbox
from .lifecycle import Lifecycle, SandboxManager
from .models import (Execution, FileInfo, GuestError, Record, Result, SessionInfo, Snapshot, ToolCall, ToolProgress,
                     ToolResult, Usage, Verdict)
from .resource_monitor import LimitStatus, MonitoringSession, PerformanceMetrics, ResourceMonitor, ResourceUsage
from .security_manager import RiskLevel, SecurityManager, SecurityResult
from .tools import ToolBase, ToolRegistry

__version__ = "0.1.0"

__all__ = [
    "AsyncProcess", "AsyncPty", "AsyncSandboxClient", "AsyncSession", "AtollError", "ConfigManager", "ConfigValue",
    "Environment", "Execution", "ExecutionContext", "ExecutionEngine", "ExecutionRecord", "ExecutionRecordData",
    "ExecutionResult", "FileInfo", "GuestError", "Lifecycle", "LimitStatus", "MonitoringSession",
    "PerformanceMetrics", "Process", "Pty", "Record", "ResourceMonitor", "ResourceUsage", "Result", "RiskLevel",
    "Sandbox", "SandboxClient", "SandboxManager", "SecurityManager", "SecurityResult", "ServiceError", "Session",
    "SessionInfo", "Snapshot", "ToolBase", "ToolCall", "ToolProgress", "ToolRegistry", "ToolResult", "Usage", "Verdict",
    "errors", "models",
]
