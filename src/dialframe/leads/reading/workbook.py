"""Sheets of XLSX, XLS and ODS workbooks as text, as a person sees them."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import python_calamine as calamine

from dialframe.errors import LeadFileError
from dialframe.leads import headers
from dialframe.leads.lead_file import check_width
from dialframe.leads.lines_and_records import Records, has_many_digits
from dialframe.leads.reading.number_formats import ZIP, Masks, hidden_parts, masked, masks
from dialframe.leads.reading.workbook_parts import check_parts

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


def read_sheet(path: Path, data: bytes, sheet: str | int | None = None) -> Sheet:
    """The sheet that looks most like a list of leads, or the one named.

    Args:
        path: For messages.
        data: The workbook.
        sheet: Name or 0-based place of the sheet; hidden ones are taken only when named.

    Raises:
        LeadFileError: It is no workbook, has a password, declares XML entities, has a cell far
            from any table, or has no such sheet or no rows.
    """
    if _ENCRYPTED in data[:_SEARCHED_BYTES]:
        raise LeadFileError(f"{path} has a password; save it without one first", path=path)
    try:
        if data.startswith(ZIP):
            check_parts(path, data)
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = _wanted(path, book, sheet)
        rows = {name: _rows(book, name) for name in names}
        for cells in rows.values():
            check_width(max(map(len, cells), default=0))
        name = max(rows, key=lambda one: (_likeness(rows[one]), -names.index(one)))
        _mask(rows[name], masks(data, name))
        hidden_rows, hidden_columns = hidden_parts(data, name)
    except calamine.PasswordError:
        raise LeadFileError(
            f"{path} has a password; save it without one first", path=path
        ) from None
    except _DAMAGE as problem:
        raise LeadFileError(f"{path} is a damaged workbook: {problem}", path=path) from None
    if not rows[name]:
        raise LeadFileError(f"{path} is empty: no visible sheet has rows", path=path)
    top = _top(rows[name])
    alike = tuple(one for one in names if one != name and top and _top(rows[one]) == top)
    used = len(rows[name])
    width = max(map(len, rows[name]))
    return Sheet(
        name,
        _records(rows[name]),
        _others(book, name),
        alike,
        tuple(row for row in hidden_rows if row <= used),
        tuple(column for column in hidden_columns if column <= width),
    )


def shown(cell: object) -> str:
    """The cell as a person sees it: no `.0` behind whole numbers, dates as ISO 8601."""
    if isinstance(cell, str):
        return cell
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        whole = cell.is_integer() and abs(cell) < EXACT_BELOW
        return f"{cell:.0f}" if whole else repr(cell)
    if isinstance(cell, dt.datetime) and cell.time() == dt.time():
        return cell.date().isoformat()
    if isinstance(cell, (dt.date, dt.time)):
        return cell.isoformat()
    return str(cell)


def _mask(rows: list[list[str]], found: Masks) -> None:
    """Give back the leading zeros and the signs that a cell's format shows."""
    for (row, column), mask in found.items():
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


def _others(book: calamine.CalamineWorkbook, chosen: str) -> tuple[str, ...]:
    return tuple(
        meta.name if meta.visible == _VISIBLE else f"{meta.name} (hidden)"
        for meta in book.sheets_metadata
        if meta.name != chosen
    )


def _rows(book: calamine.CalamineWorkbook, name: str) -> list[list[str]]:
    rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    return [[shown(cell) for cell in row] for row in rows]


def _top(rows: list[list[str]]) -> list[str]:
    """Texts of the first row that has several, as far as they tell a header."""
    found = next((row for row in rows[:_LOOKED_AT_ROWS] if sum(map(bool, row)) > 1), [])
    return [cell.strip().casefold() for cell in found if cell.strip()]


def _likeness(rows: list[list[str]]) -> float:
    """How much a sheet looks like a list of leads: known headers, and rows with many digits."""
    looked_at = rows[:_LOOKED_AT_ROWS]
    if not looked_at:
        return -1.0
    names = max(len({headers.known(cell) for cell in row} - {None}) for row in looked_at)
    numbered = sum(any(map(has_many_digits, row)) for row in looked_at)
    return _NAME_POINTS * names + numbered / len(looked_at) + min(len(rows), 10**6) / 10**7


def _records(rows: list[list[str]]) -> Records:
    width = max((at + 1 for row in rows for at, cell in enumerate(row) if cell), default=0)
    places = list(range(len(rows)))
    return Records([row[:width] for row in rows], places, [place + 1 for place in places])
