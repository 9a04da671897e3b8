"""Separates cells that need no repair from all others by their bytes, compiled; whoever is in doubt asks the reader.

Each test is one-sided: a cell that passes is one for which the reading function of `cells` or
`phone_cells` has a plain answer, and any other cell is left to that function itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dialframe.compiled import compiled
from dialframe.contract.limits import EMAIL_CHARS
from dialframe.leads.cells import NOTHING

#: A text that stays as it is.
TIDY: Final = 0
#: No text.
EMPTY: Final = 1
#: A text that the reading function must see.
UNKNOWN: Final = 2
#: A phone cell of digits and separators.
PLAIN: Final = 3
#: One of digits alone.
DIGITS: Final = 4
#: Digits with `.0` behind them, as a spreadsheet's number.
FLOAT: Final = 5
#: A phone cell with an extension; if it is a valid number, nothing else can be made of it.
LABELED: Final = 6

_BLANK: Final = 32
_ZERO: Final = 48
_PLUS: Final = 43
_MINUS: Final = 45
_DOT: Final = 46
_COMMA: Final = 44
_OPEN: Final = 40
_CLOSE: Final = 41
_AT: Final = 64
_LOWER: Final = 32
_LATIN: Final = 0xC3
_SHARP_S: Final = 0x9F
_DELETE: Final = 127
_LOCAL_CHARS: Final = 64
_LABEL_CHARS: Final = 63
_ENDING_CHARS: Final = 24
_FLOAT_DIGITS: Final = 6
_PLACEHOLDER_DIGITS: Final = 5

#: Lengths, first and last bytes of the words for nothing.
_LONGEST: Final = 16
_NOTHINGS: Final = np.zeros((_LONGEST + 1, 128, 128), np.bool_)
for _word in NOTHING:
    _bytes = _word.encode()
    if _bytes and _bytes[0] < 128 and _bytes[-1] < 128:
        if len(_bytes) > _LONGEST:
            raise AssertionError(_word)
        _NOTHINGS[len(_bytes), _bytes[0], _bytes[-1]] = True
#: Phone cells up to this length may be words for nothing that have figures in them.
_SHORT: Final = max((len(word) for word in NOTHING if any(map(str.isdigit, word))), default=0)

_LOCAL: Final = np.zeros(256, np.bool_)
_LOCAL[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_%+'-")] = True
_ALNUM: Final = np.zeros(256, np.bool_)
_ALNUM[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")] = True
_ALPHA: Final = np.zeros(256, np.bool_)
_ALPHA[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")] = True
_SEPARATOR: Final = np.zeros(256, np.bool_)
_SEPARATOR[list(b" +-.()")] = True
_EXTENSION: Final = np.frombuffer(b"extension", np.uint8)
_EXTENSION_DIGITS: Final = 5
#: Signs at the ends of a phone cell that are taken off before it is read.
_TAKEN: Final = np.zeros(256, np.bool_)
_TAKEN[list(b"'\"`=")] = True


@compiled
def tidy(data, offsets, out):
    """`TIDY`, `EMPTY` or `UNKNOWN` for each text: whether `cells.read_name` leaves it alone."""
    for row in range(len(offsets) - 1):
        at, stop = offsets[row], offsets[row + 1]
        if at == stop:
            out[row] = EMPTY
            continue
        size, first, last = stop - at, data[at], data[stop - 1]
        shape, blank = TIDY, True
        while at < stop:
            byte = data[at]
            if _BLANK < byte < _DELETE:
                blank = False
            elif byte == _BLANK and not blank:
                blank = True
            elif byte == _LATIN and at + 1 < stop and data[at + 1] != _SHARP_S:
                at += 1
                blank = False
            else:
                shape = UNKNOWN
                break
            at += 1
        if blank:
            shape = UNKNOWN
        if size <= _LONGEST and first < 128 and last < 128:
            if _ALPHA[first]:
                first |= _LOWER
            if _ALPHA[last]:
                last |= _LOWER
            if _NOTHINGS[size, first, last]:
                shape = UNKNOWN
        out[row] = shape


@compiled
def wordless(data, offsets, out):
    """Whether each text has no letter in it."""
    for row in range(len(offsets) - 1):
        out[row] = True
        for at in range(offsets[row], offsets[row + 1]):
            if _ALPHA[data[at]] or data[at] >= _DELETE:
                out[row] = False
                break


_WORD: Final = (1 << 64) - 1


def _keys_of_few(data, offsets, high, low):
    """`keys` with Python's integers, which do not overflow."""
    for row in range(len(offsets) - 1):
        one, other = 0xCBF29CE484222325, 0x9AE16A3B2F90404F
        for at in range(offsets[row], offsets[row + 1]):
            byte = data[at]
            one = (one ^ byte) * 0x100000001B3 & _WORD
            other = (other + byte + 1) * 0xD6E8FEB86659FD93 & _WORD
            other ^= other >> 32
        one ^= one >> 33
        one = one * 0xFF51AFD7ED558CCD & _WORD
        one ^= one >> 33
        high[row] = one - (1 << 64) if one >> 63 else one
        low[row] = other - (1 << 64) if other >> 63 else other


@compiled(instead=_keys_of_few)
def keys(data, offsets, high, low):
    """Two hashes of each text that together are as good as the text."""
    for row in range(len(offsets) - 1):
        one, other = np.uint64(0xCBF29CE484222325), np.uint64(0x9AE16A3B2F90404F)
        for at in range(offsets[row], offsets[row + 1]):
            byte = np.uint64(data[at])
            one = (one ^ byte) * np.uint64(0x100000001B3)
            other = (other + byte + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)
            other ^= other >> np.uint64(32)
        one ^= one >> np.uint64(33)
        one *= np.uint64(0xFF51AFD7ED558CCD)
        one ^= one >> np.uint64(33)
        high[row] = np.int64(one)
        low[row] = np.int64(other)


@compiled
def emails(data, offsets, out):
    """`TIDY` for a plain address, `EMPTY`, or `UNKNOWN` for each text."""
    for row in range(len(offsets) - 1):
        begin, stop = offsets[row], offsets[row + 1]
        if begin == stop:
            out[row] = EMPTY
            continue
        out[row] = UNKNOWN
        at = begin
        while at < stop and (_LOCAL[data[at]] or (data[at] == _DOT and at > begin)):
            if data[at] == _DOT and data[at - 1] == _DOT:
                break
            at += 1
        if (
            at == begin
            or at >= stop
            or data[at] != _AT
            or data[at - 1] == _DOT
            or at - begin > _LOCAL_CHARS
            or stop - begin > EMAIL_CHARS
        ):
            continue
        label, labels, good = at + 1, 0, True
        for place in range(at + 1, stop):
            byte = data[place]
            if byte == _DOT:
                size = place - label
                if size < 1 or size > _LABEL_CHARS:
                    good = False
                    break
                if not _ALNUM[data[label]] or not _ALNUM[data[place - 1]]:
                    good = False
                    break
                label = place + 1
                labels += 1
            elif not (_ALNUM[byte] or byte == _MINUS):
                good = False
                break
        if not good or labels < 1 or not 2 <= stop - label <= _ENDING_CHARS:
            continue
        for place in range(label, stop):
            good = good and _ALPHA[data[place]]
        if good:
            out[row] = TIDY


@compiled
def phones(data, offsets, shapes, cuts):
    """The shape of each phone cell, and how many bytes to cut off its end.

    `EMPTY`, `UNKNOWN`, `PLAIN`, `DIGITS`, `FLOAT` (with what to cut) or `LABELED`.
    """
    for row in range(len(offsets) - 1):
        begin, stop = offsets[row], offsets[row + 1]
        cuts[row] = 0
        if begin == stop:
            shapes[row] = EMPTY
            continue
        shapes[row] = UNKNOWN
        if stop - begin <= _SHORT or _TAKEN[data[begin]] or _TAKEN[data[stop - 1]]:
            continue
        digits = letters = exponents = dots = commas = others = 0
        blank, pending, tidy_ = True, False, True
        same = up = down = True
        previous = 0
        last_mark = begin - 1
        thousands = True
        for at in range(begin, stop):
            byte = data[at]
            if _ZERO <= byte < _ZERO + 10:
                digit = np.int64(byte) - _ZERO
                if digits > 0:
                    same = same and digit == previous
                    up = up and digit == (previous + 1) % 10
                    down = down and digit == (previous + 9) % 10
                previous = digit
                digits += 1
                pending = blank = False
                continue
            if byte == _BLANK:
                if blank:
                    tidy_ = False
                    break
                blank = True
                others += 1
                continue
            blank = False
            if byte == _DOT or byte == _COMMA:
                if byte == _DOT:
                    dots += 1
                else:
                    commas += 1
                size = at - last_mark - 1
                fits = 1 <= size <= 3 if dots + commas == 1 else size == 3
                thousands = thousands and fits
                last_mark = at
            elif byte == _OPEN:
                pending = True
                others += 1
            elif byte == _CLOSE:
                if pending:
                    tidy_ = False
                    break
                others += 1
            elif byte == _PLUS or byte == _MINUS:
                others += 1
            elif _BLANK < byte < _DELETE:
                letters += 1
                exponents += byte | _LOWER == 101
            else:
                tidy_ = False
                break
        if not tidy_ or blank or digits == 0:
            continue
        if digits >= _PLACEHOLDER_DIGITS and (same or up or down):
            continue
        if letters == 0 and others == 0 and dots + commas > 0:
            thousands = thousands and stop - last_mark - 1 == 3
            if thousands and dots + commas >= 2:
                continue
        if exponents == 1 and letters == 1:
            continue
        if (
            letters == 0
            and dots + commas == 1
            and (others == 0 or (others == 1 and data[begin] == _PLUS))
        ):
            whole = last_mark - begin - others
            zeros = stop > last_mark + 1
            for at in range(last_mark + 1, stop):
                zeros = zeros and data[at] == _ZERO
            if zeros and whole >= _FLOAT_DIGITS:
                if _repeats(data, begin, last_mark):
                    continue
                shapes[row] = FLOAT
                cuts[row] = stop - last_mark
                continue
        if letters > 0:
            if commas == 0 and _is_extended(data, begin, stop):
                shapes[row] = LABELED
        elif commas > 0:
            continue
        elif others > 0 or dots > 0:
            shapes[row] = PLAIN
        else:
            shapes[row] = DIGITS


@compiled
def _is_extended(data, begin, stop):
    """Whether all words of the cell are one `x`, `ext`, `ext.` or `extension` before its last digits."""
    at = stop
    while at > begin and _ZERO <= data[at - 1] < _ZERO + 10:
        at -= 1
    if not 1 <= stop - at <= _EXTENSION_DIGITS:
        return False
    if at > begin and data[at - 1] == _BLANK:
        at -= 1
    label = at
    if label > begin and data[label - 1] == _DOT:
        label -= 1
    last = label
    while label > begin and _ALPHA[data[label - 1]]:
        label -= 1
    size = last - label
    good = (size == 1 or size == 3 or size == 9) and (last == at or size == 3)
    for place in range(label, last):
        word = _EXTENSION[place - label] if size > 1 else _EXTENSION[1]
        good = good and data[place] | _LOWER == word
    for place in range(begin, label):
        byte = data[place]
        good = good and (_ZERO <= byte < _ZERO + 10 or _SEPARATOR[byte])
    return good


@compiled
def _repeats(data, begin, stop):
    """Whether the digits are all the same or count up or down."""
    same = up = down = True
    previous, digits = 0, 0
    for at in range(begin, stop):
        if _ZERO <= data[at] < _ZERO + 10:
            digit = np.int64(data[at]) - _ZERO
            if digits > 0:
                same = same and digit == previous
                up = up and digit == (previous + 1) % 10
                down = down and digit == (previous + 9) % 10
            previous = digit
            digits += 1
    return same or up or down


@compiled
def cut(data, offsets, shapes, cuts, starts, out):
    """The readable phone cells without what is cut off, all others empty; returns bytes written."""
    written = 0
    for row in range(len(offsets) - 1):
        starts[row] = written
        if shapes[row] >= PLAIN:
            for at in range(offsets[row], offsets[row + 1] - cuts[row]):
                out[written] = data[at]
                written += 1
    starts[len(offsets) - 1] = written
    return written


@compiled
def numbers(data, offsets, out):
    """E.164 texts as integers, 0 for empty ones."""
    for row in range(len(offsets) - 1):
        number = np.int64(0)
        for at in range(offsets[row], offsets[row + 1]):
            if data[at] >= _ZERO:
                number = number * 10 + (data[at] - _ZERO)
        out[row] = number
