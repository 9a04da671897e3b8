"""One cap on attempts over the calls that it reaches: how many there were, how many are allowed, and the level; puts nothing into frames.

Every attempt counts, answered or not. A window of hours is half-open: of two attempts exactly 24
hours apart each has a window of its own. A window of days goes by the called party's date, in
every candidate zone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numba
import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance.cases import Cases
from dialframe.compliance.clock import Flags, Ints, local
from dialframe.compliance.facts import CapRule
from dialframe.compliance.following import (
    EVENTS,
    NO_TALK,
    Earlier,
    after_conversation,
    after_event,
)

#: Levels in order of severity.
OK, OPEN, MIXED, OVER = 1, 2, 3, 4

_HOUR_US: Final = 3_600_000_000
#: The record that says that a call carried a message on health, which has caps of its own.
_HEALTH: Final = "hipaa"
_WEEK_DAYS: Final = 7


@dataclass(slots=True, eq=False)
class Levels:
    """What one cap says of each call that it reaches, in the order of the calls.

    Attributes:
        level: `OK`, `OPEN`, `MIXED` or `OVER`.
        attempts: Attempts that were counted, this one included.
        allowed: Attempts that are allowed.
        within: In which time, in words.
        missing: The input that is missing where the level is `OPEN`, else "".
    """

    level: Ints
    attempts: Ints
    allowed: Ints
    within: npt.NDArray[np.object_]
    missing: npt.NDArray[np.object_]

    def worse(self, rows: Flags, other: Levels) -> None:
        """Take what another limit says of some rows where that is worse."""
        better = np.flatnonzero(rows)[other.level[rows] > self.level[rows]]
        for mine, its in (
            (self.level, other.level), (self.attempts, other.attempts),
            (self.allowed, other.allowed), (self.within, other.within),
            (self.missing, other.missing),
        ):  # fmt: skip
            mine[better] = its[better]


def levels(
    rule: CapRule, cases: Cases, mine: Ints, at: Ints, campaigns: Ints, earlier: Earlier
) -> Levels:
    """What a cap says of the calls that it reaches.

    Args:
        rule: The cap.
        cases: Cases of all calls.
        mine: Positions of the calls that it reaches.
        at: Their starts, microseconds.
        campaigns: Their campaigns, negative where there is none.
        earlier: Calls before them, with how they ended.
    """
    if rule.parameters.trigger is not None:
        return _triggered(rule, cases.phones[mine], at, earlier)
    found = _counted(rule, cases, mine, at, campaigns)
    if rule.parameters.hipaa_max_per_day is not None:
        _health(rule, found, cases, mine, at)
    if rule.parameters.cooldown_after_conversation_days is not None:
        _pause(rule, found, cases, mine, at, earlier)
    return found


def windows(phones: Ints, groups: Ints, at_us: Ints, window_us: int) -> tuple[Ints, Ints]:
    """For each attempt how many there are in the window that ends with it, itself included.

    Args:
        phones: Number of each attempt.
        groups: Group (campaign) of each attempt; negative: unknown.
        at_us: Start of each attempt, microseconds.
        window_us: Length of the half-open window.

    Returns:
        Attempts on the number, and attempts on the number in the same known group.
    """
    order = np.lexsort((at_us, phones))
    every, same = _slide(phones[order], groups[order], at_us[order], window_us)
    back_every, back_same = np.empty_like(every), np.empty_like(same)
    back_every[order], back_same[order] = every, same
    return back_every, back_same


def _counted(rule: CapRule, cases: Cases, mine: Ints, at: Ints, campaigns: Ints) -> Levels:
    parameters = rule.parameters
    most = parameters.max_attempts
    phones = cases.phones[mine]
    if parameters.window_type == "rolling":
        hours = parameters.window_hours or 24 * (parameters.window_days or 1)
        every, same = windows(phones, campaigns, at, hours * _HOUR_US)
        low = high = every
    else:
        low, high = _by_days(cases, mine, phones, at, parameters.window_days or 1)
        every, same = high, low
    if parameters.subject_proxy is None:
        return _over(low, high, most, _window_words(rule))
    # Other campaigns may have the same subject, and a call without one may have any.
    level = np.where(every > most, MIXED, OK)
    level = np.where(same > most, OVER, level).astype(np.int64)
    within = np.full(len(mine), _window_words(rule), dtype=object)
    return _told(level, np.where(level == OVER, same, every), most, within)


def _triggered(rule: CapRule, phones: Ints, at: Ints, earlier: Earlier) -> Levels:
    """A cap that holds for some time after a dropped call or a machine."""
    _, wanted, words = EVENTS[str(rule.parameters.trigger)]
    attempts, unknown = after_event(rule, phones, at, earlier)
    most = rule.parameters.max_attempts
    level = np.where(attempts > most, OVER, OK)
    level = np.where(unknown, OPEN, level).astype(np.int64)
    within = np.full(len(at), f"{_window_words(rule)} of {words}", dtype=object)
    return _told(level, attempts, most, within, np.where(unknown, wanted, ""))


def _health(rule: CapRule, found: Levels, cases: Cases, mine: Ints, at: Ints) -> None:
    """Messages on health go by a cap per day and one per week in place of the general one."""
    of_case = [_HEALTH in case.setting.lifted for case in cases.kinds]
    rows = np.array(of_case, dtype=bool)[cases.codes[mine]]
    if not rows.any():
        return
    p = rule.parameters
    found.level[rows] = OK
    few = mine[rows]
    for days, most, within in (
        (1, p.hipaa_max_per_day, "one day, for messages on health"),
        (_WEEK_DAYS, p.hipaa_max_per_week, "7 consecutive days, for messages on health"),
    ):
        low, high = _by_days(cases, few, cases.phones[few], at[rows], days)
        part = _over(low, high, most or 0, within)
        found.worse(rows, _spread(part, rows))


def _pause(
    rule: CapRule, found: Levels, cases: Cases, mine: Ints, at: Ints, earlier: Earlier
) -> None:
    """No call for some days after a conversation, the day of it the first."""
    days = rule.parameters.cooldown_after_conversation_days
    codes = cases.codes[mine]
    for code in np.unique(codes):
        rows = codes == code
        inside, zones, unknown = after_conversation(
            rule, mine, cases.phones[mine][rows], at[rows], cases.kinds[code].zones.names, earlier
        )
        level = np.where(inside > 0, MIXED, np.where(unknown, OPEN, OK))
        level = np.where((inside == zones) & (zones > 0), OVER, level).astype(np.int64)
        within = np.full(len(level), f"{days} days of a conversation", dtype=object)
        missing = np.where(level == OPEN, NO_TALK, "").astype(object)
        part = _told(level, (level > OK).astype(np.int64), 0, within, missing)
        found.worse(rows, _spread(part, rows))


def _spread(part: Levels, rows: Flags) -> Levels:
    """Levels of some rows as levels of all, the others at ease."""
    size = len(rows)
    whole = _told(
        np.full(size, OK, dtype=np.int64), np.zeros(size, dtype=np.int64), 0,
        np.full(size, "", dtype=object),
    )  # fmt: skip
    for mine, its in (
        (whole.level, part.level), (whole.attempts, part.attempts), (whole.allowed, part.allowed),
        (whole.within, part.within), (whole.missing, part.missing),
    ):  # fmt: skip
        mine[rows] = its
    return whole


def _over(low: Ints, high: Ints, most: int, within: str) -> Levels:
    level = np.where(low > most, OVER, OK)
    level = np.where((high > most) & (level == OK), MIXED, level).astype(np.int64)
    return _told(level, high, most, np.full(len(low), within, dtype=object))


def _told(
    level: Ints,
    attempts: Ints,
    most: int,
    within: npt.NDArray[np.object_],
    missing: npt.NDArray[np.object_] | None = None,
) -> Levels:
    size = len(level)
    none = np.full(size, "", dtype=object) if missing is None else missing.astype(object)
    return Levels(level, attempts.copy(), np.full(size, most, dtype=np.int64), within, none)


def _by_days(cases: Cases, mine: Ints, phones: Ints, at: Ints, days: int) -> tuple[Ints, Ints]:
    """Fewest and most attempts of any candidate zone in a window of local dates."""
    low = np.full(len(mine), np.iinfo(np.int64).max, dtype=np.int64)
    high = np.zeros(len(mine), dtype=np.int64)
    none = np.zeros(len(mine), dtype=np.int64)
    instants = pd.Series(pd.to_datetime(at, unit="us", utc=True)).astype("datetime64[us, UTC]")
    # Calls to one number may be of several cases, but all of them are in the same zones.
    places = [case.zones.names for case in cases.kinds]
    kinds = list(dict.fromkeys(places))
    codes = np.array([kinds.index(names) for names in places], dtype=np.int64)[cases.codes[mine]]
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        for zone in kinds[code]:
            day = local(instants.iloc[rows], zone).day
            order = np.lexsort((at[rows], day, phones[rows]))
            every, _ = _slide(phones[rows][order], none[rows], day[order], days)
            back = np.empty_like(every)
            back[order] = every
            low[rows], high[rows] = np.minimum(low[rows], back), np.maximum(high[rows], back)
    low[high == 0] = 0
    return low, high


def _window_words(rule: CapRule) -> str:
    p = rule.parameters
    if p.window_hours is not None:
        return f"{p.window_hours} hours"
    if p.window_type == "calendar_day":
        return "one day by the called party's date"
    kind = "consecutive days" if p.window_type == "consecutive_days" else "days"
    return f"{p.window_days} {kind}"


@numba.njit(cache=True, nogil=True)
def _slide(phones, groups, at, window):  # type: ignore[no-untyped-def]
    """Count, for sorted attempts, those of the number in `(at - window, at]`, and of its group."""
    size = len(phones)
    every = np.zeros(size, dtype=np.int64)
    same = np.zeros(size, dtype=np.int64)
    first = 0
    for row in range(size):
        if row and phones[row] != phones[row - 1]:
            first = row
        while at[row] - at[first] >= window:
            first += 1
        every[row] = row - first + 1
        if groups[row] < 0:
            continue
        for other in range(first, row + 1):
            if groups[other] == groups[row]:
                same[row] += 1
    return every, same
