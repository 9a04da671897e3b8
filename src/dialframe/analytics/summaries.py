"""The headline rates of a set of calls and the mix of their outcomes; knows calls, not leads."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from dialframe.analytics.classification import classes, classify
from dialframe.analytics.counting import balance, latest, scope
from dialframe.analytics.dials import mapping_warnings
from dialframe.analytics.intervals import rates
from dialframe.analytics.results import Summary
from dialframe.analytics.stages import NOTES
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy


class _Metric(NamedTuple):
    """One rate: the flags (columns of `classify`) above and below the line, and the words."""

    name: str
    numerator: str
    denominator: str
    definition: str


METRICS: Final = (
    _Metric(
        "connection_rate",
        "answered",
        "attempt",
        "answered calls (by a person or a machine) of attempts; ASR of ITU-T E.411",
    ),
    _Metric("human_per_dial", "human", "attempt", "calls that a person answered of attempts"),
    _Metric(
        "right_party_per_dial",
        "right_party",
        "attempt",
        "calls on which the person wanted was spoken to of attempts",
    ),
    _Metric(
        "right_party_per_human",
        "right_party",
        "human",
        "calls on which the person wanted was spoken to of calls that a person answered",
    ),
    _Metric(
        "machine_per_dial",
        "machine",
        "attempt",
        "calls that an answering machine or mailbox answered of attempts",
    ),
    _Metric(
        "machine_per_answered",
        "machine",
        "answered",
        "calls that an answering machine or mailbox answered of answered calls",
    ),
)


def summary(
    calls: pd.DataFrame,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    include_no_campaign: bool = False,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Summary:
    """Connection, human-contact, right-party and machine rates of outbound calls.

    Attempts are outbound calls of a campaign that are over. Calls of one lead resemble each other,
    so the intervals, which take calls as independent, are a little too narrow.

    Args:
        calls: Frame of the calls table.
        since: Count calls from this instant on; aware.
        until: Count calls before this instant; aware.
        include_no_campaign: Count calls outside any campaign (click-to-call) too.
        taxonomy: What the codes mean.
        as_of: When the data was read; by default the latest instant in it.

    Returns:
        A `Summary`; print it, or ask it to `explain()`.

    Raises:
        ConfigError: A column is missing, or the window has no time zone.
    """
    found = classes(calls, taxonomy)
    counting = scope(
        calls, found, since=since, until=until, include_no_campaign=include_no_campaign
    )
    counted = classify(calls[counting.counted], taxonomy)
    return Summary(
        table=pd.concat([_head(counted), _tail()], axis=1),
        excluded=balance(counting, _notes(counted), NOTES),
        taxonomy_version=taxonomy.version,
        as_of=as_of or latest(calls),
        warnings=mapping_warnings(calls, taxonomy, int(found.unmapped.sum())),
    )


def dispositions(
    calls: pd.DataFrame,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    include_no_campaign: bool = False,
    taxonomy: Taxonomy = DEFAULT,
) -> pd.DataFrame:
    """The mix of outcomes: how often each disposition was logged and what it was taken for.

    Args:
        calls: Frame of the calls table.
        since: Count calls from this instant on; aware.
        until: Count calls before this instant; aware.
        include_no_campaign: Count calls outside any campaign (click-to-call) too.
        taxonomy: What the codes mean.

    Returns:
        One row per disposition (as it was written, null where none was logged) and outcome class,
        most frequent first: `disposition`, `outcome`, `calls`, `denominator` (attempts), `share`,
        `low`, `high` (Wilson 95 %), `conflict` and `unmapped` (calls of the row that are one).
        The calls sum to the attempts. `.attrs` has `taxonomy_version` and `set_aside`, the calls
        left out by reason.

    Raises:
        ConfigError: A column is missing, or the window has no time zone.
    """
    found = classes(calls, taxonomy)
    counting = scope(
        calls, found, since=since, until=until, include_no_campaign=include_no_campaign
    )
    counted = classify(calls[counting.counted], taxonomy)[["outcome", "conflict", "unmapped"]]
    counted = counted.assign(disposition=calls["disposition"][counting.counted], calls=True)
    groups = counted.groupby(["disposition", "outcome"], dropna=False, sort=True)
    mix = groups[["calls", "conflict", "unmapped"]].sum().astype("Int64").reset_index()
    mix = mix.sort_values("calls", ascending=False, kind="stable", ignore_index=True)
    mix["denominator"] = pd.array([int(counting.counted.sum())] * len(mix), dtype="Int64")
    mix[["share", "low", "high"]] = rates(
        mix["calls"].to_numpy(dtype=np.int64), mix["denominator"].to_numpy(dtype=np.int64)
    )
    mix = mix.astype({"disposition": "str", "outcome": "str"})
    mix.attrs |= {"taxonomy_version": taxonomy.version, "set_aside": counting.set_aside}
    return mix[
        [
            "disposition",
            "outcome",
            "calls",
            "denominator",
            "share",
            "low",
            "high",
            "conflict",
            "unmapped",
        ]
    ]


def _head(counted: pd.DataFrame) -> pd.DataFrame:
    """Counts and rates, one row per metric."""
    rows = [_counts(counted, metric) for metric in METRICS]
    table = pd.DataFrame(rows, columns=["numerator", "denominator", "unknown"], dtype="Int64")
    table.insert(0, "metric", pd.array([metric.name for metric in METRICS], dtype="str"))
    table[["rate", "low", "high"]] = rates([row[0] for row in rows], [row[1] for row in rows])
    return table[["metric", "numerator", "denominator", "rate", "low", "high", "unknown"]]


def _tail() -> pd.DataFrame:
    return pd.DataFrame(
        {"definition": pd.array([metric.definition for metric in METRICS], dtype="str")}
    )


def _counts(counted: pd.DataFrame, metric: _Metric) -> tuple[int, int, int]:
    below = counted[metric.denominator].to_numpy(dtype=bool, na_value=False)
    above = counted[metric.numerator]
    # A machine is not told apart from a person where nothing says who answered.
    open_ = counted["human"] if metric.numerator == "machine" else above
    unknown = np.asarray(open_.isna(), dtype=bool) & below
    return (
        int((above.to_numpy(dtype=bool, na_value=False) & below).sum()),
        int(below.sum()),
        int(unknown.sum()),
    )


def _notes(counted: pd.DataFrame) -> dict[tuple[str, str], int]:
    unmapped = counted["unmapped"].to_numpy(dtype=bool)
    unknown = np.asarray(counted["human"].isna(), dtype=bool) & ~unmapped
    return {
        ("unmapped", "calls"): int(unmapped.sum()),
        ("answered_by_unknown", "calls"): int(unknown.sum()),
        ("conflict", "calls"): int(counted["conflict"].sum()),
    }
