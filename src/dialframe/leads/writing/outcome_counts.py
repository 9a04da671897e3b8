"""Numbers and examples of outcomes that pass by block by block; reads and judges nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from dialframe.leads.cleaned import (
    EXAMPLES,
    CleanedFile,
    Example,
    by_count,
    check_counts,
    went_in,
)
from dialframe.leads.judging.phone_columns import counted_whereabouts
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.writing.outcome_rows import OutcomeRows

#: Records kept of a reason that was asked for.
LINES_SHOWN: Final = 20
#: What is kept of them.
LINE_COLUMNS: Final = ("_file", "_line", "_field", "_value", "_all_reasons")


@dataclass(frozen=True, slots=True, eq=False)
class CleanedFiles:
    """What came of files that were cleaned to files.

    Attributes:
        counts: `records`, with `extra_leads` where a number is a lead, and the outcomes that add up
            to it.
        reasons: Records by outcome and reason code, most frequent first.
        warnings: Clean records by warning code, most frequent first.
        files: The files that were read, in order.
        region: Region by which national numbers were read.
        leftovers: Columns of the clean records that no field explains.
        paths: Files that were written, by what they hold.
        countries: Clean records by country of their number, most first.
        line_types: Clean records by line type of their number, most first.
        shown: The first records of each outcome and reason.
        lines: The first 20 records of each reason asked for: `_file`, `_line`, `_field`, `_value`,
            `_all_reasons`.
    """

    counts: dict[str, int]
    reasons: dict[str, dict[str, int]]
    warnings: dict[str, int]
    files: tuple[CleanedFile, ...]
    region: str | None
    leftovers: tuple[str, ...]
    paths: Mapping[str, Path]
    countries: dict[str, int]
    line_types: dict[str, int]
    shown: Mapping[tuple[str, str], list[Example]] = field(repr=False)
    lines: Mapping[str, list[dict[str, object]]] = field(default_factory=dict, repr=False)

    def examples(self, outcome: str, code: str) -> list[Example]:
        """The first records with the reason: file, line and value.

        Args:
            outcome: `rejected`, `duplicates`, `do_not_call` or `skipped`.
            code: Reason code.
        """
        return self.shown.get((outcome, code), [])


@dataclass(slots=True, eq=False)
class Tally:
    """Numbers and examples so far.

    Attributes:
        wanted: Reason codes whose first records are kept.
        rows: Records by outcome.
        reasons: Records by outcome and reason code.
        warnings: Clean records by warning code.
        countries: Clean records by country.
        line_types: Clean records by line type.
        shown: The first records of each outcome and reason.
        lines: More of them for the reasons wanted.
    """

    wanted: frozenset[str] = frozenset()
    rows: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)
    countries: Counter[str] = field(default_factory=Counter)
    line_types: Counter[str] = field(default_factory=Counter)
    shown: dict[tuple[str, str], list[Example]] = field(default_factory=dict)
    lines: dict[str, list[dict[str, object]]] = field(default_factory=dict)

    def add(self, rows: OutcomeRows) -> None:
        """Records of one outcome."""
        key, table = rows.key, rows.table
        self.rows[key] += len(table)
        if rows.whereabouts is not None:
            for codes, count in _counted(table["_warnings"]):
                self.warnings.update({code: count for code in codes.split(";") if code})
            countries, line_types = counted_whereabouts(rows.whereabouts)
            self.countries.update(countries)
            self.line_types.update(line_types)
            return
        counts = self.reasons.setdefault(key, Counter())
        for code, count in _counted(table["_reason"]):
            counts[code] += count
            self._show(key, code, table)

    def told(
        self,
        files: tuple[CleanedFile, ...],
        region: str | None,
        leftovers: tuple[str, ...],
        paths: Mapping[str, Path],
    ) -> CleanedFiles:
        """The sum of it, if every record that went in came out once.

        Raises:
            LeadFileError: It did not.
        """
        records = went_in(files)
        counts = {key: self.rows[key] for key in COUNT_KEYS.values()}
        check_counts(sum(records.values()), sum(counts.values()))
        reasons = {key: by_count(self.reasons.get(key, {})) for key in counts if key != "clean"}
        return CleanedFiles(
            {**records, **counts}, reasons, by_count(self.warnings), files, region,
            leftovers, MappingProxyType(dict(paths)), by_count(self.countries),
            by_count(self.line_types), self.shown,
            {code: self.lines.get(code, []) for code in self.wanted},
        )  # fmt: skip

    def _show(self, key: str, code: str, table: pa.Table) -> None:
        known = self.shown.setdefault((key, code), [])
        lines = self.lines.setdefault(code, []) if code in self.wanted else None
        short = EXAMPLES - len(known), 0 if lines is None else LINES_SHOWN - len(lines)
        if max(short) <= 0:
            return
        matching = table.filter(pc.equal(table["_reason"], code)).slice(0, max(short))
        rows = matching.select(LINE_COLUMNS).to_pylist()
        known += [
            Example(row["_file"], row["_line"], row["_value"]) for row in rows[: max(0, short[0])]
        ]
        if lines is not None:
            lines += rows[: short[1]]


def _counted(column: pa.ChunkedArray) -> list[tuple[str, int]]:
    counted = pc.value_counts(column)
    return [(str(each["values"]), int(each["counts"])) for each in counted.to_pylist()]
