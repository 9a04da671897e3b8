"""The whole audit: every check over the same calls, put together; grades nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance import (
    abandonment,
    advisory,
    consent,
    further,
    grading,
    grading_records,
    lifting,
    recordkeeping,
    wording,
)
from dialframe.compliance import rulebook as books
from dialframe.compliance.calendars import Declared
from dialframe.compliance.checking import Check
from dialframe.compliance.dnc import REQUEST_CODES, honoured
from dialframe.compliance.dnc.scrub import Coverage
from dialframe.compliance.facts import HolidayRule
from dialframe.compliance.graded import Graded
from dialframe.compliance.grading import Grades
from dialframe.compliance.ground import Ground, Question, in_period
from dialframe.compliance.intake import (
    moment,
    shaped,
    take_callbacks,
    take_calls,
    take_checks,
    take_leads,
)
from dialframe.compliance.late import Parts, Pending
from dialframe.compliance.notes import LIMITS, about_book, about_data, about_declared, about_states
from dialframe.compliance.practice import Practice, frozen
from dialframe.compliance.result import CHECKS, Audit
from dialframe.compliance.rulebook import RuleBook
from dialframe.errors import ConfigError

_NOTHING: Final = Declared()
_EVERY_CALL: Final = ("calling_hours", "scrub_at_call", "listed_number")


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
    every = books.load() if rulebook is None else rulebook
    _require_known(declared, every)
    book = every.select(rules)
    at = moment(now)
    asks = Question(
        book, at, since, until, frozen(practice), states, lifting.take(exemptions, book), dnc_codes,
        grace, import_screen_counts, declared, consent.take(consents, look_ups), outcomes, events,
    )  # fmt: skip
    ground = Ground(
        asks,
        take_calls(calls, as_of=now, since=since, until=until),
        take_leads(leads, as_of=now),
        take_checks(checks, as_of=now),
        take_callbacks(callbacks),
    )
    first = ground.taken.rows.loc[ground.taken.seen, "created_at"].min()
    whole = Whole.of(ground, oldest=first, began_at=began_at)

    def by_codes(codes: RuleBook, some: pd.DataFrame) -> Audit:
        return audit(
            leads, some, checks, callbacks, now=now, since=since, until=until, rulebook=codes,
            states=states, dnc_codes=dnc_codes, grace=grace,
            import_screen_counts=import_screen_counts, practice=practice, exemptions=exemptions,
            declared=declared, consents=consents, look_ups=look_ups, outcomes=outcomes,
            events=events, began_at=began_at,
        )  # fmt: skip

    advice, of_codes, advised = advisory.evaluate(
        book, calls, ground.taken, ground.history_cases, by_codes
    )
    rows = [check.row() for check in whole.checks]
    notes = about_data(
        silent=whole.grades.silent,
        asked=whole.grades.candidates,
        unanswered=len(checks) - len(ground.ledger),
    )
    return Audit(
        findings=Pending(whole.findings),
        checks=shaped({c.name: [row[c.name] for row in rows] for c in CHECKS}, CHECKS),
        coverage=whole.coverage,
        hours=Pending(lambda: wording.in_hours(ground, ground.part())),
        listed=Pending(lambda: wording.to_listed(ground, ground.part())),
        excluded=dict(ground.taken.excluded),
        rulebook_version=book.version,
        rulebook_sha256=book.sha256,
        as_of=at.to_pydatetime(),
        notes=(
            *LIMITS,
            *about_book(book, at),
            *about_declared(book, declared),
            *advised,
            *notes,
            *about_states(states),
        ),
        parts=whole.parts(of_codes).joined(advice),
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
class Whole:
    """Every check of an audit, counted; in words only when somebody asks.

    Attributes:
        ground: What it stands on.
        grades: Checks of calls.
        checks: All checks, in the order of a report; one that no rule asks for is left out.
        coverage: How far records reach.
        small: Frames of the checks of campaigns, requests and rules.
    """

    ground: Ground
    grades: Grades
    checks: Sequence[Graded | Check]
    coverage: Coverage
    small: Mapping[str, pd.DataFrame]

    @classmethod
    def of(
        cls, ground: Ground, *, oldest: pd.Timestamp | None, began_at: datetime | None
    ) -> Whole:
        """Grade everything."""
        book = ground.asks.book
        grades = grading.grade(ground)
        small = {
            "requests": _requests(ground),
            "abandonment": _abandonment(ground),
            "retention": _retention(ground, oldest, began_at),
        }
        done = grades.checks
        always = [
            done["calling_hours"], done["scrub_at_call"],
            grading_records.callable_numbers(ground), done["listed_number"],
        ]  # fmt: skip
        further_ones: list[Graded | Check] = [
            done["attempt_caps"], done["emergency"],
            further.internal_dnc(small["requests"], book),
            further.abandonment(small["abandonment"], book),
            done["consent"], done["records"], further.retention(small["retention"], book),
        ]  # fmt: skip
        checks = [*always, *(check for check in further_ones if check.rules)]
        _assert_whole(checks, len(ground.at_us))
        ground.settle()
        return cls(ground, grades, checks, _coverage(ground), small)

    def findings(self) -> pd.DataFrame:
        """One row per call or number and check that did not pass.

        Only the calls that some check did not pass are put into words.
        """
        flagged = np.zeros(len(self.ground.at_us), dtype=bool)
        for graded in self.grades.checks.values():
            flagged |= graded.flagged()
        told = wording.tell(self.ground, self.ground.part(np.flatnonzero(flagged)))
        parts = []
        for check in self.checks:
            if isinstance(check, Check):
                parts.append(check.findings)
            elif check.name == "scrub_coverage":
                parts.append(wording.callable_numbers(self.ground, self.coverage).findings)
            else:
                parts.append(told.checks[check.name].findings)
            _assert_same(check, parts[-1])
        return pd.concat(parts, ignore_index=True)

    def parts(self, of_codes: pd.DataFrame) -> Parts:
        """Frames of every further check, those of calls made when they are asked for."""
        ground = self.ground
        return Parts(
            {
                "attempts": Pending(lambda: wording.in_caps(ground, ground.part())),
                "requests": self.small["requests"],
                "abandonment": self.small["abandonment"],
                "consent": Pending(lambda: wording.consent_rows(ground)),
                "records": Pending(lambda: wording.records_rows(ground)),
                "retention": self.small["retention"],
                "emergencies": Pending(lambda: wording.emergency_rows(ground)),
                "rules": _rules(ground.asks.book, [*self.grades.by_rule, of_codes]),
            }
        )


def _requests(ground: Ground) -> pd.DataFrame:
    asks = ground.asks
    asked = ground.asked[in_period(ground.asked["at"], asks.since, asks.until)]
    table = ground.records_of(ground.keys.of(asked["phone"]))
    return honoured.grade(
        asked, table, ground.people, now=asks.at, book=asks.book, practice=asks.practice,
        states=_series(asks.states),
    )  # fmt: skip


def _abandonment(ground: Ground) -> pd.DataFrame:
    names = ["campaign_id", "created_at", *(["id"] if ground.asks.outcomes is not None else [])]
    calls = ground.taken.rows[names]
    graded = ground.taken.graded
    calls = calls if len(graded) == len(calls) else calls.iloc[graded].reset_index(drop=True)
    return abandonment.grade(
        calls.assign(direction_known=ground.directed), ground.cases, ground.days,
        ground.asks.book, ground.asks.outcomes,
    )  # fmt: skip


def _retention(
    ground: Ground, oldest: pd.Timestamp | None, began_at: datetime | None
) -> pd.DataFrame:
    first = (
        None if oldest is None or pd.isna(oldest) else pd.Timestamp(str(oldest)).to_pydatetime()
    )
    return recordkeeping.retention(
        first, ground.asks.book, now=ground.asks.at.to_pydatetime(), began_at=began_at
    )


def _coverage(ground: Ground) -> Coverage:
    """How far records reach; its frames are made when they are asked for."""
    covered = Coverage(
        numbers=Pending(lambda: wording.coverage_numbers(ground)),
        calls=Pending(lambda: wording.in_time(ground, ground.part(), ground.table)),
        summary=Pending(lambda: wording.coverage_summary(ground, covered.numbers)),
        as_of=ground.asks.at.to_pydatetime(),
        max_age_days=ground.max_age_days,
    )
    return covered


def _series(states: Mapping[str, str] | pd.Series | None) -> pd.Series | None:
    return states if states is None or isinstance(states, pd.Series) else pd.Series(dict(states))


def _assert_whole(done: Sequence[Graded | Check], calls: int) -> None:
    """Rows in are rows graded: nothing falls out of the checks that ask every call."""
    for check in done:
        if isinstance(check, Graded) and check.name in _EVERY_CALL:
            graded = int((check.codes != 0).sum())
            if graded != calls:
                raise AssertionError(f"{check.name}: {calls} calls in, {graded} graded")


def _assert_same(check: Graded | Check, findings: pd.DataFrame) -> None:
    """What was counted is what is told."""
    if isinstance(check, Graded):
        counted = int(check.flagged().sum())
        if counted != len(findings):
            raise AssertionError(f"{check.name}: {counted} counted, {len(findings)} told")


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
