"""What an audit stands on: the tables at its door, their numbers as integers, cases and local days; grades nothing.

Everything is made once, when it is first needed; frames are made of the rows that are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance import cases as sorting
from dialframe.compliance import following, hours, spans
from dialframe.compliance.attempts import reached_network
from dialframe.compliance.calendars import Declared
from dialframe.compliance.cases import Cases
from dialframe.compliance.clock import Flags, Ints
from dialframe.compliance.consent import Given
from dialframe.compliance.dnc import evidence, timely
from dialframe.compliance.dnc.listed import Law
from dialframe.compliance.facts import HonourRule
from dialframe.compliance.following import Earlier
from dialframe.compliance.intake import UNKNOWN, Intake, instants, moment
from dialframe.compliance.judging import NEVER
from dialframe.compliance.ledger import (
    CLEAN,
    LISTED,
    SCREEN,
    Keys,
    Ledger,
    look_up,
    positions,
)
from dialframe.compliance.lifting import Lifted
from dialframe.compliance.listing import days as days_of
from dialframe.compliance.practice import Practice
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, Spells

_DEFAULT_AGE_DAYS: Final = 31


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Question:
    """What is asked of the tables; see `auditing.audit`."""

    book: RuleBook
    at: pd.Timestamp
    since: datetime | None
    until: datetime | None
    practice: Practice
    states: Mapping[str, str] | pd.Series | None
    lifted: Lifted
    codes: Sequence[str]
    grace: timedelta
    screens: bool
    declared: Declared
    given: Given
    outcomes: Mapping[str, str] | pd.Series | None
    events: pd.DataFrame | None

    @property
    def day(self) -> date:
        """The day of the audit, UTC."""
        day: date = self.at.date()
        return day


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Part:
    """Some of the graded calls, with their cases and local days; `rows` are their positions."""

    rows: Ints
    outbound: pd.DataFrame
    cases: Cases
    days: Days


@dataclass(frozen=True, eq=False, repr=False)
class Ground:
    """The tables of one audit.

    Attributes:
        asks: What is asked.
        taken: The calls.
        people: The leads.
        ledger: The checks.
        callbacks: The callbacks.
    """

    asks: Question
    taken: Intake
    people: pd.DataFrame
    ledger: pd.DataFrame
    callbacks: pd.DataFrame

    @cached_property
    def keys(self) -> Keys:
        """Numbers as integers, the same in all tables."""
        return Keys()

    @cached_property
    def phones(self) -> Ints:
        """Key of each graded call's number."""
        found = self.keys.of(self.taken.rows["to_number"])
        return found if len(self.taken.graded) == len(found) else found[self.taken.graded]

    @cached_property
    def lead_phones(self) -> Ints:
        """Key of each lead's number."""
        return self.keys.of(self.people["phone"])

    @cached_property
    def ledger_phones(self) -> Ints:
        """Key of each check's number."""
        return self.keys.of(self.ledger["phone"])

    @cached_property
    def earlier_us(self) -> Ints:
        """Starts of the calls that count in windows, microseconds."""
        return instants(self.taken.rows["created_at"])[self.taken.earlier]

    @cached_property
    def at_us(self) -> Ints:
        """Starts of the graded calls."""
        return self._of_graded(self.earlier_us)

    @cached_property
    def directed(self) -> Flags:
        """Whether the direction of each graded call is known."""
        found: Flags = self.taken.directed[self.taken.graded]
        return found

    @cached_property
    def history_cases(self) -> Cases:
        """Cases of the calls that count in windows."""
        every = sorting.sort(
            self.taken.rows, practice=self.asks.practice, states=self.asks.states,
            lifted=self.asks.lifted,
        )  # fmt: skip
        whole = len(self.taken.earlier) == len(every.codes)
        return every if whole else every.take(self.taken.earlier)

    @cached_property
    def cases(self) -> Cases:
        """Cases of the graded calls."""
        return self.history_cases if self._whole else self.history_cases.some(self.taken.positions)

    @cached_property
    def history_days(self) -> Days:
        """Local days of the calls that count in windows."""
        low, high = hours.utc_span(self.earlier_us)
        one = timedelta(days=1)
        return spans.of_instants(
            self.earlier_us, self.history_cases, first=low - one, last=high + one
        )

    @cached_property
    def days(self) -> Days:
        """Local days of the graded calls."""
        return self.history_days if self._whole else self.history_days.take(self.taken.positions)

    @cached_property
    def spells(self) -> Spells:
        """Graded calls by case and by what was in force on their days."""
        return spans.spells(self.cases, self.days, self.asks.book.rules)

    @cached_property
    def reached(self) -> Flags:
        """Whether each call that counts in windows is an attempt: timed, outbound, on the network."""
        counted = reached_network(self.taken.rows)[self.taken.earlier]
        counted &= self.taken.directed[self.taken.earlier] & (self.earlier_us != UNKNOWN)
        return counted & (self.history_cases.phones >= 0)

    @cached_property
    def events(self) -> pd.DataFrame | None:
        """Requests beside those of calls, up to the moment."""
        given = self.asks.events
        return None if given is None else given[given["at"] <= self.asks.at]

    @cached_property
    def asked(self) -> pd.DataFrame:
        """The first request of each number not to be called."""
        said = evidence.is_request(self.taken.rows["disposition"], self.asks.codes)
        rows = self.taken.rows[said & self.taken.seen]
        return evidence.requests(rows, self.asks.codes, self.events)

    @cached_property
    def flagged(self) -> pd.DataFrame:
        """Leads that are marked and whose mark no request explains."""
        return evidence.flags(self.people, self.asked, now=self.asks.at)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Checks and import screens, in order of time."""
        return evidence.records(self.people, self.ledger, import_screen_counts=self.asks.screens)

    @cached_property
    def spoken(self) -> Ints:
        """Keys of numbers that anything on record speaks against."""
        said = self.ledger["listed"].to_numpy(dtype=bool, na_value=False)
        parts = [
            self.ledger_phones[said],
            self.keys.of(self.asked["phone"]),
            self.lead_phones[evidence.closed(self.people)],
        ]
        found: Ints = pd.unique(np.concatenate(parts))
        return found

    @cached_property
    def records(self) -> Ledger:
        """Checks and import screens as integers."""
        people = self.people
        screened = evidence.was_screened(people).to_numpy(dtype=bool) & self.asks.screens
        said = self.ledger["listed"].to_numpy(dtype=bool, na_value=False)
        kinds = np.where(said, LISTED, CLEAN).astype(np.uint8)
        phones, at = self.ledger_phones, instants(self.ledger["checked_at"])
        if screened.any():
            phones = np.concatenate([phones, self.lead_phones[screened]])
            at = np.concatenate([at, instants(people["created_at"])[screened]])
            kinds = np.concatenate([kinds, np.full(screened.sum(), SCREEN, dtype=np.uint8)])
        return Ledger.of(phones, at, kinds)

    @cached_property
    def persons(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Numbers that asked not to be called or are marked: a table of places, and their instants."""
        asked, flagged = self.asked, self.flagged
        return persons(
            (self.keys.of(asked["phone"]), instants(asked["began_at"]), instants(asked["at"])),
            (self.keys.of(flagged["phone"]), instants(flagged["at"])),
            self.lead_phones[evidence.closed(self.people)],
        )

    @property
    def history_directed(self) -> Flags:
        """Whether the direction of each call that counts in windows is known."""
        found: Flags = self.taken.directed[self.taken.earlier]
        return found

    @property
    def graded_places(self) -> Ints:
        """Places of the graded calls among those that count in windows."""
        return self.taken.positions

    def attempts(self, rows: Ints) -> pd.DataFrame:
        """Some of the calls that count in windows."""
        return self.taken.chosen(self.taken.earlier[rows])

    def before(self, rows: Ints) -> Earlier:
        """Calls before some of those that count in windows, the inbound ones among them."""
        inbound = self.taken.rows[self.taken.seen & self.taken.inbound]
        calls = self.taken.chosen(self.taken.earlier[rows])
        return following.take(calls, inbound, self.asks.outcomes)

    def settle(self) -> None:
        """Let go of what only counting needs."""
        for name in ("records", "reached", "ledger_phones"):
            vars(self).pop(name, None)

    def part(self, rows: Ints | None = None) -> Part:
        """Some of the graded calls, all for None."""
        if rows is None:
            every = np.arange(len(self.taken.positions))
            return Part(every, self.taken.outbound, self.cases, self.days)
        calls = self.taken.chosen(self.taken.graded[rows])
        return Part(rows, calls, self.cases.some(rows), self.days.take(rows))

    def records_of(self, keys: Ints) -> pd.DataFrame:
        """Checks and import screens of some numbers."""
        found = positions(keys)
        people, ledger = (
            frame[look_up(found, own) >= 0].reset_index(drop=True)
            for frame, own in ((self.people, self.lead_phones), (self.ledger, self.ledger_phones))
        )
        return evidence.records(people, ledger, import_screen_counts=self.asks.screens)

    def is_spoken(self, rows: Ints) -> Flags:
        """Whether anything on record speaks against the numbers of some graded calls."""
        found: Flags = (look_up(positions(self.spoken), self.phones[rows]) >= 0) & self.directed[
            rows
        ]
        return found

    def law(self, outbound: pd.DataFrame, cases: Cases) -> Law:
        """The rules on lists and requests, for calls of some cases."""
        book = self.asks.book
        on = days_of(outbound["created_at"], self.asks.day)
        return Law(cases.codes, cases.kinds, book.of_kind(HonourRule), book.listed, on)

    def limit_of(self, phones: pd.Series) -> Ints:
        """How old a record of each number may be on the day of the audit, 0 where no rule says."""
        rows = pd.DataFrame(
            {
                "to_number": phones,
                "campaign_id": pd.Series(None, index=phones.index, dtype="str"),
                "created_at": pd.Series(
                    self.asks.at, index=phones.index, dtype="datetime64[us, UTC]"
                ),
            }
        )
        kinds = sorting.sort(rows, practice=self.asks.practice, states=self.asks.states)
        first, last = hours.span(rows)
        days = spans.of_calls(rows, kinds, first=first, last=last)
        return timely.limits(rows, kinds, days, self.asks.book).max_age_days

    @cached_property
    def max_age_days(self) -> int:
        """Age for numbers of places without a rule: that of the federal rules where they are asked."""
        rules = self.asks.book.freshness(self.asks.day)
        own = [rule.parameters.max_age_days for rule in rules if rule.jurisdiction == "US"]
        return min(own, default=_DEFAULT_AGE_DAYS)

    @property
    def _whole(self) -> bool:
        return len(self.taken.positions) == len(self.taken.earlier)

    def _of_graded(self, values: Ints) -> Ints:
        return values if self._whole else values[self.taken.positions]


def persons(
    asked: tuple[Ints, Ints, Ints], flagged: tuple[Ints, Ints], closed: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """A table of places of numbers, and when each began to ask, had asked, and was marked.

    Args:
        asked: Keys of numbers that asked, begin and end of the request.
        flagged: Keys of numbers that are marked, and since when.
        closed: Keys of numbers that are not to be called, whatever the reason.
    """
    keys = pd.unique(np.concatenate([asked[0], flagged[0], closed]))
    table = positions(keys)
    began, ended, marked = (np.full(len(keys), NEVER, dtype=np.int64) for _ in range(3))
    place = look_up(table, asked[0])
    began[place], ended[place] = asked[1], asked[2]
    marked[look_up(table, flagged[0])] = flagged[1]
    return table, began, ended, marked


def in_period(at: pd.Series, since: datetime | None, until: datetime | None) -> pd.Series:
    """Whether instants lie in a period."""
    inside = pd.Series(data=True, index=at.index)
    if since is not None:
        inside &= at >= moment(since)
    if until is not None:
        inside &= at < moment(until)
    return inside
