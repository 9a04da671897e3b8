"""The called party's clock: local time to UTC, dialing volume as a clock, area codes with their zones.

Local times are "naive" milliseconds: what the called party's clock shows, counted as if it were
UTC. All times inside the generator are whole milliseconds.

**Volume time.** Dialing is not spread evenly: `HOURLY` and `WEEKDAILY` say how much happens in
each local hour and on each weekday. `volume` maps a local time to the amount of dialing that has
passed by then, and `moment` maps it back. One ordinary weekday is 1. Attempts that are spaced
evenly in volume time therefore fall into the hours and weekdays in the wanted proportions, never
at night and never on a Sunday, without a draw being thrown away.
"""

from __future__ import annotations

import csv
import datetime as dt
from dataclasses import dataclass
from importlib import resources
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from dialframe.sandbox.seed.sizes_and_tables import Flags, Floats, Ints


@dataclass(frozen=True, slots=True)
class Place:
    """One area code: three digits, two-letter state, IANA zones in alphabetical order."""

    code: str
    state: str
    zones: tuple[str, ...]


def _places() -> tuple[Place, ...]:
    """The table of area codes, by code.

    Left out of it: the overlays that the `phonenumbers` package knows less well than the code they
    overlie (364, 448, 458, 689, 729, 930, 983), because a careful reader would doubt their zone.
    """
    table = resources.files(__package__) / "data" / "us_area_codes.csv"
    rows = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    return tuple(Place(row["code"], row["state"], tuple(row["zones"].split())) for row in rows)


_PLACES: Final = _places()

#: Area codes whose every exchange has one and the same zone: an hour there is not open to argument.
ONE_ZONE: Final = tuple(place for place in _PLACES if len(place.zones) == 1)

#: Area codes with more than one zone.
SEVERAL_ZONES: Final = tuple(place for place in _PLACES if len(place.zones) > 1)

STRADDLING: tuple[str, ...] = ("850", "605", "208", "270")
"""Area codes of `SEVERAL_ZONES` whose outermost zones are an hour apart all the year round."""

LOCAL_CODES: tuple[str, ...] = (
    "212", "312", "713", "206", "404", "305", "602", "617", "214", "818", "215", "303", "313", "503",
    "612", "702", "704", "801", "808", "916",
)  # fmt: skip
"""Area codes of `ONE_ZONE` in which the account owns a caller ID, most used first."""

REGISTRY_BLOCKS: tuple[str, ...] = tuple(
    f"+1{code}55501{line}"
    for code in ["212", "312", "713", "206", "617", "404", "305", "602", "503", "303"]
    for line in range(90, 100)
)
"""A hundred numbers that are on every generated Do-Not-Call list and belong to no lead.

`+1 <area> 555 0190` to `0199` of ten area codes, so that an import can be made to meet a listed
number on purpose.
"""


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
        """Dialing done by a local time, in ordinary weekdays."""
        day = local // DAY - self.first_day
        share: Floats = np.interp(local % DAY, _EDGES, _PASSED)
        return self.passed[day] + self.weights[day] * share

    def moment(self, volume: Floats) -> Ints:
        """The local time by which so much dialing is done."""
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
    time_zone = ZoneInfo(zone)
    epoch = dt.datetime(1970, 1, 1, 12, tzinfo=time_zone)
    noons = (epoch + dt.timedelta(days=day) for day in days.tolist())
    return [_offset_ms(noon) for noon in noons]


def _offset_ms(local: dt.datetime) -> int:
    offset = local.utcoffset()
    return 0 if offset is None else int(offset.total_seconds()) * SECOND
