"""One reading of a time: what names an instant, and what does not."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.errors import ConfigError
from dialframe.instants import age, day, instant, midnight, parse, to_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-09-30T08:00:00Z", datetime(2026, 9, 30, 8, tzinfo=UTC)),
        (" 2026-09-30 08:00:00.5z ", datetime(2026, 9, 30, 8, 0, 0, 500_000, UTC)),
        ("2026-09-30T08:00+02:00", datetime(2026, 9, 30, 6, tzinfo=UTC)),
        ("2026-09-30T08:00:00-0530", datetime(2026, 9, 30, 13, 30, tzinfo=UTC)),
        ("2026-09-30T08:00:00,123456789+02", datetime(2026, 9, 30, 6, 0, 0, 123_456, UTC)),
        ("2016-12-31T23:59:60Z", datetime(2016, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("2016-12-31T18:59:60.5-05:00", datetime(2016, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("2026-09-30T24:00:00Z", datetime(2026, 10, 1, tzinfo=UTC)),
        ("2026-09-30T24:00Z", datetime(2026, 10, 1, tzinfo=UTC)),
    ],
)
def test_text_with_a_zone_names_an_instant(text: str, expected: datetime) -> None:
    """RFC 3339, its relatives, leap seconds and the midnight that ends a day."""
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "2026-09-30T08:00:00", "2026-09-30", "2026-W40-4", "2026-W40-4T08:00:00Z", "2026-273",
        "2026-02-30T08:00:00Z", "2026-09-30T24:00:01Z", "2026-09-30T25:00:00Z", "20260930T080000Z",
        "2026-09-30T08:61:00Z", "2026-09-30T08:00:00+25:00", "0001-01-01T00:00:00+10:00", "soon",
        "1789987200", "2026-09-30T08:00:00Zulu", "\u0662026-09-30T08:00:00Z",
    ],
)  # fmt: skip
def test_other_text_names_none(text: str) -> None:
    """No zone, no calendar day, no such time: no instant."""
    assert parse(text) is None


@given(st.datetimes(timezones=st.just(UTC)).filter(lambda at: 1 < at.year < 9999))
def test_what_is_written_is_read_again(at: datetime) -> None:
    """Writing and reading loses nothing."""
    assert parse(to_text(at)) == at


def test_an_argument_takes_a_day_an_instant_or_their_text() -> None:
    """A day is its midnight in UTC; nothing is nothing."""
    nine = timezone(timedelta(hours=9))
    assert instant("since", None) is None
    assert instant("since", "2026-10-01") == datetime(2026, 10, 1, tzinfo=UTC)
    assert instant("since", date(2026, 10, 1)) == datetime(2026, 10, 1, tzinfo=UTC)
    assert instant("since", datetime(2026, 10, 1, tzinfo=nine)) == datetime(
        2026, 9, 30, 15, tzinfo=UTC
    )
    assert midnight("since", "2026-10-01T18:00:00-07:00") == datetime(2026, 10, 2, tzinfo=UTC)
    assert day("since", "2026-10-01T18:00:00-07:00") == date(2026, 10, 2)


@pytest.mark.parametrize(
    "value", ["2026-10-01T08:00:00", datetime(2026, 10, 1, 8, tzinfo=UTC).replace(tzinfo=None)]
)
def test_a_time_without_a_zone_is_refused_by_that_name(value: object) -> None:
    """The message says that the zone is missing and how one is written."""
    with pytest.raises(ConfigError, match="since has no time zone"):
        instant("since", value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["yesterday", "2026-13-01", 5, "2026-W40-4"])
def test_no_instant_is_refused_with_the_forms_that_are_taken(value: object) -> None:
    """The message shows a day and an instant."""
    with pytest.raises(ConfigError, match="since takes a day such as 2026-09-30 or an instant"):
        instant("since", value)  # type: ignore[arg-type]


def test_an_age_needs_a_unit() -> None:
    """`31d` is an age and `31` is none."""
    assert age("keep", "31d") == age("keep", timedelta(days=31))
    assert age("keep", "2 w") == timedelta(days=14)
    for wrong in (31, "31", "d", "-1d", timedelta(days=-1)):
        with pytest.raises(ConfigError, match="keep"):
            age("keep", wrong)
