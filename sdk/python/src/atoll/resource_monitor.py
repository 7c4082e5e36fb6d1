"""Watches processes of this machine through /proc and ends those that take too much.

The limits of a sandbox are enforced by the kernel, whoever watches; this is for processes outside of one."""
from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from .errors import ConfigurationError, NotFoundError

_KNOWN = ("memory_mb", "cpu_cores", "execution_time_seconds", "max_processes", "disk_mb")
_MIB = 1 << 20
Member = Tuple[int, int]  # process id and start time: a number alone may be given to another process


@dataclass(frozen=True)
class MonitoringSession:
    session_id: str
    process_id: int
    started_at: float
    limits: Mapping[str, float]


@dataclass(frozen=True)
class ResourceUsage:
    """Of a process and all that came from it. `cpu_cores` is the use since the look before; `disk_mb` what was
    written to disks, 0 where this user may not know it."""

    cpu_cores: float
    cpu_seconds: float
    memory_mb: float
    disk_mb: float
    processes: int
    elapsed_seconds: float
    running: bool


@dataclass(frozen=True)
class LimitStatus:
    within_limits: bool
    exceeded: List[str]
    usage: ResourceUsage


@dataclass(frozen=True)
class PerformanceMetrics:
    samples: int
    elapsed_seconds: float
    cpu_seconds: float
    cpu_cores_average: float
    memory_mb_peak: float
    processes_peak: int
    disk_mb: float
    terminated: bool


@dataclass
class _Watched:
    session: MonitoringSession
    root: Member
    members: Set[Member]
    # What members that have ended had used when they were last seen.
    cpu_of: Dict[Member, float] = field(default_factory=dict)
    disk_of: Dict[Member, float] = field(default_factory=dict)
    last: Optional[Tuple[float, float]] = None
    samples: int = 0
    memory_peak: float = 0
    processes_peak: int = 0
    terminated: bool = False


@dataclass(frozen=True)
class _Stat:
    parent: int
    state: str
    start: int
    cpu_seconds: float
    memory_mb: float


# Where there is no /proc this module can be imported, and start_monitoring() finds no process.
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def _stat(pid: int) -> Optional[_Stat]:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as source:
            # The name may hold spaces and brackets; what follows the last bracket does not.
            words = source.read().rpartition(")")[2].split()
    except OSError:
        return None
    cpu = (int(words[11]) + int(words[12])) / _TICKS
    return _Stat(int(words[1]), words[0], int(words[19]), cpu, int(words[21]) * _PAGE / _MIB)


def _written_mb(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/io", encoding="ascii") as source:
            facts = dict(line.split(": ") for line in source)
        return int(facts["write_bytes"]) / _MIB
    except (OSError, KeyError, ValueError):
        return 0.0


class ResourceMonitor:
    """`limits_config` is a mapping as the YAML of limits has it: `default_limits` and `language_specific`, or the
    limits themselves. Usable from several threads."""

    def __init__(self, limits_config: Optional[Mapping[str, Any]] = None) -> None:
        config = dict(limits_config or {})
        nested = "default_limits" in config or "language_specific" in config
        self._default = _checked(config.get("default_limits") or {} if nested else config, "default_limits")
        languages = config.get("language_specific") or {} if nested else {}
        self._by_language = {name: _checked(limits, f"language_specific.{name}") for name, limits in languages.items()}
        self._watched: Dict[str, _Watched] = {}
        self._lock = threading.Lock()

    def limits_for(self, language: Optional[str] = None) -> Dict[str, float]:
        return {**self._default, **self._by_language.get(language or "", {})}

    def start_monitoring(self, process_id: int, *, language: Optional[str] = None) -> MonitoringSession:
        """NotFoundError if no such process runs."""
        facts = _stat(process_id)
        if facts is None or facts.state in "ZX":
            raise NotFoundError(f"no process {process_id} runs", code="not_found")
        session = MonitoringSession("mon_" + uuid.uuid4().hex[:16], process_id, time.monotonic(),
                                    self.limits_for(language))
        root = (process_id, facts.start)
        with self._lock:
            self._watched[session.session_id] = _Watched(session, root, {root})
        return session

    def stop_monitoring(self, session_id: str) -> None:
        """Forgets it; the process goes on."""
        with self._lock:
            self._watched.pop(session_id, None)

    def _find(self, session_id: str) -> _Watched:
        found = self._watched.get(session_id)
        if found is None:
            raise NotFoundError(f"nothing is monitored as '{session_id}'", code="not_found")
        return found

    def get_current_usage(self, session_id: str) -> ResourceUsage:
        with self._lock:
            return self._measure(self._find(session_id))

    def _measure(self, watched: _Watched) -> ResourceUsage:
        alive = _members(watched)
        memory = 0.0
        for member, facts in alive.items():
            memory += facts.memory_mb
            watched.cpu_of[member] = facts.cpu_seconds
            watched.disk_of[member] = max(watched.disk_of.get(member, 0.0), _written_mb(member[0]))
        now, cpu = time.monotonic(), sum(watched.cpu_of.values())
        before = watched.last or (watched.session.started_at, cpu)
        rate = (cpu - before[1]) / (now - before[0]) if now - before[0] > 0.05 else 0.0
        if watched.last is None or now - before[0] > 0.05:
            watched.last = (now, cpu)
        watched.samples += 1
        watched.memory_peak = max(watched.memory_peak, memory)
        watched.processes_peak = max(watched.processes_peak, len(alive))
        return ResourceUsage(rate, cpu, memory, sum(watched.disk_of.values()), len(alive),
                             now - watched.session.started_at, bool(alive))

    def check_limits(self, session_id: str) -> LimitStatus:
        with self._lock:
            return self._check(self._find(session_id))

    def _check(self, watched: _Watched) -> LimitStatus:
        usage = self._measure(watched)
        used = {"memory_mb": usage.memory_mb, "cpu_cores": usage.cpu_cores / 1.1,  # the clock ticks in hundredths
                "execution_time_seconds": usage.elapsed_seconds if usage.running else 0.0,
                "max_processes": usage.processes, "disk_mb": usage.disk_mb}
        exceeded = [name for name, limit in watched.session.limits.items() if used[name] > limit]
        return LimitStatus(not exceeded, exceeded, usage)

    def terminate_if_exceeded(self, session_id: str) -> bool:
        """Kills the process and all that came from it if a limit is exceeded; whether it did."""
        with self._lock:
            watched = self._find(session_id)
            if self._check(watched).within_limits:
                return False
            watched.terminated = True
            deadline = time.monotonic() + 5
            # Again, because what was not killed yet may have started more.
            while time.monotonic() < deadline:
                alive = _members(watched)
                if not alive:
                    break
                for member in alive:
                    _kill(member)
                time.sleep(0.005)
            return True

    def get_performance_metrics(self, session_id: str) -> PerformanceMetrics:
        with self._lock:
            watched = self._find(session_id)
            usage = self._measure(watched)
            average = usage.cpu_seconds / usage.elapsed_seconds if usage.elapsed_seconds > 0 else 0.0
            return PerformanceMetrics(watched.samples, usage.elapsed_seconds, usage.cpu_seconds, average,
                                      watched.memory_peak, watched.processes_peak, usage.disk_mb, watched.terminated)


def _checked(limits: Any, where: str) -> Dict[str, float]:
    if not isinstance(limits, Mapping):
        raise ConfigurationError(f"{where} is no mapping")
    for name, value in limits.items():
        if name not in _KNOWN:
            raise ConfigurationError(f"{where}: there is no limit '{name}'", hint="known are " + ", ".join(_KNOWN))
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise ConfigurationError(f"{where}.{name} is a number above 0, not {value!r}")
    return {str(name): float(value) for name, value in limits.items()}


def _members(watched: _Watched) -> Dict[Member, _Stat]:
    """What is alive of the process and all that came from it. What lost its parent stays if it was seen before."""
    everything = {int(name): _stat(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    stats = {pid: facts for pid, facts in everything.items() if facts is not None and facts.state not in "ZX"}
    alive = {member for member in watched.members if member[0] in stats and stats[member[0]].start == member[1]}
    numbers = {pid for pid, _ in alive}
    grown = True
    while grown:
        grown = False
        for pid, facts in stats.items():
            if pid not in numbers and facts.parent in numbers:
                numbers.add(pid)
                alive.add((pid, facts.start))
                grown = True
    watched.members |= alive
    return {member: stats[member[0]] for member in alive}


def _kill(member: Member) -> None:
    """By a descriptor, so that a number that was given away meanwhile hits nobody else."""
    try:
        descriptor = os.pidfd_open(member[0])
    except OSError:
        return
    try:
        facts = _stat(member[0])
        if facts is not None and facts.start == member[1]:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        os.close(descriptor)
