"""Every check of very many calls at once, from integers alone; puts nothing into words.

The same grades as `audit` gives, from the same passes, for calls that are counted in tens of
millions: one byte per call and check, so that memory holds the calls and not their explanations.
Records of consent, of exemptions and of declared days, which are looked up by text, are left to
`audit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance import (
    consent,
    grading,
    grading_hours,
    grading_records,
    hours,
    lifting,
    spans,
    sums,
)
from dialframe.compliance.calendars import Declared
from dialframe.compliance.cases import Case, Cases
from dialframe.compliance.dnc import REQUEST_CODES
from dialframe.compliance.following import Earlier
from dialframe.compliance.graded import Graded
from dialframe.compliance.ground import Question, persons
from dialframe.compliance.intake import UNKNOWN, moment
from dialframe.compliance.judging import OPEN
from dialframe.compliance.ledger import CLEAN, LISTED, SCREEN, Ledger
from dialframe.compliance.practice import Practice, Setting, frozen
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, Spells
from dialframe.phones.placing import place

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.int8]

#: Grades as they stand in the arrays, in order of severity.
NOT_ASKED, PASSED, NOT_EVALUABLE, UNCERTAIN, VIOLATION = range(5)
NAMES: Final = ("not asked", "pass", "not evaluable", "uncertain", "violation")

_NOTHING: Final = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sweep:
    """Grades of calls, one byte each, in the order given; values are positions in `NAMES`.

    Attributes:
        hours: Calling hours and holidays.
        attempts: Caps on attempts; `NOT_ASKED` where no rule has one.
        scrub: Age of the newest record at or before the call.
        listed: Whether what is on record speaks against the number: a violation is proven,
            uncertain is indeterminate.
        emergency: Rules on declared emergencies, of which nobody was told here.
        consent: Rules on consent, of which no record is given here.
    """

    hours: Bytes
    attempts: Bytes
    scrub: Bytes
    listed: Bytes
    emergency: Bytes
    consent: Bytes

    def counts(self) -> pd.DataFrame:
        """Calls of each check by grade: rows are checks, columns `NAMES`."""
        checks = {
            "calling_hours": self.hours, "scrub_at_call": self.scrub,
            "listed_number": self.listed, "attempt_caps": self.attempts,
            "emergency": self.emergency, "consent": self.consent,
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
    requests: tuple[Ints, Ints] = (_NOTHING, _NOTHING),
    screens: tuple[Ints, Ints] = (_NOTHING, _NOTHING),
    grace: timedelta = timedelta(0),
    now: datetime | None = None,
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
        declared: Days that were declared as holidays.
        requests: Numbers that asked not to be called, each once, and when.
        screens: Numbers of imported leads, and when they were screened.
        grace: For how long a request may go unheeded where no rule speaks of requests.
        now: The day whose rules on lists count; None: that of the last call.

    Returns:
        The grades.
    """
    tables = coded(
        phones, at_us, campaigns, check_phones, check_at_us, check_listed, book=book,
        practice=practice, states=states, declared=declared, requests=requests, screens=screens,
        grace=grace, now=now,
    )  # fmt: skip
    tables.spells  # noqa: B018 - both passes read them
    with ThreadPoolExecutor(1) as beside:  # compiled passes and numpy leave the interpreter free
        on_record = beside.submit(_of_records, tables)
        hourly = _named(grading_hours.of_hours(tables)[0])
        capped = _named(grading.of_attempts(tables)[0])
        agreed = _named(grading.of_consent(tables)[0])
        banned = _named(grading.of_emergency(tables))
        scrub, listed = on_record.result()
    return Sweep(hourly, capped, scrub, listed, banned, agreed)


def _of_records(tables: Coded) -> tuple[Bytes, Bytes]:
    scrub, listed, _ = grading_records.of_records(tables)
    tables.settle()
    return _named(scrub), _named(listed)


def coded(
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
    requests: tuple[Ints, Ints] = (_NOTHING, _NOTHING),
    screens: tuple[Ints, Ints] = (_NOTHING, _NOTHING),
    grace: timedelta = timedelta(0),
    now: datetime | None = None,
) -> Coded:
    """The tables of a sweep, whose arguments these are."""
    _, last, known = sums.ends(at_us, UNKNOWN)
    day = hours.EPOCH + timedelta(microseconds=int(last) if known else 0)
    day = day if now is None else now.astimezone(UTC)
    asks = Question(
        book, moment(day), None, None, frozen(practice), states, lifting.take(None, book),
        REQUEST_CODES, grace, bool(len(screens[0])), declared or Declared(),
        consent.take(None, None), None, None,
    )  # fmt: skip
    return Coded(
        asks, phones, at_us, campaigns,
        (check_phones, check_at_us, check_listed), requests, screens,
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """Calls and records as integers, as `graded.Tables` reads them; every call is graded and counts.

    Attributes:
        asks: What is asked.
        phones: Called numbers.
        at_us: Starts of the calls.
        campaigns: Their campaigns.
        checks: Numbers, instants and answers of the checks.
        requests: Numbers that asked not to be called, and when.
        screens: Numbers that were screened at import, and when.
    """

    asks: Question
    phones: Ints
    at_us: Ints
    campaigns: npt.NDArray[np.int32]
    checks: tuple[Ints, Ints, Flags]
    requests: tuple[Ints, Ints]
    screens: tuple[Ints, Ints]

    @cached_property
    def directed(self) -> Flags:
        """All calls are outbound."""
        return np.ones(len(self.at_us), dtype=bool)

    @cached_property
    def cases(self) -> Cases:
        """Cases by number; all calls have the same circumstances."""
        placed = place(self.phones, self.asks.states)
        setting = Setting(self.asks.practice.purpose, self.asks.practice.dialing)
        kinds = tuple(Case(zones, setting) for zones in placed.kinds)
        return Cases(placed.codes, kinds, self.phones)

    @cached_property
    def days(self) -> Days:
        """Local days."""
        first, last = hours.utc_span(self.at_us)
        one = timedelta(days=1)
        return spans.of_instants(self.at_us, self.cases, first=first - one, last=last + one)

    @cached_property
    def spells(self) -> Spells:
        """Calls by case and by what was in force on their days."""
        return spans.spells(self.cases, self.days, self.asks.book.rules)

    @cached_property
    def records(self) -> Ledger:
        """Checks and import screens."""
        phones, at, said = self.checks
        kinds = np.where(said, LISTED, CLEAN).astype(np.uint8)
        if len(self.screens[0]):
            phones = np.concatenate([phones, self.screens[0]])
            at = np.concatenate([at, self.screens[1]])
            kinds = np.concatenate([kinds, np.full(len(self.screens[0]), SCREEN, np.uint8)])
        return Ledger.of(phones, at, kinds)

    @property
    def persons(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Numbers that asked not to be called."""
        phones, at = self.requests
        return persons((phones, at, at), (_NOTHING, _NOTHING), _NOTHING)

    @property
    def earlier_us(self) -> Ints:
        """Starts of the calls."""
        return self.at_us

    @property
    def history_directed(self) -> Flags:
        """All calls are outbound."""
        return self.directed

    @property
    def history_cases(self) -> Cases:
        """Cases of the calls."""
        return self.cases

    @property
    def history_days(self) -> Days:
        """Local days of the calls."""
        return self.days

    @property
    def reached(self) -> Flags:
        """All calls with a number and a start are attempts."""
        found: Flags = (self.at_us != UNKNOWN) & (self.phones >= 0)
        return found

    @property
    def graded_places(self) -> Ints:
        """Every call is graded."""
        return np.arange(len(self.at_us))

    def attempts(self, rows: Ints) -> pd.DataFrame:
        """Some calls, with the columns that caps ask for."""
        at = pd.Series(self.at_us[rows].view("datetime64[us]")).dt.tz_localize("UTC")
        campaign = self.campaigns[rows].astype(np.float64)
        campaign[campaign < 0] = np.nan
        return pd.DataFrame({"created_at": at, "campaign_id": campaign})

    def before(self, rows: Ints) -> Earlier:
        """Calls before others, of which nobody says how they ended."""
        at, phones = self.at_us[rows], self.phones[rows]
        order = np.lexsort((at, phones))
        none = np.full(len(rows), None, dtype=object)
        return Earlier(
            phones[order], at[order], at[order], none, np.zeros(len(rows), dtype=bool), order,
            frozenset(),
        )  # fmt: skip

    def settle(self) -> None:
        """Let go of the records."""
        vars(self).pop("records", None)


def _named(graded: Graded) -> Bytes:
    """Answers by the order of `NAMES`."""
    table = np.full(256, NOT_EVALUABLE, dtype=np.int8)
    table[:OPEN] = (NOT_ASKED, PASSED, UNCERTAIN, VIOLATION)
    named: Bytes = table[graded.codes]
    return named
