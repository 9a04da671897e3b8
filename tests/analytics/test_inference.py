"""Intervals, tails, power and shrinkage against scipy, published values and by hand."""

from __future__ import annotations

import math

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from dialframe.analytics.inference import (
    holm,
    normal_quantile,
    rates,
    sequential_level,
    t_quantile,
    t_tail,
    two_sided_p,
    wilson,
)


@pytest.mark.parametrize("df", [1, 2.5, 9, 48, 400])
@pytest.mark.parametrize("t", [0.0, 0.3, 2.1, 9.0])
def test_students_t_is_scipys(df: float, t: float) -> None:
    """Tail and its inverse."""
    p = t_tail(t, df)
    assert p == pytest.approx(2 * scipy.stats.t.sf(t, df), rel=1e-9)
    if t:
        assert t_quantile(p, df) == pytest.approx(t, rel=1e-6)


def test_normal_tail_is_scipys() -> None:
    """Both tails of the normal distribution."""
    assert two_sided_p(1.7) == pytest.approx(2 * scipy.stats.norm.sf(1.7))


def test_an_early_look_spends_little() -> None:
    """A tenth of the data gets next to nothing of the level, all of it the whole."""
    assert sequential_level(0.05, 1.0) == pytest.approx(0.05)
    assert sequential_level(0.05, 0.1) < 1e-8


def test_against_a_value_worked_out_by_hand() -> None:
    """8 of 10 with z = 2: center (0.8 + 0.2) / 1.4, half width 2 sqrt(0.026) / 1.4."""
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


def test_holms_tests_by_hand() -> None:
    """0.01 of three is tripled, 0.04 doubled and carried, what is unknown counts for none."""
    found = holm([0.04, math.nan, 0.01, 0.03])
    assert found[[0, 2, 3]].tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert math.isnan(found[1])


def test_a_look_at_next_to_nothing_of_the_planned_data_has_a_level() -> None:
    """Of a millionth of the planned calls the boundary lies beyond what a double holds: it is no crash."""
    for information in (1e-2, 1e-3, 1e-6):
        assert 0 < sequential_level(0.05, information) <= 1e-14
        assert math.isfinite(normal_quantile(1 - sequential_level(0.05, information) / 4))
