"""The pictures of Do-Not-Call evidence count what their frames count."""

from __future__ import annotations

import pandas as pd
import pytest

from dialframe import plots
from dialframe.errors import ConfigError
from plots.examples import COVERAGE, LISTED, shown
from plots.looked_at import overlapping, words


def test_coverage_counts() -> None:
    """The title sums the groups, and every number stands beside or in its bar."""
    picture = shown("coverage")
    said = words(picture)
    assert said.startswith(
        "80.8% of 1,080 numbers were checked in time, 164 too long ago, 43 never"
    )
    for text in ("93.5% in time of 868", "44 too old, 12 never", "812", "120", "no numbers"):
        assert text in said
    assert "Spring: 812 checked in time, 44 check too old, 12 never checked" in picture.alt


def test_many_groups() -> None:
    """Twenty groups have room."""
    table = pd.concat([COVERAGE] * 7, ignore_index=True)
    assert overlapping(plots.coverage(table)) == []


def test_listed_calls_counts() -> None:
    """The title gives the proven and the undecided calls; the cut bar is marked and said."""
    picture = shown("listed_calls")
    said = words(picture)
    assert said.startswith(
        "5 calls went to numbers listed or after a request; 12 cannot be decided"
    )
    assert "4,598" in said
    assert "The bar marked // is cut off" in said
    assert picture.alt.endswith("proven 5; indeterminate 12; clear 4,598.")


def test_bars_of_one_size_are_not_cut() -> None:
    """Where clear calls do not dwarf the others every bar is to scale."""
    picture = plots.listed_calls(LISTED.assign(calls=[14, 5, 12]))
    assert "cut off" not in words(picture)
    only_clear = plots.listed_calls(LISTED[:1])
    assert words(only_clear).startswith("0 calls went to numbers listed or after a request")
    assert "cut off" not in words(only_clear)


def test_rows_are_calls_where_nothing_counts_them() -> None:
    """Without a column of counts each row is a call; other grades are drawn too."""
    frame = pd.DataFrame({"grade": ["proven", "not_checked", "not_checked", "clear"]})
    picture = plots.listed_calls(frame)
    assert "proven 1; indeterminate 0; clear 1; not_checked 2" in picture.alt
    assert "Not checked" in words(picture)
    assert overlapping(picture) == []


def test_missing_columns() -> None:
    """A frame without the columns is refused by name."""
    with pytest.raises(ConfigError, match="'stale'"):
        plots.coverage(COVERAGE.drop(columns="stale"))
    with pytest.raises(ConfigError, match="'grade'"):
        plots.listed_calls(COVERAGE)
