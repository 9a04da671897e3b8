"""Numbers in the usual shapes, many at once by numpy over the plan's tables.

Only what is certain is answered: ASCII digits with the usual punctuation, perhaps an extension behind them, that
are parsed in one of four ways (as dialed at home, with the trunk prefix, in full behind a plus or what stands for it,
behind the `1` of North America). All else is phonenumbers' to read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from phonenumbers import SUPPORTED_REGIONS, ValidationResult

from dialframe import arrow_text
from dialframe.phones.number_automata import LONGEST
from dialframe.phones.numbering_plans import CODES, Plan, load_plan
from dialframe.phones.parse_number import read_number

_EMPTY: Final = arrow_text.text("")
#: Rows that are parsed at once, so that the tables of one step stay near the processor.
_ROWS: Final = 2**16
_MOST_BYTES: Final = 40
#: Digits that the first three of a number need, and those from which on it may have a prefix.
_VIABLE: Final = 3
_LEAST_DIGITS: Final = 7
_CODE_DIGITS: Final = 3
_NORTH_AMERICA: Final = 1
_NORTH_AMERICAN_DIGITS: Final = 11
_UNKNOWN: Final = 99
#: Place of the home of who accepts international numbers only.
ABROAD: Final = len(SUPPORTED_REGIONS)
_POSSIBLE: Final = 0
#: The line type of a text that is no valid number.
NO_NUMBER: Final = -1
_THREE_DIGITS: Final = 1000

#: Verdicts on a length that no pattern of a plan has.
_NO_LENGTH: Final = (ValidationResult.TOO_SHORT, ValidationResult.INVALID_LENGTH)

#: What the bytes of a text are.
_DIGIT, _SEPARATOR, _PLUS, _OTHER = (1 << place for place in range(4))
_KINDS: Final = np.full(256, _OTHER, np.uint8)
_KINDS[list(b"0123456789")] = _DIGIT
_KINDS[list(b" -.()[]/")] = _SEPARATOR
_ZERO: Final = np.uint8(ord("0"))
_ASCII: Final = 128
#: Emoji, which are trimmed as other signs are.
FIRST_EMOJI: Final = 0x1F300
LAST_EMOJI: Final = 0x1FAFF
#: What is not trimmed at the end besides digits: letters, `#`, and what stands for letters of other scripts.
_IS_KEPT: Final = np.isin(
    np.arange(256), [0, *b"#?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"]
)
#: Characters of a longer text may be more than phonenumbers reads.
_MOST_TRIMMED: Final = 120
#: A number with an extension; a slash before a label begins a second number.
_LABELED: Final = r"(?i)^(?P<number>\+?[0-9 ().-]*[0-9])(?:;ext=|[ ,]*(?:[x#]|ext|extension)[.:]?[ ,-]*)(?P<extension>[0-9]{1,5})$"


class Usual(NamedTuple):
    """Rows whose texts are parsed for certain.

    Attributes:
        rows: The rows, in any order.
        valid: Whether the number is of its plan.
        e164: Plus, calling code and national number, of valid and other numbers.
        extension: Their extensions, null where there is none.
        code: Calling codes.
        state: State of the numbering automaton in which each number ends; 0 is no number.
        verdict: `ValidationResult` of their length.
    """

    rows: NDArray[np.intp]
    valid: NDArray[np.bool_]
    e164: pa.Array
    extension: pa.Array
    code: NDArray[np.intp]
    state: NDArray[np.intp]
    verdict: NDArray[np.int8]


def read_usual(
    texts: pa.Array, regions: Sequence[str | None] | str | None, *, spell: bool = True
) -> Usual:
    """What is certain of a column of texts.

    Args:
        texts: Large strings; what is missing is in no answer.
        regions: The known region at home, one for all or one for each.
        spell: Whether `e164` is wanted; it is null without.

    Example:
        >>> read_usual(pa.array(["(212) 555-0142", "n/a"], pa.large_string()), "US").e164.to_pylist()
        ['+12125550142']
    """
    texts = texts.fill_null(arrow_text.text("")) if texts.null_count else texts
    homes = _homes(regions)
    each = len(homes) > 1
    parts = [
        _parse_texts(
            texts.slice(begin, _ROWS),
            homes[begin : begin + _ROWS] if each else homes,
            begin,
            spell,
        )
        for begin in range(0, len(texts), _ROWS)
    ]
    rows = _remaining_rows(len(texts), parts)
    if not len(rows):
        return _join_parts(parts)
    # Trimmed, and in the digits and punctuation of ASCII.
    cells, has_wide_digits = _trim_texts(texts.take(arrow_text.numbers(rows)))
    part = _parse_texts(cells, homes[rows] if each else homes, 0, spell)
    parts.append(part._replace(rows=rows[part.rows]))
    # With an extension, whose digits stay as they were written.
    labeled = np.setdiff1d(_remaining_rows(len(rows), [part]), np.flatnonzero(has_wide_digits))
    both = pc.extract_regex(cells.take(arrow_text.numbers(labeled)), _LABELED)
    matched = np.flatnonzero(arrow_text.values_of(both.is_valid()))
    number, extension = both.take(arrow_text.numbers(matched)).flatten()
    rows = rows[labeled[matched]]
    part = _parse_texts(number, homes[rows] if each else homes, 0, spell)
    # Of what is no number the digits of the extension may tell why.
    good = np.flatnonzero(part.valid)
    places = arrow_text.numbers(good)
    part = Usual(
        *(values.take(places) if isinstance(values, pa.Array) else values[good] for values in part)  # type: ignore[arg-type]
    )
    parts.append(
        part._replace(
            rows=rows[part.rows], extension=extension.take(arrow_text.numbers(part.rows))
        )
    )
    return _join_parts(parts)


def _remaining_rows(count: int, parts: Sequence[Usual]) -> NDArray[np.intp]:
    """The rows of so many that no part has."""
    left = np.ones(count, np.bool_)
    for part in parts:
        left[part.rows] = False
    return np.flatnonzero(left)


def _trim_texts(texts: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """From the first digit or plus to what is trimmed at the end, in ASCII, and which had other digits.

    So phonenumbers begins to parse, too. What has no place in a usual number becomes something that has none either.
    """
    data, starts = arrow_text.bytes_of(texts)
    characters = plain = data
    if data.max(initial=0) >= _ASCII:  # the table of all others takes a twentieth of a second
        characters = np.frombuffer(data.tobytes().decode().encode("utf-32-le"), np.uint32)
        plain = _ascii_of().take(characters, mode="clip")
    begins = np.concatenate([[0], np.cumsum(data & 0xC0 != 0x80, dtype=np.int64)])[starts]
    is_digit = _KINDS.take(plain) == _DIGIT
    # Behind a semicolon parameters may stand, and behind what is beyond the tables anything.
    heads = np.flatnonzero(is_digit | (plain == ord("+")) | (plain == ord(";")) | (plain == 0))
    ends = np.flatnonzero(is_digit | _IS_KEPT.take(plain))
    stops = begins[1:]
    first = np.append(heads, len(plain))[np.searchsorted(heads, begins[:-1])]
    last = np.append(ends, -1)[np.searchsorted(ends, stops) - 1] + 1
    first = np.where(stops - begins[:-1] > _MOST_TRIMMED, stops, np.minimum(first, stops))
    last = np.clip(last, first, stops)
    bounds = np.stack([first, last], axis=1).reshape(-1)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(plain)]
    cut = pa.Array.from_buffers(arrow_text.TEXT, max(0, len(bounds) - 1), buffers)
    others = np.concatenate([[0], np.cumsum(is_digit & (characters >= _ASCII))])
    return cut.take(arrow_text.numbers(2 * np.arange(len(texts)))), np.diff(others[begins]) > 0


@cache
def _ascii_of() -> NDArray[np.uint8]:
    """The ASCII character that stands for each other one; 0 where none does, and of the last for all behind it."""
    table = np.zeros(1 << 17, np.uint8)
    table[FIRST_EMOJI : LAST_EMOJI + 1] = ord("!")
    table[:_ASCII] = np.arange(_ASCII)
    letters = {"mark": "(", "space": " ", "plus": "+", "junk": "!"}
    for character, (name, digit) in wide_characters().items():
        table[ord(character)] = ord(str(digit) if name == "digit" else letters.get(name, "?"))
    return table


def are_valid(texts: Sequence[str], regions: Sequence[str | None]) -> list[bool]:
    """Whether each text is a valid number, as `read_number` finds it.

    Args:
        texts: Texts, none of them missing.
        regions: The known region at home of each, or None.

    Example:
        >>> are_valid(["(212) 555-0142", "020 7946 0018"], ["US", "US"])
        [True, False]
    """
    known: list[bool | None] = [None] * len(texts)
    usual = read_usual(arrow_text.column(texts), regions, spell=False)
    for row, valid in zip(usual.rows.tolist(), usual.valid.tolist(), strict=True):
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
        For each text a key of `phones.TYPES`, `NO_NUMBER`, or -2 where only phonenumbers can tell.

    Example:
        >>> line_types(["(212) 555-0142", "(222) 555-0142"], ["US", "US"]).tolist()
        [2, -1]
    """
    usual = read_usual(arrow_text.column(texts), regions, spell=False)
    kinds = np.full(len(texts), -2, np.int8)
    kinds[usual.rows] = np.where(usual.valid, plan().kind[usual.state].astype(np.int8), NO_NUMBER)
    return kinds


@cache
def plan() -> Plan:
    """The numbering plans of the installed metadata."""
    return load_plan()


def _parse_texts(
    texts: pa.Array,
    homes: NDArray[np.intp],
    before: int,
    spell: bool,  # noqa: FBT001
) -> Usual:
    """The certain ones of some texts without nulls; `homes` is one for all or one for each.

    So many rows are before them.
    """
    data, starts = arrow_text.bytes_of(texts)
    filled = np.flatnonzero(np.diff(starts))
    if not len(filled):
        return _NOTHING
    kinds = arrow_text.classes(data, _KINDS)
    heads = starts[filled]
    kinds[heads[data[heads] == ord("+")]] = _PLUS
    seen = np.bitwise_or.reduceat(kinds, heads)
    is_digit = kinds == _DIGIT
    length = np.add.reduceat(is_digit, heads, dtype=np.int64)
    usual = (seen < _OTHER) & (length >= _VIABLE) & (length <= LONGEST + _CODE_DIGITS)
    usual &= starts[filled + 1] - heads <= _MOST_BYTES + 1
    rows, plus = filled[usual], seen[usual] >= _PLUS
    if not len(rows):
        return _NOTHING
    digits = np.compress(is_digit, data)
    starts = (np.cumsum(length) - length)[usual]
    length = length[usual]
    home = homes if len(homes) == 1 else homes[rows]
    values = digits - _ZERO
    ways = _ways(values, starts, length, plus, home)
    begin, size = starts + ways.begin, length - ways.begin
    state = _walk_digits(plan().root[ways.code], values, begin, size)
    verdict = plan().length[np.maximum(plan().main[ways.code], 0), np.minimum(size, LONGEST)]
    known = (state != 0) & (plan().kind[state] != _UNKNOWN)
    valid = known & (verdict == _POSSIBLE)
    certain = ((ways.plain & (valid | ~known)) | (ways.trunk & valid)) & (size <= LONGEST)
    certain |= ways.short & (state == 0)
    good = np.flatnonzero(certain)
    code = ways.code[good]
    e164 = (
        _spell_numbers(digits, begin[good], size[good], code)
        if spell
        else pa.nulls(len(good), arrow_text.TEXT)
    )
    return Usual(
        rows=rows[good] + before,
        valid=valid[good],
        e164=e164,
        extension=pa.nulls(len(good), arrow_text.TEXT),
        code=code,
        state=state[good],
        verdict=verdict[good],
    )


def _walk_digits(
    root: NDArray[np.int32],
    values: NDArray[np.uint8],
    begin: NDArray[np.intp],
    size: NDArray[np.intp],
) -> NDArray[np.intp]:
    """The states in which numbers end that have so many digits from `begin` on; 0 is no number."""
    state = root.astype(np.intp)
    steps = plan().step.reshape(-1)
    for index in range(min(int(size.max(initial=0)), LONGEST)):
        after = steps.take(state << 4 | values.take(begin + index, mode="clip"))
        state = np.where(index < size, after, state)
    return state


def _spell_numbers(
    digits: NDArray[np.uint8],
    begin: NDArray[np.intp],
    size: NDArray[np.intp],
    code: NDArray[np.intp],
) -> pa.Array:
    """Plus, calling code and national number of each row, whose digits begin at `begin` of all digits."""
    # Each national number and what stands before the next one, in turn, on the digits as they stand.
    bounds = np.stack([begin, begin + size], axis=1).reshape(-1)
    buffers = [None, pa.py_buffer(bounds.astype(np.int64)), pa.py_buffer(digits)]
    cut = pa.Array.from_buffers(arrow_text.TEXT, max(0, len(bounds) - 1), buffers)
    national = cut.take(arrow_text.numbers(2 * np.arange(len(begin))))
    return pc.binary_join_element_wise(
        _calling_texts().take(arrow_text.numbers(code)), national, _EMPTY
    )


_NOTHING: Final = Usual(
    np.zeros(0, np.intp), np.zeros(0, np.bool_), pa.nulls(0, arrow_text.TEXT), pa.nulls(0, arrow_text.TEXT),
    np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.int8),
)  # fmt: skip


def _join_parts(parts: Sequence[Usual]) -> Usual:
    if len(parts) < 2:
        return parts[0] if parts else _NOTHING
    return Usual(
        *(
            pa.concat_arrays(values) if isinstance(values[0], pa.Array) else np.concatenate(values)
            for values in zip(*parts, strict=True)
        )
    )


class _Ways(NamedTuple):
    """Where each national number begins, its calling code, and which way is taken.

    Behind a trunk prefix only a valid number is certain: what is none may be another with the prefix.
    A `short` one has a trunk 1 of North America before too few digits: no number either way.
    """

    begin: NDArray[np.intp]
    code: NDArray[np.intp]
    plain: NDArray[np.bool_]
    trunk: NDArray[np.bool_]
    short: NDArray[np.bool_]


def _ways(
    values: NDArray[np.uint8],
    starts: NDArray[np.intp],
    length: NDArray[np.intp],
    plus: NDArray[np.bool_],
    home: NDArray[np.intp],
) -> _Ways:
    """How digits are parsed that begin at `starts` of all digits."""
    tables = plan()
    long = length >= _LEAST_DIGITS
    at_home = ~plus & (home != ABROAD)
    first = _three(values, starts)
    code = tables.code[home].astype(np.intp)
    # As dialed at home: three digits that no prefix and no calling code begins with, whether numbers do or not.
    local = at_home & _says(home, first, _is_as_written)
    # With the trunk 0 (or 8), which is no call abroad and no calling code.
    trunk = at_home & ~local & long & (_calling_codes()[0][first] != code)
    trunk &= _says(tables.international[home], first, _is_free_of)
    trunk &= _says(tables.national[home], first, _is_one_digit_of)
    # Regions that share a code may take no number of the length that others have (contrast GB and IM).
    trunk &= tables.length[home, length - 1] == _POSSIBLE
    # Behind the 1 of North America, where the whole is longer than any number there.
    american = at_home & ~local & (code == _NORTH_AMERICA) & (first >= 120) & (first < 200)
    eleven = american & (length >= _NORTH_AMERICAN_DIGITS)
    short = american & ~eleven
    if eleven.any():
        eleven &= _says(tables.national[home], _three(values, starts + 1), _is_free_of)
    if short.any():
        # Behind the 1 stands no number of any plan, so the digits stay as they are.
        short &= _says(tables.national[home], first, _is_one_digit_of)
        short &= np.isin(
            tables.length[home, np.maximum(length - 1, 0).clip(max=LONGEST)], _NO_LENGTH
        )
    # In full, behind a plus or the prefix for calls abroad.
    skip = np.where(at_home & ~local, _says(tables.international[home], first, _abroad_digits), 0)
    full = np.flatnonzero((plus | (skip > 0)) & (length - skip >= _LEAST_DIGITS))
    full_code, width = (
        table[_three(values, starts[full] + skip[full])] for table in _calling_codes()
    )
    known = (width > 0) & (tables.main[full_code] < ABROAD)
    full, full_code, width = full[known], full_code[known], width[known]
    begin = np.zeros(len(starts), np.intp)
    begin[full] = skip[full] + width
    national, rest = (
        tables.national[tables.main[full_code]],
        _three(values, starts[full] + begin[full]),
    )
    free, full_trunk = np.zeros(len(starts), np.bool_), np.zeros(len(starts), np.bool_)
    free[full] = _says(national, rest, _is_free_of)
    full_trunk[full] = ~free[full] & _says(national, rest, _is_one_digit_of)

    plain, trunk = local | eleven | free, trunk | full_trunk
    code = np.where(local | trunk | eleven | short, code, 0)
    code[full] = full_code
    return _Ways(
        begin + (trunk | eleven), np.where(plain | trunk | short, code, 0), plain, trunk, short
    )


def _three(values: NDArray[np.uint8], begin: NDArray[np.intp]) -> NDArray[np.intp]:
    """The three digits from there on as a number."""
    each = [values.take(begin + at, mode="clip").astype(np.intp) for at in range(3)]
    return each[0] * 100 + each[1] * 10 + each[2]


def _homes(regions: Sequence[str | None] | str | None) -> NDArray[np.intp]:
    """Places of the regions at home, or of the one that all have."""
    if not isinstance(regions, str | None):
        known = set(regions)
        if len(known) != 1:
            return np.array([_places()[region] for region in regions], np.intp)
        (regions,) = known
    return np.array([_places()[regions]], np.intp)


@cache
def _places() -> dict[str | None, int]:
    """Places of the regions; the last is the home of who has none."""
    names = (*plan().regions[:-1].tolist(), None)
    return {name: index for index, name in enumerate(names)}


@cache
def _calling_texts() -> pa.Array:
    """A plus and each calling code."""
    return arrow_text.column(f"+{code}" for code in range(CODES))


@cache
def _calling_codes() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """By three digits, the calling code that they begin with, and its width; 0 for none."""
    code, width = np.zeros(_THREE_DIGITS, np.intp), np.zeros(_THREE_DIGITS, np.intp)
    first = np.arange(_THREE_DIGITS)
    for digits, begins in enumerate((first // 100, first // 10, first), start=1):
        new = (width == 0) & (plan().main[begins] >= 0) & (first >= 100)
        code[new], width[new] = begins[new], digits
    return code, width


def _says(
    keys: NDArray[Any], first: NDArray[np.intp], ask: Callable[[int], NDArray[Any]]
) -> NDArray[Any]:
    """What holds of each row's first three digits and its key, or the one key of all rows."""
    if len(keys) == 1:
        return ask(int(keys[0]))[first]
    answers = np.zeros(len(keys), ask(0).dtype)
    for key in np.unique(keys).tolist():
        same_key = keys == key
        answers[same_key] = ask(key)[first[same_key]]
    return answers


@cache
def _is_as_written(home: int) -> NDArray[np.bool_]:
    """By three digits, whether neither a prefix nor the calling code of the home begins with them."""
    tables = plan()
    free = _is_free_of(int(tables.international[home])) & _is_free_of(int(tables.national[home]))
    answer: NDArray[np.bool_] = free & (_calling_codes()[0] != tables.code[home])
    return answer


@cache
def _is_free_of(root: int) -> NDArray[np.bool_]:
    """By three digits, whether the prefixes neither match nor can still match behind them."""
    tables, touched = plan(), np.zeros(_THREE_DIGITS, np.bool_)
    states = _walk(root)
    for state in states:
        touched |= (tables.prefix_match[state] >= 0) | (tables.prefix_end[state] >= 0)
    free: NDArray[np.bool_] = (states[-1] == 0) & ~touched
    return free


@cache
def _abroad_digits(root: int) -> NDArray[np.int8]:
    """By three digits, how many of them are the prefix for certain; 0 of none, and of others."""
    tables, (_, _, two, three) = plan(), _walk(root)
    ends = tables.prefix_end[[two, three]].max(axis=0) < 0
    is_two = (tables.prefix_match[two] == 0) & (three == 0) & ends
    goes_on = tables.prefix_step[three].any(axis=1)
    is_three = (tables.prefix_match[three] == 0) & (three != 0) & ~goes_on & ends
    return np.select([is_two & (two != 0), is_three], [2, 3], 0).astype(np.int8)


@cache
def _is_one_digit_of(root: int) -> NDArray[np.bool_]:
    """By three digits, whether the first of them alone is the prefix, and nothing of it is kept."""
    match = plan().prefix_match
    _, one, two, three = _walk(root)
    alone: NDArray[np.bool_] = (match[one] == 0) & (one != 0) & (three == 0)
    return alone & (match[two] < 0) & (match[three] < 0)


def _walk(root: int) -> list[NDArray[np.intp]]:
    """The states before and behind each of three digits, by the number that they make."""
    first = np.arange(_THREE_DIGITS)
    states = [np.full(len(first), root, np.intp)]
    for digit in (first // 100, first // 10 % 10, first % 10):
        states.append(plan().prefix_step[states[-1], digit].astype(np.intp))
    return states


def wide_characters() -> dict[str, tuple[str, int]]:
    """Class and digit of every character of the basic plane beyond ASCII.

    A letter or numeral of another script is `alien`: before a number it is skipped, and behind one
    it makes no number of it. What is neither is `junk`, which is trimmed. What may be punctuation
    of a number and something else, or the label of an extension, stays `odd`: U+30FC is one of
    them, which phonenumbers holds for punctuation and for a letter.
    """
    known: dict[str, tuple[str, int]] = {}
    for char in map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x10000))):
        if char.isdecimal():
            known[char] = ("digit", unicodedata.decimal(char))
        else:
            known[char] = ("alien" if char.isalnum() else "junk", 0)
    marks = "\u00ad\u200b\u2060\u3000\u2212（）－．／" + "".join(map(chr, range(0x2010, 0x2016)))
    known |= dict.fromkeys(marks, ("mark", 0))
    known |= dict.fromkeys(_ODD, ("odd", 0))
    known["＋"] = ("plus", 0)
    known["\u00a0"] = ("space", 0)
    return known


#: Other punctuation of numbers, letters of labels of extensions in any case, and letters that are
#: an ASCII letter to a pattern that ignores case.
_ODD: Final = (
    "\u30fc［］\u2053\u223c～＃\u0301óÓ\u0434\u043e\u0431\u0414\u041e\u0411\u1c82"
    "ｅｘｔｎｉＥＸＴＮＩ\u017f\u212a\u0130\u0131"
)
