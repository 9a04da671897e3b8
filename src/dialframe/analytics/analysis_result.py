"""What every analysis returns: claims, tables, definition, exclusions, and the same in words."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
import pandas as pd

from dialframe.analytics.attempt.attempt_table import Attempts
from dialframe.analytics.attempt.call_scope import Notes
from dialframe.analytics.attempt.taxonomy import STAGES, Taxonomy
from dialframe.analytics.claims_and_tables import (
    Claim,
    campaign_names,
    count,
    counted,
    html_table,
    interval,
    plain,
    plural,
    records,
    share,
    text_table,
    with_names,
    with_words,
)
from dialframe.errors import ConfigError
from dialframe.headline import Headline

#: What an analysis states: claims, a function that works them out when asked, or a plain count.
Stated = tuple[Claim, ...] | Callable[[], tuple[Claim, ...]] | str

_MOST_ROWS = 40


@dataclass(frozen=True, eq=False)
class Result:
    """What an analysis found.

    Attributes:
        name: Name of the analysis, which its picture bears too.
        stated: What it claims, or how that is worked out.
        table: The numbers; rates with numerator, denominator and interval, null where there is
            nothing to divide by.
        definition: How the numbers are counted.
        excluded: What was counted, set aside and noted: `reason`, `unit`, `count`, `role`,
            `meaning`; rows of role `counted` and `set aside` sum to the calls given, and `unmapped`
            is always a row.
        taxonomy: What classed the calls.
        as_of: The latest instant in the data, or what the caller said; UTC.
        tables: Further tables by name.
        parameters: Thresholds and choices that the numbers depend on.
        warnings: What must be known before the numbers are used, with what to do about it.
        assumptions: What the claims take for granted, and what they cannot say.
    """

    name: str
    stated: Stated = field(repr=False)
    table: pd.DataFrame
    definition: str
    excluded: pd.DataFrame
    taxonomy: Taxonomy
    as_of: datetime | None = None
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    parameters: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Every statement as a value; worked out when it is first asked for."""
        # Claims cost a model fit: who reads the table alone never waits for it.
        if isinstance(self.stated, str):
            return counted(self.name, self.stated)
        return self.stated() if callable(self.stated) else self.stated

    @property
    def answer(self) -> str:
        """The finding in a sentence: the texts of the claims and nothing else."""
        return ". ".join(claim.text for claim in self.claims)

    @property
    def taxonomy_version(self) -> str:
        """Edition and hash of the taxonomy."""
        return self.taxonomy.version

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same with ids as the names that people know, in claims, tables and warnings.

        Args:
            names: Id to name.
        """
        # Nothing to swap, nothing to copy.
        if not names:
            return self
        swap = dict(names)
        return replace(
            self,
            # Still worked out when it is asked for, and then renamed.
            stated=lambda: tuple(claim.renamed(swap) for claim in self.claims),
            table=with_names(self.table, swap),
            tables={key: with_names(table, swap) for key, table in self.tables.items()},
            parameters={k: swap.get(str(v), v) for k, v in self.parameters.items()},
            warnings=tuple(with_words(warning, swap) for warning in self.warnings),
        )

    def named(self, campaigns: pd.DataFrame) -> Self:
        """The same with campaigns by the names that people know.

        Args:
            campaigns: Frame of the campaigns table: `id`, `name`; one without a name keeps its id,
                and those of one name keep the end of it.
        """
        names = campaign_names(campaigns)
        return self.renamed(names) if names else self

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """The picture of this analysis.

        Args:
            ax: Axes of matplotlib to draw on; by default a figure of its own.
            options: Of the function of this name in `dialframe.plots`.

        Returns:
            A `Picture`; with `ax`, of the figure that the axes are of.

        Raises:
            ConfigError: There is no picture of this analysis.
        """
        # Pictures are a floor above and look at results; this is their door.
        plots = importlib.import_module("dialframe.plots")
        # A funnel by groups has a picture of its own; every other analysis has one at most.
        name = "funnel_by" if self.name == "funnel" and self.parameters.get("by") else self.name
        if name not in plots.__all__:
            raise ConfigError(f"{name} has no picture of its own; draw its .table")
        return getattr(plots, name)(self, ax=ax, **options)

    def to_dict(self) -> dict[str, Any]:
        """The result in plain values, ready for JSON; the keys do not depend on the data."""
        # JSON has no NaN and no instants: every cell goes through `plain`.
        return {
            "name": self.name,
            "answer": self.answer,
            "claims": [
                {key: plain(value) for key, value in claim.to_dict().items()}
                for claim in self.claims
            ],
            "definition": self.definition,
            "assumptions": list(self.assumptions),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "taxonomy": named(self.taxonomy),
            "parameters": {key: plain(value) for key, value in self.parameters.items()},
            "warnings": list(self.warnings),
            "table": records(self.table),
            "tables": {name: records(table) for name, table in self.tables.items()},
            "excluded": records(self.excluded),
        }

    def explain(self) -> str:
        """The result in words: claims, definition, assumptions, choices, what was not counted."""
        chosen = [f"{name} = {value}" for name, value in self.parameters.items()]
        lines = [self.answer, f"{self.definition}.", *(f"Assumes: {a}." for a in self.assumptions)]
        return "\n".join([*lines, *chosen, *self.warnings, *self._notes()])

    def __str__(self) -> str:
        """Finding and table for a terminal, with its notes."""
        heads, rows, texts = self._cells()
        body = text_table(heads, rows, texts)
        return "\n".join([self.answer, "", body, "", *self.warnings, *self._notes()])

    def __repr__(self) -> str:
        return f"<Result {self.name}: {self.answer}>"

    def _repr_html_(self) -> str:
        # A notebook leads with what was found and its picture; the numbers and their notes follow.
        heads, rows, texts = self._cells()
        return self._picture_html() + html_table(
            self.answer, heads, rows, texts, [*self.warnings, *self._notes()]
        )

    def _picture_html(self) -> str:
        """The picture as a part of the page; nothing where there is none, or a page cannot draw."""
        try:
            picture = self.plot()
        except (ConfigError, ImportError):
            return ""
        inside: str = picture._repr_html_()
        return inside

    def _cells(self) -> tuple[list[str], list[list[str]], int]:
        """Headings, cells and how many columns of text lead."""
        return _cells(self.table)

    def _notes(self) -> list[str]:
        return notes_of(self.excluded, self.taxonomy_version)


def result_of(
    attempts: Attempts,
    name: str,
    stated: Stated,
    table: pd.DataFrame,
    definition: str,
    notes: Notes | None = None,
    words: Mapping[str, str] | None = None,
    *,
    tables: Mapping[str, pd.DataFrame] | None = None,
    parameters: Mapping[str, object] | None = None,
    warnings: tuple[str, ...] = (),
    assumptions: tuple[str, ...] = (),
    of_people: bool = False,
) -> Result:
    """What an analysis found of some attempts: their balance, taxonomy, moment and warnings go with it.

    Args:
        attempts: The attempts.
        name: Name of the analysis.
        stated: What it claims.
        table: The numbers.
        definition: How they are counted.
        notes: What was set aside beside what counting sets aside, with the numbers of it.
        words: Meanings of these notes.
        tables: Further tables by name.
        parameters: Thresholds and choices.
        warnings: What to know beside the warnings of the attempts.
        assumptions: What the claims take for granted.
        of_people: It counts who was reached, so that calls whose answerer is not known leave bounds alone.
    """
    tables = tables or {}
    why, most = attempts.unknown_people if of_people else ("", False)
    if why and not most:
        warnings = (f"Rates of people are the least that they can be: {why}", *warnings)
    elif why:
        stated = f"Who was reached cannot be judged, because {why}"
        table, tables = _without_rates(table), {n: _without_rates(t) for n, t in tables.items()}
    return Result(
        name, stated, table, definition, attempts.balance(notes, words), attempts.taxonomy,
        attempts.as_of, tables, parameters or {}, (*warnings, *attempts.warnings), assumptions,
    )  # fmt: skip


#: What is null where a number of people is only the least that it can be; lower bounds stay.
_OF_PEOPLE: Final = frozenset({
    "rate", "rate_all", "adjusted", "high", "cumulative", "shrunk", "rate_ratio", "ratio_low", "ratio_high",
    "reached", "without_other_ends", "simulated", "p", "change", "effect", "difference",
})  # fmt: skip


def _without_rates(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose rates of people are null."""
    return table.assign(
        **{
            name: table[name].mask(np.ones(len(table), bool))
            for name in table
            if name in _OF_PEOPLE
        }
    )


@dataclass(frozen=True, eq=False, repr=False)
class Funnel(Result):
    """How many leads reached each stage, and how sure that is.

    `table` has one row per stage, or per group and stage: the group's column (named after `by`) if
    there are groups; `stage`; `count` leads; `denominator`, the count of the stage before;
    `of_previous` and `of_loaded`, shares of these; `low` and `high`, the Wilson 95% interval of
    `of_previous`; `unknown`, leads that a call whose answerer is not known may put there too, which widen the
    interval; `definition`. Shares are null where there is nothing to divide by, or too much is unknown.
    """

    @property
    def by(self) -> str | None:
        """Column or custom field that the leads are grouped by, or None."""
        return _text(self.parameters["by"])

    @property
    def campaign(self) -> str | None:
        """The only campaign looked at, or None."""
        return _text(self.parameters["campaign"])

    @property
    def order(self) -> str:
        """How stages must follow each other: `ordered`, `strict` or `any`."""
        return str(self.parameters["order"])

    @property
    def window(self) -> timedelta | None:
        """Time from the entry in which everything must happen, or None."""
        # Parameters are plain values, so that they can be saved: a span is seconds there.
        seconds = self.parameters["window_s"]
        return None if seconds is None else timedelta(seconds=float(str(seconds)))

    @property
    def entry(self) -> str:
        """Where the window begins: `import` or `first_dial`."""
        return str(self.parameters["entry"])

    @property
    def censored(self) -> int:
        """Leads whose time is not over yet; they are in no stage."""
        return int(str(self.parameters["censored"]))

    @property
    def definitions(self) -> dict[str, str]:
        """Stage to what it counts."""
        rows = self.table.drop_duplicates("stage")
        return {str(s): str(d) for s, d in zip(rows["stage"], rows["definition"], strict=True)}

    @property
    def groups(self) -> list[str]:
        """Groups, the greatest first; empty where the funnel is not split."""
        return [] if self.by is None else [str(group) for group in self.table[self.by].unique()]

    @property
    def headlines(self) -> tuple[Headline, ...]:
        """The leads of each stage, all groups together, as every sentence, picture and page shows them."""
        counts = self.table.groupby("stage", sort=False)[["count", "unknown"]].sum()
        whole = int(counts["count"].get("loaded", 0))
        return tuple(
            Headline(
                stage.label, int(known), f"leads_{stage.name}",
                at_most=int(known + unknown) if unknown else None, of=whole, of_what="leads",
                as_of=self.as_of, source="store", says=stage.says,
            )
            for stage in STAGES
            if stage.name in counts.index
            for known, unknown in [counts.loc[stage.name]]
        )  # fmt: skip

    @property
    def sentence(self) -> str:
        """The stages that people ask about, in a sentence."""
        shown = {each.key.removeprefix("leads_"): each for each in self.headlines}
        if "accepted" not in shown:
            return f"{self.answer}."
        parts = [
            f"{each.shown.partition(' of ')[0]} {each.says}"
            for name in ("attempted", "human", "right_party", "appointment")
            if (each := shown.get(name))
        ]
        accepted = shown["accepted"].shown.partition(" of ")[0]
        return f"Of {accepted} leads accepted, {', '.join(parts[:-1])}, and {parts[-1]}."

    def __repr__(self) -> str:
        # Of a funnel by groups all groups together: a line has no room for each.
        total = self.table.groupby("stage", sort=False)["count"].sum()
        counts = ", ".join(f"{stage} {count(value)}" for stage, value in total.items())
        return f"<Funnel {self.answer}: {counts}>"

    def explain(self) -> str:
        """The result in words: every stage with its definition, then what was not counted."""
        lines = [f"{self.answer}."]
        labels = {stage.name: stage.label for stage in STAGES}
        for name, definition in self.definitions.items():
            lines.append(f"{labels[name]}: {definition}.")
            for row in self.table.loc[self.table["stage"] == name].to_dict("records"):
                group = f"{row[self.by]}: " if self.by else ""
                of = "" if pd.isna(row["denominator"]) else f" of {count(row['denominator'])}"
                rate = "" if pd.isna(row["of_previous"]) else f", {share(row['of_previous'])}"
                bounds = "" if pd.isna(row["low"]) else f" ({interval(row['low'], row['high'])})"
                lines.append(f"  {group}{count(row['count'])}{of}{rate}{bounds}")
        lines += ["Rates carry Wilson 95% intervals of the share of the stage before."]
        return "\n".join([*lines, *self.warnings, *notes_of(self.excluded, self.taxonomy_version)])

    def _cells(self) -> tuple[list[str], list[list[str]], int]:
        group = [self.by] if self.by else []
        labels = {stage.name: stage.label for stage in STAGES}
        dark = bool(self.table["unknown"].sum())
        rows = [
            [
                *([str(row[self.by])] if self.by else []),
                labels[row["stage"]],
                count(row["count"]),
                share(row["of_previous"]),
                interval(row["low"], row["high"]),
                share(row["of_loaded"]),
                *([count(row["unknown"])] if dark else []),
            ]
            for row in self.table.to_dict("records")
        ]
        heads = [*group, "stage", "leads", "of previous", "95% interval", "of loaded"]
        heads += ["unknown"] if dark else []
        return heads, rows, 1 + len(group)

    def _notes(self) -> list[str]:
        asked = []
        if self.window is not None:
            hours, entry = self.window.total_seconds() / 3600, self.entry.replace("_", " ")
            # Whole days are said as days: nobody thinks of 720 hours.
            span = plural(int(hours // 24), "day") if hours % 24 == 0 else f"{hours:g} hours"
            asked = [f"Order {self.order}; within {span} of {entry}"]
        loaded = [f"Loaded: {words}" for words in [self.definitions.get("loaded")] if words]
        return [*loaded, *asked, *notes_of(self.excluded, self.taxonomy_version)]


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Result):
    """The headline rates of a set of calls, and how sure they are.

    `table` has one row per metric: `metric`, `numerator`, `denominator`, `rate`, `low`, `high`
    (95%, clustered by number; null where the denominator is 0), `unknown` (calls of the denominator
    of which nothing says whether they belong to the numerator; they count as not), `definition`.
    """

    @property
    def definitions(self) -> dict[str, str]:
        """Metric to what it divides by what."""
        table = self.table
        return {str(m): str(d) for m, d in zip(table["metric"], table["definition"], strict=True)}

    def __repr__(self) -> str:
        _, rows, _ = self._cells()
        return f"<Summary {self.answer}: {', '.join(f'{row[0]} {row[3]}' for row in rows)}>"

    def explain(self) -> str:
        """The result in words: every metric with its definition, then what was not counted."""
        lines = [f"{self.answer}."]
        lines += [
            f"{row['metric']}: {row['definition']}. {count(row['numerator'])} of "
            f"{count(row['denominator'])}, {share(row['rate'])} "
            f"({interval(row['low'], row['high'])}); unknown: {count(row['unknown'])}"
            for row in self.table.to_dict("records")
        ]
        lines.append("Intervals are 95%, with the calls to one number as one cluster.")
        return "\n".join([*lines, *self.warnings, *self._notes()])

    def _cells(self) -> tuple[list[str], list[list[str]], int]:
        rows = [
            [
                str(row["metric"]).replace("_", " "),
                count(row["numerator"]),
                count(row["denominator"]),
                share(row["rate"]),
                interval(row["low"], row["high"]),
                count(row["unknown"]),
            ]
            for row in self.table.to_dict("records")
        ]
        return ["metric", "calls", "of", "rate", "95% interval", "unknown"], rows, 1


def named(taxonomy: Taxonomy) -> dict[str, str]:
    """Name, version and hash of a taxonomy."""
    return {"name": taxonomy.name, "version": taxonomy.version, "hash": taxonomy.hash}


def notes_of(excluded: pd.DataFrame, taxonomy_version: str) -> list[str]:
    """One line for each count that is not zero, and the taxonomy."""
    # What did not happen needs no line; the frame itself has the zeros.
    rows = [row for row in records(excluded) if row["count"]]
    lines = [
        f"{str(row['role']).capitalize()}: {plural(int(row['count']), str(row['unit'])[:-1])}"
        + ("" if row["role"] == "counted" else f", {row['reason']} ({row['meaning']})")
        for row in rows
    ]
    return [*lines, f"Taxonomy {taxonomy_version}"]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _cells(table: pd.DataFrame) -> tuple[list[str], list[list[str]], int]:
    """Headings, cells and how many columns of text lead."""
    table = with_data(table)
    shown = table.drop(columns=["definition", "source"], errors="ignore").head(_MOST_ROWS)
    # Leading columns of text are names and stand to the left; all that follows are numbers to be compared.
    texts = 0
    for name in shown.columns:
        if not pd.api.types.is_string_dtype(shown[name].dtype):
            break
        texts += 1
    rows = [[_cell(value) for value in row] for row in shown.itertuples(index=False)]
    if len(table) > _MOST_ROWS:
        rest = f"... {len(table) - _MOST_ROWS} more"
        rows.append([rest, *[""] * (len(shown.columns) - 1)])
    return [str(name).replace("_", " ") for name in shown.columns], rows, texts


def with_data(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of which there is something: those without a denominator say nothing."""
    if "denominator" not in table.columns or not len(table):
        return table
    used = table["denominator"].fillna(0).to_numpy(float) > 0
    return table[used] if used.any() else table


def _cell(value: object) -> str:
    # Missing is a dash: an empty cell looks like a fault, and 0 like an answer.
    if plain(value) is None:
        return "\N{EN DASH}"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return f"{value:,}" if isinstance(value, (int, np.integer)) else str(value)
