"""What was graded, put into words: frames of every call, and findings with their proof; counts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dialframe.compliance import (
    attempts,
    checking,
    consent,
    further,
    hours,
    listing,
    recordkeeping,
)
from dialframe.compliance.checking import Check
from dialframe.compliance.dnc import listed, scrub, timely
from dialframe.compliance.dnc.scrub import Coverage
from dialframe.compliance.ground import Ground, Part
from dialframe.compliance.ledger import look_up, positions


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Told:
    """Some graded calls in words: every check's own rows, and the checks made of them.

    Attributes:
        hours: Columns `hours.COLUMNS`.
        calls: Columns `dnc.timely.COLUMNS`.
        listed: Columns `dnc.listed.COLUMNS`, of numbers that something speaks against.
        attempts: Columns `attempts.COLUMNS`.
        consent: Columns `consent.COLUMNS`, one row per call and rule.
        records: Columns `recordkeeping.COLUMNS`.
        checks: Name to check.
    """

    hours: pd.DataFrame
    calls: pd.DataFrame
    listed: pd.DataFrame
    attempts: pd.DataFrame
    consent: pd.DataFrame
    records: pd.DataFrame
    checks: Mapping[str, Check]


def tell(ground: Ground, part: Part) -> Told:
    """Put some graded calls into words, with every check of calls."""
    book, day = ground.asks.book, ground.asks.day
    table = ground.records_of(np.unique(ground.phones[part.rows]))
    timed = in_hours(ground, part)
    covered = in_time(ground, part, table)
    speaking = to_listed(ground, part, table)
    capped = in_caps(ground, part)
    agreed, _ = consent.grade(
        part.outbound, part.cases, part.days, book, ground.asks.given, checking.unlisted(covered)
    )
    whole = recordkeeping.completeness(part.outbound, part.cases, part.days, book)
    told = checking.context(part.outbound, ground.people, timed)
    limits = timely.limits(part.outbound, part.cases, part.days, book)
    banned, _ = further.emergency(told, part.cases, part.days, book, ground.asks.declared)
    made = [
        checking.calling_hours(told, timed, book),
        checking.scrub_at_call(told, covered, book.freshness(day), limits),
        listing.listed_number(told, covered, speaking, book, day, part.cases),
        further.attempt_caps(told, capped, book),
        banned,
        further.consent(told, agreed, book),
        further.records(told, whole, book),
    ]
    return Told(
        timed, covered, speaking, capped, agreed, whole, {check.name: check for check in made}
    )


def in_hours(ground: Ground, part: Part) -> pd.DataFrame:
    """Calls against the calling hours, columns `hours.COLUMNS`."""
    timed, _ = hours.grade(
        part.outbound, ground.people, ground.callbacks, rules=ground.asks.book, cases=part.cases,
        declared=ground.asks.declared,
    )  # fmt: skip
    return timed


def in_time(ground: Ground, part: Part, table: pd.DataFrame) -> pd.DataFrame:
    """Calls against the records of their numbers, columns `dnc.timely.COLUMNS`."""
    limits = timely.limits(part.outbound, part.cases, part.days, ground.asks.book)
    return timely.grade_calls(
        part.outbound, table, max_age_days=ground.max_age_days, by_law=limits
    )


def to_listed(ground: Ground, part: Part, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Calls to numbers that something speaks against, columns `dnc.listed.COLUMNS`."""
    spoken = ground.is_spoken(part.rows)
    if table is None:
        table = ground.records_of(np.unique(ground.phones[part.rows[spoken]]))
    return listed.grade(
        part.outbound[spoken], table, ground.asked, ground.flagged, grace=ground.asks.grace,
        law=ground.law(part.outbound, part.cases),
    )  # fmt: skip


def in_caps(ground: Ground, part: Part) -> pd.DataFrame:
    """Calls against the caps on attempts, columns `attempts.COLUMNS`; all calls of a number count."""
    wanted = positions(np.unique(ground.phones[part.rows]))
    place = ground.taken.positions[part.rows]
    mine = look_up(wanted, ground.history_cases.phones) >= 0
    mine[place] = True
    rows = np.flatnonzero(mine)
    graded, _ = attempts.grade(
        ground.taken.chosen(ground.taken.earlier[rows]),
        ground.history_cases.some(rows),
        ground.asks.book,
        ground.history_days.take(rows),
        ground.before(rows),
    )
    return graded.iloc[np.searchsorted(rows, place)].reset_index(drop=True)


def coverage_numbers(ground: Ground) -> pd.DataFrame:
    """Numbers that are callable or were called, columns `dnc.scrub.NUMBER_COLUMNS`."""
    return scrub.numbers(
        ground.people, scrub.dialled(ground.taken.outbound), ground.table, now=ground.asks.at,
        max_age_days=ground.max_age_days, limit_of=ground.limit_of,
    )  # fmt: skip


def coverage_summary(ground: Ground, numbers: pd.DataFrame) -> pd.DataFrame:
    """Their counts, columns `dnc.scrub.SUMMARY_COLUMNS`."""
    return scrub.summary(numbers, ground.people, scrub.dialled(ground.taken.outbound))


def consent_rows(ground: Ground) -> pd.DataFrame:
    """Every call that a rule on consent reaches, once per rule."""
    part = ground.part()
    clean = checking.unlisted(in_time(ground, part, ground.table))
    graded, _ = consent.grade(
        part.outbound, part.cases, part.days, ground.asks.book, ground.asks.given, clean
    )
    return graded.reset_index(drop=True)


def records_rows(ground: Ground) -> pd.DataFrame:
    """Every call's record, columns `recordkeeping.COLUMNS`."""
    part = ground.part()
    return recordkeeping.completeness(part.outbound, part.cases, part.days, ground.asks.book)


def emergency_rows(ground: Ground) -> pd.DataFrame:
    """Calls that a rule on emergencies reaches, columns `further.EMERGENCY`."""
    part = ground.part()
    worst = further.emergencies(
        part.outbound, part.cases, part.days, ground.asks.book, ground.asks.declared
    )
    return further.emergency_frame(part.outbound, worst)


def callable_numbers(ground: Ground, covered: Coverage) -> Check:
    """The check of callable numbers, with its findings."""
    rules = ground.asks.book.freshness(ground.asks.day)
    return checking.scrub_coverage(covered, rules, ground.asks.states)
