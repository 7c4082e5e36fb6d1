"""A sandbox client for the OpenAI Agents SDK: its sandbox agents work in sessions of Atoll.

    client = AtollSandboxClient()
    config = RunConfig(sandbox=SandboxRunConfig(client=client, options=AtollSandboxClientOptions(environment="base")))
    await Runner.run(SandboxAgent(name="worker", model=model), "Count the files.", run_config=config)
"""
from __future__ import annotations

import io
import tarfile
import uuid
from pathlib import Path, PurePosixPath
from typing import Any, Dict, Literal, Mapping, Optional, Tuple, Union
from urllib.parse import urlsplit

from agents.sandbox.errors import (ExecTimeoutError, ExecTransportError, ExposedPortUnavailableError,
                                   WorkspaceArchiveReadError, WorkspaceArchiveWriteError, WorkspaceReadNotFoundError,
                                   WorkspaceStartError, WorkspaceWriteTypeError)
from agents.sandbox.manifest import Manifest
from agents.sandbox.session import Dependencies, Instrumentation, SandboxSession, SandboxSessionState
from agents.sandbox.session.base_sandbox_session import BaseSandboxSession
from agents.sandbox.session.runtime_helpers import RESOLVE_WORKSPACE_PATH_HELPER, RuntimeHelperScript
from agents.sandbox.session.sandbox_client import BaseSandboxClient, BaseSandboxClientOptions
from agents.sandbox.snapshot import SnapshotBase, SnapshotSpec, resolve_snapshot
from agents.sandbox.types import ExecResult, ExposedPortEndpoint, User

from .. import errors
from .._async.client import AsyncSandboxClient
from .._async.session import AsyncSession

WORKSPACE = "/home/user/workspace"
# A day is the most that the service gives to one command.
_UNBOUNDED = 86400.0


class AtollSandboxClientOptions(BaseSandboxClientOptions):
    """What a session is made of; all of it is the service's default where it is left out."""

    type: Literal["atoll"] = "atoll"
    provider: Optional[str] = None
    environment: Optional[str] = None
    agent: Optional[str] = None
    limits: Optional[Dict[str, float]] = None
    network: Union[str, Dict[str, Any], None] = None
    env: Optional[Dict[str, str]] = None
    ttl_seconds: Optional[float] = None
    exposed_ports: Tuple[int, ...] = ()
    pause_on_exit: bool = False

    def create_arguments(self) -> Dict[str, Any]:
        names = ("provider", "environment", "agent", "limits", "network", "env", "ttl_seconds")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


class AtollSandboxSessionState(SandboxSessionState):
    type: Literal["atoll"] = "atoll"
    atoll_session_id: str
    options: AtollSandboxClientOptions


class AtollSandboxSession(BaseSandboxSession):
    """One session. Its workspace is the manifest's root."""

    state: AtollSandboxSessionState

    def __init__(self, state: AtollSandboxSessionState, session: AsyncSession) -> None:
        self.state = state
        self._session = session

    @property
    def _root(self) -> str:
        return PurePosixPath(str(self.state.manifest.root)).as_posix()

    async def _prepare_backend_workspace(self) -> None:
        try:
            await self._session.files.mkdir(self._root, exist_ok=True)
        except errors.AtollError as error:
            raise WorkspaceStartError(path=Path(self._root), context={"backend": "atoll"}, cause=error) from error

    async def _validate_path_access(self, path: Union[Path, str], *, for_write: bool = False) -> Path:
        found: Path = await self._validate_remote_path_access(path, for_write=for_write)
        return found

    def _runtime_helpers(self) -> Tuple[RuntimeHelperScript, ...]:
        return (RESOLVE_WORKSPACE_PATH_HELPER,)

    async def _exec_internal(self, *command: Union[str, Path], timeout: Optional[float] = None) -> ExecResult:
        """A command that ends by itself, or by a limit, is a result; a policy's no has status 126, as a shell's has."""
        words = [str(word) for word in command]
        variables: Mapping[str, str] = await self.state.manifest.environment.resolve()
        wanted = _UNBOUNDED if timeout is None else max(timeout, 0.001)
        try:
            done = await self._session.commands.run(words, cwd=self._root, env=dict(variables) or None, timeout=wanted)
        except errors.AtollError as error:
            raise ExecTransportError(command=command, context={"backend": "atoll"}, cause=error,
                                     message=str(error)) from error
        if done.status == "timeout":
            raise ExecTimeoutError(command=command, timeout_s=timeout)
        if done.status == "denied":
            told = f"{done.stderr}{done.reason or (done.error.value if done.error else 'denied')}\n"
            return ExecResult(stdout=done.stdout.encode(), stderr=told.encode(), exit_code=126)
        return ExecResult(stdout=done.stdout.encode(), stderr=done.stderr.encode(), exit_code=done.exit_code)

    async def _resolve_exposed_port(self, port: int) -> ExposedPortEndpoint:
        try:
            split = urlsplit(self._session.port_url(port))
            if split.hostname is None:
                raise ValueError("an address without a host")
        except (errors.AtollError, ValueError) as error:
            raise ExposedPortUnavailableError(port=port, exposed_ports=self.state.exposed_ports,
                                              reason="backend_unavailable", context={"backend": "atoll"},
                                              cause=error) from error
        tls = split.scheme == "https"
        return ExposedPortEndpoint(host=split.hostname, port=split.port or (443 if tls else 80), tls=tls)

    async def read(self, path: Path, *, user: Union[str, User, None] = None) -> io.IOBase:
        if user is not None:
            inside = await self._check_read_with_exec(path, user=user)
        else:
            inside = await self._validate_path_access(path)
        try:
            return io.BytesIO(await self._session.files.read_bytes(inside.as_posix()))
        except errors.NotFoundError as error:
            raise WorkspaceReadNotFoundError(path=Path(path), cause=error) from error
        except errors.AtollError as error:
            raise WorkspaceArchiveReadError(path=Path(path), cause=error) from error

    async def write(self, path: Path, data: io.IOBase, *, user: Union[str, User, None] = None) -> None:
        if user is not None:
            await self._check_write_with_exec(path, user=user)
        content = _bytes_of(data, Path(path))
        inside = await self._validate_path_access(path, for_write=True)
        try:
            await self._session.files.write(inside.as_posix(), content)
        except errors.AtollError as error:
            raise WorkspaceArchiveWriteError(path=inside, cause=error) from error

    async def running(self) -> bool:
        try:
            return (await self._session.refresh()).state == "running"
        except errors.AtollError:
            return False

    async def persist_workspace(self) -> io.IOBase:
        try:
            packed = await self._session.files.archive(self._root)
        except errors.AtollError as error:
            raise WorkspaceArchiveReadError(path=Path(self._root), cause=error) from error
        return _without(packed, {PurePosixPath(path.as_posix()) for path in self._persist_workspace_skip_relpaths()})

    async def hydrate_workspace(self, data: io.IOBase) -> None:
        """The service unpacks it with the checks that every archive goes through: names that lead out are refused."""
        content = _bytes_of(data, Path(self._root))
        try:
            await self._session.files.mkdir(self._root, exist_ok=True)
            await self._session.files.unpack(self._root, content)
        except errors.AtollError as error:
            raise WorkspaceArchiveWriteError(path=Path(self._root), cause=error) from error

    async def _shutdown_backend(self) -> None:
        try:
            if self.state.options.pause_on_exit:
                await self._session.pause()
            else:
                await self._session.end()
        except errors.AtollError:
            pass  # it has ended already, or will by its time to live


class AtollSandboxClient(BaseSandboxClient[AtollSandboxClientOptions]):
    """Of a service that `client` speaks to; without one, that of ATOLL_URL and ATOLL_API_KEY."""

    backend_id = "atoll"
    supports_default_options = True

    def __init__(self, client: Optional[AsyncSandboxClient] = None, *, instrumentation: Optional[Instrumentation] = None,
                 dependencies: Optional[Dependencies] = None) -> None:
        self._client = client or AsyncSandboxClient()
        self._owns_client = client is None
        self._instrumentation = instrumentation or Instrumentation()
        self._dependencies = dependencies

    async def close(self) -> None:
        """Closes its connections, if they are its own. Sessions go on."""
        if self._owns_client:
            await self._client.aclose()

    async def create(self, *, snapshot: Union[SnapshotSpec, SnapshotBase, None] = None,
                     manifest: Optional[Manifest] = None,
                     options: Optional[AtollSandboxClientOptions] = None) -> SandboxSession:
        wanted = options or AtollSandboxClientOptions()
        shape = self._validate_manifest_for_create(manifest or Manifest(root=WORKSPACE))
        session = await self._client.create(**wanted.create_arguments())
        own = uuid.uuid4()
        state = AtollSandboxSessionState(session_id=own, manifest=shape, snapshot=resolve_snapshot(snapshot, str(own)),
                                         atoll_session_id=session.id, options=wanted,
                                         exposed_ports=wanted.exposed_ports)
        return self._wrap_session(AtollSandboxSession(state, session), instrumentation=self._instrumentation)

    async def delete(self, session: SandboxSession) -> SandboxSession:
        inner = session._inner
        if not isinstance(inner, AtollSandboxSession):
            raise TypeError("this session is not of Atoll")
        await inner.shutdown()
        return session

    async def resume(self, state: SandboxSessionState) -> SandboxSession:
        """The same session if it still runs or is paused; else a new one, which the snapshot fills."""
        if not isinstance(state, AtollSandboxSessionState):
            raise TypeError("this state is not of Atoll")
        state.assert_path_grants_rebound()
        session = await self._reconnected(state.atoll_session_id)
        is_same = session is not None
        if session is None:
            session = await self._client.create(**state.options.create_arguments())
            state.atoll_session_id = session.id
            state.workspace_root_ready = False
        inner = AtollSandboxSession(state, session)
        inner._set_start_state_preserved(is_same, system=is_same)
        return self._wrap_session(inner, instrumentation=self._instrumentation)

    async def _reconnected(self, session_id: str) -> Optional[AsyncSession]:
        try:
            session = await self._client.connect(session_id)
        except errors.ServiceError:
            return None
        return session if session.state == "running" else None

    def deserialize_session_state(self, payload: Dict[str, object]) -> SandboxSessionState:
        state: SandboxSessionState = self._deserialize_session_state_payload(payload, AtollSandboxSessionState)
        return state


def _bytes_of(data: io.IOBase, path: Path) -> bytes:
    content = data.read()
    if isinstance(content, str):
        return content.encode()
    if not isinstance(content, (bytes, bytearray)):
        raise WorkspaceWriteTypeError(path=path, actual_type=type(content).__name__)
    return bytes(content)


def _without(packed: bytes, skipped: "set[PurePosixPath]") -> io.IOBase:
    """The archive without these paths and what is below them."""
    if not skipped:
        return io.BytesIO(packed)
    kept = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(packed)) as source, tarfile.open(fileobj=kept, mode="w") as target:
        for member in source:
            path = PurePosixPath(member.name)
            if path in skipped or any(parent in skipped for parent in path.parents):
                continue
            target.addfile(member, source.extractfile(member) if member.isreg() else None)
    kept.seek(0)
    return kept
