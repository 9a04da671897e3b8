"""The scripted faults: leads whose calls are written by hand.

Ordinary leads are clean by construction, so every fault is played by leads of its own. Their
campaign is the first one, which is dialed over the whole history and has no fault as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dialframe.sandbox.seed.people_and_calendar import (
    DAY,
    HOUR,
    MINUTE,
    PLACE,
    PLACES,
    STRADDLING,
    ZONES,
    Calendar,
    People,
    weekday,
)
from dialframe.sandbox.seed.sizes_and_columns import FaultPlan, Size

# Calls after a company-specific request: 47 CFR 64.1200(d)(3), 16 CFR 310.4(b)(1)(iii)(A).
AFTER_DNC = "call_after_dnc_disposition"
# Before 8 a.m. or after 9 p.m. at the called party's location: 47 CFR 64.1200(c)(1), 16 CFR 310.4(c).
DST_WEEK = "out_of_hours_dst_week"
BEFORE_HOURS = "before_hours"
# Area codes that lie in two zones: nobody can tell from the number alone.
MIXED_ZONE = "mixed_zone_hours"
# More than three calls in 24 hours: Fla. Stat. 501.616(6)(b).
TOO_OFTEN = "too_often"
DNC_NOT_LISTED = "dnc_request_not_listed"
THREE_CAMPAIGNS = "phone_in_three_campaigns"

MAIN_CAMPAIGN = 0
_CAMPAIGNS_OF_THREE = (0, 2, 3)
_NO_SUMMER_TIME = [ZONES.index(zone) for zone in ("America/Phoenix", "Pacific/Honolulu")]
# Where in the history each of the three dials the shared number: inside the campaign's window,
# and weeks apart from the others.
_WHEN_OF_THREE = (0.70, 0.20, 0.45)

# Clock times of one number's calls: four and five in a day, and four over a night, which a count
# per calendar day does not see.
_PATTERNS: tuple[tuple[tuple[int, int], ...], ...] = (
    ((0, 545), (0, 700), (0, 910), (0, 1125)),
    ((0, 840), (0, 1050), (1, 540), (1, 750)),
    ((0, 510), (0, 630), (0, 750), (0, 870), (0, 990)),
)
_PER_DAY = 3
_SATURDAY = 5


@dataclass(frozen=True, slots=True)
class Script:
    """One call written by hand.

    Attributes:
        lead: Index of the lead.
        local: Naive local time of its beginning in the lead's first zone.
        code: Disposition of its outcome.
        fault: What it shows, or nothing for a call that only leads up to it.
        expected: What a right audit must say of it.
        detail: Why, in words.
    """

    lead: int
    local: int
    code: str
    fault: str = ""
    expected: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    """The leads with their parts given out.

    Attributes:
        people: The leads, scripted ones moved to the place and campaign of their part.
        scripts: The scripted calls.
        parts: Leads of each fault.
    """

    people: People
    scripts: tuple[Script, ...]
    parts: dict[str, tuple[int, ...]]


def cast(rng: np.random.Generator, calendar: Calendar, size: Size, people: People) -> Cast:
    """Choose the leads that play the faults and write their calls."""
    counts = _counts(size.faults)
    # Where clocks never change, a wrong offset is wrong about nobody.
    able = np.flatnonzero(~np.isin(people.zone, _NO_SUMMER_TIME))
    # Each lead plays one part: a verdict has one cause.
    chosen = rng.choice(able, sum(counts.values()), replace=False).tolist()
    parts: dict[str, tuple[int, ...]] = {}
    for fault, count in counts.items():
        parts[fault], chosen = tuple(chosen[:count]), chosen[count:]
    people = _move_people(people, parts)
    days = _Days(rng, calendar)
    scripts = (
        *_after_dnc(days, parts[AFTER_DNC]),
        *_dst_week(days, parts[DST_WEEK], size.faults, people),
        *_before_hours(days, parts[BEFORE_HOURS]),
        *_mixed_zone_scripts(days, parts[MIXED_ZONE], people),
        *_too_often(days, parts[TOO_OFTEN]),
        *_dnc_not_listed(days, parts[DNC_NOT_LISTED]),
        *_three_campaigns(days, parts[THREE_CAMPAIGNS]),
    )
    return Cast(people, scripts, parts)


@dataclass(frozen=True, slots=True, eq=False)
class _Days:
    """Chance and the calendar, for picking days and times of day."""

    rng: np.random.Generator
    calendar: Calendar

    @property
    def first(self) -> int:
        return self.calendar.starts // DAY

    @property
    def last(self) -> int:
        """The last day of the history that is over everywhere in the country."""
        return self.calendar.ends // DAY - 2

    def between(self, early: int, late: int) -> int:
        """A weekday, counted from 1970, not before `early` and at most two days after `late`."""
        return _weekday_from(int(self.rng.integers(early, late + 1)))

    def minute(self, early: int, late: int) -> int:
        """A time of day in milliseconds, between two minutes of the day."""
        return int(self.rng.integers(early * MINUTE, late * MINUTE))


def _counts(plan: FaultPlan) -> dict[str, int]:
    late = plan.late_summer_side + plan.late_standard_side
    decoys = plan.decoys_summer_side + plan.decoys_standard_side
    return {
        AFTER_DNC: plan.after_dnc,
        DST_WEEK: late + decoys,
        BEFORE_HOURS: plan.before_hours,
        MIXED_ZONE: plan.mixed_zone,
        TOO_OFTEN: plan.too_often,
        DNC_NOT_LISTED: plan.dnc_not_listed,
        THREE_CAMPAIGNS: len(_CAMPAIGNS_OF_THREE),
    }


def _move_people(people: People, parts: dict[str, tuple[int, ...]]) -> People:
    campaign, place = people.campaign.copy(), people.place.copy()
    zone, phone, scripted = people.zone.copy(), list(people.phone), people.scripted.copy()
    everyone = [lead for leads in parts.values() for lead in leads]
    scripted[everyone] = True
    campaign[everyone] = MAIN_CAMPAIGN
    campaign[list(parts[THREE_CAMPAIGNS])] = _CAMPAIGNS_OF_THREE
    # One person in three campaigns: the same number, bought or imported three times.
    first, *others = parts[THREE_CAMPAIGNS]
    for lead in others:
        phone[lead], place[lead], zone[lead] = phone[first], place[first], zone[first]
    for turn, lead in enumerate(parts[MIXED_ZONE]):
        code = STRADDLING[turn % len(STRADDLING)]
        place[lead] = PLACE[code]
        zone[lead] = ZONES.index(PLACES[PLACE[code]].zones[0])
        phone[lead] = f"+1{code}55501{turn // len(STRADDLING):02d}"
    return replace(
        people, campaign=campaign, place=place, zone=zone, phone=phone, scripted=scripted
    )


def _after_dnc(days: _Days, leads: tuple[int, ...]) -> Iterator[Script]:
    for lead in leads:
        first = days.between(days.first + 2, days.last - 50)
        asked = _weekday_from(first + 3)
        # Past the ten business days that a request may take in the United States.
        later = days.between(asked + 18, asked + 38)
        yield Script(lead, first * DAY + days.minute(600, 1_000), "NA")
        yield Script(lead, asked * DAY + days.minute(600, 1_000), "DNC")
        detail = f"dialed {later - asked} days after the number's Do-Not-Call disposition"
        time = later * DAY + days.minute(600, 1_000)
        yield Script(lead, time, "NA", AFTER_DNC, "proven", detail)


def _dst_week(
    days: _Days, leads: tuple[int, ...], plan: FaultPlan, people: People
) -> Iterator[Script]:
    summer, standard, changed = _change(days)
    turns = (
        *((summer, True) for _ in range(plan.late_summer_side)),
        *((standard, True) for _ in range(plan.late_standard_side)),
        *((standard, False) for _ in range(plan.decoys_standard_side)),
        *((summer, False) for _ in range(plan.decoys_summer_side)),
    )
    for turn, (lead, (side, late)) in enumerate(zip(leads, turns, strict=True)):
        day = side[turn % len(side)]
        span = (21 * 60, 21 * 60 + 55) if late else (20 * 60 + 30, 20 * 60 + 59)
        local = day * DAY + days.minute(*span)
        detail = f"{_clock(local)} in {ZONES[people.zone[lead]]}"
        if changed and late and side is summer:
            detail += ", an hour earlier by the standard offset"
        elif changed and not late and side is standard:
            detail += ", an hour later by the daylight-saving offset"
        yield Script(lead, local, "NA", DST_WEEK, "violation" if late else "clear", detail)


def _before_hours(days: _Days, leads: tuple[int, ...]) -> Iterator[Script]:
    for lead in leads:
        local = days.between(days.first + 4, days.last - 2) * DAY + days.minute(420, 479)
        yield Script(lead, local, "A", BEFORE_HOURS, "violation", f"{_clock(local)} local")


def _mixed_zone_scripts(days: _Days, leads: tuple[int, ...], people: People) -> Iterator[Script]:
    for turn, lead in enumerate(leads):
        day = days.between(days.first + 4, days.last - 2)
        zones = PLACES[int(people.place[lead])].zones
        noon = np.full(len(zones), day * DAY + 12 * HOUR)
        index = np.array([ZONES.index(zone) for zone in zones])
        offset = noon - days.calendar.to_utc(index, noon)
        # Late in the evening it is still inside in the west, early in the morning in the east.
        evening = turn % 2 == 0
        clock = days.minute(1_210, 1_255) if evening else days.minute(490, 530)
        anchor = offset.min() if evening else offset.max()
        local = day * DAY + clock - int(anchor) + int(offset[0])
        inside = zones[int(np.argmin(offset) if evening else np.argmax(offset))]
        outside = zones[int(np.argmax(offset) if evening else np.argmin(offset))]
        detail = f"{_clock(day * DAY + clock)} in {inside}, outside the hours in {outside}"
        yield Script(lead, local, "NA", MIXED_ZONE, "uncertain", detail)


def _too_often(days: _Days, leads: tuple[int, ...]) -> Iterator[Script]:
    for turn, lead in enumerate(leads):
        pattern = _PATTERNS[turn % len(_PATTERNS)]
        day = days.between(days.first + 4, days.last - 4)
        # A pattern that reaches over midnight must not reach into a Saturday.
        if _weekday(day) == _SATURDAY - 1:
            day = _weekday_from(day + 1)
        for number, (later, minute) in enumerate(pattern):
            local = (day + later) * DAY + minute * MINUTE + days.minute(0, 9)
            code = ("NA", "B", "A", "NA", "HUP")[number]
            if number < _PER_DAY:
                yield Script(lead, local, code)
            else:
                detail = f"call {number + 1} to the number within 24 hours"
                yield Script(lead, local, code, TOO_OFTEN, "violation", detail)


def _dnc_not_listed(days: _Days, leads: tuple[int, ...]) -> Iterator[Script]:
    for lead in leads:
        asked = days.between(days.first + 5, days.last - 30)
        yield Script(lead, asked * DAY + days.minute(600, 1_000), "DNC")


def _three_campaigns(days: _Days, leads: tuple[int, ...]) -> Iterator[Script]:
    length = days.last - days.first
    for lead, when in zip(leads, _WHEN_OF_THREE, strict=True):
        day = _weekday_from(days.first + int(length * when))
        yield Script(lead, day * DAY + days.minute(600, 1_000), "NA")
        yield Script(lead, _weekday_from(day + 3) * DAY + days.minute(600, 1_000), "A")


def _change(days: _Days) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    """Three days each on daylight saving and on standard time around the last clock change.

    Where the history has no change, its last full week serves as both.
    """
    zone = np.array(ZONES.index("America/New_York"))
    noons = np.arange(days.first, days.last + 1) * DAY + 12 * HOUR
    offset = noons - days.calendar.to_utc(np.full(len(noons), zone), noons)
    changes = np.flatnonzero(np.diff(offset[4:-1])) + 5
    if not len(changes):
        week = tuple(range(days.last - 6, days.last + 1))
        return week, week, False
    day = days.first + int(changes[-1])
    before = (day - 3, day - 2, day - 1)
    after = tuple(range(day, min(day + 3, days.last + 1)))
    # The offset falls in autumn: daylight saving lies before the change then, else after it.
    autumn = offset[changes[-1]] < offset[changes[-1] - 1]
    return (before, after, True) if autumn else (after, before, True)


def _weekday_from(day: int) -> int:
    """The day itself, or the Monday after it when it falls on a weekend."""
    weekday = _weekday(day)
    return day + 7 - weekday if weekday >= _SATURDAY else day


def _weekday(day: int) -> int:
    return int(weekday(np.array([day * DAY]))[0])


def _clock(local: int) -> str:
    minutes = local % DAY // MINUTE
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
