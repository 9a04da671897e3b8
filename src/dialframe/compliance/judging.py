"""How calls that share their candidate zones stand against the hours of the rules; knows no frames.

For each rule a call is inside in all zones, outside in all, or mixed. The most severe answer of
all rules counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.clock import (
    MINUTE_US,
    Flags,
    Ints,
    Local,
    Texts,
    holds,
    inside,
    local,
    margin_us,
)
from dialframe.compliance.rulebook import HoursRule, citations, ids

#: Levels of severity, the worst last; NO_RULE: none of the rules was in force.
NO_RULE, INSIDE, MIXED, OUTSIDE = range(4)

_FAR: Final = np.iinfo(np.int64).max

Group = Sequence[HoursRule]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One entry per call.

    Attributes:
        level: One of the levels above.
        minute: Minute of the local day in the zone where the call is closest to breaking the
            hours, or furthest outside of them.
        times: Local time in each zone.
        rule_id: Rules of the worst level.
        citation: Their citations.
        reason: In which zones the call is inside, in which outside.
    """

    level: Ints
    minute: Ints
    times: Texts
    rule_id: Texts
    citation: Texts
    reason: Texts


def alike(rules: Sequence[HoursRule]) -> list[Group]:
    """Rules in groups that say the same for the same days, so that each is worked out once."""
    groups: dict[object, list[HoursRule]] = {}
    for rule in rules:
        key = (rule.parameters, rule.effective_from, rule.effective_to)
        groups.setdefault(key, []).append(rule)
    return list(groups.values())


def judge(at: pd.Series, zones: Sequence[str], groups: Sequence[Group]) -> Judged:
    """Hold instants against rules.

    Args:
        at: Starts of calls, UTC, without nulls.
        zones: Candidate zones, at least one.
        groups: Rules as `alike` gives them, at least one group.
    """
    clocks = [local(at, zone) for zone in zones]
    margins = np.full((len(zones), len(at)), _FAR)
    levels, within = [], []
    for rule, *_ in groups:
        found, applies = _in_zones(rule, clocks)
        levels.append(_level(found, applies))
        within.append(_bits(found))
        for place, clock in enumerate(clocks):
            margins[place] = np.minimum(margins[place], margin_us(rule, clock, found[place]))
    minutes = np.stack([clock.of_day_us // MINUTE_US for clock in clocks])
    texts = _texts(np.stack(levels), np.stack(within), zones, groups)
    return Judged(
        np.stack(levels).max(axis=0),
        np.take_along_axis(minutes, margins.argmin(axis=0)[None], axis=0)[0],
        _joined([clock.text() for clock in clocks]),
        *texts,
    )


def _in_zones(rule: HoursRule, clocks: Sequence[Local]) -> tuple[Flags, Flags]:
    """For each zone and call: inside the hours (or not bound by them), and bound by them at all."""
    applies = np.stack([holds(rule, clock) for clock in clocks])
    found = np.stack([inside(rule, clock) for clock in clocks])
    return found | ~applies, applies


def _level(found: Flags, applies: Flags) -> Ints:
    count = found.sum(axis=0)
    level = np.full(found.shape[1], MIXED, dtype=np.int64)
    level[count == len(found)] = INSIDE
    level[count == 0] = OUTSIDE
    level[~applies.any(axis=0)] = NO_RULE
    return level


def _bits(found: Flags) -> Ints:
    """The zones in which each call is inside, one bit each."""
    places = np.arange(len(found), dtype=np.int64)[:, None]
    return np.asarray((found.astype(np.int64) << places).sum(axis=0), dtype=np.int64)


def _texts(
    levels: Ints, within: Ints, zones: Sequence[str], groups: Sequence[Group]
) -> tuple[Texts, Texts, Texts]:
    """Rule ids, citations and reasons, put into words once per distinct case."""
    worst = levels.argmax(axis=0)
    bits = np.take_along_axis(within, worst[None], axis=0)
    cases, which = np.unique(np.vstack([levels, bits]), axis=1, return_inverse=True)
    words = np.empty((3, cases.shape[1]), dtype=object)
    for number, case in enumerate(cases.T):
        words[:, number] = _words(case[:-1], int(case[-1]), zones, groups)
    rule_id, citation, reason = words[:, which.ravel()]
    return rule_id, citation, reason


def _words(
    levels: Ints, bits: int, zones: Sequence[str], groups: Sequence[Group]
) -> tuple[str | None, str | None, str | None]:
    worst = int(levels.max())
    if worst == NO_RULE:
        return None, None, "no rule on calling hours was in force on that day"
    rules = [
        rule
        for level, group in zip(levels, groups, strict=True)
        if level == worst
        for rule in group
    ]
    inner = [zone for place, zone in enumerate(zones) if bits >> place & 1]
    outer = [zone for zone in zones if zone not in inner]
    return ids(rules), citations(rules), _reason(worst, _hours(rules[0]), inner, outer)


def _reason(worst: int, hours: str, inner: Sequence[str], outer: Sequence[str]) -> str:
    if worst == MIXED:
        return f"inside {hours} in {', '.join(inner)}, outside in {', '.join(outer)}"
    zones = [*inner, *outer]
    where = zones[0] if len(zones) == 1 else "every candidate zone"
    return f"{'inside' if worst == INSIDE else 'outside'} {hours} in {where}"


def _hours(rule: HoursRule) -> str:
    windows = rule.parameters.windows
    if len(windows) > 1 or rule.parameters.closed_days:
        return "the permitted hours"
    return f"{windows[0].start:%H:%M}-{windows[0].end:%H:%M}"


def _joined(texts: Sequence[Texts]) -> Texts:
    whole = texts[0]
    for text in texts[1:]:
        whole = whole + "; " + text
    return whole
