"""What is on record about numbers, as integers behind a table that finds a number in a look or two; draws no conclusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numba
import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.phones.placing import as_integers

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

#: What a record is, in order of weight at one instant, as `evidence.records` sorts them.
CLEAN, SCREEN, LISTED = range(3)
#: An instant stands in `told` four times as large, with what the record is in the last two bits.
SHIFT: Final = 2
KIND: Final = 3

MIX: Final = np.uint64(0x9E3779B97F4A7C15)
#: A place in the ledger is one number: the first record above, how many below.
HALF: Final = 32
LOW: Final = 0xFFFFFFFF
#: Key of a row without number.
NOBODY: Final = -1


class Keys:
    """Integers for numbers, the same in every table: E.164 by its digits, other text in order of use."""

    def __init__(self) -> None:
        self._odd: dict[str, int] = {}

    def of(self, phones: pd.Series) -> Ints:
        """Keys of numbers; `NOBODY` for null, below it for text that is no E.164 number."""
        found = as_integers(phones)
        odd = np.flatnonzero(found < 0)
        if len(odd):
            texts = phones.iloc[odd]
            told = texts.notna().to_numpy(dtype=bool)
            for row, text in zip(odd[told], texts[told], strict=True):
                found[row] = self._odd.setdefault(str(text), NOBODY - 1 - len(self._odd))
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ledger:
    """Records by number, in order of time.

    Attributes:
        table: Rows of key (-1: empty) and the place of its records, first and how many in one.
        told: Instant and kind of each record, see `SHIFT`.
    """

    table: Ints
    told: Ints

    @classmethod
    def of(cls, phones: Ints, at_us: Ints, kinds: Bytes) -> Ledger:
        """Lay out records; of several at one instant the weightiest stands last."""
        told = (at_us << SHIFT) | kinds
        if len(told) and not bool((told[1:] >= told[:-1]).all()):
            order = np.argsort(told, kind="stable")
            phones, told = phones[order], told[order]
        table = _empty(len(phones))
        return cls(table, _index(phones, told, table))


@numba.njit(cache=True, nogil=True)
def find(table, shift, key):  # type: ignore[no-untyped-def]
    """Row of a key in a table, or of the empty place where it would be."""
    size = len(table)
    spot = np.int64((np.uint64(key) * MIX) >> shift)
    while table[spot, 0] != NOBODY and table[spot, 0] != key:
        spot = (spot + 1) & (size - 1)
    return spot


@numba.njit(cache=True, nogil=True)
def shift_of(table):  # type: ignore[no-untyped-def]
    """How far a mixed key is moved to fall into a table."""
    return np.uint64(64 - int(np.log2(len(table))))


@numba.njit(cache=True, nogil=True)
def look_ahead(table, shift, keys, heads, found):  # type: ignore[no-untyped-def]
    """Write what a table says of a few keys into `found`, 0 for those that are not in it.

    Many looks into memory at once cost little more than one, where none waits for another.
    """
    size = len(table)
    for row in range(len(keys)):
        spot = np.int64((np.uint64(keys[row]) * MIX) >> shift)
        found[row], heads[row] = spot, table[spot, 0]
    for row in range(len(keys)):
        spot, key, head = found[row], keys[row], heads[row]
        while head != NOBODY and head != key:
            spot = (spot + 1) & (size - 1)
            head = table[spot, 0]
        found[row] = table[spot, 1]


@numba.njit(cache=True, nogil=True)
def _index(phones, told, table):  # type: ignore[no-untyped-def]
    """Fill an empty table, and give the records by number."""
    size = len(table)
    shift = shift_of(table)
    group = np.empty(len(phones), dtype=np.int32)
    counts = np.zeros(len(phones) + 1, dtype=np.int32)
    groups = 0
    for row in range(len(phones)):
        spot = find(table, shift, phones[row])
        if table[spot, 0] == NOBODY:
            table[spot, 0], table[spot, 1] = phones[row], groups
            groups += 1
        group[row] = table[spot, 1]
        counts[group[row] + 1] += 1
    for place in range(groups):
        counts[place + 1] += counts[place]
    for place in range(size):
        if table[place, 0] != NOBODY:
            first = np.int64(counts[table[place, 1]])
            many = np.int64(counts[table[place, 1] + 1]) - first
            table[place, 1] = (first << HALF) | many
    ordered = np.empty(len(told), dtype=np.int64)
    for row in range(len(phones)):
        ordered[counts[group[row]]] = told[row]
        counts[group[row]] += 1
    return ordered


def _empty(keys: int) -> Ints:
    """A table for so many keys without any; numpy asks for large pages, which spares looks for addresses."""
    table = np.zeros((_size(keys), 2), dtype=np.int64)
    table[:, 0] = NOBODY
    return table


def _size(keys: int) -> int:
    """Rows of a table for so many keys: a power of two, at most three quarters full."""
    return 1 << max(4, int(keys * 4 // 3).bit_length())


def positions(keys: Ints) -> Ints:
    """A table that finds the place of each distinct key in a list; -1 is no key."""
    table = _empty(len(keys))
    _places(keys, table)
    return table


@numba.njit(cache=True, nogil=True)
def _places(keys, table):  # type: ignore[no-untyped-def]
    shift = shift_of(table)
    for row in range(len(keys)):
        spot = find(table, shift, keys[row])
        table[spot, 0], table[spot, 1] = keys[row], row


@numba.njit(cache=True, nogil=True)
def look_up(table, keys):  # type: ignore[no-untyped-def]
    """Place of each key in the list behind a table, -1 for those that are not in it."""
    shift = shift_of(table)
    found = np.empty(len(keys), dtype=np.int32)
    for row in range(len(keys)):
        found[row] = -1
        if keys[row] != NOBODY:
            spot = find(table, shift, keys[row])
            if table[spot, 0] != NOBODY:
                found[row] = table[spot, 1]
    return found
