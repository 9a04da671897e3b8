"""Whether a caller ID of the called number's own area code helps; and which dials are called back."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import Floats, Ints, Mask, micros, numbered
from dialframe.analytics.counting import latest
from dialframe.analytics.dials import Dials, dials
from dialframe.analytics.mix import (
    attempt_level,
    clock_of,
    hour_level,
    local_match,
    source_level,
)
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import rated, ratio, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural, share

_DAY_US: Final = 86_400_000_000
#: Hours after a dial at which a new band of lag begins.
LAGS_H: Final = (0, 1, 4, 12, 24, 72)


def local_presence(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """How much more often a person answers a caller ID of their own area code.

    The two rates are compared inside strata, so that who is called, when and how often does not
    stand in for the caller ID: leads that were called in both ways, each its own stratum; and
    source, attempt and local hour. Stratum differences are weighed as Mantel and Haenszel do; the
    error is that of Sato (Biometrics 45 (1989) 1323), widened by the design effect of leads that
    have several calls.

    Returns:
        One row per way of comparing (`crude`, `same lead`, `source, attempt and hour`): people and
        dials of matched and other calls (`matched`, `matched_dials`, `other`, `other_dials`),
        `rate_matched`, `rate_other` (standardised where stratified), `lift`, `low`, `high`,
        `strata` with both.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    return of_dials(dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign))


def of_dials(found: Dials) -> Result:
    """The same of attempts that are counted already."""
    human, matched = found.flag("human"), local_match(found)
    size = len(found)
    hour, attempt = hour_level(clock_of(found)), attempt_level(found)
    strata = {
        "crude": np.zeros(size, dtype=np.int64),
        "same lead": found.cluster,
        "source, attempt and hour": (source_level(found)[0] * 10 + attempt) * 25 + hour,
    }
    rows = [_compared(code, human, matched, found.cluster) for code in strata.values()]
    columns = (
        "matched", "matched_dials", "other", "other_dials", "rate_matched", "rate_other", "lift",
        "low", "high", "strata",
    )  # fmt: skip
    whole = {"matched", "matched_dials", "other", "other_dials", "strata"}
    frame = table(
        {
            "compared": list(strata),
            **{
                name: np.array([row[i] for row in rows]).astype(int if name in whole else float)
                for i, name in enumerate(columns)
            },
        }
    )
    lift, low, high = (frame[name].iloc[2] for name in ("lift", "low", "high"))
    if lift is pd.NA:
        answer = "No stratum has calls with and without a local caller ID"
    else:
        sure = "a difference" if low > 0 or high < 0 else "no certain difference"
        answer = (
            f"A local caller ID reaches {100 * lift:+.1f} points ({100 * low:.1f} to "
            f"{100 * high:.1f}): {sure}"
        )
    return Result(
        "local_presence", answer, frame,
        "Calls that a person answered of attempts, with and without a caller ID of the called "
        "number's area code (North American plan); an area code is not a place",
        found.balance(), found.taxonomy, found.as_of, warnings=found.warnings,
    )  # fmt: skip


def return_calls(
    calls: pd.DataFrame,
    *,
    within: timedelta = timedelta(days=3),
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """How many unanswered dials are called back, by caller ID, and after how long.

    A dial is returned if, within the time and before the next dial to the number, the number calls
    the caller ID that it saw. Dials whose time is not over by `as_of` are left out.

    Returns:
        One row per caller ID: `from_number`, `numerator` (returned), `denominator` (dials that no
        person answered), `rate`, `low`, `high`, `median_lag_h`. Table `lags` counts returns by lag.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    lag, base, early = _returned(found, round(within.total_seconds() * 1e6))
    code, names = found.text("from_number")
    back = base & ~np.isnan(lag)
    size = len(names)
    medians = [np.median(lag[back & (code == i)]) if (back & (code == i)).any() else np.nan
               for i in range(size)]  # fmt: skip
    frame = table(
        {
            "from_number": names,
            **rated(sums(np.where(back, code, -1), size), sums(np.where(base, code, -1), size)),
            "median_lag_h": np.array(medians, dtype=float),
        }
    ).sort_values("denominator", ascending=False, kind="stable", ignore_index=True)
    band = np.searchsorted(np.array(LAGS_H, float), lag[back], side="right") - 1
    labels = [f"{low}-{high} h" for low, high in itertools.pairwise(LAGS_H)]
    lags = table(
        {"lag": [*labels, f"{LAGS_H[-1]} h and more"], "returned": sums(band, len(LAGS_H))}
    )
    rate = int(back.sum()) / int(base.sum()) if base.any() else None
    said = "nothing to divide by" if rate is None else share(rate)
    return Result(
        "return_calls",
        f"{plural(int(back.sum()), 'dial')} of {int(base.sum()):,} without a person were called "
        f"back ({said})",
        frame,
        "Outbound dials without a person that the number called back, to the caller ID it saw, "
        "before the next dial to it",
        found.balance({("too_recent", "calls"): early}, {"too_recent": "the time is not over yet"}),
        taxonomy, found.as_of, {"lags": lags}, {"within_h": within.total_seconds() / 3600},
        found.warnings,
    )  # fmt: skip


def _returned(found: Dials, within_us: int) -> tuple[Floats, Mask, int]:
    """Hours to the return of each attempt (NaN without), which attempts count, how many are too recent."""
    calls = found.calls
    whole = np.concatenate([found.rows, np.flatnonzero(_inbound(calls))])
    answered_back = np.arange(len(whole)) >= len(found)
    number, _ = numbered(
        calls["to_number"].iloc[whole].where(~answered_back, calls["from_number"].iloc[whole])
    )
    ours, _ = numbered(
        calls["from_number"].iloc[whole].where(~answered_back, calls["to_number"].iloc[whole])
    )
    at = micros(calls["created_at"])[whole]
    order = np.lexsort((answered_back, at, number))
    if not len(order):
        return np.zeros(0), np.zeros(0, dtype=bool), 0
    after = np.append(order[1:], -1)
    follows = (after >= 0) & (number[order] == number[after]) & answered_back[after]
    same = follows & (ours[order] == ours[after]) & (number[order] >= 0) & ~answered_back[order]
    wait = at[after] - at[order]
    lag = np.full(len(whole), np.nan)
    lag[order] = np.where(same & (wait <= within_us), wait / 3_600e6, np.nan)
    ends = latest(calls) if found.as_of is None else found.as_of
    over = found.when + within_us <= (0 if ends is None else round(ends.timestamp() * 1e6))
    missed = ~found.flag("human")
    return lag[: len(found)], missed & over, int((missed & ~over).sum())


def _inbound(calls: pd.DataFrame) -> Mask:
    code, names = numbered(calls["direction"])
    return np.array([*(name.casefold() == "inbound" for name in names), False])[code]


def _compared(stratum: Ints, human: Mask, matched: Mask, cluster: Ints) -> tuple[float, ...]:
    """Mantel-Haenszel difference of two rates over the strata that have both."""
    _, code = np.unique(stratum, return_inverse=True)
    size = int(code.max(initial=-1)) + 1
    a, n1 = (
        sums(np.where(matched & human, code, -1), size),
        sums(np.where(matched, code, -1), size),
    )
    b, n0 = (
        sums(np.where(~matched & human, code, -1), size),
        sums(np.where(~matched, code, -1), size),
    )
    both = (n1 > 0) & (n0 > 0)
    effect = _design_effect(code, human, matched, cluster, (a, n1, b, n0))
    a, n1, b, n0 = (values[both].astype(float) for values in (a, n1, b, n0))
    n = n1 + n0
    weight = n1 * n0 / n
    total = weight.sum()
    if not total:
        return (*(float(v.sum()) for v in (a, n1, b, n0)), *[np.nan] * 5, 0.0)
    one, other = (weight * ratio(a, n1)).sum() / total, (weight * ratio(b, n0)).sum() / total
    lift = one - other
    p = (n1**2 * b - n0**2 * a + n1 * n0 * (n0 - n1) / 2) / n**2
    q = (a * (n0 - b) + b * (n1 - a)) / (2 * n)
    error = np.sqrt(max((lift * p.sum() + q.sum()) / total**2, 0.0) * effect)
    return (*(float(v.sum()) for v in (a, n1, b, n0)), one, other, lift, lift - 1.96 * error,
            lift + 1.96 * error, float(both.sum()))  # fmt: skip


def _design_effect(
    code: Ints, human: Mask, matched: Mask, cluster: Ints, counts: tuple[Ints, ...]
) -> float:
    """How much wider leads with several calls make the error; at least 1."""
    a, n1, b, n0 = counts
    both = ((n1 > 0) & (n0 > 0))[code]
    mine, near = code[both], matched[both]
    rate = np.where(near, ratio(a, n1)[mine], ratio(b, n0)[mine])
    weight = np.where(near, n0[mine], -n1[mine]) / (n1 + n0)[mine]
    pull = weight * (human[both] - rate)
    single = float((pull**2).sum())
    if not single:
        return 1.0
    return max(1.0, float((np.bincount(cluster[both], pull) ** 2).sum()) / single)
