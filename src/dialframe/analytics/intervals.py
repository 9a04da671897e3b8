"""Rates with their uncertainty; knows counts, not what was counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

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


def holm(p: Sequence[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values of p for several tests together: each below the level by chance that often in all.

    Args:
        p: One per test; NaN stays and counts for none.

    Returns:
        As many, none smaller. Source: Holm, Scand. J. Stat. 6 (1979) 65-70.
    """
    given = np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    adjusted = np.full(len(given), np.nan)
    steps = given[order] * (len(order) - np.arange(len(order)))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return adjusted
