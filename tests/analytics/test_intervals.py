"""Intervals are Wilson's, and there is none where nothing was counted."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.analytics import rates, wilson
from dialframe.analytics.inference import holm


def test_against_a_value_worked_out_by_hand() -> None:
    """8 of 10 with z = 2: centre (0.8 + 0.2) / 1.4, half width 2 sqrt(0.026) / 1.4."""
    low, high = wilson(8, 10, z=2) or (0.0, 0.0)
    half = 2 * math.sqrt(0.016 + 0.01) / 1.4
    assert low == pytest.approx(1 / 1.4 - half)
    assert high == pytest.approx(1 / 1.4 + half)
    assert (round(low, 4), round(high, 4)) == (0.4839, 0.9446)


def test_against_published_values() -> None:
    """Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3."""
    for k, n, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        found = wilson(k, n)
        assert found is not None
        assert found == pytest.approx((low, high), abs=6e-5)


def test_nothing_counted() -> None:
    """0 of 0 is null, never 0."""
    assert wilson(0, 0) is None
    table = rates([0, 1], [0, 1])
    assert table.isna().any(axis=1).tolist() == [True, False]
    assert table.dtypes.astype(str).tolist() == ["Float64"] * 3


@given(n=st.integers(1, 10**9), data=st.data())
def test_interval_holds_its_rate(n: int, data: st.DataObject) -> None:
    """The interval lies in 0 to 1 and holds the rate, and mirrors itself."""
    k = data.draw(st.integers(0, n))
    low, high = wilson(k, n) or (math.nan, math.nan)
    assert 0 <= low <= k / n <= high <= 1
    assert low < high
    other = wilson(n - k, n) or (math.nan, math.nan)
    assert other == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_several_tests_together_are_never_surer_than_each(p: list[float]) -> None:
    """Holm keeps the order, never lowers a p, and is at most Bonferroni."""
    together = holm(p)
    for one, alone in zip(together, p, strict=True):
        assert alone <= one <= min(1.0, alone * len(p)) + 1e-12
    ranked = [together[i] for i in sorted(range(len(p)), key=lambda i: p[i])]
    assert ranked == sorted(ranked)


def test_tests_by_hand() -> None:
    """0.01 of three is tripled, 0.04 doubled and carried, what is unknown counts for none."""
    found = holm([0.04, math.nan, 0.01, 0.03])
    assert found[[0, 2, 3]].tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert math.isnan(found[1])
