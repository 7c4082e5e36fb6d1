"""An environment for Harbor: `harbor run --env atoll.integrations.harbor:AtollEnvironment ...`.

A task's Dockerfile is carried out, step by step, in a session of the environment that stands for its image, and kept as a
snapshot under the hash of the task's directory: the next trial begins with that. No image is pulled. Which environment stands
for an image: `--ek environment=NAME`, else the one that the service has under the image's name, else `base`. With
`--ek provider=docker` the image itself is asked for."""
from __future__ import annotations

import os
import posixpath
import shlex
import uuid
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities
from harbor.models.task.config import NetworkMode, NetworkPolicy
from harbor.models.trial.config import ResourceMode

from .._archive import pack
from .._async.client import AsyncSandboxClient
from .._async.session import AsyncSession
from ..models import Execution
from ._dockerfile import Dockerfile, Step, read_dockerfile, sources_of

_METADATA = "harbor"
# A day is the most that the service gives to one command.
_UNBOUNDED = 86400.0


class AtollEnvironment(BaseEnvironment):
    """One session for a trial, on the service that ATOLL_URL and ATOLL_API_KEY name."""

    def __init__(self, environment_dir: Path, environment_name: str, session_id: str, trial_paths: Any,
                 task_env_config: Any, *args: Any, environment: Optional[str] = None, provider: Optional[str] = None,
                 policy: str = "off", ttl_seconds: Union[str, float] = 86400, **kwargs: Any) -> None:
        self._environment, self._provider, self._policy = environment, provider, policy
        self._ttl_seconds = float(ttl_seconds)
        self._client: Optional[AsyncSandboxClient] = None
        self._session: Optional[AsyncSession] = None
        self._file: Optional[Dockerfile] = None
        super().__init__(environment_dir, environment_name, session_id, trial_paths, task_env_config, *args, **kwargs)

    @staticmethod
    def type() -> str:
        return "atoll"

    @classmethod
    def preflight(cls) -> None:
        if not os.environ.get("ATOLL_API_KEY"):
            raise SystemExit("Atoll needs ATOLL_API_KEY, and ATOLL_URL unless the service is at http://127.0.0.1:8000.")

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        """Ceilings that the kernel holds; nothing is reserved."""
        return EnvironmentResourceCapabilities(cpu_limit=True, memory_limit=True)

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(
            disable_internet=True, network_allowlist=True, network_allowlist_hostnames=True,
            network_allowlist_wildcard_hostnames=True, network_allowlist_ipv4_addresses=True,
            network_allowlist_ipv6_addresses=True, network_allowlist_ipv4_cidrs=True, network_allowlist_ipv6_cidrs=True,
            dynamic_network_policy=True)

    @property
    def session(self) -> AsyncSession:
        if self._session is None:
            raise RuntimeError("the environment is not started: call start() first")
        return self._session

    def _validate_definition(self) -> None:
        path = self.environment_dir / "Dockerfile"
        if path.exists():
            self._file = read_dockerfile(path)
        elif not self.task_env_config.docker_image:
            raise FileNotFoundError(f"{path} is missing, and the task names no docker_image; Atoll runs no compose files")

    async def start(self, force_build: bool) -> None:
        self._client = AsyncSandboxClient()
        try:
            snapshot = await self._built(self._client, force_build) if self._file and self._file.steps else None
            self._session = await self._create(self._client, _rules(self.network_policy), snapshot)
        except BaseException:
            await self._client.aclose()
            self._client = None
            raise
        await self.ensure_dirs(self._mount_targets(writable_only=True))
        await self._upload_environment_dir_after_start()

    async def _create(self, client: AsyncSandboxClient, network: Union[str, Dict[str, Any]],
                      snapshot: Optional[str] = None) -> AsyncSession:
        image = self._file.image if self._file else str(self.task_env_config.docker_image)
        limits = {"cpu_cores": self._resource_limit_value("cpu", auto_mode=ResourceMode.LIMIT),
                  "memory_mb": self._resource_limit_value("memory", auto_mode=ResourceMode.LIMIT),
                  "disk_mb": self._effective_storage_mb}
        direct = self._provider == "docker" and self._environment is None
        return await client.create(
            provider=self._provider, image=image if direct else None, snapshot=snapshot,
            environment=None if direct else await self._standing_for(client, image), policy=self._policy, network=network,
            limits={name: float(value) for name, value in limits.items() if value is not None}, env=self._startup_env(),
            ttl_seconds=self._ttl_seconds, extend_on_use=True,
            metadata={_METADATA: "yes", "environment": self.environment_name[:200], "trial": self.session_id[:200]})

    async def _standing_for(self, client: AsyncSandboxClient, image: str) -> str:
        if self._environment is not None:
            return self._environment
        name = image.rsplit("/", 1)[-1].partition("@")[0].partition(":")[0]
        known = {str(one["name"]) for one in await client.environments()}
        if name not in known:
            self.logger.warning("no environment is called '%s': 'base' stands for the image %s", name, image)
        return name if name in known else "base"

    async def _built(self, client: AsyncSandboxClient, force: bool) -> str:
        """The id of the snapshot with what the Dockerfile makes."""
        assert self._file is not None
        name = f"harbor-{self._environment or ''}-{self._provider or ''}-{self.environment_id}"[:64]
        old = [one.snapshot_id async for one in client.snapshots() if one.name == name]
        if old and not force:
            return old[0]
        # As a build of Docker has it, steps may reach the internet whatever the trial may.
        commands = any(step.argv and step.argv[0] != "mkdir" for step in self._file.steps)
        async with await self._create(client, {"allow": ["*"]} if commands else "none") as session:
            for step in self._file.steps:
                await self._carry_out(session, step)
            made = await session.snapshot(name)
        for one in old:
            await client.remove_snapshot(one)
        return made.snapshot_id

    async def _carry_out(self, session: AsyncSession, step: Step) -> None:
        if step.argv:
            user = "root" if step.argv[0] == "mkdir" else step.user
            done = await session.commands.run(list(step.argv), cwd=step.cwd if step.argv[0] != "mkdir" else "/",
                                              env=step.env, user=user, timeout=_UNBOUNDED)
            if not done.ok:
                raise RuntimeError(f"Dockerfile:{step.line}: {' '.join(step.argv)} ended with {done.exit_code}: "
                                   f"{done.stderr or done.stdout or done.reason}")
            return
        for source in sources_of(step, self.environment_dir):
            into = step.target
            if not source.is_dir() and (into.endswith("/") or into.endswith("/.")):
                into = posixpath.join(into, source.name)
            await _upload(session, source, posixpath.normpath(into), step.mode)
            if step.owner:
                await session.commands.run(["chown", "-R", step.owner, posixpath.normpath(into)], user="root")

    async def stop(self, delete: bool) -> None:
        """Without `delete` the session goes on until its time to live is over."""
        session, client = self._session, self._client
        self._session = self._client = None
        try:
            if session is not None and delete:
                await session.end()
        finally:
            if client is not None:
                await client.aclose()

    async def _apply_network_policy(self, network_policy: NetworkPolicy) -> None:
        rules = _rules(network_policy)
        await self.session.set_network({"mode": "none"} if rules == "none" else {"mode": "egress", **dict(rules)})  # type: ignore[arg-type]

    async def exec(self, command: str, cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None,
                   timeout_sec: Optional[int] = None, user: Union[str, int, None] = None) -> ExecResult:
        file = self._file or Dockerfile()
        wanted = self._resolve_user(user)
        told = self._output_callback()
        out: List[str] = []
        err: List[str] = []

        async def heard(text: str, parts: List[str], stream: Any) -> None:
            parts.append(text)
            if told is not None:
                await told(text, stream)

        async def on_out(text: str) -> None:
            await heard(text, out, "stdout")

        async def on_err(text: str) -> None:
            await heard(text, err, "stderr")

        done = await self.session.commands.run(
            ["bash", "-c", command], cwd=cwd or self.task_env_config.workdir or file.workdir,
            env={**file.env, **(self._merge_env(env) or {})}, user=str(wanted) if wanted is not None else file.user,
            timeout=timeout_sec if timeout_sec else _UNBOUNDED, on_stdout=on_out, on_stderr=on_err)
        if done.status == "timeout":
            raise RuntimeError(f"Command timed out after {timeout_sec} seconds")
        return ExecResult(stdout="".join(out), stderr="".join(err) or _reason(done), return_code=done.exit_code)

    async def upload_file(self, source_path: Union[Path, str], target_path: str) -> None:
        await _upload(self.session, Path(source_path), target_path, None)

    async def upload_dir(self, source_dir: Union[Path, str], target_dir: str) -> None:
        await _upload(self.session, Path(source_dir), target_dir, None)

    async def download_file(self, source_path: str, target_path: Union[Path, str]) -> None:
        target = Path(target_path)
        target.parent.mkdir(parents=True, exist_ok=True)
        async with self.session.files.stream(source_path, user="root") as pieces:
            with open(target, "wb") as out:
                async for piece in pieces:
                    out.write(piece)

    async def download_dir(self, source_dir: str, target_dir: Union[Path, str]) -> None:
        Path(target_dir).mkdir(parents=True, exist_ok=True)
        await self.session.files.download_dir(source_dir, target_dir)


async def _upload(session: AsyncSession, source: Path, target: str, mode: Optional[int]) -> None:
    """Permissions are kept unless `mode` says otherwise; links are followed, and one that leads nowhere is left out."""
    if not source.is_dir():
        kept = mode if mode is not None else source.stat().st_mode & 0o777
        with open(source, "rb") as content:
            await session.files.write(target, content, mode=kept, user="root")
        return
    packed = f"/tmp/.harbor-{uuid.uuid4().hex}.tar"
    with pack(source) as archive:
        await session.files.write(packed, archive, user="root")
    change = f" && chmod -R {mode:o} {shlex.quote(target)}" if mode is not None else ""
    done = await session.commands.run(
        ["sh", "-c", f"mkdir -p {shlex.quote(target)} && tar -xpf {packed} --no-same-owner -C {shlex.quote(target)}{change}; "
                     f"status=$?; rm -f {packed}; exit $status"], user="root", timeout=_UNBOUNDED)
    if not done.ok:
        raise RuntimeError(f"{source} could not be copied to {target}: {done.stderr or done.reason}")


def _rules(policy: NetworkPolicy) -> Union[str, Dict[str, Any]]:
    if policy.network_mode == NetworkMode.NO_NETWORK:
        return "none"
    return {"allow": ["*"] if policy.network_mode == NetworkMode.PUBLIC else list(policy.allowed_hosts)}


def _reason(done: Execution) -> str:
    return done.reason or "" if done.exit_code != 0 else ""
