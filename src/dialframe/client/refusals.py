"""What follows from a refusal: a further attempt and when, or what a person can do about it; pure.

Sending again does no harm: a read does nothing, and every write has an idempotency key, under which it is done
once however often it is sent. So the question is whether waiting helps. The contract's table of codes says so
in `remedy`; what it does not name, its status.

A wait is never shorter than the service asked for: jitter only adds, and where the wait does not
fit before the deadline the call ends at once instead of asking too early.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from dialframe.client.client_settings import Options
from dialframe.contract import error_codes
from dialframe.contract.operations import Operation
from dialframe.contract.scopes import BY_NAME as SCOPES
from dialframe.errors import ApiError, FieldProblem, TransportError

FIRST_WAIT_S: Final = 0.5
LONGEST_BACKOFF_S: Final = 8.0
#: A service that asks for more than this is taken at its word only under an explicit deadline.
LONGEST_ASKED_S: Final = 120.0
#: Jitter adds up to this share of the wait, so that clients that failed together part company.
JITTER_SHARE: Final = 0.25
#: Contract, Idempotency 6: the same key still runs; Limits: the bucket is empty.
#: Codes that only say "not yet": they get this many times the attempts of a failure.
NOT_YET: Final = ("rate_limit_exceeded", "conflict")
PATIENCE: Final = 4


#: Stands for the time of sending until something is sent.
NEVER: Final = datetime.min.replace(tzinfo=UTC)
#: Field problems that a message names; all of them are in `errors`.
NAMED_FIELDS: Final = 3
#: Scopes needed beyond the row's own (contract, Endpoints: Leads).
FURTHER_SCOPES: Final[dict[str, str]] = {
    "leads.create": "for a running campaign or dial_now also calls:originate",
}
#: A pointer (RFC 6901) to a field that a request can have; a message shows no other.
_POINTER: Final = re.compile(r"(?:/[A-Za-z0-9_.~-]{0,64}){0,8}")


@dataclass(frozen=True, slots=True)
class Policy:
    """How long and how often; `keeps_open` leaves the connection open for whoever reads the body later."""

    timeout_s: float
    deadline_s: float | None
    max_attempts: int
    keeps_open: bool = False

    def of_call(self, options: Options) -> Policy:
        """The same with what the options of a call, or of a client, say instead."""
        return replace(
            self,
            timeout_s=options.timeout_s or self.timeout_s,
            deadline_s=options.deadline_s or self.deadline_s,
            max_attempts=options.max_attempts or self.max_attempts,
        )


@dataclass(slots=True)
class Trail:
    """What a call has left behind so far, for whoever has to judge its error.

    Attributes:
        attempts: How often the request was sent.
        sent_at: When it was sent last, UTC.
        maybe_sent: Whether an attempt without an answer may have reached the service.
        replayed: Whether the last answer is the stored one of the key.
    """

    attempts: int = 0
    sent_at: datetime = NEVER
    maybe_sent: bool = False
    replayed: bool = False


def wait_s(
    error: ApiError | TransportError,
    policy: Policy,
    trail: Trail,
    *,
    elapsed_s: float,
    jitter: float,
) -> float | None:
    """Seconds to wait before the same bytes are sent again after an error; None for never."""
    # Contract, Idempotency 3: the stored answer of a key stays what it is.
    if isinstance(error, ApiError) and (trail.replayed or not _waiting_helps(error)):
        return None
    asked_s = error.retry_after_s if isinstance(error, ApiError) else None
    not_yet = isinstance(error, ApiError) and error.code in NOT_YET
    # Who allows one attempt wants to know at once, a "not yet" included.
    patience = PATIENCE if not_yet and policy.max_attempts > 1 else 1
    if trail.attempts >= policy.max_attempts * patience:
        return None
    # Errors: every 429 and 503 carries `Retry-After` in seconds.
    if asked_s is None:
        asked_s = min(FIRST_WAIT_S * 2.0 ** (trail.attempts - 1), LONGEST_BACKOFF_S)
    # RFC 9110, 10.2.3: for so long the service wants no request; what parts the clients is added to it.
    share_s = min(max(asked_s, FIRST_WAIT_S), LONGEST_BACKOFF_S)
    after_s = asked_s + JITTER_SHARE * jitter * share_s
    if policy.deadline_s is not None:
        return after_s if elapsed_s + after_s < policy.deadline_s else None
    return after_s if asked_s <= LONGEST_ASKED_S else None


def _waiting_helps(error: ApiError) -> bool:
    row = error_codes.BY_CODE.get(error.code)
    if row is not None and error.status in row.statuses:
        return row.remedy == "retry"
    # An answer without a code comes from something in front of the service; a code that we do
    # not know may be a further cap, and asking again at once would spend it.
    return error.status >= 500 or (error.status == 429 and not error.code)


def advice(
    operation: Operation[Any, Any], status: int, code: str, fields: tuple[FieldProblem, ...]
) -> str:
    """The end of a refusal's message: what next."""
    # Contract, Authentication 6: every operation names one scope.
    if code == "insufficient_scope":
        scope = SCOPES[operation.scope].name if operation.scope else "none of its own"
        further = FURTHER_SCOPES.get(operation.name)
        needed = f"it needs the scope {scope}" + (f", {further}" if further else "")
        return f"{needed}; {error_codes.BY_CODE[code].advice}"
    if code == "tier_not_enabled" and operation.switch:
        return f"the switch {operation.switch} is off; {error_codes.BY_CODE[code].advice}"
    if code in error_codes.BY_CODE and status in error_codes.BY_CODE[code].statuses:
        return error_codes.BY_CODE[code].advice + _name_fields(fields)
    if status >= 500:
        return "try again in a while; quote the request id if it stays"
    if code:
        return "the contract does not name this code; quote the request id to the operator"
    # RFC 9110, 15.5.8: the proxy, not the service, wants to know who asks.
    if status == 407:
        return "the proxy asks who you are: put name and password into its URL"
    return "something in front of the service answered; check base_url"


def _name_fields(fields: tuple[FieldProblem, ...]) -> str:
    if not fields:
        return ""
    shown = ", ".join(
        f"{_argument(f.pointer)} ({f.code or 'no code'})" for f in fields[:NAMED_FIELDS]
    )
    unnamed = len(fields) - NAMED_FIELDS
    return f": {shown}" + (f" and {unnamed} more" if unnamed > 0 else "")


def _argument(pointer: str) -> str:
    """A JSON pointer as the Python argument that it means: `/leads/3/phone` is `leads[3].phone`."""
    if not _POINTER.fullmatch(pointer):
        return "a field with an unusual name"
    path = ""
    for part in pointer.split("/")[1:]:
        # RFC 6901, 4: in this order, so that `~01` is `~1`.
        step = part.replace("~1", "/").replace("~0", "~")
        path += f"[{step}]" if step.isdigit() else f".{step}" if path else step
    return path or "the request"


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """`Retry-After` in seconds, or None where it is missing or says neither seconds nor a date.

    A date (RFC 9110, 10.2.3) counts from the answer's own `Date`, so that a clock that is wrong here
    does not matter, else from `now`.
    """
    asked = headers.get("retry-after", "").strip()
    try:
        # Contract, Errors: seconds; a proxy in front may send a date (RFC 9110, 10.2.3).
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
    # RFC 9110, 5.6.7: HTTP dates are GMT; the obsolete forms do not say so.
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
