"""Frames of text as CSV, XLSX, Parquet or JSON lines, part by part.

Each form gives back every text exactly. CSV carries an apostrophe where a spreadsheet would run a cell
(`frames.csv_safety`); the others need none: their cells are text. The same frames give the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import BinaryIO, Final, Literal

import pandas as pd
import pyarrow as pa

from dialframe.frames.csv_safety import escape
from dialframe.leads.writing import csv_rows, xlsx

Form = Literal["csv", "xlsx", "parquet", "jsonl"]
#: Takes one part of the rows; every part has the same columns.
Add = Callable[[pd.DataFrame], None]

_BOM: Final = "\ufeff".encode()
_INTEGERS: Final = frozenset({"_line", "_row", "_kept_line"})


def sink(
    form: Form,
    file: BinaryIO,
    columns: Sequence[str],
    *,
    mark: bool = True,
    guard: bool = True,
) -> AbstractContextManager[Add]:
    """Write rows into a file, part by part; it is whole when the block ends.

    Args:
        form: The format.
        file: Open for reading and writing, empty.
        columns: Names of the columns, in order.
        mark: Whether CSV begins with a byte order mark.
        guard: Whether cells of CSV that a spreadsheet would run carry an apostrophe.

    Raises:
        OSError: The disk is full.
        LeadFileError: A sheet cannot hold so many rows or so long a cell.
    """
    if form == "csv":
        return _csv(file, columns, mark=mark, guard=guard)
    return SINKS[form](file, columns)


def to_csv(frame: pd.DataFrame) -> bytes:
    """The frame as CSV for people: UTF-8 with a mark, CR LF, formulas disarmed.

    Args:
        frame: Rows of one outcome.

    Returns:
        The bytes of the file.

    Example:
        content = dialframe.leads.to_csv(cleaned.clean)
    """
    file = io.BytesIO()
    with _csv(file, [str(name) for name in frame.columns]) as add:
        add(frame)
    return file.getvalue()


@contextmanager
def _csv(
    file: BinaryIO, columns: Sequence[str], *, mark: bool = True, guard: bool = True
) -> Iterator[Add]:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    # A name that carries an apostrophe already is disarmed: a list cleaned again keeps its header.
    disarmed = [name if name.startswith("'") else escape(name) for name in columns]
    writer.writerow(disarmed if guard else columns)
    file.write((_BOM if mark else b"") + text.getvalue().encode())

    def add(frame: pd.DataFrame) -> None:
        for part in csv_rows.rows(csv_rows.columns_of(frame), guard=guard):
            file.write(part)

    yield add


@contextmanager
def _xlsx(file: BinaryIO, columns: Sequence[str]) -> Iterator[Add]:
    with xlsx.sheet(file) as put:
        put([columns])

        def add(frame: pd.DataFrame) -> None:
            put(zip(*(_texts(frame[name]) for name in frame.columns), strict=True))

        yield add


@contextmanager
def _parquet(file: BinaryIO, columns: Sequence[str]) -> Iterator[Add]:
    schema = pa.schema(
        [(name, pa.int64() if name in _INTEGERS else pa.string()) for name in columns]
    )
    # Loading it takes longer than writing a small list in another form.
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema, compression="zstd") as writer:

        def add(frame: pd.DataFrame) -> None:
            table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
            writer.write_table(table.replace_schema_metadata(None))

        yield add


@contextmanager
def _jsonl(file: BinaryIO, columns: Sequence[str]) -> Iterator[Add]:
    def add(frame: pd.DataFrame) -> None:
        cells = [_values(frame[name]) for name in frame.columns]
        for row in zip(*cells, strict=True):
            line = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)
            file.write(line.encode() + b"\n")

    yield add


#: How each form but CSV is written.
SINKS: Final[dict[Form, Callable[[BinaryIO, Sequence[str]], AbstractContextManager[Add]]]] = {
    "xlsx": _xlsx,
    "parquet": _parquet,
    "jsonl": _jsonl,
}


def _texts(column: pd.Series) -> list[str]:
    return ["" if pd.isna(value) else str(value) for value in column.tolist()]


def _values(column: pd.Series) -> list[object]:
    return [None if pd.isna(value) else value for value in column.tolist()]
