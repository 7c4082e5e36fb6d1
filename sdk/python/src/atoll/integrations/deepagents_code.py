"""The sandbox provider `atoll` of Deep Agents Code: `dcode --sandbox atoll`. The package registers it by an entry point."""
from __future__ import annotations

from typing import Any, Optional

from deepagents_code.integrations.sandbox_provider import (SandboxError, SandboxNotFoundError, SandboxProvider,
                                                           SandboxProviderMetadata)

from .. import errors
from .._sync.client import SandboxClient
from .deepagents import AtollSandbox


class AtollProvider(SandboxProvider):
    """Sessions of the service that ATOLL_URL and ATOLL_API_KEY name. What else is given goes to `SandboxClient.create()`."""

    def __init__(self) -> None:
        self._client: Optional[SandboxClient] = None

    @property
    def client(self) -> SandboxClient:
        if self._client is None:
            self._client = SandboxClient()
        return self._client

    @property
    def metadata(self) -> SandboxProviderMetadata:
        return SandboxProviderMetadata(name="atoll", working_dir="/home/user", supports_sandbox_id=True,
                                       supports_snapshot_name=False)

    def get_or_create(self, *, sandbox_id: Optional[str] = None, environment: str = "base", **kwargs: Any) -> AtollSandbox:
        """A session that goes on when this process ends: delete() ends it, or its time to live."""
        try:
            if sandbox_id is not None:
                return AtollSandbox(self.client.connect(sandbox_id))
            return AtollSandbox(self.client.create(environment=environment, **kwargs).keep())
        except errors.NotFoundError as error:
            raise SandboxNotFoundError(str(error)) from error
        except errors.AtollError as error:
            raise SandboxError(str(error)) from error

    def delete(self, *, sandbox_id: str, **kwargs: Any) -> None:
        """Harmless for one that has ended or never was."""
        try:
            self.client.get(sandbox_id).end()
        except errors.NotFoundError:
            return
        except errors.AtollError as error:
            raise SandboxError(str(error)) from error
