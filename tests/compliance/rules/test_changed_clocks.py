"""Hours by clocks whose law changed lately: British Columbia, Alberta, Manitoba."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

import pandas as pd
import pytest

from compliance import hand
from dialframe.compliance import hours, rulebook
from dialframe.compliance.practice import Practice
from dialframe.compliance.tables import utc_offsets

BOOK = rulebook.load().select(["ca"])
DAY = datetime(2026, 12, 1, tzinfo=UTC)
#: Zone: a number there, and the offset of the first winter with the new clock.
CHANGED = {
    "America/Vancouver": ("+16045550142", -7),
    "America/Edmonton": ("+14035550142", -6),
    "America/Winnipeg": ("+12045550142", -5),
}
#: On a Tuesday; the old winter clock would put each edge an hour later.
EDGES = {"08:59": "violation", "09:00": "pass", "21:29": "pass", "21:30": "violation"}


@cache
def graded() -> pd.DataFrame:
    """A call at each edge of the day in each place."""
    made = []
    for zone, (number, offset) in CHANGED.items():
        for edge in EDGES:
            hour, minute = (int(part) for part in edge.split(":"))
            at = DAY + timedelta(hours=hour - offset, minutes=minute)
            made.append(hand.call(number, at, id=f"{zone} {edge}"))
    lines = dict.fromkeys((number for number, _ in CHANGED.values()), "residential")
    firm = Practice(dialing="manual", line_types=lines)
    return hours.audit(hand.calls(*made), rules=BOOK, practice=firm).set_index("call_id")


@pytest.mark.parametrize("zone", CHANGED)
def test_the_pinned_clocks_stay_on_summer_time(zone: str) -> None:
    """Whatever the machine's own database says."""
    offset = CHANGED[zone][1]
    assert DAY.astimezone(utc_offsets.zone(zone)).utcoffset() == timedelta(hours=offset)
    assert f"T09:00:00{offset:+03d}:00 {zone}" in graded().loc[f"{zone} 09:00", "local_times"]


@pytest.mark.parametrize("zone", CHANGED)
def test_edges_of_the_day_follow_the_changed_clock(zone: str) -> None:
    """9:00 to 21:30."""
    assert {edge: graded().loc[f"{zone} {edge}", "grade"] for edge in EDGES} == EDGES
