"""Lines of delimited bytes to the places of their cells, compiled.

A line that a strict reader would not accept ends the walk: whoever called takes that line, reads it
with care, and calls again behind it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dialframe.compiled import compiled

#: A record of the usual width that is certainly no blank line, total or remark.
LEAD: Final = 0
#: A record of the usual width that may be one.
PERHAPS: Final = 1
#: A record without damage of another width.
OTHER: Final = 2

_LF: Final = 10
_CR: Final = 13
_BLANK: Final = 32
_DELETE: Final = 127
_ZERO: Final = 48
_PLUS: Final = 43
_BRACKET: Final = 40
_CONTACT_DIGITS: Final = 9
_CONTACT_LEAD: Final = 5
_NARROW: Final = 3


@compiled
def split(data, at, stop, delimiter, quote, width, row, line, begins, lengths, places, kinds):
    """Walk lines from `at` on; stops behind the last line or at one that is not clean.

    Args:
        data: UTF-8.
        at: Begin of a line.
        stop: Behind the end of the last line.
        delimiter: Its byte, or -1 for one column.
        quote: Its byte, or -1.
        width: Cells of a usual record.
        row: Records before.
        line: Lines before.
        begins: Where each cell of a record of the usual width begins, one row a record.
        lengths: Its bytes, as negative number where it has doubled quotes in it.
        places: Begin, end and line of each record.
        kinds: `LEAD`, `PERHAPS` or `OTHER`.

    Returns:
        Where it stopped, records and lines now.
    """
    while at < stop:
        pos, cell, filled = at, 0, 0
        while True:
            doubled = False
            begin = pos
            if pos < stop and data[pos] == quote:
                begin = pos + 1
                pos = begin
                while pos < stop and data[pos] != _LF and data[pos] != _CR:
                    if data[pos] == quote:
                        if pos + 1 < stop and data[pos + 1] == quote:
                            doubled = True
                            pos += 1
                        else:
                            break
                    pos += 1
                if pos >= stop or data[pos] != quote:
                    return at, row, line
                end = pos
                pos += 1
                if pos < stop and not (
                    data[pos] == delimiter or data[pos] == _LF or data[pos] == _CR
                ):
                    return at, row, line
            else:
                while pos < stop:
                    byte = data[pos]
                    if byte == delimiter or byte == _LF or byte == _CR:
                        break
                    if byte == quote:
                        return at, row, line
                    pos += 1
                end = pos
            if cell < width:
                begins[row, cell] = begin
                lengths[row, cell] = begin - end if doubled else end - begin
                if end > begin and _BLANK < data[begin] < _DELETE:
                    filled += 1
            cell += 1
            if pos < stop and data[pos] == delimiter:
                pos += 1
            else:
                break
        places[row, 0] = at
        places[row, 1] = pos
        places[row, 2] = line
        if cell != width:
            kinds[row] = OTHER
        elif filled > _NARROW and filled > width // 2:
            kinds[row] = LEAD
        else:
            kinds[row] = PERHAPS
            for place in range(width):
                begin = begins[row, place]
                if _is_contact(data, begin, begin + lengths[row, place]):
                    kinds[row] = LEAD
        row += 1
        line += 1
        at = _behind(data, pos, stop)
    return at, row, line


@compiled
def index_lines(data, stop, every, count, marks):
    """Count lines, and note where every so many-th begins; returns lines and notes made."""
    at = noted = 0
    while at < stop:
        if count % every == 0:
            marks[noted] = at
            noted += 1
        while at < stop and data[at] != _LF and data[at] != _CR:
            at += 1
        at = _behind(data, at, stop)
        count += 1
    return count, noted


@compiled
def count_to(data, stop, count):
    """Where the line begins that is so many lines further, or -1 with the lines that were there."""
    at = done = 0
    while done < count and at < stop:
        while at < stop and data[at] != _LF and data[at] != _CR:
            at += 1
        at = _behind(data, at, stop)
        done += 1
    return (at, done) if done == count else (-1, done)


@compiled
def next_line(data, at, stop):
    """Where the next line begins, or `stop`."""
    while at < stop and data[at] != _LF and data[at] != _CR:
        at += 1
    return _behind(data, at, stop)


@compiled
def measure(data, quote, begins, lengths, column, rows, offsets):
    """Offsets of one column's texts with doubled quotes undone; returns their bytes."""
    total = 0
    for row in range(rows):
        offsets[row] = total
        length = lengths[row, column]
        if length < 0:
            begin = begins[row, column]
            pairs = 0
            for at in range(begin, begin - length):
                pairs += data[at] == quote
            length = -length - pairs // 2
        total += length
    offsets[rows] = total
    return total


@compiled
def gather(data, quote, begins, lengths, column, rows, offsets, out):
    """Copy one column's texts together."""
    for row in range(rows):
        begin, length, to = begins[row, column], lengths[row, column], offsets[row]
        if length >= 0:
            for at in range(length):
                out[to + at] = data[begin + at]
        else:
            at = begin
            while at < begin - length:
                out[to] = data[at]
                to += 1
                at += 2 if data[at] == quote else 1


@compiled
def _behind(data, pos, stop):
    """Begin of the next line: behind CR LF, LF, CR, or CR CR LF."""
    if pos >= stop:
        return stop
    if data[pos] == _LF:
        return pos + 1
    if pos + 1 < stop and data[pos + 1] == _LF:
        return pos + 2
    if pos + 2 < stop and data[pos + 1] == _CR and data[pos + 2] == _LF:
        return pos + 3
    return pos + 1


@compiled
def _is_contact(data, begin, end):
    """Whether the cell is a phone number beyond doubt, and no date."""
    # A date has a separator among its first five characters, and no bracket or plus before them.
    if end - begin < _CONTACT_DIGITS:
        return False
    opened = data[begin] == _PLUS or data[begin] == _BRACKET
    first = begin + 1 if opened else begin
    digits = 0
    for at in range(first, end):
        byte = data[at]
        if _ZERO <= byte < _ZERO + 10:
            digits += 1
        elif (
            at == first
            or (at - first < _CONTACT_LEAD and not opened)
            or not (byte == _BLANK or byte == _BRACKET or byte == 41 or byte == 45)
        ):
            return False
    return digits >= _CONTACT_DIGITS


def empty_places(rows: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Room for `begins, lengths, places, kinds` of so many records."""
    return (
        np.empty((rows, width), np.int32),
        np.empty((rows, width), np.int32),
        np.empty((rows, 3), np.int64),
        np.empty(rows, np.uint8),
    )
