"""A Python executor for smolagents: the agent's code runs in a session that remembers.

    agent = CodeAgent(tools=[], model=model, executor=AtollExecutor([], logger))
"""
from __future__ import annotations

import base64
import io
from typing import Any, List, Optional

from smolagents.local_python_executor import CodeOutput
from smolagents.monitoring import LogLevel
from smolagents.remote_executors import RemotePythonExecutor
from smolagents.utils import AgentError

from .._sync.client import SandboxClient
from ..models import Execution


class AtollExecutor(RemotePythonExecutor):
    """smolagents imports Pillow wherever it runs tools, so the default environment is the one that has it.
    `additional_imports` that the environment lacks are installed with pip, which needs a network: pass
    network={"allow": [...]} or an environment that has them. What else is given goes to `SandboxClient.create()`.
    cleanup() ends the session."""

    def __init__(self, additional_imports: List[str], logger: Any, allow_pickle: bool = False, *,
                 client: Optional[SandboxClient] = None, environment: str = "code-interpreter-v1",
                 **create: Any) -> None:
        super().__init__(additional_imports, logger, allow_pickle)
        self._own_client = SandboxClient() if client is None else None
        self.session = (client or self._own_client or SandboxClient()).create(environment=environment, **create)
        # What this class asks stays out of the agent's variables.
        self._side = self.session.contexts.create(language="python")
        try:
            self.installed_packages = self._install(additional_imports)
        except BaseException:
            self.cleanup()
            raise
        self.logger.log(f"Atoll session {self.session.id} is running", level=LogLevel.INFO)

    def install_packages(self, additional_imports: List[str]) -> List[str]:
        """What tools import. Some of it is optional to them (every final answer asks for pillow), so what cannot be
        installed is logged, and the code that needs it says so when it runs."""
        try:
            return self._install(additional_imports)
        except AgentError as error:
            self.logger.log(str(error), level=LogLevel.INFO)
            return []

    def _install(self, names: List[str]) -> List[str]:
        missing = [name for name in names if not self._has(name)]
        if missing:
            # Debian's Python refuses packages beside its own; in a sandbox nothing else depends on it.
            done = self.session.commands.run(["python3", "-m", "pip", "install", "--quiet", "--user", *missing],
                                             env={"PIP_BREAK_SYSTEM_PACKAGES": "1"}, timeout=600)
            if not done.ok:
                raise AgentError(f"{', '.join(missing)} cannot be installed: {done.stderr or done.reason}\n"
                                 "The session may have no network: pass network={'allow': [...]}.", self.logger)
        return names

    def _has(self, name: str) -> bool:
        """Whether it can be imported, or is installed under the name that pip knows."""
        known = self.session.execute(
            f"import importlib.metadata, importlib.util\nname = {name!r}\n"
            "bool(importlib.util.find_spec(name) or [1 for one in importlib.metadata.distributions()"
            " if (one.metadata['Name'] or '').lower() == name.lower()])", context=self._side)
        return known.text == "True"

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        done = self.session.execute(code)
        if done.error is not None and done.error.name == self.FINAL_ANSWER_EXCEPTION:
            answer = self._deserialize_final_answer(done.error.value, self.allow_pickle)
            return CodeOutput(output=answer, logs=done.stdout, is_final_answer=True)
        if not done.ok:
            raise AgentError(f"{done.stdout}\nExecuting code yielded an error:\n{_why(done)}", self.logger)
        return CodeOutput(output=_output(done), logs=done.stdout, is_final_answer=False)

    def cleanup(self) -> None:
        self.session.end()
        if self._own_client is not None:
            self._own_client.close()


def _why(done: Execution) -> str:
    if done.error is None:
        return f"{done.status}: {done.reason or done.stderr}"
    return f"{done.error.name}\n{done.error.value}\n{done.error.traceback}"


def _output(done: Execution) -> Any:
    """The main result: a picture as one, else its text."""
    for result in done.results:
        if not result.is_main:
            continue
        for kind in ("image/png", "image/jpeg"):
            if kind in result.data:
                from PIL import Image
                return Image.open(io.BytesIO(base64.b64decode(result.data[kind])))
        return result.text
    return None
