"""Rates with Wilson intervals, of trials and of clusters; tests and their errors; looks at running data.

Closed forms with their sources, so that the base install needs no statistics library; the tests hold
each of them to scipy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.attempt.frames_to_arrays import Floats, Ints, Mask

#: Two-sided 95 % of the normal distribution.
Z_95: Final = 1.959963984540054


def wilson(numerator: int, denominator: int, z: float = Z_95) -> tuple[float, float] | None:
    """The Wilson score interval of a proportion, or None where there is nothing to divide by.

    It stays inside 0 to 1 and is honest for small counts, where the usual interval is not.

    >>> low, high = wilson(3, 10)
    >>> round(low, 3), round(high, 3)
    (0.108, 0.603)

    Args:
        numerator: Successes.
        denominator: Trials.
        z: Normal quantile; the default gives 95 %.

    Returns:
        Lower and upper bound. Source: Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212.
    """
    if denominator == 0:
        return None
    _, low, high = wilson_bounds(np.array([numerator]), np.array([denominator]), z)
    return float(low[0]), float(high[0])


def rates(
    numerators: Sequence[float] | npt.NDArray[np.number],
    denominators: Sequence[float] | npt.NDArray[np.number],
    z: float = Z_95,
) -> pd.DataFrame:
    """Rates with Wilson intervals.

    Args:
        numerators: Successes.
        denominators: Trials, as many.
        z: Normal quantile; the default gives 95 %.

    Returns:
        Columns `rate`, `low`, `high` (`Float64`), null where the denominator is 0.

    Example:
        analytics.rates([30, 12], [200, 150])
    """
    n = np.asarray(denominators, dtype=float)
    shares = wilson_bounds(np.asarray(numerators, dtype=float), n, z)
    return pd.DataFrame(
        {
            name: pd.arrays.FloatingArray(np.nan_to_num(values), n == 0)
            for name, values in zip(("rate", "low", "high"), shares, strict=True)
        }
    )


def wilson_bounds(
    k: Floats | Ints, n: Floats | Ints, z: float = Z_95
) -> tuple[Floats, Floats, Floats]:
    """Rates and their Wilson bounds as plain arrays; NaN where there is nothing to divide by."""
    trials = np.where(n == 0, np.nan, n)
    p = k / trials
    center = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * np.sqrt(p * (1 - p) / trials + z * z / (4 * trials**2)) / (1 + z * z / trials)
    # At 0 and at n the bound is exact; arithmetic would leave a crumb beside it.
    low, high = np.where(k == 0, 0.0, center - half), np.where(k == n, 1.0, center + half)
    return p, np.where(n == 0, np.nan, low), np.where(n == 0, np.nan, high)


def clustered_mean(values: np.ndarray, cluster: Ints) -> tuple[float, float, float] | None:
    """Mean of values with its interval over clusters, or None without values."""
    if not len(values):
        return None
    size = np.bincount(cluster)
    total = np.bincount(cluster, weights=values)
    total, size = total[size > 0], size[size > 0]
    mean, clusters = float(values.mean()), len(size)
    if clusters < 2:
        return mean, float("nan"), float("nan")
    variance = clusters / (clusters - 1) * float(((total - mean * size) ** 2).sum())
    # Linearized over clusters, as the ratio of two of their totals is.
    half = Z_95 * float(np.sqrt(variance)) / len(values)
    return mean, mean - half, mean + half


#: Power at which an effect counts as one that would have been seen.
POWER: Final = 0.8

_NORMAL: Final = NormalDist()


#: Part of the asked level at which claims are tested: half of it for what no model knows. Errors are
#: estimated, and who is reached drops out, which leaves a trace that no factor takes out wholly. At half
#: the level 0.05 the promise holds while errors are understated by up to 14 % (2.24 against 1.96) or the
#: trace is up to 0.57 errors; on the bench errors are right within 5 % and the trace is below 0.35.
CAUTION: Final = 0.5


def tested_level(alpha: float) -> float:
    """The level of each test behind a claim, so that accounts without the effect show it less often than `alpha`."""
    return CAUTION * alpha


def normal_quantile(probability: float) -> float:
    """The standard normal value below which a share of the distribution lies."""
    return _NORMAL.inv_cdf(probability)


def two_sided_p(z: float) -> float:
    """The chance of a standard normal value at least as far from 0; NaN stays."""
    return math.erfc(abs(z) / math.sqrt(2)) if not math.isnan(z) else z


def chi2_tail(statistic: float, df: int) -> float:
    """The chance that a chi-squared variable exceeds a statistic.

    Finite series of Abramowitz and Stegun (1964), 26.4.4 and 26.4.5.
    """
    if df <= 0 or statistic <= 0:
        return 1.0
    half = statistic / 2
    # Odd degrees begin at the normal tail, even ones at the exponential.
    if df % 2:
        total = math.erfc(math.sqrt(half))
        term = math.sqrt(half) * math.exp(-half) / math.gamma(1.5)
        first = 1.5
    else:
        total, term, first = 0.0, math.exp(-half), 1.0
    for i in range((df - df % 2) // 2):
        total += term
        term *= half / (first + i)
    return min(total, 1.0)


def chi2_limit(df: int, alpha: float) -> float:
    """The statistic that a chi-squared variable exceeds with probability `alpha`."""
    low, high = 0.0, 10.0 * (df + 10)
    # Eighty halvings of the interval are beyond the precision of a double.
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if chi2_tail(middle, df) > alpha else (low, middle)
    return high


@lru_cache(maxsize=1024)
def needed_noncentrality(df: int, alpha: float, power: float = POWER) -> float:
    """How far apart groups must be, in units of their errors squared, to be seen so often.

    The noncentral chi-squared tail is a Poisson mixture of central ones; its noncentrality is found
    by bisection.
    """
    limit = chi2_limit(df, alpha)
    # The central tails are the same in every mixture: only their weights change with the noncentrality.
    central = cache(lambda j: chi2_tail(limit, df + 2 * j))
    low, high = 0.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _mixture(central, middle) < power else (low, middle)
    return high


def _mixture(central: Callable[[int], float], noncentrality: float) -> float:
    weight, total, half = math.exp(-noncentrality / 2), 0.0, noncentrality / 2
    for j in range(400):
        total += weight * central(j)
        weight *= half / (j + 1)
        if weight < 1e-12 and j > half:
            break
    return total


def detectable_effect(error: float, alpha: float, power: float = POWER) -> float:
    """The smallest effect that a two-sided test with this standard error sees so often."""
    return (normal_quantile(1 - alpha / 2) + normal_quantile(power)) * error


def holm(p: Sequence[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values of p for several tests together: each below the level by chance that often in all.

    Args:
        p: One per test; NaN stays and counts for none.

    Returns:
        As many, none smaller. Source: Holm, Scand. J. Stat. 6 (1979) 65-70.
    """
    # The smallest p is multiplied by as many tests as there are, the next by one less, and none falls below the last.
    given, order = _known(p)
    adjusted = np.full(len(given), np.nan)
    steps = given[order] * (len(order) - np.arange(len(order)))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return adjusted


def false_discovery(p: Sequence[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values of p such that of those below a level at most that share is false, on average.

    Where nothing is there to be found, the chance of any finding is the level too.

    Args:
        p: One per test; NaN stays and counts for none.

    Returns:
        As many, none smaller. Source: Benjamini and Hochberg, J. R. Stat. Soc. B 57 (1995) 289-300.
    """
    given, order = _known(p)
    adjusted = np.full(len(given), np.nan)
    steps = given[order] * len(order) / (1 + np.arange(len(order)))
    adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted


def shrunk_effects(
    effects: Floats, covariance: npt.NDArray[np.float64], weights: Floats
) -> tuple[Floats, float]:
    """Effects pulled towards their mean as far as their errors ask for, and their true spread.

    The effects are taken for normal around their weighted mean, with a variance fitted by moments
    (DerSimonian and Laird, Control. Clin. Trials 7 (1986) 177-188; the posterior mean is that of
    Efron and Morris, J. Am. Stat. Assoc. 70 (1975) 311-319).

    Args:
        effects: One per level.
        covariance: Of their errors.
        weights: How much each level counts towards the mean, trials for instance.

    Returns:
        Shrunk effects, and the standard deviation between levels.
    """
    share = weights / weights.sum()
    centering = np.eye(len(effects)) - share[None, :]
    centered = centering @ effects
    errors = centering @ covariance @ centering.T
    # E[sum of w (b - mean)^2] = tau^2 (1 - sum w^2) + trace(W errors)
    spread = float(share @ centered**2 - share @ np.diag(errors)) / max(
        1 - float((share**2).sum()), 1e-12
    )
    variance = max(spread, 0.0)
    if variance == 0:
        return np.zeros(len(effects)), 0.0
    prior = variance * centering @ centering.T
    # The effects are centered, so that their covariance has no inverse but a pseudoinverse.
    pulled = prior @ np.linalg.pinv(prior + errors, rcond=1e-9) @ centered
    return pulled, math.sqrt(variance)


def sequential_level(alpha: float, information: float) -> float:
    """The level at which to test when only a part of the planned data is there.

    O'Brien and Fleming's spending function in the form of Lan and DeMets (Biometrika 70 (1983)
    659-663): somebody who looks every day spends little early, and at the end has spent `alpha`.

    Args:
        alpha: Level over all looks.
        information: Part of the planned information that is there, above 0 to 1.
    """
    part = min(max(information, 1e-9), 1.0)
    # Of the level, as much as a Brownian path that ends at `alpha` would have crossed by now.
    level = 2 - 2 * _NORMAL.cdf(normal_quantile(1 - alpha / 2) / math.sqrt(part))
    return max(level, _LEAST_LEVEL)


#: Least level of a look: a fourth of it still tells 1 less it from 1, whose quantile is infinite.
_LEAST_LEVEL: Final = 1e-15


def _known(
    p: Sequence[float] | npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    given = np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(given))
    return given, known[np.argsort(given[known], kind="stable")]


#: Part of the greatest variance below which a direction does not vary but by rounding.
_SINGULAR: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """What the levels of one factor do, with everything else held still.

    Attributes:
        log_ratio: Logarithm of each level's rate ratio to the mean over all trials; NaN for levels
            without trials or that no stratum can compare, and for all where too few hits are left by
            what is held still.
        covariance: Of the errors of the levels that are compared, in their order.
        compared: Which levels are compared.
        trials: Trials of each level.
        base: Mean chance over all trials with the factor taken out.
        spread: Standard deviation of the true effects between levels, by moments.
        shrunk: `log_ratio` pulled to the mean as far as its errors ask for.
        clusters: How many leads (or numbers) the errors rest on.
    """

    log_ratio: Floats
    covariance: npt.NDArray[np.float64]
    compared: Mask
    trials: Ints
    base: float
    spread: float
    shrunk: Floats
    clusters: int

    @property
    def df(self) -> int:
        """Directions in which the compared levels can differ."""
        return max(int(self.compared.sum()) - 1, 0)

    @property
    def share(self) -> Floats:
        """Part of each compared level in their trials; 0 of the others."""
        total = max(int(self.trials[self.compared].sum()), 1)
        return np.asarray(np.where(self.compared, self.trials, 0) / total, dtype=float)

    @property
    def error(self) -> Floats:
        """Standard error of each level's log ratio; NaN of those that are not compared."""
        error = np.full(len(self.log_ratio), np.nan)
        error[self.compared] = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return error

    def rates(self, *, shrink: bool = False) -> Floats:
        """Mean chance if every trial were of a level."""
        return self.base * np.exp(self.shrunk if shrink else self.log_ratio)

    def test(self) -> tuple[float, int, float]:
        """Wald test that no level differs from another: statistic, degrees of freedom, p.

        Two levels are tested by the deviance (`rest_p`): Wald's statistic is too great where the
        smaller of two levels hits more often by chance, and too small where it hits less often.
        """
        effects = self.log_ratio[self.compared]
        if len(effects) < 2:
            return 0.0, 0, float("nan")
        if len(effects) == 2:
            smaller = np.flatnonzero(self.compared)[np.argmin(self.trials[self.compared])]
            p = float(self.rest_p()[smaller])
            return (0.0, 0, p) if np.isnan(p) else (chi2_limit(1, max(p, 1e-300)), 1, p)
        # Centered effects vary in one direction less than there are levels.
        variance, axes = np.linalg.eigh(self.covariance)
        keep = variance > _SINGULAR * max(float(variance[-1]), _SINGULAR)
        df = int(keep.sum())
        if not df:
            return 0.0, 0, float("nan")
        statistic = float((((effects @ axes)[keep]) ** 2 / variance[keep]).sum())
        # Few clusters make the estimated errors vary: Hotelling's correction of the statistic.
        spare = max(self.clusters - df, 1)
        statistic *= spare / (self.clusters + df) if self.clusters > 3 * df else 0.5
        return statistic, df, chi2_tail(statistic, df)

    def against_rest(self) -> tuple[Floats, Floats]:
        """Each level against all others together: log ratio and its standard error, NaN without."""
        rest = np.where(self.share < 1, 1 - self.share, np.nan)
        return self.log_ratio / rest, self.error / rest

    def rest_p(self) -> Floats:
        """Of each level, the chance of so much a difference from the others where there is none.

        By the signed root of the binomial deviance of as many trials as the error is worth, which is
        near to normal for counts that are far too small for the estimate itself to be.
        """
        (log_ratio, error), share = self.against_rest(), self.share
        p = np.full(len(log_ratio), np.nan)
        for i in np.flatnonzero((error > 0) & ~np.isnan(log_ratio)):
            x = float(np.clip(log_ratio[i], -20, 20))
            rate = float(np.clip(self.base * np.exp((1 - share[i]) * x), 1e-9, 0.999))
            trials = (1 - rate) / (rate * float(error[i]) ** 2)
            p[i] = two_sided_p(self._root(x, float(share[i]), trials))
        return p

    def _root(self, log_ratio: float, share: float, trials: float) -> float:
        """Root of the deviance of trials of a level against the others, at a ratio of the two."""
        rate = float(np.clip(self.base * np.exp((1 - share) * log_ratio), 1e-9, 0.999))
        rest = float(np.clip(self.base * np.exp(-share * log_ratio), 1e-9, 0.999))
        # An error estimated from few hits is too small one time in two: its leverage is 1 / hits.
        trials *= 1 - 1 / max(min(trials * rate, trials * rest), 2.0)
        apart = rate * np.log(rate / rest) + (1 - rate) * np.log((1 - rate) / (1 - rest))
        return float(np.sqrt(max(2 * trials * apart, 0.0)))

    def rest_seen(self, level: int, alpha: float) -> float:
        """Log ratio above the others at which `rest_p` of a level is below `alpha` four times out of five.

        Of a level that leads have for good: who is reached is not tried again, so that leads that are
        reached more often are tried less often.
        """
        _, error = self.against_rest()
        share = float(self.share[level])
        trials = (1 - self.base) / (self.base * float(error[level]) ** 2)
        needed, low, high = detectable_effect(1.0, alpha), 0.0, -float(np.log(self.base))
        # As many attempts as give each lead its trials where a hit ends them.
        per_lead = float(self.trials.sum()) / max(self.clusters, 1)
        still_open = 1 - min(per_lead * self.base, 0.999)
        most = max(float(np.log(still_open) / np.log(1 - self.base)), 1.0)
        for _ in range(40):
            middle = (low + high) / 2
            rate = min(self.base * float(np.exp(middle)), 0.999)
            tried = (1 - (1 - rate) ** most) / rate / ((1 - still_open) / self.base)
            short = self._root(middle, share, trials * tried) < needed
            low, high = (middle, high) if short else (low, middle)
        return high

    def rest_difference(self, level: int, log_ratio: float | None = None) -> float:
        """Rate of a level less the rate of the others together, shrunk unless a ratio is given."""
        share = self.share[level]
        if log_ratio is None:
            log_ratio = float(self.shrunk[level] / max(1 - share, 1e-9))
        of_level = (1 - share) * log_ratio
        return float(self.base * (np.exp(of_level) - np.exp(of_level - log_ratio)))

    def between(self, first: int, second: int) -> tuple[float, float]:
        """Standard error of the log ratio of two levels, and the log ratio."""
        places = np.flatnonzero(self.compared)
        i, j = np.searchsorted(places, first), np.searchsorted(places, second)
        v = self.covariance
        error = float(np.sqrt(max(v[i, i] + v[j, j] - 2 * v[i, j], 0.0)))
        return error, float(self.log_ratio[first] - self.log_ratio[second])

    def precision(self, levels: Sequence[int]) -> float:
        """How well a step of one log unit between some levels and the others would be seen.

        Args:
            levels: Compared levels on one side of the step.

        Returns:
            The noncentrality of the test; 0 where nothing is compared.
        """
        if self.df < 1:
            return 0.0
        trials = self.trials[self.compared].astype(float)
        step = np.isin(np.flatnonzero(self.compared), levels).astype(float)
        step -= (trials / trials.sum()) @ step
        variance, axes = np.linalg.eigh(self.covariance)
        keep = variance > _SINGULAR * max(float(variance[-1]), _SINGULAR)
        return float((((step @ axes)[keep]) ** 2 / variance[keep]).sum())

    def thirds(self) -> list[list[int]]:
        """The runs of compared levels with about a third of the trials each; `half` where there is none."""
        places = np.flatnonzero(self.compared)
        until = np.append(0, np.cumsum(self.trials[places])) / max(
            int(self.trials[places].sum()), 1
        )
        runs = []
        for first in range(len(places)):
            sizes = until[first + 1 :] - until[first]
            size = int(np.argmin(np.abs(sizes - 1 / 3)))
            if abs(float(sizes[size]) - 1 / 3) < 0.1:
                runs.append([int(i) for i in places[first : first + size + 1]])
        return runs or [self.half()]

    def half(self) -> list[int]:
        """The compared levels before the cut in their order that splits the trials most evenly."""
        places = np.flatnonzero(self.compared)
        share = np.cumsum(self.trials[places]) / max(float(self.trials[places].sum()), 1.0)
        cut = int(np.argmin(np.abs(share[:-1] - 0.5))) if len(places) > 1 else 0
        return [int(i) for i in places[: cut + 1]]
