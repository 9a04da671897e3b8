"""Records of all files judged against each other, as integers.

E.164 has at most 15 digits, so a number is its own key: nothing is hashed and nothing collides.

Every record was judged by itself before. Two things remain that need all of them. First, who asked
once not to be called is not called under any record of the number or the person, since a request
binds the firm and not a line of a list (47 CFR 64.1200(d)(3); GDPR, Article 21(3)). Then, of what is
still free, one record of each number and of each external id stays. The order matters: a record that
must not be called never stands in for a free one with its number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.leads import arrow_text
from dialframe.leads.judging import plain_cell_detection
from dialframe.leads.judging.plain_cell_detection import numbers
from dialframe.leads.judging.record_judgment import Assessed, forbidding
from dialframe.leads.reasons import RANK

#: Fields that tell that two records are one person.
_PERSON: tuple[str, ...] = ("email", "full_name", "first_name", "last_name")

Fields = Mapping[str, pa.Array]


@dataclass(slots=True, eq=False)
class Compared:
    """What stays in memory of records that were judged one by one.

    Attributes:
        count: How many there are.
        free: Records that nothing stands against, part by part.
        forbids: Records that must not be called.
        reach: Records that must not be called, and a number of each.
        spoken: What tells who those are: external ids and `_persons` keys, one each of `forbids`.
        opted_out: Every number of the records whose person asked not to be called.
        scores: How much speaks for keeping each record among those with its number, part by part;
            empty where the first is kept.
        scores_are_ages: Whether a later record has a higher score where nothing else tells.
        following: Leads that are a further number of the record of the lead before them.
    """

    count: int = 0
    free: list[np.ndarray] = field(default_factory=list)
    forbids: list[np.ndarray] = field(default_factory=list)
    reach: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    spoken: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    opted_out: list[np.ndarray] = field(default_factory=list)
    scores: list[np.ndarray] = field(default_factory=list)
    scores_are_ages: bool = False
    following: list[np.ndarray] = field(default_factory=list)

    def follow(self, source: np.ndarray) -> None:
        """Remember which of the next leads, before they are added, are of the record before them."""
        self.following.append(np.flatnonzero(np.diff(source, prepend=-1) == 0) + self.count)

    def add(self, assessed: Assessed) -> None:
        """Remember the next records."""
        fields, notes = assessed.fields, assessed.notes
        free = np.ones(len(fields["phone"]), np.bool_)
        # Any finding takes a record out; which of them decides is asked when it is written.
        for rows in notes.rows:
            free[rows] = False
        forbids = forbidding(notes)
        forbidding_cells = {
            name: arrow_text.take(fields[name], forbids) for name in ("external_id", *_PERSON)
        }
        self.free.append(free)
        self.forbids.append(forbids + self.count)
        self.reach.append((assessed.reach[0] + self.count, assessed.reach[1]))
        self.spoken[0].extend(forbidding_cells["external_id"].to_pylist())
        self.spoken[1].extend(_persons(forbidding_cells))
        self.opted_out.append(_opted_out(assessed))
        self.count += len(free)

    def join(self, other: Compared) -> None:
        """Remember records that were judged elsewhere, behind these."""
        self.free += other.free
        self.forbids += [each + self.count for each in other.forbids]
        self.reach += [(rows + self.count, spoken) for rows, spoken in other.reach]
        self.spoken[0].extend(other.spoken[0])
        self.spoken[1].extend(other.spoken[1])
        self.opted_out += other.opted_out
        # Later is newer: those that were judged elsewhere come behind all that are here.
        behind = self.count if other.scores_are_ages else 0
        self.scores += [each + behind for each in other.scores]
        self.following += [each + self.count for each in other.following]
        self.count += other.count


def _opted_out(assessed: Assessed) -> np.ndarray:
    """Numbers of the records with an opt-out of their own, in whatever column they stand."""
    notes = assessed.notes
    rows = [
        group[ranks == RANK["opt_out"]]
        for group, ranks in zip(notes.rows, notes.ranks, strict=True)
    ]
    records = np.unique(np.concatenate([np.zeros(0, np.int64), *rows]))
    speaking, numbers_said = assessed.reach
    return np.unique(
        np.concatenate(
            [
                numbers_said[np.isin(speaking, records)],
                numbers(arrow_text.take(assessed.fields["phone"], records)),
            ]
        )
    )


class Part(NamedTuple):
    """Fields of the next records once more, and their physical lines."""

    fields: Fields
    lines: np.ndarray


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


class Repeats(Protocol):
    """Finds what repeats itself among keys that come in order of their records."""

    def add(self, records: np.ndarray, keys: np.ndarray | pa.Array, lines: np.ndarray) -> None:
        """The next records with their keys and physical lines."""

    def found(self) -> Iterator[Again]:
        """Records whose key an earlier one has, in order."""


class Again(NamedTuple):
    """Records that repeat others: they, those, and those' physical lines."""

    records: np.ndarray
    kept: np.ndarray
    lines: np.ndarray


_NO_REPEATS: Final = Again(*(np.zeros(0, np.int64),) * 3)


class InMemory:
    """Finds repetition among keys that fit into memory."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, np.ndarray | pa.Array, np.ndarray]] = []
        self._again: Again | None = None

    def add(self, records: np.ndarray, keys: np.ndarray | pa.Array, lines: np.ndarray) -> None:
        """The next records with their keys and physical lines."""
        self._parts.append((records, keys, lines))

    def found(self) -> Iterator[Again]:
        """Records whose key an earlier one has, in order; the keys are gone from then on."""
        if self._parts:
            self._again = self._compared()
            self._parts.clear()
        if self._again is not None:
            yield self._again

    def _compared(self) -> Again:
        records = np.concatenate([part for part, _, _ in self._parts])
        lines = np.concatenate([part for _, _, part in self._parts])
        keys = [part for _, part, _ in self._parts]
        if isinstance(keys[0], pa.Array):
            joined = pa.concat_arrays(keys)
            # Texts whose hash no other has are not looked at: external ids are hardly ever the same.
            (hashes,) = plain_cell_detection.keys(joined, 1)
            ordered = np.sort(hashes)
            alike = np.flatnonzero(np.isin(hashes, ordered[1:][ordered[1:] == ordered[:-1]]))
            records, lines = records[alike], lines[alike]
            encoded = arrow_text.take(joined, alike).dictionary_encode()
            codes, count = encoded.indices.to_numpy(zero_copy_only=False), len(encoded.dictionary)
        else:
            codes, distinct = pd.factorize(np.concatenate(keys))
            count = len(distinct)
        # Written from the end, so that the first record with a key is what stays there.
        firsts = np.empty(count, np.int64)
        firsts[codes[::-1]] = np.arange(len(codes))[::-1]
        kept = firsts[codes]
        again = np.flatnonzero(kept != np.arange(len(codes)))
        return Again(records[again], records[kept[again]], lines[kept[again]])


class Barring(Protocol):
    """A list of numbers that must not be called, as `dialframe.suppression.Barred` is one."""

    @property
    def numbers(self) -> Sequence[int]:
        """Digits of E.164 numbers, in order."""

    @property
    def is_hashed(self) -> bool:
        """Whether some of its numbers are known by a hash alone."""

    def __contains__(self, number: int) -> bool:
        """Whether the number is on the list, by itself or by its hash."""


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Numbers that must not be called, for whole columns at once.

    Attributes:
        code: The reason that stands against them.
        numbers: Their digits, in order.
        by_hash: The list, where some of its numbers are known by a hash alone.
        is_own: Whether it is fed by lists that were cleaned, this one perhaps among them.
    """

    code: str
    numbers: np.ndarray
    by_hash: Barring | None = None
    is_own: bool = False

    @classmethod
    def of(cls, code: str, barring: Barring) -> Listed:
        """A list as it is looked up here."""
        numbers = np.asarray(barring.numbers, np.int64)
        return cls(code, numbers, barring if barring.is_hashed else None, is_own=True)

    def among(self, numbers: np.ndarray) -> np.ndarray:
        """Which of these numbers are listed; 0 is none."""
        hit: np.ndarray = np.isin(numbers, self.numbers) & (numbers != 0)
        # A list that holds hashes alone can be asked about a number and not read.
        if self.by_hash is not None:
            rest = np.flatnonzero(~hit & (numbers != 0))
            hit[rest] = [number in self.by_hash for number in numbers[rest].tolist()]
        return hit


class Settled:
    """What stands against records because of others, asked for in order."""

    def __init__(
        self,
        findings: Sequence[Found],
        repeated: Mapping[tuple[str, str], Iterator[Again]],
        silenced: np.ndarray,
    ) -> None:
        self._found, self._silenced = findings, silenced
        self._repeated = repeated
        self._waiting = dict.fromkeys(repeated, _NO_REPEATS)

    def between(self, begin: int, stop: int) -> tuple[list[Found], np.ndarray]:
        """What stands against some records, and those whose second number must not be called.

        Records count from 0 in the answer; each call goes on where the last one stopped.
        """
        findings = []
        for finding in self._found:
            span = slice(*np.searchsorted(finding.records, [begin, stop]).tolist())
            if span.stop > span.start:
                kept = None if finding.kept is None else finding.kept[span]
                lines = None if finding.lines is None else finding.lines[span]
                findings.append(
                    Found(finding.code, finding.field, finding.records[span] - begin, kept, lines)
                )
        for code, name in self._repeated:
            again = self._next(code, name, stop)
            if len(again.records):
                findings.append(Found(code, name, again.records - begin, *again[1:]))
        span = slice(*np.searchsorted(self._silenced, [begin, stop]).tolist())
        return findings, self._silenced[span] - begin

    def _next(self, code: str, name: str, stop: int) -> Again:
        waiting, more = self._waiting[code, name], self._repeated[code, name]
        while not len(waiting.records) or waiting.records[-1] < stop:
            following = next(more, None)
            if following is None:
                break
            waiting = Again(*map(np.concatenate, zip(waiting, following, strict=True)))
        # What lies behind the span waits for the next call.
        cut = int(np.searchsorted(waiting.records, stop))
        self._waiting[code, name] = Again(*(array[cut:] for array in waiting))
        return Again(*(array[:cut] for array in waiting))


def settle(
    compared: Compared,
    lists: Sequence[Listed],
    parts: Callable[[], Iterator[Part]],
    repeats: Callable[[], Repeats],
    *,
    ids_are_unique: bool,
) -> Settled:
    """Compare all records with each other.

    Who says once not to call is not called under any record of the number or the person. Of
    records with the same number, or the same external id, the first that nothing stands against
    is kept.

    Args:
        compared: All records in the order in which they are compared.
        lists: Numbers that must not be called, by reason.
        parts: Gives their fields once more, in the same order.
        repeats: Makes what finds repetition.
        ids_are_unique: Whether a second record under an external id is a repetition.
    """
    none = np.zeros(0, np.int64)
    free = np.concatenate([none.astype(np.bool_), *compared.free])
    forbids = np.zeros(compared.count, np.bool_)
    forbids[np.concatenate([none, *compared.forbids])] = True
    barred, by = _barred(compared, parts)
    persons = _Persons.of(compared)
    hits: dict[tuple[str, str], list[tuple[np.ndarray, np.ndarray]]] = {}
    silenced = [none]
    same_number = repeats()
    begin = 0
    for part in parts():
        phones = numbers(part.fields["phone"])
        ours = slice(begin, begin + len(phones))
        # What the records themselves forbid is said of them, not of a list that they were put on.
        itself = np.isin(phones, barred)
        elsewhere = np.flatnonzero(itself & (phones != 0) & ~forbids[ours])
        barred_rows = {
            listed.code: np.flatnonzero(listed.among(phones) & ~(itself & listed.is_own))
            for listed in lists
        }
        hits_in_part = {
            **{(code, "phone"): (rows, rows) for code, rows in barred_rows.items()},
            ("opt_out_elsewhere", "phone"): (
                elsewhere,
                by[np.searchsorted(barred, phones[elsewhere])],
            ),
            **persons.among(part.fields, forbids[ours]),
        }
        for key, (rows, kept) in hits_in_part.items():
            if len(rows):
                hits.setdefault(key, []).append((rows + begin, kept))
                free[rows + begin] = False
        rows = np.flatnonzero(free[ours] & (phones != 0))
        same_number.add(rows + begin, phones[rows], part.lines[rows])
        # A second number is not dialed by itself, so it is blanked and its record stays.
        others = numbers(part.fields["phone_other"])
        second = (others != 0) & np.isin(others, barred)
        for listed in lists:
            second |= listed.among(others)
        silenced.append(np.flatnonzero(second) + begin)
        begin += len(phones)
    repeated = {("duplicate_in_file", "phone"): _marked(same_number, free, compared.scores, parts)}
    if ids_are_unique:
        again = _same_id(parts, repeats(), free, compared)
        repeated[("duplicate_external_id", "external_id")] = again
    alone = frozenset(listed.code for listed in lists)
    # A list is no record that others obey.
    obeyed = [kept for key, matches in hits.items() if key[0] not in alone for _, kept in matches]
    lines = _lines_of(np.concatenate([none, *obeyed]), parts)
    findings = []
    for key, matches in hits.items():
        records = np.concatenate([rows for rows, _ in matches])
        finding = Found(*key, records)
        if key[0] not in alone:
            kept = np.concatenate([kept_rows for _, kept_rows in matches])
            kept_lines = np.array([lines[record] for record in kept.tolist()], np.int64)
            finding = finding._replace(kept=kept, lines=kept_lines)
        findings.append(finding)
    return Settled(findings, repeated, np.concatenate(silenced))


def _marked(
    repeats: Repeats,
    free: np.ndarray,
    scores: Sequence[np.ndarray],
    parts: Callable[[], Iterator[Part]],
) -> Iterator[Again]:
    """What repeats itself, taken out of the free records before anything else is done."""
    if scores:
        again = _best_kept(repeats.found(), np.concatenate(scores), parts)
        free[again.records] = False
        return iter([again])
    # The caller needs to know all of it before it goes on; it is asked for twice.
    for again in repeats.found():
        free[again.records] = False
    return repeats.found()


def _best_kept(
    found: Iterator[Again], scores: np.ndarray, parts: Callable[[], Iterator[Part]]
) -> Again:
    """Of the records with one key the one with the highest score is kept, not the first."""
    again = Again(*map(np.concatenate, zip(_NO_REPEATS, *found, strict=True)))
    firsts = np.unique(again.kept)
    members = np.concatenate([firsts, again.records])
    group = np.searchsorted(firsts, np.concatenate([firsts, again.kept]))
    # By group, then the highest score, then the earliest record.
    order = np.lexsort((members, -scores[members], group))
    members, group = members[order], group[order]
    best = members[np.searchsorted(group, np.arange(len(firsts)))]
    kept = best[group]
    rest = np.flatnonzero(members != kept)
    rest = rest[np.argsort(members[rest])]
    kept = kept[rest]
    lines = _lines_of(kept, parts)
    kept_lines = np.array([lines[record] for record in kept.tolist()], np.int64)
    return Again(members[rest], kept, kept_lines)


def _lines_of(records: np.ndarray, parts: Callable[[], Iterator[Part]]) -> dict[int, int]:
    """Physical lines of some records."""
    wanted = np.unique(records)
    lines: dict[int, int] = {}
    begin = 0
    for part in parts() if len(wanted) else ():
        here = wanted[slice(*np.searchsorted(wanted, [begin, begin + len(part.lines)]).tolist())]
        lines.update(zip(here.tolist(), part.lines[here - begin].tolist(), strict=True))
        begin += len(part.lines)
    return lines


def _same_id(
    parts: Callable[[], Iterator[Part]], repeats: Repeats, free: np.ndarray, compared: Compared
) -> Iterator[Again]:
    """Leads under an external id of another record; what is found of one lead goes for its record."""
    following = np.concatenate([np.zeros(0, np.int64), *compared.following])
    wanted, record = free, np.zeros(0, np.int64)
    if len(following):
        # The record of each lead, counted from 1; made for lists alone that need it, as it takes 16 bytes a lead.
        begins = np.ones(len(free), np.int64)
        begins[following] = 0
        record = np.cumsum(begins)
        # Of the free leads of a record, the first stands for all.
        frees, first = np.cumsum(free), np.searchsorted(record, record)
        wanted = free & ~(frees - free > frees[first] - free[first])
    begin = 0
    for part in parts():
        ids = part.fields["external_id"]
        rows = np.flatnonzero(wanted[begin : begin + len(ids)] & (arrow_text.sizes(ids) > 0))
        repeats.add(rows + begin, arrow_text.take(ids, rows), part.lines[rows])
        begin += len(ids)
    if not len(following):
        return repeats.found()
    return (_whole_records(again, record, free) for again in repeats.found())


def _whole_records(again: Again, record: np.ndarray, free: np.ndarray) -> Again:
    """The same with all free leads of the records."""
    counts = np.searchsorted(record, record[again.records], side="right") - again.records
    at = np.repeat(np.arange(len(counts)), counts)
    leads = again.records[at] + np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    good = free[leads]
    return Again(leads[good], again.kept[at][good], again.lines[at][good])


def _barred(
    compared: Compared, parts: Callable[[], Iterator[Part]]
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that must not be called, in order, and the first record that says so of each."""
    none = np.zeros(0, np.int64)
    records = np.concatenate([none, *(array for array, _ in compared.reach)])
    every = np.concatenate([none, *(array for _, array in compared.reach)])
    forbids = np.concatenate([none, *compared.forbids])
    if len(forbids):
        begin, more = 0, []
        for part in parts():
            span = [begin, begin + len(part.lines)]
            opted_out = forbids[slice(*np.searchsorted(forbids, span).tolist())]
            more.append(numbers(arrow_text.take(part.fields["phone"], opted_out - begin)))
            begin = span[1]
        phones = np.concatenate(more)
        new = (phones != 0) & ~np.isin(phones, every)
        records, every = (
            np.concatenate([records, forbids[new]]),
            np.concatenate([every, phones[new]]),
        )
    # Each number once, with the earliest record that forbids it.
    order = np.lexsort((records, every))
    every, records = every[order], records[order]
    first = np.ones(len(every), np.bool_)
    first[1:] = every[1:] != every[:-1]
    return every[first], records[first]


@dataclass(frozen=True, slots=True, eq=False)
class _Persons:
    """Who must not be called: external ids and `_persons` keys, with the first record of each."""

    ids: dict[str, int]
    keys: dict[str, int]
    known_ids: pa.Array
    addresses: pa.Array

    @classmethod
    def of(cls, compared: Compared) -> _Persons:
        records = [record for rows in compared.forbids for record in rows.tolist()]
        ids, keys = (_first(texts, records) for texts in compared.spoken)
        addresses = arrow_text.column({key.partition("\n")[0] for key in keys})
        return cls(ids, keys, arrow_text.column(ids), pc.utf8_lower(addresses))

    def among(
        self, fields: Fields, forbids: np.ndarray
    ) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
        """Records of a person that another record forbids to call, and that one, by field."""
        again = {}
        if self.ids:
            rows = np.flatnonzero(~forbids & _is_in(fields["external_id"], self.known_ids))
            kept = [
                self.ids[key] for key in arrow_text.take(fields["external_id"], rows).to_pylist()
            ]
            again["opt_out_elsewhere", "external_id"] = rows, np.array(kept, np.int64)
        if self.keys:
            emails = fields["email"]
            # An address with letters beyond ASCII may be any of those.
            beyond = ~pc.string_is_ascii(emails).to_numpy(zero_copy_only=False)
            lower = pc.utf8_lower(pc.utf8_trim_whitespace(emails))
            rows = np.flatnonzero(~forbids & (beyond | _is_in(lower, self.addresses)))
            persons = _persons({name: arrow_text.take(fields[name], rows) for name in _PERSON})
            hit = np.array([key in self.keys for key in persons], np.bool_)
            kept = [self.keys[key] for key in persons if key in self.keys]
            again["opt_out_elsewhere", "email"] = rows[hit], np.array(kept, np.int64)
        return again


def _first(keys: list[str], records: list[int]) -> dict[str, int]:
    first: dict[str, int] = {}
    for key, record in zip(keys, records, strict=True):
        if key:
            first.setdefault(key, record)
    return first


def _persons(fields: Fields) -> list[str]:
    """E-mail address and name of each record as one key, empty without an address."""
    persons = []
    for email, full, first, last in zip(
        *(fields[name].to_pylist() for name in _PERSON), strict=True
    ):
        name = full or f"{first} {last}"
        address = email.strip()
        persons.append(f"{address}\n{name.strip()}".casefold() if address else "")
    return persons


def _is_in(column: pa.Array, known: pa.Array) -> np.ndarray:
    return np.asarray(pc.is_in(column, value_set=known).to_numpy(zero_copy_only=False))
