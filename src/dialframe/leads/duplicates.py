"""Records of all files compared with each other and with lists, by DuckDB, which spills what does not fit.

Every record was judged by itself before. Two things remain that need all of them. First, who asked
once not to be called is not called under any record of the number or the person, since a request
binds the firm and not a line of a list (47 CFR 64.1200(d)(3); GDPR, Article 21(3)). Then, of what is
still free, one record of each number and of each external id stays. The order matters: a record that
must not be called never stands in for a free one with its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Protocol, Self

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe import arrow_text
from dialframe.leads import plain_cells
from dialframe.leads.checks import Assessed, forbidding
from dialframe.leads.plain_cells import numbers
from dialframe.leads.reasons import RANK

_NONE: Final = np.zeros(0, np.int64)
_EMPTY, _BLANK, _LINE_END = (arrow_text.text(sign) for sign in ("", " ", "\n"))
#: What can stand against a record because of others, in the order in which it is told: reason and field.
_KINDS: Final = (
    ("on_dnc", "phone"),
    ("suppressed", "phone"),
    ("opt_out_elsewhere", "phone"),
    ("opt_out_elsewhere", "external_id"),
    ("opt_out_elsewhere", "email"),
    ("duplicate_in_file", "phone"),
    ("duplicate_external_id", "external_id"),
)
_BY_PHONE, _BY_ID, _BY_PERSON, _REPEATED, _SAME_ID = range(2, 7)
_LISTED: Final = {"on_dnc": 0, "suppressed": 1}
_MEMORY: Final = "192MB"

_TABLES: Final = """
create table leads (
    record bigint, line bigint, phone bigint, other bigint, free boolean, forbids boolean,
    score bigint, lead_of bigint, id bigint, id_too bigint, person bigint
);
create table reach (record bigint, number bigint);
"""

#: Numbers of records that must not be called, each with the first record that says so.
_BARRED: Final = """
create or replace table barred as
with said as (
    select number, min(record) as record from reach where number <> 0 group by number
)
select number, record from said
union all
select phone, min(record) from leads
where forbids and phone <> 0 and phone not in (select number from said) group by phone
"""

#: What a list or another record says against a record: kind, and the record that it obeys.
_HITS: Final = f"""
create or replace table hits as
select l.record, d.kind, null::bigint as kept
from leads l join listed d on l.phone = d.number
where l.phone <> 0 and not (d.kind = {_LISTED["suppressed"]} and l.phone in (select number from barred))
union all
select l.record, {_BY_PHONE}, b.record from leads l join barred b on l.phone = b.number
where not l.forbids
union all
select l.record, {_BY_ID}, p.record
from leads l join (
    select id, id_too, min(record) as record from leads
    where forbids and id <> 0 group by id, id_too
) p using (id, id_too) where not l.forbids
union all
select l.record, {_BY_PERSON}, p.record
from leads l join (
    select person, min(record) as record from leads where forbids and person <> 0 group by person
) p using (person) where not l.forbids
"""

#: Of free records with one number the best one stays: the highest score, then the first.
_REPEATS: Final = f"""
insert into hits
with free as (
    select record, phone, score from leads
    where free and phone <> 0 and record not in (select record from hits)
), several as (
    select phone from free group by phone having count(*) > 1
), ranked as (
    select record, row_number() over best as place, first_value(record) over best as kept
    from free join several using (phone)
    window best as (partition by phone order by score desc, record)
)
select record, {_REPEATED}, kept from ranked where place > 1
"""

#: Of what is free then, leads of one record are one under its id; a second record under the id goes with all of them.
_SAME_IDS: Final = f"""
insert into hits
with free as (
    select record, lead_of, id, id_too from leads
    where free and id <> 0 and record not in (select record from hits)
), several as (
    select id, id_too, min(record) as kept from free
    group by id, id_too having count(distinct lead_of) > 1
), of_kept as (
    select kept, lead_of from several join leads on leads.record = several.kept
)
select f.record, {_SAME_ID}, s.kept
from free f join several s using (id, id_too) join of_kept k on k.kept = s.kept
where f.lead_of <> k.lead_of
"""

#: A second number is not dialed by itself, so it is left out and its record stays.
_SILENCED: Final = """
select record from leads where other <> 0 and (
    other in (select number from barred) or other in (select number from listed)
) order by record
"""


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
        found: Records by reason.
        silenced: Records whose second number must not be called.
    """

    found: Sequence[Found]
    silenced: np.ndarray

    def between(self, begin: int, stop: int) -> Settled:
        """What stands against some records, which count from 0 in the answer.

        Args:
            begin: The first of them.
            stop: Behind the last one.
        """
        found = []
        for each in self.found:
            span = slice(*np.searchsorted(each.records, [begin, stop]).tolist())
            if span.stop > span.start:
                kept = None if each.kept is None else each.kept[span]
                lines = None if each.lines is None else each.lines[span]
                records = each.records[span] - begin
                found.append(Found(each.code, each.field, records, kept, lines))
        span = slice(*np.searchsorted(self.silenced, [begin, stop]).tolist())
        return Settled(found, self.silenced[span] - begin)


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """What is compared of records that were judged one by one.

    Attributes:
        table: Columns of the table `leads` but `record`, which counts from 0 here.
        reach: Records that must not be called, and a number of each.
        opted_out: Every number of the records whose person asked not to be called.
    """

    table: dict[str, Any]
    reach: tuple[np.ndarray, np.ndarray]
    opted_out: np.ndarray

    @classmethod
    def of(
        cls,
        assessed: Assessed,
        lines: np.ndarray,
        lead_of: np.ndarray | None = None,
        scores: np.ndarray | None = None,
    ) -> Keys:
        """The keys of some records.

        Args:
            assessed: The records, judged.
            lines: Their physical lines.
            lead_of: Record of each lead, where that is not one each.
            scores: How much speaks for keeping each among those with its number.
        """
        fields, notes, count = assessed.fields, assessed.notes, len(lines)
        # Any finding takes a record out; which of them decides is asked when it is written.
        free, forbids = np.ones(count, np.bool_), np.zeros(count, np.bool_)
        for rows in notes.rows:
            free[rows] = False
        forbids[forbidding(notes)] = True
        table = {
            "line": lines,
            "phone": numbers(fields["phone"]),
            "other": numbers(fields["phone_other"]),
            "free": free,
            "forbids": forbids,
            "score": np.zeros(count, np.int64) if scores is None else scores,
            "lead_of": np.arange(count) if lead_of is None else lead_of,
            **_hashes(fields["external_id"], "id", "id_too"),
            **_hashes(_persons(fields), "person"),
        }
        return cls(table, assessed.reach, _opted_out(assessed))

    def __len__(self) -> int:
        return len(self.table["line"])


class Comparison:
    """Records of all files on their way to be compared; a context manager.

    Args:
        scratch: Folder for what does not fit into memory, or None to keep all there.
    """

    def __init__(self, scratch: Path | None = None) -> None:
        self.count = 0
        self._opted_out: list[np.ndarray] = [_NONE]
        config: Any = {"threads": "1"}
        if scratch is not None:
            config |= {"memory_limit": _MEMORY, "temp_directory": str(scratch / "compared")}
        self._base = duckdb.connect(config=config)
        self._base.execute(_TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._base.close()

    def add(self, keys: Keys) -> None:
        """Remember the next records.

        Args:
            keys: Their keys.
        """
        first, count = self.count, len(keys)
        columns = {
            "record": np.arange(first, first + count),
            **keys.table,
            "lead_of": keys.table["lead_of"] + first,
        }
        self._insert("leads", {name: columns[name] for name in _ORDER})
        self._insert("reach", {"record": keys.reach[0] + first, "number": keys.reach[1]})
        self._opted_out.append(keys.opted_out)
        self.count += count

    @property
    def opted_out(self) -> np.ndarray:
        """Every number of the records that say themselves not to be called, as integers, once each."""
        every = np.unique(np.concatenate(self._opted_out))
        return np.asarray(every[every != 0])

    def every_number(self) -> np.ndarray:
        """Every number of the records, as integers, once each."""
        rows = self._base.execute(
            "select distinct number from (select phone as number from leads union all "
            "select other from leads) where number <> 0"
        ).fetchnumpy()["number"]
        return np.asarray(rows, np.int64)

    def settle(
        self,
        do_not_call: np.ndarray,
        suppressed: Barring | None,
        *,
        ids_are_unique: bool,
    ) -> Settled:
        """Compare all records with each other and with lists.

        Args:
            do_not_call: Digits of numbers that must not be called.
            suppressed: The firm's own lists.
            ids_are_unique: Whether a second record under an external id is a repetition.
        """
        base = self._base
        base.execute("create or replace table listed (number bigint, kind tinyint)")
        self._list(np.unique(do_not_call), _LISTED["on_dnc"])
        if suppressed is not None:
            self._list(np.asarray(suppressed.numbers, np.int64), _LISTED["suppressed"])
            if suppressed.is_hashed:
                self._list(self._by_hash(suppressed), _LISTED["suppressed"])
        for step in (_BARRED, _HITS, _REPEATS):
            base.execute(step)
        if ids_are_unique:
            base.execute(_SAME_IDS)
        rows = base.execute(
            "select h.kind, h.record, h.kept, k.line from hits h left join leads k "
            "on k.record = h.kept order by h.kind, h.record, h.kept"
        ).fetchnumpy()
        hits = {name: np.asarray(column, np.int64) for name, column in rows.items()}
        found = []
        for kind in np.unique(hits["kind"]).tolist():
            code, field = _KINDS[kind]
            span = slice(*np.searchsorted(hits["kind"], [kind, kind + 1]).tolist())
            records, first = np.unique(hits["record"][span], return_index=True)
            if kind in _LISTED.values():  # a list is no record that others obey
                found.append(Found(code, field, records))
            else:
                kept, lines = (hits[name][span][first] for name in ("kept", "line"))
                found.append(Found(code, field, records, kept, lines))
        silenced = base.execute(_SILENCED).fetchnumpy()["record"]
        return Settled(found, np.asarray(silenced, np.int64))

    def _by_hash(self, suppressed: Barring) -> np.ndarray:
        """Numbers of the records that a list knows by a hash alone: it can be asked, and not read."""
        rows = self._base.execute(
            "select distinct number from (select phone as number from leads union all "
            "select other from leads) where number <> 0 and number not in (select number from listed)"
        ).fetchnumpy()["number"]
        return np.array([number for number in rows.tolist() if number in suppressed], np.int64)

    def _list(self, listed: np.ndarray, kind: int) -> None:
        self._insert("listed", {"number": listed, "kind": np.full(len(listed), kind, np.int8)})

    def _insert(self, name: str, columns: Mapping[str, np.ndarray]) -> None:
        rows = pa.table({column: arrow_text.numbers(cells) for column, cells in columns.items()})
        if len(rows):
            self._base.register("rows", rows)
            self._base.execute(f"insert into {name} select * from rows")
            self._base.unregister("rows")


_ORDER: Final = (
    "record",
    "line",
    "phone",
    "other",
    "free",
    "forbids",
    "score",
    "lead_of",
    "id",
    "id_too",
    "person",
)


def _hashes(texts: pa.Array, *names: str) -> dict[str, np.ndarray]:
    """Hashes of each text, 0 of an empty one; two are as good as the text."""
    filled = arrow_text.sizes(texts) > 0
    if not filled.any():
        return dict.fromkeys(names, np.zeros(len(texts), np.int64))
    hashes = plain_cells.keys(texts, len(names))
    return {name: np.where(filled, each, 0) for name, each in zip(names, hashes, strict=True)}


def _persons(fields: Mapping[str, pa.Array]) -> pa.Array:
    """E-mail address and name of each record as one key, empty without an address."""
    emails = fields["email"]
    if not arrow_text.sizes(emails).any():
        return emails
    first, last = fields["first_name"], fields["last_name"]
    both = pc.utf8_trim_whitespace(pc.binary_join_element_wise(first, last, _BLANK))
    name = pc.if_else(pc.equal(fields["full_name"], _EMPTY), both, fields["full_name"])
    email = pc.utf8_trim_whitespace(emails)
    person = pc.utf8_lower(pc.binary_join_element_wise(email, name, _LINE_END))
    return pc.if_else(pc.equal(email, _EMPTY), email, person)


def _opted_out(assessed: Assessed) -> np.ndarray:
    """Numbers of the records with an opt-out of their own, in whatever column they stand."""
    notes = assessed.notes
    rows = [
        group[ranks == RANK["opt_out"]]
        for group, ranks in zip(notes.rows, notes.ranks, strict=True)
    ]
    records = np.unique(np.concatenate([_NONE, *rows]))
    speaking, said = assessed.reach
    own = numbers(arrow_text.take(assessed.fields["phone"], records))
    return np.unique(np.concatenate([said[np.isin(speaking, records)], own]))
