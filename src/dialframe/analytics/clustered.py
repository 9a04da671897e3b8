"""Uncertainty of rates whose trials resemble each other; knows clusters, not leads.

Attempts on one lead are not independent, so an interval that takes them for it is too narrow. The
design effect (variance of the rate over clusters, by linearisation, to that of single trials) gives
the number of independent trials that the data is worth, and Wilson's interval is taken of that.
Source: Kish, Survey Sampling (1965), section 8.2; Franco et al., J. Survey Stat. Methodol. 7 (2019).
"""

from __future__ import annotations

import numpy as np

from dialframe.analytics.columns import Ints, Mask
from dialframe.analytics.intervals import Z_95, rates


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
