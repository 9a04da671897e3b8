"""Caller IDs at work: whether a local one helps, which are called back, how old and how loaded they are."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Final, Unpack

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    caller_model,
    two_compared,
    usual_strata,
)
from dialframe.analytics.analyses.caller_ids import sick_calls
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import Selection, analysis
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts, local_match
from dialframe.analytics.attempt.call_scope import latest
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    NEVER,
    Floats,
    Ints,
    Mask,
    arrow,
    earliest,
    is_word,
    micros,
    micros_of,
    numbered,
)
from dialframe.analytics.claims_and_tables import (
    Claim,
    plural,
    rated_calls,
    ratio,
    share,
    sums,
    table,
    table_of_rows,
)
from dialframe.analytics.rate_ratios import joined

#: Hours after a dial at which a new band of lag begins.
LAGS_H: Final = (0, 1, 4, 12, 24, 72)
#: Days of use at which a new band of age begins.
AGES: Final = (0, 1, 3, 7, 14, 28, 56, 112)


@analysis
def local_presence(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    alpha: float = 0.05,
    **selection: Unpack[Selection],
) -> Result:
    """How much more often a person answers a caller ID of their own area code.

    The adjusted rates are compared inside campaign, week and source, with attempt, hour,
    weekday and time zone held still, and without the calls from caller IDs that people stopped answering (`caller_ids`),
    since a sick number is not a local one. Beside them stand the crude rates and those of leads called in both ways, each its
    own stratum (Mantel and Haenszel, with the error of Sato, Biometrics 45 (1989) 1323, widened by
    the design effect of leads that have several calls).

    Args:
        leads: Frame of the leads table, for source, attempt and clusters.
        alpha: Chance of a difference where there is none.

    Returns:
        One row per way of comparing (`crude`, `same lead`, `adjusted`): people and dials of matched
        and other calls (`matched`, `matched_dials`, `other`, `other_dials`), `rate_matched`,
        `rate_other` (standardized where stratified), `lift`, `low`, `high`, `strata` with both.
    """
    return of_attempts(count_attempts(calls, leads, **selection), alpha)


#: What local presence is adjusted for.
LOCAL_ADJUSTED_FOR: Final = (
    "campaign", "week", "source", "attempt", "hour", "weekday", "time zone",
    "caller IDs that lost their answers",
)  # fmt: skip


def of_attempts(attempts: Attempts, alpha: float = 0.05) -> Result:
    """The same of attempts that are counted already."""
    human, matched = attempts.flag("human"), local_match(attempts)
    rows = [_compared(code, human, matched, attempts.cluster)
            for code in (np.zeros(len(attempts), dtype=np.int64), attempts.cluster)]  # fmt: skip
    # A number that is shown as spam is answered less whatever its area: it would be held against its place.
    sick = sick_calls(attempts)
    well, near = attempts.only(~sick), matched[~sick]
    counts = _compared(
        np.zeros(len(well), dtype=np.int64), well.flag("human"), near, well.cluster
    )[:4]
    compared = two_compared(well, {"local": near}, alpha)
    if compared is None:
        rows.append((*counts, *[np.nan] * 5, 0.0))
        claim = Claim(
            "none", "local presence", text="Nothing can be told of local caller IDs: inside campaign, week and "
            "source too few people were reached with and without one",
        )  # fmt: skip
    else:
        verdict, lift, low, high = compared
        rate_other = float(verdict.effects.rates()[0])
        stratum = joined(usual_strata(well), len(well))
        both = np.bincount(stratum, near) * np.bincount(stratum, ~near) > 0
        rows.append((*counts, rate_other + lift, rate_other, lift, low, high, float(both.sum())))
        words = f"A local caller ID reaches {100 * lift:+.1f} points ({100 * low:.1f} to {100 * high:.1f})"
        claim = compared.claim("local presence", LOCAL_ADJUSTED_FOR, f"{words}: a difference",
                               f"{words}: no certain difference")  # fmt: skip
    frame = table_of_rows(
        {"compared": str, "matched": int, "matched_dials": int, "other": int, "other_dials": int,
         "rate_matched": float, "rate_other": float, "lift": float, "low": float, "high": float,
         "strata": int},
        [(way, *row) for way, row in zip(("crude", "same lead", "adjusted"), rows, strict=True)],
    )  # fmt: skip
    return result_of(
        attempts, "local_presence", (claim,), frame,
        "Calls that a person answered of attempts, with and without a caller ID of the called "
        "number's area code (North American plan); an area code is not a place",
        {("sick_caller", "calls"): int(sick.sum()), **attempts.not_logged},
        {"sick_caller": "from a caller ID that lost its answers: not in the adjusted row"},
        parameters={"alpha": alpha},
        assumptions=(*ASSUMPTIONS, "which calls get a local caller ID does not depend on who is called"),
    )  # fmt: skip


@analysis
def return_calls(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    within: timedelta = timedelta(days=3),
    **selection: Unpack[Selection],
) -> Result:
    """How many unanswered dials are called back, by caller ID, and after how long.

    A dial is returned if, within the time and before the next dial to the number, the number calls
    the caller ID that it saw. Attempts whose time is not over by `as_of` are left out.

    Args:
        within: How long after the dial a call back counts.

    Returns:
        One row per caller ID: `from_number`, `numerator` (returned), `denominator` (dials that no
        person answered), `rate`, `low`, `high`, `median_lag_h`. Table `lags` counts returns by lag.
    """
    attempts = count_attempts(calls, leads, **selection)
    lag, base, early = _returned(attempts, round(within.total_seconds() * 1e6))
    code, names = attempts.text("from_number")
    # Only dials without a person can be returned: who was spoken to calls back for another reason.
    back = base & ~np.isnan(lag)
    size = len(names)
    medians = [np.median(lag[back & (code == i)]) if (back & (code == i)).any() else np.nan
               for i in range(size)]  # fmt: skip
    frame = table(
        {
            "from_number": names,
            **rated_calls(np.where(base, code, -1), back, attempts.cluster, size),
            "median_lag_h": np.array(medians, dtype=float),
        }
    ).sort_values("denominator", ascending=False, kind="stable", ignore_index=True)
    band = np.searchsorted(np.array(LAGS_H, float), lag[back], side="right") - 1
    labels = [f"{low}-{high} h" for low, high in itertools.pairwise(LAGS_H)]
    lags = table(
        {"lag": [*labels, f"{LAGS_H[-1]} h and more"], "returned": sums(band, len(LAGS_H))}
    )
    rate = int(back.sum()) / int(base.sum()) if base.any() else None
    rate_words = "nothing to divide by" if rate is None else share(rate)
    return result_of(
        attempts, "return_calls",
        f"{plural(int(back.sum()), 'dial')} of {int(base.sum()):,} without a person were called "
        f"back ({rate_words})",
        frame,
        "Outbound dials without a person that the number called back, to the caller ID it saw, "
        "before the next dial to it",
        {("too_recent", "calls"): early}, {"too_recent": "the time is not over yet"},
        tables={"lags": lags}, parameters={"within_h": within.total_seconds() / 3600},
    )  # fmt: skip


def _returned(attempts: Attempts, within_us: int) -> tuple[Floats, Mask, int]:
    """Hours to the return of each attempt (NaN without), which attempts count, how many are too recent."""
    calls = attempts.calls
    inbound = np.flatnonzero(is_word(calls["direction"], "inbound"))
    # A number that never called us cannot have called back.
    callers = arrow(calls["from_number"].iloc[inbound])
    dialed = attempts.numbers("to_number")
    to_callers = np.flatnonzero(pc.is_in(dialed, value_set=callers.cast(dialed.type)))
    whole = np.concatenate([attempts.rows[to_callers], inbound])
    answered_back = np.arange(len(whole)) >= len(to_callers)
    number, _ = numbered(
        calls["to_number"].iloc[whole].where(~answered_back, calls["from_number"].iloc[whole])
    )
    ours, _ = numbered(
        calls["from_number"].iloc[whole].where(~answered_back, calls["to_number"].iloc[whole])
    )
    at = micros(calls["created_at"])[whole]
    order = np.lexsort((answered_back, at, number))
    after = np.append(order[1:], -1)[: len(order)]
    # A call back is the next thing that happens to the number: the dial before it is what was returned.
    follows = (after >= 0) & (number[order] == number[after]) & answered_back[after]
    same = follows & (ours[order] == ours[after]) & (number[order] >= 0) & ~answered_back[order]
    wait = at[after] - at[order]
    lag = np.full(len(whole), np.nan)
    lag[order] = np.where(same & (wait <= within_us), wait / 3_600e6, np.nan)
    over = attempts.when + within_us <= micros_of(attempts.as_of or latest(calls))
    missed = ~attempts.flag("human")
    lag_h = np.full(len(attempts), np.nan)
    lag_h[to_callers] = lag[: len(to_callers)]
    return lag_h, missed & over, int((missed & ~over).sum())


def _compared(stratum: Ints, human: Mask, matched: Mask, cluster: Ints) -> tuple[float, ...]:
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


@analysis
def caller_ages(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    **selection: Unpack[Selection],
) -> Result:
    """How often a person answers by the days that a caller ID has been in use.

    Numbers that were in use in the first week of the data are left out: their age is not known.

    Returns:
        One row per band of age: `age_days` (text), `callers`, `numerator`, `denominator`, `rate`,
        `low`, `high`, `expected` and `ratio`, as in `caller_ids`.
    """
    attempts = count_attempts(calls, leads, **selection)
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
    frame = table(
        {
            "age_days": _bands(AGES),
            "callers": sums(pairs.astype(np.int64), len(AGES)),
            **rated_calls(band, human, attempts.cluster, len(AGES)),
            "expected": ratio(above, dialed),
            "ratio": ratio(sums(band, len(AGES), human), above),
        }
    )
    known = int(new.sum())
    answer = f"{plural(known, 'caller ID')} came into use during the data" if known else (
        "No caller ID came into use during the data, so no age is known"
    )  # fmt: skip
    return result_of(
        attempts, "caller_ages", answer, frame,
        "Rate: calls that a person answered of attempts, by days since the number's first call",
        {("age_unknown", "calls"): int((band < 0).sum())},
        {"age_unknown": "from a number in use since before the data"},
    )  # fmt: skip


@analysis
def caller_load(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    most_per_day: int = 100,
    **selection: Unpack[Selection],
) -> Result:
    """How many calls a day each caller ID carries, and how unevenly they are spread.

    Args:
        leads: Frame of the leads table, so that calls to one lead count as one cluster.
        most_per_day: Calls a day (UTC) above which a number is over its load.

    Returns:
        One row per caller ID: `from_number`, `dials`, `days`, `mean_per_day`, `most_per_day`,
        `days_over`. `parameters["gini"]` is 0 where all numbers carry the same.
    """
    attempts = count_attempts(calls, leads, **selection)
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
    gini = _gini(dialed)
    over = int((frame["days_over"] > 0).sum())
    answer = (
        f"{over} of {plural(len(names), 'caller ID')} had days with more than {most_per_day} calls"
    )
    return result_of(
        attempts, "caller_load", answer, frame, "Attempts from each number by UTC day",
        parameters={"most_per_day": most_per_day, "gini": gini},
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
    # Half the mean difference of any two over the mean (Gini, 1912), from the sorted counts in one pass.
    ordered = np.sort(counts)
    n = len(ordered)
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))
