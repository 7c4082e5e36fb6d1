"""A directory for each agent, and records of what was executed."""
from __future__ import annotations

from .history import ExecutionRecord, ExecutionRecordData
from .sandbox import Sandbox

__all__ = ["ExecutionRecord", "ExecutionRecordData", "Sandbox"]
