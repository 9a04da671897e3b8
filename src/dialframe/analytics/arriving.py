"""How long new leads wait for their first dial; knows arrivals and first attempts."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import NO_TIME, Mask, micros, require
from dialframe.analytics.dials import dials
from dialframe.analytics.groups import lead_groups
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import median, rated, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural

_MIN_US: Final = 60_000_000
_NEVER: Final = int(np.iinfo(np.int64).max)
#: Minutes after arrival at which a new band of delay begins.
DELAYS_MIN: Final = (0, 5, 30, 60, 240, 1_440, 4_320, 10_080)


def speed_to_lead(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    *,
    by: str | None = None,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """How long new leads wait for their first dial, and what the wait costs.

    Returns:
        One row per band of delay, from arrival to first attempt, and one for leads not dialled:
        `delay`, `numerator` (leads with a positive outcome), `denominator` (leads), `rate`, `low`,
        `high`. Table `groups` has, by the column or custom field `by`: `leads`, `dialled`,
        `median_min`, `within_5_min`.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    require(leads, ("created_at",), "leads")
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    here = np.ones(len(leads), dtype=bool)
    if campaign is not None:
        here = np.asarray((leads["campaign_id"] == campaign).fillna(value=False), dtype=bool)
    first = np.full(len(leads) + 1, _NEVER)
    np.minimum.at(first, found.lead, found.when)
    created = micros(leads["created_at"])
    known = (first[:-1] != _NEVER) & (created != NO_TIME)
    wait = np.where(known, (np.where(known, first[:-1], 0) - np.where(known, created, 0)), -1)
    wait_min = np.where(known & (wait >= 0), wait / _MIN_US, np.nan)
    size = len(DELAYS_MIN)
    band = np.searchsorted(np.array(DELAYS_MIN, float), wait_min, side="right") - 1
    band = np.where(np.isnan(wait_min), np.where(known, size + 1, size), band)
    band = np.where(here, band, -1)
    won = np.zeros(len(leads) + 1, dtype=bool)
    won[found.lead[found.flag("positive")]] = True
    labels = [*_delays(), "not dialled", "dialled before arrival"]
    frame = table(
        {
            "delay": labels,
            **rated(sums(np.where(won[:-1], band, -1), size + 2), sums(band, size + 2)),
        }
    )
    middle = median(wait_min[here])
    said = "no lead was dialled" if np.isnan(middle) else f"{middle:,.0f} minutes is the median"
    return Result(
        "speed_to_lead",
        f"{plural(int(here.sum()), 'lead')}: {said}",
        frame,
        "Leads by the time from their arrival to their first counted attempt; numerator: leads "
        "with a positive outcome",
        found.balance(), taxonomy, found.as_of, {"groups": _waits(leads, by, wait_min, here)}, {},
        found.warnings,
    )  # fmt: skip


def _waits(leads: pd.DataFrame, by: str | None, wait_min: np.ndarray, here: Mask) -> pd.DataFrame:
    code, names = (
        (np.zeros(len(leads), np.int64), ["all"]) if by is None else lead_groups(leads, by)
    )
    rows = []
    for i, name in enumerate(names):
        mine = here & (code == i)
        waits = wait_min[mine & ~np.isnan(wait_min)]
        rows.append((name, int(mine.sum()), len(waits), median(waits), int((waits < 5).sum())))
    rows.sort(key=lambda row: (-row[1], row[0]))
    return table(
        {
            by or "group": [row[0] for row in rows],
            "leads": np.array([row[1] for row in rows], dtype=int),
            "dialled": np.array([row[2] for row in rows], dtype=int),
            "median_min": np.array([row[3] for row in rows], dtype=float),
            "within_5_min": np.array([row[4] for row in rows], dtype=int),
        }
    )


def _delays() -> list[str]:
    names = {0: "0", 60: "1 h", 240: "4 h", 1_440: "1 d", 4_320: "3 d", 10_080: "7 d"}
    said = [names.get(edge, f"{edge} min") for edge in DELAYS_MIN]
    pairs = [f"{a} to {b}" for a, b in itertools.pairwise(said)]
    return [*pairs, f"{said[-1]} and more"]
