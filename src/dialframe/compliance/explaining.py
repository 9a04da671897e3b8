"""The words of calling hours: grades that were measured, put together call by call with zones, days, rules and what is missing; measures nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance import cases as sorting
from dialframe.compliance import sums
from dialframe.compliance.calendars import Declared, closed_days, is_regional
from dialframe.compliance.cases import Cases, Reached
from dialframe.compliance.clock import Flags, Ints, Texts, local
from dialframe.compliance.exempt import candidates
from dialframe.compliance.facts import HolidayRule, HoursRule
from dialframe.compliance.grades import CREATED_AT, DIRECTION
from dialframe.compliance.rulebook import citations, ids
from dialframe.compliance.tables import Layout

RULE: Final = "a rule in force on the day"

_ONE_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What `sums.grade` says of each call: level, bits of rules, bits of zones, minute."""

    level: Ints
    worst: Ints
    inner: Ints
    minute: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """Where the grades of all calls are put together, one array per column."""

    level: Ints
    minute: Ints
    times: Texts
    rule_id: Texts
    citation: Texts
    missing: Texts
    reason: Texts

    @classmethod
    def blank(cls, length: int) -> Board:
        """No grade yet for any call."""
        texts = [np.full(length, None, dtype=object) for _ in range(5)]
        return cls(np.zeros(length, dtype=np.int64), np.full(length, -1, dtype=np.int64), *texts)


def explain(
    outbound: pd.DataFrame,
    cases: Cases,
    known: Flags,
    layout: Layout,
    judged: Judged,
    declared: Declared,
) -> Board:
    """Grades of calls in words.

    Args:
        outbound: The calls, as they came through the door.
        cases: Their cases.
        known: Which of them have a start and a direction.
        layout: What they were measured against.
        judged: What was measured.
        declared: Days that were declared.
    """
    rules = [rule for rule in layout.rules if isinstance(rule, (HoursRule, HolidayRule))]
    at = outbound["created_at"].fillna(pd.Timestamp(0, tz="UTC"))
    board = Board.blank(len(outbound))
    for code in np.unique(cases.codes[known]) if known.any() else ():
        rows = np.flatnonzero(known & (cases.codes == code))
        _of_case(board, rows, at.iloc[rows], cases, int(code), layout, judged)
    _name_days(board, at, cases, rules, declared)
    _explain_missing(board, outbound, cases)
    _spare(board, known, cases, rules)
    _add_objections(board, cases)
    return board


def _of_case(
    board: Board,
    rows: Ints,
    at: pd.Series,
    cases: Cases,
    code: int,
    layout: Layout,
    judged: Judged,
) -> None:
    """Put the grades of the calls of one case into words, once per distinct answer."""
    names = cases.kinds[code].zones.names
    if not names:
        return
    levels = judged.level[rows].astype(np.int64)
    board.level[rows], board.minute[rows] = levels, judged.minute[rows]
    clocks = [local(at, name).text() for name in names]
    whole = clocks[0]
    for text in clocks[1:]:
        whole = whole + "; " + text
    board.times[rows] = whole
    keys = np.vstack([levels, judged.worst[rows], judged.inner[rows]])
    distinct, which = np.unique(keys, axis=1, return_inverse=True)
    words = np.empty((4, distinct.shape[1]), dtype=object)
    for number, (level, worst, inner) in enumerate(distinct.T.tolist()):
        said = [e for bit, e in enumerate(layout.reached[code]) if worst >> bit & 1]
        words[:, number] = _words(level, said, inner, names)
    board.rule_id[rows], board.citation[rows], board.missing[rows], board.reason[rows] = words[
        :, which.ravel()
    ]


def _name_days(
    board: Board,
    at: pd.Series,
    cases: Cases,
    rules: Sequence[HoursRule | HolidayRule],
    declared: Declared,
) -> None:
    """Add to a call on a holiday which one it was, by the clock of any zone where it may have been."""
    holidays = [rule for rule in rules if isinstance(rule, HolidayRule)]
    bad = np.flatnonzero(board.level >= sums.OPEN)
    if not holidays or not len(bad):
        return
    first, last = end_day(at.iloc[bad], "min") - _ONE_DAY, end_day(at.iloc[bad], "max") + _ONE_DAY
    named: dict[str, dict[date, str]] = {}
    for rule in holidays:
        named.setdefault(rule.id, {}).update(closed_days(rule, first, last, declared))
    for row in bad:
        days = [named[rule_id] for rule_id in board.rule_id[row].split("; ") if rule_id in named]
        if not any(days):
            continue
        instant = at.iloc[row]
        local_days = {
            instant.tz_convert(zone).date() for zone in cases.kinds[cases.codes[row]].zones.names
        }
        found = {names[day]: None for names in days for day in sorted(local_days) if day in names}
        if found:
            board.reason[row] += f"; {', '.join(found)}"


def _words(
    level: int, said: Sequence[Reached], inner: int, names: Sequence[str]
) -> tuple[str | None, str | None, str | None, str | None]:
    if level == sums.NO_RULE or not said:
        return None, None, None, None
    rules = list({each.rule.id: each.rule for each in said}.values())
    inside = [name for place, name in enumerate(names) if inner >> place & 1]
    outside = [name for name in names if name not in inside]
    reason = _reason(level, _hours(rules[0]), inside, outside)
    if level == sums.OPEN:
        missing = said[0].missing
        return ids(rules), citations(rules), missing, f"{reason}, if the rule reaches the call"
    if any(isinstance(r, HoursRule) and r.parameters.area_code_reliance for r in rules):
        reason += "; a caller may rely on the area code of a mobile number"
    if is_regional(rules[0]) and level == sums.MIXED:
        reason += f"; a holiday in a part of {rules[0].jurisdiction} alone"
    elif any(each.doubtful for each in said) and not inside:
        reason += "; only the area code speaks for that state"
    return ids(rules), citations(rules), None, reason


def _reason(level: int, hours: str, inner: Sequence[str], outer: Sequence[str]) -> str:
    if inner and outer:
        return f"inside {hours} in {', '.join(inner)}, outside in {', '.join(outer)}"
    zones = [*inner, *outer]
    where = zones[0] if len(zones) == 1 else "every candidate zone"
    return f"{'inside' if level == sums.INSIDE else 'outside'} {hours} in {where}"


def _hours(rule: object) -> str:
    if isinstance(rule, HolidayRule):
        return "the days on which calls are permitted"
    if not isinstance(rule, HoursRule):
        return "the permitted hours"
    parameters = rule.parameters
    other = parameters.sunday_and_holiday
    if other is not None:
        source = f", Sundays and holidays by {other.citation}" if other.citation else ""
        return f"the permitted hours of {rule.jurisdiction}{source}"
    if len(parameters.windows) > 1 or parameters.closed_days:
        return f"the permitted hours of {rule.jurisdiction}"
    window = parameters.windows[0]
    return f"{window.start:%H:%M}-{window.end:%H:%M}"


def _explain_missing(board: Board, outbound: pd.DataFrame, cases: Cases) -> None:
    """Say which input is missing where there is no grade; the most basic one wins."""
    zones = [case.zones for case in cases.kinds]
    none = board.level == sums.NO_RULE
    board.missing[none] = RULE
    board.reason[none] = cases.pick([_no_rule(z.regions) for z in zones])[none]
    unplaced = cases.pick([not z.names for z in zones]).astype(bool)
    for column, texts in (
        (board.missing, [z.missing for z in zones]),
        (board.reason, [z.reason for z in zones]),
    ):
        column[unplaced] = cases.pick(texts)[unplaced]
    for column in (board.missing, board.reason):
        nobody = outbound["to_number"].isna().to_numpy()
        column[nobody] = "to_number" if column is board.missing else "to_number is missing"
    untimed = outbound["created_at"].isna().to_numpy()
    board.missing[untimed] = CREATED_AT
    board.reason[untimed] = "created_at is missing, so the start of the call is unknown"
    aimless = ~outbound["direction_known"].to_numpy()
    board.missing[aimless] = DIRECTION
    board.reason[aimless] = "direction is neither inbound nor outbound"
    for rows in (none, untimed, aimless):
        board.minute[rows] = -1


def _spare(
    board: Board, known: Flags, cases: Cases, rules: Sequence[HoursRule | HolidayRule]
) -> None:
    """A call whose every rule a record lifts keeps the hours, and says by which record kind."""
    words = [
        "exempt by record: " + ", ".join(sorted(case.setting.lifted)) + " lifts " + ids(lifted)
        if (lifted := sorting.spared(case, rules))
        else None
        for case in cases.kinds
    ]
    said = cases.pick(words)
    rows = np.flatnonzero(known & (board.level == sums.NO_RULE) & (said != None))  # noqa: E711
    board.level[rows], board.missing[rows] = sums.INSIDE, None
    board.reason[rows] = said[rows]


def _no_rule(regions: Sequence[str]) -> str:
    where = " and ".join(regions) or "an unknown country"
    return f"the rules asked have none on calling hours for {where} that was in force on that day"


def _add_objections(board: Board, cases: Cases) -> None:
    """Add to a graded call what speaks against its zones, and what lifts a rule for it."""
    said = cases.pick([_objections(case) for case in cases.kinds])
    rows = np.flatnonzero((said != "") & (board.level > sums.NO_RULE))
    board.reason[rows] = board.reason[rows] + "; " + said[rows]


def _objections(case: sorting.Case) -> str:
    lifted = ", ".join(sorted(case.setting.lifted))
    exempt = (
        f"a record shows {lifted}: rules that name it were left out, no others" if lifted else ""
    )
    return "; ".join(part for part in (case.zones.reason, exempt) if part)


def add_callbacks(
    board: Board, outbound: pd.DataFrame, callbacks: pd.DataFrame, leads: pd.DataFrame
) -> None:
    """Name callbacks that were due at the time of calls that are no pass; the grades stay."""
    rows = np.flatnonzero(board.level >= sums.MIXED)
    words = candidates(outbound.iloc[rows], callbacks, leads)
    named = words.notna().to_numpy()
    board.reason[rows[named]] = board.reason[rows[named]] + "; " + words[named].to_numpy(object)


def end_day(at: pd.Series, which: str) -> date:
    """The first or last UTC day of some instants; any where there is none."""
    found = at.agg(which) if len(at) else pd.Timestamp(0, tz="UTC")
    day: date = found.date()
    return max(date(1971, 1, 1), min(day, date(2099, 1, 1)))
