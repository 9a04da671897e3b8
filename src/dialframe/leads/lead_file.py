"""A lead file as it was read: text cells, where each record stands, and every decision taken; it reads nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from dialframe import arrow_text
from dialframe.errors import LeadFileError

if TYPE_CHECKING:
    import pandas as pd

#: Columns that this package adds to the records in its files, in order; `read` drops them again.
META: Final = (
    "_file",
    "_line",
    "_row",
    "_outcome",
    "_reason",
    "_remedy",
    "_field",
    "_value",
    "_all_reasons",
    "_warnings",
    "_kept_file",
    "_kept_line",
    "_raw",
)
#: Those that are whole numbers; all others are text.
INTEGERS: Final = frozenset({"_line", "_row", "_kept_line"})

#: Columns of a cleaned record that come from mapped columns, in order.
LEAD_COLUMNS: Final = (
    "phone",
    "phone_extension",
    "phone_other",
    "first_name",
    "last_name",
    "full_name",
    "email",
    "external_id",
    "source",
)
#: Columns of the widest table that is read; the widest public contact lists have some hundreds.
MOST_COLUMNS: Final = 2_000
#: Name of the sheet that this package writes, by which it knows its own workbooks.
SHEET_NAME: Final = "dialframe leads"


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was found out about a file; every one of them has an argument of `read` to say otherwise.

    Attributes:
        format: `csv`, `tsv`, `workbook`, `jsonl`, `json` or `parquet`.
        gzipped: Whether the file was unpacked.
        encoding: Encoding of a text file.
        encoding_confidence: 0 to 1; 1 where the bytes prove it.
        encoding_runner_up: The next best encoding with its weight, where it was weighed.
        bom: Whether a byte order mark was taken off.
        dialect: How cells are written in a text file.
        delimiter_confidence: 0 to 1; low where another delimiter fits nearly as well.
        delimiter_runner_up: The next best delimiter with its score.
        sheet: Sheet of a workbook.
        other_sheets: The sheets left alone.
        alike_sheets: Those of them with the same header, which were read as one list with it.
        hidden_rows: How many of its rows are hidden in the workbook; they were read too.
        hidden_columns: How many of its columns are.
        header_line: Physical line or sheet row of the header, None where there is none.
        header_confidence: 0 to 1.
        preamble_lines: Physical lines of the records above the header.
        repaired_lines: Physical lines with bytes of another encoding.
        dropped_columns: Columns that an earlier run of this package had added.
        doubt: Why a clean list may not be what was written, in words.
    """

    format: str
    gzipped: bool = False
    encoding: str | None = None
    encoding_confidence: float = 1.0
    encoding_runner_up: str | None = None
    bom: bool = False
    dialect: Dialect | None = None
    delimiter_confidence: float = 1.0
    delimiter_runner_up: str | None = None
    sheet: str | None = None
    other_sheets: tuple[str, ...] = ()
    alike_sheets: tuple[str, ...] = ()
    hidden_rows: int = 0
    hidden_columns: int = 0
    header_line: int | None = None
    header_confidence: float = 1.0
    preamble_lines: tuple[int, ...] = ()
    repaired_lines: tuple[int, ...] = ()
    dropped_columns: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def confidence(self) -> float:
        """The least sure of the three decisions that are guesses: encoding, delimiter, header."""
        # Each is wrong by itself: a sure encoding does not mend a doubtful header.
        return min(self.encoding_confidence, self.delimiter_confidence, self.header_confidence)

    def to_dict(self) -> dict[str, Any]:
        """The decisions as plain values, for a report."""
        return asdict(self) | {"confidence": self.confidence}


@dataclass(frozen=True, eq=False)
class LeadFile:
    """The records of one file as text, nothing coerced, cut or shifted.

    Attributes:
        path: The file.
        table: One row per record that may be a lead; columns of text (`large_string`, no nulls) named
            after the header (empty and repeated names get a name of their own).
        header: The header's raw texts, or None for a file without one.
        lines: 1-based physical line (sheet row, or record of a Parquet file) where each row of
            `table` begins.
        rows: 1-based ordinal of each row of `table` among all records, skipped ones included.
        left_out: Lines that are no leads: the columns of `table`, `_line`, `_row` (null for those
            above the first lead, which are no records), `_code` and `_raw`.
        decisions: What was found out about the file.
        sha256: Hexadecimal digest of the file on disk.
        faults: Row of `table` to the reason code of a record that could not be read whole.
        warnings: Row of `table` to warning codes.
        raws: Row of `table` to the record's own text, for the rows in `faults`.
        earlier: Row of `table` to the reason of an earlier run of this package that still holds.
        parts: The files that were read together, empty where there is only one.
        part_of: Place in `parts` of each row of `table`, None where there is only one file.
    """

    path: Path
    table: pa.Table
    header: tuple[str, ...] | None
    lines: np.ndarray
    rows: np.ndarray
    left_out: pa.Table
    decisions: Decisions
    sha256: str
    faults: Mapping[int, str] = field(default_factory=dict)
    warnings: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    raws: Mapping[int, str] = field(default_factory=dict)
    earlier: Mapping[int, Earlier] = field(default_factory=dict)
    parts: tuple[Path, ...] = ()
    part_of: np.ndarray | None = None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """`table` as a DataFrame of `str` columns; empty cells are empty texts."""
        return arrow_text.frame(self.table)

    @cached_property
    def skipped(self) -> pd.DataFrame:
        """`left_out` as a DataFrame."""
        return arrow_text.frame(self.left_out)

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(map(str, self.table.column_names))

    @property
    def name(self) -> str:
        """Name of the file without its folder."""
        return self.path.name

    @property
    def dialect(self) -> Dialect | None:
        """How cells are written in a text file, None for other formats."""
        return self.decisions.dialect

    @property
    def records(self) -> int:
        """Records of the file: the rows of `table` and the skipped ones among and behind them."""
        return len(self.table) + self.skipped_records

    @property
    def skipped_records(self) -> int:
        """Records that are no leads."""
        return len(self.left_out) - int(self.left_out["_row"].null_count)

    def cells(self, column: str) -> list[str]:
        """The texts of one column.

        Args:
            column: Its name.
        """
        texts: list[str] = self.table[column].to_pylist()
        return texts

    def sample(self, rows: int) -> LeadFile:
        """The file with at most so many rows of `table`, spread over all of it.

        Args:
            rows: How many at the most.
        """
        step = sample_step(len(self.table), rows)
        if step == 1:
            return self
        return replace(
            self, table=self.table.take(arrow_text.numbers(range(0, len(self.table), step)))
        )

    def batch(self) -> Batch:
        """All records as one batch."""
        columns = {name: arrow_text.whole(self.table[name]) for name in self.names}
        return Batch(
            columns, self.lines, self.rows, self.faults, self.warnings, self.raws, self.earlier
        )

    def __repr__(self) -> str:
        # No cell and no header: a repr stands in logs.
        shape = f"{len(self.table)} rows x {self.table.num_columns} columns"
        return f"LeadFile({self.name!r}, {shape}, {self.decisions.format})"


def sample_step(rows: int, most: int) -> int:
    """Every how manieth row is in a sample of so many: odd, to see rows of two kinds in turn."""
    return max(1, -(-rows // most)) | 1


class Earlier(NamedTuple):
    """Why an earlier run of this package set a record aside: reason, field and value."""

    code: str
    field: str
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Records of one file that follow each other.

    Attributes:
        columns: Texts by column of the file.
        lines: Their physical lines.
        ordinals: Their ordinals among all records.
        faults: Row to reason code of a record that could not be read whole.
        warnings: Row to warning codes.
        raws: Row to the text of a record that could not be read whole.
        earlier: Row to the reason of an earlier run that still holds.
    """

    columns: Mapping[str, pa.Array]
    lines: np.ndarray
    ordinals: np.ndarray
    faults: Mapping[int, str] = field(default_factory=dict)
    warnings: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    raws: Mapping[int, str] = field(default_factory=dict)
    earlier: Mapping[int, Earlier] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lines)

    def taken(self, source: np.ndarray) -> Batch:
        """Some of these records, in order, perhaps several times each.

        Args:
            source: Their rows.
        """

        # Most batches have no fault and no warning at all.
        def each(by_row: Mapping[int, Any]) -> dict[int, Any]:
            if not by_row:
                return {}
            return {at: by_row[row] for at, row in enumerate(source.tolist()) if row in by_row}

        once = bool(np.all(np.diff(source) > 0))
        columns = {
            name: arrow_text.take(column, source)
            if once
            else column.take(arrow_text.numbers(source))
            for name, column in self.columns.items()
        }
        notes = map(each, (self.faults, self.warnings, self.raws, self.earlier))
        return Batch(columns, self.lines[source], self.ordinals[source], *notes)

    def slices(self, rows: int) -> Iterable[Batch]:
        """The same in batches of so many records.

        Args:
            rows: How many.
        """
        if len(self) <= rows:
            return [self] if len(self) else []
        return [
            self.taken(np.arange(begin, min(begin + rows, len(self))))
            for begin in range(0, len(self), rows)
        ]


def check_width(columns: int) -> None:
    """Refuse a table that is no list of leads, before anything is decided about its columns.

    Args:
        columns: How many columns it has.

    Raises:
        LeadFileError: There are more than `MOST_COLUMNS`.
    """
    if columns > MOST_COLUMNS:
        raise LeadFileError(
            f"the table has {columns:,} columns, and a list of leads has {MOST_COLUMNS:,} at the "
            "most; keep the columns that matter and read it again"
        )


def unique_names(header: tuple[str, ...] | None, width: int) -> list[str]:
    """A name for each column: the header's, `column_3` for an empty one, ` (2)` behind a repeated one."""
    check_width(width)
    raw = [*(header or ()), *[""] * width][:width]
    # A line end inside a header would tear every file that is written with it.
    named = [" ".join(text.replace("\ufeff", "").split()) for text in raw]
    # Columns of this package stand beside them in every file that is written.
    return numbered([name or f"column_{at}" for at, name in enumerate(named, start=1)], META)


def numbered(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """The names; one that is repeated, or taken already, gets ` (2)` behind it, or the next free number."""
    free: dict[str, None] = {}
    for name in names:
        wanted, copy = name, 2
        while wanted in free or wanted in taken:
            wanted, copy = f"{name} ({copy})", copy + 1
        free[wanted] = None
    return list(free)


class Skipped(NamedTuple):
    """A line that is no lead: its number from 1, its ordinal among all records if it is one, and what it is."""

    line: int
    row: int | None
    code: str
    raw: str
    cells: list[str]


def left_out_table(names: Sequence[str], skipped: Sequence[Skipped]) -> pa.Table:
    """Lines that are no leads as `LeadFile.left_out` has them.

    Args:
        names: Names of the columns.
        skipped: The lines.
    """
    return (
        text_table([wide(each.cells, len(names)) for each in skipped], names)
        .append_column("_line", whole_numbers([each.line for each in skipped]))
        .append_column("_row", whole_numbers([each.row for each in skipped]))
        .append_column("_code", arrow_text.column([each.code for each in skipped]))
        .append_column("_raw", arrow_text.column([each.raw for each in skipped]))
    )


def whole_numbers(values: Sequence[int | None]) -> pa.Array:
    """A column of whole numbers; None is null."""
    missing = np.array([value is None for value in values], np.bool_)
    return arrow_text.numbers(np.array([value or 0 for value in values], np.int64), missing)


def text_table(rows: Sequence[Sequence[str]], names: Sequence[str]) -> pa.Table:
    """Rows of texts as columns of text.

    Args:
        rows: The rows, each as wide as there are names.
        names: Names of the columns.
    """
    # Without a row there is nothing to turn, and the columns are there all the same.
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pa.table(dict(zip(names, map(arrow_text.column, columns), strict=True)))


def wide(row: list[str], width: int) -> list[str]:
    """A row filled up with empty cells, or cut, to a width."""
    return row if len(row) == width else [*row, *[""] * (width - len(row))][:width]


# CR CR LF is what a file gets that was translated to Windows line ends twice.
LINE_END: Final = re.compile("\r{0,2}\n|\r")
_DIGITS: Final = re.compile(r"\d")
_MANY_DIGITS: Final = 5


@dataclass(frozen=True, slots=True)
class Dialect:
    """How cells are written.

    Attributes:
        delimiter: Between cells; empty for a file of one column.
        quote: Around cells, or None where the file has no quotes.
        escape: A character that takes a quote's meaning away, or None (quotes are doubled).
        skip_space: Whether blanks behind a delimiter belong to it.
        starts: Where each column begins, in a file whose columns have a fixed width.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    skip_space: bool = False
    starts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """What a usual record looks like.

    Attributes:
        width: Cells that most records have.
        digits: Columns in which nearly every record has many digits (phones, ids).
        ats: Columns in which nearly every record has an `@`.
    """

    width: int
    digits: tuple[int, ...] = ()
    ats: tuple[int, ...] = ()

    def fits(self, cells: Sequence[str]) -> bool:
        """Whether the cells are a usual record; never for a single column."""
        return len(cells) == self.width and self.resembles(cells)

    def begins(self, cells: Sequence[str]) -> bool:
        """Whether the cells may be a record of their own, not a line inside a cell."""
        # Inside a quoted note a line has fewer cells than a record.
        return len(cells) >= self.width > 1 or self.resembles(cells)

    def resembles(self, cells: Sequence[str]) -> bool:
        """Whether the cells are a record of their own, perhaps with some too few or too many."""
        if self.width < 2:
            return False
        # Two or three words with commas between them are as often a sentence.
        if not self.digits and not self.ats:
            return len(cells) == self.width > 3
        # A record is known by its phone and its mail, wherever a line of a note has commas.
        telling = (*self.digits, *self.ats)
        return (
            max(telling) < len(cells)
            and all(has_many_digits(cells[at]) for at in self.digits)
            and all("@" in cells[at] for at in self.ats)
        )


@dataclass(frozen=True, slots=True)
class Lines:
    """Physical lines and what ended each (empty for a last line without an end)."""

    texts: list[str]
    ends: list[str]

    def raw(self, start: int, stop: int) -> str:
        """Lines `start` to `stop` as they stand in the file, without the last one's end."""
        # With the ends that they have: a reject file gives back what was sent.
        inner = range(start, stop - 1)
        return "".join(self.texts[at] + self.ends[at] for at in inner) + self.texts[stop - 1]


@dataclass(frozen=True, slots=True)
class Records:
    """Records in the order of the file.

    Attributes:
        cells: Texts of each record.
        starts: 0-based physical line where each begins.
        stops: Line behind its last one.
        faults: Record to reason code, for records that could not be read whole.
        warnings: Record to warning code.
        lines: The physical lines; empty lists where the format has none.
        raws: Record to its own text, where lines do not tell it.
    """

    cells: list[list[str]]
    starts: list[int]
    stops: list[int]
    faults: dict[int, str] = field(default_factory=dict)
    warnings: dict[int, str] = field(default_factory=dict)
    lines: Lines = field(default_factory=lambda: Lines([], []))
    raws: dict[int, str] = field(default_factory=dict)

    def raw(self, record: int) -> str:
        """The record's own text; cells joined by tabs where the format has no lines of text."""
        if record in self.raws:
            return self.raws[record]
        # A row of a sheet; tabs are what pasting it elsewhere gives.
        if not self.lines.texts:
            return "\t".join(self.cells[record]).rstrip("\t")
        return self.lines.raw(self.starts[record], self.stops[record])


def split_lines(text: str) -> Lines:
    """Physical lines, ended by CR LF, LF or CR, mixed as they come."""
    texts = LINE_END.split(text)
    ends = [*LINE_END.findall(text), ""]
    # What stands behind the last line end is no line (POSIX, 3.206).
    if texts[-1] == "":
        texts.pop()
        ends.pop()
    return Lines(texts, ends)


def usual_width(widths: Iterable[int]) -> int:
    """The most frequent number of cells, the larger one of two that are as frequent; 0 of none."""
    counted = Counter(widths)  # which takes what was counted before as it is
    return max(counted, key=lambda width: (counted[width], width), default=0)


def has_many_digits(cell: str) -> bool:
    """Whether the cell holds as many digits as a short phone number or id."""
    return len(cell) >= _MANY_DIGITS and len(_DIGITS.findall(cell)) >= _MANY_DIGITS
