"""The called party's clock, held to zoneinfo, and the volume clock, held to its own laws."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.sandbox.seed import people_and_calendar
from dialframe.sandbox.seed.people_and_calendar import DAY, HOUR, MINUTE, SECOND, ZONES

CALENDAR = people_and_calendar.calendar(dt.date(2026, 11, 21), 365)
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def array(value: int) -> np.ndarray:
    """One value as the columns take it."""
    return np.array([value], dtype=np.int64)


@given(
    zone=st.integers(0, len(ZONES) - 1),
    day=st.integers(0, 364),
    minute=st.integers(3 * 60, 24 * 60 - 1),
)
def test_local_times_become_utc_as_zoneinfo_says(zone: int, day: int, minute: int) -> None:
    """Between 03:00 and midnight every local time has the offset of its zone on its day."""
    local = CALENDAR.starts + day * DAY + minute * MINUTE
    utc = int(CALENDAR.to_utc(array(zone), array(local))[0])
    shown = (EPOCH + dt.timedelta(milliseconds=utc)).astimezone(ZoneInfo(ZONES[zone]))
    assert shown.replace(tzinfo=dt.UTC) == EPOCH + dt.timedelta(milliseconds=local)
    assert int(CALENDAR.to_local(array(zone), array(utc))[0]) == local


@given(volume=st.floats(0.0, 300.0))
def test_volume_and_moment_are_inverses(volume: float) -> None:
    """Going to the clock and back changes a volume by less than a second of dialing."""
    moment = CALENDAR.moment(np.array([volume]))
    assert abs(float(CALENDAR.volume(moment)[0]) - volume) < 1e-5


@given(volume=st.floats(0.0, 300.0))
def test_moments_are_inside_the_hours(volume: float) -> None:
    """No volume falls on a Sunday, before 08:00 or after 20:57 local."""
    moment = CALENDAR.moment(np.array([volume]))
    assert not people_and_calendar.is_sunday(moment)[0]
    assert 8 * HOUR <= int(moment[0]) % DAY <= 20 * HOUR + 57 * MINUTE


@given(volumes=st.lists(st.floats(0.0, 300.0), min_size=2, max_size=20))
def test_moments_keep_their_order(volumes: list[float]) -> None:
    """More dialing is never done by an earlier time."""
    moments = CALENDAR.moment(np.array(sorted(volumes)))
    assert (np.diff(moments) >= 0).all()


def test_volume_is_spread_as_the_tables_say() -> None:
    """Even volumes fall into hours and weekdays in the proportions of the two tables."""
    first = float(CALENDAR.volume(array(CALENDAR.starts))[0])
    last = float(CALENDAR.volume(array(CALENDAR.ends))[0])
    local = CALENDAR.moment(np.linspace(first, last, 200_000, endpoint=False))
    by_hour = np.bincount(people_and_calendar.hour(local), minlength=24)[8:21] / len(local)
    assert by_hour == pytest.approx(
        people_and_calendar.HOURLY / people_and_calendar.HOURLY.sum(), abs=0.002
    )
    by_day = np.bincount(people_and_calendar.weekday(local), minlength=7) / len(local)
    assert by_day == pytest.approx(
        people_and_calendar.WEEKDAILY / people_and_calendar.WEEKDAILY.sum(), abs=0.005
    )


def test_weekdays() -> None:
    """2026-11-21 is a Saturday and the day after it a Sunday."""
    assert people_and_calendar.weekday(array(CALENDAR.ends)).tolist() == [5]
    assert people_and_calendar.is_sunday(array(CALENDAR.ends + DAY)).tolist() == [True]


def test_iso() -> None:
    """An instant is written with milliseconds and Z."""
    instant = dt.datetime(2026, 5, 4, 13, 30, 0, 250_000, tzinfo=dt.UTC)
    assert people_and_calendar.iso(int(instant.timestamp() * SECOND)) == "2026-05-04T13:30:00.250Z"
