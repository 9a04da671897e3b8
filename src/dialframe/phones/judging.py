"""Finds the reason why a text is no valid number, compiled; does the same as `reading.judged`."""

from __future__ import annotations

from typing import Final

import numba
import numpy as np

from dialframe.phones import outcomes
from dialframe.phones.scanning import SCANNED_BYTES

_ASCII: Final = 128
_WIDE_DIGIT: Final = 2
_ALIEN: Final = 4
_ZERO: Final = 48
_PLUS_SIGN: Final = 43


@numba.njit
def judged(data, start, stop, status, wide, no_home):
    """The outcome that is more useful to a person than the parse's: see `numbers.read_number`."""
    if wide & _WIDE_DIGIT:
        return outcomes.HANDED_OVER
    digits = same = up = down = 0
    first = previous = np.intp(-9)
    blank, exponent = True, False
    for at in range(start, stop):
        byte = data[at]
        if stop - start > SCANNED_BYTES:
            return outcomes.HANDED_OVER
        if byte >= _ASCII:
            if wide == 0:
                return outcomes.HANDED_OVER
            continue
        if not (byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31):
            blank = False
        if byte | 0x20 == 101:
            exponent = True
        if _ZERO <= byte < _ZERO + 10:
            digit = np.intp(byte) - _ZERO
            if digits == 0:
                first = digit
            same = same + 1 if digit == previous else 1
            up = up + 1 if digit == (previous + 1) % 10 and digits > 0 else 1
            down = down + 1 if digit == (previous + 9) % 10 and digits > 0 else 1
            previous = digit
            digits += 1
    if wide and not wide & _ALIEN and (blank or exponent):
        return outcomes.HANDED_OVER  # its wide characters may be blanks
    if blank and not wide:
        return outcomes.MISSING
    if exponent and not wide and _is_scientific(data, start, stop):
        return outcomes.PRECISION_LOST
    if _is_placeholder(digits, same, up, down, first):
        return outcomes.PLACEHOLDER
    if status == 0 and no_home:
        return outcomes.AMBIGUOUS_REGION
    return status


@numba.njit(inline="always")
def _is_placeholder(digits, same, up, down, first):
    """`numbers.is_placeholder(loose=True)` from the runs that end with the last digit."""
    if digits < 5:
        return False
    if same == digits or (digits > 7 and same >= 7):
        return True
    if digits > 9 and (up >= 9 or down >= 9):
        return True
    rising = up == digits and first + digits <= 20
    falling = down == digits and 9 - first + digits <= 20
    return digits >= 7 and (rising or falling)


@numba.njit
def _is_scientific(data, start, stop):
    """Whether the text is a number that a spreadsheet wrote with an exponent: `2.12555E+9`."""
    while start < stop and (
        data[start] == 32 or 9 <= data[start] <= 13 or 28 <= data[start] <= 31
    ):
        start += 1
    while start < stop and (
        data[stop - 1] == 32 or 9 <= data[stop - 1] <= 13 or 28 <= data[stop - 1] <= 31
    ):
        stop -= 1
    at = start + 1 if start < stop and data[start] == _PLUS_SIGN else start
    at, whole = _digits(data, at, stop)
    if whole != 1:
        return False
    if at < stop and (data[at] == 46 or data[at] == 44):
        at, fraction = _digits(data, at + 1, stop)
        if fraction == 0:
            return False
    if at >= stop or data[at] | 0x20 != 101:
        return False
    at += 1
    if at < stop and data[at] == _PLUS_SIGN:
        at += 1
    at, power = _digits(data, at, stop)
    return at == stop and 1 <= power <= 3


@numba.njit
def _digits(data, at, stop):
    """Where a run of digits ends and how many they are."""
    begin = at
    while at < stop and _ZERO <= data[at] < _ZERO + 10:
        at += 1
    return at, at - begin
