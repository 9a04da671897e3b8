"""Tables of text as CSV, XLSX, Parquet or JSON lines, part by part.

Each form gives back every text exactly. CSV carries an apostrophe where a spreadsheet would run a cell
(`csv_safety`); the others need none: their cells are text. The same tables give the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import BinaryIO, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe import arrow_text
from dialframe.csv_safety import PATTERNS, escape
from dialframe.errors import LeadFileError
from dialframe.leads.lead_file import INTEGERS, SHEET_NAME

Form = Literal["csv", "xlsx", "parquet", "jsonl"]
#: Takes one part of the rows; every part has the same columns.
Add = Callable[[pa.Table], None]

_BOM: Final = "\ufeff".encode()
#: Rows of CSV that are made at once.
_ROWS: Final = 65_536
_FORMULA: Final = f"^(?:{PATTERNS[0]})"
_NUMBER: Final = f"^(?:{PATTERNS[1]})$"
#: First bytes of a cell that may be a formula.
_SUSPECT: Final = np.zeros(256, np.bool_)
_SUSPECT[list("' \u00a0=+-@\t\r\n＝".encode())] = True
#: Those with which one certainly begins, and signs of a number.
_SURE, _SIGN = np.zeros(256, np.bool_), np.zeros(256, np.bool_)
_SURE[list(b"=+-@\t\r\n")] = True
_SIGN[list(b"+-")] = True
#: Signs for which a cell of CSV is quoted.
_SPECIAL: Final = b'",\r\n'
_EMPTY: Final = arrow_text.text("")
_QUOTE, _APOSTROPHE, _COMMA, _LINE_END = (
    arrow_text.text(sign) for sign in ('"', "'", ",", "\r\n")
)


def sink(
    form: Form,
    file: BinaryIO,
    columns: Sequence[str],
    *,
    mark: bool = True,
    guard: bool = True,
    bare: bool = False,
) -> AbstractContextManager[Add]:
    """Write rows into a file, part by part; it is whole when the block ends.

    Args:
        form: The format.
        file: Open for reading and writing, empty.
        columns: Names of the columns, in order.
        mark: Whether CSV begins with a byte order mark.
        guard: Whether cells of CSV that a spreadsheet would run carry an apostrophe.
        bare: Whether CSV has no header and no mark, to be put behind other rows.

    Raises:
        OSError: The disk is full.
        LeadFileError: A sheet cannot hold so many rows or so long a cell.
    """
    if form == "csv":
        return _csv(file, columns, mark=mark, guard=guard, bare=bare)
    return SINKS[form](file, columns)


@contextmanager
def _csv(
    file: BinaryIO, columns: Sequence[str], *, mark: bool, guard: bool, bare: bool
) -> Iterator[Add]:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    # A name that carries an apostrophe already is disarmed: a list cleaned again keeps its header.
    disarmed = [name if name.startswith("'") else escape(name) for name in columns]
    writer.writerow(disarmed if guard else columns)
    if not bare:
        file.write((_BOM if mark else b"") + text.getvalue().encode())

    def add(rows: pa.Table) -> None:
        cells = [arrow_text.whole(column) for column in rows.columns]
        for begin in range(0, len(rows), _ROWS):
            file.write(_csv_rows([array.slice(begin, _ROWS) for array in cells], guard=guard))

    yield add


def _csv_rows(columns: Sequence[pa.Array], *, guard: bool) -> memoryview:
    """The bytes that `csv.writer` makes of `escape`d cells; nulls are empty."""
    cells = [
        _as_text(column)
        if pa.types.is_integer(column.type)
        else _csv_cells(_as_text(column), guard=guard)
        for column in columns
    ]
    if len(cells) == 1:
        cells[0] = pc.if_else(pc.equal(cells[0], _EMPTY), '""', cells[0])
    cells[-1] = pc.binary_join_element_wise(cells[-1], _LINE_END, _EMPTY)
    data, starts = arrow_text.raw(pc.binary_join_element_wise(*cells, _COMMA))
    return data[starts[0] : starts[-1]].data


def _csv_cells(cells: pa.Array, *, guard: bool) -> pa.Array:
    """Cells with an apostrophe or quotes where they need them; few are looked at one by one."""
    data, starts = arrow_text.raw(cells)
    # Of an empty cell the head is that of the next one.
    suspects = np.flatnonzero(_SUSPECT.take(data.take(starts[:-1], mode="clip")) if guard else ())
    suspects = suspects[starts[suspects] < starts[suspects + 1]]
    # Most columns have none of these signs, and looking for one among bytes is quickest.
    content = data[starts[0] : starts[-1]].tobytes()
    has_special = any(sign in content for sign in _SPECIAL)
    if not len(suspects) and not has_special:
        return cells
    if arrow_text.repeats(cells):
        distinct = cells.dictionary_encode()
        return _csv_cells(distinct.dictionary, guard=guard).take(distinct.indices)
    rows = _run_by_spreadsheets(cells, suspects)
    if len(rows):
        guarded = pc.binary_join_element_wise(_APOSTROPHE, arrow_text.take(cells, rows), _EMPTY)
        cells = arrow_text.put(cells, rows, guarded)
        data, starts = arrow_text.raw(cells)
    if not has_special:
        return cells
    span = data[starts[0] : starts[-1]]
    special = np.logical_or.reduce([span == sign for sign in _SPECIAL])
    rows = arrow_text.rows_of(np.flatnonzero(special) + starts[0], starts)
    doubled = pc.replace_substring(arrow_text.take(cells, rows), '"', '""')
    return arrow_text.put(
        cells, rows, pc.binary_join_element_wise(_QUOTE, doubled, _QUOTE, _EMPTY)
    )


def _run_by_spreadsheets(cells: pa.Array, rows: np.ndarray) -> np.ndarray:
    """Those of some rows whose cell `escape` would give an apostrophe."""
    if not len(rows):
        return rows
    data, starts = arrow_text.raw(cells)
    heads = data[starts[rows]]
    span = data[starts[0] : starts[-1]]
    digits = np.count_nonzero(span - np.uint8(ord("0")) < 10)
    if (
        digits + len(rows) == len(span)
        and (np.diff(starts)[rows] > 1).all()
        and _SIGN[heads].all()
    ):
        # Nothing but digits with a sign before some of them, as in a column of numbers.
        return rows[:0]
    texts = arrow_text.take(cells, rows)
    run = ~arrow_text.matches(texts, _NUMBER)
    # Behind blanks and apostrophes the cell may begin with anything.
    hidden = np.flatnonzero(run & ~_SURE[heads])
    run[hidden] = arrow_text.matches(arrow_text.take(texts, hidden), _FORMULA)
    return np.asarray(rows[run])


@contextmanager
def _xlsx(file: BinaryIO, columns: Sequence[str]) -> Iterator[Add]:
    with sheet(file) as put:
        put([columns])

        def add(rows: pa.Table) -> None:
            put(zip(*(_as_text(column).to_pylist() for column in rows.columns), strict=True))

        yield add


@contextmanager
def _parquet(file: BinaryIO, columns: Sequence[str]) -> Iterator[Add]:
    schema = pa.schema(
        [(name, pa.int64() if name in INTEGERS else pa.string()) for name in columns]
    )
    # Loading it takes longer than writing a small list in another form.
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema, compression="zstd") as writer:

        def add(rows: pa.Table) -> None:
            writer.write_table(rows.rename_columns(list(columns)).cast(schema))

        yield add


@contextmanager
def _jsonl(file: BinaryIO, columns: Sequence[str]) -> Iterator[Add]:
    def add(rows: pa.Table) -> None:
        for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            line = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)
            file.write(line.encode() + b"\n")

    yield add


#: How each form but CSV is written.
SINKS: Final[dict[Form, Callable[[BinaryIO, Sequence[str]], AbstractContextManager[Add]]]] = {
    "xlsx": _xlsx,
    "parquet": _parquet,
    "jsonl": _jsonl,
}


def _as_text(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    text = column if column.type == arrow_text.TEXT else pc.cast(column, arrow_text.TEXT)
    return text.fill_null(arrow_text.text("")) if text.null_count else text


# Every cell is a text and is formatted as text, so a spreadsheet neither runs nor rounds it. Nothing in the
# file depends on the clock.

#: What a sheet holds at the most (Excel's specifications and limits).
MAX_ROWS: Final = 1_048_576
MAX_COLUMNS: Final = 16_384
MAX_CELL_CHARS: Final = 32_767

#: Takes rows of texts.
Put = Callable[[Iterable[Sequence[str]]], None]

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_NS: Final = "http://schemas.openxmlformats.org"
_MAIN: Final = f"{_NS}/spreadsheetml/2006/main"
_REL: Final = f"{_NS}/officeDocument/2006/relationships"
_TYPES: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_SHEET: Final = "xl/worksheets/sheet1.xml"

#: The parts beside the sheet: style 1 is text (format 49, `@`).
_PARTS: Final = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_NS}/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
        f'<Override PartName="/{_SHEET}" ContentType="{_TYPES}.worksheet+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_NS}/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{_REL}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>"
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_REL}">'
        f'<sheets><sheet name="{SHEET_NAME}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_NS}/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{_REL}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_REL}/styles" Target="styles.xml"/></Relationships>'
    ),
    "xl/styles.xml": (
        f'<styleSheet xmlns="{_MAIN}">'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        '<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
        '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
        "</styleSheet>"
    ),
}
_OPEN: Final = (
    f'<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    "</sheetView></sheetViews><sheetData>"
)
_CLOSE: Final = "</sheetData></worksheet>"

#: What XML cannot hold, and what would read as its replacement.
_UNSAYABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")

#: What stands for a character that XML reads as its own. The standard library's function for it loads HTTP.
_ESCAPED: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
)


@contextmanager
def sheet(file: BinaryIO) -> Iterator[Put]:
    """Write a workbook with one sheet; the first row stays in view.

    Raises:
        LeadFileError: There are more rows, columns or characters in a cell than a sheet holds.
        OSError: The disk is full.
    """
    with zipfile.ZipFile(file, "w") as book:
        for name, text in _PARTS.items():
            book.writestr(_info(name), _HEAD + text)
        with book.open(_info(_SHEET), "w", force_zip64=True) as part:
            part.write((_HEAD + _OPEN).encode())
            count = 0

            def put(rows: Iterable[Sequence[str]]) -> None:
                nonlocal count
                for row in rows:
                    count += 1
                    part.write(_row(row, count).encode())

            yield put
            part.write(_CLOSE.encode())


def _info(name: str) -> zipfile.ZipInfo:
    # The first instant that the format can name, and no rights of this machine's user.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 0
    return info


def _row(cells: Sequence[str], number: int) -> str:
    if number > MAX_ROWS:
        raise _too_much(f"more than {MAX_ROWS:,} rows")
    if len(cells) > MAX_COLUMNS:
        raise _too_much(f"more than {MAX_COLUMNS:,} columns")
    inside = "".join(_cell(text, column, number) for column, text in enumerate(cells) if text)
    return f'<row r="{number}">{inside}</row>'


def _cell(text: str, column: int, number: int) -> str:
    if len(text) > MAX_CELL_CHARS:
        raise _too_much(f"a cell of {len(text):,} characters in row {number:,}")
    inside = _UNSAYABLE.sub(_spell_out, text).translate(_ESCAPED)
    reference = f"{_letters(column)}{number}"
    return (
        f'<c r="{reference}" s="1" t="inlineStr"><is><t xml:space="preserve">{inside}</t></is></c>'
    )


def _spell_out(match: re.Match[str]) -> str:
    return f"_x{ord(match[0]):04X}_"


def _letters(column: int) -> str:
    """`A` for 0, `AA` for 26."""
    name = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        name = chr(ord("A") + digit) + name
    return name


def _too_much(what: str) -> LeadFileError:
    return LeadFileError(f"a sheet cannot hold {what}; choose parquet, jsonl or csv instead")
