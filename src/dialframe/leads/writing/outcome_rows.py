"""Judged records to the rows of the five outcomes, as tables; decides nothing and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.leads import arrow_text
from dialframe.leads.dedupe.duplicate_detection import Found
from dialframe.leads.judging.row_notes import Findings, in_order
from dialframe.leads.lead_file import INTEGERS, LEAD_COLUMNS, META
from dialframe.leads.reasons import COUNT_KEYS, RANK, REASONS

#: Columns that this package adds to clean records.
CLEAN_META: Final = ("_file", "_line", "_row", "_outcome", "_warnings")
_OUTCOMES: Final = tuple(COUNT_KEYS)
#: Place of each reason's outcome; reasons that only the service can give have none.
_OF_RANK: Final = np.array(
    [
        _OUTCOMES.index(reason.outcome) if reason.outcome in _OUTCOMES else len(_OUTCOMES)
        for reason in REASONS
    ],
    np.uint8,
)
_SILENCED: Final = "phone_other_forbidden"
_CLEAN: Final = _OUTCOMES.index("clean")


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
                yield OutcomeRows(COUNT_KEYS[name], self._aside(name, rows, firsts))

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

    def _aside(self, outcome: str, rows: np.ndarray, firsts: np.ndarray) -> pa.Table:
        """Original cells of records that are not clean, with why."""
        findings = self.findings
        groups = np.searchsorted(findings.rows[firsts], rows)
        finding_rows = firsts[groups]
        names = arrow_text.column(findings.names)
        kept_file, kept_line = self._kept(rows)
        raws = arrow_text.constant("", len(rows))
        if self.raws:
            raw = np.flatnonzero(np.isin(rows, list(self.raws)))
            raws = arrow_text.put(raws, raw, [self.raws[row] for row in rows[raw].tolist()])
        return pa.table(
            {name: arrow_text.take(column, rows) for name, column in self.columns.items()}
            | self._place(outcome, rows)
            | {
                "_reason": findings.codes(finding_rows),
                "_field": names.take(pa.array(findings.fields[finding_rows])),
                "_value": findings.cells.take(pa.array(finding_rows)),
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
            "_line": pa.array(self.lines[rows], pa.int64()),
            "_row": pa.array(self.rows[rows], pa.int64()),
            "_outcome": arrow_text.constant(outcome, len(rows)),
        }

    def _kept(self, rows: np.ndarray) -> tuple[pa.Array, pa.Array]:
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
        names = arrow_text.column([*self.files, ""]).take(pa.array(which))
        return names, pa.array(lines, pa.int64(), mask=files < 0)


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


def skipped(frame: pd.DataFrame, name: str, columns: Sequence[str]) -> pa.Table:
    """The records of `LeadFile.skipped` as rows of their outcome."""
    records = frame[frame["_row"].notna().to_numpy()]
    count = len(records)
    blank = arrow_text.constant("", count)
    cells = {column: arrow_text.of_series(records[column]) for column in columns}
    meta = {
        "_file": arrow_text.constant(name, count),
        "_line": pa.array(records["_line"], pa.int64()),
        "_row": pa.array(records["_row"], pa.int64()),
        "_outcome": arrow_text.constant("skipped", count),
        "_reason": arrow_text.of_series(records["_code"]),
        "_all_reasons": arrow_text.of_series(records["_code"]),
        "_kept_line": pa.nulls(count, pa.int64()),
        "_raw": arrow_text.of_series(records["_raw"]),
    }
    return pa.table(cells | {column: meta.get(column, blank) for column in META})


def aligned(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The table with these columns; those that it does not have are empty."""
    blank = arrow_text.constant("", len(table))
    # Arrow makes the list of its names anew each time it is asked.
    known = set(table.column_names)
    return pa.table({name: table[name] if name in known else blank for name in names})


def of_frame(records: pd.DataFrame) -> pa.Table:
    """A frame of an outcome as a table."""
    return pa.table(
        {
            str(name): pa.array(records[name], pa.int64(), from_pandas=True)
            if name in INTEGERS
            else arrow_text.of_series(records[name])
            for name in records.columns
        }
    )


def empty(names: Sequence[str]) -> pa.Table:
    """A table of these columns without rows."""
    return pa.table(
        {name: pa.array([], pa.int64() if name in INTEGERS else arrow_text.TEXT) for name in names}
    )


def column_order(orders: Sequence[Sequence[str]]) -> list[str]:
    """Columns of several files: their own in order of first appearance, then those added."""
    names = dict.fromkeys(name for order in orders for name in order)
    return [name for name in names if name not in META] + [name for name in names if name in META]


def frame(tables: Sequence[pa.Table]) -> pd.DataFrame:
    """Tables of the same columns as one frame with fixed dtypes."""
    both = pa.concat_tables(tables)
    text, whole = pd.api.types.pandas_dtype("str"), pd.Int64Dtype()
    columns = {
        name: (whole if name in INTEGERS else text).__from_arrow__(both[name])
        for name in both.column_names
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(len(both)))
