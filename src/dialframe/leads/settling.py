"""Records of all files judged against each other, as integers; the answers are those of `across.judge`.

E.164 has at most 15 digits, so a number is its own key: nothing is hashed and nothing collides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.leads import texts
from dialframe.leads.columnwise import Assessed
from dialframe.leads.forbidding import forbidding
from dialframe.leads.phone_columns import numbers

#: Fields that tell that two records are one person.
_PERSON: tuple[str, ...] = ("email", "full_name", "first_name", "last_name")

Fields = Mapping[str, pa.Array]


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """What of some records is compared with others.

    Attributes:
        numbers: Phones as integers, 0 for none.
        others: Second numbers as integers, 0 for none; empty where no record has one.
        free: Records that nothing stands against.
        forbids: Records that must not be called.
        reach: Records that must not be called, and a number of each.
        spoken: What tells who those are: external ids and `_person` keys, one each of `forbids`.
        ids: External ids, or None where they may repeat.
        lines: Physical lines.
    """

    numbers: np.ndarray
    others: np.ndarray
    free: np.ndarray
    forbids: np.ndarray
    reach: tuple[np.ndarray, np.ndarray]
    spoken: tuple[list[str], list[str]]
    ids: pa.Array | None
    lines: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)


class Found(NamedTuple):
    """Records with one reason, in order, and for each the record that it repeats or obeys.

    Attributes:
        code: The reason.
        field: What it concerns.
        records: The records.
        kept: Those other records, or None.
        lines: Their physical lines, or None.
    """

    code: str
    field: str
    records: np.ndarray
    kept: np.ndarray | None = None
    lines: np.ndarray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """What stands against records because of others.

    Attributes:
        found: By reason and field.
        silenced: Records whose second number must not be called.
    """

    found: tuple[Found, ...] = ()
    silenced: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def between(self, begin: int, stop: int) -> Settled:
        """The part that concerns some records, which count from 0 then."""
        found = []
        for one in self.found:
            own = slice(*np.searchsorted(one.records, [begin, stop]).tolist())
            if own.stop > own.start:
                kept = None if one.kept is None else one.kept[own]
                lines = None if one.lines is None else one.lines[own]
                found.append(Found(one.code, one.field, one.records[own] - begin, kept, lines))
        own = slice(*np.searchsorted(self.silenced, [begin, stop]).tolist())
        return Settled(tuple(found), self.silenced[own] - begin)


def keys(assessed: Assessed, lines: np.ndarray, *, ids_are_unique: bool) -> Keys:
    """What is compared of records that were judged one by one."""
    fields, notes = assessed.fields, assessed.notes
    free = np.ones(len(lines), np.bool_)
    for rows in notes.rows:
        free[rows] = False
    forbids = forbidding(notes)
    told = {name: texts.take(fields[name], forbids) for name in ("external_id", *_PERSON)}
    others = fields["phone_other"]
    return Keys(
        numbers=numbers(fields["phone"]),
        others=numbers(others) if len(others) and texts.sizes(others).any() else np.zeros(0, np.int64),
        free=free,
        forbids=forbids,
        reach=assessed.reach,
        spoken=(told["external_id"].to_pylist(), _persons(told)),
        ids=fields["external_id"] if ids_are_unique else None,
        lines=lines,
    )


def settle(
    parts: Iterable[Keys], do_not_call: np.ndarray, fields: Callable[[], Iterator[Fields]]
) -> Settled:
    """Compare all records with each other.

    Who says once not to call is not called under any record of the number or the person. Of
    records with the same number, or the same external id, the first that nothing stands against
    is kept.

    Args:
        parts: All records in the order in which they are compared.
        do_not_call: Numbers that must not be called, in order.
        fields: Gives the fields of the parts once more, in the same order.
    """
    own = _Together.of(list(parts))
    barred, by = _barred(own)
    listed = np.flatnonzero(np.isin(own.numbers, do_not_call) & (own.numbers != 0))
    elsewhere = [_same_number(own, barred, by), *_same_person(own, fields)]
    free = own.free
    free[listed] = False
    for one in elsewhere:
        free[one.records] = False
    again = own.repeated(np.flatnonzero(free & (own.numbers != 0)))
    free[again.records] = False
    found = [Found("on_dnc", "phone", listed), *elsewhere, again]
    if own.ids is not None:
        found.append(own.repeated_ids(free))
    forbidden = np.isin(own.others, np.concatenate([barred, do_not_call])) & (own.others != 0)
    return Settled(tuple(one for one in found if len(one.records)), np.flatnonzero(forbidden))


@dataclass(frozen=True, slots=True, eq=False)
class _Together:
    """All records of all parts."""

    numbers: np.ndarray
    others: np.ndarray
    free: np.ndarray
    forbids: np.ndarray
    reach: tuple[np.ndarray, np.ndarray]
    spoken: tuple[list[str], list[str]]
    ids: pa.Array | None
    lines: np.ndarray

    @classmethod
    def of(cls, parts: list[Keys]) -> _Together:
        begins = np.cumsum([0, *map(len, parts)]).tolist()
        none = np.zeros(0, np.int64)
        moved = list(zip(parts, begins, strict=False))
        has_others = any(len(part.others) for part in parts)
        return cls(
            numbers=np.concatenate([none, *(part.numbers for part in parts)]),
            others=np.concatenate(
                [none, *(part.others if len(part.others) else np.zeros(len(part), np.int64) for part in parts)]
            )
            if has_others
            else none,
            free=np.concatenate([none.astype(np.bool_), *(part.free for part in parts)]),
            forbids=np.concatenate([none, *(part.forbids + begin for part, begin in moved)]),
            reach=(
                np.concatenate([none, *(part.reach[0] + begin for part, begin in moved)]),
                np.concatenate([none, *(part.reach[1] for part in parts)]),
            ),
            spoken=(
                [one for part in parts for one in part.spoken[0]],
                [one for part in parts for one in part.spoken[1]],
            ),
            ids=pa.concat_arrays([part.ids for part in parts])
            if parts and all(part.ids is not None for part in parts)
            else None,
            lines=np.concatenate([none, *(part.lines for part in parts)]),
        )

    def repeated(self, records: np.ndarray) -> Found:
        """Records whose number an earlier one has."""
        codes, distinct = pd.factorize(self.numbers[records])
        return self._again("duplicate_in_file", "phone", records, codes, len(distinct))

    def repeated_ids(self, free: np.ndarray) -> Found:
        """Records whose external id an earlier one has."""
        assert self.ids is not None  # noqa: S101 - the caller looked
        records = np.flatnonzero(free & (texts.sizes(self.ids) > 0))
        encoded = texts.take(self.ids, records).dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        return self._again(
            "duplicate_external_id", "external_id", records, codes, len(encoded.dictionary)
        )

    def _again(
        self, code: str, name: str, records: np.ndarray, codes: np.ndarray, count: int
    ) -> Found:
        firsts = np.empty(count, np.int64)
        firsts[codes[::-1]] = records[::-1]
        kept = firsts[codes]
        again = kept != records
        return Found(code, name, records[again], kept[again], self.lines[kept[again]])


def _barred(own: _Together) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that must not be called, in order, and the first record that says so of each."""
    by, barred = own.reach
    phones = own.numbers[own.forbids]
    more = own.forbids[(phones != 0) & ~np.isin(phones, barred)]
    records = np.concatenate([by, more])
    every = np.concatenate([barred, own.numbers[more]])
    order = np.lexsort((records, every))
    every, records = every[order], records[order]
    first = np.ones(len(every), np.bool_)
    first[1:] = every[1:] != every[:-1]
    return every[first], records[first]


def _same_number(own: _Together, barred: np.ndarray, by: np.ndarray) -> Found:
    if not len(barred):
        return Found("opt_out_elsewhere", "phone", barred, barred, barred)
    place = np.minimum(np.searchsorted(barred, own.numbers), len(barred) - 1)
    hit = (barred[place] == own.numbers) & (own.numbers != 0)
    hit[own.forbids] = False
    records = np.flatnonzero(hit)
    kept = by[place[records]]
    return Found("opt_out_elsewhere", "phone", records, kept, own.lines[kept])


def _same_person(own: _Together, fields: Callable[[], Iterator[Fields]]) -> Iterator[Found]:
    """Records with the external id, or the e-mail address and name, of one that forbids."""
    ids, persons = (_first(spoken, own.forbids) for spoken in own.spoken)
    if not ids and not persons:
        return
    found: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
    begin = 0
    forbids = np.zeros(len(own.numbers), np.bool_)
    forbids[own.forbids] = True
    known_ids = texts.column(ids)
    addresses = texts.column({_lower(one.partition("\n")[0]) for one in persons})
    for part in fields():
        free = ~forbids[begin : begin + len(part["email"])]
        rows = np.flatnonzero(free & _is_in(part["external_id"], known_ids)) if ids else []
        for row, key in zip(rows, texts.take(part["external_id"], rows).to_pylist() if ids else [], strict=True):
            found[0].append(begin + int(row))
            found[1].append(ids[key])
        if persons:
            rows = np.flatnonzero(free & _may_be(part["email"], addresses))
            own_keys = _persons({name: texts.take(part[name], rows) for name in _PERSON})
            for row, key in zip(rows.tolist(), own_keys, strict=True):
                if key in persons:
                    found[2].append(begin + row)
                    found[3].append(persons[key])
        begin += len(free)
    for name, at in (("external_id", 0), ("email", 2)):
        kept = np.array(found[at + 1], np.int64)
        yield Found(
            "opt_out_elsewhere", name, np.array(found[at], np.int64), kept, own.lines[kept]
        )


def _first(spoken: list[str], records: np.ndarray) -> dict[str, int]:
    first: dict[str, int] = {}
    for key, record in zip(spoken, records.tolist(), strict=True):
        if key:
            first.setdefault(key, record)
    return first


def _persons(fields: Fields) -> list[str]:
    """E-mail address and name of each record as one key, empty without an address."""
    found = []
    for email, full, first, last in zip(*(fields[name].to_pylist() for name in _PERSON), strict=True):
        name = full or f"{first} {last}"
        address = email.strip()
        found.append(f"{address}\n{name.strip()}".casefold() if address else "")
    return found


def _is_in(column: pa.Array, known: pa.Array) -> np.ndarray:
    return np.asarray(pc.is_in(column, value_set=known).to_numpy(zero_copy_only=False))


def _may_be(emails: pa.Array, known: pa.Array) -> np.ndarray:
    """Rows whose address may be one of those; all with letters beyond ASCII may be."""
    plain = np.asarray(pc.string_is_ascii(emails).to_numpy(zero_copy_only=False))
    return ~plain | _is_in(pc.utf8_lower(pc.utf8_trim_whitespace(emails)), known)


def _lower(text: str) -> str:
    return str(pc.utf8_lower(pa.scalar(text, texts.TEXT)).as_py())
