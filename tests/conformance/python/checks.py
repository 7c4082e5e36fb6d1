"""The official Python SDKs, synchronous and asynchronous, against the daemon that E2B_API_URL names. One line a
check; fails also when a public method was not called. `python checks.py [WORD]` runs those whose name has the word."""
import asyncio
import importlib
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

CLASSES = {
    "sync": [e2b.Sandbox, sync_commands.Commands, sync_pty.Pty, sync_files.Filesystem, sync_git.Git, e2b.CommandHandle,
             e2b.WatchHandle, e2b.Volume, e2b.Secret, e2b.Template, template.TemplateBase, template.TemplateBuilder,
             code.Sandbox],
    "async": [e2b.AsyncSandbox, async_commands.Commands, async_pty.Pty, async_files.Filesystem, async_git.Git,
              e2b.AsyncCommandHandle, e2b.AsyncCommandInputHandle, e2b.AsyncWatchHandle, e2b.AsyncVolume,
              e2b.AsyncSecret, e2b.AsyncTemplate, code.AsyncSandbox],
}
# Why a method is not driven. Everything else must be.
EXCUSED = {
    "TemplateBuilder.add_mcp_server": "the gateway's template is not here",
    "TemplateBuilder.beta_dev_container_prebuild": "devcontainers are not here",
    "TemplateBuilder.beta_set_dev_container_start": "devcontainers are not here",
}


def run(function, api):
    begun = time.monotonic()
    try:
        asyncio.run(function(api))
    except Exception:  # every check runs, whatever the others did
        print(f"not ok - python {api.kind} {function.__name__}")
        traceback.print_exc(limit=-4, chain=False, file=sys.stdout)
        return False
    print(f"ok - python {api.kind} {function.__name__} ({time.monotonic() - begun:.1f} s)", flush=True)
    return True


def main() -> int:
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    wanted = [function for function in harness.CHECKS if word in function.__name__]
    passed = failed = 0
    unheard = []
    for kind, classes in CLASSES.items():
        with harness.Calls(classes) as calls:
            for function in wanted:
                if run(function, harness.Api(kind)):
                    passed += 1
                else:
                    failed += 1
        missing = [name for name in calls.missing() if name not in EXCUSED]
        print(f"python {kind}: {len(calls.public)} public methods, {len(missing)} not driven")
        unheard += [f"{kind} {name}" for name in missing]
    if not word:
        for name in unheard:
            print(f"  MISSING: {name}")
        for name, why in EXCUSED.items():
            print(f"  not driven: {name}: {why}")
    print(f"python: {passed} passed, {failed} failed")
    return 1 if failed or not wanted or (unheard and not word) else 0


if __name__ == "__main__":
    sys.exit(main())
