"""The edge of the room: windows need a time zone and hold their first instant only."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from analytics.made import START
from dialframe.analytics.attempt.frames_to_arrays import repeated, within, word_of
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


def test_a_column_needs_a_zone() -> None:
    """A naive column is refused by name."""
    naive = INSTANTS.dt.tz_localize(None)
    with pytest.raises(ConfigError, match="column 'created_at' has no time zone"):
        within(naive, START, None)


@pytest.mark.parametrize("length", [3, 16, 40])
def test_repeated_values_are_found_whatever_they_share(length: int) -> None:
    """Ids that are equal at the end alone, or often, are told apart as pandas does."""
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 4_000, 6_000)
    ids = pd.Series([f"{n % 2}{n // 2:0{length - 1}d}"[:length] for n in numbers], dtype="str")
    assert (repeated(ids) == ids.duplicated().to_numpy()).all()
    ids[::7] = None
    assert (repeated(ids) == (ids.duplicated() & ids.notna()).to_numpy()).all()


def test_words_are_found_in_any_case() -> None:
    """Each text has the place of its word; other texts and nulls have none."""
    said = pd.Series(["OUT", "in", None, "Out", "on"], dtype="str")
    assert word_of(said, ("in", "out")).tolist() == [1, 0, -1, 1, -1]
