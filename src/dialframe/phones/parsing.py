"""Digits to a national number by the tables of the plan, step for step as phonenumbers' `parse`; compiled.

A number under way is a span `start, stop` of one scratch array of digits. A national prefix that
is rewritten (`15` of an Argentine mobile, the missing area code of an Antiguan number) makes a new
span further up in the same array. The tables are compiled into the code: see `kernel`.
"""

from __future__ import annotations

from typing import Final

import numba
import numpy as np
from numpy.typing import NDArray
from phonenumbers import NumberParseException, ValidationResult

from dialframe.phones.number_automata import LONGEST
from dialframe.phones.numbering_plans import LENGTHS, load_plan
from dialframe.phones.outcomes import WORLD

PLAN: Final = load_plan()

#: A national number was read.
READ: Final = -1
#: Room for a number in the scratch array, and for the two rewritings that a parse can make.
ROOM: Final = 128
SCRATCH: Final = 3 * ROOM

INVALID_COUNTRY_CODE: Final = int(NumberParseException.INVALID_COUNTRY_CODE)
TOO_SHORT_AFTER_IDD: Final = int(NumberParseException.TOO_SHORT_AFTER_IDD)
TOO_SHORT_NSN: Final = int(NumberParseException.TOO_SHORT_NSN)
TOO_LONG_NSN: Final = int(NumberParseException.TOO_LONG)
IS_POSSIBLE: Final = int(ValidationResult.IS_POSSIBLE)
TOO_LONG: Final = int(ValidationResult.TOO_LONG)

#: The home of who accepts international numbers only.
ABROAD: Final = len(PLAN.regions) - 1
if PLAN.regions[ABROAD] != WORLD:
    raise ValueError(f"the plan does not end with {WORLD}")

_STEP, _GENERAL, _ROOT, _MAIN = PLAN.step, PLAN.general, PLAN.root, PLAN.main
_LENGTH, _BIT, _CODE, _INSERT = PLAN.length, PLAN.bit, PLAN.code, PLAN.insert
_PREFIX, _MATCH, _END = PLAN.prefix_step, PLAN.prefix_match, PLAN.prefix_end
_INTERNATIONAL, _NATIONAL = PLAN.international, PLAN.national
_SHORTEST: Final = 2
_CODE_DIGITS: Final = 3


@numba.njit
def number(
    digits: NDArray[np.uint8], stop: int, plus: bool, home: int
) -> tuple[int, int, int, int]:
    """Parse `digits[:stop]` as written by somebody at home; returns status, code, start, stop."""
    if home == ABROAD and not plus:
        return INVALID_COUNTRY_CODE, 0, 0, stop
    status, code, start, stop = _without_code(digits, stop, plus, home)
    if status == INVALID_COUNTRY_CODE and plus:
        # No such code: perhaps the plus was a slip.
        status, code, start, stop = _without_code(digits, stop, False, home)
        if code == 0 and status == READ:
            status = INVALID_COUNTRY_CODE
    if status != READ:
        return status, 0, 0, stop
    place = home
    if code == 0:
        code = _CODE[home]
    else:
        place = _MAIN[code]
    if stop - start < _SHORTEST:
        return TOO_SHORT_NSN, 0, 0, stop
    shorter, end = _without_national_prefix(digits, start, stop, place)
    verdict = length_verdict(place, end - shorter)
    if verdict in (IS_POSSIBLE, TOO_LONG):
        start, stop = shorter, end
    if stop - start < _SHORTEST:
        return TOO_SHORT_NSN, 0, 0, stop
    if stop - start > LONGEST:
        return TOO_LONG_NSN, 0, 0, stop
    return READ, code, start, stop


@numba.njit(inline="always")
def length_verdict(place: int, length: int) -> int:
    """The `ValidationResult` of so many digits at a place."""
    return _LENGTH[place, min(length, LENGTHS - 1)]


@numba.njit(inline="always")
def state_of(digits: NDArray[np.uint8], start: int, stop: int, code: int) -> np.intp:
    """The state of the numbering automaton in which the national number ends; 0 is no number."""
    state = np.intp(_ROOT[code])
    for at in range(start, stop):
        state = np.intp(_STEP[state, digits[at]])
        if state == 0:
            break
    return state


@numba.njit
def _without_code(
    digits: NDArray[np.uint8], stop: int, plus: bool, home: int
) -> tuple[int, int, int, int]:
    """Take the calling code off; a code of 0 says that there was none."""
    start, abroad = 0, plus
    if not plus:
        end, event = _prefix(_INTERNATIONAL[home], digits, 0, stop)
        # Calling codes do not begin with 0, so what does was no international prefix.
        if event >= 0 and not (end < stop and digits[end] == 0):
            start, abroad = end, True
    if abroad:
        if stop - start <= _SHORTEST:
            return TOO_SHORT_AFTER_IDD, 0, start, stop
        code = 0
        for at in range(start, min(start + _CODE_DIGITS, stop)):
            code = code * 10 + digits[at]
            if code == 0:
                break
            if _MAIN[code] >= 0:
                return READ, code, at + 1, stop
        return INVALID_COUNTRY_CODE, 0, 0, stop
    return _without_home_code(digits, stop, home)


@numba.njit
def _without_home_code(
    digits: NDArray[np.uint8], stop: int, home: int
) -> tuple[int, int, int, int]:
    """Take a calling code without a plus off, where the number is a better one without it."""
    code = _CODE[home]
    width = 1 if code < 10 else (2 if code < 100 else 3)
    if code == 0 or stop < width:
        return READ, 0, 0, stop
    written = 0
    for at in range(width):
        written = written * 10 + digits[at]
    if written != code:
        return READ, 0, 0, stop
    start, end = _without_national_prefix(digits, width, stop, home)
    better = not _is_general(digits, 0, stop, home) and _is_general(digits, start, end, home)
    if better or length_verdict(home, stop) == TOO_LONG:
        return READ, code, start, end
    return READ, 0, 0, stop


@numba.njit
def _without_national_prefix(
    digits: NDArray[np.uint8], start: int, stop: int, place: int
) -> tuple[int, int]:
    """Take the national prefix off, unless that makes no number of what was one."""
    root = _NATIONAL[place]
    if root == 0 or stop == start:
        return start, stop
    end, event = _prefix(root, digits, start, stop)
    if event < 0:
        return start, stop
    after, last = end, stop
    if event != 0:
        after, last = _rewritten(digits, start, stop, end, event, place)
    if _is_general(digits, start, stop, place) and not _is_general(digits, after, last, place):
        return start, stop
    return after, last


@numba.njit
def _rewritten(
    digits: NDArray[np.uint8], start: int, stop: int, end: int, event: int, place: int
) -> tuple[int, int]:
    """What is inserted, the kept group of the prefix and the rest, in the next room."""
    first = ROOM * (start // ROOM + 1)
    last = first
    for at in range(_INSERT[place, 0]):
        digits[last] = _INSERT[place, 1 + at]
        last += 1
    for at in range(start + (event >> 8 & 255), start + (event >> 16)):
        digits[last] = digits[at]
        last += 1
    for at in range(end, stop):
        digits[last] = digits[at]
        last += 1
    return first, last


@numba.njit(inline="always")
def _is_general(digits: NDArray[np.uint8], start: int, stop: int, place: int) -> bool:
    return _GENERAL[state_of(digits, start, stop, _CODE[place])] & _BIT[place] != 0


@numba.njit(inline="always")
def _prefix(root: int, digits: NDArray[np.uint8], start: int, stop: int) -> tuple[int, int]:
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
