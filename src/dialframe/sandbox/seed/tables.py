"""What the generator hands over: named tables of plain values; knows no SQL and no calls."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Value: TypeAlias = str | int | float | None
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]

ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Integers:
    """Whole numbers; where `missing` is given and true, the value is null."""

    numbers: Ints
    missing: Flags | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def values(self, first: int, last: int) -> list[Value]:
        """The values of rows `first` to `last`, the last one left out."""
        part: list[Value] = self.numbers[first:last].tolist()
        if self.missing is None:
            return part
        gaps = self.missing[first:last].tolist()
        return [None if gap else value for value, gap in zip(part, gaps, strict=True)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coded:
    """Text kept as an index into a vocabulary; a negative index is null."""

    codes: Ints
    vocabulary: Sequence[str]

    def __len__(self) -> int:
        return len(self.codes)

    def values(self, first: int, last: int) -> list[Value]:
        """The values of rows `first` to `last`, the last one left out."""
        words: list[Value] = [*self.vocabulary, None]
        null = len(self.vocabulary)
        codes = self.codes[first:last]
        return [words[code] for code in np.where(codes < 0, null, codes).tolist()]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Texts:
    """Values that are kept as they are."""

    items: Sequence[Value]

    def __len__(self) -> int:
        return len(self.items)

    def values(self, first: int, last: int) -> list[Value]:
        """The values of rows `first` to `last`, the last one left out."""
        return list(self.items[first:last])


Column: TypeAlias = Integers | Coded | Texts


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows under named columns, kept column by column and turned into tuples as they are read.

    Attributes:
        columns: Column names in the order of a row's values.
    """

    columns: tuple[str, ...]
    _parts: tuple[Column, ...] = field(repr=False)

    @classmethod
    def of(cls, parts: Mapping[str, Column]) -> Table:
        """A table from its columns.

        Raises:
            ValueError: When the columns differ in length.
        """
        lengths = {name: len(part) for name, part in parts.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of different lengths: {lengths}")
        return cls(tuple(parts), tuple(parts.values()))

    @property
    def rows(self) -> Iterator[tuple[Value, ...]]:
        """Every row as a tuple of text, whole number, float or null; read as often as wanted."""
        total = len(self)
        for first in range(0, total, ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE, total)
            yield from zip(*(part.values(first, last) for part in self._parts), strict=True)

    def __len__(self) -> int:
        return len(self._parts[0])


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticAccount:
    """One made-up account, whole.

    Instants are whole microseconds since 1970-01-01 00:00 UTC, numbers E.164 text, custom
    fields and event data JSON text, ids the contract's prefixes plus a lower-case UUID.

    Attributes:
        seed: The seed it was made from.
        size: The name of its size.
        as_of: The day (UTC) at whose first instant the history ends.
        tables: `campaigns leads calls callbacks appointments dnc agents caller_ids
            lead_sources events ground_truth`, always all of them.
    """

    seed: int
    size: str
    as_of: dt.date
    tables: Mapping[str, Table]
