"""Local time of many instants against the standard library, one by one."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance import hand
from dialframe.compliance import clock, rulebook, zones
from dialframe.compliance.rulebook import HoursRule

ZONES = sorted(
    {zone for area in zones.area_codes().values() for zone in area.zones}
    | {zone for names in zones.state_zones().values() for zone in names}
)
MOMENTS = hand.moments("2015-01-01", "2035-01-01")
US = timedelta(microseconds=1)
RULE = rulebook.load().hours()[0]


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


@pytest.mark.parametrize(
    ("time", "margin_s"),
    [
        ("08:00", 0),
        ("12:00", 4 * 3600),
        ("20:59:59", 1),
        ("07:59:59", -1),
        ("21:00", 0),
        ("02:30", -5.5 * 3600),
        ("00:00", -3 * 3600),
    ],
)
def test_the_margin_is_the_way_to_the_nearest_edge(time: str, margin_s: float) -> None:
    """Inside above zero, outside below, across midnight too."""
    here = _local(hand.utc(f"2026-07-01T{time}"), zone="UTC")
    within = clock.inside(RULE, here)
    margin = clock.margin_us(RULE, here, within)[0]
    assert within[0] == (margin >= 0)
    assert margin + (0 if within[0] else 1) == margin_s * clock.SECOND_US


def _rule(**changes: object) -> HoursRule:
    return RULE.model_copy(update=changes)


def test_a_rule_holds_from_its_first_to_its_last_local_day() -> None:
    """Both days are included, by the calendar of the called party."""
    rule = _rule(
        effective_from=hand.utc("2026-07-01").date(), effective_to=hand.utc("2026-07-02").date()
    )
    here = _local(
        *(
            hand.utc(f"2026-07-{text}")
            for text in ("01T03:59", "01T04:00", "03T03:59", "03T04:00")
        ),
        zone="America/New_York",
    )
    assert clock.holds(rule, here).tolist() == [False, True, True, False]


def test_windows_go_by_weekday_and_a_day_may_have_several() -> None:
    """Monday to Saturday with a pause at noon, Sunday closed."""
    week = rulebook.DAYS[:6]
    parameters = rulebook.HoursParameters.model_validate(
        {
            "timezone_basis": "called_party",
            "event": "call_start",
            "windows": [
                {"days": week, "start": RULE.parameters.windows[0].start, "end": _at(13)},
                {"days": week, "start": _at(14), "end": _at(20)},
            ],
            "closed_days": ["sun"],
        }
    )
    here = _local(
        hand.utc("2026-07-04T12:59"),
        hand.utc("2026-07-04T13:00"),
        hand.utc("2026-07-04T14:00"),
        hand.utc("2026-07-05T14:00"),
        hand.utc("2026-07-06T14:00"),
        zone="UTC",
    )
    found = clock.inside(_rule(parameters=parameters), here)
    assert found.tolist() == [True, False, True, False, True]


def _at(hour: int) -> object:
    return hand.utc(f"2026-01-01T{hour:02}:00").time()
