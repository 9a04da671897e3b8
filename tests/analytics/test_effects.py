"""The engine of effects: held to statsmodels, honest where it cannot judge, and never a number without bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from claims.other_worlds import Dialer, played
from dialframe import analytics
from dialframe.analytics import effects
from dialframe.analytics.effects import Levels, fit, inside_days, judge, pool_sparse


def _trials(seed: int, size: int = 4_000) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    stratum, hour, zone = (rng.integers(0, n, size) for n in (6, 5, 3))
    chance = 0.1 * np.exp(0.3 * (hour == 2) + 0.2 * (zone == 1) + 0.1 * stratum)
    return rng.random(size) < chance, stratum, hour, zone, rng.integers(0, 48, size)


@pytest.mark.parametrize("seed", range(3))
def test_estimates_and_errors_are_those_of_statsmodels(seed: int) -> None:
    """A Poisson regression with the strata as columns of their own, errors clustered by day."""
    # Every process collects every file, and this import alone takes a tenth of that.
    import statsmodels.api as sm

    hit, stratum, hour, zone, day = _trials(seed)
    model = fit(hit, stratum, {"hour": hour, "zone": zone}, studied=["hour"])
    columns = [(code == i).astype(float) for code, n in ((stratum, 6), (hour, 5), (zone, 3))
               for i in range(int(n > 5 and code is not stratum) or (0 if code is stratum else 1), n)]  # fmt: skip
    theirs = sm.GLM(hit.astype(float), np.stack(columns, 1), family=sm.families.Poisson()).fit(
        cov_type="cluster", cov_kwds={"groups": day}
    )
    ours = model.beta[:5] - model.beta[0]
    assert ours[1:] == pytest.approx(theirs.params[6:10], abs=2e-3)
    assert model.why_not == ""
    levels = inside_days(model, "hour", hit, np.arange(len(hit)), day)
    gap, error, days = levels.against_rest((2,))
    assert gap > 0
    # Against one other level, as theirs is.
    pair = levels.covariance[2, 2] + levels.covariance[0, 0] - 2 * levels.covariance[2, 0]
    assert np.sqrt(pair) == pytest.approx(theirs.bse[7], rel=0.35)
    assert 40 < days <= 48
    assert error > 0


def test_a_sparse_level_does_not_run_away() -> None:
    """A dozen late attempts, most of them hits, are pooled; the fit converges and says how many levels were."""
    hit, stratum, hour, _, day = _trials(1)
    attempt = np.zeros(len(hit), dtype=np.int64)
    attempt[:12], hit[:9] = 7, True
    model = fit(hit, stratum, {"attempt": attempt, "hour": hour, "day": day}, studied=["hour"])
    assert model.why_not == ""
    assert model.pooled >= 1
    assert np.abs(model.beta).max() < 3
    level, pooled = pool_sparse(attempt, hit)
    assert (len(np.unique(level)), pooled) == (1, 1)


def test_a_fit_that_does_not_converge_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every claim of such a fit says that it cannot be judged, and why."""
    monkeypatch.setattr(effects, "_STEPS", 1)
    account = played(1, Dialer())
    for claim in analytics.hours(account.calls, account.leads).claims:
        assert "cannot be judged, because the model did not converge" in claim.text
        assert claim.diagnostics is not None
        assert claim.diagnostics["converged"] is False
        assert (claim.kind, claim.effect) == ("none", None)


def _levels(log_ratio: list[float], error: float, **given: Any) -> Levels:
    size = len(log_ratio)
    trials = np.full(size, 500)
    centering = np.eye(size) - 1 / size
    base = {
        "base": 0.1, "weights": np.ones((size, 48)), "df": None, "days": 48, "effective_days": 48.0,
    } | given  # fmt: skip
    ratio = np.array(log_ratio) - np.mean(log_ratio)
    return Levels(ratio, centering @ centering.T * error**2, np.ones(size, bool), trials, **base)


def test_fewer_than_ten_days_carry_no_claim() -> None:
    """However many calls a week has."""
    clear = [0.0, 0.0, 1.0, 0.0]
    assert judge(_levels(clear, 0.05), 0.05).differs
    few = judge(_levels(clear, 0.05, weights=np.ones((4, 8))), 0.05)
    assert not few.differs
    assert "fewer than 10 independent days" in few.why_not
    week = played(2, Dialer(days=7, lines=300, fresh=600, evening=2.5))
    answer = analytics.hours(week.calls, week.leads).answer
    assert answer.count("cannot be judged, because") == 2


@pytest.mark.parametrize("family", ["runs", "each", "cuts"])
@pytest.mark.parametrize("seed", range(6))
def test_point_interval_and_p_agree(family: Any, seed: int) -> None:
    """The interval leaves 0 out exactly where p is below the level, holds the point, and stays within 0 to 100 points."""
    rng = np.random.default_rng(seed)
    v = judge(_levels(list(rng.normal(0, 0.12, 7)), 0.1), 0.05, family=family)
    assert v.low <= v.effect <= v.high
    assert (v.low > 0 or v.high < 0) == (v.p < 0.05) == v.differs
    assert -1 <= v.low <= v.high <= 1


def test_an_interval_without_bounds_is_no_claim() -> None:
    """What cannot be told from what is held still has no difference of 4,000 points."""
    v = judge(_levels([0.0, 9.0, 0.0], 4.0), 0.05)
    assert np.isnan(v.p)
    assert v.why_not == effects.UNTOLD


def test_a_run_of_hours_is_one_finding() -> None:
    """Three good hours in a row are named together, and not the luckiest of them."""
    v = judge(_levels([0.0, 0.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0], 0.08), 0.05, family="runs")
    assert v.part == (2, 3, 4)
    assert v.rate == pytest.approx(0.1 * np.exp(0.5 * 5 / 8), rel=0.05)


def test_the_day_is_the_unit_of_weekdays() -> None:
    """On days that differ for all campaigns together, ten thousand calls are fifty observations."""
    account = played(5, Dialer(shared=0.35))
    row = (
        analytics.hours(account.calls, account.leads)
        .tables["tests"]
        .set_index("dimension")
        .loc["weekday"]
    )
    assert row["effective_days"] <= 48
    quiet = played(5, Dialer())
    calm = (
        analytics.hours(quiet.calls, quiet.leads)
        .tables["tests"]
        .set_index("dimension")
        .loc["weekday"]
    )
    assert row["detectable_points"] > 1.5 * calm["detectable_points"]


def test_unknown_is_not_nobody() -> None:
    """Where nothing says who answered, hours cannot be judged for that reason."""
    account = played(1, Dialer())
    calls = account.calls.assign(disposition=None)
    claims = analytics.hours(calls, account.leads).claims
    assert all("nothing says by whom" in claim.text for claim in claims)
