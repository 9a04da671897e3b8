"""The local weekday and hour of the person called, from the candidate zones of the number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.analytics.attempt.frames_to_arrays import (
    NANP_LENGTH,
    NO_TIME,
    Ints,
    Mask,
    arrow,
    blocks,
    frozen,
    kept_numbers,
    once,
)
from dialframe.phones.zones import of_number

#: Zones change their clocks at whole quarters of an hour.
_MINUTE_US: Final = 60 * 1_000_000
_QUARTER_US: Final = 15 * _MINUTE_US
_QUARTERS: Final = 96
_DAY_US: Final = _QUARTERS * _QUARTER_US
_MANY_DAYS: Final = 4_000
_NANP_HEAD: Final = 8
_OTHER_HEAD: Final = 10

NO_ZONE: Final = -1
UNCLEAR: Final = -2

WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, eq=False)
class Local:
    """The local clock at some instants; the tables have a column per quarter of an hour.

    Attributes:
        row: Row of each instant in the tables: its candidate zones.
        at: The instants, microseconds UTC.
        days: Days since 1970 that have columns, 96 each.
        cells: Weekday (Monday 0) times 24 plus hour; `NO_ZONE` without a zone, `UNCLEAR` where the
            candidate zones show different hours.
        low: Earliest minute of the local day that the candidates show, -1 without.
        high: Latest.
    """

    row: npt.NDArray[np.int16]
    at: Ints
    days: Ints
    cells: npt.NDArray[np.int16]
    low: npt.NDArray[np.int16]
    high: npt.NDArray[np.int16]

    def take(self, keep: Mask) -> Local:
        """The same of some instants."""
        return replace(self, row=self.row[keep], at=self.at[keep])

    @cached_property
    def cell(self) -> npt.NDArray[np.int16]:
        """Weekday times 24 plus hour of each instant, or a negative number."""
        return self._clock_values(self.cells)

    @property
    def minute(self) -> npt.NDArray[np.int16]:
        """Earliest minute of the local day of each instant; -1 without a zone."""
        return self._minute(self.low)

    @property
    def latest(self) -> npt.NDArray[np.int16]:
        """Latest minute of the local day of each instant; -1 without a zone."""
        return self._minute(self.high)

    @property
    def known(self) -> Mask:
        """Where the local hour is certain."""
        return self.cell >= 0

    @property
    def hour(self) -> npt.NDArray[np.int16]:
        """Local hour; meaningless where not known."""
        return self.cell % 24

    @property
    def weekday(self) -> npt.NDArray[np.int16]:
        """Local weekday, Monday 0; meaningless where not known."""
        return self.cell // 24

    def _clock_values(self, shown: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
        """What a table has for each instant."""
        values = np.empty(len(self.at), dtype=np.int16)
        first, last = (int(self.days[i]) if len(self.days) else 0 for i in (0, -1))
        gaps = last - first >= len(self.days)
        for rows in blocks(len(self.at)):
            # numpy divides by one number far faster than it takes the rest.
            column = self.at[rows] // _QUARTER_US - first * _QUARTERS
            if gaps:
                day = column // _QUARTERS
                column += (np.searchsorted(self.days, day + first) - day) * _QUARTERS
            # An instant that is missing is in no column; its row says so in all.
            np.clip(column, 0, shown.shape[1] - 1, out=column)
            values[rows] = shown[self.row[rows], column]
        return values

    def _minute(self, shown: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
        begins, within = (
            self._clock_values(shown),
            (self.at % _QUARTER_US // _MINUTE_US).astype(np.int16),
        )
        return np.where(begins >= 0, begins + within, begins)


def local(case: npt.NDArray[np.int16], names: Sequence[tuple[str, ...]], at: Ints) -> Local:
    """Local weekday and hour at the place of each number.

    Args:
        case: Place of each number's candidate zones, as `zone_cases` gives it.
        names: The candidate zones.
        at: Instants, microseconds UTC, as many.
    """
    known = at
    if at.min(initial=0) == NO_TIME:
        known = at[at != NO_TIME]
        case = np.where(at != NO_TIME, case, np.int16(len(names)))
    days = np.zeros(1, dtype=np.int64)
    if len(known):
        first, last = int(known.min()) // _DAY_US, int(known.max()) // _DAY_US
        # A call of another century must not cost a table of all the days between.
        days = np.arange(first, last + 1) if last - first < _MANY_DAYS else (
            np.unique(known // _DAY_US)
        )  # fmt: skip
    # Every clock of the world stands still for a quarter of an hour: one column of the tables for each.
    begins = (days[:, None] * _QUARTERS + np.arange(_QUARTERS)).ravel() * _QUARTER_US
    starts = pd.DatetimeIndex(begins.astype("datetime64[us]"), tz="UTC")
    tables = [np.empty((len(names) + 1, len(starts)), np.int16) for _ in range(3)]
    clocks: dict[str, tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]] = {}
    for case_index, zones in enumerate(names):
        for zone in zones:
            if zone not in clocks:
                local_time = starts.tz_convert(zone)
                hour = np.asarray(local_time.hour, dtype=np.int16)
                cell = np.asarray(local_time.day_of_week, dtype=np.int16) * 24 + hour
                clocks[zone] = cell, hour * 60 + np.asarray(local_time.minute, dtype=np.int16)
        for part, values in zip(
            tables, _agree_on([clocks[z] for z in zones], len(starts)), strict=True
        ):
            part[case_index] = values
    for part in tables:
        part[-1] = NO_ZONE
    return Local(case, at, days, *tables)


def zone_cases(values: pd.Series) -> tuple[npt.NDArray[np.int16], list[tuple[str, ...]]]:
    """The place of each number of a column in a list of candidate zones, and the list; looked up once."""
    return once("zones", [values], lambda: _cases(values))


def _cases(values: pd.Series) -> tuple[npt.NDArray[np.int16], list[tuple[str, ...]]]:
    numbers = arrow(values)
    code, count = _heads(numbers, kept_numbers(values))
    # One number stands for all that begin alike; the length decides what kind it is.
    # Numbers that begin alike lie in one place: one of each is asked for its zones (libphonenumber).
    first = np.full(count + 1, -1, dtype=np.int64)
    first[code] = np.arange(len(code))
    used = np.flatnonzero(first[:-1] >= 0)
    examples = numbers.take(pa.array(first[used])).to_pylist()
    zones = [of_number(number).names for number in examples]
    distinct = list(dict.fromkeys(zones))
    index_of = {names: i for i, names in enumerate(distinct)}
    case = np.full(count + 1, len(distinct), dtype=np.int16)
    case[used] = [index_of[names] for names in zones]
    return frozen(case[code]), distinct


def _heads(numbers: pa.Array, whole: Ints | None) -> tuple[npt.NDArray[np.integer], int]:
    """How each number begins, as a code below a count; the count itself where there is no number."""
    if whole is not None and (whole // 10**10 == 1).all():
        size = 10 ** (_NANP_HEAD - 2)
        return whole // 10 ** (NANP_LENGTH - _NANP_HEAD) % size, size
    heads = pc.if_else(
        pc.starts_with(numbers, "+1"),
        pc.utf8_slice_codeunits(numbers, 0, _NANP_HEAD),
        pc.utf8_slice_codeunits(numbers, 0, _OTHER_HEAD),
    ).dictionary_encode()
    count = len(heads.dictionary)
    return np.asarray(pc.fill_null(heads.indices, count), dtype=np.int32), count


def _agree_on(
    shown: list[tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]], length: int
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    none = np.full(length, NO_ZONE, dtype=np.int16)
    if not shown:
        return none, none, none
    cells = np.stack([cell for cell, _ in shown])
    minutes = np.stack([minute for _, minute in shown])
    same = (cells == cells[0]).all(axis=0)
    # An hour is certain only where all candidate zones show the same one.
    agreed = np.where(same, cells[0], np.int16(UNCLEAR))
    return agreed, minutes.min(axis=0), minutes.max(axis=0)
