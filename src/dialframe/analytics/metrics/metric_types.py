"""What a metric is: a row with its words and its function, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Literal, NoReturn, Protocol, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.analysis_result import named
from dialframe.analytics.attempt.argument_checks import Known, Selection, analysis, plain_value
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts
from dialframe.analytics.attempt.frames_to_arrays import Floats, Ints, Mask, within
from dialframe.analytics.attempt.lead_match import no_leads, of_campaign
from dialframe.analytics.attempt.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.claims_and_tables import (
    Claim,
    counted,
    plain,
    rated_calls,
    records,
    table,
)
from dialframe.analytics.inference import clustered_mean, wilson
from dialframe.errors import ConfigError
from dialframe.instants import instant


@dataclass(frozen=True, slots=True)
class Choices:
    """Thresholds that definitions leave open; each result names those it used.

    Attributes:
        attempt_cap: Attempts after which a lead is given up; None where there is no such rule.
        recycle_contacted: Whether leads of status `contacted` are still dialed.
        conversions: Outcome classes that are what the campaign is for.
        pass_number: Which attempt the pass metrics look at.
        short_call_s: Talk up to which an answered call is short, seconds.
        human_length_s: Talk from which an answered call must have been a conversation, seconds.
        disposition_due_h: Hours after which a disposition is missing.
        recent_days: Days that are compared with the time before, for caller IDs.
        min_calls: Attempts below which a caller ID is not judged.
        abandon_days: Days of the abandonment measure.
        callback_early_min: Minutes before its time at which a callback is kept.
        callback_late_min: Minutes after its time until which it is kept.
        quick_min: Minutes within which a first dial is quick.
    """

    attempt_cap: int | None = None
    recycle_contacted: bool = False
    conversions: tuple[str, ...] = ("conversion",)
    pass_number: int = 1
    short_call_s: float = 6.0
    human_length_s: float = 30.0
    disposition_due_h: float = 1.0
    recent_days: float = 7.0
    min_calls: int = 200
    abandon_days: float = 30.0
    callback_early_min: float = 15.0
    callback_late_min: float = 60.0
    quick_min: float = 5.0

    def __post_init__(self) -> None:
        """Refuse in words what is no such threshold."""
        for each in fields(self):
            plain_value(each.name, getattr(self, each.name), str(each.type))


class Covered(Protocol):
    """How far Do-Not-Call checks reach, as an audit says it."""

    @property
    def summary(self) -> pd.DataFrame:
        """Numbers by the age of their newest check: `population`, `numbers`, `fresh` and the rest."""


class Audited(Protocol):
    """What metrics of the law read in an audit."""

    @property
    def checks(self) -> pd.DataFrame:
        """Counts of each check: `check`, `checked`, `pass`, `violation` and the other grades."""

    @property
    def coverage(self) -> Covered:
        """How far Do-Not-Call checks reach."""

    @property
    def as_of(self) -> datetime:
        """The moment of the audit, UTC."""


#: What `Attempts` works out once from calls and leads alone, whatever the codes mean.
_BY_CALL: Final = (
    "lead", "when", "ring_s", "talk_s", "cluster", "order", "opens", "attempt", "gap_h", "clock",
)  # fmt: skip


class MetricInputs(Selection, total=False):
    """What may be passed to a metric beside calls and leads."""

    imports: pd.DataFrame | None
    appointments: pd.DataFrame | None
    callbacks: pd.DataFrame | None
    audit: Audited | None
    report: pd.DataFrame | None
    events: pd.DataFrame | None
    include_no_campaign: bool


@dataclass(frozen=True, eq=False)
class Inputs:
    """Everything that a metric may look at; frames that were not passed are None."""

    calls: pd.DataFrame
    leads: pd.DataFrame | None
    imports: pd.DataFrame | None = None
    appointments: pd.DataFrame | None = None
    callbacks: pd.DataFrame | None = None
    audit: Audited | None = None
    report: pd.DataFrame | None = None
    events: pd.DataFrame | None = None
    taxonomy: Taxonomy = DEFAULT
    as_of: datetime | None = None
    campaign: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    include_no_campaign: bool = False
    choices: Choices = field(default_factory=Choices)

    def __post_init__(self) -> None:
        """Frames whose rows are dated are cut to the window; calls are set aside where they are counted."""
        # Said here, or the first metric would fail on an attribute that nobody named.
        if not isinstance(self.choices, Choices):
            raise ConfigError(
                f"choices is {type(self.choices).__name__}; pass metrics.Choices(...)"
            )
        if self.audit is not None and not hasattr(self.audit, "coverage"):
            raise ConfigError(
                f"audit is {type(self.audit).__name__}; pass what dialframe.audit(account) gave"
            )
        # By the day on which they are due, not on which they were made: a window asks what was to happen in it.
        for name, column in DATED.items():
            frame = getattr(self, name)
            if frame is not None and column in frame.columns:
                inside = within(frame[column], self.since, self.until)
                if not inside.all():
                    object.__setattr__(self, name, frame[inside])

    @classmethod
    def of(
        cls, calls: pd.DataFrame, leads: pd.DataFrame | None, choices: Choices, given: Known
    ) -> Inputs:
        """What was passed to a metric, with its moments as instants."""
        # Text, dates and instants of any zone are one kind of time from here on.
        arguments: dict[str, Any] = {**given}
        arguments |= {
            name: instant(name, arguments.get(name)) for name in ("as_of", "since", "until")
        }
        return cls(calls, leads, choices=choices, **arguments)

    @cached_property
    def attempts(self) -> Attempts:
        """The counted attempts."""
        return count_attempts(
            self.calls, self.leads, taxonomy=self.taxonomy, as_of=self.as_of, campaign=self.campaign,
            since=self.since, until=self.until, include_no_campaign=self.include_no_campaign,
            events=self.events,
        )  # fmt: skip

    def under(self, taxonomy: Taxonomy) -> Inputs:
        """The same under another taxonomy; what does not depend on one is not worked out again."""
        changed = replace(self, taxonomy=taxonomy)
        # Leads, times and their order do not depend on what codes mean.
        first, second = self.attempts, changed.attempts
        if np.array_equal(first.rows, second.rows):
            second.arrays.update({k: v for k, v in first.arrays.items() if k in _BY_CALL})
        return changed

    @cached_property
    def loaded(self) -> Mask:
        """Which leads are looked at: those of the campaign."""
        people = no_leads() if self.leads is None else self.leads
        return of_campaign(people, self.campaign)

    def leads_with(self, hit: Mask) -> Mask:
        """The loaded leads that a counted attempt of `hit` belongs to."""
        return self.attempts.leads_with(hit) & self.loaded


#: Frames beside calls and leads that are cut to the window, and the column that dates their rows.
DATED: Final = {
    "callbacks": "scheduled_at", "appointments": "scheduled_at", "imports": "created_at",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measure:
    """What a metric's function hands back: counts, interval, and what it left out.

    `audited_at` is the moment of the audit that counted, where no call was counted here.
    """

    value: float | None
    numerator: float | None
    denominator: float | None
    low: float | None = None
    high: float | None = None
    interval: str = "none"
    excluded: Mapping[str, int] = field(default_factory=dict)
    detail: pd.DataFrame | None = None
    used: tuple[str, ...] = ()
    why_null: str = ""
    rows: Rows | None = None
    audited_at: datetime | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What a metric is the sum of, row by row, so that it can be had of any part of the rows.

    Attributes:
        unit: `call` (a row per attempt), `lead` (a row per lead), or `other` (rows of another frame).
        above: What each row adds to the numerator.
        base: Which rows are in the denominator.
        statistic: `share`, `mean` (of the weights, where there are any) or `median` of the rows of
            the base; `distinct`, the share of keys with a row above; `worst`, the key with the
            least above of its weight; `formula` of the sums.
        key: What is counted once: a number, a caller ID.
        weight: What each row adds to the denominator, one without.
        least: Rows that a key must have to be the worst.
        parts: What `formula` is given the sums of.
        formula: Value, numerator and denominator of the sums of the parts.
        frame: Of `other` rows, columns that are dimensions.
        lead: Of `other` rows, the row of their lead, or -1.
        at: Of `other` rows, their instants, microseconds UTC.
    """

    unit: Literal["call", "lead", "other"]
    above: Floats | Ints | Mask
    base: Mask
    statistic: Literal["share", "mean", "median", "distinct", "worst", "formula"] = "share"
    key: Ints | None = None
    weight: Floats | None = None
    least: int = 1
    parts: tuple[Floats | Mask, ...] = ()
    formula: Callable[..., tuple[Floats, Floats, Floats]] | None = None
    frame: pd.DataFrame | None = None
    lead: Ints | None = None
    at: Ints | None = None


def from_rows(
    inputs: Inputs,
    rows: Rows,
    excluded: Mapping[str, int] | None = None,
    *,
    alone: bool = False,
    detail: pd.DataFrame | None = None,
    used: tuple[str, ...] = (),
) -> Measure:
    """The metric that is the sum of some rows, all of them as one cell.

    Args:
        inputs: Frames and choices.
        rows: What is summed.
        excluded: What was left out.
        alone: Rows of calls are independent of each other, and in no cluster of their lead.
        detail: Further numbers.
        used: Names of the choices that it depends on.
    """
    # One cell that holds all rows: parts of them are summed by `cells_of` in the same way.
    above: npt.NDArray[Any] = rows.above[rows.base]
    of_calls = rows.unit == "call" and not alone
    if rows.statistic == "distinct" and rows.key is not None:
        # A number is a trial once, however many calls or leads it has.
        key, of_calls = rows.key[rows.base], False
        above = (np.bincount(key, above) > 0)[np.bincount(key) > 0]
    n = len(above)
    cluster = inputs.attempts.cluster[rows.base] if of_calls else np.arange(n)
    given: dict[str, Any] = {
        "excluded": excluded or {},
        "detail": detail,
        "used": used,
        "rows": rows,
    }
    # A median has no interval that lead clusters would widen in closed form.
    if rows.statistic == "median":
        return Measure(float(np.median(above)) if n else None, None, n, **given)
    if rows.statistic == "formula" and rows.formula is not None:
        sums = rows.formula(*(np.array([float(part.sum())]) for part in rows.parts))
        value, k, whole = (float(part[0]) for part in sums)
        return Measure(None if np.isnan(value) else value, k, whole, **given)
    if rows.statistic == "mean":
        # Linearized over clusters, since attempts on one lead resemble each other.
        mean, *ends = clustered_mean(above, cluster) or (None, np.nan, np.nan)
        low, high = (None if np.isnan(end) else end for end in ends)
        return Measure(mean, above.sum().item(), n, low, high, "mean over leads", **given)
    hits = int(above.sum())
    share = hits / n if n else None
    if of_calls:
        rated = rated_calls(np.zeros(n, dtype=np.int64), above, cluster, 1)
        low, high = (float(rated[name][0]) if n else None for name in ("low", "high"))
        return Measure(share, hits, n, low, high, "lead-clustered", **given)
    # Rows of leads or numbers are one trial each: Wilson's interval as it stands.
    low, high = wilson(hits, n) or (None, None)
    return Measure(share, hits, n, low, high, "wilson", **given)


Unit = Literal["share", "per lead", "seconds", "attempts", "ratio", "difference"]
Needed = Literal["leads", "imports", "appointments", "callbacks", "audit", "report"]


_CHOICES: Final = Choices()
#: What is known of the value of a metric.
_NUMBERS: Final = ("value", "numerator", "denominator", "low", "high")


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
        interval: `wilson`, `lead-clustered`, `mean over leads`, `stratified`, `simultaneous` (for
            all caller IDs together), or `none`, as for the counts of an audit, which is a census.
        excluded: Counts by reason; `unmapped` is always there where calls were counted, and an
            audit's counts have the audit's reasons alone.
        parameters: The thresholds that were used.
        taxonomy: What classed the calls.
        as_of: The latest instant in the data, UTC, or the moment of the audit.
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
    parameters: Mapping[str, object]
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

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Further numbers as table `detail`, where there are any."""
        return {} if self.detail is None else {"detail": self.detail}

    @property
    def answer(self) -> str:
        """The metric in a sentence."""
        if self.value is None:
            return f"{self.name}: none ({self.why_null or 'nothing to divide by'})"
        # A median has no numerator: the sentence then names the value alone.
        counts = "" if self.numerator is None or self.denominator is None else (
            f" ({self.numerator:,.6g} of {self.denominator:,.6g})"
        )  # fmt: skip
        sure = "" if self.low is None else f", 95 % {self.low:.4g} to {self.high:.4g}"
        return f"{self.name}: {self.value:.4g} {self.definition.unit}{counts}{sure}"

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The sentence as a value: a plain count."""
        return counted(self.name, self.answer)

    def plot(self, ax: Any = None) -> NoReturn:
        """One number has no picture.

        Args:
            ax: Axes of matplotlib, as other results take them.

        Raises:
            ConfigError: Always.
        """
        del ax
        raise ConfigError(f"{self.name} is one number, which has no picture; draw its .table")

    def to_dict(self) -> dict[str, Any]:
        """The metric in plain values; the keys do not depend on the data."""
        return {
            "name": self.name,
            "answer": self.answer,
            "metric": self.definition.number,
            "unit": self.definition.unit,
            **{name: getattr(self, name) for name in (*_NUMBERS, "interval")},
            "excluded": dict(self.excluded),
            "definition": self.definition.words,
            "parameters": {name: plain(value) for name, value in self.parameters.items()},
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
            self.answer,
            f"Numerator: {words['numerator']}. Denominator: {words['denominator']}.",
            f"Exclusions: {words['exclusions']}. Source: {words['source']}.",
            f"Not counted: {', '.join(kept) or 'nothing'}. Taxonomy {self.taxonomy_version}.",
        ]
        return "\n".join([*lines, *self.warnings])

    def __repr__(self) -> str:
        return f"<Metric {self.answer}>"


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
        needs: Frames, or an audit, that it cannot do without, beside calls.
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
        names = ("numerator", "denominator", "exclusions", "source")
        return {name: getattr(self, name) for name in names}

    @analysis
    def __call__(
        self,
        calls: pd.DataFrame,
        leads: pd.DataFrame | None = None,
        *,
        choices: Choices = _CHOICES,
        **given: Unpack[MetricInputs],
    ) -> Metric:
        """The metric of an account.

        Args:
            campaign: This campaign only.
            since: Calls from this instant on, callbacks and appointments that are due from it on,
                records that were imported from it on.
            until: The same before this instant.
            choices: Thresholds.

        Raises:
            ConfigError: A frame or column that it needs is missing, or the campaign is unknown.
        """
        return measured(self, Inputs.of(calls, leads, choices, given))[0]


def measured(definition: Definition, inputs: Inputs) -> tuple[Metric, Rows | None]:
    """A metric of inputs that are gathered once for many, with what it is the sum of, where it is one.

    Raises:
        ConfigError: A frame or column that it needs is missing.
    """
    missing = lacking(definition, inputs)
    if missing == ["audit"]:
        raise ConfigError(f"{definition.name} {without(missing)}")
    if missing:
        raise ConfigError(
            f"{definition.name} needs the {missing[0]} frame; pass {missing[0]}=, as the account "
            "gives it"
        )
    counted, undated = inputs.attempts, [
        name for name in definition.needs
        if name in DATED and DATED[name] not in getattr(inputs, name).columns
    ] if inputs.since is not None or inputs.until is not None else []  # fmt: skip
    # Rows of another frame that have no date cannot be cut to the window.
    measure = definition.measure(inputs) if not undated else Measure(
        None, None, None,
        why_null=f"the {undated[0]} frame has no column {DATED[undated[0]]!r}, so nobody knows which "
        "rows are in the window: add it, or leave out since and until",
    )  # fmt: skip
    # Always there, so that 0 says that it was looked for.
    unmapped = {"unmapped": counted.notes()["unmapped", "calls"]}
    aside = {} if measure.audited_at else {**counted.scope.set_aside, **unmapped}
    value = Metric(
        definition, measure.value, measure.numerator, measure.denominator, measure.low, measure.high,
        measure.interval, {**aside, **measure.excluded},
        {name: getattr(inputs.choices, name) for name in measure.used}, inputs.taxonomy,
        measure.audited_at or counted.as_of, measure.detail, measure.why_null, counted.warnings,
    )  # fmt: skip
    return value, measure.rows


def lacking(definition: Definition, inputs: Inputs) -> list[str]:
    """Frames, or the audit, that a metric needs and that were not passed."""
    return [name for name in definition.needs if getattr(inputs, name) is None]


def without(missing: list[str]) -> str:
    """What a metric lacks, in words that name what to pass."""
    # An audit is no frame of the account: it is made by a call of its own.
    if missing == ["audit"]:
        return "reads the answer of an audit: pass audit=dialframe.audit(account)"
    frames = " and ".join(missing)
    passed = ", ".join(f"{name}=" for name in missing)
    return f"needs the {frames} of the account: pass {passed}"


def metrics_table(metrics: list[Metric]) -> pd.DataFrame:
    """One row per metric."""

    def numbers(name: str) -> Floats:
        values = [getattr(metric, name) for metric in metrics]
        return np.array([np.nan if v is None else v for v in values], dtype=float)

    return table(
        {
            "metric": [metric.name for metric in metrics],
            "unit": [metric.definition.unit for metric in metrics],
            **{name: numbers(name) for name in _NUMBERS},
            "interval": [metric.interval for metric in metrics],
            "why_null": [metric.why_null for metric in metrics],
            "definition": [
                f"{m.definition.numerator} / {m.definition.denominator}" for m in metrics
            ],
        }
    )
