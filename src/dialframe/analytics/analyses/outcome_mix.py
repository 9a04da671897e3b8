"""Headline rates, the mix of outcomes over time, first and last outcomes, and cohorts."""

from __future__ import annotations

from typing import Final, Literal, Unpack

import numpy as np
import pandas as pd

from dialframe.analytics.analysis_result import Result, Summary, result_of
from dialframe.analytics.attempt.argument_checks import CampaignSelection, Selection, analysis
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    NEVER,
    NO_TIME,
    Ints,
    earliest,
    first_days,
    micros,
    numbered,
    require,
)
from dialframe.analytics.attempt.lead_match import of_campaign
from dialframe.analytics.attempt.taxonomy import (
    GOAL_WORDS,
    GOALS,
    OUTCOMES,
    RATES,
    Rate,
)
from dialframe.analytics.claims_and_tables import (
    plural,
    rated,
    rated_calls,
    rated_kinds,
    share,
    sums,
    table,
    table_of_rows,
)
from dialframe.errors import ConfigError


@analysis
def summary(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    include_no_campaign: bool = False,
    **selection: Unpack[Selection],
) -> Summary:
    """Connection, human-contact, right-party and machine rates of outbound calls.

    Attempts are outbound calls of a campaign that are over. Calls to one lead resemble each other:
    they are one cluster of the intervals. Each rate is the metric of its name.

    Args:
        leads: Frame of the leads table; without it numbers are the clusters.

    Returns:
        A `Summary`; print it, or ask it to `explain()`.

    Example:
        >>> from dialframe import frames
        >>> summary(frames.empty(frames.CALLS)).table["denominator"].sum()
        np.int64(0)
    """
    attempts = count_attempts(calls, leads, **selection, include_no_campaign=include_no_campaign)
    frame = table_of_rows(
        {"metric": str, "numerator": int, "denominator": int, "rate": float, "low": float,
         "high": float, "unknown": int, "definition": str},
        [(name, *_headline(attempts, rate), rate.definition)
         for name, rate in RATES.items() if rate.definition],
    )  # fmt: skip
    words = f"Calls as of {attempts.as_of:%Y-%m-%d %H:%M} UTC" if attempts.as_of else "Calls"
    return Summary(
        "summary", words, frame, "Headline rates of the counted attempts", attempts.balance(),
        attempts.taxonomy, attempts.as_of, {}, {"campaign": attempts.campaign}, attempts.warnings,
    )  # fmt: skip


def _headline(attempts: Attempts, rate: Rate) -> tuple[float, ...]:
    """Numerator, denominator, rate, bounds and unknown calls of one rate."""
    below = np.ones(len(attempts), dtype=bool)
    if rate.below:
        below = attempts.flag(rate.below)
    above = attempts.flag(rate.above) & below
    # A machine is not told apart from a person where nothing says who answered.
    kind = "human" if rate.above == "machine" else rate.above
    # Calls of the denominator of which the codes do not say whether they belong above the line.
    odd = np.zeros(len(attempts), dtype=bool)
    if kind != "answered":
        odd = np.array([getattr(o, kind) is None for o in OUTCOMES])[attempts.outcome]
    whole = rated_calls(np.where(below, 0, -1), above, attempts.cluster, 1)
    return (*(float(values[0]) for values in whole.values()), int((odd & below).sum()))


@analysis
def dispositions(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    include_no_campaign: bool = False,
    **selection: Unpack[Selection],
) -> Result:
    """The mix of outcomes: how often each disposition was logged and what it was taken for.

    Args:
        leads: Frame of the leads table; not needed.

    Returns:
        One row per disposition (as it was written, null where none was logged) and outcome class,
        most frequent first: `disposition`, `outcome`, `calls`, `denominator` (attempts), `share`,
        `low`, `high` (95 %, calls of one lead as one cluster), `conflict` and `unmapped` (calls of
        the row that are one). The calls sum to the attempts.
    """
    attempts = count_attempts(calls, leads, **selection, include_no_campaign=include_no_campaign)
    part = attempts.classes.take(attempts.rows)
    code, written = numbered(calls["disposition"].iloc[attempts.rows].astype("str"))
    # Code and class together: one code can mean two classes, answered and not.
    pair = np.where(code < 0, len(written), code) * len(OUTCOMES) + part.outcome
    index, pairs = pd.factorize(pair, sort=True)
    # All as one cell: shares of the attempts, with calls of one lead as one cluster.
    kinds = rated_kinds(
        np.zeros(len(attempts), dtype=np.int64), [index == i for i in range(len(pairs))],
        attempts.cluster, 1,
    )  # fmt: skip
    calls_of, conflict, odd = (
        sums(index, len(pairs), weights) for weights in (None, part.conflict, part.unmapped)
    )
    rows = sorted(
        range(len(pairs)),
        key=lambda i: (-calls_of[i], *_words(pairs[i], written)),
    )
    names = [_words(pairs[i], written) for i in rows]
    frame = table(
        {
            "disposition": [None if blank else word for blank, word, _ in names],
            "outcome": [outcome for _, _, outcome in names],
            "calls": calls_of[rows],
            "denominator": np.full(len(rows), len(attempts)),
            "share": np.array([kinds[i]["rate"][0] for i in rows], dtype=float),
            "low": np.array([kinds[i]["low"][0] for i in rows], dtype=float),
            "high": np.array([kinds[i]["high"][0] for i in rows], dtype=float),
            "conflict": conflict[rows],
            "unmapped": odd[rows],
        }
    )
    answer = "There are no attempts" if not len(frame) else (
        f"{frame['disposition'].fillna('No disposition').iloc[0]} is the most frequent of "
        f"{plural(len(frame), 'outcome')} of {plural(len(attempts), 'attempt')} "
        f"({share(frame['share'].iloc[0])})"
    )  # fmt: skip
    return result_of(
        attempts, "dispositions", answer, frame,
        "Attempts by disposition as it was written and by the class that it was taken for",
        parameters={"campaign": attempts.campaign},
    )  # fmt: skip


def _words(pair: int, written: list[str]) -> tuple[bool, str, str]:
    """Whether no disposition was logged, else which, and the class."""
    code, outcome = divmod(int(pair), len(OUTCOMES))
    blank = code == len(written)
    return blank, "" if blank else written[code], OUTCOMES[outcome].name


UNMAPPED: Final = "unmapped"
NOT_DIALED: Final = "not_dialed"


@analysis
def outcome_flows(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    **selection: Unpack[Selection],
) -> Result:
    """From the first outcome of each lead to its last.

    Returns:
        One row per pair: `first`, `last` (outcome classes; `unmapped` where the code is not known,
        `not_dialed` for leads without a counted attempt), `leads`, `attempts`, most frequent
        first. The leads sum to the leads looked at.
    """
    attempts = count_attempts(calls, leads, **selection)
    in_campaign = of_campaign(leads, attempts.campaign)
    names = [*(o.name for o in OUTCOMES), UNMAPPED, NOT_DIALED]
    # A code without a meaning is an end of its own, and not the class that the network gives.
    ends = np.where(attempts.classes.unmapped[attempts.rows], len(OUTCOMES), attempts.outcome)
    with_lead = attempts.order[attempts.lead[attempts.order] >= 0]
    lead = attempts.lead[with_lead]
    first, last = (np.full(len(leads), names.index(NOT_DIALED)) for _ in range(2))
    # In the order of time the last one stays, in the other the first.
    last[lead] = ends[with_lead]
    first[lead[::-1]] = ends[with_lead[::-1]]
    tried = np.bincount(lead, minlength=len(leads))
    size = len(names)
    pair = np.where(in_campaign, first * size + last, -1)
    n = sums(pair, size * size)
    total = np.bincount(pair[in_campaign], tried[in_campaign], size * size)
    order = sorted(np.flatnonzero(n), key=lambda i: (-n[i], i))
    frame = table(
        {
            "first": [names[i // size] for i in order],
            "last": [names[i % size] for i in order],
            "leads": n[order].astype(int),
            "attempts": total[order].astype(int),
        }
    )
    stayed = int(frame["leads"][(frame["first"] == frame["last"]).to_numpy(bool)].sum())
    return result_of(
        attempts, "outcome_flows",
        f"{plural(int(in_campaign.sum()), 'lead')}: {stayed:,} ended where they began", frame,
        "Outcome class of the first and of the last counted attempt of each lead",
    )  # fmt: skip


@analysis
def cohorts(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    goal: str = "human",
    period: Literal["day", "week", "month"] = "week",
    ages: int = 12,
    **selection: Unpack[CampaignSelection],
) -> Result:
    """How far leads imported together have come, by the periods that have passed since.

    A cell is mature when the whole cohort has had all of its time; the cells of young cohorts are
    masked, because they can only look worse than they are.

    Args:
        goal: Of `GOALS`.
        period: Length of a cohort and of a step of age; months are 30 days of age.
        ages: How many steps of age.
        campaign: Leads and calls of this campaign only.

    Returns:
        One row per cohort and age: `cohort` (its first UTC day), `age` (periods since import, from
        1), `denominator` (leads), `numerator` (reached by then), `rate`, `low`, `high`, `mature`.
        Where not mature, numerator and rates are null.

    Raises:
        ConfigError: A column is missing, or campaign, goal or period is unknown.
    """
    if goal not in GOALS:
        raise ConfigError(f"goal {goal!r} is not known; use {', '.join(GOALS)}")
    lengths = {"day": 1, "week": 7, "month": 30}
    require(leads, ("created_at", "campaign_id"), "leads")
    attempts = count_attempts(calls, leads, **selection)
    created = micros(leads["created_at"])
    dated = (created != NO_TIME) & of_campaign(leads, attempts.campaign)
    code, names, closes = _cohort_of(created, dated, period)
    hit = attempts.flag(GOALS[goal])
    first = earliest(attempts.lead[hit], attempts.when[hit], len(leads))
    step = lengths[period] * DAY_US
    # Never is as late as the last age and beyond it: in no cell.
    age = np.where(first != NEVER, (np.where(first == NEVER, 0, first) - created) // step, ages)
    age = np.clip(age, 0, ages).astype(np.int64)
    size = len(names)
    n = sums(code, size, dated)
    cell = np.where(dated & (age < ages), code * ages + age, -1)
    k = np.cumsum(sums(cell, size * ages).reshape(size, ages), axis=1).ravel()
    # The whole period of the cohort has had the time, the last lead of it too.
    mature = (closes[:, None] + (np.arange(ages) + 1) * step <= attempts.as_of_us).ravel()
    frame = table(
        {
            "cohort": [name for name in names for _ in range(ages)],
            "age": np.tile(np.arange(1, ages + 1), size),
            **rated(k, np.repeat(n, ages)),
            "mature": mature,
        }
    )
    for name in ("numerator", "rate", "low", "high"):
        frame.loc[~mature, name] = pd.NA
    ripe = frame[mature & (frame["age"] == 1).to_numpy(bool)]
    sentence = "no cohort is mature yet"
    if len(ripe):
        total = int(ripe["numerator"].sum()) / max(int(ripe["denominator"].sum()), 1)
        sentence = f"{share(total)} {GOAL_WORDS[goal]} within the first {period}"
    return result_of(
        attempts, "cohorts", f"{plural(size, 'cohort')} of leads: {sentence}", frame,
        f"Leads by the {period} of their import, and of these the leads with a counted call that "
        f"was {goal.replace('_', ' ')} by each age",
        {("undated", "leads"): int((created == NO_TIME).sum())},
        {"undated": "without created_at: in no cohort"},
        parameters={"goal": goal, "period": period, "ages": ages},
    )  # fmt: skip


@analysis
def outcome_mix(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    period: Literal["day", "week", "month"] = "week",
    by: Literal["outcome", "disposition"] = "outcome",
    **selection: Unpack[Selection],
) -> Result:
    """The mix of outcomes over time, canonical or as it was written; unmapped is always a row.

    Args:
        period: Length of a period; weeks begin on Monday, UTC.
        by: Classes of the taxonomy, or dispositions as they were written.

    Returns:
        One row per period and outcome: `start` (UTC day), `outcome`, `numerator`, `denominator`,
        `rate`, `low`, `high`. Table `pareto` has the outcomes over the whole time: `outcome`,
        `calls`, `share`, `cumulative`; in the order of frequency.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or `by` or `period` is.
    """
    attempts = count_attempts(calls, leads, **selection)
    odd = attempts.classes.unmapped[attempts.rows]
    if by == "outcome":
        code = np.where(odd, len(OUTCOMES), attempts.outcome).astype(np.int64)
        names = [*(o.name for o in OUTCOMES), UNMAPPED]
    else:
        code, names = attempts.text("disposition")
        code, names = np.where(odd, len(names), code), [*names, UNMAPPED]
    slot, starts, _ = _cohort_of(attempts.when, np.ones(len(attempts), dtype=bool), period)
    size = len(names)
    total = sums(code, size)
    # Unmapped is a row even where it is 0: who reads it sees that it was looked for.
    kept = [i for i in range(size) if total[i] or names[i] == UNMAPPED]
    cells = np.array([s * size + i for s in range(len(starts)) for i in kept], dtype=int)
    # Of each outcome counts, rates and bounds by period: a row per period and outcome.
    parts = rated_kinds(slot, [code == i for i in range(size)], attempts.cluster, len(starts))
    frame = table(
        {
            "start": [starts[c // size] for c in cells],
            "outcome": [names[c % size] for c in cells],
            **{
                name: np.stack([part[name] for part in parts], axis=1).ravel()[cells]
                for name in parts[0]
            },
        }
    )
    order = sorted(kept, key=lambda i: (-total[i], names[i]))
    shares = total[order] / max(len(attempts), 1)
    pareto = table(
        {
            "outcome": [names[i] for i in order],
            "calls": total[order].astype(int),
            "share": shares.astype(float),
            "cumulative": np.cumsum(shares).astype(float),
        }
    )
    answer = "There are no attempts" if not len(attempts) else (
        f"{pareto['outcome'].iloc[0]} is the most frequent of {plural(len(attempts), 'attempt')} "
        f"({share(pareto['share'].iloc[0])}); {share(float(odd.mean()))} are unmapped"
    )  # fmt: skip
    return result_of(
        attempts, "outcome_mix", answer, frame,
        f"Attempts by {period} of their start (UTC) and {by}", tables={"pareto": pareto},
        parameters={"period": period, "by": by},
    )  # fmt: skip


def _cohort_of(at: Ints, dated: np.ndarray, period: str) -> tuple[Ints, list[str], Ints]:
    """Period of each instant as a place in the list of periods, their first days, and their ends."""
    start = first_days(np.where(dated, at, 0), period)
    names = np.unique(start[dated])
    code = np.searchsorted(names, start)
    following = (
        (names.astype("datetime64[M]") + 1).astype("datetime64[D]") if period == "month"
        else names + (7 if period == "week" else 1)
    )  # fmt: skip
    return code.astype(np.int64), [str(n) for n in names], following.astype(np.int64) * DAY_US
