"""What an analysis hands over: a table with its definitions, exclusions and taxonomy; computes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from dialframe.analytics.stages import STAGES
from dialframe.analytics.values import records
from dialframe.analytics.wording import (
    count,
    html_table,
    interval,
    plural,
    share,
    text_table,
)


@dataclass(frozen=True, slots=True, eq=False)
class Funnel:
    """How many leads reached each stage, and how sure that is.

    Attributes:
        table: One row per stage, or per group and stage. Columns: the group's (named after `by`)
            if there are groups; `stage`; `count` leads; `denominator`, the count of the stage
            before; `of_previous` and `of_loaded`, shares of these; `low` and `high`, the Wilson
            95 % interval of `of_previous`; `definition`. Shares are null where there is nothing
            to divide by.
        excluded: What was counted, set aside and noted: `reason`, `unit`, `count`, `role`,
            `meaning`. Rows of role `counted` and `set aside` sum to the calls given.
        taxonomy_version: Which taxonomy classed the calls.
        as_of: The latest instant in the data, or what the caller said; UTC.
        by: Column or custom field that the leads are grouped by, or None.
        campaign: The only campaign looked at, or None.
        order: How stages must follow each other: `ordered`, `strict` or `any`.
        window: Time from the entry in which everything must happen, or None.
        entry: Where the window begins: `import` or `first_dial`.
        censored: Leads whose time is not over yet; they are in no stage.
        warnings: What must be known first, with what to do about it.
    """

    table: pd.DataFrame
    excluded: pd.DataFrame
    taxonomy_version: str
    as_of: datetime | None
    by: str | None = None
    campaign: str | None = None
    order: str = "ordered"
    window: timedelta | None = None
    entry: str = "import"
    censored: int = 0
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The funnel in plain values; the keys do not depend on the data."""
        return {
            "name": "funnel",
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "taxonomy": _version(self.taxonomy_version),
            "parameters": {
                "by": self.by,
                "campaign": self.campaign,
                "order": self.order,
                "window_s": None if self.window is None else self.window.total_seconds(),
                "entry": self.entry,
                "censored": self.censored,
            },
            "warnings": list(self.warnings),
            "table": records(self.table),
            "excluded": records(self.excluded),
        }

    @property
    def definitions(self) -> dict[str, str]:
        """Stage to what it counts."""
        rows = self.table.drop_duplicates("stage")
        return {str(s): str(d) for s, d in zip(rows["stage"], rows["definition"], strict=True)}

    @property
    def groups(self) -> list[str]:
        """Groups, the greatest first; empty where the funnel is not split."""
        return [] if self.by is None else [str(group) for group in self.table[self.by].unique()]

    def explain(self) -> str:
        """The result in words: every stage with its definition, then what was not counted."""
        lines = [f"{self._caption()}."]
        labels = {stage.name: stage.label for stage in STAGES}
        for name, definition in self.definitions.items():
            lines.append(f"{labels[name]}: {definition}.")
            lines += [f"  {said}" for said in self._said(name)]
        lines += ["Rates carry Wilson 95 % intervals of the share of the stage before."]
        return "\n".join([*lines, *notes_of(self.excluded, self.taxonomy_version)])

    def __str__(self) -> str:
        """The table for a terminal, with its notes."""
        columns = 1 if self.by is None else 2
        body = text_table(self._headings(), self._rows(), columns)
        return "\n".join([self._caption(), "", body, "", *self._notes()])

    def __repr__(self) -> str:
        return f"<Funnel {self._caption()}: {self._counts()}>"

    def _repr_html_(self) -> str:
        columns = 1 if self.by is None else 2
        return html_table(self._caption(), self._headings(), self._rows(), columns, self._notes())

    def _caption(self) -> str:
        words = ["Lead funnel"]
        words += [f"by {self.by}"] if self.by else []
        words += [f"of campaign {self.campaign}"] if self.campaign else []
        words += [f"as of {self.as_of:%Y-%m-%d %H:%M} UTC"] if self.as_of else []
        return " ".join(words)

    def _counts(self) -> str:
        total = self.table.groupby("stage", sort=False)["count"].sum()
        return ", ".join(f"{stage} {count(value)}" for stage, value in total.items())

    def _headings(self) -> list[str]:
        group = [self.by] if self.by else []
        return [*group, "stage", "leads", "of previous", "95 % interval", "of loaded"]

    def _rows(self) -> list[list[str]]:
        labels = {stage.name: stage.label for stage in STAGES}
        return [
            [
                *([str(row[self.by])] if self.by else []),
                labels[row["stage"]],
                count(row["count"]),
                share(row["of_previous"]),
                interval(row["low"], row["high"]),
                share(row["of_loaded"]),
            ]
            for row in self.table.to_dict("records")
        ]

    def _said(self, stage: str) -> list[str]:
        rows = self.table.loc[self.table["stage"] == stage].to_dict("records")
        said = []
        for row in rows:
            group = f"{row[self.by]}: " if self.by else ""
            of = "" if pd.isna(row["denominator"]) else f" of {count(row['denominator'])}"
            rate = "" if pd.isna(row["of_previous"]) else f", {share(row['of_previous'])}"
            sure = "" if pd.isna(row["low"]) else f" ({interval(row['low'], row['high'])})"
            said.append(f"{group}{count(row['count'])}{of}{rate}{sure}")
        return said

    def _notes(self) -> list[str]:
        asked = []
        if self.window is not None:
            asked = [
                f"Order {self.order}; within {_span(self.window)} of {self.entry.replace('_', ' ')}"
            ]
        loaded = [f"Loaded: {said}" for said in [self.definitions.get("loaded")] if said]
        return [*loaded, *asked, *notes_of(self.excluded, self.taxonomy_version)]


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """The headline rates of a set of calls, and how sure they are.

    Attributes:
        table: One row per metric: `metric`, `numerator`, `denominator`, `rate`, `low`, `high`
            (Wilson 95 %; null where the denominator is 0), `unknown` (calls of the denominator of
            which nothing says whether they belong to the numerator; they count as not), and
            `definition`.
        excluded: As in `Funnel`.
        taxonomy_version: Which taxonomy classed the calls.
        as_of: The latest instant in the data; UTC.
        warnings: What must be known first, with what to do about it.
    """

    table: pd.DataFrame
    excluded: pd.DataFrame
    taxonomy_version: str
    as_of: datetime | None
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The summary in plain values; the keys do not depend on the data."""
        return {
            "name": "summary",
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "taxonomy": _version(self.taxonomy_version),
            "warnings": list(self.warnings),
            "table": records(self.table),
            "excluded": records(self.excluded),
        }

    @property
    def definitions(self) -> dict[str, str]:
        """Metric to what it divides by what."""
        table = self.table
        return {str(m): str(d) for m, d in zip(table["metric"], table["definition"], strict=True)}

    def explain(self) -> str:
        """The result in words: every metric with its definition, then what was not counted."""
        lines = [f"{self._caption()}."]
        lines += [
            f"{row['metric']}: {row['definition']}. {count(row['numerator'])} of "
            f"{count(row['denominator'])}, {share(row['rate'])} "
            f"({interval(row['low'], row['high'])}); unknown: {count(row['unknown'])}"
            for row in self.table.to_dict("records")
        ]
        lines.append(
            "Intervals are Wilson 95 % of single calls; calls to one lead resemble each other, so "
            "they are a little too narrow."
        )
        return "\n".join([*lines, *notes_of(self.excluded, self.taxonomy_version)])

    def __str__(self) -> str:
        """The table for a terminal, with its notes."""
        body = text_table(_SUMMARY_HEADINGS, self._rows(), 1)
        return "\n".join([self._caption(), "", body, "", *self._notes()])

    def __repr__(self) -> str:
        said = ", ".join(f"{row[0]} {row[3]}" for row in self._rows())
        return f"<Summary {self._caption()}: {said}>"

    def _repr_html_(self) -> str:
        return html_table(self._caption(), _SUMMARY_HEADINGS, self._rows(), 1, self._notes())

    def _caption(self) -> str:
        return "Calls" + (f" as of {self.as_of:%Y-%m-%d %H:%M} UTC" if self.as_of else "")

    def _rows(self) -> list[list[str]]:
        return [
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

    def _notes(self) -> list[str]:
        return notes_of(self.excluded, self.taxonomy_version)


_SUMMARY_HEADINGS = ["metric", "calls", "of", "rate", "95 % interval", "unknown"]


def _span(window: timedelta) -> str:
    """A length of time in the greatest unit that it is whole in, or in hours."""
    hours = window.total_seconds() / 3600
    return plural(int(hours // 24), "day") if hours % 24 == 0 else f"{hours:g} hours"


def _version(taxonomy_version: str) -> dict[str, str]:
    """Version and hash of a taxonomy, from its version."""
    return {"version": taxonomy_version, "hash": taxonomy_version.partition("-")[2]}


def notes_of(excluded: pd.DataFrame, taxonomy_version: str) -> list[str]:
    """One line for each count that is not zero, and the taxonomy."""
    rows = excluded.loc[excluded["count"] > 0].to_dict("records")
    lines = [
        f"{str(row['role']).capitalize()}: {plural(int(row['count']), str(row['unit'])[:-1])}"
        + ("" if row["role"] == "counted" else f", {row['reason']} ({row['meaning']})")
        for row in rows
    ]
    return [*lines, f"Taxonomy {taxonomy_version}"]
