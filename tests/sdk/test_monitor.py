"""The resource monitor, on real processes of this machine."""
import os
import subprocess
import sys
import time

import atoll
import pytest
from atoll import errors


@pytest.fixture
def start():
    running = []

    def run(code):
        running.append(subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        assert running[-1].stdout.readline() == b"ready\n"
        return running[-1]

    yield run
    for one in running:
        one.kill()
        one.wait()
        one.stdin.close()
        one.stdout.close()


READY = "import os, sys, time, subprocess; say = lambda: print('ready', flush=True)\n"


@pytest.mark.parametrize("limits", [
    {"memory": 1}, {"memory_mb": 0}, {"memory_mb": -1}, {"memory_mb": "512"}, {"memory_mb": True},
    {"default_limits": {"speed": 1}}, {"language_specific": {"python": {"speed": 1}}}, {"default_limits": 3},
])
def test_limits_that_are_none(limits):
    with pytest.raises(errors.ConfigurationError):
        atoll.ResourceMonitor(limits)


def test_processes_that_are_not_there():
    monitor = atoll.ResourceMonitor({})
    ended = subprocess.Popen(["true"])
    time.sleep(0.2)
    for pid in (ended.pid, 2 ** 22 + 1):  # a zombie, and a number that no process has
        with pytest.raises(errors.NotFoundError):
            monitor.start_monitoring(pid)
    ended.wait()
    for call in (monitor.get_current_usage, monitor.check_limits, monitor.terminate_if_exceeded,
                 monitor.get_performance_metrics):
        with pytest.raises(errors.NotFoundError):
            call("mon_nope")


def test_usage(start):
    process = start(READY + "x = bytearray(60 << 20)\nsay()\nwhile True: pass")
    monitor = atoll.ResourceMonitor({"memory_mb": 1000, "cpu_cores": 4})
    watched = monitor.start_monitoring(process.pid)
    before = usage = monitor.get_current_usage(watched.session_id)
    deadline = time.monotonic() + 120
    # However little of a busy machine it gets: the rate is what it got since the measurement before.
    while before is usage or (usage.cpu_seconds < 0.3 and time.monotonic() < deadline):
        time.sleep(0.3)
        before, usage = usage, monitor.get_current_usage(watched.session_id)
    assert usage.running and usage.processes == 1 and 60 < usage.memory_mb < 200 and usage.cpu_seconds >= 0.3
    rate = (usage.cpu_seconds - before.cpu_seconds) / (usage.elapsed_seconds - before.elapsed_seconds)
    assert usage.cpu_cores == pytest.approx(rate, abs=0.02) and 0 < usage.cpu_cores < 1.5
    assert monitor.check_limits(watched.session_id).within_limits
    assert monitor.terminate_if_exceeded(watched.session_id) is False and process.poll() is None
    metrics = monitor.get_performance_metrics(watched.session_id)
    assert metrics.samples >= 4 and metrics.memory_mb_peak > 60 and metrics.cpu_seconds > 0 and not metrics.terminated
    process.kill()
    process.wait()
    assert not monitor.get_current_usage(watched.session_id).running
    assert monitor.check_limits(watched.session_id).within_limits


@pytest.mark.parametrize("limits, code, name", [
    ({"memory_mb": 40}, "x = bytearray(80 << 20)\nsay()\ntime.sleep(60)", "memory_mb"),
    ({"execution_time_seconds": 0.1}, "say()\ntime.sleep(60)", "execution_time_seconds"),
    ({"max_processes": 2}, "a = [subprocess.Popen(['sleep', '60']) for _ in range(3)]\nsay()\ntime.sleep(60)",
     "max_processes"),
])
def test_what_exceeds_its_limits_is_ended(start, limits, code, name):
    process = start(READY + code)
    monitor = atoll.ResourceMonitor({"default_limits": {"memory_mb": 4000}, "language_specific": {"python": limits}})
    watched = monitor.start_monitoring(process.pid, language="python")
    time.sleep(0.2)
    status = monitor.check_limits(watched.session_id)
    assert not status.within_limits and status.exceeded == [name]
    assert monitor.terminate_if_exceeded(watched.session_id) is True
    assert process.wait(10) == -9
    assert monitor.get_current_usage(watched.session_id).processes == 0
    assert monitor.get_performance_metrics(watched.session_id).terminated


def test_children_that_lost_their_parent_are_ended_too(start, tmp_path):
    mark = tmp_path / "pid"
    process = start(READY + f"p = subprocess.Popen(['sh', '-c', 'sleep 61 & echo $! > {mark}; wait'])\n"
                            "time.sleep(0.3)\nsay()\nsys.stdin.readline()\np.kill()\ntime.sleep(60)")
    monitor = atoll.ResourceMonitor({"execution_time_seconds": 0.2})
    watched = monitor.start_monitoring(process.pid)
    assert monitor.get_current_usage(watched.session_id).processes == 3
    process.stdin.write(b"\n")
    process.stdin.flush()
    time.sleep(0.4)
    orphan = int(mark.read_text())
    assert os.path.exists(f"/proc/{orphan}")
    assert monitor.terminate_if_exceeded(watched.session_id)
    stat = f"/proc/{orphan}/stat"
    assert not os.path.exists(stat) or open(stat).read().rpartition(")")[2].split()[0] in "ZX"
