"""The mix of outcomes, and how far cohorts of leads have come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import count_attempts
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
    DEFAULT,
    GOAL_WORDS,
    GOALS,
    OUTCOMES,
    Taxonomy,
)
from dialframe.analytics.claims_and_tables import (
    plural,
    rated,
    rated_kinds,
    share,
    sums,
    table,
)
from dialframe.errors import ConfigError
from dialframe.instants import When


@analysis
def dispositions(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    by: str | Sequence[str] | None = None,
    include_no_campaign: bool = False,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """The mix of outcomes: how often each disposition was logged and what it was taken for.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table; not needed.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        include_no_campaign: Count calls outside any campaign (click-to-call) too.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row per disposition (as it was written, null where none was logged) and outcome class,
        most frequent first: `disposition`, `outcome`, `calls`, `denominator` (attempts), `share`,
        `low`, `high` (95%, calls of one lead as one cluster), `conflict` and `unmapped` (calls of
        the row that are one). The calls sum to the attempts.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.
    """
    attempts = count_attempts(
        calls,
        leads,
        taxonomy=taxonomy,
        as_of=as_of,
        campaign=campaign,
        since=since,
        until=until,
        include_no_campaign=include_no_campaign,
    )
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


@analysis
def cohorts(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    goal: str = "human",
    period: Literal["day", "week", "month"] = "week",
    ages: int = 12,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
) -> Result:
    """How far leads imported together have come, by the periods that have passed since.

    A cell is mature when the whole cohort has had all of its time; the cells of young cohorts are
    masked, because they can only look worse than they are.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        goal: Of `GOALS`.
        period: Length of a cohort and of a step of age; months are 30 days of age.
        ages: How many steps of age.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Leads and calls of this campaign only.

    Returns:
        One row per cohort and age: `cohort` (its first UTC day), `age` (periods since import, from
        1), `denominator` (leads), `numerator` (reached by then), `rate`, `low`, `high`, `mature`.
        Where not mature, numerator and rates are null; so are the rates of a cohort without attempts.

    Raises:
        ConfigError: A column is missing, or campaign, goal or period is unknown.
    """
    if goal not in GOALS:
        raise ConfigError(f"goal {goal!r} is not known; use {', '.join(GOALS)}")
    lengths = {"day": 1, "week": 7, "month": 30}
    require(leads, ("created_at", "campaign_id"), "leads")
    attempts = count_attempts(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
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
    if goal != "attempted":
        # Of a cohort that was never tried nobody knows who would have been reached.
        untried = (
            sums(code, size, dated & attempts.leads_with(np.ones(len(attempts), dtype=bool))) == 0
        )
        frame.loc[np.repeat(untried, ages), ["rate", "low", "high"]] = pd.NA
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
        parameters={"goal": goal, "period": period, "ages": ages}, of_people=goal not in ("attempted", "connected"),
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
