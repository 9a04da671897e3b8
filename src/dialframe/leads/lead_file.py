"""A lead file as it was read: text cells, where each record stands, and every decision taken; it reads nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.errors import LeadFileError

#: Columns that this package adds to the records in its files, in order; `read` drops them again.
META: Final = (
    "_file",
    "_line",
    "_row",
    "_outcome",
    "_reason",
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


@dataclass(frozen=True, slots=True, eq=False)
class LeadFile:
    """The records of one file as text, nothing coerced, cut or shifted.

    Attributes:
        path: The file.
        frame: One row per record that may be a lead; `str` columns named after the header (empty
            and repeated names get a name of their own); empty cells are empty texts.
        header: The header's raw texts, or None for a file without one.
        lines: 1-based physical line (sheet row, or record of a Parquet file) where each row of
            `frame` begins.
        rows: 1-based ordinal of each row of `frame` among all records, skipped ones included.
        skipped: Lines that are no leads: the columns of `frame`, `_line`, `_row` (null for those
            above the first lead, which are no records), `_code` and `_raw`.
        faults: Row of `frame` to the reason code of a record that could not be read whole.
        warnings: Row of `frame` to warning codes.
        raws: Row of `frame` to the record's own text, for the rows in `faults`.
        decisions: What was found out about the file.
        sha256: Hexadecimal digest of the file on disk.
        parts: The files that were read together, empty where there is only one.
        part_of: Place in `parts` of each row of `frame`, None where there is only one file.
    """

    path: Path
    frame: pd.DataFrame
    header: tuple[str, ...] | None
    lines: np.ndarray
    rows: np.ndarray
    skipped: pd.DataFrame
    decisions: Decisions
    sha256: str
    faults: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    warnings: Mapping[int, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    raws: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    parts: tuple[Path, ...] = ()
    part_of: np.ndarray | None = None

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
        """Records of the file: the rows of `frame` and the skipped ones among and behind them."""
        return len(self.frame) + int(self.skipped["_row"].notna().sum())

    def __repr__(self) -> str:
        # No cell and no header: a repr stands in logs.
        shape = f"{len(self.frame)} rows x {self.frame.shape[1]} columns"
        return f"LeadFile({self.name!r}, {shape}, {self.decisions.format})"


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Records of one file, as they are judged.

    Attributes:
        columns: Texts by column of the file.
        faults: Row to reason code of a record that could not be read whole.
        warnings: Row to warning codes.
        raws: Row to the text of a record that could not be read whole.
    """

    columns: Mapping[str, pa.Array]
    faults: Mapping[int, str] = field(default_factory=dict)
    warnings: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    raws: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def repeated(self, source: np.ndarray) -> Rows:
        """Some of these records, in order, perhaps several times each."""

        # Most blocks have no fault and no warning at all.
        def each(by_row: Mapping[int, Any]) -> dict[int, Any]:
            if not by_row:
                return {}
            return {at: by_row[row] for at, row in enumerate(source.tolist()) if row in by_row}

        # Arrow's texts are copied once, however many rows one record becomes.
        columns = {name: column.take(pa.array(source)) for name, column in self.columns.items()}
        return Rows(columns, each(self.faults), each(self.warnings), each(self.raws))


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


def skipped_frame(names: Sequence[str], skipped: Sequence[Skipped]) -> pd.DataFrame:
    """Lines that are no leads as `LeadFile.skipped` has them."""
    cells = text_frame([wide(each.cells, len(names)) for each in skipped], names)
    return cells.assign(
        _line=pd.array([each.line for each in skipped], dtype="Int64"),
        _row=pd.array([each.row for each in skipped], dtype="Int64"),
        _code=pd.array([each.code for each in skipped], dtype="str"),
        _raw=pd.array([each.raw for each in skipped], dtype="str"),
    )


def text_frame(rows: Sequence[Sequence[str]], names: Sequence[str]) -> pd.DataFrame:
    """Rows of texts as columns of text."""
    # Without a row there is nothing to turn, and the columns are there all the same.
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    arrays = {
        name: pd.array(pa.array(column, pa.large_string()), dtype="str")
        for name, column in zip(names, columns, strict=True)
    }
    return pd.DataFrame(arrays, index=pd.RangeIndex(len(rows)))


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
    return len(_DIGITS.findall(cell)) >= _MANY_DIGITS
