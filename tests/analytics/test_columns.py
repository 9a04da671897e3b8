"""The edge of the room: windows need a time zone and hold their first instant only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from analytics.made import START
from dialframe.analytics.columns import within
from dialframe.errors import ConfigError

INSTANTS = pd.Series(
    [START, START + timedelta(hours=1), None], dtype="datetime64[us, UTC]", name="created_at"
)


@pytest.mark.parametrize(
    ("since", "until", "inside"),
    [
        (None, None, [True, True, True]),
        (START, None, [True, True, False]),
        (None, START + timedelta(hours=1), [True, False, False]),
        (START + timedelta(seconds=1), START + timedelta(hours=2), [False, True, False]),
    ],
)
def test_windows_are_half_open(
    since: datetime | None, until: datetime | None, inside: list[bool]
) -> None:
    """The first instant is in, the last is not, and what has no instant is in no bounded window."""
    assert within(INSTANTS, since, until).tolist() == inside


def test_a_bound_needs_a_zone() -> None:
    """A naive bound is refused: nobody knows which midnight was meant."""
    with pytest.raises(ConfigError, match=r"since=2026-03-02T00:00:00 has no time zone"):
        within(INSTANTS, datetime(2026, 3, 2), None)  # noqa: DTZ001 - the point of the test


def test_a_column_needs_a_zone() -> None:
    """A naive column is refused by name."""
    naive = INSTANTS.dt.tz_localize(None)
    with pytest.raises(ConfigError, match="column 'created_at' has no time zone"):
        within(naive, START, None)


def test_bounds_the_wrong_way_round() -> None:
    """A window that ends before it begins is a mistake, not an empty result."""
    with pytest.raises(ConfigError, match="is after until"):
        within(INSTANTS, datetime(2027, 1, 1, tzinfo=UTC), START)
