"""Local time of many instants against the standard library, one by one."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from compliance import hand
from dialframe.compliance import clock, zones

ZONES = sorted(
    {zone for area in zones.area_codes().values() for zone in area.zones}
    | {zone for names in zones.state_zones().values() for zone in names}
)
MOMENTS = hand.moments("2015-01-01", "2035-01-01")
US = timedelta(microseconds=1)


def _local(*moments: datetime, zone: str) -> clock.Local:
    return clock.local(pd.Series(moments, dtype="datetime64[us, UTC]"), zone)


@given(st.lists(MOMENTS, min_size=1, max_size=20), st.sampled_from(ZONES))
def test_a_local_clock_reads_as_the_standard_library_says(
    moments: list[datetime], zone: str
) -> None:
    """Day, time of day and offset of every instant, in every zone of the tables."""
    here = _local(*moments, zone=zone)
    for place, moment in enumerate(moments):
        wanted = moment.astimezone(ZoneInfo(zone))
        since = timedelta(hours=wanted.hour, minutes=wanted.minute, seconds=wanted.second)
        offset = wanted.utcoffset()
        assert offset is not None
        assert here.day[place] == (wanted.date() - date(1970, 1, 1)).days
        assert here.of_day_us[place] == since // US + wanted.microsecond
        assert here.offset_us[place] == offset // US
        cut = wanted.replace(microsecond=0).isoformat()
        assert here.text()[place] == f"{cut} {zone}"


def test_text_cuts_seconds_and_never_rounds() -> None:
    """A microsecond before nine does not read as nine."""
    here = _local(hand.utc("2026-07-02T00:59:59.999999"), zone="America/New_York")
    assert here.text().tolist() == ["2026-07-01T20:59:59-04:00 America/New_York"]


def test_both_readings_of_a_repeated_hour_are_told_apart() -> None:
    """On the day that clocks go back, 01:30 comes twice, with two offsets."""
    here = _local(
        hand.utc("2026-11-01T05:30"), hand.utc("2026-11-01T06:30"), zone="America/New_York"
    )
    assert here.text().tolist() == [
        "2026-11-01T01:30:00-04:00 America/New_York",
        "2026-11-01T01:30:00-05:00 America/New_York",
    ]
