"""The asynchronous client with the blocking one's interface, so that one suite of tests holds for both."""
from __future__ import annotations

import inspect

import atoll

OURS = (atoll.AsyncSandboxClient, atoll.AsyncSession, atoll.AsyncProcess, atoll.AsyncPty)


class Blocking:
    def __init__(self, inner, portal):
        self._inner, self._portal = inner, portal

    def __repr__(self):
        return repr(self._inner)

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        if not callable(found):
            return self._wrapped(found)

        def call(*arguments, **named):
            async def run():
                returned = found(*arguments, **named)
                return await returned if inspect.isawaitable(returned) else returned

            return self._wrapped(self._portal.call(run))

        return call

    def _wrapped(self, value):
        if hasattr(value, "__anext__"):
            return self._iterate(value)
        if isinstance(value, OURS) or hasattr(value, "__aenter__") or type(value).__module__.startswith("atoll._async"):
            return Blocking(value, self._portal)
        if isinstance(value, (tuple, list)):
            return type(value)(self._wrapped(one) for one in value)
        return value

    def _iterate(self, source):
        while True:
            try:
                yield self._wrapped(self._portal.call(source.__anext__))
            except StopAsyncIteration:
                return

    def __enter__(self):
        # One task enters and leaves the block, as a real program's would.
        self._scope = self._portal.wrap_async_context_manager(self._inner)
        return self._wrapped(self._scope.__enter__())

    def __exit__(self, *what):
        return self._scope.__exit__(*what)
