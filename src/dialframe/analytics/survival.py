"""Survival curves by lifelines, as one small table; knows waits and what ended them, not leads."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import Floats, Ints
from dialframe.analytics.tabled import table

#: Days at which the curves are read.
_POINTS: Final = 60
_MOST_DAYS: Final = 90.0


def curves(days: Floats, ending: Ints) -> tuple[pd.DataFrame, float]:
    """Kaplan-Meier and cumulative incidence on a grid of days, and the median wait.

    Args:
        days: How long each waited.
        ending: What ended it: 0 nothing yet, 1 contact, 2 a request not to be called, 3 a bad number.

    Returns:
        Columns `day`, `at_risk`, `reached`, `low`, `high`, `contact`, `dnc`, `invalid`; median days
        to contact, NaN where the curve does not get there.
    """
    longest = min(float(days.max(initial=0.0)), _MOST_DAYS)
    grid = np.linspace(0.0, longest, _POINTS) if len(days) else np.zeros(0)
    columns: dict[str, Floats | Ints] = {
        "day": grid,
        "at_risk": len(days) - np.searchsorted(np.sort(days), grid, side="left"),
    }
    reached, low, high, middle = _kaplan_meier(days, ending, grid)
    columns |= {"reached": reached, "low": low, "high": high}
    for place, name in enumerate(("contact", "dnc", "invalid"), 1):
        columns[name] = _incidence(days, ending, place, grid)
    return table(columns), middle


def _kaplan_meier(
    days: Floats, ending: Ints, grid: Floats
) -> tuple[Floats, Floats, Floats, float]:
    if not len(days):
        return grid, grid, grid, float("nan")
    from lifelines import KaplanMeierFitter

    model = KaplanMeierFitter().fit(days, event_observed=ending == 1)
    survived = np.asarray(model.survival_function_at_times(grid), dtype=float)
    bounds = model.confidence_interval_
    place = np.maximum(np.searchsorted(bounds.index.to_numpy(), grid, side="right") - 1, 0)
    lower, upper = (bounds.iloc[:, i].to_numpy()[place] for i in (0, 1))
    middle = float(model.median_survival_time_)
    return 1 - survived, 1 - upper, 1 - lower, middle if np.isfinite(middle) else float("nan")


def _incidence(days: Floats, ending: Ints, event: int, grid: Floats) -> Floats:
    """Aalen and Johansen's cumulative incidence of one end among several.

    Written out because the library's breaks ties by chance: ties are kept here.
    """
    if not len(days):
        return grid
    at, code = np.unique(days, return_inverse=True)
    risk = len(days) - np.searchsorted(np.sort(days), at, side="left")
    any_end = np.bincount(code, weights=ending > 0, minlength=len(at))
    this = np.bincount(code, weights=ending == event, minlength=len(at))
    survived = np.concatenate([[1.0], np.cumprod(1 - any_end / risk)[:-1]])
    total = np.concatenate([[0.0], np.cumsum(survived * this / risk)])
    return total[np.searchsorted(at, grid, side="right")]
