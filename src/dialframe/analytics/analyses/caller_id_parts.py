"""Caller IDs at work: whether a local one helps, which are called back, how old and how loaded they are."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    caller_model,
    campaign_code,
    cannot_judge,
    levels_judged,
    second_claim,
    week_code,
)
from dialframe.analytics.attempt.attempt_table import Attempts, local_match
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    NEVER,
    Ints,
    Mask,
    earliest,
)
from dialframe.analytics.claims_and_tables import (
    Claim,
    rated_calls,
    ratio,
    sums,
    table,
    table_of_rows,
)
from dialframe.analytics.effects import joined

#: Days of use at which a new band of age begins.
AGES: Final = (0, 1, 3, 7, 14, 28, 56, 112)


#: What local presence is adjusted for.
LOCAL_ADJUSTED_FOR: Final = (
    "campaign", "week", "source", "attempt", "hour", "weekday", "time zone",
    "caller IDs that lost their answers",
)  # fmt: skip


def local_presence(attempts: Attempts, sick: Mask, alpha: float) -> tuple[Claim, pd.DataFrame]:
    """How much more often a person answers a caller ID of their own area code, and by which comparison.

    Beside the adjusted rates stand the crude ones and those of leads called in both ways, each its own
    stratum (Mantel and Haenszel, with the error of Sato, Biometrics 45 (1989) 1323, widened by the design
    effect of leads that have several calls).

    Args:
        attempts: The attempts.
        sick: Those from a caller ID that lost its answers: a sick number is not a local one.
        alpha: Chance of a difference where there is none.

    Returns:
        The claim; one row per comparison (`crude`, `same lead`, `adjusted`): people and dials of matched and
        other calls (`matched`, `matched_dials`, `other`, `other_dials`), `rate_matched`, `rate_other`,
        `lift`, `low`, `high`, `strata` with both.
    """
    human, matched = attempts.flag("human"), local_match(attempts)
    rows = [_mantel_haenszel(code, human, matched, attempts.cluster)
            for code in (np.zeros(len(attempts), dtype=np.int64), attempts.cluster)]  # fmt: skip
    # A number that is shown as spam is answered less whatever its area: it would be held against its place.
    well, near = attempts.only(~sick), matched[~sick]
    counts = _mantel_haenszel(
        np.zeros(len(well), dtype=np.int64), well.flag("human"), near, well.cluster
    )[:4]
    compared = levels_judged(well, near.astype(np.int64), 2, 1, alpha, name="local")
    if compared is None or np.isnan(compared.p):
        rows.append((*counts, *[np.nan] * 5, 0.0))
        why = "too few people were reached" if compared is None else compared.why_not
        claim = cannot_judge("local presence", "The local caller ID", why, compared)
    else:
        lift, low, high = compared.effect, compared.low, compared.high
        stratum = joined([campaign_code(well), week_code(well)], len(well))
        both = np.bincount(stratum, near) * np.bincount(stratum, ~near) > 0
        rows.append(
            (*counts, compared.rate, compared.rate - lift, lift, low, high, float(both.sum()))
        )
        words = f"A local caller ID reaches {100 * lift:+.1f} points ({100 * low:.1f} to {100 * high:.1f})"
        claim = second_claim(compared, "local presence", LOCAL_ADJUSTED_FOR, f"{words}: a difference",
                             f"{words}: no certain difference")  # fmt: skip
    frame = table_of_rows(
        {"compared": str, "matched": int, "matched_dials": int, "other": int, "other_dials": int,
         "rate_matched": float, "rate_other": float, "lift": float, "low": float, "high": float,
         "strata": int},
        [(way, *row) for way, row in zip(("crude", "same lead", "adjusted"), rows, strict=True)],
    )  # fmt: skip
    return claim, frame


def _mantel_haenszel(
    stratum: Ints, human: Mask, matched: Mask, cluster: Ints
) -> tuple[float, ...]:
    """Mantel-Haenszel difference of two rates over the strata that have both."""
    _, code = np.unique(stratum, return_inverse=True)
    size = int(code.max(initial=-1)) + 1
    a, n1, b, n0 = (
        sums(code, size, mask) for mask in (matched & human, matched, ~matched & human, ~matched)
    )
    # A stratum with one kind of call alone compares nothing with nothing.
    both = (n1 > 0) & (n0 > 0)
    effect = _design_effect(code, human, matched, cluster, (a, n1, b, n0))
    a, n1, b, n0 = (values[both].astype(float) for values in (a, n1, b, n0))
    n = n1 + n0
    # Mantel and Haenszel's weights (1959): the harmonic mean of the two sides of a stratum.
    weight = n1 * n0 / n
    total = weight.sum()
    if not total:
        return (*(float(v.sum()) for v in (a, n1, b, n0)), *[np.nan] * 5, 0.0)
    rate_local, rate_other = (
        (weight * ratio(a, n1)).sum() / total,
        (weight * ratio(b, n0)).sum() / total,
    )
    lift = rate_local - rate_other
    # Sato's variance of the Mantel-Haenszel difference: right for few large strata and for many small ones.
    p = (n1**2 * b - n0**2 * a + n1 * n0 * (n0 - n1) / 2) / n**2
    q = (a * (n0 - b) + b * (n1 - a)) / (2 * n)
    error = np.sqrt(max((lift * p.sum() + q.sum()) / total**2, 0.0) * effect)
    return (*(float(v.sum()) for v in (a, n1, b, n0)), rate_local, rate_other, lift, lift - 1.96 * error,
            lift + 1.96 * error, float(both.sum()))  # fmt: skip


def _design_effect(
    code: Ints, human: Mask, matched: Mask, cluster: Ints, counts: tuple[Ints, ...]
) -> float:
    """How much wider leads with several calls make the error; at least 1."""
    a, n1, b, n0 = counts
    both = ((n1 > 0) & (n0 > 0))[code]
    caller, near = code[both], matched[both]
    rate = np.where(near, ratio(a, n1)[caller], ratio(b, n0)[caller])
    weight = np.where(near, n0[caller], -n1[caller]) / (n1 + n0)[caller]
    # What each call adds to the difference; of a lead that is called often these go together.
    pull = weight * (human[both] - rate)
    single = float((pull**2).sum())
    if not single:
        return 1.0
    return max(1.0, float((np.bincount(cluster[both], pull) ** 2).sum()) / single)


def ages(attempts: Attempts) -> pd.DataFrame:
    """How often a person answers by the days that a caller ID has been in use.

    Numbers that were in use in the first week of the data are left out: their age is not known.
    """
    code, names = attempts.text("from_number")
    first = earliest(code, attempts.when, len(names))
    begins = int(attempts.when.min(initial=NEVER))
    # A number seen in the first week may have been in use for years before the data begins.
    new = first > begins + 7 * DAY_US if len(attempts) else np.zeros(len(names), dtype=bool)
    # Young numbers dial other leads than old ones: the mix of their calls is what they are held to.
    chance = caller_model(attempts).expected if len(attempts) else np.zeros(0)
    days = (attempts.when - first[code]) / DAY_US
    band = np.where(new[code], np.searchsorted(np.array(AGES, float), days, side="right") - 1, -1)
    human = attempts.flag("human")
    dialed = sums(band, len(AGES))
    above = np.bincount(band[band >= 0], chance[band >= 0], len(AGES))
    pairs = np.unique(np.stack([band, code])[:, band >= 0], axis=1)[0]
    return table(
        {
            "age_days": _bands(AGES),
            "callers": sums(pairs.astype(np.int64), len(AGES)),
            **rated_calls(band, human, attempts.cluster, len(AGES)),
            "expected": ratio(above, dialed),
            "ratio": ratio(sums(band, len(AGES), human), above),
        }
    )


def load(attempts: Attempts, most_per_day: int) -> tuple[pd.DataFrame, float]:
    """How many calls a UTC day each caller ID carries, and Gini's coefficient of how unevenly (0: alike).

    Args:
        attempts: The attempts.
        most_per_day: Calls a day above which a number is over its load.
    """
    code, names = attempts.text("from_number")
    day = attempts.when // DAY_US
    day -= int(day.min(initial=0)) if len(day) else 0
    span = int(day.max(initial=0)) + 1
    pairs, n = np.unique(code * span + day, return_counts=True)
    who = pairs // span
    # A mean hides the day on which a number dialed all it had: carriers flag bursts.
    most = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(most, who, n)
    dialed, days = sums(code, len(names)), sums(who, len(names))
    order = np.argsort(-dialed, kind="stable")
    frame = table(
        {
            "from_number": [names[i] for i in order],
            "dials": dialed[order],
            "days": days[order],
            "mean_per_day": ratio(dialed, days)[order],
            "most_per_day": most[order],
            "days_over": sums(who, len(names), n > most_per_day)[order],
        }
    )
    return frame, _gini(dialed)


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
    # Half the mean difference of any two over the mean (Gini, 1912), from the sorted counts in one pass.
    ordered = np.sort(counts)
    n = len(ordered)
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))
