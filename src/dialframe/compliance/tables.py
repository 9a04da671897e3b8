"""Rules and zones laid out as arrays for the compiled passes: windows, closed days, offsets; grades nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from dialframe.compliance import sums
from dialframe.compliance.calendars import (
    Declared,
    closed_days,
    is_regional,
    ordinal,
    special_days,
)
from dialframe.compliance.cases import Case, Reached, reached
from dialframe.compliance.facts import DAYS, HolidayRule, HoursRule, Rule

Ints = npt.NDArray[np.int64]

_SECOND_US: Final = 1_000_000
_PARTS: Final = 4
_EARLY: Final = -(2**40)
_LATE: Final = 2**40
_LEAST: Final = np.iinfo(np.int64).min
_STEP_S: Final = 900


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Layout:
    """Everything that `sums.grade` reads beside the calls, and what stands behind its bits.

    Attributes:
        arguments: Arrays in the order of the function's arguments, from `zone_ends` on.
        rules: The rules, in the order of the arrays.
        reached: For each case the rules behind the bits of its calls.
    """

    arguments: tuple[object, ...]
    rules: tuple[Rule, ...]
    reached: tuple[tuple[Reached, ...], ...]


def lay_out(
    cases: Sequence[Case],
    rules: Sequence[HoursRule | HolidayRule],
    *,
    first: date,
    last: date,
    declared: Declared,
) -> Layout:
    """Lay out rules for the cases of some calls.

    Args:
        cases: The distinct cases.
        rules: Rules on hours and holidays.
        first: Earliest local day of a call; days before it need no calendar.
        last: Latest one.
        declared: Days that were declared.
    """
    first, last = first - timedelta(days=2), last + timedelta(days=2)
    used = tuple(tuple(reached(case, rules)) for case in cases)
    order = {_key(rule): place for place, rule in enumerate(rules)}
    zone_ends, zones, jump_ends, jumps, offsets = lay_out_zones(cases, first, last)
    rule_ends, numbers = _flat([[order[_key(each.rule)] for each in of] for of in used])
    _, flags = _flat([[bool(e.missing) + 2 * _is_doubtful(e) for e in of] for of in used])
    count = max(len(rules), 1)
    facts = np.zeros((count, 4), dtype=np.int64)
    windows = np.full((count, len(DAYS), _PARTS, 2), -1, dtype=np.int64)
    special = np.full((count, _PARTS, 2), -1, dtype=np.int64)
    days = np.zeros((count, (last - first).days + 1), dtype=np.uint8)
    for place, rule in enumerate(rules):
        facts[place, sums.FROM] = _bound(rule.effective_from, _EARLY)
        facts[place, sums.TO] = _bound(rule.effective_to, _LATE)
        if isinstance(rule, HoursRule):
            _hours(rule, facts[place], windows[place], special[place])
        else:
            windows[place, :, 0] = (0, sums.DAY_US)
        _mark(rule, days[place], first, last, declared)
    arguments = (
        zone_ends, zones, rule_ends, numbers, flags, jump_ends, jumps, offsets, facts, windows,
        special, days, ordinal(first),
    )  # fmt: skip
    return Layout(arguments, tuple(rules), used)


def _key(rule: Rule) -> tuple[str, bool]:
    """A rule, or the part of it that holds in a region alone: both have one id."""
    return rule.id, is_regional(rule)


def _is_doubtful(found: Reached) -> bool:
    """Whether the rule may not reach the call: by its place, or because it holds in a region alone."""
    return found.doubtful or is_regional(found.rule)


def lay_out_zones(
    cases: Sequence[Case], first: date, last: date
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Zones of each case, and for each zone the instants from which its offsets hold."""
    names = sorted({name for case in cases for name in case.zones.names})
    order = {name: place for place, name in enumerate(names)}
    ends, zones = _flat([[order[n] for n in case.zones.names] for case in cases])
    return ends, zones, *_clocks(names, first, last)


def _hours(rule: HoursRule, facts: Ints, windows: Ints, special: Ints) -> None:
    parameters = rule.parameters
    for number, day in enumerate(DAYS):
        spans = sorted((w.start, w.end) for w in parameters.windows if day in w.days)
        for part, (start, end) in enumerate(spans[:_PARTS]):
            windows[number, part] = (of_day(start), of_day(end))
    other = parameters.before_holiday or parameters.sunday_and_holiday
    if other is not None:
        special[0] = (of_day(other.start), of_day(other.end))
    if parameters.timezone is not None:
        there = ZoneInfo(parameters.timezone)
        offset = datetime(2000, 1, 1, tzinfo=UTC).astimezone(there).utcoffset() or timedelta(0)
        facts[sums.FIXED] = 1
        facts[sums.OFFSET] = int(offset.total_seconds()) * _SECOND_US


def _mark(
    rule: HoursRule | HolidayRule,
    days: npt.NDArray[np.uint8],
    first: date,
    last: date,
    declared: Declared,
) -> None:
    """Write down which days are closed or have hours of their own."""
    start = ordinal(first)
    if isinstance(rule, HolidayRule):
        for day in closed_days(rule, first, last, declared):
            days[ordinal(day) - start] = sums.CLOSED
        return
    for day in _special(rule, first, last):
        if first <= day <= last:
            days[ordinal(day) - start] = sums.SPECIAL


def _special(rule: HoursRule, first: date, last: date) -> Iterator[date]:
    """Days with hours of their own: the eve of a holiday, or Sundays and holidays."""
    before, both = rule.parameters.before_holiday, rule.parameters.sunday_and_holiday
    if before is not None:
        eves = (day - timedelta(days=1) for day in special_days(before, first, last))
        yield from (e for e in eves if DAYS[e.weekday()] not in rule.parameters.closed_days)
    if both is not None:
        every = (first + timedelta(days=shift) for shift in range((last - first).days + 1))
        yield from (day for day in every if day.weekday() == len(DAYS) - 1)
        yield from special_days(both, first, last)


def of_day(clock: time) -> int:
    """Microseconds from midnight by the clock."""
    seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second
    return seconds * _SECOND_US + clock.microsecond


def _bound(day: date | None, without: int) -> int:
    return without if day is None else ordinal(day)


def _flat(lists: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    ends = np.cumsum([0, *(len(each) for each in lists)])
    whole = [value for each in lists for value in each]
    return ends.astype(np.int64), np.array(whole, dtype=np.int64)


def _clocks(names: Sequence[str], first: date, last: date) -> tuple[Ints, Ints, Ints]:
    """For each zone the instants from which an offset holds, and the offsets, microseconds."""
    found = [_changes(name, first, last) for name in names]
    ends = np.cumsum([0, *(len(changes) for changes in found)])
    whole = [change for changes in found for change in changes]
    table = np.array(whole, dtype=np.int64).reshape(-1, 2)
    return ends.astype(np.int64), table[:, 0].copy(), table[:, 1].copy()


@lru_cache(maxsize=1024)
def _changes(name: str, first: date, last: date) -> tuple[tuple[int, int], ...]:
    """Instants at which the offset of a zone changes, found by halving to the quarter of an hour."""
    zone = ZoneInfo(name)
    start = int(datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp())
    end = int(datetime(last.year, last.month, last.day, tzinfo=UTC).timestamp()) + 86_400
    found = [(_LEAST, _offset(zone, start))]
    for at in range(start, end, 86_400):
        low, high = at, at + 86_400
        if _offset(zone, low) == _offset(zone, high):
            continue
        before = _offset(zone, low)
        while high - low > _STEP_S:
            middle = low + (high - low) // (2 * _STEP_S) * _STEP_S
            if _offset(zone, middle) == before:
                low = middle
            else:
                high = middle
        found.append((high * _SECOND_US, _offset(zone, high)))
    return tuple(found)


def _offset(zone: ZoneInfo, at: int) -> int:
    offset = datetime.fromtimestamp(at, tz=UTC).astimezone(zone).utcoffset() or timedelta(0)
    return int(offset.total_seconds()) * _SECOND_US
