"""Metrics: each is a row of `metrics.toml`, a definition and the numbers of the same counted attempts as every analysis."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.telephony import LONGEST_RING_S, rejected
from dialframe.analytics.analysis_result import Result, Summary, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import MOST_UNKNOWN, Attempts, count_attempts
from dialframe.analytics.attempt.frames_to_arrays import (
    HOUR_US,
    NEVER,
    NO_TIME,
    Floats,
    Ints,
    Mask,
    earliest,
    micros,
)
from dialframe.analytics.attempt.lead_match import of_campaign
from dialframe.analytics.attempt.taxonomy import DEFAULT, OUTCOMES, Taxonomy
from dialframe.analytics.claims_and_tables import plural, rated_calls, share, table_of_rows
from dialframe.analytics.inference import Z_95, clustered_mean, wilson
from dialframe.errors import ConfigError
from dialframe.instants import When

_SHORT_S: Final = 6.0
_QUICK_S: Final = 300.0
_CONVERSATION_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        name: Name in tables.
        definition: What is divided by what, in words.
        source: Where the definition is from.
        calls: Flags above and below the line, of attempts; empty for other metrics.
        leads: Flag of an attempt, of leads loaded.
        value: A number of attempts or leads, and how it is summed.
        unit: `share`, `seconds`, `attempts`.
        open: A call whose answerer is not known may belong above the line.
    """

    name: str
    definition: str
    source: str
    calls: tuple[str, ...] = ()
    leads: str = ""
    value: tuple[str, ...] = ()
    unit: str = "share"
    open: bool = False


_TABLES: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    resources.files(__package__).joinpath("metrics.toml").read_text(encoding="utf-8")
)
#: Every metric by name.
METRICS: Final[dict[str, Metric]] = {
    name: Metric(
        name, str(row["definition"]), str(row["source"]), tuple(row.get("calls", ())), str(row.get("leads", "")),
        tuple(row.get("value", ())), str(row.get("unit", "share")), bool(row.get("open", False)),
    )
    for name, row in _TABLES["metrics"].items()
}  # fmt: skip
#: What this API cannot give, and why.
NOT_AVAILABLE: Final[dict[str, str]] = _TABLES["not_available"]
#: The rates of `summary`.
HEADLINES: Final = ("connection_rate", "human_contact_rate", "right_party_rate", "right_party_per_human",
                    "machine_share", "machine_share_of_answered")  # fmt: skip
_KINDS: Final = {"metric": str, "unit": str, "value": float, "numerator": int, "denominator": int, "low": float,
                 "high": float, "unknown": int, "why_null": str, "definition": str, "source": str}  # fmt: skip
_WITHOUT_LEADS: Final = "needs the leads frame; pass leads="


@analysis
def metrics(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    names: tuple[str, ...] | None = None,
    by: str | Sequence[str] | None = None,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
    include_no_campaign: bool = False,
) -> Result:
    """Every metric of some calls, with its definition, counts and interval.

    Where more than 5% of a denominator is of unknown outcome a rate is null, and its bounds are those of
    all unknown below and all above the line; below that they widen the interval.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table; without it metrics of leads are null.
        names: Metrics to give, of `METRICS`; by default all.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.
        include_no_campaign: Count calls outside any campaign (click-to-call) too.

    Returns:
        One row per metric: `metric`, `unit`, `value` (null with a reason in `why_null`), `numerator`,
        `denominator`, `low`, `high` (95%, calls of one lead as one cluster), `unknown`, `why_null`,
        `definition`, `source`.

    Raises:
        ConfigError: A column is missing, a metric or the campaign is unknown, or an instant is none.

    Example:
        result = analytics.metrics(calls, leads, names=("contact_rate",))
    """
    for name in names or ():
        if name in NOT_AVAILABLE:
            raise ConfigError(f"metric {name!r} cannot be had: {NOT_AVAILABLE[name]}")
        if name not in METRICS:
            raise ConfigError(f"metric {name!r} is not known; use {', '.join(METRICS)}")
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until,
        include_no_campaign=include_no_campaign,
    )  # fmt: skip
    rows = [measure(attempts, METRICS[name], leads is not None) for name in names or METRICS]
    return result_of(
        attempts, "metrics", f"{plural(len(rows), 'metric')} of {plural(len(attempts), 'attempt')}",
        table_of_rows(_KINDS, rows), "Each metric by its own definition, of the same counted attempts",
        parameters={"campaign": campaign},
    )  # fmt: skip


@analysis
def summary(
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
) -> Summary:
    """Connection, human-contact, right-party and machine rates of outbound calls.

    Attempts are outbound calls of a campaign that are over. Calls to one lead resemble each other:
    they are one cluster of the intervals. Each rate is the metric of its name.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table; without it numbers are the clusters.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        include_no_campaign: Count calls outside any campaign (click-to-call) too.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        A `Summary`; print it, or ask it to `explain()`.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.

    Example:
        >>> from dialframe import frames
        >>> summary(frames.empty(frames.CALLS)).table["denominator"].sum()
        np.int64(0)
    """
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until,
        include_no_campaign=include_no_campaign,
    )  # fmt: skip
    frame = table_of_rows(
        _KINDS, [measure(attempts, METRICS[name], known=True) for name in HEADLINES]
    )
    frame = frame.rename(columns={"value": "rate"})[
        [
            "metric",
            "numerator",
            "denominator",
            "rate",
            "low",
            "high",
            "unknown",
            "why_null",
            "definition",
        ]
    ]
    words = f"Calls as of {attempts.as_of:%Y-%m-%d %H:%M} UTC" if attempts.as_of else "Calls"
    dark = frame["why_null"].dropna()
    warnings = (f"Some rates are null: {dark.iloc[0]}",) if len(dark) else ()
    return Summary(
        "summary", words, frame, "Headline rates of the counted attempts", attempts.balance(),
        attempts.taxonomy, attempts.as_of, {}, {"campaign": attempts.campaign}, (*warnings, *attempts.warnings),
    )  # fmt: skip


def measure(attempts: Attempts, metric: Metric, known: bool) -> tuple[object, ...]:  # noqa: FBT001
    """A row of the table of metrics: one metric of some attempts; `known` says whether leads were given."""
    if metric.calls:
        value, k, n, low, high, unknown, why = _of_calls(attempts, metric)
    elif not known:
        value, k, n, low, high, unknown, why = np.nan, 0, 0, np.nan, np.nan, 0, _WITHOUT_LEADS
    elif metric.leads:
        value, k, n, low, high, unknown, why = _of_leads(attempts, metric.leads)
    else:
        value, k, n, low, high, unknown, why = _of_values(attempts, *metric.value)
    return (metric.name, metric.unit, value, k, n, low, high, unknown, why or None, metric.definition,
            metric.source)  # fmt: skip


_Row = tuple[float, int, int, float, float, int, str]


def _of_calls(attempts: Attempts, metric: Metric) -> _Row:
    above, below = (_mask(attempts, name) for name in metric.calls)
    above &= below
    unknown = 0
    if metric.open:
        # A machine is not told apart from a person where nothing says who answered.
        kind = "human" if metric.calls[0] == "machine" else metric.calls[0]
        odd = np.array([getattr(o, kind) is None for o in OUTCOMES])[attempts.outcome]
        unknown = int((odd & below).sum())
    whole = rated_calls(np.where(below, 0, -1), above, attempts.lead_or_number, 1)
    k, n, rate, low, high = (float(values[0]) for values in whole.values())
    if unknown:
        # Between all unknown below the line and all above it.
        upper = rated_calls(
            np.where(below, 0, -1), above | (odd & below), attempts.lead_or_number, 1
        )
        high = float(upper["high"][0])
    if n and unknown > MOST_UNKNOWN * n:
        why = f"of {unknown:,} of {int(n):,} nothing says whether they belong; it is between {share(k / n)} and {share((k + unknown) / n)}"
        return np.nan, int(k), int(n), low, high, unknown, why
    return rate, int(k), int(n), low, high, unknown, "" if n else "there is nothing to divide by"


def _mask(attempts: Attempts, name: str) -> Mask:
    """Attempts with a flag, of a class, or of a kind that metrics speak of."""
    if name == "":
        return np.ones(len(attempts), dtype=bool)
    answered = attempts.flag("answered")
    if name == "effective":
        return np.asarray(answered | attempts.is_class("busy", "no_answer") | rejected(attempts))
    if name == "in_service":
        return np.asarray(~attempts.is_class("disconnected"))
    if name == "disconnected":
        return attempts.is_class("disconnected")
    if name == "first_conversion":
        hit = attempts.flag("conversion")
        return np.asarray(hit & (attempts.first_attempt(hit) == attempts.attempt))
    if name in ("with_length", "short"):
        known = answered & ~np.isnan(attempts.talk_s)
        return (
            known
            if name == "with_length"
            else known & (np.nan_to_num(attempts.talk_s, nan=np.inf) <= _SHORT_S)
        )
    if name in ("due_disposition", "missing_disposition"):
        due, missing = undisposed(attempts)
        return due if name == "due_disposition" else missing
    return attempts.flag(name).copy()


def undisposed(
    attempts: Attempts, human_length_s: float = _CONVERSATION_S, due_h: float = 1.0
) -> tuple[Mask, Mask]:
    """Conversations whose disposition is due, and those of them without one.

    Args:
        attempts: The attempts.
        human_length_s: Talk from which a call must have been a conversation, seconds.
        due_h: Hours after its end at which a disposition is missing.
    """
    long = attempts.flag("answered") & (np.nan_to_num(attempts.talk_s) >= human_length_s)
    blank = np.asarray(attempts.column("disposition").astype("str").fillna("").str.strip() == "")
    ended = micros(attempts.calls["ended_at"])[attempts.rows]
    age_h = np.where(long, (attempts.as_of_us - np.where(long, ended, 0)) / HOUR_US, 0.0)
    due = long & (age_h > due_h)
    return due, due & blank


def _of_leads(attempts: Attempts, flag: str) -> _Row:
    loaded = of_campaign(attempts.leads, attempts.campaign)
    if flag == "quick":
        waited, early = _first_dial_s(attempts)
        hit, loaded = np.nan_to_num(waited, nan=np.inf) < _QUICK_S, loaded & ~early
    else:
        mask = np.ones(len(attempts), dtype=bool) if flag == "attempted" else attempts.flag(flag)
        hit = attempts.leads_with(mask)
    k, n = int((hit & loaded).sum()), int(loaded.sum())
    low, high = wilson(k, n) or (np.nan, np.nan)
    return (
        (k / n if n else np.nan),
        k,
        n,
        low,
        high,
        0,
        "" if n else "there is nothing to divide by",
    )


def _first_dial_s(attempts: Attempts) -> tuple[Floats, Mask]:
    """Seconds from each lead's arrival to its first attempt, NaN without; and which were dialed before it."""
    first = earliest(attempts.lead, attempts.when, len(attempts.leads))
    if "created_at" not in attempts.leads.columns or not len(attempts.leads):
        return np.full(len(attempts.leads), np.nan), np.zeros(len(attempts.leads), dtype=bool)
    created = micros(attempts.leads["created_at"])
    known = (first != NEVER) & (created != NO_TIME)
    waited = np.where(
        known, (np.where(known, first, 0) - np.where(known, created, 0)) / 1e6, np.nan
    )
    return np.where(waited < 0, np.nan, waited), waited < 0


def _of_values(attempts: Attempts, name: str, how: str) -> _Row:
    loaded = of_campaign(attempts.leads, attempts.campaign)
    cluster: Ints | None = None
    if name == "attempts_of_lead":
        values = np.bincount(attempts.lead[attempts.lead >= 0], minlength=len(loaded))[
            loaded
        ].astype(float)
    elif name == "first_dial_s":
        values = _first_dial_s(attempts)[0][loaded]
    elif name == "first_contact":
        first = attempts.first_ever("human")
        values = first[(attempts.attempt == first) & (attempts.lead >= 0)].astype(float)
    else:
        values, cluster = getattr(attempts, name), attempts.cluster
        if name == "ring_s":
            values = np.where((values < 0) | (values > LONGEST_RING_S), np.nan, values)
        else:
            values = np.where(attempts.flag("answered"), values, np.nan)
    here = ~np.isnan(values)
    values = values[here]
    n = len(values)
    if not n:
        return np.nan, 0, 0, np.nan, np.nan, 0, "there is nothing to divide by"
    if how == "median":
        # Order statistics: the ranks between which the median is with 95% (Conover, 1999).
        half = Z_95 * np.sqrt(n) / 2
        ranks = np.clip([np.floor(n / 2 - half), np.ceil(n / 2 + half)], 0, n - 1).astype(int)
        ordered = np.sort(values)
        return (
            float(np.median(values)),
            n,
            n,
            float(ordered[ranks[0]]),
            float(ordered[ranks[1]]),
            0,
            "",
        )
    of = np.arange(n) if cluster is None else cluster[here]
    mean, low, high = clustered_mean(values, of) or (np.nan, np.nan, np.nan)
    return mean, round(float(values.sum())), n, max(low, 0.0), high, 0, ""
