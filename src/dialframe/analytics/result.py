"""One analysis as a value: table, answer, definition, exclusions, taxonomy; computes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from dialframe.analytics.results import notes_of
from dialframe.analytics.taxonomy import Taxonomy
from dialframe.analytics.values import plain, records
from dialframe.analytics.wording import html_table, text_table

_MOST_ROWS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What an analysis found.

    Attributes:
        name: Name of the analysis, which its picture bears too.
        answer: The finding in a sentence, made from the numbers.
        table: The numbers; rates with numerator, denominator and interval, null where there is
            nothing to divide by.
        definition: How the numbers are counted.
        excluded: What was counted, set aside and noted: `reason`, `unit`, `count`, `role`,
            `meaning`; `unmapped` is always a row.
        taxonomy: What classed the calls.
        as_of: The latest instant in the data, or what the caller said; UTC.
        tables: Further tables by name.
        parameters: Thresholds and choices that the numbers depend on.
        warnings: What must be known before the numbers are used, with what to do about it.
    """

    name: str
    answer: str
    table: pd.DataFrame
    definition: str
    excluded: pd.DataFrame
    taxonomy: Taxonomy
    as_of: datetime | None = None
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    parameters: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def taxonomy_version(self) -> str:
        """Edition and hash of the taxonomy."""
        return self.taxonomy.version

    def to_dict(self) -> dict[str, Any]:
        """The result in plain values, ready for JSON; the keys do not depend on the data."""
        return {
            "name": self.name,
            "answer": self.answer,
            "definition": self.definition,
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "taxonomy": named(self.taxonomy),
            "parameters": {key: plain(value) for key, value in self.parameters.items()},
            "warnings": list(self.warnings),
            "table": records(self.table),
            "tables": {name: records(table) for name, table in self.tables.items()},
            "excluded": records(self.excluded),
        }

    def explain(self) -> str:
        """The result in words: finding, definition, choices, warnings, what was not counted."""
        chosen = [f"{name} = {value}" for name, value in self.parameters.items()]
        return "\n".join(
            [self.answer, f"{self.definition}.", *chosen, *self.warnings, *self._notes()]
        )

    def __str__(self) -> str:
        """Finding and table for a terminal, with its notes."""
        return "\n".join([self.answer, "", self._body(), "", *self.warnings, *self._notes()])

    def __repr__(self) -> str:
        return f"<Result {self.name}: {self.answer}>"

    def _repr_html_(self) -> str:
        heads, rows, texts = _cells(self.table)
        return html_table(self.answer, heads, rows, texts, [*self.warnings, *self._notes()])

    def _body(self) -> str:
        heads, rows, texts = _cells(self.table)
        return text_table(heads, rows, texts)

    def _notes(self) -> list[str]:
        return notes_of(self.excluded, self.taxonomy_version)


def named(taxonomy: Taxonomy) -> dict[str, str]:
    """Name, version and hash of a taxonomy."""
    return {"name": taxonomy.name, "version": taxonomy.version, "hash": taxonomy.hash}


def _cells(table: pd.DataFrame) -> tuple[list[str], list[list[str]], int]:
    """Headings, cells and how many columns of text lead."""
    shown = table.drop(columns="definition", errors="ignore").head(_MOST_ROWS)
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


def _cell(value: object) -> str:
    if plain(value) is None:
        return "\N{EN DASH}"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return f"{value:,}" if isinstance(value, (int, np.integer)) else str(value)
