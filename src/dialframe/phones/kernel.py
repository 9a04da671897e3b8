"""A column of texts to numbers in one pass over its bytes, compiled: digits to a national number as phonenumbers' `parse` does.

Importing this module loads numba. The tables are constants of the compiled code, which is why the
code on disk carries the fingerprint of its tables: `loaded` compiles anew where they differ.

A number under way is a span `start, stop` of one scratch array of digits. A national prefix that
is rewritten (`15` of an Argentine mobile, the missing area code of an Antiguan number) makes a new
span further up in the same array.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np
from phonenumbers import NumberParseException, PhoneNumberType, ValidationResult

from dialframe.phones import number_lexer, outcomes
from dialframe.phones.number_automata import LONGEST
from dialframe.phones.number_lexer import HANDED, VIABLE, character, plain, scan
from dialframe.phones.numbering_plans import LENGTHS, fingerprint
from dialframe.phones.outcomes import NOWHERE
from dialframe.phones.vectorized import ABROAD, plan

#: Room that one number needs in the output: plus, calling code, digits, and slack for a wide store.
E164_ROOM: Final = 24
#: Room for a number in the scratch array, and for the two rewritings that a parse can make.
_ROOM: Final = 128
_SCRATCH: Final = 3 * _ROOM

_PLAN: Final = plan()
#: What the compiled code depends on besides this file, whose age numba watches itself.
_FINGERPRINT: Final = fingerprint(_PLAN, outcomes, number_lexer)
_REGION, _KIND, _LONE, _HOME, _STEP = (
    _PLAN.region, _PLAN.kind, _PLAN.lone_region, _PLAN.home, _PLAN.step,
)  # fmt: skip
_GENERAL, _ROOT, _MAIN, _CODE = _PLAN.general, _PLAN.root, _PLAN.main, _PLAN.code
_LENGTH, _BIT, _INSERT = _PLAN.length, _PLAN.bit, _PLAN.insert
_PREFIX, _MATCH, _END = _PLAN.prefix_step, _PLAN.prefix_match, _PLAN.prefix_end
_INTERNATIONAL, _NATIONAL = _PLAN.international, _PLAN.national

#: A national number was read; other statuses are the error types of phonenumbers' parse.
_READ: Final = -1
_INVALID_COUNTRY_CODE: Final = int(NumberParseException.INVALID_COUNTRY_CODE)
_NOT_A_NUMBER: Final = int(NumberParseException.NOT_A_NUMBER)
_TOO_SHORT_AFTER_IDD: Final = int(NumberParseException.TOO_SHORT_AFTER_IDD)
_TOO_SHORT_NSN: Final = int(NumberParseException.TOO_SHORT_NSN)
_TOO_LONG_NSN: Final = int(NumberParseException.TOO_LONG)
_POSSIBLE: Final = int(ValidationResult.IS_POSSIBLE)
_LOCAL_ONLY: Final = int(ValidationResult.IS_POSSIBLE_LOCAL_ONLY)
_TOO_LONG: Final = int(ValidationResult.TOO_LONG)
_UNKNOWN: Final = int(PhoneNumberType.UNKNOWN)
_SHORTEST: Final = 2
_CODE_DIGITS: Final = 3

_ASCII: Final = 128
_ZERO: Final = 48
_NINE: Final = 9
_PLUS_SIGN, _COMMA, _POINT, _EXPONENT = b"+,.e"

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
    digits = np.zeros(_SCRATCH, np.uint8)
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
        # What was read is said of invalid numbers, too: their length and their region.
        if status == _READ:
            verdict = _length_verdict(_MAIN[code], end - begin)
            possible[row] = verdict in (_POSSIBLE, _LOCAL_ONLY)
            # The state in which the digits end says region, type and validity in one look.
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


def loaded() -> Any:
    """The kernel, compiled with the tables of the installed metadata."""
    # Arrow's buffers are read-only, which is part of the types that code is compiled for.
    data, offsets = np.frombuffer(b"\0", np.uint8), np.frombuffer(bytes(8), np.int64)
    small, flags = np.zeros(0, np.uint8), np.zeros(0, np.bool_)
    places, starts = np.zeros(1, np.int16), np.zeros(1, np.int64)
    kept = kernel(data, offsets, flags, places, 0, small, small, places, flags,
                  starts, small, starts.copy(), small)  # fmt: skip
    if kept != _FINGERPRINT:
        kernel.compile_anew()
    return kernel


@numba.njit(inline="always")
def _resolved(digits, count, plus, home):
    """Status, calling code, span and numbering state of what was scanned."""
    state, begin, end, code = np.intp(0), 0, count, np.intp(_CODE[home])
    if count >= VIABLE and not plus:
        # Three digits that no prefix or calling code begins with: the number is as written.
        first = np.intp(digits[0]) * 100 + np.intp(digits[1]) * 10 + np.intp(digits[2])
        state = np.intp(_HOME[home, first])
    status = _READ
    if state != 0 and count <= LONGEST:
        for index in range(3, count):
            state = np.intp(_STEP[state, digits[index]])
    elif count < _SHORTEST:
        status = _NOT_A_NUMBER
    else:
        status, code, begin, end = _number(digits, count, plus, home)
        if status == _READ:
            state = _state_of(digits, begin, end, code)
    return status, code, begin, end, state


@numba.njit
def _number(digits, stop, plus, home):
    """Parse `digits[:stop]` as written by somebody at home; returns status, code, start, stop."""
    # Without a home and a plus a number may be of any country.
    if home == ABROAD and not plus:
        return _INVALID_COUNTRY_CODE, 0, 0, stop
    # As `_maybe_extract_country_code` in phonenumbers, step by step.
    status, code, start, stop = _without_code(digits, stop, plus, home)
    if status == _INVALID_COUNTRY_CODE and plus:
        # No such code: perhaps the plus was a slip.
        status, code, start, stop = _without_code(digits, stop, False, home)
        if code == 0 and status == _READ:
            status = _INVALID_COUNTRY_CODE
    if status != _READ:
        return status, 0, 0, stop
    slot = home
    if code == 0:
        code = _CODE[home]
    else:
        slot = _MAIN[code]
    if stop - start < _SHORTEST:
        return _TOO_SHORT_NSN, 0, 0, stop
    shorter, end = _without_national_prefix(digits, start, stop, slot)
    verdict = _length_verdict(slot, end - shorter)
    # phonenumbers keeps the prefix where taking it off makes the number too short.
    if verdict in (_POSSIBLE, _TOO_LONG):
        start, stop = shorter, end
    if stop - start < _SHORTEST:
        return _TOO_SHORT_NSN, 0, 0, stop
    if stop - start > LONGEST:
        return _TOO_LONG_NSN, 0, 0, stop
    return _READ, code, start, stop


@numba.njit(inline="always")
def _length_verdict(slot, length):
    """The `ValidationResult` of so many digits at a place."""
    return _LENGTH[slot, min(length, LENGTHS - 1)]


@numba.njit(inline="always")
def _state_of(digits, start, stop, code):
    """The state of the numbering automaton in which the national number ends; 0 is no number."""
    state = np.intp(_ROOT[code])
    for at in range(start, stop):
        state = np.intp(_STEP[state, digits[at]])
        if state == 0:
            break
    return state


@numba.njit
def _without_code(digits, stop, plus, home):
    """Take the calling code off; a code of 0 says that there was none."""
    start, abroad = 0, plus
    if not plus:
        end, event = _prefix(_INTERNATIONAL[home], digits, 0, stop)
        # Calling codes do not begin with 0, so what does was no international prefix.
        if event >= 0 and not (end < stop and digits[end] == 0):
            start, abroad = end, True
    if abroad:
        if stop - start <= _SHORTEST:
            return _TOO_SHORT_AFTER_IDD, 0, start, stop
        code = 0
        for at in range(start, min(start + _CODE_DIGITS, stop)):
            code = code * 10 + digits[at]
            if code == 0:
                break
            if _MAIN[code] >= 0:
                return _READ, code, at + 1, stop
        return _INVALID_COUNTRY_CODE, 0, 0, stop
    return _without_home_code(digits, stop, home)


@numba.njit
def _without_home_code(digits, stop, home):
    """Take a calling code without a plus off, where the number is a better one without it."""
    code = _CODE[home]
    width = 1 if code < 10 else (2 if code < 100 else 3)
    if code == 0 or stop < width:
        return _READ, 0, 0, stop
    written = 0
    for at in range(width):
        written = written * 10 + digits[at]
    if written != code:
        return _READ, 0, 0, stop
    start, end = _without_national_prefix(digits, width, stop, home)
    # A local number may begin with the digits of its own calling code.
    better = not _is_general(digits, 0, stop, home) and _is_general(digits, start, end, home)
    if better or _length_verdict(home, stop) == _TOO_LONG:
        return _READ, code, start, end
    return _READ, 0, 0, stop


@numba.njit
def _without_national_prefix(digits, start, stop, slot):
    """Take the national prefix off, unless that makes no number of what was one."""
    root = _NATIONAL[slot]
    if root == 0 or stop == start:
        return start, stop
    end, event = _prefix(root, digits, start, stop)
    if event < 0:
        return start, stop
    after, last = end, stop
    if event != 0:
        after, last = _rewritten(digits, start, stop, end, event, slot)
    if _is_general(digits, start, stop, slot) and not _is_general(digits, after, last, slot):
        return start, stop
    return after, last


@numba.njit
def _rewritten(digits, start, stop, end, event, slot):
    """What is inserted, the kept group of the prefix and the rest, in the next room."""
    # A span of its own: what was there is still asked whether it is a number.
    first = _ROOM * (start // _ROOM + 1)
    last = first
    for at in range(_INSERT[slot, 0]):
        digits[last] = _INSERT[slot, 1 + at]
        last += 1
    for at in range(start + (event >> 8 & 255), start + (event >> 16)):
        digits[last] = digits[at]
        last += 1
    for at in range(end, stop):
        digits[last] = digits[at]
        last += 1
    return first, last


@numba.njit(inline="always")
def _is_general(digits, start, stop, slot):
    return _GENERAL[_state_of(digits, start, stop, _CODE[slot])] & _BIT[slot] != 0


@numba.njit(inline="always")
def _prefix(root, digits, start, stop):
    """Where `re.match` would end, and what it matched; -1 for nothing."""
    state = np.intp(root)
    end, event = start, _MATCH[state]
    for at in range(start, stop):
        state = np.intp(_PREFIX[state, digits[at]])
        if state == 0:
            return end, event
        if _MATCH[state] >= 0:
            end, event = at + 1, _MATCH[state]
    if _END[state] >= 0:
        end, event = stop, _END[state]
    return end, event


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
    # In the order of `parse_number.judged`.
    if has_exponent and _is_scientific(data, start, stop):
        return outcomes.PRECISION_LOST
    if _is_placeholder(digits, same, up, down, first):
        return outcomes.PLACEHOLDER
    if status == _INVALID_COUNTRY_CODE and no_home:
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
