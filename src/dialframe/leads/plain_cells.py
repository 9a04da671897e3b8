"""Separates cells that need no repair from all others by their bytes, whole columns at once; whoever is in doubt asks the reader.

Each test is one-sided: a cell that passes is one for which the reading function of `cells` or
`phones_in_cells` has a plain answer, and any other cell is left to that function itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe import arrow_text
from dialframe.contract.limits import EMAIL_CHARS, EXTERNAL_ID_CHARS
from dialframe.leads.cells import NOTHING

#: Shapes of phone cells: no text; a text that the reading function must see.
EMPTY: Final = 0
UNKNOWN: Final = 1
#: Digits and separators; digits alone; digits with `.0` behind them, as a spreadsheet's number.
PLAIN: Final = 2
DIGITS: Final = 3
FLOAT: Final = 4
#: A phone cell with an extension; if it is a valid number, nothing else can be made of it.
LABELED: Final = 5

_BLANK: Final = ord(" ")
_LATIN: Final = 0xC3
_SHARP_S: Final = 0x9F

#: Lengths, first and last bytes of the words for nothing.
_LONGEST: Final = 16
_NOTHINGS: Final = np.zeros((_LONGEST + 1, 256, 256), np.bool_)
for _word in NOTHING:
    _bytes = _word.encode()
    if _bytes and _bytes[0] < 128 and _bytes[-1] < 128:
        _NOTHINGS[len(_bytes), _bytes[0], _bytes[-1]] = True
_LOWER: Final = np.frombuffer(bytes(range(256)).lower(), np.uint8)
_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _among(signs: bytes, *, beyond_ascii: bool = False) -> np.ndarray:
    table = np.zeros(256, np.bool_)
    table[list(signs)] = True
    table[128:] = beyond_ascii
    return table


_INVISIBLE: Final = ~_among(bytes(range(33, 127)))
_IN_WORDS: Final = _among(_LETTERS + b"\x7f", beyond_ascii=True)


def untidy(cells: pa.Array) -> np.ndarray:
    """Rows whose text `cells.read_name` may change: all but those of visible signs with single blanks between."""
    data, starts = arrow_text.bytes_of(cells)
    filled = np.flatnonzero(np.diff(starts))
    if not len(filled):
        return filled
    edge = np.zeros(len(data) + 1, np.bool_)
    edge[starts] = True
    at = np.flatnonzero(arrow_text.classes(data, _INVISIBLE))
    byte, before, after = data[at], data[at - 1], data[np.minimum(at + 1, len(data) - 1)]
    # Latin letters with accents stay too, but the sharp s, which is two letters to some.
    accented = np.where(byte == _LATIN, after != _SHARP_S, (byte < 0xC0) & (before == _LATIN))
    single = (byte == _BLANK) & ~edge[at] & ~edge[at + 1] & (before != _BLANK)
    odd = np.zeros(len(cells), np.bool_)
    odd[arrow_text.rows_of(at[~single & ~((byte >= 0x80) & accented)], starts)] = True
    short = filled[np.diff(starts)[filled] <= _LONGEST]
    first, last = _LOWER[data[starts[short]]], _LOWER[data[starts[short + 1] - 1]]
    odd[short] |= _NOTHINGS[np.diff(starts)[short], first, last]
    return np.flatnonzero(odd)


def worded(cells: pa.Array) -> np.ndarray:
    """Rows with a letter, or with what may be one."""
    data, starts = arrow_text.bytes_of(cells)
    return np.flatnonzero(_any_of(arrow_text.classes(data, _IN_WORDS), starts))


#: Addresses up to this length have no part that is too long.
_SAFE_BYTES: Final = min(63, EMAIL_CHARS)
_EMAIL: Final = (
    r"^[A-Za-z0-9_%+'-]+(?:\.[A-Za-z0-9_%+'-]+)*"
    r"@(?:[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*\.)+[A-Za-z]{2,24}$"
)


def odd_emails(cells: pa.Array) -> np.ndarray:
    """Rows that are neither empty nor a plain address."""
    plain = arrow_text.matches(cells, _EMAIL)
    sizes = arrow_text.sizes(cells)
    return np.flatnonzero((sizes > _SAFE_BYTES) | (~plain & (sizes > 0)))


#: What the bytes of a phone cell are.
_DIGIT, _DOT, _COMMA, _SEPARATOR, _LETTER, _BAD = (1 << place for place in range(6))
_KINDS: Final = np.full(256, _BAD, np.uint8)
_KINDS[33:127] = _LETTER
_KINDS[list(b"0123456789")] = _DIGIT
_KINDS[list(b" +-()")] = _SEPARATOR
_KINDS[ord(".")], _KINDS[ord(",")] = _DOT, _COMMA
#: Phone cells up to this length may be words for nothing that have figures in them.
_SHORT: Final = max((len(word) for word in NOTHING if any(map(str.isdigit, word))), default=0)
#: Signs at the ends of a phone cell that are taken off before it is read.
_TAKEN: Final = _among(b"'\"`=")
_THOUSANDS: Final = r"^[0-9]{1,3}(?:[.,][0-9]{3}){2,}$"
_FLOAT: Final = r"^\+?[0-9]{6,}[.,]0+$"
_LABELED: Final = r"(?i)^[0-9 +.()-]*(?:x|ext\.?|extension) ?[0-9]{1,5}$"
_PLACEHOLDER_DIGITS: Final = 5
_ZERO: Final = np.uint8(ord("0"))


def phone_shapes(cells: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """The shape of each phone cell, and the texts to be read: empty where the shape is `UNKNOWN`."""
    data, starts = arrow_text.bytes_of(cells)
    shapes = np.full(len(cells), UNKNOWN, np.uint8)
    sizes = np.diff(starts)
    shapes[sizes == 0] = EMPTY
    filled = np.flatnonzero(sizes)
    if not len(filled):
        return shapes, cells
    kinds = arrow_text.classes(data, _KINDS)
    blank = np.flatnonzero(data == _BLANK)
    edge = np.zeros(len(data) + 1, np.bool_)
    edge[starts] = True
    kinds[blank[edge[blank] | edge[blank + 1] | (data[blank - 1] == _BLANK)]] = _BAD
    closing = np.flatnonzero(data == ord(")"))
    kinds[closing[_KINDS[data[closing - 1]] != _DIGIT]] = _BAD
    seen = _any_of(kinds, starts)
    ends = _TAKEN[data[starts[filled]]] | _TAKEN[data[starts[filled + 1] - 1]]
    good = (sizes > _SHORT) & (seen & _BAD == 0) & (seen & _DIGIT != 0)
    good[filled[ends]] = False
    good &= ~counts_on(cells)
    plain = good & (seen & (_LETTER | _COMMA) == 0)
    shapes[plain] = np.where(seen[plain] == _DIGIT, DIGITS, PLAIN)
    marked = np.flatnonzero(good & (seen & (_DOT | _COMMA) != 0) & (seen & _LETTER == 0))
    shapes[marked[_matching(cells, marked, _THOUSANDS)]] = UNKNOWN
    floats = marked[_matching(cells, marked, _FLOAT)]
    whole = pc.replace_substring_regex(arrow_text.take(cells, floats), "[.,]0+$", "")
    shapes[floats] = np.where(counts_on(whole), UNKNOWN, FLOAT)
    lettered = np.flatnonzero(good & (seen & _LETTER != 0) & (seen & _COMMA == 0))
    shapes[lettered[_matching(cells, lettered, _LABELED)]] = LABELED
    readable = arrow_text.put(cells, floats, whole)
    return shapes, pc.if_else(arrow_text.numbers(shapes >= PLAIN), readable, arrow_text.text(""))


#: What a digit is behind another one: the same, the next, the one before.
_STEPS: Final = np.zeros(100, np.uint8)
for _digit in range(10):
    _STEPS[_digit * 11] |= 1
    _STEPS[_digit * 10 + (_digit + 1) % 10] |= 2
    _STEPS[_digit * 10 + (_digit + 9) % 10] |= 4


def counts_on(cells: pa.Array) -> np.ndarray:
    """Which texts have five digits or more that are all the same, or count up or down."""
    data, starts = arrow_text.bytes_of(cells)
    is_counting = np.zeros(len(cells), np.bool_)
    rows = np.flatnonzero(np.diff(starts) >= _PLACEHOLDER_DIGITS)
    # Three digits at the end that do not count on are enough for nearly all.
    ends = starts[1:][rows]
    tail = data[ends - 3] - _ZERO, data[ends - 2] - _ZERO, data[ends - 1] - _ZERO
    are_digits = np.maximum(np.maximum(tail[0], tail[1]), tail[2]) < 10
    steps = np.full(len(rows), 7, np.uint8)
    steps[are_digits] = _steps(*(column[are_digits] for column in tail[:2]))
    steps[are_digits] &= _steps(*(column[are_digits] for column in tail[1:]))
    rows = rows[steps != 0]
    is_counting[rows] = _all_count_on(arrow_text.take(cells, rows))
    return is_counting


def _all_count_on(cells: pa.Array) -> np.ndarray:
    """The same, all digits looked at."""
    data, starts = arrow_text.bytes_of(cells)
    is_digit = data - _ZERO < 10
    begins = np.concatenate([[0], np.cumsum(is_digit)])[starts]
    digits = data[is_digit] - _ZERO
    counts = np.diff(begins)
    filled = np.flatnonzero(counts)
    same = np.zeros(len(cells), np.uint8)
    if len(filled):
        steps = np.full(len(digits), 7, np.uint8)
        steps[1:] = _steps(digits[:-1], digits[1:])
        steps[begins[filled]] = 7
        same[filled] = np.bitwise_and.reduceat(steps, begins[filled])
    return np.asarray((same != 0) & (counts >= _PLACEHOLDER_DIGITS))


def _steps(digits: np.ndarray, following: np.ndarray) -> np.ndarray:
    return np.asarray(_STEPS.take(digits * np.uint8(10) + following))


def numbers(e164: pa.Array) -> np.ndarray:
    """E.164 texts as integers, 0 for empty ones."""
    digits = pc.ascii_ltrim(e164, "+")
    whole = pc.if_else(pc.equal(digits, arrow_text.text("")), arrow_text.text("0"), digits)
    return arrow_text.values_of(pc.cast(whole, pa.int64())).copy()


_WORD_BYTES: Final = 8
#: What tells words of eight bytes apart by their place in a text, for two kinds of hashes.
_SALTS: Final = np.random.default_rng(14).integers(
    0, 2**64, (2, 4 * EXTERNAL_ID_CHARS[1] // _WORD_BYTES), np.uint64
)
_WORD_MASKS: Final = np.array([2 ** (8 * size) - 1 for size in range(_WORD_BYTES + 1)], np.uint64)


def keys(cells: pa.Array, count: int = 2) -> list[np.ndarray]:
    """Hashes of each text, of which two are as good as the text: sums of its words, each mixed with its place."""
    data, starts = arrow_text.bytes_of(cells)
    begins, sizes = starts[:-1], np.diff(starts)
    padded = np.concatenate([data, np.zeros(_WORD_BYTES, np.uint8)])
    words = np.ndarray(len(data) + 1, "<u8", padded.data, strides=(1,))
    hashes = [_mix_bits(sizes.astype(np.uint64)) for _ in range(count)]
    rows = np.flatnonzero(sizes)
    for at in range(int(sizes.max(initial=0) + _WORD_BYTES - 1) // _WORD_BYTES):
        rows = rows[sizes[rows] > at * _WORD_BYTES]
        left = sizes[rows] - at * _WORD_BYTES
        word = words[begins[rows] + at * _WORD_BYTES] & _WORD_MASKS[np.minimum(left, _WORD_BYTES)]
        for out, salts in zip(hashes, _SALTS, strict=False):
            out[rows] += _mix_bits(word ^ salts[at % len(salts)])
    return [out.view(np.int64) for out in hashes]


def _mix_bits(words: np.ndarray) -> np.ndarray:
    """Words of which every bit depends on all bits (Steele and others 2014, SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = words ^ (words >> np.uint64(31))
    return mixed


def _any_of(bits: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The bits that any byte of each text has."""
    any_bits = np.zeros(len(starts) - 1, np.uint8)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        any_bits[filled] = np.bitwise_or.reduceat(bits, starts[filled])
    return any_bits


def _matching(cells: pa.Array, rows: np.ndarray, pattern: str) -> np.ndarray:
    return arrow_text.matches(arrow_text.take(cells, rows), pattern)
