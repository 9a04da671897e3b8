"""Turns problem documents (contract, Errors) into errors that say what, where and what next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from dialframe.contract import error_codes
from dialframe.contract.models.shape import Answer
from dialframe.contract.row import Operation
from dialframe.contract.scopes import BY_NAME as SCOPES
from dialframe.errors import (
    FAMILIES,
    ApiError,
    FieldProblem,
    PreconditionFailed,
)

#: Field problems that a message names; all of them are in `errors`.
NAMED_FIELDS: Final = 3
#: Scopes needed beyond the row's own (contract, Endpoints: Leads).
FURTHER_SCOPES: Final[dict[str, str]] = {
    "leads.create": "for a running campaign or dial_now also calls:originate",
}


class ChangedSince(PreconditionFailed):
    """The resource changed since it was read, and `fresh` is what it says now.

    Attributes:
        fresh: The resource, read again; None if it could not be read.
    """

    fresh: Answer | None = None


def problem_error(
    operation: Operation[Any, Any],
    *,
    status: int,
    headers: Mapping[str, str],
    body: Any,
    key: str | None = None,
    now: datetime | None = None,
) -> ApiError:
    """The error that an answer of status 400 or above stands for.

    Args:
        operation: The row that was asked.
        status: HTTP status.
        headers: Headers by lower-case name.
        body: The parsed problem document, or None where the body is none.
        key: The idempotency key that was sent.
        now: The present, for a `Retry-After` that is a date and an answer without one.
    """
    document: dict[str, Any] = body if isinstance(body, dict) else {}
    code = _text(document.get("code"))
    request_id = headers.get("x-request-id") or _text(document.get("request_id")) or None
    fields = _field_problems(document.get("errors"))
    what = f"{operation.name}: {status} {code or 'without a problem document'}"
    request = f" (request {request_id})" if request_id else ""
    next_step = _advice(operation, status, code, fields)
    if key and _open_still(status, code):
        next_step += f": client.writes.settle({key!r})"
    return FAMILIES[error_codes.family_of(code, status)](
        f"{what}{request}: {next_step}",
        operation=operation.name,
        status=status,
        code=code,
        detail=_text(document.get("detail")),
        request_id=request_id,
        retry_after_s=retry_after_s(headers, now),
        errors=fields,
        key=key,
    )


def changed_since(error: PreconditionFailed, fresh: Answer | None) -> ChangedSince:
    """The same error with the resource as it is now."""
    richer = ChangedSince(str(error))
    richer.__dict__.update(error.__dict__)
    richer.fresh = fresh
    return richer


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """`Retry-After` in seconds, or None where it is missing or says neither seconds nor a date.

    A date (RFC 9110, 10.2.3) counts from the answer's own `Date`, so that a clock that is wrong here
    does not matter, else from `now`.
    """
    asked = headers.get("retry-after", "").strip()
    try:
        seconds = float(asked)
    except ValueError:
        until, since = _http_date(asked), _http_date(headers.get("date", "")) or now
        if until is None or since is None:
            return None
        return max(0.0, (until - since).total_seconds())
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _http_date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _open_still(status: int, code: str) -> bool:
    if code == "dnc_screen_unavailable":
        return False
    return status >= 500 or code in ("conflict", "outcome_unknown")


def _advice(
    operation: Operation[Any, Any], status: int, code: str, fields: tuple[FieldProblem, ...]
) -> str:
    if code == "insufficient_scope":
        return f"{_scopes(operation)}; {error_codes.BY_CODE[code].advice}"
    if code == "tier_not_enabled" and operation.switch:
        return f"the switch {operation.switch} is off; {error_codes.BY_CODE[code].advice}"
    if code in error_codes.BY_CODE and status in error_codes.BY_CODE[code].statuses:
        return error_codes.BY_CODE[code].advice + _named(fields)
    if status >= 500:
        return "try again in a while; quote the request id if it stays"
    if code:
        return "the contract does not name this code; quote the request id to the operator"
    if status == 407:
        return "the proxy asks who you are: put name and password into its URL"
    return "something in front of the service answered; check base_url"


def _scopes(operation: Operation[Any, Any]) -> str:
    scope = SCOPES[operation.scope].name if operation.scope else "none of its own"
    further = FURTHER_SCOPES.get(operation.name)
    return f"it needs the scope {scope}" + (f", {further}" if further else "")


def _named(fields: tuple[FieldProblem, ...]) -> str:
    if not fields:
        return ""
    shown = ", ".join(f"{_argument(f.pointer)} ({f.code})" for f in fields[:NAMED_FIELDS])
    more = len(fields) - NAMED_FIELDS
    return f": {shown}" + (f" and {more} more" if more > 0 else "")


def _argument(pointer: str) -> str:
    """A JSON pointer as the Python argument that it means: `/leads/3/phone` is `leads[3].phone`."""
    path = ""
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        path += f"[{step}]" if step.isdigit() else f".{step}" if path else step
    return path or "the request"


def _field_problems(errors: Any) -> tuple[FieldProblem, ...]:
    if not isinstance(errors, list):
        return ()
    return tuple(
        FieldProblem(_text(entry.get("pointer")), _text(entry.get("code")))
        for entry in errors
        if isinstance(entry, dict)
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
