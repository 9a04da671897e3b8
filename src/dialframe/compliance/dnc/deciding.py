"""The grade of one call from what is on record around it; knows no frames.

When a number was listed is known only within an interval: after the last record that said "not
listed", by the first that said "listed". A call inside the interval is indeterminate, never clear.

| the newest check before the call | the oldest record at or after it | grade |
|---|---|---|
| listed | anything | proven |
| not listed, or none | listed | indeterminate |
| not listed, or none | not listed, or none | clear |

Beside that, whatever the checks say:

| the call started | grade |
|---|---|
| after a request not to be called, and after the grace | proven |
| during the requesting call, or in the grace | indeterminate |
| up to the start of the requesting call | by the table above, but a record that says listed and is later than the request is explained by it |
| after the last change of a lead that is `dnc` without a request | proven |
| before it | the flag is a record that says listed |

An import screen is a record that says "not listed", but no check: it never outweighs an earlier
check that said "listed".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

import numpy as np

from dialframe.compliance.dnc.honouring import Span
from dialframe.compliance.grades import (
    CLEAR,
    CREATED_AT,
    INDETERMINATE,
    NOT_EVALUABLE,
    PROVEN,
)

BY_CHECK: Final = "check"
BY_REQUEST: Final = "request"
BY_STATUS: Final = "lead status"
BY_NOTHING: Final = "nothing"


@dataclass(frozen=True, slots=True)
class Record:
    """One thing on record about a number: when, what it is, its id, what it said."""

    at: datetime
    source: str
    ref: str
    listed: bool

    def __str__(self) -> str:
        said = "said" if self.listed else "said not"
        return f"{self.source} {self.ref} {said} listed at {stamp(self.at)}"


@dataclass(frozen=True, slots=True)
class Request:
    """A request not to be called: the call that it was made on, and the outcome logged for it."""

    began_at: datetime
    at: datetime
    call_id: str
    code: str
    spans: tuple[Span, ...] = ()

    def __str__(self) -> str:
        return f"disposition {self.code} on call {self.call_id} that ended at {stamp(self.at)}"


@dataclass(frozen=True, slots=True)
class Around:
    """What is on record around one call.

    Attributes:
        at: Start of the call, UTC; None when it is not known.
        check: Newest check before the call.
        following: Oldest record of any kind at or after the call.
        request: First request on the number.
        flag: The lead status, where no request explains it.
        clean: Newest record that said "not listed" before the one that decides.
        listed_since: Oldest check that said "listed" since the last that did not.
    """

    at: datetime | None
    check: Record | None = None
    following: Record | None = None
    request: Request | None = None
    flag: Record | None = None
    clean: Record | None = None
    listed_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Grade of one call, with what it rests on."""

    grade: Literal["proven", "indeterminate", "clear", "not evaluable"]
    basis: str
    reason: str
    evidence: tuple[str, ...] = ()
    listed_after: datetime | None = None
    listed_by: datetime | None = None
    missing: str | None = None


def decide(
    around: Around, *, grace: timedelta, listed_grace: timedelta = timedelta(0)
) -> Decision:
    """The grade of one call; see the tables above.

    Where a rule leaves a number free for some days after its listing (`listed_grace`), a call that
    soon after the earliest record that could be the listing is indeterminate.
    """
    if around.at is None:
        reason = "created_at is missing, so the call cannot be placed in time"
        return Decision(NOT_EVALUABLE, BY_NOTHING, reason, missing=CREATED_AT)
    proven = _proven(around, around.at, grace)
    if (
        proven is not None
        and listed_grace
        and proven.basis == BY_CHECK
        and around.check is not None
    ):
        first = around.listed_since or around.check.at
        if around.at - first < listed_grace:
            days = listed_grace // timedelta(days=1)
            reason = f"{proven.reason}, but listed for less than {days} days as far as is known"
            return replace(proven, grade=INDETERMINATE, reason=reason)
    return proven or _open(around, around.at) or _clear(around)


def stamp(at: datetime) -> str:
    """An instant in words, UTC, seconds cut."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def weekdays(start: datetime, end: datetime) -> int:
    """Mondays to Fridays after the UTC day of `start`, up to that of `end`; holidays count."""
    first = np.datetime64(start.date(), "D") + 1
    return int(np.busday_count(first, np.datetime64(end.date(), "D") + 1))


def _proven(around: Around, at: datetime, grace: timedelta) -> Decision | None:
    grounds: list[tuple[str, datetime, str, str]] = []
    check, request, flag = around.check, around.request, around.flag
    if check is not None and check.listed:
        told = f"the newest check before the call, of {stamp(check.at)}, said listed"
        grounds.append((BY_CHECK, check.at, str(check), told))
    if request is not None and _is_late(request, at, grace):
        days, counted = (at - request.at) / timedelta(days=1), weekdays(request.at, at)
        told = f"{days:.1f} days ({counted} weekdays) after a request not to be called"
        allowed = "; ".join(f"{s.rule.id} allows {s.days}" for s in request.spans if s.rule)
        told += f", {allowed}" if allowed else ""
        grounds.append((BY_REQUEST, request.at, str(request), told))
    if flag is not None and at > flag.at:
        told = f"the lead was marked dnc by {stamp(flag.at)}"
        grounds.append((BY_STATUS, flag.at, _flag_words(flag), told))
    if not grounds:
        return None
    by_list = any(basis != BY_REQUEST for basis, *_ in grounds)
    evidence = [words for _, _, words, _ in grounds]
    if by_list and around.clean is not None:
        evidence.append(str(around.clean))
    return Decision(
        PROVEN,
        " + ".join(basis for basis, *_ in grounds),
        "; ".join(told for *_, told in grounds),
        tuple(evidence),
        around.clean.at if by_list and around.clean is not None else None,
        min(when for _, when, *_ in grounds),
    )


def _open(around: Around, at: datetime) -> Decision | None:
    request, following, clean = around.request, around.following, around.clean
    if request is not None and at > request.began_at:
        during = at <= request.at
        over = not during and _is_over(request, at)
        inside = "the time for which the request binds is over" if over else "inside the grace"
        told = "during the call that the request was made on" if during else inside
        reason = f"{told}, which ended at {stamp(request.at)}" if during else told
        return Decision(INDETERMINATE, BY_REQUEST, reason, (str(request),), None, request.at)
    if following is None or not following.listed or _explained(following, request):
        return None
    since = "at an unknown time" if clean is None else f"after {stamp(clean.at)}"
    reason = f"the number became listed {since} and by {stamp(following.at)}; the call is between"
    words = _flag_words(following) if following.source == BY_STATUS else str(following)
    return Decision(
        INDETERMINATE,
        BY_STATUS if following.source == BY_STATUS else BY_CHECK,
        reason,
        (words, *([] if clean is None else [str(clean)])),
        None if clean is None else clean.at,
        following.at,
    )


def _is_late(request: Request, at: datetime, grace: timedelta) -> bool:
    """Whether a call breaks any rule on requests; without a rule the grace counts."""
    if not request.spans:
        return at > request.at + grace
    return any(
        at > span.starts_at and (span.ends_at is None or at <= span.ends_at)
        for span in request.spans
    )


def _is_over(request: Request, at: datetime) -> bool:
    return bool(request.spans) and all(
        span.ends_at is not None and at > span.ends_at for span in request.spans
    )


def _explained(following: Record, request: Request | None) -> bool:
    """A number is listed after its owner asked for it: then the request is the reason."""
    return request is not None and following.at > request.at


def _clear(around: Around) -> Decision:
    following, request = around.following, around.request
    if following is not None and not following.listed:
        reason = f"a record of {stamp(following.at)}, after the call, said not listed"
        return Decision(CLEAR, BY_CHECK, reason, (str(following),))
    if request is not None:
        reason = "the request not to be called came on this call or later, and explains the rest"
        return Decision(CLEAR, BY_REQUEST, reason, (str(request),), None, request.at)
    check = around.check
    if check is not None:
        reason = f"the newest check before the call, of {stamp(check.at)}, said not listed"
        return Decision(CLEAR, BY_CHECK, reason, (str(check),))
    return Decision(CLEAR, BY_NOTHING, "nothing on record bears on the time of this call")


def _flag_words(flag: Record) -> str:
    return f"lead {flag.ref} has status dnc and was last changed at {stamp(flag.at)}"
