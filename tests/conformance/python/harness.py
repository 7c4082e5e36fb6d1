"""What the checks share. A check is written once and runs twice: with the synchronous classes and with the
asynchronous ones. `await x` becomes `await a(x)`, which waits only for what must be waited for."""
import asyncio
import contextlib
import functools
import inspect
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
        self.Secret = getattr(e2b, prefix + "Secret", None)
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


def check_if(present):
    """A check of what the installed packages may lack."""
    return check if present else lambda function: function


def slow(function):
    """A check that mostly waits: such are begun first."""
    CHECKS.insert(0, function)
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
    """Notes which public methods of the given classes, and of what they inherit from, are called; and in which form,
    where a method can be called on a sandbox and, with an id, on its class."""

    def __init__(self, classes, module, functions):
        self.seen = set()
        self.public = set()
        for owner in {base for one in classes for base in one.__mro__ if base.__module__.startswith("e2b")}:
            for name, value in list(vars(owner).items()):
                if not name.startswith("_"):
                    self._watch(owner, name, value)
        for name in filter(lambda one: hasattr(module, one), functions):
            setattr(module, name, self._noted(getattr(module, name), name))

    def _watch(self, owner, name, value):
        label = f"{owner.__name__}.{name}"
        if hasattr(value, "class_method_name"):
            value.method = self._noted(value.method, label)
            setattr(owner, name, self._both(value, f"{label} of the class"))
        elif isinstance(value, (staticmethod, classmethod)):
            setattr(owner, name, type(value)(self._noted(value.__func__, label)))
        elif inspect.isfunction(value):
            setattr(owner, name, self._noted(value, label))

    def _noted(self, function, label):
        self.public.add(label)

        @functools.wraps(function)
        def noting(*args, **options):
            self.seen.add(label)
            return function(*args, **options)

        return noting

    def _both(self, descriptor, label):
        self.public.add(label)
        seen = self.seen

        class Both:
            def __get__(self, instance, owner=None):
                if instance is None:
                    seen.add(label)
                return descriptor.__get__(instance, owner)

        return Both()
