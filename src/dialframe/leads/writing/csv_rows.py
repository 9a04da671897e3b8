"""Columns of text to rows of CSV with formulas disarmed, compiled; the bytes that `csv.writer` makes of `escape`d cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.compiled import compiled
from dialframe.leads import texts

#: Rows that are written at once.
_ROWS: Final = 16_384
_QUOTE: Final = 34
_APOSTROPHE: Final = 39
_COMMA: Final = 44
_PLUS: Final = 43
_MINUS: Final = 45
_POINT: Final = 46
_PERCENT: Final = 37
_ZERO: Final = 48
_CR: Final = 13
_LF: Final = 10

#: Bytes for which a cell stands in quotes.
_SPECIAL: Final = np.zeros(256, np.bool_)
_SPECIAL[list(b'",\r\n')] = True
#: Bytes with which a formula may begin, perhaps behind others.
_SUSPECT: Final = np.zeros(256, np.bool_)
_SUSPECT[list("' \u00a0=+-@\t\r\n＝".encode())] = True
_START: Final = np.zeros(256, np.bool_)
_START[list(b"=+-@\t\r\n")] = True
#: Last bytes of the wide signs, which all begin with EF BC.
_WIDE_START: Final = np.zeros(256, np.bool_)
_WIDE_START[[sign.encode()[2] for sign in "＝＋－＠"]] = True
_WIDE: Final = (0xEF, 0xBC)
_NO_BREAK: Final = (0xC2, 0xA0)
_BLANK: Final = 32


def rows(columns: Sequence[pa.Array], *, guard: bool = True) -> list[memoryview]:
    """Rows of CSV, each ended by CR LF, as pieces that follow each other.

    Args:
        columns: Texts without nulls, or whole numbers.
        guard: Whether cells that a spreadsheet would run carry an apostrophe.
    """
    cells = [_texts(column) for column in columns]
    count = len(cells[0]) if cells else 0
    return [
        _part([cell.slice(begin, _ROWS) for cell in cells], guard).data
        for begin in range(0, count, _ROWS)
    ]


def columns_of(frame: pd.DataFrame) -> list[pa.Array]:
    """The columns of a frame as Arrow has them, nulls as empty texts."""
    found = []
    for name in frame.columns:
        column = pa.array(frame[name], from_pandas=True)
        found.append(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    return found


def _texts(column: pa.Array) -> pa.Array:
    found = column if column.type == texts.TEXT else pc.cast(column, texts.TEXT)
    return found.fill_null("") if found.null_count else found


def _part(cells: Sequence[pa.Array], guard: bool) -> np.ndarray:  # noqa: FBT001 - one caller
    raw = [texts.raw(cell) for cell in cells]
    count = len(cells[0])
    starts = np.empty((len(cells), count + 1), np.int64)
    done = 0
    data = []
    for at, (content, offsets) in enumerate(raw):
        begin, stop = int(offsets[0]), int(offsets[-1])
        starts[at] = offsets - (begin - done)
        data.append(content[begin:stop])
        done += stop - begin
    together = np.concatenate([*data, np.zeros(1, np.uint8)])
    # A byte becomes two at most, and a cell gets quotes, an apostrophe and a delimiter.
    out = np.empty(2 * done + 5 * len(cells) * count, np.uint8)
    return out[: _write(together, starts, guard, out)]


@compiled
def _write(data, starts, guard, out):
    """Write all rows; returns bytes written."""
    at = 0
    for row in range(starts.shape[1] - 1):
        for column in range(starts.shape[0]):
            begin, stop = starts[column, row], starts[column, row + 1]
            if column > 0:
                out[at] = _COMMA
                at += 1
            first = at
            if guard and begin < stop and _SUSPECT[data[begin]] and _is_formula(data, begin, stop):
                out[at] = _APOSTROPHE
                at += 1
            special = False
            for place in range(begin, stop):
                byte = data[place]
                out[at] = byte
                at += 1
                special |= _SPECIAL[byte]
            if special:
                at = _quoted(data, begin, stop, out, first, at - first > stop - begin)
        if starts.shape[0] == 1 and starts[0, row] == starts[0, row + 1]:
            out[at] = out[at + 1] = _QUOTE
            at += 2
        out[at] = _CR
        out[at + 1] = _LF
        at += 2
    return at


@compiled
def _quoted(data, begin, stop, out, at, escaped):
    """The cell in quotes; returns the place behind it."""
    out[at] = _QUOTE
    at += 1
    if escaped:
        out[at] = _APOSTROPHE
        at += 1
    for place in range(begin, stop):
        if data[place] == _QUOTE:
            out[at] = _QUOTE
            at += 1
        out[at] = data[place]
        at += 1
    out[at] = _QUOTE
    return at + 1


@compiled
def _is_formula(data, begin, stop):
    """`csv_safety.escape` puts an apostrophe before the cell."""
    at = begin
    while at < stop and data[at] == _APOSTROPHE:
        at += 1
    while at < stop:
        if data[at] == _BLANK:
            at += 1
        elif data[at] == _NO_BREAK[0] and at + 1 < stop and data[at + 1] == _NO_BREAK[1]:
            at += 2
        else:
            break
    if at >= stop:
        return False
    wide = at + 2 < stop and data[at] == _WIDE[0] and data[at + 1] == _WIDE[1]
    if not (_START[data[at]] or (wide and _WIDE_START[data[at + 2]])):
        return False
    return not _is_number(data, begin, stop)


@compiled
def _is_number(data, begin, stop):
    """A sign, digits in groups, perhaps a percent sign: a spreadsheet makes a number of it, and runs nothing."""
    if data[begin] != _PLUS and data[begin] != _MINUS:
        return False
    if data[stop - 1] == _PERCENT:
        stop -= 1
    digits = 0
    for place in range(begin + 1, stop):
        byte = data[place]
        if _ZERO <= byte < _ZERO + 10:
            digits += 1
        elif digits == 0 or (byte != _COMMA and byte != _POINT):
            return False
        else:
            digits = 0
    return digits > 0
