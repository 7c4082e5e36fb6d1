"""The official Python SDKs, synchronous and asynchronous, against the daemon that E2B_API_URL names. One line a
check; fails also when a public method was not called. `python checks.py [WORD]` runs those whose name has the word."""
import asyncio
import concurrent.futures
import importlib
import importlib.metadata
import io
import multiprocessing
import sys
import time
import traceback

import e2b
import e2b.sandbox_async.commands.command as async_commands
import e2b.sandbox_async.commands.pty as async_pty
import e2b.sandbox_async.filesystem.filesystem as async_files
import e2b.sandbox_async.git as async_git
import e2b.sandbox_sync.commands.command as sync_commands
import e2b.sandbox_sync.commands.pty as sync_pty
import e2b.sandbox_sync.filesystem.filesystem as sync_files
import e2b.sandbox_sync.git as sync_git
import e2b.template.main as template
import e2b_code_interpreter as code

import harness

for module in ("sandboxes", "commands", "files", "interpreter", "stores"):
    importlib.import_module(module)

WORKERS = 2  # of each kind; most of a check is waiting
# How many checks and methods of each kind there are, by package: fewer mean that some were lost.
LEAST = {"2.63.0": (106, {"sync": 163, "async": 164}), "2.45.1": (104, {"sync": 161, "async": 160})}
LEAST_CHECKS, LEAST_METHODS = LEAST.get(importlib.metadata.version("e2b"), LEAST["2.63.0"])
def of(module, *names):
    """What a package has of these: older ones have less."""
    return [getattr(module, name) for name in names if hasattr(module, name)]


def kinds(prefix, *modules):
    names = ["Sandbox", "CommandHandle", "CommandInputHandle", "WatchHandle", "Volume", "Secret", "Template", "SandboxPaginator",
             "SnapshotPaginator", "SecretPaginator"]
    shared = [template.TemplateBase, template.TemplateBuilder, e2b.ReadyCmd, code.Execution, code.Result, code.Logs, code.ExecutionError]
    parts = [found for module in modules for found in of(module, "Commands", "Pty", "Filesystem", "Git")]
    return shared + parts + of(e2b, *(prefix + name for name in names)) + of(code, prefix + "Sandbox")


CLASSES = {
    "sync": kinds("", sync_commands, sync_pty, sync_files, sync_git),
    "async": kinds("Async", async_commands, async_pty, async_files, async_git),
}
FUNCTIONS = ["get_signature", "default_build_logger", "wait_for_file", "wait_for_port", "wait_for_process",
             "wait_for_timeout", "wait_for_url"]
# Why a method is not driven. Everything else must be.
EXCUSED = {}

calls = None  # of a worker: both kinds inherit from the same bases, so a process watches one kind


def watch(kind):
    global calls
    calls = harness.Calls(CLASSES[kind], e2b, FUNCTIONS)


def run(kind, index):
    """One check in a worker: whether it passed, what to print, what it called, and what could have been."""
    calls.seen.clear()
    function = harness.CHECKS[index]
    name = f"python {kind} {function.__name__}"
    begun = time.monotonic()
    try:
        asyncio.run(function(harness.Api(kind)))
        good, text = True, f"ok - {name} ({time.monotonic() - begun:.1f} s)"
    except Exception:  # every check runs, whatever the others did
        trace = io.StringIO()
        traceback.print_exc(limit=-4, chain=False, file=trace)
        good, text = False, f"not ok - {name}\n{trace.getvalue()}"
    return good, text, set(calls.seen), set(calls.public)


def run_all(wanted):
    """Every wanted check of both kinds, as they end: its kind and what `run` gave."""
    context = multiprocessing.get_context("spawn")
    pools = {kind: concurrent.futures.ProcessPoolExecutor(WORKERS, context, watch, (kind,)) for kind in CLASSES}
    begun = {pools[kind].submit(run, kind, i): kind for i in wanted for kind in CLASSES}
    for done in concurrent.futures.as_completed(begun):
        yield begun[done], *done.result()
    for pool in pools.values():
        pool.shutdown()


def tell_methods(kind, seen, public) -> bool:
    """Whether every public method was driven, or is excused and was not."""
    missing, stale = sorted(public - seen - EXCUSED.keys()), sorted(EXCUSED.keys() & seen)
    print(f"python {kind}: {len(public)} public methods, {len(missing)} not driven, at least {LEAST_METHODS[kind]} are known")
    for name in missing:
        print(f"  MISSING: {kind} {name}")
    for name in stale:
        print(f"  STALE EXCUSE: {kind} {name}")
    return not missing and not stale and len(public) >= LEAST_METHODS[kind]


def main() -> int:
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    wanted = [i for i, function in enumerate(harness.CHECKS) if word in function.__name__]
    passed = failed = 0
    seen, public = {kind: set() for kind in CLASSES}, {kind: set() for kind in CLASSES}
    for kind, good, text, called, known in run_all(wanted):
        print(text, flush=True)
        passed, failed = passed + good, failed + (not good)
        seen[kind] |= called
        public[kind] |= known
    whole = word or all([tell_methods(kind, seen[kind], public[kind]) for kind in CLASSES])
    for name, why in EXCUSED.items():
        print(f"  not driven: {name}: {why}")
    print(f"python: {passed} passed, {failed} failed, at least {LEAST_CHECKS} must pass")
    return 0 if whole and not failed and wanted and (word or passed >= LEAST_CHECKS) else 1


if __name__ == "__main__":
    sys.exit(main())
