"""A sandbox environment for Inspect AI: `sandbox="atoll"` in a task. The package registers it by an entry point."""
from __future__ import annotations

import posixpath
from typing import Any, Dict, List, Optional, Union

import anyio
from inspect_ai.util import (ExecResult, OutputLimitExceededError, SandboxEnvironment, SandboxEnvironmentLimits,
                             sandboxenv)
from pydantic import BaseModel

from .. import errors
from .._async.client import AsyncSandboxClient
from .._async.commands import AsyncProcess
from .._async.session import AsyncSession
from ..models import Execution

try:
    from inspect_ai.util._sandbox.environment import SandboxUnavailableError
except ImportError:  # versions before it had a class for this
    SandboxUnavailableError = RuntimeError

WORKDIR = "/home/user"
_METADATA = "inspect_ai"
_INLINE_INPUT = 1 << 20
_PIECE = 4 << 20


class AtollConfig(BaseModel):
    """What each sample's session is created with. The policy is off, because an evaluation wants to see what an agent
    does; the walls of the sandbox stand whatever the policy says."""

    model_config = {"frozen": True}
    environment: str = "base"
    provider: Optional[str] = None
    policy: str = "off"
    network: Union[str, Dict[str, Any], None] = None
    limits: Optional[Dict[str, float]] = None
    env: Optional[Dict[str, str]] = None
    ttl_seconds: float = 6 * 3600

    def __hash__(self) -> int:
        """Inspect AI keeps configurations as keys; mappings in them have no hash of their own."""
        return hash(self.model_dump_json())


@sandboxenv(name="atoll")
class AtollSandboxEnvironment(SandboxEnvironment):
    """One session for a sample, on the service that ATOLL_URL and ATOLL_API_KEY name."""

    def __init__(self, client: AsyncSandboxClient, session: AsyncSession) -> None:
        super().__init__()
        self._client, self.session = client, session

    @classmethod
    def config_deserialize(cls, config: Dict[str, Any]) -> BaseModel:
        return AtollConfig(**config)

    @classmethod
    async def sample_init(cls, task_name: str, config: Any, metadata: Dict[str, str]) -> Dict[str, SandboxEnvironment]:
        """`config` is an AtollConfig, or the name of an environment."""
        given = {"environment": config} if config else {}
        wanted = config if isinstance(config, AtollConfig) else AtollConfig(**given)
        client = AsyncSandboxClient()
        try:
            session = await client.create(
                environment=wanted.environment, provider=wanted.provider, policy=wanted.policy, network=wanted.network,
                limits=wanted.limits, env=wanted.env, ttl_seconds=wanted.ttl_seconds, extend_on_use=True,
                metadata={_METADATA: "yes", "task": task_name[:200]})
        except BaseException:
            await client.aclose()
            raise
        return {"default": cls(client, session)}

    @classmethod
    async def sample_cleanup(cls, task_name: str, config: Any, environments: Dict[str, SandboxEnvironment],
                             interrupted: bool) -> None:
        for one in environments.values():
            environment = one.as_type(cls)
            try:
                with anyio.CancelScope(shield=True):
                    await environment.session.end()
            finally:
                await environment._client.aclose()

    @classmethod
    async def cli_cleanup(cls, id: Optional[str]) -> None:
        """Ends one session, or all that evaluations left behind."""
        async with AsyncSandboxClient() as client:
            if id is not None:
                await (await client.get(id)).end()
                return
            async for info in client.list(state=["running", "paused"], metadata={_METADATA: "yes"}):
                await (await client.get(info.session_id)).end()

    async def exec(self, cmd: List[str], input: Union[str, bytes, None] = None, cwd: Optional[str] = None,
                   env: Optional[Dict[str, str]] = None, user: Optional[str] = None, timeout: Optional[int] = None,
                   timeout_retry: bool = True, concurrency: bool = True) -> ExecResult[str]:
        """A command that timed out is gone and is not run again: nothing of it could hang."""
        where = posixpath.join(WORKDIR, cwd or "")
        options: Dict[str, Any] = {"cwd": where, "env": env, "user": user,
                                   "timeout": timeout if timeout is not None else 86400}
        try:
            if isinstance(input, bytes) or (input is not None and len(input) > _INLINE_INPUT):
                done = await self._exec_with_input(cmd, input, options)
            else:
                done = await self.session.commands.run(cmd, stdin=input, **options)
        except errors.InvalidArgumentError as error:
            # A user or a directory that is not there is the command's failure, as a shell would tell it.
            return ExecResult(False, 1, "", error.message)
        except errors.PermissionDeniedError as error:
            raise PermissionError(error.message) from error
        except (errors.ConnectError, errors.ConnectionLostError, errors.ConflictError, errors.NotFoundError) as error:
            raise SandboxUnavailableError(str(error)) from error
        return _result(cmd, done, timeout)

    async def _exec_with_input(self, cmd: List[str], input: Union[str, bytes], options: Dict[str, Any]) -> Execution:
        process = await self.session.commands.start(cmd, stdin=True, **options)
        data = input.encode() if isinstance(input, str) else input
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_feed, process, data)
            done = await process.wait()
            tasks.cancel_scope.cancel()  # what it did not want to read
        return done

    async def write_file(self, file: str, contents: Union[str, bytes]) -> None:
        try:
            await self.session.files.write(posixpath.join(WORKDIR, file), contents)
        except errors.ServiceError as error:
            raise _file_error(error, file) from error

    async def read_file(self, file: str, text: bool = True) -> Any:
        most, parts, size = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE, [], 0
        try:
            async with self.session.files.stream(posixpath.join(WORKDIR, file)) as pieces:
                async for piece in pieces:
                    parts.append(piece)
                    size += len(piece)
                    if size > most:
                        raise OutputLimitExceededError(limit_str=SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR,
                                                       truncated_output=None)
        except errors.ServiceError as error:
            raise _file_error(error, file) from error
        data = b"".join(parts)
        return data.decode("utf-8") if text else data


async def _feed(process: AsyncProcess, data: bytes) -> None:
    try:
        for at in range(0, len(data), _PIECE):
            await process.send_stdin(data[at:at + _PIECE])
        await process.close_stdin()
    except errors.ServiceError:
        pass  # it ended before it had read all


def _result(cmd: List[str], done: Execution, timeout: Optional[int]) -> ExecResult[str]:
    if done.status == "timeout":
        raise TimeoutError(f"{cmd[0]} did not end within {timeout} s")
    if done.exit_code == 126 and "permission denied" in (done.stderr + (done.reason or "")).lower():
        raise PermissionError(f"{cmd[0]}: {done.stderr or done.reason}")
    most = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
    if done.stdout_truncated or done.stderr_truncated or len(done.stdout) > most or len(done.stderr) > most:
        raise OutputLimitExceededError(limit_str=SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR,
                                       truncated_output=done.stdout[:most])
    return ExecResult(done.ok, done.exit_code, done.stdout, done.stderr or (done.reason or "" if not done.ok else ""))


def _file_error(error: errors.ServiceError, file: str) -> Exception:
    kinds: Dict[type, type] = {
        errors.NotFoundError: FileNotFoundError, errors.PathNotADirectoryError: FileNotFoundError,
        errors.PathIsADirectoryError: IsADirectoryError, errors.PermissionDeniedError: PermissionError,
        errors.ReadOnlyError: PermissionError}
    kind = kinds.get(type(error))
    if kind is None:
        return error
    what = "is a directory" if kind is IsADirectoryError else error.message
    made: Exception = kind(f"{file}: {what}")
    return made
