"""Rates with Wilson intervals, of trials and of clusters; tests and their errors; looks at running data.

Closed forms with their sources, so that the base install needs no statistics library; the tests hold
each of them to scipy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.attempt.frames_to_arrays import Floats, Ints

#: Two-sided 95% of the normal distribution.
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
        z: Normal quantile; the default gives 95%.

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
        z: Normal quantile; the default gives 95%.

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


_NORMAL: Final = NormalDist()


def normal_quantile(probability: float) -> float:
    """The standard normal value below which a share of the distribution lies."""
    return _NORMAL.inv_cdf(probability)


def two_sided_p(z: float) -> float:
    """The chance of a standard normal value at least as far from 0; NaN stays."""
    return math.erfc(abs(z) / math.sqrt(2)) if not math.isnan(z) else z


def t_tail(t: float, df: float) -> float:
    """The chance of a value of Student's t at least as far from 0; NaN stays."""
    if math.isnan(t) or df > 1e6:
        return two_sided_p(t)
    return _beta_share(df / (df + t * t), df / 2, 0.5)


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The value that Student's t exceeds on either side with a chance of `p` together."""
    if df > 1e6:
        return normal_quantile(1 - p / 2)
    # The tail is convex and the normal value lies before the one sought: Newton's steps from there fall short of it
    # each time and never go beyond.
    t = -normal_quantile(p / 2)
    front = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    for _ in range(200):
        step = (t_tail(t, df) - p) / (2 * front * (1 + t * t / df) ** (-(df + 1) / 2))
        t += step
        if abs(step) < 1e-10 * (1 + t):
            break
    return t


def _beta_share(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by Lentz's continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(1 - x, b, a)
    front = math.exp(
        a * math.log(x) + b * math.log1p(-x) - math.log(a)
        + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    )  # fmt: skip
    tiny, c = 1e-300, 1.0
    d = 1 / max(1 - (a + b) * x / (a + 1), tiny)
    total = d
    for m in range(1, 400):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for part in (even, odd):
            d, c = 1 / (1 + part * d or tiny), 1 + part / c or tiny
            change *= c * d
        total *= change
        if abs(change - 1) < 1e-14:
            break
    return front * total


def holm(p: Sequence[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values of p for several tests together: each below the level by chance that often in all.

    Args:
        p: One per test; NaN stays and counts for none.

    Returns:
        As many, none smaller. Source: Holm, Scand. J. Stat. 6 (1979) 65-70.
    """
    # The smallest p is multiplied by as many tests as there are, the next by one less, and none falls below the last.
    given, order = _finite_values(p)
    adjusted = np.full(len(given), np.nan)
    steps = given[order] * (len(order) - np.arange(len(order)))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return adjusted


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


def _finite_values(
    p: Sequence[float] | npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    given = np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(given))
    return given, known[np.argsort(given[known], kind="stable")]
