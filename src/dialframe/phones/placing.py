"""Where many numbers may be, at once: numbers as integers, and a position in a short list of cases for each.

Twenty million numbers have a few thousand prefixes, those of North America its area codes. Each prefix is looked up once, by
`zones.of_number`; a row costs the reading of its digits and one look into a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numba
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
    found = np.asarray(_digits(bounds, data), dtype=np.int64)
    if text.null_count:
        found[np.asarray(text.is_null())] = NO_NUMBER
    return found


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


@numba.njit(cache=True, nogil=True)
def _digits(bounds, data):  # type: ignore[no-untyped-def]
    count = len(bounds) - 1
    found = np.full(count, NO_NUMBER, dtype=np.int64)
    for row in range(count):
        start, end = bounds[row], bounds[row + 1]
        length = end - start - 1
        if length < _SHORTEST or length > _LONGEST or data[start] != 43 or data[start + 1] == 48:
            continue
        number = np.int64(0)
        for place_ in range(start + 1, end):
            digit = np.int64(data[place_]) - 48
            if digit < 0 or digit > 9:
                number = np.int64(NO_NUMBER)
                break
            number = number * 10 + digit
        found[row] = number
    return found


@numba.njit(cache=True, nogil=True)
def _areas(numbers):  # type: ignore[no-untyped-def]
    """Group numbers of the North American plan by area code; rows of others are given back."""
    seen = np.full(_AREAS, -1, dtype=np.int32)
    group = np.zeros(len(numbers), dtype=np.int32)
    first = [0 for _ in range(0)]
    others = [0 for _ in range(0)]
    for row in range(len(numbers)):
        number = numbers[row]
        if number < _NANP_FIRST or number > _NANP_LAST:
            others.append(row)
            continue
        area = (number - _NANP_FIRST) // _OF_AREA
        if seen[area] < 0:
            seen[area] = len(first)
            first.append(row)
        group[row] = seen[area]
    return group, np.array(first, dtype=np.int64), np.array(others, dtype=np.int64)


@numba.njit(cache=True, nogil=True)
def _keys(numbers):  # type: ignore[no-untyped-def]
    """First digits and length of numbers as one integer, -1 for no number."""
    found = np.full(len(numbers), NO_NUMBER, dtype=np.int64)
    for row in range(len(numbers)):
        number, length = numbers[row], 0
        if number < 0:
            continue
        rest = number
        while rest > 0:
            rest //= 10
            length += 1
        head = number
        for _ in range(length - _HEAD):
            head //= 10
        found[row] = head * 16 + length
    return found
