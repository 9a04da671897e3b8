"""Local time of many instants at once, and in words; knows no calls and no law.

Instants are microseconds since 1970 in UTC; local time is the same count shifted by the zone's
offset at that instant, so daylight saving is resolved for each instant by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.object_]

SECOND_US: Final = 1_000_000
MINUTE_US: Final = 60 * SECOND_US
DAY_US: Final = 24 * 60 * MINUTE_US


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """Instants as they read on a clock in one zone.

    Attributes:
        zone: IANA name.
        day: Days since 1970-01-01, by the local date.
        of_day_us: Microseconds since local midnight, by the clock.
        offset_us: Local time minus UTC, microseconds.
    """

    zone: str
    day: Ints
    of_day_us: Ints
    offset_us: Ints

    def text(self) -> Texts:
        """Local time with its offset and zone, `2026-03-08T20:59:59-04:00 America/New_York`.

        Seconds are cut, never rounded, so 20:59:59.999999 does not read as 21:00:00.
        """
        seconds = self.of_day_us // SECOND_US
        text: Texts = (
            _each(self.day, _day) + _each(seconds, _time) + _each(self.offset_us, self._tail)
        )
        return text

    def _tail(self, offset_us: int) -> str:
        sign = "-" if offset_us < 0 else "+"
        hours, minutes = divmod(abs(offset_us) // MINUTE_US, 60)
        return f"{sign}{hours:02}:{minutes:02} {self.zone}"


def local(at: pd.Series, zone: str) -> Local:
    """Instants (UTC, no nulls) in one zone."""
    here = at.dt.tz_convert(zone)
    wall = here.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)
    utc = at.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)
    return Local(zone, wall // DAY_US, wall % DAY_US, wall - utc)


def _each(values: Ints, word: Callable[[int], str]) -> Texts:
    """One text per value, made once per distinct value."""
    codes, distinct = pd.factorize(values)
    made = np.empty(len(distinct), dtype=object)
    made[:] = [word(int(value)) for value in distinct]
    texts: Texts = made[codes]
    return texts


def _day(day: int) -> str:
    return f"{np.datetime64(day, 'D')}T"


def _time(second: int) -> str:
    minutes, seconds = divmod(second, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
