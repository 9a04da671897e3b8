"""The called party's clock: local time to UTC, and dialling volume as a clock; knows no calls.

Local times are "naive" milliseconds: what the called party's clock shows, counted as if it were
UTC. All times inside the generator are whole milliseconds.

**Volume time.** Dialling is not spread evenly: `HOURLY` and `WEEKDAILY` say how much happens in
each local hour and on each weekday. `volume` maps a local time to the amount of dialling that has
passed by then, and `moment` maps it back. One ordinary weekday is 1. Attempts that are spaced
evenly in volume time therefore fall into the hours and weekdays in the wanted proportions, never
at night and never on a Sunday, without a draw being thrown away.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np

from dialframe.sandbox.seed.places import ONE_ZONE, SEVERAL_ZONES
from dialframe.sandbox.seed.tables import Flags, Floats, Ints

MS = 1
SECOND = 1_000 * MS
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

FIRST_HOUR = 8
LAST_HOUR = 20
HOURLY = np.array([0.5, 1.2, 1.4, 1.3, 0.9, 1.1, 1.3, 1.3, 1.2, 1.1, 0.8, 0.5, 0.2])
"""Relative volume of the local hours 8 to 20."""
WEEKDAILY = np.array([1.0, 1.0, 1.0, 1.0, 0.95, 0.35, 0.0])
"""Relative volume of the weekdays, Monday first."""

# The last hour ends early, so that a call placed in it is also answered in it.
_EDGES = np.array([*range(FIRST_HOUR, LAST_HOUR + 1), LAST_HOUR + 0.95]) * HOUR
_PASSED = np.concatenate([[0.0], np.cumsum(HOURLY) / HOURLY.sum()])

ZONES: tuple[str, ...] = tuple(
    sorted({zone for place in (*ONE_ZONE, *SEVERAL_ZONES) for zone in place.zones})
)

_MARGIN_DAYS = 45
"""Days kept before and after the history, for imports before it and promises after it."""


@dataclass(frozen=True, slots=True, eq=False)
class Calendar:
    """The days of one history.

    Attributes:
        starts: First instant of the history, UTC.
        ends: First instant after the history, UTC.
        first_day: Days since 1970-01-01 of the calendar's first day.
        offsets: Local minus UTC at noon, one row per zone of `ZONES`, one column per day.
        weights: Volume of each day.
        passed: Volume before each day.
    """

    starts: int
    ends: int
    first_day: int
    offsets: Ints
    weights: Floats
    passed: Floats

    def to_utc(self, zone: Ints, local: Ints) -> Ints:
        """UTC of local times between 02:00 and midnight, where a day has one offset."""
        return local - self.offsets[zone, local // DAY - self.first_day]

    def to_local(self, zone: Ints, utc: Ints) -> Ints:
        """Local time of instants; an hour off in the night of a clock change."""
        day = utc // DAY - self.first_day
        # The local day has the offset, and an evening here may be the next day in UTC.
        offset = np.minimum(self.offsets[zone, day], self.offsets[zone, np.maximum(day - 1, 0)])
        local: Ints = utc + self.offsets[zone, (utc + offset) // DAY - self.first_day]
        return local

    def volume(self, local: Ints) -> Floats:
        """Dialling done by a local time, in ordinary weekdays."""
        day = local // DAY - self.first_day
        share: Floats = np.interp(local % DAY, _EDGES, _PASSED)
        return self.passed[day] + self.weights[day] * share

    def moment(self, volume: Floats) -> Ints:
        """The local time by which so much dialling is done."""
        day = np.searchsorted(self.passed, volume, side="right") - 1
        day = np.minimum(day, len(self.weights) - 2)
        share = (volume - self.passed[day]) / np.maximum(self.weights[day], 0.01)
        within = np.interp(share, _PASSED, _EDGES).astype(np.int64)
        moment: Ints = (day + self.first_day) * DAY + within
        return moment

    def day_after(self, local: Ints) -> Floats:
        """Volume at the start of the day after a local time."""
        return self.passed[local // DAY - self.first_day + 1]


def calendar(as_of: dt.date, history_days: int) -> Calendar:
    """The calendar of a history that ends as `as_of` begins (UTC)."""
    last = (as_of - dt.date(1970, 1, 1)).days
    first_day = last - history_days - _MARGIN_DAYS
    days = np.arange(first_day, last + _MARGIN_DAYS + 1)
    weights = WEEKDAILY[weekday(days * DAY)]
    passed = np.concatenate([[0.0], np.cumsum(weights)[:-1]])
    offsets = np.array([_offsets(zone, days) for zone in ZONES], dtype=np.int64)
    return Calendar((last - history_days) * DAY, last * DAY, first_day, offsets, weights, passed)


def weekday(local: Ints) -> Ints:
    """Day of the week of a local time, Monday 0."""
    # 1970-01-01 was a Thursday.
    return (local // DAY + 3) % 7


def hour(local: Ints) -> Ints:
    """Hour of the day of a local time."""
    return local % DAY // HOUR


def is_sunday(local: Ints) -> Flags:
    """Whether the local day is a Sunday."""
    sunday: Flags = weekday(local) == 6
    return sunday


def iso(utc: int) -> str:
    """An instant as the contract writes it, such as `2026-05-04T13:30:00.250Z`."""
    instant = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=utc)
    return f"{instant:%Y-%m-%dT%H:%M:%S}.{utc % SECOND:03d}Z"


def _offsets(zone: str, days: Ints) -> list[int]:
    place = ZoneInfo(zone)
    epoch = dt.datetime(1970, 1, 1, 12, tzinfo=place)
    noons = (epoch + dt.timedelta(days=day) for day in days.tolist())
    return [_offset_ms(noon) for noon in noons]


def _offset_ms(local: dt.datetime) -> int:
    offset = local.utcoffset()
    return 0 if offset is None else int(offset.total_seconds()) * SECOND
