"""What a metric is: a row with its words and its function, and what it gives; knows no single metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from dialframe.analytics.columns import Floats
from dialframe.analytics.metrics.inputs import Choices, Inputs
from dialframe.analytics.metrics.measures import Measure
from dialframe.analytics.result import named
from dialframe.analytics.tabled import table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.values import plain, records
from dialframe.errors import ConfigError

Unit = Literal["share", "per lead", "per number", "seconds", "attempts", "ratio", "difference"]
Needed = Literal["leads", "imports", "appointments", "callbacks", "dnc_checks", "report"]


_CHOICES: Final = Choices()


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """One metric of one account, with its definition.

    Attributes:
        definition: The row of the table of metrics.
        value: The number, in the definition's unit; None where there is nothing to divide by.
        numerator: What is above the line.
        denominator: What is below.
        low: Lower bound of the 95 % interval.
        high: Upper bound.
        interval: `wilson`, `lead-clustered`, `mean over leads`, `mean over numbers`,
            `stratified`, `simultaneous` (for all caller IDs together), or `none`.
        excluded: Counts by reason; `unmapped` is always there.
        choices: The thresholds that were used.
        taxonomy: What classed the calls.
        as_of: The latest instant in the data, UTC.
        detail: Further numbers, or None.
        why_null: Why there is no value, or empty.
        warnings: What must be known first.
    """

    definition: Definition
    value: float | None
    numerator: float | None
    denominator: float | None
    low: float | None
    high: float | None
    interval: str
    excluded: Mapping[str, int]
    choices: Mapping[str, object]
    taxonomy: Taxonomy
    as_of: datetime | None
    detail: pd.DataFrame | None = None
    why_null: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the metric."""
        return self.definition.name

    @property
    def taxonomy_version(self) -> str:
        """Edition and hash of the taxonomy."""
        return self.taxonomy.version

    @property
    def table(self) -> pd.DataFrame:
        """The metric as a frame of one row."""
        return metrics_table([self])

    def to_dict(self) -> dict[str, Any]:
        """The metric in plain values; the keys do not depend on the data."""
        return {
            "name": self.name,
            "metric": self.definition.number,
            "unit": self.definition.unit,
            "value": self.value,
            "numerator": self.numerator,
            "denominator": self.denominator,
            "low": self.low,
            "high": self.high,
            "interval": self.interval,
            "excluded": dict(self.excluded),
            "definition": self.definition.words,
            "choices": {name: plain(value) for name, value in self.choices.items()},
            "taxonomy": named(self.taxonomy),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "detail": [] if self.detail is None else records(self.detail),
            "why_null": self.why_null,
            "warnings": list(self.warnings),
        }

    def explain(self) -> str:
        """The metric in words: value, definition, source, exclusions."""
        kept = [f"{reason}: {count:,}" for reason, count in self.excluded.items() if count]
        words = self.definition.words
        lines = [
            repr(self)[8:-1],
            f"Numerator: {words['numerator']}. Denominator: {words['denominator']}.",
            f"Exclusions: {words['exclusions']}. Source: {words['source']}.",
            f"Not counted: {', '.join(kept) or 'nothing'}. Taxonomy {self.taxonomy_version}.",
        ]
        return "\n".join([*lines, *self.warnings])

    def __repr__(self) -> str:
        if self.value is None:
            return f"<Metric {self.name}: none ({self.why_null or 'nothing to divide by'})>"
        of = "" if self.numerator is None or self.denominator is None else (
            f" ({self.numerator:,.6g} of {self.denominator:,.6g})"
        )  # fmt: skip
        sure = "" if self.low is None else f", 95 % {self.low:.4g} to {self.high:.4g}"
        return f"<Metric {self.name}: {self.value:.4g} {self.definition.unit}{of}{sure}>"


@dataclass(frozen=True, slots=True)
class Definition:
    """One metric: a row of words, and a function of an account's frames when it is called.

    Attributes:
        number: Its number in the list of metrics; variants share one.
        name: Name, which is also its attribute of `dialframe.analytics.metrics`.
        unit: What the value is.
        numerator: What is above the line.
        denominator: What is below.
        exclusions: What is left out, and why.
        source: Where the definition is from.
        measure: The function.
        needs: Frames that it cannot do without, beside calls.
    """

    number: int
    name: str
    unit: Unit
    numerator: str
    denominator: str
    exclusions: str
    source: str
    measure: Callable[[Inputs], Measure] = field(repr=False)
    needs: tuple[Needed, ...] = ()

    @property
    def words(self) -> dict[str, str]:
        """Numerator, denominator, exclusions and source."""
        return {
            "numerator": self.numerator,
            "denominator": self.denominator,
            "exclusions": self.exclusions,
            "source": self.source,
        }

    def __call__(
        self,
        calls: pd.DataFrame,
        leads: pd.DataFrame | None = None,
        *,
        imports: pd.DataFrame | None = None,
        appointments: pd.DataFrame | None = None,
        callbacks: pd.DataFrame | None = None,
        dnc_checks: pd.DataFrame | None = None,
        report: pd.DataFrame | None = None,
        events: pd.DataFrame | None = None,
        taxonomy: Taxonomy = DEFAULT,
        as_of: datetime | None = None,
        campaign: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_no_campaign: bool = False,
        choices: Choices = _CHOICES,
    ) -> Metric:
        """The metric of an account.

        Args:
            calls: Frame of the calls table.
            leads: Frame of the leads table.
            imports: The import ledger.
            appointments: Frame of the appointments table.
            callbacks: Frame of the callbacks table.
            dnc_checks: Our ledger of Do-Not-Call checks.
            report: The service's disposition report.
            events: Frame of the events table, for ids.
            taxonomy: What the codes mean.
            as_of: When the data was read; by default the latest instant in it.
            campaign: This campaign only.
            since: Calls from this instant on; aware.
            until: Calls before this instant; aware.
            include_no_campaign: Count calls outside any campaign too.
            choices: Thresholds.

        Raises:
            ConfigError: A frame or column that it needs is missing, or the campaign is unknown.
        """
        inputs = Inputs(
            calls, leads, imports, appointments, callbacks, dnc_checks, report, events,
            taxonomy, as_of, campaign, since, until, include_no_campaign, choices,
        )  # fmt: skip
        return measured(self, inputs)


def measured(definition: Definition, inputs: Inputs) -> Metric:
    """A metric of inputs that are gathered once for many.

    Raises:
        ConfigError: A frame or column that it needs is missing.
    """
    missing = lacking(definition, inputs)
    if missing:
        raise ConfigError(
            f"{definition.name} needs the {missing[0]} frame; pass {missing[0]}=, as the account "
            "gives it"
        )
    found, counted = definition.measure(inputs), inputs.dials
    return Metric(
        definition,
        found.value,
        found.numerator,
        found.denominator,
        found.low,
        found.high,
        found.interval,
        {**counted.scope.set_aside, "unmapped": counted.notes()["unmapped", "calls"],
         **found.excluded},
        {name: getattr(inputs.choices, name) for name in found.used},
        inputs.taxonomy,
        counted.as_of,
        found.detail,
        found.why_null,
        counted.warnings,
    )  # fmt: skip


def lacking(definition: Definition, inputs: Inputs) -> list[str]:
    """Frames that a metric needs and that were not passed."""
    return [name for name in definition.needs if getattr(inputs, name) is None]


def metrics_table(found: list[Metric]) -> pd.DataFrame:
    """One row per metric."""

    def numbers(name: str) -> Floats:
        values = [getattr(metric, name) for metric in found]
        return np.array([np.nan if v is None else v for v in values], dtype=float)

    return table(
        {
            "metric": [metric.name for metric in found],
            "unit": [metric.definition.unit for metric in found],
            **{
                name: numbers(name)
                for name in ("value", "numerator", "denominator", "low", "high")
            },
            "interval": [metric.interval for metric in found],
            "why_null": [metric.why_null for metric in found],
            "definition": [
                f"{m.definition.numerator} / {m.definition.denominator}" for m in found
            ],
        }
    )
