"""Metrics by name: each a row of words and a function; `compute` gives several at once.

`metrics.contact_rate(calls, leads)` gives one; `metrics.contact_rate.words` says how it is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Unpack

import pandas as pd

from dialframe.analytics.analysis_result import Result
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.claims_and_tables import plural, table
from dialframe.analytics.inference import wilson
from dialframe.analytics.metrics.metric_definitions import METRICS, NOT_AVAILABLE
from dialframe.analytics.metrics.metric_types import (
    Audited,
    Choices,
    Definition,
    Inputs,
    Measure,
    Metric,
    MetricInputs,
    lacking,
    measured,
    metrics_table,
    without,
)
from dialframe.analytics.metrics.metrics_by_dimension import Cut, Period, cells_of, cut, rows_in
from dialframe.errors import ConfigError

#: Every metric by name.
BY_NAME: Final[dict[str, Definition]] = {row.name: row for row in METRICS}
#: Names of earlier versions, still understood.
RENAMED: Final = {"dnc_honour": "dnc_honor"}

_CHOICES: Final = Choices()


@dataclass(frozen=True, eq=False, repr=False)
class Metrics(Result):
    """Several metrics of one account; `table` has one row per metric.

    Attributes:
        metrics: Each one, in the order of the table of metrics.
        not_computed: Names that were left out, with what they lack.
        cut: The cells of attempts and leads, where they were cut.
        inputs: What they were made of, where they were cut.
    """

    metrics: tuple[Metric, ...] = ()
    not_computed: Mapping[str, str] = field(default_factory=dict)
    cut: Cut | None = None
    inputs: Inputs | None = None

    @property
    def cells(self) -> pd.DataFrame | None:
        """Table `cells`, of metrics that were cut; None where they were not, or no cell has rows.

        A row per metric and cell, with the dimensions, `start` of the period, `value`, `numerator`,
        `denominator`, `low`, `high`, and for shares over time the control limits of each series:
        `center`, `limit_low`, `limit_high`, `signal`.
        """
        return self.tables.get("cells")

    def calls(self, name: str, **cell: str) -> pd.DataFrame:
        """The calls that a cell of a metric counts: its rows of the calls frame.

        Args:
            name: Name of the metric, one of calls.
            cell: Level by dimension, and `start` for the period: `campaign_id="cmp_1"`.

        Raises:
            ConfigError: The metrics were not cut, or the metric or the cell is unknown.
        """
        if self.cut is None or self.inputs is None:
            raise ConfigError("these metrics were not cut; pass by= or period= to compute")
        # Measured once more: the rows of every metric would be as many arrays as long as the calls.
        rows = metric(name).measure(self.inputs).rows
        # Metrics of leads or promises have no row for each call.
        if rows is None or rows.unit != "call":
            raise ConfigError(f"{name} is not counted in calls")
        attempts = self.inputs.attempts
        return attempts.calls.iloc[attempts.rows[rows.base & rows_in(self.cut, "call", cell)]]

    def __getitem__(self, name: str) -> Metric:
        """One of them by name."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise ConfigError(f"metric {name!r} is not among those that were computed")

    def to_dict(self) -> dict[str, Any]:
        """All of them in plain values."""
        return {
            **super().to_dict(),
            "metrics": {metric.name: metric.to_dict() for metric in self.metrics},
            "not_computed": dict(self.not_computed),
        }

    def explain(self) -> str:
        """The metrics in words, one line each, with what those that were left out lack."""
        values = [metric.answer for metric in self.metrics]
        left_out = [f"{name} {why}" for name, why in self.not_computed.items()]
        return "\n".join([super().explain(), *values, *left_out])

    def __repr__(self) -> str:
        return f"<Metrics: {self.answer}>"


@analysis
def compute(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    names: str | Iterable[str] | None = None,
    by: Sequence[str] = (),
    period: Period | None = None,
    choices: Choices = _CHOICES,
    **frames: Unpack[MetricInputs],
) -> Metrics:
    """Metrics of an account, all of them from the same counted calls.

    Args:
        names: Which metrics; by default all whose frames are there, of these the ones that can be cut
            where they are.
        by: Cut by these too: columns of calls or leads, custom fields, `region`.
        period: Cut by `day`, `week` or `month` too: of the call, of the lead's arrival.
        campaign: This campaign only.
        since: Calls from this instant on, callbacks and appointments that are due from it on, records
            that were imported from it on.
        until: The same before this instant.
        choices: Thresholds.

    Returns:
        The metrics, one row each: `metric`, `unit`, `value`, `numerator`, `denominator`, `low`, `high`,
        `interval`, `why_null`, `definition`. Table `cells` where they were cut.

    Raises:
        ConfigError: A name is unknown or cannot be had from this API, a frame or column that a
            named metric needs is missing, or the campaign is unknown.
    """
    if isinstance(by, str):
        raise ConfigError(f"by is a list of names; use by=[{by!r}]")
    given: Any = by
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise ConfigError(f"by={by!r} is no list of names; use by=['campaign_id'], for instance")
    inputs = Inputs.of(calls, leads, choices, frames)
    if names is not None and not isinstance(names, Iterable):
        raise ConfigError(f"names={names!r} is no list of metrics")
    wanted = None if names is None else [
        metric(name) for name in ([names] if isinstance(names, str) else names)
    ]  # fmt: skip
    return computed(inputs, wanted, cut(inputs, by, period) if by or period is not None else None)


def computed(
    inputs: Inputs, wanted: Sequence[Definition] | None = None, where: Cut | None = None
) -> Metrics:
    """Metrics of inputs, with their cells where they are cut; what cannot be had is left out and says so.

    Args:
        inputs: Frames and choices.
        wanted: Which metrics; by default all.
        where: The cells, or None for the whole alone.

    Raises:
        ConfigError: A metric that was asked for by name, and not by cell, lacks a frame.
    """
    made: list[Metric] = []
    parts, left_out = [], {}
    for row in METRICS if wanted is None else wanted:
        missing = lacking(row, inputs)
        if missing and (wanted is None or where is not None):
            left_out[row.name] = without(missing)
            continue
        value, rows = measured(row, inputs)
        if where is not None:
            if rows is None:
                left_out[row.name] = (
                    value.why_null
                    or "is one count of the whole audit, which does not say which call "
                    "was judged how: ask for it without by= and period=, or read the audit's findings"
                )
                continue
            cells = cells_of(row.name, rows, where, _design_effect(value))
            # A metric without a row in any cell says so, or it would be missing without a word.
            if not len(cells):
                left_out[row.name] = f"has nothing to divide by here: no {row.denominator}"
                continue
            parts.append(cells)
        made.append(value)
    counted = inputs.attempts
    lacking_data = f"; {len(left_out):,} could not be computed" if left_out else ""
    return Metrics(
        "metrics", f"{plural(len(made), 'metric')} of {plural(len(counted), 'attempt')}{lacking_data}",
        metrics_table(made), "Metrics of the same counted calls, each with its own denominator",
        counted.balance(), inputs.taxonomy, counted.as_of,
        {"cells": pd.concat(parts, ignore_index=True)} if parts else {},
        {"by": () if where is None else where.by, "period": None if where is None else where.period,
         "campaign": inputs.campaign, "since": inputs.since, "until": inputs.until,
         **{name: value for each in made for name, value in each.parameters.items()}},
        counted.warnings, metrics=tuple(made), not_computed=left_out, cut=where,
        inputs=None if where is None else inputs,
    )  # fmt: skip


def _design_effect(value: Metric) -> float:
    """How much wider clusters make the interval of the whole than Wilson's of single rows."""
    if value.definition.unit != "share" or value.low is None or value.high is None:
        return 1.0
    if not value.denominator or value.numerator is None:
        return 1.0
    bounds = wilson(int(value.numerator), int(value.denominator))
    if bounds is None or bounds[1] <= bounds[0]:
        return 1.0
    # The square of how much wider an interval is tells by how many trials fewer it was made.
    return max(1.0, ((value.high - value.low) / (bounds[1] - bounds[0])) ** 2)


def metric(name: str) -> Definition:
    """The definition of a metric by name.

    Raises:
        ConfigError: There is none, or the API cannot give it; the words say why.
    """
    if not isinstance(name, str):
        raise ConfigError(
            f"{name!r} is no name of a metric; use 'human_contact_rate', for instance"
        )
    # British spelling of an earlier version: scripts that have it go on.
    name = RENAMED.get(name, name)
    if name in BY_NAME:
        return BY_NAME[name]
    raise ConfigError(_why_not(name))


def _why_not(name: str) -> str:
    if name in NOT_AVAILABLE:
        return f"{name} cannot be had from this API: {NOT_AVAILABLE[name]}"
    # What cannot be had is looked up too: its reason is the answer to a slip.
    near = get_close_matches(name, [*BY_NAME, *NOT_AVAILABLE], 1)
    hint = f"did you mean {near[0]}?" if near else "metrics.definitions() lists them"
    return f"metric {name!r} is not known; {hint}"


def definitions() -> pd.DataFrame:
    """The table of metrics: `number`, `name`, `unit`, `numerator`, `denominator`, `exclusions`, `source`, `needs`."""
    names = ("number", "name", "unit", "numerator", "denominator", "exclusions", "source")
    frame = table({name: [str(getattr(row, name)) for row in METRICS] for name in names})
    frame["needs"] = pd.array([", ".join(("calls", *row.needs)) for row in METRICS], dtype="str")
    return frame.astype({"number": "Int64"})


def not_available() -> pd.DataFrame:
    """What this API cannot give: `name`, `reason`."""
    return table({"name": list(NOT_AVAILABLE), "reason": list(NOT_AVAILABLE.values())})


import_acceptance: Final = BY_NAME["import_acceptance"]
list_penetration: Final = BY_NAME["list_penetration"]
list_saturation: Final = BY_NAME["list_saturation"]
phone_penetration: Final = BY_NAME["phone_penetration"]
inventory_penetration: Final = BY_NAME["inventory_penetration"]
completed_penetration: Final = BY_NAME["completed_penetration"]
connection_rate: Final = BY_NAME["connection_rate"]
network_effectiveness: Final = BY_NAME["network_effectiveness"]
human_contact_rate: Final = BY_NAME["human_contact_rate"]
human_contact_rate_valid: Final = BY_NAME["human_contact_rate_valid"]
contact_rate: Final = BY_NAME["contact_rate"]
right_party_rate: Final = BY_NAME["right_party_rate"]
right_party_per_lead: Final = BY_NAME["right_party_per_lead"]
right_party_per_human: Final = BY_NAME["right_party_per_human"]
conversion_per_right_party: Final = BY_NAME["conversion_per_right_party"]
conversion_per_contact: Final = BY_NAME["conversion_per_contact"]
conversion_per_lead: Final = BY_NAME["conversion_per_lead"]
conversion_per_dial: Final = BY_NAME["conversion_per_dial"]
pass_contact_rate: Final = BY_NAME["pass_contact_rate"]
pass_hazard: Final = BY_NAME["pass_hazard"]
attempts_to_contact: Final = BY_NAME["attempts_to_contact"]
machine_share: Final = BY_NAME["machine_share"]
machine_share_of_answered: Final = BY_NAME["machine_share_of_answered"]
talk_time: Final = BY_NAME["talk_time"]
duration_meaning: Final = BY_NAME["duration_meaning"]
short_call_share: Final = BY_NAME["short_call_share"]
ring_time: Final = BY_NAME["ring_time"]
bad_number_ratio: Final = BY_NAME["bad_number_ratio"]
bad_number_ratio_numbers: Final = BY_NAME["bad_number_ratio_numbers"]
caller_id_answer_drop: Final = BY_NAME["caller_id_answer_drop"]
caller_ids_alerted: Final = BY_NAME["caller_ids_alerted"]
local_presence_lift: Final = BY_NAME["local_presence_lift"]
dnc_coverage: Final = BY_NAME["dnc_coverage"]
dnc_risk_calls: Final = BY_NAME["dnc_risk_calls"]
dnc_honor: Final = BY_NAME["dnc_honor"]
calling_hours_breach: Final = BY_NAME["calling_hours_breach"]
frequency_breach: Final = BY_NAME["frequency_breach"]
abandon_rate_ftc: Final = BY_NAME["abandon_rate_ftc"]
abandon_rate_ofcom: Final = BY_NAME["abandon_rate_ofcom"]
callback_kept: Final = BY_NAME["callback_kept"]
speed_to_lead: Final = BY_NAME["speed_to_lead"]
quick_first_dial: Final = BY_NAME["quick_first_dial"]
appointment_show: Final = BY_NAME["appointment_show"]
missing_disposition: Final = BY_NAME["missing_disposition"]
report_delta: Final = BY_NAME["report_delta"]


def __getattr__(name: str) -> Definition:
    """Give a metric by its earlier name; refuse what this API cannot give by its reason, else by the nearest name."""
    if name in RENAMED:
        return BY_NAME[RENAMED[name]]
    raise AttributeError(_why_not(name))


__all__ = [  # noqa: PLE0604 - the names of the metrics are texts that no linter sees
    "BY_NAME",
    "METRICS",
    "NOT_AVAILABLE",
    "Audited",
    "Choices",
    "Definition",
    "Measure",
    "Metric",
    "Metrics",
    "compute",
    "definitions",
    "metric",
    "not_available",
    *BY_NAME,
]
