"""A column of texts to numbers in one pass over its bytes, compiled.

Importing this module loads numba. The tables are constants of the compiled code, which is why the
code on disk carries the fingerprint of its tables: `loaded` compiles anew where they differ.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np

from dialframe.phones import outcomes, parsing, scanner
from dialframe.phones.number_automata import LONGEST
from dialframe.phones.numbering_plans import fingerprint
from dialframe.phones.outcomes import NOWHERE
from dialframe.phones.parsing import ABROAD, PLAN, READ, SCRATCH, length_verdict, number, state_of
from dialframe.phones.scanner import HANDED, VIABLE, character, plain, scan

#: Room that one number needs in the output: plus, calling code, digits, and slack for a wide store.
E164_ROOM: Final = 24
#: What the compiled code depends on besides this file, whose age numba watches itself.
_FINGERPRINT: Final = fingerprint(PLAN, outcomes, scanner, parsing)
_REGION, _KIND, _LONE, _HOME, _STEP = (
    PLAN.region,
    PLAN.kind,
    PLAN.lone_region,
    PLAN.home,
    PLAN.step,
)
_MAIN, _CODE = PLAN.main, PLAN.code
_ZERO: Final = 48
_PLUS_SIGN: Final = 43
_UNKNOWN: Final = 99
_LOCAL_ONLY: Final = 4
_NOT_A_NUMBER: Final = 1
_ASCII: Final = 128
_NINE: Final = 9
_COMMA, _POINT, _EXPONENT = b",.e"
_SHORTEST: Final = 2

#: What reading a file that is no code of ours raises, by pickle's documentation.
_UNLOADABLE: Final = (
    pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError, KeyError, OSError,
    TypeError, ValueError,
)  # fmt: skip


class Jitted:
    """A function that numba compiles at its first call, without the interpreter's lock.

    Its code is kept where the disk takes it. Kept code that cannot be loaded (damaged, or made by a
    program that is not here) is not used.
    """

    def __init__(self, source: Callable[..., Any]) -> None:
        self._source = source
        self._run: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Run it, compiling it where it has not been compiled for these types."""
        run = self._run or self._kept()
        try:
            return run(*arguments)
        except _UNLOADABLE:
            if run.stats.cache_path is None:
                raise
            return self.compile_anew()(*arguments)

    def compile_anew(self) -> Any:
        """Use nothing that is kept; returns what is run from now on."""
        self._run = numba.njit(nogil=True)(self._source)
        return self._run

    def _kept(self) -> Any:
        try:
            self._run = numba.njit(cache=True, nogil=True)(self._source)
        except RuntimeError:  # no folder can be written; it is compiled each time
            self.compile_anew()
        return self._run


@Jitted
def kernel(data, offsets, nulls, homes, stride, outcome, kind, region, possible,
           e164_at, e164, extension_at, extension):  # fmt: skip
    """Read every row of a column; returns the fingerprint of the tables in this code.

    Args:
        data: Bytes of all texts (UTF-8).
        offsets: Where each row begins in `data`; one more than there are rows.
        nulls: Which rows are missing.
        homes: Places of the regions at home, one each or one for all.
        stride: 1 where there is a home for each row, 0 where there is one for all.
        outcome: One of `outcomes` for each row.
        kind: `PhoneNumberType` of each row that was read, `NO_TYPE` of others.
        region: Place of the region of each row, or `NOWHERE`.
        possible: Whether the length is one that is in use.
        e164_at: Where each row begins in `e164`; one more than there are rows.
        e164: Bytes of the numbers, of valid rows only.
        extension_at: The same for `extension`.
        extension: Bytes of the extensions, of rows that were read.
    """
    digits = np.zeros(SCRATCH, np.uint8)
    written = extended = 0
    for row in range(len(offsets) - 1):
        start, stop, home = offsets[row], offsets[row + 1], np.intp(homes[row * stride])
        kind[row], region[row], possible[row] = outcomes.NO_TYPE, NOWHERE, False
        e164_at[row], extension_at[row] = written, extended
        if nulls[row] or start == stop:
            outcome[row] = outcomes.MISSING
            continue
        count, plus, ext, ext_digits = plain(data, start, stop, digits)
        if count == HANDED:
            count, plus, ext, ext_digits = scan(data, start, stop, digits)
        if count == HANDED:
            outcome[row] = outcomes.HANDED_OVER
            continue
        status, code, begin, end, state = _resolved(digits, count, plus, home)
        if status == READ:
            verdict = length_verdict(_MAIN[code], end - begin)
            possible[row] = verdict in (0, _LOCAL_ONLY)
            kind[row] = _KIND[state]
            region[row] = _REGION[state] if state != 0 else _LONE[code]
            for index in range(ext, ext + ext_digits):
                extension[extended] = data[index]
                extended += 1
            if kind[row] != _UNKNOWN:
                outcome[row] = outcomes.VALID
                written = _write(e164, written, code, digits, begin, end)
                continue
            status = outcomes.INVALID + verdict
        outcome[row] = judged(data, start, stop, status, not plus and home == ABROAD)
    e164_at[len(offsets) - 1], extension_at[len(offsets) - 1] = written, extended
    return _FINGERPRINT


@Jitted
def spell(codes, words, lengths, starts, texts):
    """Write the word of each code; returns the bytes written.

    Args:
        codes: For each row a row of `words`.
        words: Bytes of the words, all of them as wide as the longest.
        lengths: Of the words, in bytes.
        starts: Where each row begins in `texts`; one more than there are rows.
        texts: Bytes of all rows, with room for each to be the longest.
    """
    written = np.uintp(0)
    for row in range(len(codes)):
        code = np.uintp(codes[row])
        starts[row] = written
        for index in range(words.shape[1]):
            texts[written + np.uintp(index)] = words[code, index]
        written += np.uintp(lengths[code])
    starts[len(codes)] = written
    return written


def loaded() -> Any:
    """The kernel, compiled with the tables of the installed metadata."""
    if _probe() != _FINGERPRINT:
        kernel.compile_anew()
    return kernel


def _probe() -> int:
    # Arrow's buffers are read-only, which is part of the types that code is compiled for.
    data, offsets = np.frombuffer(b"\0", np.uint8), np.frombuffer(bytes(8), np.int64)
    small, flags = np.zeros(0, np.uint8), np.zeros(0, np.bool_)
    places, starts = np.zeros(1, np.int16), np.zeros(1, np.int64)
    return int(
        kernel(data, offsets, flags, places, 0, small, small, places, flags,
               starts, small, starts.copy(), small)
    )  # fmt: skip


@numba.njit(inline="always")
def _resolved(digits, count, plus, home):
    """Status, calling code, span and numbering state of what was scanned."""
    state, begin, end, code = np.intp(0), 0, count, np.intp(_CODE[home])
    if count >= VIABLE and not plus:
        # Three digits that no prefix or calling code begins with: the number is as written.
        first = np.intp(digits[0]) * 100 + np.intp(digits[1]) * 10 + np.intp(digits[2])
        state = np.intp(_HOME[home, first])
    status = READ
    if state != 0 and count <= LONGEST:
        for index in range(3, count):
            state = np.intp(_STEP[state, digits[index]])
    elif count < _SHORTEST:
        status = _NOT_A_NUMBER
    else:
        status, code, begin, end = number(digits, count, plus, home)
        if status == READ:
            state = state_of(digits, begin, end, code)
    return status, code, begin, end, state


@numba.njit(inline="always")
def _write(e164, written, code, digits, begin, end):
    """Write `+`, code and national number; a store of fixed width beats a loop that is exact."""
    e164[written] = _PLUS_SIGN
    written += 1
    if code >= 100:
        e164[written] = _ZERO + code // 100
        written += 1
    if code >= 10:
        e164[written] = _ZERO + code // 10 % 10
        written += 1
    e164[written] = _ZERO + code % 10
    written += 1
    for index in range(LONGEST):
        e164[written + index] = _ZERO + digits[begin + index]
    return written + end - begin


@numba.njit
def judged(data, start, stop, status, no_home):
    """The outcome that is more useful to a person than the parse's, as `parse_number.judged` finds it."""
    digits = same = up = down = 0
    first = previous = np.int64(-9)
    is_blank, has_exponent, at = True, False, start
    while at < stop:
        char, is_digit, width = character(data, at, stop)
        at += width
        is_blank &= _is_space(char)
        has_exponent |= char | 0x20 == _EXPONENT
        if not is_digit:
            continue
        # Digits of other scripts repeat, but are not what people count with.
        digit, is_ascii = np.int64(char) - _ZERO, char < _ASCII
        first = digit if digits == 0 else first
        same = same + 1 if digit == previous else 1
        rises = digit == previous + 1 or (digit == 0 and previous == _NINE)
        falls = digit == previous - 1 or (digit == _NINE and previous == 0)
        up = (up + 1 if rises else 1) if is_ascii else 0
        down = (down + 1 if falls else 1) if is_ascii else 0
        previous = digit
        digits += 1
    if is_blank:
        return outcomes.MISSING
    if has_exponent and _is_scientific(data, start, stop):
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
    at = _behind_spaces(data, start, stop)
    if at < stop and data[at] == _PLUS_SIGN:
        at += 1
    at, whole = _behind_digits(data, at, stop)
    if whole != 1:
        return False
    if at < stop and (data[at] == _POINT or data[at] == _COMMA):
        at, fraction = _behind_digits(data, at + 1, stop)
        if fraction == 0:
            return False
    if at >= stop or data[at] | 0x20 != _EXPONENT:
        return False
    at += 1
    if at < stop and data[at] == _PLUS_SIGN:
        at += 1
    at, power = _behind_digits(data, at, stop)
    return 1 <= power <= 3 and _behind_spaces(data, at, stop) == stop


@numba.njit
def _behind_spaces(data, at, stop):
    """Where a run of blanks ends."""
    while at < stop:
        char, _, width = character(data, at, stop)
        if not _is_space(char):
            break
        at += width
    return at


@numba.njit
def _behind_digits(data, at, stop):
    """Where a run of digits ends and how many they are."""
    digits = 0
    while at < stop:
        _, is_digit, width = character(data, at, stop)
        if not is_digit:
            break
        digits += 1
        at += width
    return at, digits


@numba.njit(inline="always")
def _is_space(char):
    """Whether `str.isspace` holds of the character."""
    if char < _ASCII:
        return char == 32 or 9 <= char <= 13 or 28 <= char <= 31
    return (
        char in (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
        or 0x2000 <= char <= 0x200A
    )
