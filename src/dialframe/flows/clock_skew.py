"""How far this machine's clock is from the service's, by one exchange; reads no clock itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from dialframe.contract.ids import REQUEST_ID
from dialframe.contract.limits import SIGNATURE_TOLERANCE_S
from dialframe.flows.diagnosis import Finding

CHECK: Final = "clock"
#: A difference beyond this is said; up to the signatures' tolerance nothing breaks.
NOTED: Final = timedelta(seconds=5)
TOLERANCE: Final = timedelta(seconds=SIGNATURE_TOLERANCE_S)

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_TIME_CHARS: Final = 10


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, by this machine's clock, and the answer's headers."""

    sent_at: datetime
    heard_at: datetime
    headers: Mapping[str, str]


def clock(exchange: Exchange | None) -> Finding:
    """Whether this machine's clock agrees with the service's.

    The service's time is in `Date`, to the second, else in the ULID of `X-Request-ID` (contract,
    Conventions), to the millisecond. It was read some time between sending and hearing, so the
    difference is known within these bounds, and the smallest one that fits is given.
    """
    if exchange is None:
        return Finding(CHECK, "not tried", "the service gave no answer")
    try:
        shown = _service_time(exchange.headers)
    except OverflowError:
        # A year beyond what can be reckoned with is no time.
        shown = None
    if shown is None:
        return Finding(CHECK, "not tried", "not known: the answer has no time in it")
    earliest, latest, source = shown
    ahead = max(exchange.sent_at - latest, timedelta())
    behind = max(earliest - exchange.heard_at, timedelta())
    off = max(ahead, behind)
    way = "ahead of" if ahead else "behind"
    if off <= NOTED:
        return Finding(CHECK, "ok", f"agrees with the service's, by {source}")
    detail = f"{off.total_seconds():.0f} s {way} the service's, by {source}"
    if off <= TOLERANCE:
        return Finding(CHECK, "warning", detail, "have this machine's clock set over the network")
    return Finding(
        CHECK,
        "failed",
        f"{detail}: webhook deliveries would be refused as stale",
        "have this machine's clock set over the network",
    )


def _service_time(headers: Mapping[str, str]) -> tuple[datetime, datetime, str] | None:
    """The first and last instant that the service's clock may have shown, and who says so."""
    dated = _date(headers.get("date", ""))
    if dated is not None:
        return dated, dated + timedelta(seconds=1), "Date"
    stamped = _ulid_time(headers.get("x-request-id", ""))
    if stamped is not None:
        return stamped, stamped + timedelta(milliseconds=1), "X-Request-ID"
    return None


def _date(text: str) -> datetime | None:
    try:
        parsed = parsedate_to_datetime(text)
    except ValueError:
        return None
    # HTTP dates are GMT; the older forms say so without an offset.
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed


def _ulid_time(request_id: str) -> datetime | None:
    if not (request_id.startswith("req_") and REQUEST_ID.fullmatch(request_id)):
        return None
    milliseconds = 0
    for character in request_id.removeprefix("req_")[:_ULID_TIME_CHARS]:
        milliseconds = milliseconds * len(_CROCKFORD) + _CROCKFORD.index(character)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
