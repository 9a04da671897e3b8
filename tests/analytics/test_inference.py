"""Closed forms of tails, power and shrinkage against scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from dialframe.analytics.inference import (
    chi2_limit,
    chi2_tail,
    false_discovery,
    needed_noncentrality,
    sequential_level,
    shrunk_effects,
    two_sided_p,
)


@pytest.mark.parametrize("df", [1, 2, 5, 12, 23])
@pytest.mark.parametrize("x", [0.3, 4.0, 30.0])
def test_chi2_is_scipys(df: int, x: float) -> None:
    """Tail, its inverse, and the noncentrality that a power needs."""
    assert chi2_tail(x, df) == pytest.approx(scipy.stats.chi2.sf(x, df), rel=1e-9)
    limit = chi2_limit(df, 0.05)
    assert limit == pytest.approx(scipy.stats.chi2.isf(0.05, df), rel=1e-6)
    needed = needed_noncentrality(df, 0.05)
    assert scipy.stats.ncx2.sf(limit, df, needed) == pytest.approx(0.8, abs=1e-4)


def test_normal_tail_is_scipys() -> None:
    """Both tails of the normal distribution."""
    assert two_sided_p(1.7) == pytest.approx(2 * scipy.stats.norm.sf(1.7))


def test_false_discovery_is_benjamini_and_hochbergs() -> None:
    """Adjusted values of p; what is not known stays and counts for none."""
    p = [0.001, 0.8, 0.02, 0.04]
    adjusted = false_discovery([*p, float("nan")])
    assert adjusted[:4] == pytest.approx(scipy.stats.false_discovery_control(p))
    assert np.isnan(adjusted[4])


def test_effects_of_chance_alone_are_pulled_to_nothing() -> None:
    """Where errors explain all the spread, no effect is left; where they do not, most is."""
    rng = np.random.default_rng(1)
    noise, weights = rng.normal(0, 0.1, 40), np.ones(40)
    pulled, spread = shrunk_effects(noise, np.eye(40) * 0.04, weights)
    assert (np.abs(pulled).max(), spread) == (0.0, 0.0)
    pulled, _ = shrunk_effects(noise * 10, np.eye(40) * 0.01, weights)
    assert np.abs(pulled / (10 * (noise - noise.mean()))).min() > 0.9


def test_an_early_look_spends_little() -> None:
    """A tenth of the data gets next to nothing of the level, all of it the whole."""
    assert sequential_level(0.05, 1.0) == pytest.approx(0.05)
    assert sequential_level(0.05, 0.1) < 1e-8
