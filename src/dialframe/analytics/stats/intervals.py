"""Rates with Wilson intervals, of independent trials and of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.attempt.arrays import Ints, Mask

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
    row = rates([numerator], [denominator], z).iloc[0]
    return float(row["low"]), float(row["high"])


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
    k = np.asarray(numerators, dtype=float)
    n = np.asarray(denominators, dtype=float)
    empty = n == 0
    n = np.where(empty, 1.0, n)
    p = k / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At 0 and at n the bound is exact; arithmetic would leave a crumb beside it.
    low = np.where(k == 0, 0.0, centre - half)
    high = np.where(k == n, 1.0, centre + half)
    return pd.DataFrame(
        {
            name: pd.arrays.FloatingArray(values, empty.copy())
            for name, values in (("rate", p), ("low", low), ("high", high))
        }
    )


def clustered(hit: Mask, cluster: Ints) -> tuple[float, float, float] | None:
    """Design effect and interval of the share of trials that hit, or None without trials.

    Args:
        hit: Whether each trial is in the numerator.
        cluster: What each trial is of, whole numbers from 0 up.

    Returns:
        Design effect (at least 1), lower and upper bound.
    """
    if not len(hit):
        return None
    k, n = int(hit.sum()), len(hit)
    size = np.bincount(cluster)
    hits = np.bincount(cluster, weights=hit)
    hits, size = hits[size > 0], size[size > 0]
    p, clusters = k / n, len(size)
    effect = 1.0
    if 0 < k < n and clusters > 1:
        variance = clusters / (clusters - 1) * float(((hits - p * size) ** 2).sum()) / n**2
        effect = max(1.0, variance / (p * (1 - p) / n))
    return effect, *_wilson(p, n / effect)


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
    half = Z_95 * float(np.sqrt(variance)) / len(values)
    return mean, mean - half, mean + half


def _wilson(p: float, n: float) -> tuple[float, float]:
    row = rates(np.array([p * n]), np.array([n])).iloc[0]
    low, high = float(row["low"]), float(row["high"])
    return (0.0 if p == 0 else low), (1.0 if p == 1 else high)
