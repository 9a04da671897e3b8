"""Records of all files judged against each other: prohibitions and repetition; knows no cells.

Numbers are integers here: E.164 has at most 15 digits, so nothing is hashed and nothing collides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.leads import texts
from dialframe.leads.assess import Assessed
from dialframe.leads.reasons import REASONS

#: Reasons that only all records together tell, with the field that they concern.
FIELDS: Final = {
    "on_dnc": "phone",
    "opt_out_elsewhere": "phone",
    "duplicate_in_file": "phone",
    "duplicate_external_id": "external_id",
}
_FORBIDS: Final = np.array([reason.outcome == "do_not_call" for reason in REASONS])


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """What of some records is compared with others.

    Attributes:
        numbers: Phones as integers, 0 for none.
        others: Second numbers of records that forbid to call, 0 for none.
        free: Records that nothing stands against.
        forbids: Records that forbid to call their number.
        ids: External ids, or None where they may repeat.
        lines: Physical lines.
    """

    numbers: np.ndarray
    others: np.ndarray
    free: np.ndarray
    forbids: np.ndarray
    ids: pa.Array | None
    lines: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)


class Found(NamedTuple):
    """Records with one reason, in order, and for each the record that it repeats or obeys.

    Attributes:
        code: The reason.
        records: The records.
        kept: Those other records, or None.
        lines: Their physical lines, or None.
    """

    code: str
    records: np.ndarray
    kept: np.ndarray | None
    lines: np.ndarray | None


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """What stands against records because of others.

    Attributes:
        found: By reason.
    """

    found: tuple[Found, ...] = field(default=())

    def between(self, begin: int, stop: int) -> Iterator[Found]:
        """The part that concerns some records, which count from 0 then."""
        for one in self.found:
            first, last = np.searchsorted(one.records, [begin, stop])
            if last > first:
                own = slice(first, last)
                yield Found(
                    one.code,
                    one.records[own] - begin,
                    None if one.kept is None else one.kept[own],
                    None if one.lines is None else one.lines[own],
                )


def keys(assessed: Assessed, lines: np.ndarray, *, ids_are_unique: bool) -> Keys:
    """What is compared of records that were judged one by one."""
    free = np.ones(len(lines), np.bool_)
    forbids = np.zeros(len(lines), np.bool_)
    for rows, ranks in zip(assessed.notes.rows, assessed.notes.ranks, strict=True):
        free[rows] = False
        forbids[rows[_FORBIDS[ranks]]] = True
    ids = assessed.fields["external_id"] if ids_are_unique else None
    return Keys(assessed.numbers, assessed.others, free, forbids, ids, lines)


def settle(parts: list[Keys], do_not_call: np.ndarray) -> Settled:
    """Compare all records with each other.

    Who says once not to call is not called under any record with the same number. Of records with
    the same number, or the same external id, the first that nothing stands against is kept.

    Args:
        parts: All records in the order in which they are compared.
        do_not_call: Numbers that must not be called, in order.
    """
    numbers, others, free, forbids, lines = (
        np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0, np.int64)])
        for name in ("numbers", "others", "free", "forbids", "lines")
    )
    listed = np.isin(numbers, do_not_call) & (numbers != 0)
    own = (forbids | listed).astype(np.bool_) & (numbers != 0)
    elsewhere, obeyed = _forbidden(numbers, others, own)
    free = free.astype(np.bool_)
    free[listed] = False
    free[elsewhere] = False
    again, first = _repeated(np.flatnonzero(free & (numbers != 0)), numbers)
    free[again] = False
    found = [
        Found("on_dnc", np.flatnonzero(listed), None, None),
        Found("opt_out_elsewhere", elsewhere, obeyed, lines[obeyed]),
        Found("duplicate_in_file", again, first, lines[first]),
    ]
    if parts and all(part.ids is not None for part in parts):
        again, first = _repeated_ids(pa.concat_arrays([part.ids for part in parts]), free)
        found.append(Found("duplicate_external_id", again, first, lines[first]))
    return Settled(tuple(found))


def _forbidden(
    numbers: np.ndarray, others: np.ndarray, own: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Records with a number that another record forbids, and the first that does."""
    records = np.flatnonzero(own)
    more = records[others[records] != 0]
    barred = np.concatenate([numbers[records], others[more]])
    by = np.concatenate([records, more])
    order = np.lexsort((by, barred))
    barred, by = barred[order], by[order]
    first = np.concatenate([[True], barred[1:] != barred[:-1]]) if len(barred) else own[:0]
    barred, by = barred[first], by[first]
    if not len(barred):
        return records[:0], records[:0]
    place = np.minimum(np.searchsorted(barred, numbers), len(barred) - 1)
    found = np.flatnonzero((barred[place] == numbers) & (numbers != 0) & ~own)
    return found, by[place[found]]


def _repeated(records: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    codes, distinct = pd.factorize(values[records])
    return _not_first(records, codes, len(distinct))


def _repeated_ids(ids: pa.Array, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    records = np.flatnonzero(free & (texts.sizes(ids) > 0))
    encoded = texts.take(ids, records).dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return _not_first(records, codes, len(encoded.dictionary))


def _not_first(
    records: np.ndarray, codes: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Records whose value an earlier one has, and that earlier one."""
    firsts = np.empty(count, np.int64)
    firsts[codes[::-1]] = records[::-1]
    kept = firsts[codes]
    again = kept != records
    return records[again], kept[again]
