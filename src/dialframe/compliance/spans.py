"""On which local day each call was made, and which rules were in force then; grades nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance import sums
from dialframe.compliance.calendars import ordinal
from dialframe.compliance.cases import Cases, Reached, reached
from dialframe.compliance.facts import Rule
from dialframe.compliance.intake import UNKNOWN, instants
from dialframe.compliance.tables import lay_out_zones

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_R = TypeVar("_R", bound=Rule)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Days:
    """Earliest and latest local day of each call over its candidate zones, days since 1970-01-01."""

    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]

    def take(self, rows: Ints) -> Days:
        """Those of some calls."""
        return Days(self.low[rows], self.high[rows])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Spells:
    """Calls by their case and by what was in force on their days, so that law is looked up once for all of a kind.

    Attributes:
        codes: Position of each call's spell, int32.
        cases: Case of each spell.
        days: Days of each spell, on which the same rules are in force as on those of its calls.
    """

    codes: npt.NDArray[np.int32]
    cases: Ints
    days: Days


def spells(cases: Cases, days: Days, rules: Sequence[Rule]) -> Spells:
    """Sort calls by case and by the stretches of days between which no rule begins or ends."""
    turns = {ordinal(r.effective_from) for r in rules if r.effective_from is not None}
    turns |= {ordinal(r.effective_to) + 1 for r in rules if r.effective_to is not None}
    starts = np.array([np.iinfo(np.int32).min, *sorted(turns)], dtype=np.int64)
    codes, kinds = sums.spells(cases.codes, days.low, days.high, starts[1:], len(cases.kinds))
    return Spells(codes, kinds[:, 0], Days(starts[kinds[:, 1]], starts[kinds[:, 2]]))


def of_calls(calls: pd.DataFrame, cases: Cases, *, first: date, last: date) -> Days:
    """Local days of calls; a call without a start has the day 0."""
    return of_instants(instants(calls["created_at"]), cases, first=first, last=last)


def of_instants(at_us: Ints, cases: Cases, *, first: date, last: date) -> Days:
    """The same for instants in microseconds."""
    arrays = lay_out_zones(cases.kinds, first, last)
    return Days(*sums.local_days(at_us, UNKNOWN, cases.codes, *arrays))


def in_force(rule: Rule, days: Days, rows: Ints) -> Flags:
    """Whether a rule was in force on the day of each call, in any of its candidate zones."""
    found: Flags = np.ones(len(rows), dtype=bool)
    if rule.effective_from is not None:
        found &= days.high[rows] >= ordinal(rule.effective_from)
    if rule.effective_to is not None:
        found &= days.low[rows] <= ordinal(rule.effective_to)
    return found


def in_force_everywhere(rule: Rule, days: Days, rows: Ints) -> Flags:
    """Whether a rule was in force on the day of each call in all of its candidate zones."""
    found: Flags = np.ones(len(rows), dtype=bool)
    if rule.effective_from is not None:
        found &= days.low[rows] >= ordinal(rule.effective_from)
    if rule.effective_to is not None:
        found &= days.high[rows] <= ordinal(rule.effective_to)
    return found


def reach(
    rules: Sequence[_R], cases: Cases, days: Days, usable: Flags
) -> Iterator[tuple[_R, Ints, list[Reached | None]]]:
    """For each rule the calls that it reaches on their day, and how it reaches each case."""
    by_case = [{each.rule.id: each for each in reached(case, rules)} for case in cases.kinds]
    for rule in rules:
        hits = [found.get(rule.id) for found in by_case]
        if any(hit is not None for hit in hits):
            able = np.array([hit is not None for hit in hits], dtype=bool)[cases.codes] & usable
            rows = np.flatnonzero(able)
            always = rule.effective_from is None and rule.effective_to is None
            yield rule, rows if always else rows[in_force(rule, days, rows)], hits


def conditions(
    hits: Sequence[Reached | None], codes: npt.NDArray[np.int32]
) -> tuple[Flags, Flags]:
    """Of calls by their cases: whether an input is missing, and whether the reach is doubtful."""
    missing = np.array([hit is not None and bool(hit.missing) for hit in hits], dtype=bool)
    doubtful = np.array([hit is not None and hit.doubtful for hit in hits], dtype=bool)
    return missing[codes], doubtful[codes]
