"""Sheets of XLSX, XLS and ODS workbooks as text, as a person sees them."""

from __future__ import annotations

import datetime as dt
import html
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import python_calamine as calamine

from dialframe.errors import LeadFileError
from dialframe.leads import header_vocabulary
from dialframe.leads.lead_file import Records, check_width, has_many_digits

#: Whole numbers below this are exact in the floating point that spreadsheets store.
EXACT_BELOW: Final = 2**53

_LOOKED_AT_ROWS: Final = 200
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
            names = _wanted(path, book, sheet)
            rows = {}
            for name in names:
                cells = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
                rows[name] = [[shown(cell) for cell in row] for row in cells]
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


def _wanted(path: Path, book: calamine.CalamineWorkbook, sheet: str | int | None) -> list[str]:
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
    places = list(range(len(rows)))
    return Records([row[:width] for row in rows], places, [index + 1 for index in places])


# The reader of cells builds every cell between the first and the last one, so a single stray cell at
# the far corner of a sheet would fill the memory. And a sheet is XML: entities of its own, which
# grow without end when they are put in, have no place in a workbook.

#: Most cells, empty ones among them, that a sheet may span.
MOST_CELLS: Final = 30_000_000
#: Rows without anything in them that all sheets together may have: what one stray cell makes.
_MOST_EMPTY_ROWS: Final = 2**20
#: Most sheets of a workbook.
MOST_SHEETS: Final = 500

_HEAD_BYTES: Final = 4096
_CHUNK_BYTES: Final = 2**22
_OVERLAP_BYTES: Final = 256
_ENTITIES: Final = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_ROW: Final = re.compile(rb"<(?:\w+:)?row\b[^<>]*?\br=\"(\d{1,9})\"")
_CELL: Final = re.compile(rb"<(?:\w+:)?c\b[^<>]*?\br=\"([A-Z]{1,3})(\d{1,9})\"")
_WIDE_CELL: Final = re.compile(rb"\br=\"([A-Z]{2,3})\d")
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
    empty = 0
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
                empty += _check_span(path, part.filename, _chunks(archive, part))
                if empty > _MOST_EMPTY_ROWS:
                    raise _far(path, f"{empty:,} rows of nothing in its sheets")
            elif part.filename == "content.xml":
                _check_repeats(path, _chunks(archive, part))


def _chunks(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Content in pieces that overlap a little, so that no tag is cut in all of them."""
    with archive.open(part) as xml:
        tail = b""
        while chunk := xml.read(_CHUNK_BYTES):
            yield tail + chunk
            tail = chunk[-_OVERLAP_BYTES:]


def _check_span(path: Path, part: str, chunks: Iterator[bytes]) -> int:
    """How many rows of the sheet have nothing in them."""
    rows = columns = 1
    filled = 0
    for chunk in chunks:
        numbered = set(_ROW.findall(chunk) or [row for _, row in _CELL.findall(chunk)])
        filled += len(numbered)
        rows = max([rows, *map(int, numbered)])
        columns = max([columns, *map(_column, set(_WIDE_CELL.findall(chunk)))])
    _refuse_far(path, part, rows, columns)
    return max(0, rows - filled)


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
    if rows * max(columns, _LETTERS) > MOST_CELLS:
        where = f"row {rows:,} and one in column {columns:,} of {part.rpartition('/')[2]}"
        raise _far(path, f"a cell in {where}")


def _far(path: Path, what: str) -> LeadFileError:
    return LeadFileError(
        f"{path} has {what}, far from any table; delete the stray cells (Ctrl+End finds the last one) "
        "and save it again",
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
