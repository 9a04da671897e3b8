"""Whole columns of phone cells, plain ones by compiled code and all others by `read_phone`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.leads import texts
from dialframe.leads.columns.country_names import Regions
from dialframe.leads.judging import cell_kernel
from dialframe.leads.judging.phone_cells import PhoneReading, read_phone
from dialframe.leads.reasons import RANK
from dialframe.phones import TYPES as TYPES_BY_NUMBER
from dialframe.phones import outcomes
from dialframe.phones.outcomes import REASONS
from dialframe.phones.tiers import Column, read_column

#: No reason: there is a number.
FOUND: Final = -1
#: No remark.
NOTHING_SAID: Final = -1
#: Line types by place.
TYPES: Final = tuple(TYPES_BY_NUMBER.values())

_REPAIRED: Final = ("phone_repaired",)
_PLACE_OF_TYPE: Final = {name: at for at, name in enumerate(TYPES)}
_KINDS: Final = np.full(256, -1, np.int16)
_KINDS[list(TYPES_BY_NUMBER)] = range(len(TYPES_BY_NUMBER))
_RANKS: Final = np.array([RANK.get(REASONS.get(at) or "", FOUND) for at in range(256)], np.int16)


@dataclass(slots=True, eq=False)
class Phones:
    """What a column of phone cells says, one entry a cell.

    Attributes:
        e164: The numbers, empty where there is none.
        extension: Their extensions, or empty.
        other: Second numbers of the cells, or empty.
        region: Place of the number's region in `regions`, negative for none.
        reason: Rank of the reason why there is no number, or `FOUND`.
        warned: Which of `warnings` each cell has.
        kind: Place of the number's line type in `TYPES`, negative for none.
        remark: Rank of what the cell says about calling the person, or `NOTHING_SAID`.
        plain: Cells that are a number and nothing else.
        regions: Codes of the regions.
        warnings: Warning codes.
    """

    e164: pa.Array
    extension: pa.Array
    other: pa.Array
    region: np.ndarray
    reason: np.ndarray
    warned: np.ndarray
    kind: np.ndarray
    remark: np.ndarray
    plain: np.ndarray
    regions: tuple[str, ...]
    warnings: list[tuple[str, ...]]

    @property
    def numbers(self) -> np.ndarray:
        """The numbers as integers, 0 for none."""
        return numbers(self.e164)


def read_phones(cells: pa.Array, regions: Regions) -> Phones:
    """The phone numbers of a column.

    Args:
        cells: Texts without nulls.
        regions: Known region of national numbers or None, one for all cells or one each.
    """
    data, starts = texts.raw(cells)
    rows = len(cells)
    shape, cuts = np.empty(rows, np.uint8), np.empty(rows, np.int64)
    cell_kernel.phones(data, starts, shape, cuts)
    readable = _cut(data, starts, shape, cuts)
    read = read_column(readable, regions)
    valid = read.outcome == outcomes.VALID
    phones = Phones(
        e164=read.e164.fill_null(""),
        extension=read.extension.fill_null(""),
        other=texts.constant("", rows),
        region=read.region.astype(np.int16),
        reason=_RANKS[read.outcome],
        warned=np.where((shape == cell_kernel.FLOAT) & valid, 1, 0),
        kind=_KINDS[read.kind],
        remark=np.full(rows, NOTHING_SAID, np.int16),
        plain=valid & (shape >= cell_kernel.PLAIN) & (shape != cell_kernel.LABELED),
        regions=read.regions,
        warnings=[(), _REPAIRED],
    )
    _drop_extensions(phones, read)
    phones.reason[shape == cell_kernel.EMPTY] = RANK["missing_phone"]
    invalid = ~valid
    phones.kind[invalid] = -1
    _with_zero(phones, readable, shape, invalid & (read.outcome != outcomes.PLACEHOLDER), regions)
    unknown = (shape == cell_kernel.UNKNOWN) | ((shape == cell_kernel.LABELED) & invalid)
    unknown |= invalid & (shape >= cell_kernel.PLAIN) & _is_abroad(readable, invalid)
    _by_reader(phones, cells, np.flatnonzero(unknown), regions)
    return phones


def numbers(e164: pa.Array) -> np.ndarray:
    """E.164 texts as integers, 0 for empty ones."""
    out = np.empty(len(e164), np.int64)
    cell_kernel.numbers(*texts.raw(e164), out)
    return out


def _is_abroad(readable: pa.Array, invalid: np.ndarray) -> np.ndarray:
    """Cells that begin with 00: read again as a number abroad, they may be one."""
    abroad = np.zeros(len(invalid), np.bool_)
    rows = np.flatnonzero(invalid)
    found = pc.match_substring_regex(texts.take(readable, rows), r"^\(?00")
    abroad[rows] = found.to_numpy(zero_copy_only=False)
    return abroad


def _cut(data: np.ndarray, starts: np.ndarray, shape: np.ndarray, cuts: np.ndarray) -> pa.Array:
    own = np.empty(len(starts), np.int64)
    out = np.empty(max(1, int(starts[-1] - starts[0])), np.uint8)
    size = cell_kernel.cut(data, starts, shape, cuts, own, out)
    return texts.of_buffers(own, out[:size])


def _drop_extensions(phones: Phones, read: Column) -> None:
    """Cells without a number have no extension either."""
    rows = np.flatnonzero((read.outcome != outcomes.VALID) & (texts.sizes(phones.extension) > 0))
    phones.extension = texts.put(phones.extension, rows, [""] * len(rows))


def _with_zero(
    phones: Phones, readable: pa.Array, shape: np.ndarray, wrong: np.ndarray, regions: Regions
) -> None:
    """Digits that are no number, as if a leading zero was lost."""
    rows = np.flatnonzero(wrong & ((shape == cell_kernel.DIGITS) | (shape == cell_kernel.FLOAT)))
    if not len(rows):
        return
    cells = readable.take(pa.array(rows))
    zeroed = texts.column([f"0{cell}" if cell.isdigit() else "" for cell in cells.to_pylist()])
    read = read_column(zeroed, _of(regions, rows))
    good = np.flatnonzero(read.outcome == outcomes.VALID)
    if len(good):
        found, own = rows[good], pa.array(good)
        phones.e164 = texts.put(phones.e164, found, read.e164.take(own))
        phones.extension = texts.put(
            phones.extension, found, read.extension.take(own).fill_null("")
        )
        phones.region[found] = read.region[good]
        phones.reason[found] = FOUND
        phones.warned[found] = 1
        phones.kind[found] = _KINDS[read.kind[good]]


def _by_reader(phones: Phones, cells: pa.Array, rows: np.ndarray, regions: Regions) -> None:
    """The cells that compiled code does not understand, each distinct text once."""
    if not len(rows):
        return
    places = {name: at for at, name in enumerate(phones.regions)} | {None: -1}
    known = {codes: at for at, codes in enumerate(phones.warnings)}
    which, readings = _read(texts.take(cells, rows), _of(regions, rows))
    for reading in readings:
        known.setdefault(reading.warnings, len(known))
    phones.warnings = list(known)

    def each(name: str) -> pa.Array:
        values = texts.column([getattr(one, name) for one in readings])
        return values.take(pa.array(which))

    phones.e164 = texts.put(phones.e164, rows, each("e164"))
    phones.extension = texts.put(phones.extension, rows, each("extension"))
    phones.other = texts.put(phones.other, rows, each("other"))
    phones.region[rows] = texts.picked([_place(one, places) for one in readings], which, np.int16)
    phones.reason[rows] = texts.picked(
        [RANK[one.reason] if one.reason else FOUND for one in readings], which, np.int16
    )
    phones.warned[rows] = texts.picked([known[one.warnings] for one in readings], which, np.int64)
    phones.kind[rows] = texts.picked(
        [_PLACE_OF_TYPE.get(one.type or "", -1) for one in readings], which, np.int16
    )
    phones.remark[rows] = texts.picked(
        [RANK[one.remark] if one.remark else NOTHING_SAID for one in readings], which, np.int16
    )


def _read(cells: pa.Array, regions: Regions) -> tuple[np.ndarray, list[PhoneReading]]:
    if isinstance(regions, str | None):
        return texts.by_distinct(cells, lambda cell: _read_again(cell, regions))
    known: dict[tuple[str, str | None], int] = {}
    pairs = zip(cells.to_pylist(), regions, strict=True)
    which = np.array([known.setdefault(pair, len(known)) for pair in pairs], np.int64)
    return which, [_read_again(*pair) for pair in known]


# What stands in many cells stands in the next block too.
_read_again = lru_cache(maxsize=2**14)(read_phone)


def _of(regions: Regions, rows: np.ndarray) -> Regions:
    return regions if isinstance(regions, str | None) else [regions[row] for row in rows.tolist()]


def _place(reading: PhoneReading, places: dict[str | None, int]) -> int:
    return places.get(reading.region, -1)
