"""Leads that were only ever tried in one part of their day; knows parts of the day, not hours."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import Floats, Ints
from dialframe.analytics.dials import dials
from dialframe.analytics.mix import (
    clock_of,
)
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import ratio, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy

#: Parts of the local day: name, first hour, first hour after.
DAYPARTS: Final = (
    ("night", 0, 8), ("morning", 8, 12), ("afternoon", 12, 17), ("evening", 17, 24),
)  # fmt: skip


def dayparts(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    least_attempts: int = 2,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """Leads that were only ever tried in one part of their day, and what another part would give.

    Returns:
        One row per part: `daypart`, `leads` (tried at least so often, never reached, only in this
        part), `other` (the part with the best chance next), `rate` (people per call there, on leads
        not reached before), `expected_contacts`. Table `each` lists the leads.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    clock = clock_of(found)
    part = _part(np.where(clock.known, clock.hour, -1))
    mine = (found.lead >= 0) & (part >= 0)
    size, count = len(DAYPARTS), len(found.leads)
    tried = np.zeros((count + 1, size), dtype=np.int64)
    np.add.at(tried, (found.lead[mine], part[mine]), 1)
    tried = tried[:-1]
    reached = np.zeros(count + 1, dtype=bool)
    reached[found.lead[found.flag("human") & (found.lead >= 0)]] = True
    closed = np.zeros(count + 1, dtype=bool)
    closed[found.lead[found.flag("final") & (found.lead >= 0)]] = True
    once = (tried > 0).sum(axis=1) == 1
    alone = once & (tried.sum(axis=1) >= least_attempts) & ~reached[:-1] & ~closed[:-1]
    only = tried.argmax(axis=1)
    later = mine & (found.attempt > 1)
    n, k = (
        sums(np.where(later, part, -1), size),
        sums(np.where(later & found.flag("human"), part, -1), size),
    )
    rate = np.where(n >= 30, ratio(k, n), np.nan)
    other = [_best_other(rate, i) for i in range(size)]
    leads_in = sums(np.where(alone, only, -1), size)
    gained = np.array([np.nan if o < 0 else rate[o] for o in other], dtype=float)
    frame = table(
        {
            "daypart": [name for name, _, _ in DAYPARTS],
            "leads": leads_in,
            "other": [None if o < 0 else DAYPARTS[o][0] for o in other],
            "rate": gained,
            "expected_contacts": gained * leads_in,
        }
    )
    each = table(
        {
            "lead_id": found.leads["id"].astype("str").array[alone],
            "daypart": [DAYPARTS[i][0] for i in only[alone]],
            "attempts": tried.sum(axis=1)[alone],
        }
    )
    return Result(
        "dayparts",
        f"{int(alone.sum()):,} leads were tried {least_attempts} times or more, only in one part of "
        "their day, and never reached",
        frame,
        "Leads not reached and not closed, by the only part of their local day in which they were "
        "tried: " + ", ".join(f"{n} {a}-{b} h" for n, a, b in DAYPARTS),
        found.balance(), taxonomy, found.as_of, {"each": each},
        {"least_attempts": least_attempts}, found.warnings,
    )  # fmt: skip


def _part(hour: Ints) -> Ints:
    part = np.full(len(hour), -1)
    for place, (_, first, after) in enumerate(DAYPARTS):
        part[(hour >= first) & (hour < after)] = place
    return part


def _best_other(rate: Floats, part: int) -> int:
    others = np.where(np.arange(len(rate)) == part, np.nan, rate)
    return -1 if np.isnan(others).all() else int(np.nanargmax(others))
