"""Instants: text and microseconds."""

from __future__ import annotations

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from dialframe.sandbox.world import clock

MOMENTS = st.integers(min_value=0, max_value=220_000_000_000_000_000).map(
    lambda us: dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=us)
)


def test_text_is_iso_8601_in_utc_with_z() -> None:
    """Whole milliseconds are told as such, microseconds where there are any."""
    assert clock.text(0) == "1970-01-01T00:00:00.000Z"
    assert clock.text(1_767_225_600_123_000) == "2026-01-01T00:00:00.123Z"
    assert clock.text(1_767_225_600_123_456) == "2026-01-01T00:00:00.123456Z"
    assert clock.text_or_none(None) is None


@given(MOMENTS)
def test_text_says_the_same_instant(moment: dt.datetime) -> None:
    """Written and read again, an instant is what it was, and its text is one that is taken."""
    text = clock.text(clock.from_datetime(moment))
    assert dt.datetime.fromisoformat(text) == moment
    assert clock.TEXT.fullmatch(text)


def test_only_rfc_3339_with_a_zone_is_taken() -> None:
    """Unix seconds, blanks for the T, days alone and times without a zone are not."""
    for text in ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00.5+02:00", "2026-01-01T10:00Z"):
        assert clock.TEXT.fullmatch(text), text
    for text in (
        "1700000000", "2026-01-01 10:00:00Z", "2026-01-01", "2026-01-01T10:00:00",
        "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-01T10:00:00Z\n",
    ):  # fmt: skip
        assert not clock.TEXT.fullmatch(text), text


def test_days_begin_at_midnight_utc() -> None:
    """A day's first instant, the day of an instant, and the next midnight agree."""
    first = clock.from_day(dt.date(2026, 3, 1))
    assert clock.text(first) == "2026-03-01T00:00:00.000Z"
    assert clock.day_of(first) == "2026-03-01"
    assert clock.day_of(first - 1) == "2026-02-28"
    assert clock.next_midnight(first) == first + clock.DAY_US
    assert clock.next_midnight(first - 1) == first
