"""Where many numbers may be, at once: numbers as integers, and a position in a short list of cases for each.

Twenty million numbers have a few thousand prefixes, those of North America its area codes. Each prefix is looked up once, by
`zones.of_number`; a row costs the reading of its digits and one look into a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dialframe.phones.zones import Zones, of_number, states_by_number

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

#: Stands for text that is no E.164 number, and for null.
NO_NUMBER: Final = -1

_NANP_FIRST: Final = 12_000_000_000
_NANP_LAST: Final = 19_999_999_999
_AREAS: Final = 800
#: The table of area codes holds the zones of every office, so that the area code alone decides.
_OF_AREA: Final = 10_000_000
_LONGEST: Final = 15
_SHORTEST: Final = 7
#: Leading digits from which the library reads a place and a kind.
_HEAD: Final = 9
_POWERS: Final = 10 ** np.arange(_LONGEST + 1, dtype=np.int64)
_PLUS: Final = ord("+")
_ZERO: Final = ord("0")
_NINE: Final = 9
#: The digits of a number (`phone`, an integer) that decide where it may be, for DuckDB: as `_grouped` takes them.
KEY_SQL: Final = f"""
    case when phone between {_NANP_FIRST} and {_NANP_LAST} then phone // {_OF_AREA}
      else phone // (10 ** greatest(length(phone::varchar) - {_HEAD}, 0))::bigint * 16 + length(phone::varchar) end"""
#: Rows at a time, so that what belongs to them stays in the processor's cache.
_BLOCK: Final = 1 << 15


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Placed:
    """Where each of many numbers may be.

    Attributes:
        codes: For each number a position in `kinds`, int32.
        kinds: The distinct places, in order of first use; at least one where there is a number.
    """

    codes: Codes
    kinds: tuple[Zones, ...]


def as_integers(phones: pd.Series) -> Ints:
    """E.164 text as integers without the plus, -1 for null and for anything else."""
    text = pa.array(phones, type=pa.large_string(), from_pandas=True)
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    _, ends, body = text.buffers()
    count = len(text)
    bounds = np.frombuffer(ends, dtype=np.int64)[text.offset : text.offset + count + 1]
    data = np.frombuffer(body, dtype=np.uint8) if body is not None else np.zeros(0, np.uint8)
    numbers = np.asarray(_digits(bounds, data), dtype=np.int64)
    if text.null_count:
        numbers[np.asarray(text.is_null())] = NO_NUMBER
    return numbers


def as_text(number: int) -> str | None:
    """E.164 text of an integer that `as_integers` gave, None for -1."""
    return None if number == NO_NUMBER else f"+{number}"


def place(phones: pd.Series | Ints, states: Mapping[str, str] | pd.Series | None = None) -> Placed:
    """Candidate zones and regions of many numbers.

    Args:
        phones: E.164 text, or integers as `as_integers` gives them.
        states: Number (E.164 text) to US state or ZIP code, where the account knows it. A series
            may name a number several times: every state counts.

    Returns:
        For each number, in the order given, what `zones.of_number` says of it. Text that is no
        E.164 number, and null, have a place of their own without zones.
    """
    numbers = as_integers(phones) if isinstance(phones, pd.Series) else phones
    heads, group = _grouped(numbers)
    known = states_by_number(states)
    if known:
        return _with_states(numbers, heads, group, known)
    kinds: dict[Zones, int] = {}
    table = np.array(
        [kinds.setdefault(_of(number), len(kinds)) for number in heads], dtype=np.int32
    )
    return Placed(table[group] if len(heads) else np.zeros(0, np.int32), tuple(kinds))


def _of(number: int, named: tuple[str, ...] = ()) -> Zones:
    return of_number(as_text(number) or "", named)


def _with_states(
    numbers: Ints, heads: list[int], group: Codes, known: Mapping[str, tuple[str, ...]]
) -> Placed:
    names = dict.fromkeys(known.values())
    order = {named: position + 1 for position, named in enumerate(names)}
    said = pd.Series({int(p[1:]): order[n] for p, n in known.items() if p[1:].isdigit()})
    places = pd.Index(said.index).get_indexer(numbers) if len(said) else np.full(len(numbers), -1)
    which = np.where(places >= 0, said.to_numpy()[places] if len(said) else 0, 0)
    pairs = group.astype(np.int64) * (len(names) + 1) + which
    codes, distinct = pd.factorize(pairs)
    states = [(), *names]
    kinds: dict[Zones, int] = {}
    table = np.array(
        [
            kinds.setdefault(
                _of(heads[pair // len(states)], states[pair % len(states)]), len(kinds)
            )
            for pair in distinct.tolist()
        ],
        dtype=np.int32,
    )
    return Placed(table[codes] if len(distinct) else np.zeros(0, np.int32), tuple(kinds))


def _grouped(numbers: Ints) -> tuple[list[int], Codes]:
    """One number of each prefix, in order of first use, and the prefix of each number."""
    group, first, others = _areas(numbers)
    heads = [int(numbers[row]) for row in first]
    if len(others):
        codes, distinct = pd.factorize(_keys(numbers[others]))
        group[others] = codes + len(heads)
        rows = np.full(len(distinct), len(numbers), dtype=np.int64)
        np.minimum.at(rows, codes, others)
        heads += [int(numbers[row]) for row in rows]
    return heads, group


def _digits(bounds: Ints, data: npt.NDArray[np.uint8]) -> Ints:
    """Integers of E.164 texts, one digit of all of them at a time."""
    starts, lengths = bounds[:-1], np.diff(bounds) - 1
    numbers = np.full(len(starts), NO_NUMBER, dtype=np.int64)
    rows = np.flatnonzero((lengths >= _SHORTEST) & (lengths <= _LONGEST))
    rows = rows[(data[starts[rows]] == _PLUS) & (data[starts[rows] + 1] != _ZERO)]
    for first in range(0, len(rows), _BLOCK):
        block = rows[first : first + _BLOCK]
        at, left = starts[block] + 1, lengths[block]
        number, valid = np.zeros(len(block), np.int64), np.ones(len(block), np.bool_)
        for position in range(int(left.max(initial=0))):
            inside = position < left
            # Beyond its end a text is read at its first digit, and the digit is not used.
            digit = data[np.where(inside, at + position, at)] - np.uint8(_ZERO)
            valid &= digit <= _NINE
            number = np.where(inside, number * 10 + digit, number)
        numbers[block[valid]] = number[valid]
    return numbers


def _areas(numbers: Ints) -> tuple[Codes, Ints, Ints]:
    """Group numbers of the North American plan by area code; rows of others are given back."""
    american = (numbers >= _NANP_FIRST) & (numbers <= _NANP_LAST)
    rows = np.flatnonzero(american)
    areas = (numbers[rows] - _NANP_FIRST) // _OF_AREA
    first = np.full(_AREAS, len(numbers), dtype=np.int64)
    np.minimum.at(first, areas, rows)
    by_first_use = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(numbers))]
    codes = np.zeros(_AREAS, dtype=np.int32)
    codes[by_first_use] = np.arange(len(by_first_use))
    group = np.zeros(len(numbers), dtype=np.int32)
    group[rows] = codes[areas]
    return group, first[by_first_use], np.flatnonzero(~american)


def _keys(numbers: Ints) -> Ints:
    """First digits and length of numbers as one integer, -1 for no number."""
    lengths = np.searchsorted(_POWERS, numbers, side="right")
    heads = numbers // _POWERS[np.maximum(lengths - _HEAD, 0)]
    return np.where(numbers < 0, NO_NUMBER, heads * 16 + lengths)
