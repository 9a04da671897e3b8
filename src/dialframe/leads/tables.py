"""Workbooks, JSON and Parquet as text cells."""

from __future__ import annotations

import datetime as dt
import html
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import python_calamine as calamine

from dialframe.errors import LeadFileError
from dialframe.leads import header_vocabulary
from dialframe.leads.lead_file import LINE_END, Lines, Records, check_width, has_many_digits

#: Whole numbers below this are exact in the floating point that spreadsheets store.
EXACT_BELOW: Final = 2**53

_LOOKED_AT_ROWS: Final = 200
#: Empty rows of a gap that count as records; more of them are skipped.
_GAP_ROWS: Final = 1_000
_NAME_POINTS: Final = 3.0
#: The stream in which Office keeps a workbook with a password (MS-OFFCRYPTO 2.3.4.1), and how far
#: into the file its folder may stand.
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_SEARCHED_BYTES: Final = 2**22
#: What the readers of archives and sheets raise for content that is not as it should be.
_DAMAGE: Final = (
    calamine.CalamineError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
)
_VISIBLE: Final = calamine.SheetVisibleEnum.Visible
_WORKSHEET: Final = calamine.SheetTypeEnum.WorkSheet


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet's rows and why it was chosen.

    Attributes:
        name: The sheet.
        records: A record for each row; its physical line is the row's number in the sheet.
        others: Names of the other sheets, hidden ones with ` (hidden)`.
        alike: Names of the visible ones among them that begin with the same header.
        hidden_rows: Its rows that nobody sees, counted from 1.
        hidden_columns: Its columns that nobody sees, counted from 1.
    """

    name: str
    records: Records
    others: tuple[str, ...]
    alike: tuple[str, ...] = ()
    hidden_rows: tuple[int, ...] = ()
    hidden_columns: tuple[int, ...] = ()


class Workbook:
    """A workbook that was opened once, however many of its sheets are read.

    Args:
        path: For messages.
        data: The workbook.

    Raises:
        LeadFileError: It is no workbook, has a password, declares XML entities, has more sheets
            than anybody makes, or a cell far from any table.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        # The container of such a workbook is that of old XLS files, which its reader calls damaged.
        if _ENCRYPTED in data[:_SEARCHED_BYTES]:
            raise LeadFileError(f"{path} has a password; save it without one first", path=path)
        with _damage_named(path):
            if data.startswith(ZIP):
                check_parts(path, data)
            self._book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
            self._parts = Parts(data)
        count = len(self._book.sheet_names)
        if count > MOST_SHEETS:
            raise LeadFileError(
                f"{path} has {count:,} sheets; keep those with leads, at most {MOST_SHEETS}",
                path=path,
            )

    def sheet(self, sheet: str | int | None = None) -> Sheet:
        """The sheet that looks most like a list of leads, or the one named.

        Args:
            sheet: Name or 0-based place of the sheet; hidden ones are taken only when named.

        Raises:
            LeadFileError: It is damaged, or has no such sheet or no rows.
        """
        path, book = self.path, self._book
        with _damage_named(path):
            names = _sheet_names(path, book, sheet)
            rows = {}
            for name in names:
                rows[name] = _texts(book.get_sheet_by_name(name))
            # Likeness of ten thousand columns would take minutes.
            for texts in rows.values():
                check_width(max(map(len, texts), default=0))
            name = max(rows, key=lambda title: (_likeness(rows[title]), -names.index(title)))
            _mask(rows[name], self._parts.masks(name))
            hidden_rows, hidden_columns = self._parts.hidden(name)
        if not rows[name]:
            raise LeadFileError(f"{path} is empty: no visible sheet has rows", path=path)
        top = _top(rows[name])
        alike = tuple(
            title for title in names if title != name and top and _top(rows[title]) == top
        )
        used = len(rows[name])
        width = max(map(len, rows[name]))
        return Sheet(
            name,
            _records(rows[name]),
            tuple(
                meta.name if meta.visible == _VISIBLE else f"{meta.name} (hidden)"
                for meta in book.sheets_metadata
                if meta.name != name
            ),
            alike,
            tuple(row for row in hidden_rows if row <= used),
            tuple(column for column in hidden_columns if column <= width),
        )


def _texts(sheet: calamine.CalamineSheet) -> list[list[str]]:
    """The rows of a sheet; those without anything in them are one empty row, of which there may be a million."""
    empty: list[str] = []
    left = [""] * (sheet.start[1] if sheet.start else 0)
    rows = []
    for row in sheet.iter_rows():
        texts = [shown(cell) for cell in row]
        rows.append([*left, *texts] if any(texts) else empty)
    return rows


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except calamine.PasswordError:
        raise LeadFileError(
            f"{path} has a password; save it without one first", path=path
        ) from None
    except _DAMAGE as problem:
        raise LeadFileError(f"{path} is a damaged workbook: {problem}", path=path) from None


def shown(cell: object) -> str:
    """The cell as a person sees it: no `.0` behind whole numbers, dates as ISO 8601."""
    if isinstance(cell, str):
        return cell
    # NaN differs from itself.
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        whole = cell.is_integer() and abs(cell) < EXACT_BELOW
        return f"{cell:.0f}" if whole else repr(cell)
    # A spreadsheet knows no days: each is an instant at midnight.
    if isinstance(cell, dt.datetime) and cell.time() == dt.time():
        return cell.date().isoformat()
    if isinstance(cell, (dt.date, dt.time)):
        return cell.isoformat()
    return str(cell)


def _mask(rows: list[list[str]], masks: Masks) -> None:
    """Give back the leading zeros and the signs that a cell's format shows."""
    for (row, column), mask in masks.items():
        if row < len(rows) and column < len(rows[row]) and rows[row][column].isdecimal():
            rows[row][column] = masked(rows[row][column], mask)


def _sheet_names(
    path: Path, book: calamine.CalamineWorkbook, sheet: str | int | None
) -> list[str]:
    if sheet is None:
        visible = [
            meta.name
            for meta in book.sheets_metadata
            if meta.visible == _VISIBLE and meta.typ == _WORKSHEET
        ]
        if not visible:
            raise LeadFileError(
                f"{path} has no visible sheet; name one with sheet=, it has: {_list(book)}",
                path=path,
            )
        return visible
    if isinstance(sheet, int) and 0 <= sheet < len(book.sheet_names):
        return [book.sheet_names[sheet]]
    if sheet not in book.sheet_names:
        raise LeadFileError(f"{path} has no sheet {sheet!r}; it has: {_list(book)}", path=path)
    return [str(sheet)]


def _list(book: calamine.CalamineWorkbook) -> str:
    return ", ".join(book.sheet_names)


def _top(rows: list[list[str]]) -> list[str]:
    """Texts of the first row that has several, as far as they tell a header."""
    # A title above the header has one cell.
    first = next((row for row in rows[:_LOOKED_AT_ROWS] if sum(map(bool, row)) > 1), [])
    return [cell.strip().casefold() for cell in first if cell.strip()]


def _likeness(rows: list[list[str]]) -> float:
    """How much a sheet looks like a list of leads: known headers, and rows with many digits."""
    looked_at = rows[:_LOOKED_AT_ROWS]
    if not looked_at:
        return -1.0
    names = max(len({header_vocabulary.known(cell) for cell in row} - {None}) for row in looked_at)
    numbered = sum(any(map(has_many_digits, row)) for row in looked_at)
    return _NAME_POINTS * names + numbered / len(looked_at) + min(len(rows), 10**6) / 10**7


def _records(rows: list[list[str]]) -> Records:
    width = max((at + 1 for row in rows for at, cell in enumerate(row) if cell), default=0)
    places, empty = [], 0
    for at, row in enumerate(rows):
        empty = 0 if any(row) else empty + 1
        # Of a gap of a million rows a few are enough to see that it is one.
        if empty <= _GAP_ROWS:
            places.append(at)
    return Records([rows[at][:width] for at in places], places, [at + 1 for at in places])


# The reader of cells builds every cell between the first and the last one, so a single stray cell at
# the far corner of a sheet would fill the memory. And a sheet is XML: entities of its own, which
# grow without end when they are put in, have no place in a workbook.

#: Most cells, empty ones among them, that a sheet may span.
MOST_SHEET_CELLS: Final = 30_000_000
#: Most sheets of a workbook.
MOST_SHEETS: Final = 500

_HEAD_BYTES: Final = 4096
_CHUNK_BYTES: Final = 2**22
_OVERLAP_BYTES: Final = 256
_ENTITIES: Final = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
#: A row whose first cell has a value and no place of its own, and a cell with a value: cells that are only
#: formatted, down to the last row of a sheet, are none.
_ROW: Final = re.compile(
    rb"<(?:\w+:)?row\b[^<>]*?\br=\"(\d{1,9})\"[^<>]*>\s*<(?:\w+:)?c\b(?![^<>]*\br=)[^<>]*(?<!/)>"
)
_CELL: Final = re.compile(
    rb"<(?:\w+:)?c\b[^<>]*?\br=\"([A-Z]{1,3})(\d{1,9})\"[^<>]*(?<!/)>\s*<(?:\w+:)?(?:v|is|f)\b"
)
_SHEET_PART: Final = re.compile(r"xl/worksheets/[^/]+\.xml")
_REPEATED_CELL: Final = re.compile(
    rb"<table:table-cell\b(?=[^<>]*office:value-type)[^<>]*number-columns-repeated=[\"']0*+(\d{4,20})\d*+[\"']"
)
_REPEATED_ROW: Final = re.compile(
    rb"<table:table-row\b[^<>]*number-rows-repeated=[\"']0*+(\d{4,20})\d*+[\"'][^<>]*>(.{0,20000}?)</table:table-row>",
    re.DOTALL,
)
_MOST_REPEATED: Final = 20_000
_LETTERS: Final = 26
#: Record of a binary sheet that holds its first and last row and column.
_DIMENSION: Final = 0x0194
_SPAN: Final = struct.Struct("<4I")


def check_parts(path: Path, data: bytes) -> None:
    """Refuse a workbook whose XML declares entities or whose cells lie too far apart.

    Raises:
        LeadFileError: It does, with the sheet and the cell.
        zipfile.BadZipFile: The archive is damaged.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for part in archive.infolist():
            if part.filename.startswith("xl/worksheets/") and part.filename.endswith(".bin"):
                with archive.open(part) as sheet:
                    _check_dimension(path, part.filename, sheet.read(_HEAD_BYTES))
            if not part.filename.endswith((".xml", ".rels")):
                continue
            with archive.open(part) as xml:
                if _ENTITIES.search(xml.read(_HEAD_BYTES)):
                    raise LeadFileError(
                        f"{path} declares XML entities in {part.filename}, which no spreadsheet "
                        "program writes; it is refused",
                        path=path,
                    )
            if _SHEET_PART.fullmatch(part.filename):
                _check_span(path, part.filename, _chunks(archive, part))
            elif part.filename == "content.xml":
                _check_repeats(path, _chunks(archive, part))


def _chunks(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Content in pieces that overlap a little, so that no tag is cut in all of them."""
    with archive.open(part) as xml:
        tail = b""
        while chunk := xml.read(_CHUNK_BYTES):
            yield tail + chunk
            tail = chunk[-_OVERLAP_BYTES:]


def _check_span(path: Path, part: str, chunks: Iterator[bytes]) -> None:
    """Refuse a sheet between whose cells with values there is too much room."""
    rows = columns = 1
    for chunk in chunks:
        cells = _CELL.findall(chunk)
        rows = max([rows, *(int(row) for _, row in cells), *map(int, _ROW.findall(chunk))])
        columns = max([columns, *map(_column, {letters for letters, _ in cells})])
    _refuse_far(path, part, rows, columns)


def _check_dimension(path: Path, part: str, head: bytes) -> None:
    """The same for a binary sheet, by the span that it states of itself."""
    at = 0
    # Records of type, size and content, numbers in groups of seven bits (MS-XLSB 2.1.4).
    while at + 2 < len(head):
        kind = head[at]
        at += 1
        if kind & 0x80:
            kind |= head[at] << 8
            at += 1
        size = shift = 0
        while at < len(head):
            size |= (head[at] & 0x7F) << shift
            shift += 7
            at += 1
            if not head[at - 1] & 0x80:
                break
        if kind == _DIMENSION and at + _SPAN.size <= len(head):
            _, row, _, column = _SPAN.unpack_from(head, at)
            _refuse_far(path, part, row + 1, column + 1)
            return
        at += size


def _refuse_far(path: Path, part: str, rows: int, columns: int) -> None:
    if rows * max(columns, _LETTERS) > MOST_SHEET_CELLS:
        where = f"row {rows:,} and one in column {columns:,} of {part.rpartition('/')[2]}"
        raise LeadFileError(
            f"{path} has a cell in {where}, far from any table; delete the stray cells (Ctrl+End finds "
            "the last one) and save it again",
            path=path,
        )


def _check_repeats(path: Path, chunks: Iterator[bytes]) -> None:
    rows = 0
    for chunk in chunks:
        cells = max(map(int, _REPEATED_CELL.findall(chunk)), default=0)
        rows += sum(
            int(count) for count, row in _REPEATED_ROW.findall(chunk) if b"value-type" in row
        )
        if max(cells, rows) > _MOST_REPEATED:
            raise LeadFileError(
                f"{path} repeats one value {max(cells, rows):,} times; delete the filled rows and "
                "columns behind the table and save it again",
                path=path,
            )


def _column(letters: bytes) -> int:
    """The number of a column, from 1, by its letters."""
    number = 0
    for letter in letters:
        number = number * _LETTERS + letter - ord("A") + 1
    return number


# A post code 02134 or a phone 07700... typed into a spreadsheet is stored as a number without its
# zero, and the zero is only in the cell's format, as are the brackets and hyphens of a phone. The
# reader of values does not tell formats, so they are looked up here, and only in workbooks that have
# such a format at all.

#: 0-based row and column of a cell to its format.
Masks = dict[tuple[int, int], str]

#: First bytes of an archive, which a workbook is.
ZIP: Final = b"PK\x03\x04"
_FORMAT: Final = re.compile(r"<numFmt\b[^<>]*+>")
_XF: Final = re.compile(r"<xf\b[^<>]*+>")
_SHEET: Final = re.compile(r"<sheet\b[^<>]*+>")
_RELATION: Final = re.compile(r"<Relationship\b[^<>]*+>")
_STYLED_CELL: Final = re.compile(r"<c\b[^<>]*+>")
_ATTRIBUTE: Final = re.compile(r"(?<![\w:])([\w:]++)\s*+=\s*\"([^\"]*)\"")
#: A format of places for digits and of signs between them: no date, no decimals, no thousands.
_MASK: Final = re.compile(
    r"(?:\[<=?\d+\](?P<below>(?:[0#? ()+\-/]|\\.|\"[^\"]*\")+);)?(?:[0#? ()+\-/]|\\.|\"[^\"]*\")+"
)
#: Characters of the longest format that Excel takes.
_LONGEST_FORMAT: Final = 255
_LIMIT: Final = re.compile(r"\[<(?P<same>=?)(?P<number>\d+)\]")
_SIGN: Final = re.compile(r"[0#? ()+\-/]|\\.|\"[^\"]*\"")
_PLACES: Final = "0#?"
_PLACE: Final = re.compile(r"([A-Z]{1,3})(\d+)")


#: A row or a run of columns that nobody sees.
_HIDDEN_ROW: Final = re.compile(r"<row\b[^<>]*?\bhidden=\"(?:1|true)\"[^<>]*+>")
_HIDDEN_COLUMNS: Final = re.compile(r"<col\b[^<>]*?\bhidden=\"(?:1|true)\"[^<>]*+>")
_MOST_HIDDEN: Final = 100_000


class Parts:
    """What a workbook says of its cells beside their values; nothing for other formats than XLSX."""

    def __init__(self, data: bytes) -> None:
        self._styles: dict[str, str] = {}
        self._places: dict[str, str] = {}
        if not data.startswith(ZIP):
            return
        # Opened once: opening reads the names of all parts, of which a workbook may have hundreds.
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        names = set(self._archive.namelist())
        if not {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= names:
            return
        places = _sheet_parts(self._archive)
        self._places = {sheet: part for sheet, part in places.items() if part in names}
        if "xl/styles.xml" in names:
            self._styles = _padding_styles(_read(self._archive, "xl/styles.xml"))

    def masks(self, sheet: str) -> Masks:
        """Cells of the sheet whose format has places for digits."""
        return _cells(self._xml(sheet), self._styles) if self._styles else {}

    def hidden(self, sheet: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Rows and columns of the sheet that are hidden, counted from 1."""
        xml = self._xml(sheet)
        rows = (_attributes(tag).get("r", "") for tag in _HIDDEN_ROW.findall(xml)[:_MOST_HIDDEN])
        columns: list[int] = []
        for tag in _HIDDEN_COLUMNS.findall(xml):
            attributes = _attributes(tag)
            first, last = attributes.get("min", ""), attributes.get("max", "")
            if first.isdecimal() and last.isdecimal() and len(columns) < _MOST_HIDDEN:
                columns += range(int(first), min(int(last), int(first) + _MOST_HIDDEN) + 1)
        return tuple(int(row) for row in rows if row.isdecimal()), tuple(columns)

    def _xml(self, sheet: str) -> str:
        return _read(self._archive, self._places[sheet]) if sheet in self._places else ""


def masked(digits: str, mask: str) -> str:
    """The digits of a whole number as the format shows them."""
    limit = _LIMIT.match(mask)
    if limit is not None:
        below, _, above = mask[limit.end() :].partition(";")
        most = int(limit["number"]) - (not limit["same"])
        mask = below if int(digits) <= most else above
    signs = _SIGN.findall(mask)
    first = next((at for at, sign in enumerate(signs) if sign in _PLACES), 0)
    left = list(digits)
    shown: list[str] = []
    for at in range(len(signs) - 1, -1, -1):
        sign = signs[at]
        if sign not in _PLACES:
            shown.append(sign[1:] if sign.startswith("\\") else sign.strip('"'))
        # As Excel shows a number with more digits than its format has places.
        elif at == first:
            rest = "".join(left)
            shown.append(rest or ("0" if sign == "0" else ""))
        elif left:
            shown.append(left.pop())
        else:
            shown.append("0" if sign == "0" else "")
    return "".join(reversed(shown))


def _padding_styles(xml: str) -> dict[str, str]:
    """Cell style (its place in the table, as text) to its format."""
    codes = {}
    for tag in _FORMAT.findall(xml):
        attributes = _attributes(tag)
        code = attributes.get("formatCode", "")
        places = sum(code.count(sign) for sign in _PLACES)
        if (
            places > 1
            and len(code) <= _LONGEST_FORMAT
            and _MASK.fullmatch(code)
            and code.strip("#?")
        ):
            codes[attributes.get("numFmtId", "")] = code
    table = xml.partition("<cellXfs")[2].partition("</cellXfs>")[0]
    if not codes:
        return {}
    formats = [_attributes(tag).get("numFmtId", "") for tag in _XF.findall(table)]
    return {str(at): codes[number] for at, number in enumerate(formats) if number in codes}


def _sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """Names of sheets to their own files in the archive."""
    sheets = [_attributes(tag) for tag in _SHEET.findall(_read(archive, "xl/workbook.xml"))]
    relations = _RELATION.findall(_read(archive, "xl/_rels/workbook.xml.rels"))
    targets = {
        attributes.get("Id", ""): attributes.get("Target", "")
        for attributes in map(_attributes, relations)
    }
    places: dict[str, str] = {}
    for attributes in sheets:
        target = targets.get(attributes.get("r:id", ""), "")
        part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        places.setdefault(attributes.get("name", ""), part)
    return places


def _cells(xml: str, styles: dict[str, str]) -> Masks:
    masks: Masks = {}
    for tag in _STYLED_CELL.findall(xml):
        attributes = _attributes(tag)
        reference = _PLACE.fullmatch(attributes.get("r", ""))
        if reference and attributes.get("s") in styles:
            place = int(reference[2]) - 1, _column(reference[1].encode()) - 1
            masks[place] = styles[attributes["s"]]
    return masks


def _attributes(tag: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}


def _read(archive: zipfile.ZipFile, name: str) -> str:
    return archive.read(name).decode("utf-8", errors="replace")


_SPACE: Final = re.compile(r"\s*")
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_LIST_SEPARATOR: Final = "; "


#: Most cells of a table whose records name their own columns; each is held in memory.
MOST_CELLS: Final = 50_000_000
_MOST_PARQUET_BYTES: Final = 2**30
#: A Parquet file of more cells than `_FEW_CELLS`, and of so many for each of its bytes, repeats a few values
#: as no list does: numbers that differ cost some bytes a row.
_MOST_CELLS_PER_BYTE: Final = 50
_FEW_CELLS: Final = 500_000
_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class Keyed:
    """Records whose cells have names.

    Attributes:
        names: Every name, in order of first appearance; None where the records are plain lists,
            the first of which may be the header.
        records: Cells in the order of `names`.
        format: `jsonl`, `json` or `parquet`.
    """

    names: tuple[str, ...] | None
    records: Records
    format: str


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that order and repeated names survive."""


class _Number(str):
    """A JSON number as its own digits."""

    __slots__ = ()


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_float=_Number, parse_int=_Number, parse_constant=_Number
)


def read_json(path: Path, text: str, lines: Lines) -> Keyed | None:
    """The records of a JSON file, or None where the text is no JSON.

    One object or list a line, an array of objects, of lists or of values, an object that holds
    such an array at any depth, an object of objects, or a single object.

    Raises:
        LeadFileError: An array begins and breaks off, or the records have too many names.
    """
    begin = _skip(text, 0)
    if not text.startswith(("{", "["), begin):
        return None
    # JSON lines: each is a text of its own (jsonlines.org).
    filled = [line for line in lines.texts if line.strip()]
    first = _load(filled[0])
    if len(filled) > 1 and isinstance(first, (_Pairs, list)):
        return _from_lines(path, lines)
    # An array of objects is read element by element, so that a break has a line.
    if text.startswith("[", begin):
        records = text.startswith("{", _skip(text, begin + 1))
        array = begin + 1 if records or isinstance(_load(text), list) else None
    else:
        array = _array(text, begin, 0)[0]
    if array is not None:
        return _from_array(path, text, array)
    value = _load(text)
    return _from_object(path, text, value) if isinstance(value, _Pairs) else None


def read_parquet(path: Path, data: bytes) -> Keyed:
    """The records of a Parquet file, in its order.

    Raises:
        LeadFileError: It is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        # Before a column is read: a few kilobytes of runs may stand for gigabytes.
        _check_size(path, file.metadata, len(data))
        table = file.read()
        columns = [[_value(cell) for cell in column.to_pylist()] for column in table.columns]
    except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError) as problem:
        why = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise LeadFileError(f"{path} is a damaged Parquet file: {why}", path=path) from None
    cells = [list(row) for row in zip(*columns, strict=True)]
    places = list(range(len(cells)))
    records = Records(cells, places, [index + 1 for index in places])
    return Keyed(tuple(table.column_names), records, "parquet")


def _check_size(path: Path, metadata: Any, packed_bytes: int) -> None:
    """Refuse what would not fit into memory, by what the file says of itself."""
    size = sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    cells = metadata.num_rows * max(1, metadata.num_columns)
    if cells > MOST_CELLS or size > _MOST_PARQUET_BYTES:
        raise LeadFileError(
            f"{path} holds {metadata.num_rows:,} records of {metadata.num_columns:,} columns, too "
            "many to be read at once; split it first",
            path=path,
        )
    if cells > max(_FEW_CELLS, packed_bytes * _MOST_CELLS_PER_BYTE):
        raise LeadFileError(
            f"{path} says it holds {metadata.num_rows:,} records in {packed_bytes:,} bytes, as no list "
            "does; it is not read",
            path=path,
        )


def _from_lines(path: Path, lines: Lines) -> Keyed:
    # Equal lines are parsed once: a file of one broken line half a million times is one, too.
    loaded = {line: _load(line) if line.strip() else _Pairs() for line in set(lines.texts)}
    values = [loaded[line] for line in lines.texts]
    places = list(range(len(values)))
    return _table(path, values, places, [index + 1 for index in places], lines.texts, "jsonl")


def _from_object(path: Path, text: str, value: _Pairs) -> Keyed:
    """An object of objects, each of which is a record, or one object that is one."""
    inner = [item for _, item in value]
    values = inner if inner and all(isinstance(item, _Pairs) for item in inner) else [value]
    line = len(LINE_END.findall(text, 0, _skip(text, 0)))
    stop = line + len(LINE_END.findall(text.strip())) + 1
    count = len(values)
    return _table(path, values, [line] * count, [stop] * count, [text] * count, "json")


def _from_array(path: Path, text: str, begin: int) -> Keyed:
    values: list[Any] = []
    starts: list[int] = []
    stops: list[int] = []
    raws: list[str] = []
    line, seen = 0, 0
    for value, start, end in _elements(path, text, begin):
        line += len(LINE_END.findall(text, seen, start))
        values.append(value)
        starts.append(line)
        raws.append(text[start:end])
        line += len(LINE_END.findall(text, start, end))
        stops.append(line + 1)
        seen = end
    return _table(path, values, starts, stops, raws, "json")


def _elements(path: Path, text: str, begin: int) -> Iterator[tuple[Any, int, int]]:
    """Each element of the array whose bracket stands before `begin`, with its place."""
    at = _skip(text, begin)
    while not text.startswith("]", at):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            # Nesting without end is damage like any other.
            value, end = None, len(text)
        behind = _skip(text, end)
        # Behind a break nothing can be trusted, since nobody knows where the next record begins.
        if text[behind : behind + 1] not in (",", "]"):
            line = len(LINE_END.findall(text, 0, at)) + 1
            raise LeadFileError(
                f"{path} is damaged JSON in the record that begins on line {line}",
                path=path,
                line=line,
            )
        yield value, at, end
        at = _skip(text, behind + 1) if text[behind] == "," else behind


def _array(text: str, begin: int, depth: int) -> tuple[int | None, int]:
    """Where the elements of the first array of records in the object begin, and where it ends."""
    at = _skip(text, begin + 1)
    while text.startswith('"', at):
        try:
            _, end = _DECODER.raw_decode(text, at)
            colon = _skip(text, end)
            value = _skip(text, colon + 1)
            # An array of plain values beside the records is a list of something else.
            if text.startswith("[", value) and text.startswith(("{", "["), _skip(text, value + 1)):
                return value + 1, value
            if text.startswith("{", value) and depth < _DEEPEST:
                array, end = _array(text, value, depth + 1)
                if array is not None:
                    return array, end
            if not text.startswith("{", value) or depth >= _DEEPEST:
                _, end = _DECODER.raw_decode(text, value)
        except (ValueError, RecursionError):
            return None, len(text)
        behind = _skip(text, end)
        if not text.startswith(",", behind):
            return None, behind + 1
        at = _skip(text, behind + 1)
    return None, at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _load(line: str) -> Any:
    """The line's value, or None where it is none."""
    try:
        return _DECODER.decode(line)
    except (ValueError, RecursionError):
        return None


def _table(
    path: Path,
    values: list[Any],
    starts: list[int],
    stops: list[int],
    raws: Sequence[str],
    form: str,
) -> Keyed:
    # Lists have no names: the first of them may be the header.
    if values and not any(isinstance(value, _Pairs) and value for value in values):
        cells = [_list_cells(value) for value in values]
        return Keyed(None, Records(cells, starts, stops, raws=dict(enumerate(raws))), form)
    flats = [_flatten_record(value) for value in values]
    names = tuple(dict.fromkeys(name for flat in flats if flat for name in flat))
    if len(names) * len(flats) > MOST_CELLS:
        raise LeadFileError(
            f"{path} holds {len(flats):,} records with {len(names):,} names between them, too many "
            "for a table; is it a list of leads?",
            path=path,
        )
    check_width(len(names))
    # A record that lacks a name has an empty cell there.
    cells = [[flat.get(name, "") for name in names] if flat else [] for flat in flats]
    bad = [at for at, flat in enumerate(flats) if flat is None]
    records = Records(
        cells,
        starts,
        stops,
        faults=dict.fromkeys(bad, "undecodable"),
        raws={at: raws[at] for at in bad},
    )
    return Keyed(names, records, form)


def _list_cells(value: Any) -> list[str]:
    """Cells of a record that is a list, or a single value."""
    if isinstance(value, list):
        return [_text(cell) if not isinstance(cell, _Pairs) else _json(cell) for cell in value]
    return [] if isinstance(value, _Pairs) else [_text(value)]


def _flatten_record(value: Any) -> dict[str, str] | None:
    """Name to text of a record, or None where it is no object or nested beyond reason."""
    try:
        return _flat(value) if isinstance(value, _Pairs) else None
    except RecursionError:
        return None


def _flat(pairs: _Pairs, prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    copies: dict[str, int] = {}
    for key, value in pairs:
        if isinstance(value, _Pairs):
            flat |= _flat(value, f"{prefix}{key}.")
            continue
        # RFC 8259, 4: names should be unique, and what is not is still the sender's data.
        name, copy = _text(f"{prefix}{key}"), copies.get(key, 2)
        while name in flat:
            name, copy = f"{prefix}{key} ({copy})", copy + 1
        copies[key] = copy
        flat[name] = _text(value)
    return flat


def _text(value: Any) -> str:
    if isinstance(value, list):
        plain = not any(isinstance(item, list) for item in value)
        return _LIST_SEPARATOR.join(map(_text, value)) if plain else _json(value)
    if value is None:
        return ""
    if isinstance(value, str):
        # An escape such as \\ud800 alone is no character and could not be written again.
        return value if value.isascii() else _HALF_PAIR.sub("\ufffd", value)
    return "true" if value else "false"


def _json(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, _Pairs):
        return "{" + ",".join(f"{json.dumps(key)}:{_json(item)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _value(cell: Any) -> str:
    """A Parquet value as text."""
    # Columns of bytes are text in files of older programs.
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="backslashreplace")
    if isinstance(cell, (list, dict)):
        return json.dumps(cell, ensure_ascii=False, default=str)
    return shown(cell)
