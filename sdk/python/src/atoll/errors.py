"""Every way in which a call of this package can fail.

What a guest's program did is no error of a call: it is the `status` of an `Execution`. The classes follow the closed
set of codes of the service, grouped by what a caller can do about them:

    AtollError
      ConfigurationError          the client was not told enough, or something wrong
      ConnectError                the service was not reached; nothing was sent
      ConnectionLostError         the connection was cut; whether the call took effect is not known
      RequestTimeoutError         no answer in time; whether the call took effect is not known
      ProtocolError               an answer that this client does not understand
      ExecutionFailedError        raised by Execution.check() alone: the guest's program did not succeed
      ServiceError                the service refused or failed, and said why
        UserError                 the request must be changed
        RetryableError            the same call may succeed later
        LimitError                a limit was reached
        PolicyError               a policy refused the code
        ProviderError             the machinery of sandboxes failed
        InternalError             a defect of the service
"""
from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Type


class AtollError(Exception):
    """The root of all. `hint` says in one sentence what to do about it."""

    hint: str = ""

    def __init__(self, message: str, *, hint: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = message
        if hint is not None:
            self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ConfigurationError(AtollError):
    """The client was not told enough, or something wrong, before anything was sent."""


class ConnectError(AtollError):
    """The service was not reached. Nothing was sent, so trying again is safe."""

    hint = "check ATOLL_URL, and that the daemon runs: `atoll serve`"


class ConnectionLostError(AtollError):
    """The connection was cut before the whole answer came."""

    hint = "whether the call took effect is not known: look at the session or its history before you repeat it"


class RequestTimeoutError(AtollError):
    """No answer in time."""

    hint = "give a larger request_timeout; whether the call took effect is not known"


class ProtocolError(AtollError):
    """An answer that this client does not understand."""

    hint = "check that ATOLL_URL names an Atoll service, and that its version fits this package"


class ExecutionFailedError(AtollError):
    """The guest's program did not succeed. Raised by `Execution.check()` and by nothing else."""

    def __init__(self, message: str, execution: Any) -> None:
        super().__init__(message)
        self.execution = execution


class ServiceError(AtollError):
    """The service refused or failed, and said why."""

    def __init__(self, message: str, *, code: str = "", status: int = 0, retryable: bool = False,
                 field: Optional[str] = None, request_id: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.retryable = retryable
        self.field = field
        self.request_id = request_id

    def __reduce__(self) -> Tuple[Any, ...]:
        facts = {"code": self.code, "status": self.status, "retryable": self.retryable, "field": self.field,
                 "request_id": self.request_id}
        return (_rebuild, (type(self), self.message, facts))


def _rebuild(kind: Type[ServiceError], message: str, facts: Dict[str, Any]) -> ServiceError:
    return kind(message, **facts)


class UserError(ServiceError):
    """The request must be changed; the same one fails again."""


class RetryableError(ServiceError):
    """The same call may succeed later."""


class LimitError(ServiceError):
    """A limit was reached."""


class PolicyError(ServiceError):
    """A policy refused the code."""


class ProviderError(ServiceError):
    """The machinery of sandboxes failed, neither the caller nor the guest."""


class InternalError(ServiceError):
    """A defect of the service."""

    hint = "report it with the request id; the service's log has the details"


class InvalidArgumentError(UserError):
    hint = "correct the field that the error names"


class NotFoundError(UserError):
    hint = "check the name or id; what belongs to another tenant is not found either"


class MethodNotAllowedError(UserError):
    hint = "the service and this package are of different versions: use those that fit"


class AlreadyExistsError(UserError):
    hint = "choose another name, or remove what is there first"


class PathNotADirectoryError(UserError):
    hint = "a part of the path is a file"


class PathIsADirectoryError(UserError):
    hint = "the path is a directory; name a file, or use list() or remove(recursive=True)"


class NotEmptyError(UserError):
    hint = "pass recursive=True to remove a directory with what is in it"


class LoopError(UserError):
    hint = "the path follows too many symbolic links, or a directory would move into itself"


class NoSpaceError(LimitError):
    hint = "remove files, or create the session with a larger limits={'disk_mb': ...}"


class ReadOnlyError(UserError):
    hint = "write below /home/user or /tmp instead"


class TooLargeError(LimitError):
    hint = "send less at once: stream files, shorten names"


class UnauthenticatedError(UserError):
    hint = "set ATOLL_API_KEY, or pass api_key, to a key that `atoll keys` knows"


class PermissionDeniedError(UserError):
    hint = "use a key whose role allows this, or for files and commands another user="


class PolicyDeniedError(PolicyError):
    hint = "change the code as the findings recommend, or ask the operator for another policy"


class ConflictError(UserError):
    hint = "the message names what stands in the way; refresh() tells a session's state, a paused one wants resume()"


class ResourceExhaustedError(LimitError):
    hint = "wait and try again, or end sessions that are not needed"


class UnsupportedError(UserError):
    hint = "capabilities() says what each provider of this machine can do"


class DeadlineExceededError(RetryableError):
    hint = "try again, or give it more time"


class CanceledError(UserError):
    hint = "the call was given up by its caller"


class UnavailableError(RetryableError):
    hint = "a passing failure: try again"


class DataLossError(InternalError):
    hint = "something stored is damaged; the service's log says what"


class ProviderFailedError(ProviderError):
    hint = "try again; `atoll doctor` on the machine says what it lacks"


class InternalServiceError(InternalError):
    pass


# One class for each code of the service, and for nothing else.
BY_CODE: Mapping[str, Type[ServiceError]] = {
    "invalid_argument": InvalidArgumentError,
    "not_found": NotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "already_exists": AlreadyExistsError,
    "not_a_directory": PathNotADirectoryError,
    "is_a_directory": PathIsADirectoryError,
    "not_empty": NotEmptyError,
    "loop": LoopError,
    "no_space": NoSpaceError,
    "read_only": ReadOnlyError,
    "too_large": TooLargeError,
    "unauthenticated": UnauthenticatedError,
    "permission_denied": PermissionDeniedError,
    "policy_denied": PolicyDeniedError,
    "conflict": ConflictError,
    "resource_exhausted": ResourceExhaustedError,
    "unsupported": UnsupportedError,
    "deadline_exceeded": DeadlineExceededError,
    "canceled": CanceledError,
    "unavailable": UnavailableError,
    "data_loss": DataLossError,
    "provider_failed": ProviderFailedError,
    "internal": InternalServiceError,
}

# For a code that a newer service may have and this package does not know.
_BY_CATEGORY: Mapping[str, Type[ServiceError]] = {
    "user": UserError, "retryable": RetryableError, "limit": LimitError, "policy": PolicyError,
    "provider": ProviderError, "internal": InternalError,
}


def from_code(code: str, message: str, field: str = "") -> ServiceError:
    """The error of a code, for what fails in this process instead of in the service."""
    return BY_CODE.get(code, ServiceError)(message, code=code, field=field or None)


def from_answer(status: int, body: Any) -> AtollError:
    """The error that an answer of the service stands for."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        return ProtocolError(f"status {status} without an error that Atoll would send")
    details = error.get("details")
    if not isinstance(details, dict):
        details = {}
    kind = BY_CODE.get(error["code"]) or _BY_CATEGORY.get(str(details.get("category")), ServiceError)
    field = details.get("field")
    message = str(error.get("message", ""))
    if field:
        message = f"{message} [field {field}]"
    return kind(message, code=error["code"], status=status, retryable=bool(details.get("retryable")),
                field=str(field) if field else None, request_id=str(error.get("request_id", "")))
