"""One tree of errors.

    DialframeError
    |- ConfigError             a setting, key or argument is missing or wrong (also a ValueError)
    |- TransportError          no answer came: the host, the connection, the deadline
    |- ApiError                the service answered with a problem document
    |  |- AuthenticationError    401: the key is not accepted
    |  |- PermissionDenied       403: scope, switch, address, account
    |  |- InvalidRequest         400, 413, 415, 422: the request itself is wrong
    |  |- NotFound               404, 405
    |  |- Conflict               409: the resource is in another state
    |  |  `- OutcomeUnknown        409 outcome_unknown: the write may have happened
    |  |- PreconditionFailed     412: it changed since it was read
    |  |- Refused                402, 422: the service's compliance or balance checks said no
    |  |- RateLimited            429 rate_limit_exceeded: wait and go on
    |  |- LimitReached           429: a cap that waiting a moment does not lift
    |  `- ServiceUnavailable     5xx
    |- ContractError           the answer is not what the contract says
    |- StoreError              the local store cannot be read or written
    |- LeadFileError           a lead file cannot be read at all
    |  `- OpenQuestion           it can, once a person has said something about it
    `- WebhookError            a delivery is not the service's, not fresh, or not an event

A message says what, where and what next, in one sentence; keys never appear, numbers are masked.
Every class pickles, so an error crosses process borders whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialframe.privacy import redact


class DialframeError(Exception):
    """Root of everything that dialframe raises on purpose.

    Attributes:
        partial: Of work in batches, the results that came before the error; empty otherwise.
    """

    partial: tuple[Any, ...] = ()

    def __init__(self, message: str) -> None:
        # Whoever prints, logs or pickles an error shows its text: no number and no key gets that far.
        super().__init__(redact(message))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class ConfigError(DialframeError, ValueError):
    """A setting, a key or an argument is missing or wrong."""


class TransportError(DialframeError):
    """No answer came from the service.

    Attributes:
        operation: Name of the operation, as in the contract table.
        sent: False when not one byte of the request can have arrived.
    """

    def __init__(self, message: str, *, operation: str = "", sent: bool = True) -> None:
        super().__init__(message)
        self.operation = operation
        self.sent = sent


# Contract, Errors: with `validation_failed`, as RFC 9457, 3 shows it.
@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One entry of `errors` in a validation problem: where (JSON pointer) and what (code)."""

    pointer: str
    code: str


class ApiError(DialframeError):
    """The service answered with a problem document (RFC 9457).

    Attributes:
        operation: Name of the operation, as in the contract table.
        status: HTTP status.
        code: The problem's `code`; unknown ones survive, what cannot be a code (words, control bytes) is "".
        detail: The service's own words, for people only; keys and numbers hidden.
        request_id: `X-Request-ID` of the answer, for the operator.
        retry_after_s: Seconds that the service asked to wait, or None.
        errors: Field problems of a refused request.
        key: The idempotency key that the request carried, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        operation: str = "",
        status: int = 0,
        code: str = "",
        detail: str = "",
        request_id: str | None = None,
        retry_after_s: float | None = None,
        errors: tuple[FieldProblem, ...] = (),
        key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.operation = operation
        self.status = status
        self.code = code
        self.detail = redact(detail)
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        self.errors = errors
        self.key = key


class AuthenticationError(ApiError):
    """The key is missing, malformed, unknown, expired or revoked."""


class PermissionDenied(ApiError):
    """The key is known and may not do this: scope, switch, address or account."""


class InvalidRequest(ApiError):
    """The request itself is wrong, and stays wrong however often it is sent."""


class NotFound(ApiError):
    """The id names nothing of the account, or the path is unknown."""


class Conflict(ApiError):
    """The resource is in a state that does not allow this."""


# Contract, Idempotency 7: never retry that operation with a new key.
class OutcomeUnknown(Conflict):
    """The service cannot say whether the write happened; `key` names it for later."""


# RFC 9110, 13.1.1: `If-Match` names another version than there is.
class PreconditionFailed(ApiError):
    """The resource changed since it was read."""


class Refused(ApiError):
    """The service's compliance, country or balance check refused it; nothing happened."""


class RateLimited(ApiError):
    """Too many requests; `retry_after_s` says when to go on."""


# Contract, Errors: the caps are daily, so that waiting a moment lifts none.
class LimitReached(ApiError):
    """A daily, spend or replay limit is used up."""


class ServiceUnavailable(ApiError):
    """The service or something behind it is out of order."""


class ContractError(DialframeError):
    """The answer is not what the contract says.

    Attributes:
        operation: Name of the operation, as in the contract table.
        where: What in the answer is wrong, as a path into it.
    """

    def __init__(self, message: str, *, operation: str = "", where: str = "") -> None:
        super().__init__(message)
        self.operation = operation
        self.where = where


class StoreError(DialframeError):
    """The local store cannot be opened, read or written."""


class LeadFileError(DialframeError):
    """A lead file cannot be read at all.

    Attributes:
        path: The file.
        line: Physical line, 1-based, where it is known.
    """

    def __init__(self, message: str, *, path: Path | str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class OpenQuestion(LeadFileError):
    """A lead file that can be used once a person has said what nothing in it says, such as its country."""


class WebhookError(DialframeError):
    """A webhook delivery that must not be believed.

    Attributes:
        why: `missing_header`, `bad_timestamp`, `stale`, `bad_signature` or `bad_body`.
    """

    def __init__(self, message: str, *, why: str = "") -> None:
        super().__init__(message)
        self.why = why


_FAMILIES: tuple[type[ApiError], ...] = (
    ApiError, AuthenticationError, PermissionDenied, InvalidRequest, NotFound, Conflict, OutcomeUnknown,
    PreconditionFailed, Refused, RateLimited, LimitReached, ServiceUnavailable,
)  # fmt: skip
#: Family name, as in the contract's table of error codes, to class.
FAMILIES: dict[str, type[ApiError]] = {family.__name__: family for family in _FAMILIES}

__all__ = [
    "FAMILIES",
    "ApiError",
    "AuthenticationError",
    "ConfigError",
    "Conflict",
    "ContractError",
    "DialframeError",
    "FieldProblem",
    "InvalidRequest",
    "LeadFileError",
    "LimitReached",
    "NotFound",
    "OpenQuestion",
    "OutcomeUnknown",
    "PermissionDenied",
    "PreconditionFailed",
    "RateLimited",
    "Refused",
    "ServiceUnavailable",
    "StoreError",
    "TransportError",
    "WebhookError",
]


def _rebuild(
    kind: type[DialframeError], args: tuple[Any, ...], state: dict[str, Any]
) -> DialframeError:
    # Keyword arguments of `__init__` are not in `args`, so it cannot be called again.
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
