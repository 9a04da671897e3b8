"""What a workbook would unpack to, looked at before anything is read from it.

The reader of cells builds every cell between the first and the last one, so a single stray cell at
the far corner of a sheet would fill the memory. And a sheet is XML: entities of its own, which
grow without end when they are put in, have no place in a workbook.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dialframe.errors import LeadFileError

#: Most cells, empty ones among them, that a sheet may span.
MOST_CELLS: Final = 30_000_000

_HEAD_BYTES: Final = 4096
_CHUNK_BYTES: Final = 2**22
_OVERLAP_BYTES: Final = 256
_ENTITIES: Final = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_ROW: Final = re.compile(rb"<(?:\w+:)?row\b[^>]*?\br=\"(\d{1,9})\"")
_CELL: Final = re.compile(rb"<(?:\w+:)?c\b[^>]*?\br=\"([A-Z]{1,3})(\d{1,9})\"")
_WIDE_CELL: Final = re.compile(rb"\br=\"([A-Z]{2,3})\d")
_SHEET_PART: Final = re.compile(r"xl/worksheets/[^/]+\.xml")
_REPEATED_CELL: Final = re.compile(
    rb"<table:table-cell\b(?=[^>]*office:value-type)[^>]*number-columns-repeated=\"(\d{4,9})\""
)
_REPEATED_ROW: Final = re.compile(
    rb"<table:table-row\b[^>]*number-rows-repeated=\"(\d{4,9})\"[^>]*>(.{0,20000}?)</table:table-row>",
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
    rows = columns = 1
    for chunk in chunks:
        numbered = _ROW.findall(chunk) or [row for _, row in _CELL.findall(chunk)]
        rows = max([rows, *map(int, set(numbered))])
        columns = max([columns, *map(_column, set(_WIDE_CELL.findall(chunk)))])
    _refuse_far(path, part, rows, columns)


def _check_dimension(path: Path, part: str, head: bytes) -> None:
    """The same for a binary sheet, by the span that it states of itself."""
    at = 0
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
        raise LeadFileError(
            f"{path} has a cell in row {rows:,} and one in column {columns:,} of "
            f"{part.rpartition('/')[2]}, far from any table; delete the stray cells (Ctrl+End finds "
            "the last one) and save it again",
            path=path,
        )


def _check_repeats(path: Path, chunks: Iterator[bytes]) -> None:
    for chunk in chunks:
        cells = max(map(int, _REPEATED_CELL.findall(chunk)), default=0)
        rows = max(
            (int(count) for count, row in _REPEATED_ROW.findall(chunk) if b"value-type" in row),
            default=0,
        )
        if max(cells, rows) > _MOST_REPEATED:
            raise LeadFileError(
                f"{path} repeats one value {max(cells, rows):,} times; delete the filled rows and "
                "columns behind the table and save it again",
                path=path,
            )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number
