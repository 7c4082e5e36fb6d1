"""A sandbox backend for deepagents: its file tools and its shell work in a session.

    with AtollSandbox.create() as backend:
        agent = create_deep_agent(model=model, backend=backend)
"""
from __future__ import annotations

from types import TracebackType
from typing import Any, List, Optional, Tuple, Type

from deepagents.backends.protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse
from deepagents.backends.sandbox import BaseSandbox

from .. import errors
from .._sync.client import SandboxClient
from .._sync.session import Session

# deepagents runs python3 inside for its file operations, so the environment must have it.
_ENVIRONMENT = "base"


class AtollSandbox(BaseSandbox):
    """Of a session that somebody else ends, or of its own: see create()."""

    def __init__(self, session: Session, *, timeout: Optional[float] = None) -> None:
        self.session, self._timeout = session, timeout
        self._own_client: Optional[SandboxClient] = None

    @classmethod
    def create(cls, *, environment: str = _ENVIRONMENT, timeout: Optional[float] = None, **create: Any) -> AtollSandbox:
        """With a session of its own, which close() ends. What else is given goes to `SandboxClient.create()`."""
        client = SandboxClient()
        try:
            made = cls(client.create(environment=environment, **create), timeout=timeout)
        except BaseException:
            client.close()
            raise
        made._own_client = client
        return made

    def __enter__(self) -> AtollSandbox:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Ends the session if create() began it."""
        client, self._own_client = self._own_client, None
        if client is not None:
            self.session.end()
            client.close()

    @property
    def id(self) -> str:
        return self.session.id

    def execute(self, command: str, *, timeout: Optional[int] = None) -> ExecuteResponse:
        """Both streams in the order in which they came. A time-out, a policy's no and the like are told at the end."""
        parts: List[str] = []
        # 0 asks for no limit, and a day is the most that the service gives.
        wanted = (timeout or 86400) if timeout is not None else self._timeout
        done = self.session.commands.run(command, timeout=wanted, on_stdout=parts.append, on_stderr=parts.append)
        if done.reason:
            parts.append(f"\n[{done.status}: {done.reason}]")
        return ExecuteResponse(output="".join(parts), exit_code=done.exit_code,
                               truncated=done.stdout_truncated or done.stderr_truncated)

    def upload_files(self, files: List[Tuple[str, bytes]]) -> List[FileUploadResponse]:
        answers = []
        for path, content in files:
            try:
                self.session.files.write(path, content)
                answers.append(FileUploadResponse(path=path))
            except errors.ServiceError as error:
                answers.append(FileUploadResponse(path=path, error=_word(error)))
        return answers

    def download_files(self, paths: List[str]) -> List[FileDownloadResponse]:
        answers = []
        for path in paths:
            try:
                answers.append(FileDownloadResponse(path=path, content=self.session.files.read_bytes(path)))
            except errors.ServiceError as error:
                answers.append(FileDownloadResponse(path=path, error=_word(error)))
        return answers


def _word(error: errors.ServiceError) -> str:
    """deepagents' word for what went wrong, else the service's own message."""
    words = {"not_found": "file_not_found", "not_a_directory": "file_not_found",
             "permission_denied": "permission_denied", "read_only": "permission_denied",
             "is_a_directory": "is_directory", "invalid_argument": "invalid_path"}
    return words.get(error.code, error.message)
