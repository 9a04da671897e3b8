"""What a metric's function hands back, and how shares and means get their intervals; knows no metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dialframe.analytics.clustered import clustered, clustered_mean
from dialframe.analytics.columns import Floats, Mask
from dialframe.analytics.intervals import wilson
from dialframe.analytics.metrics.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Measure:
    """What a metric's function hands back: counts, interval, and what it left out."""

    value: float | None
    numerator: float | None
    denominator: float | None
    low: float | None = None
    high: float | None = None
    interval: str = "none"
    excluded: Mapping[str, int] = field(default_factory=dict)
    detail: pd.DataFrame | None = None
    used: tuple[str, ...] = ()
    why_null: str = ""


def share(k: int, n: int, excluded: Mapping[str, int] | None = None, **more: Any) -> Measure:
    """A share of things that are independent: Wilson's interval."""
    bounds = wilson(k, n)
    low, high = bounds or (None, None)
    value = k / n if n else None
    return Measure(value, k, n, low, high, "wilson", excluded or {}, **more)


def call_share(
    inputs: Inputs, hit: Mask, base: Mask, excluded: Mapping[str, int] | None = None, **more: Any
) -> Measure:
    """A share of calls: the interval is clustered by lead, or by number where there is no lead."""
    k, n = int((hit & base).sum()), int(base.sum())
    bounds = clustered(hit[base], inputs.dials.cluster[base])
    if bounds is None:
        return Measure(None, k, n, interval="lead-clustered", excluded=excluded or {}, **more)
    _, low, high = bounds
    return Measure(k / n, k, n, low, high, "lead-clustered", excluded or {}, **more)


def call_mean(
    inputs: Inputs, values: Floats, excluded: Mapping[str, int] | None = None, **more: Any
) -> Measure:
    """A mean over calls whose value is known (not NaN), with its interval over leads."""
    known = ~np.isnan(values)
    bounds = clustered_mean(values[known], inputs.dials.cluster[known])
    total, n = float(values[known].sum()), int(known.sum())
    if bounds is None:
        return Measure(None, 0.0, 0, interval="mean over leads", excluded=excluded or {}, **more)
    mean, low, high = bounds
    bounds_known = not np.isnan(low)
    return Measure(
        mean,
        total,
        n,
        low if bounds_known else None,
        high if bounds_known else None,
        "mean over leads",
        excluded or {},
        **more,
    )
