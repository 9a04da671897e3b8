"""Cells of an XLSX sheet whose number format puts digits into places (`00000`, `000-0000`).

A post code 02134 or a phone 07700... typed into a spreadsheet is stored as a number without its
zero, and the zero is only in the cell's format, as are the brackets and hyphens of a phone. The
reader of values does not tell formats, so they are looked up here, and only in workbooks that have
such a format at all.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from typing import Final

#: 0-based row and column of a cell to its format.
Masks = dict[tuple[int, int], str]

#: First bytes of an archive, which a workbook is.
ZIP: Final = b"PK\x03\x04"
_FORMAT: Final = re.compile(r"<numFmt\b[^>]*>")
_XF: Final = re.compile(r"<xf\b[^>]*>")
_CELL_XFS: Final = re.compile(r"<cellXfs\b.*?</cellXfs>", re.DOTALL)
_SHEET: Final = re.compile(r"<sheet\b[^>]*>")
_RELATION: Final = re.compile(r"<Relationship\b[^>]*>")
_CELL: Final = re.compile(r"<c\b[^>]*>")
_ATTRIBUTE: Final = re.compile(r"([\w:]+)\s*=\s*\"([^\"]*)\"")
#: A format of places for digits and of signs between them: no date, no decimals, no thousands.
_MASK: Final = re.compile(
    r"(?:\[<=?\d+\](?P<below>(?:[0#? ()+\-/]|\\.|\"[^\"]*\")+);)?(?:[0#? ()+\-/]|\\.|\"[^\"]*\")+"
)
_LIMIT: Final = re.compile(r"\[<(?P<same>=?)(?P<number>\d+)\]")
_SIGN: Final = re.compile(r"[0#? ()+\-/]|\\.|\"[^\"]*\"")
_PLACES: Final = "0#?"
_PLACE: Final = re.compile(r"([A-Z]{1,3})(\d+)")


def masks(data: bytes, sheet: str) -> Masks:
    """Cells of the sheet whose format has places for digits; empty for anything but such an XLSX."""
    if not data.startswith(ZIP):
        return {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = set(archive.namelist())
        if not {"xl/styles.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= names:
            return {}
        styles = _padding_styles(_read(archive, "xl/styles.xml"))
        part = _part(archive, sheet)
        if not styles or part not in names:
            return {}
        return _cells(_read(archive, part), styles)


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
        told = _attributes(tag)
        code = told.get("formatCode", "")
        places = sum(code.count(place) for place in _PLACES)
        if places > 1 and _MASK.fullmatch(code) and code.strip("#?"):
            codes[told.get("numFmtId", "")] = code
    table = _CELL_XFS.search(xml)
    if not codes or table is None:
        return {}
    formats = [_attributes(tag).get("numFmtId", "") for tag in _XF.findall(table.group())]
    return {str(at): codes[one] for at, one in enumerate(formats) if one in codes}


def _part(archive: zipfile.ZipFile, sheet: str) -> str:
    """Name of the sheet's own file in the archive, empty where it cannot be found."""
    sheets = [_attributes(tag) for tag in _SHEET.findall(_read(archive, "xl/workbook.xml"))]
    own = next((one.get("r:id", "") for one in sheets if one.get("name") == sheet), "")
    relations = _RELATION.findall(_read(archive, "xl/_rels/workbook.xml.rels"))
    targets = {one.get("Id", ""): one.get("Target", "") for one in map(_attributes, relations)}
    target = targets.get(own, "")
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _cells(xml: str, styles: dict[str, str]) -> Masks:
    found: Masks = {}
    for tag in _CELL.findall(xml):
        told = _attributes(tag)
        place = _PLACE.fullmatch(told.get("r", ""))
        if place and told.get("s") in styles:
            found[int(place[2]) - 1, _column(place[1])] = styles[told["s"]]
    return found


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _attributes(tag: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}


def _read(archive: zipfile.ZipFile, name: str) -> str:
    return archive.read(name).decode("utf-8", errors="replace")


#: A row or a run of columns that nobody sees.
_HIDDEN_ROW: Final = re.compile(r"<row\b[^>]*?\bhidden=\"(?:1|true)\"[^>]*>")
_HIDDEN_COLUMNS: Final = re.compile(r"<col\b[^>]*?\bhidden=\"(?:1|true)\"[^>]*>")
_MOST_HIDDEN: Final = 100_000


def hidden_parts(data: bytes, sheet: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rows and columns of an XLSX sheet that are hidden, counted from 1.

    Args:
        data: The workbook.
        sheet: Name of the sheet.

    Returns:
        Hidden rows and hidden columns; nothing for other formats, which calamine does not tell.
    """
    if not data.startswith(ZIP):
        return (), ()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = set(archive.namelist())
        if not {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= names:
            return (), ()
        part = _part(archive, sheet)
        if part not in names:
            return (), ()
        xml = _read(archive, part)
    rows = (_attributes(tag).get("r", "") for tag in _HIDDEN_ROW.findall(xml)[:_MOST_HIDDEN])
    columns: list[int] = []
    for tag in _HIDDEN_COLUMNS.findall(xml):
        told = _attributes(tag)
        first, last = told.get("min", ""), told.get("max", "")
        if first.isdecimal() and last.isdecimal():
            columns += range(int(first), min(int(last), int(first) + _MOST_HIDDEN) + 1)
    return tuple(int(row) for row in rows if row.isdecimal()), tuple(columns)
