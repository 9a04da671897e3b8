"""Judged records as rows of the five outcomes, counted; decides nothing and writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe import arrow_text
from dialframe.errors import LeadFileError
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.list_region import RegionDecision
from dialframe.leads.columns.questions import WordQuestion
from dialframe.leads.duplicates import Found
from dialframe.leads.lead_file import INTEGERS, LEAD_COLUMNS, META, Decisions, LeadFile
from dialframe.leads.phone_columns import counted_whereabouts
from dialframe.leads.reasons import BY_CODE, COUNT_KEYS, RANK, REASONS
from dialframe.leads.record_notes import Findings, in_order

if TYPE_CHECKING:
    import pandas as pd

#: Columns that this package adds to clean records.
CLEAN_META: Final = ("_file", "_line", "_row", "_outcome", "_warnings")
#: Records that a report shows of each reason, and records kept of a reason that was asked for.
EXAMPLES: Final = 3
LINES_SHOWN: Final = 20
#: What is kept of them.
LINE_COLUMNS: Final = ("_file", "_line", "_field", "_value", "_all_reasons")
_OUTCOMES: Final = tuple(COUNT_KEYS)
#: Place of each reason's outcome; reasons that only the service can give have none.
_OF_RANK: Final = np.array(
    [
        _OUTCOMES.index(reason.outcome) if reason.outcome in _OUTCOMES else len(_OUTCOMES)
        for reason in REASONS
    ],
    np.uint8,
)
_REMEDIES: Final = arrow_text.column(reason.remedy for reason in REASONS)
_SILENCED: Final = "phone_other_forbidden"
_CLEAN: Final = _OUTCOMES.index("clean")


class Example(NamedTuple):
    """Where a record with a reason stands, and the value found there."""

    file: str
    line: int
    value: str


@dataclass(frozen=True, slots=True)
class CleanedFile:
    """What is to be known of one file that was cleaned.

    Attributes:
        path: Where it was read from.
        name: The file's name as it stands in `_file`.
        stem: Its name without endings.
        sha256: Hexadecimal digest of the file on disk.
        records: Its records, skipped ones included.
        header: Its header, or None.
        names: Names of its columns.
        decisions: How it was read.
        columns: Its columns by field.
        region: Region by which its national numbers were read, or None.
        region_decision: Why that one; None where nothing had to be decided.
        extra_leads: Leads beyond one of each record; None where a record is one lead.
        questions: Phrases in its columns that nobody has decided about; their records are held.
        held: Column to the records that it keeps from being called, by a flag, a code or words.
    """

    path: Path
    name: str
    stem: str
    sha256: str
    records: int
    header: tuple[str, ...] | None
    names: tuple[str, ...]
    decisions: Decisions
    columns: ColumnMap
    region: str | None = None
    region_decision: RegionDecision | None = None
    extra_leads: int | None = None
    questions: tuple[WordQuestion, ...] = ()
    held: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class CleanedFiles:
    """What came of files that were cleaned.

    Attributes:
        counts: `records`, with `extra_leads` where a number is a lead, and the outcomes that add up
            to it.
        reasons: Records by outcome and reason code, most frequent first.
        warnings: Clean records by warning code, most frequent first.
        files: The files that were read, in order.
        region: Region by which national numbers were read, where it is one.
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


@dataclass(frozen=True, eq=False)
class Cleaned:
    """Every record of the input in exactly one of five outcomes.

    With `Policy(one_lead_per="number")` that is every lead: a record of several numbers is several.

    Attributes:
        summary: Counts, reasons and files.
        tables: The rows of each outcome, by the key under which it is counted.
        filled: Fields that have a value in some record of the files, clean or not.
    """

    summary: CleanedFiles
    tables: Mapping[str, pa.Table] = field(repr=False)
    filled: frozenset[str] = frozenset()

    @cached_property
    def clean(self) -> pd.DataFrame:
        """Leads: `phone` in E.164 and the other fields, the other columns, `_file`, `_line`, `_row`, `_warnings`."""
        return arrow_text.frame(self.tables["clean"])

    @cached_property
    def rejected(self) -> pd.DataFrame:
        """Records that cannot be called or sent as they are: original cells, `_file`, `_line`, `_row`, `_outcome`,
        `_reason` (the first in the order of `reasons.REASONS`), `_remedy`, `_field` and `_value` (what the reason
        concerns), `_all_reasons`, `_warnings`, `_kept_file` and `_kept_line` (the record that is repeated or
        obeyed) and `_raw` (the text of records that could not be read whole).
        """  # noqa: D205
        return arrow_text.frame(self.tables["rejected"])

    @cached_property
    def duplicates(self) -> pd.DataFrame:
        """Records that repeat another one, with the columns of `rejected`."""
        return arrow_text.frame(self.tables["duplicates"])

    @cached_property
    def do_not_call(self) -> pd.DataFrame:
        """Records that must not be called, with the columns of `rejected`."""
        return arrow_text.frame(self.tables["do_not_call"])

    @cached_property
    def skipped(self) -> pd.DataFrame:
        """Records that are no leads (blank lines, totals, repeated headers), with the columns of `rejected`."""
        return arrow_text.frame(self.tables["skipped"])

    @property
    def counts(self) -> dict[str, int]:
        """`records`, with `extra_leads` where a number is a lead, and the outcomes that add up to it."""
        return self.summary.counts

    @property
    def reasons(self) -> dict[str, dict[str, int]]:
        """Records by outcome and reason code, most frequent first."""
        return self.summary.reasons

    @property
    def warnings(self) -> dict[str, int]:
        """Clean records by warning code, most frequent first."""
        return self.summary.warnings

    @property
    def files(self) -> tuple[CleanedFile, ...]:
        """The files, in order."""
        return self.summary.files

    @property
    def region(self) -> str | None:
        """Region by which national numbers were read, where it is one."""
        return self.summary.region

    @property
    def leftovers(self) -> tuple[str, ...]:
        """Columns of `clean` that no field explains: the leads' custom fields."""
        return self.summary.leftovers

    @property
    def countries(self) -> dict[str, int]:
        """Clean records by country of their number, most first."""
        return self.summary.countries

    @property
    def line_types(self) -> dict[str, int]:
        """Clean records by line type of their number, most first."""
        return self.summary.line_types

    def examples(self, outcome: str, code: str) -> list[Example]:
        """The first records with the reason: file, line and value.

        Args:
            outcome: `rejected`, `duplicates`, `do_not_call` or `skipped`.
            code: Reason code.
        """
        return self.summary.examples(outcome, code)

    def __repr__(self) -> str:
        counted = ", ".join(f"{name}={count}" for name, count in self.counts.items())
        return f"Cleaned({counted})"


# ---- rows


class OutcomeRows(NamedTuple):
    """Rows of one outcome.

    Attributes:
        key: The outcome, as it is counted.
        table: The rows.
        whereabouts: Country and line type of the numbers of clean ones.
    """

    key: str
    table: pa.Table
    whereabouts: np.ndarray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Records of one file with everything that is to be said of them.

    Attributes:
        file: The file's name as it stands in `_file`.
        columns: Their cells by column of the file.
        kept: Columns that stay beside the fields, with their names there.
        fields: Texts of `lead_file.LEAD_COLUMNS`.
        lines: Physical lines.
        rows: Ordinals.
        warnings: Warning codes, joined by `;`.
        whereabouts: Country and line type of each number.
        findings: What stands against them.
        settled: What stands against them because of others.
        files: Names of all files.
        begins: First record of each file.
        raws: Row to the text of a record that could not be read whole.
        silenced: Records whose second number is left out, because it must not be called.
    """

    file: str
    columns: Mapping[str, pa.Array]
    kept: Mapping[str, str]
    fields: Mapping[str, pa.Array]
    lines: np.ndarray
    rows: np.ndarray
    warnings: pa.Array
    whereabouts: np.ndarray
    findings: Findings
    settled: Sequence[Found]
    files: Sequence[str]
    begins: Sequence[int]
    raws: Mapping[int, str]
    silenced: np.ndarray

    def tables(self) -> Iterator[OutcomeRows]:
        """The rows of each outcome but `skipped` that has any."""
        outcome = np.full(len(self.lines), _CLEAN, np.uint8)
        firsts = self.findings.firsts
        outcome[self.findings.rows[firsts]] = _OF_RANK[self.findings.ranks[firsts]]
        for at, name in enumerate(_OUTCOMES):
            rows = np.flatnonzero(outcome == at)
            if at == _CLEAN and len(rows):
                yield OutcomeRows(COUNT_KEYS[name], self._clean(rows), self.whereabouts[rows])
            elif len(rows):
                yield OutcomeRows(COUNT_KEYS[name], self._set_aside(name, rows, firsts))

    def _clean(self, rows: np.ndarray) -> pa.Table:
        columns = {name: arrow_text.take(self.fields[name], rows) for name in LEAD_COLUMNS}
        columns |= {
            name: arrow_text.take(self.columns[column], rows) for column, name in self.kept.items()
        }
        warnings = arrow_text.take(self.warnings, rows)
        if len(self.silenced):
            silent = np.flatnonzero(np.isin(rows, self.silenced))
            columns["phone_other"] = arrow_text.put(
                columns["phone_other"], silent, [""] * len(silent)
            )
            codes = [
                [*filter(None, [warning]), _SILENCED]
                for warning in arrow_text.take(warnings, silent).to_pylist()
            ]
            warnings = arrow_text.put(warnings, silent, [";".join(both) for both in codes])
        return pa.table(columns | self._place("clean", rows) | {"_warnings": warnings})

    def _set_aside(self, outcome: str, rows: np.ndarray, firsts: np.ndarray) -> pa.Table:
        """Original cells of records that are not clean, with why."""
        findings = self.findings
        groups = np.searchsorted(findings.rows[firsts], rows)
        places = firsts[groups]
        names = arrow_text.column(findings.names)
        kept_file, kept_line = self._first_lines(rows)
        raws = arrow_text.constant("", len(rows))
        if self.raws:
            raw = np.flatnonzero(np.isin(rows, list(self.raws)))
            raws = arrow_text.put(raws, raw, [self.raws[row] for row in rows[raw].tolist()])
        return pa.table(
            {name: arrow_text.take(column, rows) for name, column in self.columns.items()}
            | self._place(outcome, rows)
            | {
                "_reason": findings.codes(places),
                "_remedy": _REMEDIES.take(arrow_text.numbers(findings.ranks[places])),
                "_field": names.take(arrow_text.numbers(findings.fields[places])),
                "_value": findings.cells.take(arrow_text.numbers(places)),
                "_all_reasons": findings.all_codes(groups),
                "_warnings": arrow_text.take(self.warnings, rows),
                "_kept_file": kept_file,
                "_kept_line": kept_line,
                "_raw": raws,
            }
        )

    def _place(self, outcome: str, rows: np.ndarray) -> dict[str, pa.Array]:
        return {
            "_file": arrow_text.constant(self.file, len(rows)),
            "_line": arrow_text.numbers(self.lines[rows]),
            "_row": arrow_text.numbers(self.rows[rows]),
            "_outcome": arrow_text.constant(outcome, len(rows)),
        }

    def _first_lines(self, rows: np.ndarray) -> tuple[pa.Array, pa.Array]:
        """File and line of the records that these repeat or obey; the first finding that has one tells."""
        files = np.full(len(rows), -1)
        lines = np.zeros(len(rows), np.int64)
        for finding in self.settled:
            if finding.kept is not None and finding.lines is not None and len(finding.records):
                # Both are in order, so that nothing has to be sorted.
                at = np.searchsorted(finding.records, rows) % len(finding.records)
                hits = np.flatnonzero((finding.records[at] == rows) & (files < 0))
                at = at[hits]
                files[hits] = np.searchsorted(self.begins, finding.kept[at], side="right") - 1
                lines[hits] = finding.lines[at]
        # Behind all names stands an empty one, for records without another.
        which = np.where(files < 0, len(self.files), files)
        names = arrow_text.column([*self.files, ""]).take(arrow_text.numbers(which))
        return names, arrow_text.numbers(lines, files < 0)


def with_settled(
    findings: tuple[Sequence[np.ndarray], Sequence[np.ndarray], Sequence[str], Sequence[pa.Array]],
    settled: Sequence[Found],
    fields: Mapping[str, pa.Array],
) -> Findings:
    """What stands against records by themselves and because of others, in order."""
    rows, ranks, names, values = (list(finding) for finding in findings)
    for finding in settled:
        rows.append(finding.records)
        ranks.append(np.full(len(finding.records), RANK[finding.code]))
        names.append(finding.field)
        value = arrow_text.take(fields[finding.field], finding.records)
        if finding.field == "email":
            value = arrow_text.column([text.strip().casefold() for text in value.to_pylist()])
        values.append(value)
    return in_order(rows, ranks, names, values)


def skipped(file: LeadFile, name: str) -> pa.Table:
    """The records of `LeadFile.left_out` as rows of their outcome.

    Args:
        file: The file.
        name: Its name as it stands in `_file`.
    """
    records = file.left_out.filter(pc.is_valid(file.left_out["_row"]))
    count = len(records)
    blank = arrow_text.constant("", count)
    remedies = [BY_CODE[code].remedy for code in records["_code"].to_pylist()]
    meta = {
        "_file": arrow_text.constant(name, count),
        "_line": records["_line"],
        "_row": records["_row"],
        "_outcome": arrow_text.constant("skipped", count),
        "_reason": records["_code"],
        "_remedy": arrow_text.column(remedies),
        "_all_reasons": records["_code"],
        "_kept_line": pa.nulls(count, pa.int64()),
        "_raw": records["_raw"],
    }
    cells = {column: records[column] for column in file.names}
    return pa.table(cells | {column: meta.get(column, blank) for column in META})


def aligned(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The table with these columns; those that it does not have are empty."""
    blank = arrow_text.constant("", len(table))
    # Arrow makes the list of its names anew each time it is asked.
    known = set(table.column_names)
    return pa.table({name: table[name] if name in known else blank for name in names})


def empty(names: Sequence[str]) -> pa.Table:
    """A table of these columns without rows."""
    return pa.table(
        {name: pa.nulls(0, pa.int64() if name in INTEGERS else arrow_text.TEXT) for name in names}
    )


def column_order(orders: Sequence[Sequence[str]]) -> list[str]:
    """Columns of several files: their own in order of first appearance, then those added."""
    names = dict.fromkeys(name for order in orders for name in order)
    return [name for name in names if name not in META] + [name for name in META if name in names]


# ---- counts


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

    def add(self, batch: Iterable[OutcomeRows]) -> None:
        """Count records."""
        for rows in batch:
            self._add(rows)

    def _add(self, rows: OutcomeRows) -> None:
        key, table = rows.key, rows.table
        self.rows[key] += len(table)
        if rows.whereabouts is not None:
            for codes, count in _count_values(table["_warnings"]):
                self.warnings.update({code: count for code in codes.split(";") if code})
            countries, line_types = counted_whereabouts(rows.whereabouts)
            self.countries.update(countries)
            self.line_types.update(line_types)
            return
        counts = self.reasons.setdefault(key, Counter())
        for code, count in _count_values(table["_reason"]):
            counts[code] += count
            self._show(key, code, table)

    def join(self, other: Tally) -> None:
        """Count what was counted of the records behind these."""
        self.rows += other.rows
        self.warnings += other.warnings
        self.countries += other.countries
        self.line_types += other.line_types
        for key, counts in other.reasons.items():
            self.reasons.setdefault(key, Counter()).update(counts)
        for pair, examples in other.shown.items():
            known = self.shown.setdefault(pair, [])
            known += examples[: EXAMPLES - len(known)]
        for code, lines in other.lines.items():
            seen = self.lines.setdefault(code, [])
            seen += lines[: LINES_SHOWN - len(seen)]

    def summary(
        self,
        files: tuple[CleanedFile, ...],
        region: str | None,
        leftovers: tuple[str, ...],
        paths: Mapping[str, Path],
    ) -> CleanedFiles:
        """The sum of it, if every record that went in came out once.

        Args:
            files: The files that were read.
            region: Region by which national numbers were read.
            leftovers: Columns that no field explains.
            paths: Files that were written.

        Raises:
            LeadFileError: It did not.
        """
        extra = [file.extra_leads for file in files if file.extra_leads is not None]
        records = {"records": sum(file.records for file in files)}
        records |= {"extra_leads": sum(extra)} if extra else {}
        counts = {key: self.rows[key] for key in COUNT_KEYS.values()}
        if sum(records.values()) != sum(counts.values()):
            raise LeadFileError(
                f"{sum(records.values())} records went in and {sum(counts.values())} came out; this "
                "is a fault of the program, nothing was written"
            )
        reasons = {key: _by_count(self.reasons.get(key, {})) for key in counts if key != "clean"}
        return CleanedFiles(
            {**records, **counts}, reasons, _by_count(self.warnings), files, region,
            leftovers, MappingProxyType(dict(paths)), _by_count(self.countries),
            _by_count(self.line_types), self.shown,
            {code: self.lines.get(code, []) for code in self.wanted},
        )  # fmt: skip

    def _show(self, key: str, code: str, table: pa.Table) -> None:
        known = self.shown.setdefault((key, code), [])
        lines = self.lines.setdefault(code, []) if code in self.wanted else None
        short = EXAMPLES - len(known), 0 if lines is None else LINES_SHOWN - len(lines)
        if max(short) <= 0:
            return
        matching = table.filter(pc.equal(table["_reason"], arrow_text.text(code))).slice(
            0, max(short)
        )
        rows: list[dict[str, Any]] = matching.select(LINE_COLUMNS).to_pylist()
        known += [
            Example(row["_file"], row["_line"], row["_value"]) for row in rows[: max(0, short[0])]
        ]
        if lines is not None:
            lines += rows[: max(0, short[1])]


def _count_values(column: pa.ChunkedArray) -> list[tuple[str, int]]:
    counted: Iterable[Mapping[str, Any]] = pc.value_counts(column).to_pylist()
    return [(str(each["values"]), int(each["counts"])) for each in counted]


def _by_count(counted: Mapping[str, int]) -> dict[str, int]:
    """Codes with their numbers, most frequent first."""
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
