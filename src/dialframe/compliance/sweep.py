"""Hours, attempts and Do-Not-Call checks of very many calls at once, as numbers; puts nothing into words.

The same grades as `audit` gives, from the same tables, for calls that are counted in millions:
one byte per call and check, in pieces, so that memory holds the calls and not their explanations.
Requests not to be called, leads, consents and exemptions are left to `audit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numba
import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance import hours, sums, tables
from dialframe.compliance.attempts import windows
from dialframe.compliance.calendars import Declared, ordinal
from dialframe.compliance.cases import Case, Cases, reached
from dialframe.compliance.dnc.listed import free_days
from dialframe.compliance.facts import CapRule, FreshnessRule
from dialframe.compliance.practice import Practice, Setting, frozen
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, conditions, reach
from dialframe.compliance.tables import lay_out_zones
from dialframe.phones.placing import place

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.int8]

#: Grades as they stand in the arrays, in order of severity.
NOT_ASKED, PASSED, NOT_EVALUABLE, UNCERTAIN, VIOLATION = range(5)
NAMES: Final = ("not asked", "pass", "not evaluable", "uncertain", "violation")

_PIECE: Final = 1_000_000
_HOUR_US: Final = 3_600_000_000
_DAY_US: Final = 24 * _HOUR_US
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_ALL: Final = 2**40
#: A place in the ledger is one number: the first check above, how many below.
_HALF: Final = 32
_LOW: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sweep:
    """Grades of calls, one byte each, in the order given; values are positions in `NAMES`.

    Attributes:
        hours: Calling hours and holidays.
        attempts: Caps on attempts; `NOT_ASKED` where no rule has one.
        scrub: Age of the newest check at or before the call.
        listed: Whether the checks around the call said listed: a violation is proven, uncertain
            is indeterminate.
    """

    hours: Bytes
    attempts: Bytes
    scrub: Bytes
    listed: Bytes

    def counts(self) -> pd.DataFrame:
        """Calls of each check by grade: rows are checks, columns `NAMES`."""
        checks = {
            "calling_hours": self.hours, "attempt_caps": self.attempts,
            "scrub_at_call": self.scrub, "listed_number": self.listed,
        }  # fmt: skip
        rows = {name: np.bincount(grades, minlength=len(NAMES)) for name, grades in checks.items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=list(NAMES))


def sweep(
    phones: Ints,
    at_us: Ints,
    campaigns: npt.NDArray[np.int32],
    check_phones: Ints,
    check_at_us: Ints,
    check_listed: npt.NDArray[np.bool_],
    *,
    book: RuleBook,
    practice: Practice | None = None,
    states: Mapping[str, str] | pd.Series | None = None,
    declared: Declared | None = None,
) -> Sweep:
    """Grade outbound calls against the rules of a book.

    Args:
        phones: Called numbers as `phones.placing.as_integers` gives them, -1 for none.
        at_us: Starts of the calls, microseconds since 1970 in UTC.
        campaigns: Campaign of each call as a number, negative for none.
        check_phones: Numbers of the Do-Not-Call checks.
        check_at_us: When they were made.
        check_listed: What they said.
        book: The rules; `select` takes some jurisdictions.
        practice: What the firm says of its calling; by campaign it is not asked here.
        states: Number to US state or ZIP code.
        declared: Days that were declared.

    Returns:
        The grades.
    """
    firm = frozen(practice)
    cases = _cases(phones, firm, states)
    first, last = _span(at_us)
    hourly = _hours(at_us, cases, book, first, last, declared or Declared())
    days = _days(at_us, cases, first, last)
    capped = _attempts(at_us, campaigns, cases, book, days)
    scrub, listed = _checks(
        at_us, cases, book, days, _Ledger.of(check_phones, check_at_us, check_listed), last.date()
    )
    return Sweep(hourly, capped, scrub, listed)


def _cases(
    phones: Ints, practice: Practice, states: Mapping[str, str] | pd.Series | None
) -> Cases:
    placed = place(phones, states)
    setting = Setting(practice.purpose, practice.dialing)
    kinds = tuple(Case(zones, setting) for zones in placed.kinds)
    return Cases(placed.codes, kinds, phones)


def _span(at_us: Ints) -> tuple[datetime, datetime]:
    low, high = (int(at_us.min()), int(at_us.max())) if len(at_us) else (0, 0)
    start = datetime(1970, 1, 1, tzinfo=UTC)
    return start + timedelta(microseconds=low), start + timedelta(microseconds=high)


def _hours(
    at_us: Ints,
    cases: Cases,
    book: RuleBook,
    first: datetime,
    last: datetime,
    declared: Declared,
) -> Bytes:
    asked = hours.asked_rules(book)
    layout = tables.lay_out(
        cases.kinds, asked, first=first.date(), last=last.date(), declared=declared
    )
    counts = np.zeros((max(len(asked), 1), 5), dtype=np.int64)
    grade = np.array([NOT_EVALUABLE, PASSED, NOT_EVALUABLE, UNCERTAIN, VIOLATION], dtype=np.int8)
    found = np.empty(len(at_us), dtype=np.int8)
    for start in range(0, len(at_us), _PIECE):
        piece = slice(start, start + _PIECE)
        level, *_ = sums.grade(
            at_us[piece],
            cases.codes[piece],
            *layout.arguments,
            counts,
            False,  # noqa: FBT003
        )
        found[piece] = grade[level]
    return found


def _days(at_us: Ints, cases: Cases, first: datetime, last: datetime) -> Days:
    week = timedelta(days=7)
    arrays = lay_out_zones(cases.kinds, (first - week).date(), (last + week).date())
    return Days(*sums.local_days(at_us, cases.codes, *arrays))


def _attempts(
    at_us: Ints,
    campaigns: npt.NDArray[np.int32],
    cases: Cases,
    book: RuleBook,
    days: Days,
) -> Bytes:
    """Caps in rolling windows; caps by local days are left to `audit`."""
    found = np.zeros(len(at_us), dtype=np.int8)
    usable = cases.phones >= 0
    rules = [
        r
        for r in book.of_kind(CapRule)
        if r.parameters.trigger is None and r.parameters.window_type == "rolling"
    ]
    for rule, rows, hits in reach(rules, cases, days, usable):
        p = rule.parameters
        span = p.window_hours or 24 * (p.window_days or 1)
        every, same = windows(
            cases.phones[rows], campaigns[rows].astype(np.int64), at_us[rows], span * _HOUR_US
        )
        if p.subject_proxy is None:
            level = np.where(every > p.max_attempts, VIOLATION, PASSED)
        else:
            level = np.where(every > p.max_attempts, UNCERTAIN, PASSED)
            level = np.where(same > p.max_attempts, VIOLATION, level)
        missing, doubtful = conditions(hits, cases.codes[rows])
        level = np.where((level > PASSED) & doubtful, UNCERTAIN, level)
        level = np.where((level > PASSED) & missing, NOT_EVALUABLE, level)
        found[rows] = np.maximum(found[rows], level.astype(np.int8))
    return found


def _checks(
    at_us: Ints, cases: Cases, book: RuleBook, days: Days, ledger: _Ledger, last: date
) -> tuple[Bytes, Bytes]:
    rules = [
        r
        for r in book.of_kind(FreshnessRule)
        if r.parameters.check == "age" and r.status != "voluntary_code"
    ]
    of_case = [
        [each.rule for each in reached(case, rules) if isinstance(each.rule, FreshnessRule)]
        for case in cases.kinds
    ]
    ends = np.cumsum([0, *(len(each) for each in of_case)]).astype(np.int64)
    table = np.array(
        [
            (
                -_ALL if rule.effective_from is None else ordinal(rule.effective_from),
                _ALL if rule.effective_to is None else ordinal(rule.effective_to),
                rule.parameters.max_age_days * _DAY_US,
                int(rule.parameters.basis == "quarter_of_call"),
            )
            for each in of_case
            for rule in each
        ],
        dtype=np.int64,
    ).reshape(-1, 4)
    free = np.array(free_days(cases.kinds, book.listed(last)), dtype=np.int64) * _DAY_US
    found = _judge(
        cases.phones, at_us, cases.codes, days.low, days.high, ends, table, free,
        ledger.table, ledger.told,
    )  # fmt: skip
    return found[0], found[1]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Ledger:
    """Checks by number, in order of time, behind a table that finds a number in one or two looks.

    Attributes:
        table: Rows of number (-1: empty) and the place of its checks, first and how many in one.
        told: Twice the instant of each check, and one more where it said listed.
    """

    table: Ints
    told: Ints

    @classmethod
    def of(cls, phones: Ints, at: Ints, listed: npt.NDArray[np.bool_]) -> _Ledger:
        """Lay out checks; of two at one instant the listed one stands last."""
        told = at * 2 + listed
        if len(told) and not bool((told[1:] >= told[:-1]).all()):
            order = np.argsort(told, kind="stable")
            phones, told = phones[order], told[order]
        size = 1 << max(4, int(2 * max(len(phones), 1) - 1).bit_length())
        return cls(*_index(phones, told, size))


@numba.njit(cache=True, nogil=True)
def _index(phones, told, size):  # type: ignore[no-untyped-def]
    table = np.zeros((size, 2), dtype=np.int64)
    table[:, 0] = -1
    shift = np.uint64(64 - int(np.log2(size)))
    group = np.empty(len(phones), dtype=np.int32)
    counts = np.zeros(len(phones) + 1, dtype=np.int32)
    groups = 0
    for row in range(len(phones)):
        spot = np.int64((np.uint64(phones[row]) * _MIX) >> shift)
        while table[spot, 0] != -1 and table[spot, 0] != phones[row]:
            spot = (spot + 1) & (size - 1)
        if table[spot, 0] == -1:
            table[spot, 0], table[spot, 1] = phones[row], groups
            groups += 1
        group[row] = table[spot, 1]
        counts[group[row] + 1] += 1
    for place_ in range(groups):
        counts[place_ + 1] += counts[place_]
    for place_ in range(size):
        if table[place_, 0] != -1:
            first = np.int64(counts[table[place_, 1]])
            many = np.int64(counts[table[place_, 1] + 1]) - first
            table[place_, 1] = (first << _HALF) | many
    ordered = np.empty(len(told), dtype=np.int64)
    for row in range(len(phones)):
        ordered[counts[group[row]]] = told[row]
        counts[group[row]] += 1
    return table, ordered


@numba.njit(cache=True, nogil=True)
def _quarter(at):  # type: ignore[no-untyped-def]
    """Calendar quarters since year 0 of an instant, by the civil calendar in UTC."""
    day = at // _DAY_US + 719_468
    era = day // 146_097
    of_era = day - era * 146_097
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    month = month + 3 if month < 10 else month - 9
    return (year + era * 400 + (1 if month <= 2 else 0)) * 4 + (month - 1) // 3


@numba.njit(cache=True, nogil=True)
def _judge(  # type: ignore[no-untyped-def]  # noqa: C901
    phones,
    at,
    codes,
    low,
    high,
    rule_ends,
    rules,
    free,
    table,
    told,
):
    """Grades by the age of the newest check, and by what the checks around the call said."""
    size = len(table)
    shift = np.uint64(64 - int(np.log2(size)))
    scrub = np.full(len(at), NOT_EVALUABLE, dtype=np.int8)
    listed = np.full(len(at), NOT_EVALUABLE, dtype=np.int8)
    for row in range(len(at)):
        phone = phones[row]
        if phone < 0:
            continue
        spot = np.int64((np.uint64(phone) * _MIX) >> shift)
        while table[spot, 0] != -1 and table[spot, 0] != phone:
            spot = (spot + 1) & (size - 1)
        if table[spot, 0] == -1:
            continue
        start = table[spot, 1] >> _HALF
        end = start + (table[spot, 1] & _LOW)
        limit, quarter = np.int64(0), False
        for place_ in range(rule_ends[codes[row]], rule_ends[codes[row] + 1]):
            if high[row] >= rules[place_, 0] and low[row] <= rules[place_, 1]:
                limit = rules[place_, 2] if limit == 0 else min(limit, rules[place_, 2])
                quarter = quarter or rules[place_, 3] == 1
        left, right = start, end
        while left < right:  # the first check after the call
            middle = (left + right) // 2
            if told[middle] >> 1 <= at[row]:
                left = middle + 1
            else:
                right = middle
        before, after = left - 1, left
        in_time = False
        if before >= start and limit > 0:
            in_time = at[row] - (told[before] >> 1) <= limit
            if in_time and quarter:
                in_time = _quarter(at[row]) == _quarter(told[before] >> 1)
            scrub[row] = PASSED if in_time else UNCERTAIN
        # A check at the very instant of the call is a record of it, not one before it.
        strict = before
        while strict >= start and told[strict] >> 1 == at[row]:
            strict -= 1
        following = strict + 1
        while following + 1 < end and told[following + 1] >> 1 == told[following] >> 1:
            following += 1
        if strict >= start and told[strict] & 1:
            since = strict
            while since > start and told[since - 1] & 1:
                since -= 1
            fresh = at[row] - (told[since] >> 1) < free[codes[row]]
            listed[row] = UNCERTAIN if fresh else VIOLATION
        elif following < end and told[following] & 1:
            listed[row] = UNCERTAIN
        elif (in_time and not told[before] & 1) or (after < end and not told[after] & 1):
            listed[row] = PASSED
    return scrub, listed
