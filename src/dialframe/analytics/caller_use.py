"""How caller IDs are used: how many calls each carries, and how its answers go with its age."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import Ints
from dialframe.analytics.dials import dials
from dialframe.analytics.mix import clock_of, expected_human
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import rated, ratio, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural

_DAY_US: Final = 86_400_000_000
#: Days of use at which a new band of age begins.
AGES: Final = (0, 1, 3, 7, 14, 28, 56, 112)


def caller_ages(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """How often a person answers by the days that a caller ID has been in use.

    Numbers that were in use in the first week of the data are left out: their age is not known.

    Returns:
        One row per band of age: `age_days` (text), `callers`, `numerator`, `denominator`, `rate`,
        `low`, `high`, `expected` and `ratio`, as in `caller_ids`.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    code, names = found.text("from_number")
    first = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(first, code, found.when)
    begins = int(found.when.min(initial=np.iinfo(np.int64).max))
    new = first > begins + 7 * _DAY_US if len(found) else np.zeros(len(names), dtype=bool)
    chance = expected_human(found, clock_of(found)).expected if len(found) else np.zeros(0)
    days = (found.when - first[code]) / _DAY_US
    band = np.where(new[code], np.searchsorted(np.array(AGES, float), days, side="right") - 1, -1)
    human = found.flag("human")
    dialled = sums(band, len(AGES))
    above = np.bincount(band[band >= 0], chance[band >= 0], len(AGES))
    pairs = np.unique(np.stack([band, code])[:, band >= 0], axis=1)[0]
    frame = table(
        {
            "age_days": _bands(AGES),
            "callers": sums(pairs.astype(np.int64), len(AGES)),
            **rated(sums(np.where(human, band, -1), len(AGES)), dialled),
            "expected": ratio(above, dialled),
            "ratio": ratio(sums(np.where(human, band, -1), len(AGES)), above),
        }
    )
    known = int(new.sum())
    answer = f"{plural(known, 'caller ID')} came into use during the data" if known else (
        "No caller ID came into use during the data, so no age is known"
    )  # fmt: skip
    return Result(
        "caller_ages", answer, frame,
        "Rate: calls that a person answered of attempts, by days since the number's first call",
        found.balance({("age_unknown", "calls"): int((band < 0).sum())},
                      {"age_unknown": "from a number in use since before the data"}),
        taxonomy, found.as_of, warnings=found.warnings,
    )  # fmt: skip


def caller_load(
    calls: pd.DataFrame,
    *,
    most_per_day: int = 100,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """How many calls a day each caller ID carries, and how unevenly they are spread.

    Args:
        calls: Frame of the calls table.
        most_per_day: Calls a day (UTC) above which a number is over its load.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Calls of this campaign only.

    Returns:
        One row per caller ID: `from_number`, `dials`, `days`, `mean_per_day`, `most_per_day`,
        `days_over`. `parameters["gini"]` is 0 where all numbers carry the same.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    code, names = found.text("from_number")
    day = found.when // _DAY_US
    pairs, n = np.unique(np.stack([code, day]), axis=1, return_counts=True)
    who = pairs[0].astype(np.int64)
    most = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(most, who, n)
    dialled, days = sums(code, len(names)), sums(who, len(names))
    order = np.argsort(-dialled, kind="stable")
    frame = table(
        {
            "from_number": [names[i] for i in order],
            "dials": dialled[order],
            "days": days[order],
            "mean_per_day": ratio(dialled, days)[order],
            "most_per_day": most[order],
            "days_over": sums(np.where(n > most_per_day, who, -1), len(names))[order],
        }
    )
    gini = _gini(dialled)
    over = int((frame["days_over"] > 0).sum())
    answer = (
        f"{over} of {plural(len(names), 'caller ID')} had days with more than {most_per_day} calls"
    )
    return Result(
        "caller_load", answer, frame, "Attempts from each number by UTC day", found.balance(),
        taxonomy, found.as_of, {}, {"most_per_day": most_per_day, "gini": gini}, found.warnings,
    )  # fmt: skip


def _bands(edges: tuple[int, ...]) -> list[str]:
    names = []
    for low, following in zip(edges, [*edges[1:], None], strict=True):
        if following is None:
            names.append(f"{low}+")
        else:
            names.append(f"{low}" if following == low + 1 else f"{low}-{following - 1}")
    return names


def _gini(counts: Ints) -> float:
    if not counts.sum():
        return 0.0
    ordered = np.sort(counts)
    n = len(ordered)
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))
