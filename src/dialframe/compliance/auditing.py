"""The whole audit: every check over the same calls, put together; grades nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import pandas as pd

from dialframe.compliance import (
    abandonment,
    advisory,
    attempts,
    cases,
    checking,
    consent,
    following,
    further,
    hours,
    lifting,
    listing,
    recordkeeping,
    spans,
)
from dialframe.compliance import rulebook as books
from dialframe.compliance.calendars import Declared
from dialframe.compliance.cases import Cases
from dialframe.compliance.checking import Check, Context
from dialframe.compliance.clock import Flags, Ints
from dialframe.compliance.dnc import REQUEST_CODES, honoured, listed, scrub, timely
from dialframe.compliance.dnc.evidence import records, requests
from dialframe.compliance.facts import HolidayRule, HonourRule
from dialframe.compliance.intake import (
    Intake,
    moment,
    shaped,
    take_callbacks,
    take_calls,
    take_checks,
    take_leads,
)
from dialframe.compliance.notes import LIMITS, about_book, about_data, about_declared, about_states
from dialframe.compliance.practice import Practice, frozen
from dialframe.compliance.result import CHECKS, Audit
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days
from dialframe.errors import ConfigError

_DEFAULT_AGE_DAYS: Final = 31
_NOTHING: Final = Declared()


def audit(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    checks: pd.DataFrame,
    callbacks: pd.DataFrame | None = None,
    *,
    now: datetime,
    since: datetime | None = None,
    until: datetime | None = None,
    rulebook: RuleBook | None = None,
    rules: Sequence[str] | None = None,
    states: Mapping[str, str] | pd.Series | None = None,
    dnc_codes: Sequence[str] = REQUEST_CODES,
    grace: timedelta = timedelta(0),
    import_screen_counts: bool = True,
    practice: Practice | None = None,
    exemptions: pd.DataFrame | None = None,
    declared: Declared = _NOTHING,
    consents: pd.DataFrame | None = None,
    look_ups: pd.DataFrame | None = None,
    outcomes: Mapping[str, str] | pd.Series | None = None,
    events: pd.DataFrame | None = None,
    began_at: datetime | None = None,
    taxonomy: str = "",
    data_version: str = "",
) -> Audit:
    """Calls and numbers held against every rule that reaches them; the strictest answer counts.

    Voluntary codes are evaluated apart (`advisory`): what is found there is no violation.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table. Requests not to be called, and attempts in a window, are
            looked for before the period too, so it should reach back as far as the records do.
        checks: Ledger of Do-Not-Call checks, frame of the dnc_checks table.
        callbacks: Frame of the callbacks table; a call near a due callback is named as a
            candidate for an exemption, its grade stays.
        now: The moment of the audit; later calls, leads and checks are left out.
        since: First instant of the period; None: from the first call.
        until: First instant after the period; None: `now`.
        rulebook: The rules; by default those of the package.
        rules: Jurisdictions or ids of rules to ask (`us`, `us-fl`, `us-*`, `gb`); None: all.
        states: Number to US state or ZIP code, where the account knows it; adds zones and the
            rules of the state, never takes one away.
        dnc_codes: Dispositions that mean "do not call me again".
        grace: Where no rule of the place speaks of requests, calls this long after one are
            indeterminate instead of proven; elsewhere the rules say how long.
        import_screen_counts: Whether a lead's creation counts as a record that said "not listed".
        practice: What the firm says of its calling: purpose, dialing, line types.
        exemptions: Records that lift a rule, columns `lifting.COLUMNS`.
        declared: Days that were declared: emergencies, a governor's holidays.
        consents: Records of consent, columns `consent.CONSENTS`.
        look_ups: Look-ups of reassigned numbers, columns `consent.LOOK_UPS`.
        outcomes: Call id to `dropped`, `live` or `machine`, for the share of abandoned calls.
        events: Requests not to be called beside those of calls: `phone`, `at`, `ref`, `code`.
        began_at: When the account began, as far as it is known.
        taxonomy: Version of the taxonomy behind `dnc_codes` and `outcomes`.
        data_version: What the frames were read from, in words.

    Returns:
        The audit.

    Raises:
        ConfigError: A frame lacks a column, an instant or a moment has no time zone, a
            jurisdiction is not in the book, the period ends before it begins.
    """
    _require_order(since, until)
    whole = books.load() if rulebook is None else rulebook
    _require_known(declared, whole)
    book = whole.select(rules)
    at = moment(now)
    taken = take_calls(calls, as_of=now, since=since, until=until)
    people, ledger = take_leads(leads, as_of=now), take_checks(checks, as_of=now)
    table = records(people, ledger, import_screen_counts=import_screen_counts)
    given = frozen(practice)
    lifted = lifting.take(exemptions, book)
    told_events = None if events is None else events[events["at"] <= at]
    ground = _ground(taken, given, states, lifted)
    timed, by_rule = hours.grade(
        taken.outbound,
        people,
        take_callbacks(callbacks),
        rules=book,
        cases=ground.cases,
        declared=declared,
    )
    told = checking.context(taken.outbound, people, timed)
    limits = timely.limits(taken.outbound, ground.cases, ground.days, book)
    covered = scrub.measure(
        taken, people, table, now=at, max_age_days=_max_age(book, at), by_law=limits,
        limit_of=_limit_of(book, given, states, at),
    )  # fmt: skip
    law = listed.Law(
        ground.cases.codes,
        ground.cases.kinds,
        book.of_kind(HonourRule),
        book.listed,
        listing.days(taken.outbound["created_at"], at.date()),
    )
    speaking = listed.grade(
        taken, people, table, now=at, codes=dnc_codes, grace=grace, law=law, events=told_events
    )
    done = [
        checking.calling_hours(told, timed, book),
        checking.scrub_at_call(told, covered, book.freshness(at.date()), limits),
        checking.scrub_coverage(covered, book.freshness(at.date()), states),
        listing.listed_number(told, covered, speaking, book, at.date(), ground.cases),
    ]
    asked = requests(taken.every, dnc_codes, told_events)
    asked = asked[_in_period(asked["at"], since, until)]
    more, parts, counts = _further(
        taken, ground, told, book, declared,
        requests=honoured.grade(
            asked, table, people, now=at, book=book, practice=given, states=_series(states)
        ),
        outcomes=outcomes, given=consent.take(consents, look_ups),
        unlisted=checking.unlisted(covered),
        oldest=taken.every["created_at"].min(), began_at=began_at, now=at,
    )  # fmt: skip
    done += more
    _assert_whole(done, len(taken.outbound))

    def by_codes(codes: RuleBook, some: pd.DataFrame) -> Audit:
        return audit(
            leads, some, checks, callbacks, now=now, since=since, until=until, rulebook=codes,
            states=states, dnc_codes=dnc_codes, grace=grace,
            import_screen_counts=import_screen_counts, practice=practice, exemptions=exemptions,
            declared=declared, consents=consents, look_ups=look_ups, outcomes=outcomes,
            events=events, began_at=began_at,
        )  # fmt: skip

    advice, of_codes, advised = advisory.evaluate(
        book, calls, taken.history, ground.history, by_codes
    )
    parts |= advice
    parts["rules"] = _rules(book, [by_rule, *counts, of_codes])
    rows = [check.row() for check in done]
    return Audit(
        findings=pd.concat([check.findings for check in done], ignore_index=True),
        checks=shaped({c.name: [row[c.name] for row in rows] for c in CHECKS}, CHECKS),
        coverage=covered,
        hours=timed,
        listed=speaking,
        excluded=dict(taken.excluded),
        rulebook_version=book.version,
        rulebook_sha256=book.sha256,
        as_of=at.to_pydatetime(),
        notes=(
            *LIMITS,
            *about_book(book, at),
            *about_declared(book, declared),
            *advised,
            *about_data(covered, timed, unanswered=len(checks) - len(ledger)),
            *about_states(states),
        ),
        parts=parts,
        since=since,
        until=until,
        taxonomy=taxonomy,
        data_version=data_version,
    )


def _require_known(declared: Declared, book: RuleBook) -> None:
    """A misspelt rule in a file of declared days would let calls on these days pass.

    Raises:
        ConfigError: A rule of the file is no rule on holidays of the book.
    """
    known = {rule.id for rule in books.load().of_kind(HolidayRule)}
    known |= {rule.id for rule in book.of_kind(HolidayRule)}
    odd = sorted(set(declared.days) - known)
    if odd:
        raise ConfigError(
            f"declared days: {odd[0]!r} is no rule on holidays; `dialframe rules list --kind "
            "holiday` shows them"
        )


def _require_order(since: datetime | None, until: datetime | None) -> None:
    """An empty period is a slip of the pen: no finding in it would be no result.

    Raises:
        ConfigError: The period ends before it begins.
    """
    if since is not None and until is not None and moment(until) <= moment(since):
        raise ConfigError(
            f"the period ends at {until:%Y-%m-%d %H:%M}, not after its begin at "
            f"{since:%Y-%m-%d %H:%M}; exchange the two"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Ground:
    """Cases and local days: of the graded calls, and of all that count in windows."""

    cases: Cases
    days: Days
    history: Cases
    history_days: Days


def _ground(
    taken: Intake,
    practice: Practice,
    states: Mapping[str, str] | pd.Series | None,
    lifted: lifting.Lifted,
) -> _Ground:
    whole = cases.sort(taken.history, practice=practice, states=states, lifted=lifted)
    first, last = hours.span(taken.history)
    days = spans.of_calls(taken.history, whole, first=first, last=last)
    at = taken.positions
    part = Cases(whole.codes[at], whole.kinds, whole.phones[at])
    return _Ground(part, Days(days.low[at], days.high[at]), whole, days)


def _further(
    taken: Intake,
    ground: _Ground,
    told: Context,
    book: RuleBook,
    declared: Declared,
    *,
    requests: pd.DataFrame,
    outcomes: Mapping[str, str] | pd.Series | None,
    given: consent.Given,
    unlisted: Flags,
    oldest: object,
    began_at: datetime | None,
    now: pd.Timestamp,
) -> tuple[list[Check], dict[str, pd.DataFrame], list[pd.DataFrame]]:
    """The checks beside hours and lists; a check that no rule asks for is left out."""
    earlier = following.take(taken.history, taken.every, outcomes)
    capped, by_cap = attempts.grade(
        taken.history, ground.history, book, ground.history_days, earlier
    )
    capped = capped.iloc[taken.positions].reset_index(drop=True)
    dropped = abandonment.grade(taken.outbound, ground.cases, ground.days, book, outcomes)
    agreed, by_consent = consent.grade(
        taken.outbound, ground.cases, ground.days, book, given, unlisted
    )
    whole = recordkeeping.completeness(taken.outbound, ground.cases, ground.days, book)
    first = None if pd.isna(oldest) else pd.Timestamp(str(oldest)).to_pydatetime()
    kept = recordkeeping.retention(first, book, now=now.to_pydatetime(), began_at=began_at)
    banned, emergencies = further.emergency(told, ground.cases, ground.days, book, declared)
    checks = [
        further.attempt_caps(told, capped, book),
        banned,
        further.internal_dnc(requests, book),
        further.abandonment(dropped, book),
        further.consent(told, agreed, book),
        further.records(told, whole, book),
        further.retention(kept, book),
    ]
    parts = {
        "attempts": capped, "requests": requests, "abandonment": dropped, "consent": agreed,
        "records": whole, "retention": kept, "emergencies": emergencies,
    }  # fmt: skip
    return [check for check in checks if check.rules], parts, [by_cap, by_consent]


def _max_age(book: RuleBook, at: pd.Timestamp) -> int:
    """Age for numbers of places without a rule: that of the federal rules where they are asked."""
    own = [r for r in book.freshness(at.date()) if r.jurisdiction == "US"]
    return min((rule.parameters.max_age_days for rule in own), default=_DEFAULT_AGE_DAYS)


def _limit_of(
    book: RuleBook,
    practice: Practice,
    states: Mapping[str, str] | pd.Series | None,
    at: pd.Timestamp,
) -> Callable[[pd.Series], Ints]:
    """How old a record of each number may be on the day of the audit."""

    def of(phones: pd.Series) -> Ints:
        rows = pd.DataFrame(
            {
                "to_number": phones,
                "campaign_id": pd.Series(None, index=phones.index, dtype="str"),
                "created_at": pd.Series(at, index=phones.index, dtype="datetime64[us, UTC]"),
            }
        )
        sorted_ = cases.sort(rows, practice=practice, states=states)
        first, last = hours.span(rows)
        days = spans.of_calls(rows, sorted_, first=first, last=last)
        return timely.limits(rows, sorted_, days, book).max_age_days

    return of


def _in_period(at: pd.Series, since: datetime | None, until: datetime | None) -> pd.Series:
    inside = pd.Series(data=True, index=at.index)
    if since is not None:
        inside &= at >= moment(since)
    if until is not None:
        inside &= at < moment(until)
    return inside


def _series(states: Mapping[str, str] | pd.Series | None) -> pd.Series | None:
    return states if states is None or isinstance(states, pd.Series) else pd.Series(dict(states))


def _assert_whole(done: Sequence[Check], calls: int) -> None:
    """Rows in are rows graded: nothing falls out of the checks that ask every call."""
    for check in done:
        if check.name in ("calling_hours", "scrub_at_call", "listed_number"):
            graded = len(check.grades)
            if graded != calls:
                raise AssertionError(f"{check.name}: {calls} calls in, {graded} graded")
        if check.grades.isna().any():
            raise AssertionError(f"{check.name}: a row has no grade")


def _rules(book: RuleBook, counts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Every rule that was asked, with the calls of each grade where it is counted by itself."""
    told = pd.concat([part for part in counts if len(part)] or counts, ignore_index=True)
    table = pd.DataFrame(
        {
            "rule_id": [rule.id for rule in book.rules],
            "title": [rule.title for rule in book.rules],
            "jurisdiction": [rule.jurisdiction for rule in book.rules],
            "kind": [rule.kind for rule in book.rules],
            "status": [rule.status for rule in book.rules],
            "force": [rule.force for rule in book.rules],
            "confidence": [rule.confidence for rule in book.rules],
            "citation": [rule.citation for rule in book.rules],
        }
    ).astype("str")
    merged = table.merge(told, on="rule_id", how="left")
    for name in ("pass", "violation", "uncertain", "not_evaluable"):
        merged[name] = merged[name].astype("Int64")
    return merged
