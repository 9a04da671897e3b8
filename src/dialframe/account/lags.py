"""How long after its creation a row is still seen to change: counts by powers of two; knows no rows.

A row's exact lag is not known, only that a page of old rows had so many new versions when it was read again.
Each counts with the age of the page's oldest row. Rows that were moved in count as well: they, too, are
found only where one reads again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

#: Counts of lags of up to 1, 2, 4, ... hours; the last one is of 3.7 years and more.
NONE: Final[tuple[int, ...]] = (0,) * 16
#: The share of changes that an overlap has to find.
SHARE: Final = 0.999
_HOUR: Final = timedelta(hours=1)


def noted(lags: Sequence[int], lag: timedelta, changes: int) -> tuple[int, ...]:
    """The counts with so many changes more that came that long after a creation."""
    place = next((i for i in range(len(lags) - 1) if lag <= _HOUR * (1 << i)), len(lags) - 1)
    return tuple(count + changes * (i == place) for i, count in enumerate(lags))


def joined(old: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
    """New counts on top of half of the old ones, so that what is long past is forgotten."""
    return tuple(before // 2 + after for before, after in zip(old, new, strict=True))


def nearly_all(lags: Sequence[int]) -> timedelta | None:
    """The lag that 999 of 1,000 changes kept to, as the power of two above it; None without changes."""
    wanted, sofar = SHARE * sum(lags), 0
    if wanted == 0:
        return None
    for place, count in enumerate(lags):
        sofar += count
        if sofar >= wanted:
            return _HOUR * (1 << place)
    return None
