"""Calling hours of many calls in one compiled pass: level, rules and zones of each; knows numbers, not names.

For each call and rule: inside in all candidate zones, outside in all, or between. The worst
answer of all rules counts, since a call has to keep every rule that reaches it.
"""

from __future__ import annotations

from typing import Final

import numba
import numpy as np

#: Levels in order of severity. NO_RULE: no rule was in force. OPEN: outside, by a rule of which
#: nobody can tell whether it reaches the call.
NO_RULE, INSIDE, OPEN, MIXED, OUTSIDE = range(5)

DAY_US: Final = 86_400_000_000
MINUTE_US: Final = 60_000_000
#: 1970-01-01 was a Thursday, day 3 of a week that starts on Monday.
_EPOCH_WEEKDAY: Final = 3
_WEEK: Final = 7
#: Most candidate zones of a number: a country code of North America has 42.
_ZONES: Final = 64
_FAR: Final = np.iinfo(np.int64).max
#: Parts of a rule's row: first day, last day, whether its clock is fixed, and that clock's offset.
FROM, TO, FIXED, OFFSET = range(4)
#: What a day is to a rule: ordinary, closed, or with hours of its own.
ORDINARY, CLOSED, SPECIAL = range(3)


@numba.njit(cache=True, nogil=True)
def grade(  # type: ignore[no-untyped-def]  # noqa: C901
    at,
    case,
    zone_ends,
    zones,
    rule_ends,
    rules,
    flags,
    jump_ends,
    jumps,
    offsets,
    facts,
    windows,
    special,
    days,
    first_day,
    counts,
    explain,
):
    """Level, bits of the worst rules, bits of the zones inside by the first of them, and minute.

    Without `explain` the last three are left empty, which takes half the time.
    """
    rows = len(at)
    told = rows if explain else 0
    level = np.zeros(rows, dtype=np.int8)
    worst = np.zeros(told, dtype=np.int64)
    inner = np.zeros(told, dtype=np.int64)
    minute = np.full(told, -1, dtype=np.int16)
    last_day = days.shape[1] - 1
    local_day = np.zeros(_ZONES, dtype=np.int64)
    local_time = np.zeros(_ZONES, dtype=np.int64)
    for row in range(rows):
        kind = case[row]
        if kind < 0:
            continue
        z_from, z_to = zone_ends[kind], zone_ends[kind + 1]
        r_from, r_to = rule_ends[kind], rule_ends[kind + 1]
        spots = z_to - z_from
        for spot in range(spots):
            zone = zones[z_from + spot]
            low, high = jump_ends[zone], jump_ends[zone + 1]
            while high - low > 1:
                middle = (low + high) // 2
                if jumps[middle] <= at[row]:
                    low = middle
                else:
                    high = middle
            local = at[row] + offsets[low]
            local_day[spot] = local // DAY_US
            local_time[spot] = local - local_day[spot] * DAY_US
        nearest = np.int64(_FAR)
        reached, behind, zones_in, clock = np.int8(0), np.int64(0), np.int64(0), np.int64(-1)
        for place in range(r_from, r_to):
            rule = rules[place]
            inside_in, bound, bits = 0, False, np.int64(0)
            for spot in range(spots):
                day, of_day = local_day[spot], local_time[spot]
                if facts[rule, FIXED]:
                    local = at[row] + facts[rule, OFFSET]
                    day = local // DAY_US
                    of_day = local - day * DAY_US
                found = not facts[rule, FROM] <= day <= facts[rule, TO]
                if not found:
                    bound = True
                    what = days[rule, min(max(day - first_day, 0), last_day)]
                    weekday = (day + _EPOCH_WEEKDAY) % _WEEK
                    table = windows[rule, weekday] if what != SPECIAL else special[rule]
                    if what != CLOSED:
                        for part in range(table.shape[0]):
                            if table[part, 0] < 0:
                                break
                            if table[part, 0] <= of_day < table[part, 1]:
                                found = True
                                break
                    if explain:
                        away = np.int64(DAY_US)
                        for part in range(table.shape[0]):
                            if table[part, 0] < 0:
                                break
                            for side in range(2):
                                gap = abs(of_day - table[part, side])
                                away = min(away, gap, DAY_US - gap)
                        margin = away if found else -away - 1
                        if margin < nearest:
                            nearest, clock = margin, of_day
                elif explain and clock < 0:
                    clock = of_day
                if found:
                    inside_in += 1
                    bits |= np.int64(1) << spot
            if not bound:
                got = NO_RULE
            elif inside_in == spots:
                got = INSIDE
            else:
                got = OUTSIDE if inside_in == 0 else MIXED
                if flags[place] & 1:
                    got = OPEN
                elif flags[place] & 2:
                    got = MIXED
            counts[rule, got] += 1
            bit = np.int64(1) << (place - r_from)
            if got > reached:
                reached, behind, zones_in = np.int8(got), bit, bits
            elif got == reached:
                if behind == 0:
                    zones_in = bits
                behind |= bit
        level[row] = reached
        if explain:
            worst[row], inner[row] = behind, zones_in
            if clock >= 0:
                minute[row] = clock // MINUTE_US
    return level, worst, inner, minute


@numba.njit(cache=True, nogil=True)
def ends(at, unknown):  # type: ignore[no-untyped-def]
    """First and last of some instants, and how many are known; the first is after the last where none is."""
    first, last, known = np.int64(_FAR), np.int64(-_FAR), 0
    for row in range(len(at)):
        if at[row] != unknown:
            first, last = min(first, at[row]), max(last, at[row])
            known += 1
    return first, last, known


@numba.njit(cache=True, nogil=True)
def spells(case, low, high, turns, cases):  # type: ignore[no-untyped-def]
    """Spell of each call, and case, first and last stretch between turns of each spell.

    The days of one call lie within two days of each other in all zones, so that it is in at most
    three stretches.
    """
    stretches = len(turns) + 1
    known = np.full(cases * stretches * 3, -1, dtype=np.int32)
    found = np.empty(len(case), dtype=np.int32)
    kinds = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    first = last = np.int64(0)
    for row in range(len(case)):
        while first < len(turns) and low[row] >= turns[first]:
            first += 1
        while first > 0 and low[row] < turns[first - 1]:
            first -= 1
        last = first
        while last < len(turns) and high[row] >= turns[last]:
            last += 1
        place = (case[row] * stretches + first) * 3 + last - first
        if known[place] < 0:
            known[place] = len(kinds)
            kinds.append((np.int64(case[row]), first, last))
        found[row] = known[place]
    told = np.empty((len(kinds), 3), dtype=np.int64)
    for place in range(len(kinds)):
        told[place, 0], told[place, 1], told[place, 2] = kinds[place]
    return found, told


@numba.njit(cache=True, nogil=True)
def local_days(  # type: ignore[no-untyped-def]
    at,
    unknown,
    case,
    zone_ends,
    zones,
    jump_ends,
    jumps,
    offsets,
):
    """Earliest and latest local day of each instant over its candidate zones; the UTC day without any.

    An unknown instant has the day 0.
    """
    rows = len(at)
    low = np.empty(rows, dtype=np.int32)
    high = np.empty(rows, dtype=np.int32)
    for row in range(rows):
        kind = case[row]
        now = np.int64(0) if at[row] == unknown else at[row]
        first = last = now // DAY_US
        if kind >= 0 and zone_ends[kind] < zone_ends[kind + 1]:
            for spot in range(zone_ends[kind], zone_ends[kind + 1]):
                zone = zones[spot]
                left, right = jump_ends[zone], jump_ends[zone + 1]
                while right - left > 1:
                    middle = (left + right) // 2
                    if jumps[middle] <= now:
                        left = middle
                    else:
                        right = middle
                day = (now + offsets[left]) // DAY_US
                if spot == zone_ends[kind]:
                    first = last = day
                first, last = min(first, day), max(last, day)
        low[row], high[row] = first, last
    return low, high
