"""Numbers in the usual shapes, many at once by numpy over the plan's tables: the way without a compiler.

Only what is certain is answered: ASCII digits with the usual punctuation that end in a valid number by one of
four ways (as dialed at home, with the trunk prefix, in full behind a plus, behind the `1` of North America). All
else is phonenumbers' to read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dialframe.phones.number_automata import LONGEST
from dialframe.phones.numbering_plans import Plan, load_plan
from dialframe.phones.single_number import TYPES, Reading, read_number

#: From so many distinct texts on, reading the tables from disk is the quicker way.
MANY: Final = 500

#: No letter, slash, comma or `#` is in it, with which an extension or a second number could begin.
_USUAL: Final = r"^\+?\(?[0-9][0-9 ().-]{5,28}$"
_LEAST_DIGITS: Final = 7
_CODE_DIGITS: Final = 3
_NORTH_AMERICA: Final = 1
_NORTH_AMERICAN_DIGITS: Final = 11
_UNKNOWN: Final = 99
_POSSIBLE: Final = 0
_BLANK: Final = 15
_THREE_DIGITS: Final = 1000


def read_all(texts: Sequence[str | None], regions: Sequence[str | None]) -> list[Reading]:
    """Every text as `read_number` reads it; many at once where that is the quicker way.

    Args:
        texts: Distinct texts, None where one is missing.
        regions: The known region at home of each, or None.

    Example:
        >>> [reading.reason for reading in read_all(["(212) 555-0142", None], ["US", "US"])]
        [None, 'missing_phone']
    """
    usual: list[Reading | None] = [None] * len(texts)
    if len(texts) >= MANY:
        with suppress(UnicodeEncodeError):  # half of a surrogate pair
            usual = read_usual([text or "" for text in texts], regions)
    return [
        reading or read_number(text, region)
        for reading, text, region in zip(usual, texts, regions, strict=True)
    ]


def read_usual(texts: Sequence[str], regions: Sequence[str | None]) -> list[Reading | None]:
    """The readings of the texts that certainly are valid numbers, None for all others.

    Args:
        texts: Texts, none of them missing.
        regions: The known region at home of each, or None.

    Example:
        >>> read_usual(["(212) 555-0142", "n/a"], ["US", "US"])[0].e164
        '+12125550142'
    """
    plan, parsed = _plan(), _parsed(texts, regions)
    certain = parsed.certain & parsed.valid
    state = parsed.state[certain]
    # Of Python's own numbers and texts from here on: one by one they are several times quicker.
    listed = zip(
        parsed.rows[certain].tolist(), parsed.written.filter(pa.array(certain)).to_pylist(),
        parsed.code[certain].tolist(), parsed.begin[certain].tolist(), plan.region[state].tolist(),
        plan.kind[state].tolist(), strict=True,
    )  # fmt: skip
    labels, valid = plan.regions.tolist(), Reading(valid=True, possible=True)
    readings: list[Reading | None] = [None] * len(texts)
    for row, number, its_code, start, its_region, its_kind in listed:
        e164 = f"+{its_code}{number[start:]}"
        readings[row] = valid._replace(e164=e164, region=labels[its_region], type=TYPES[its_kind])
    return readings


def are_valid(texts: Sequence[str], regions: Sequence[str | None]) -> list[bool]:
    """Whether each text is a valid number, as `read_number` finds it.

    Args:
        texts: Texts, none of them missing.
        regions: The known region at home of each, or None.

    Example:
        >>> are_valid(["(212) 555-0142", "020 7946 0018"], ["US", "US"])
        [True, False]
    """
    parsed = _parsed(texts, regions)
    known: list[bool | None] = [None] * len(texts)
    for row, valid in zip(
        parsed.rows[parsed.certain].tolist(), parsed.valid[parsed.certain].tolist(), strict=True
    ):
        known[row] = valid
    return [
        bool(read_number(text, region).valid) if valid is None else valid
        for valid, text, region in zip(known, texts, regions, strict=True)
    ]


def line_types(texts: Sequence[str], regions: Sequence[str | None]) -> NDArray[np.int8]:
    """The line type of each text by the tables alone, quicker than `are_valid` and not for every text.

    Args:
        texts: Texts, none of them missing.
        regions: The known region at home of each, or None.

    Returns:
        For each text a key of `TYPES`, -1 for none that is valid, -2 where only phonenumbers can tell.

    Example:
        >>> line_types(["(212) 555-0142", "(222) 555-0142"], ["US", "US"]).tolist()
        [2, -1]
    """
    parsed = _parsed(texts, regions)
    kinds = np.full(len(texts), -2, np.int8)
    kind = _plan().kind[parsed.state].astype(np.int8)
    kinds[parsed.rows] = np.where(parsed.valid, kind, np.where(parsed.certain, -1, -2))
    return kinds


class _Parsed(NamedTuple):
    """Texts of the usual shapes: their rows and digits, and what one of the ways makes of them."""

    rows: NDArray[np.intp]
    written: pa.Array
    begin: NDArray[np.intp]
    code: NDArray[np.intp]
    state: NDArray[np.intp]
    valid: NDArray[np.bool_]
    certain: NDArray[np.bool_]


def _parsed(texts: Sequence[str], regions: Sequence[str | None]) -> _Parsed:
    plan, column = _plan(), pa.array(texts, pa.large_string())
    rows = np.flatnonzero(pc.match_substring_regex(column, _USUAL).to_numpy(zero_copy_only=False))
    column = column.take(pa.array(rows))
    written = pc.replace_substring_regex(column, "[^0-9]", "")
    length = pc.binary_length(written).to_numpy(zero_copy_only=False).astype(np.intp)
    fits = (length >= _LEAST_DIGITS) & (length <= LONGEST + _CODE_DIGITS)
    rows, length, chosen = rows[fits], length[fits], pa.array(fits)
    written, plus = written.filter(chosen), pc.starts_with(column.filter(chosen), "+")
    places = _places()
    home = np.array([places[regions[row]] for row in rows.tolist()], np.intp)
    digits = _matrix(written, length)

    ways = _ways(
        plan, digits, length, plus.to_numpy(zero_copy_only=False), home, abroad=len(places) - 1
    )
    begin, code = ways.begin, ways.code
    state = plan.root[code].astype(np.intp)
    for index in range(digits.shape[1]):
        state = np.where(
            (index >= begin) & (index < length), plan.step[state, digits[:, index]], state
        )
    size = length - begin
    valid = (state != 0) & (plan.kind[state] != _UNKNOWN) & (size <= LONGEST)
    main = np.maximum(plan.main[code], 0)
    valid &= plan.length[main, np.minimum(size, LONGEST)] == _POSSIBLE
    return _Parsed(rows, written, begin, code, state, valid, ways.plain | (ways.trunk & valid))


@cache
def _places() -> dict[str | None, int]:
    """Places of the regions; the last is the home of who has none."""
    names = (*_plan().regions[:-1].tolist(), None)
    return {name: index for index, name in enumerate(names)}


class _Ways(NamedTuple):
    """Where each national number begins, its calling code, and which way is taken.

    Behind a trunk prefix only a valid number is certain: what is none may be another with the prefix.
    """

    begin: NDArray[np.intp]
    code: NDArray[np.intp]
    plain: NDArray[np.bool_]
    trunk: NDArray[np.bool_]


def _ways(
    plan: Plan,
    digits: NDArray[np.uint8],
    length: NDArray[np.intp],
    plus: NDArray[np.bool_],
    home: NDArray[np.intp],
    *,
    abroad: int,
) -> _Ways:
    at_home = ~plus & (home != abroad)
    begin = np.zeros(len(digits), np.intp)
    first = _three(digits, begin)
    code = plan.code[home].astype(np.intp)
    # As dialed at home: three digits that no prefix and no calling code begins with.
    local = at_home & (plan.home[home, first] != 0)
    # With the trunk 0 (or 8), which is no call abroad and no calling code.
    trunk = at_home & ~local & _untouched(plan, "international", home, first)
    trunk &= _says(plan, "national", home, first, _is_one_digit_of)
    trunk &= _calling_codes(plan, digits)[0] != code
    # Behind the 1 of North America, as long as no other number there is.
    eleven = at_home & ~local & (code == _NORTH_AMERICA) & (length == _NORTH_AMERICAN_DIGITS)
    eleven &= (digits[:, 0] == 1) & (digits[:, 1] > 1)
    eleven &= _untouched(plan, "national", home, _three(digits, begin + 1))
    # In full.
    its_code, width = _calling_codes(plan, digits)
    main = np.maximum(plan.main[its_code], 0)
    full = plus & (width > 0) & (main < abroad)
    main[~full] = 0
    rest = _three(digits, width)
    free = full & _untouched(plan, "national", main, rest)
    full_trunk = full & ~free & _says(plan, "national", main, rest, _is_one_digit_of)

    plain, trunk = local | eleven | free, trunk | full_trunk
    begin = np.where(full, width, 0) + (trunk | eleven)
    code = np.where(full, its_code, code)
    return _Ways(begin, np.where(plain | trunk, code, 0), plain, trunk)


def _matrix(written: pa.Array, length: NDArray[np.intp]) -> NDArray[np.uint8]:
    """The digits of each row, blanks behind them."""
    digits = np.full((len(written), LONGEST + _CODE_DIGITS), _BLANK, np.uint8)
    flat = np.frombuffer("".join(written.to_pylist()).encode(), np.uint8) - ord("0")
    starts = np.cumsum(length) - length
    digits[
        np.repeat(np.arange(len(length)), length), np.arange(len(flat)) - np.repeat(starts, length)
    ] = flat
    return digits


def _three(digits: NDArray[np.uint8], begin: NDArray[np.intp]) -> NDArray[np.intp]:
    """The three digits from there on as a number."""
    rows = np.arange(len(digits))
    each = [np.minimum(digits[rows, begin + offset], 9).astype(np.intp) for offset in range(3)]
    return each[0] * 100 + each[1] * 10 + each[2]


def _calling_codes(
    plan: Plan, digits: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The calling code that each row begins with, and its width; 0 for none."""
    code, width = (np.zeros(len(digits), np.intp) for _ in range(2))
    prefix = np.zeros(len(digits), np.intp)
    for index in range(_CODE_DIGITS):
        prefix = prefix * 10 + np.minimum(digits[:, index], 9)
        new = (width == 0) & (plan.main[prefix] >= 0) & (digits[:, 0] != 0)
        code[new], width[new] = prefix[new], index + 1
    return code, width


def _untouched(
    plan: Plan, prefix: str, places: NDArray[np.intp], first: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether no prefix of that kind can match where a number begins with these three digits."""
    return _says(plan, prefix, places, first, _is_free_of)


def _says(
    plan: Plan,
    prefix: str,
    places: NDArray[np.intp],
    first: NDArray[np.intp],
    ask: Callable[[int], NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """What holds of each row's first three digits and its place's automaton of prefixes."""
    answers = np.zeros(len(places), np.bool_)
    roots = getattr(plan, prefix)[places]
    for root in np.unique(roots).tolist():
        same_root = roots == root
        answers[same_root] = ask(root)[first[same_root]]
    return answers


@cache
def _is_free_of(root: int) -> NDArray[np.bool_]:
    """By three digits, whether the prefixes neither match nor can still match behind them."""
    plan, touched = _plan(), np.zeros(_THREE_DIGITS, np.bool_)
    states = _walk(root)
    for state in states:
        touched |= (plan.prefix_match[state] >= 0) | (plan.prefix_end[state] >= 0)
    free: NDArray[np.bool_] = (states[-1] == 0) & ~touched
    return free


@cache
def _is_one_digit_of(root: int) -> NDArray[np.bool_]:
    """By three digits, whether the first of them alone is the prefix, and nothing of it is kept."""
    match = _plan().prefix_match
    _, one, two, three = _walk(root)
    alone: NDArray[np.bool_] = (match[one] == 0) & (one != 0) & (three == 0)
    return alone & (match[two] < 0) & (match[three] < 0)


def _walk(root: int) -> list[NDArray[np.intp]]:
    """The states before and behind each of three digits, by the number that they make."""
    first = np.arange(_THREE_DIGITS)
    states = [np.full(len(first), root, np.intp)]
    for digit in (first // 100, first // 10 % 10, first % 10):
        states.append(_plan().prefix_step[states[-1], digit].astype(np.intp))
    return states


@cache
def _plan() -> Plan:
    return load_plan()
