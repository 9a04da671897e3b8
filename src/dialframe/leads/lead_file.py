"""A lead file as it was read: text cells, where each record stands, and every decision taken; it reads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.errors import LeadFileError
from dialframe.leads.lines_and_records import Dialect

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

        def each(found: Mapping[int, Any]) -> dict[int, Any]:
            if not found:
                return {}
            return {at: found[row] for at, row in enumerate(source.tolist()) if row in found}

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
    names: list[str] = []
    taken = set(META)
    for place, text in enumerate(raw, start=1):
        wanted = " ".join(text.replace("\ufeff", "").split()) or f"column_{place}"
        name, copy = wanted, 2
        while name in taken:
            name, copy = f"{wanted} ({copy})", copy + 1
        taken.add(name)
        names.append(name)
    return names
