"""What the checks share. A check is written once and runs twice: with the synchronous classes and with the
asynchronous ones. `await x` becomes `await a(x)`, which waits only for what must be waited for."""
import asyncio
import contextlib
import inspect
import sys
import time
import uuid

import e2b
import e2b_code_interpreter as code

CHECKS = []


class Api:
    """The classes of one kind."""

    def __init__(self, kind):
        self.kind = kind
        self.is_async = kind == "async"
        prefix = "Async" if self.is_async else ""
        self.Sandbox = getattr(e2b, prefix + "Sandbox")
        self.Volume = getattr(e2b, prefix + "Volume")
        self.Secret = getattr(e2b, prefix + "Secret")
        self.Template = getattr(e2b, prefix + "Template")
        self.Interpreter = getattr(code, prefix + "Sandbox")

    @contextlib.asynccontextmanager
    async def sandbox(self, *args, interpreter=False, **options):
        made = await a((self.Interpreter if interpreter else self.Sandbox).create(*args, timeout=600, **options))
        try:
            yield made
        finally:
            await a(made.kill())


def check(function):
    CHECKS.append(function)
    return function


async def a(value):
    return await value if inspect.isawaitable(value) else value


async def raises(kind, call, words=""):
    try:
        await a(call())
    except kind as error:
        assert words in str(error), f"expected {words!r} in {error!r}"
        return error
    raise AssertionError(f"expected {kind.__name__}")


async def eventually(holds, seconds=60):
    """Calls until it is true, and gives what it was."""
    end = time.monotonic() + seconds
    while True:
        value = await a(holds())
        if value:
            return value
        assert time.monotonic() < end, f"did not happen within {seconds} s"
        await asyncio.sleep(0.05)


def unique(word="python"):
    return f"{word}-{uuid.uuid4().hex[:20]}"


class Calls:
    """Which functions of the SDK were called, by name, and which public ones were not."""

    def __init__(self, classes):
        self.seen = set()
        self.public = set()
        for owner in classes:
            for name, value in vars(owner).items():
                if name.startswith("_") or not (callable(value) or isinstance(value, (staticmethod, classmethod))
                                                or hasattr(value, "method_name")):
                    continue
                self.public.add(f"{owner.__name__}.{name}")

    def __enter__(self):
        seen = self.seen

        def note(frame, event, _):
            if event == "call":
                seen.add(frame.f_code.co_qualname)

        sys.setprofile(note)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def missing(self):
        return sorted(self.public - self.seen)
