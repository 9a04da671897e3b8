"""Erases a number, or old rows, from rows, files and log inside one write transaction; of a number it proves it.

The evidence log is told first: it lies beside all stores, so that a store that is older than an erasure (a backup
that was put back, another account's, one whose process was killed in between) finds there what to erase when it is
opened next. In parts the rows in question are found by column; what is found that way is judged row by row, as a row
that arrives would be. What was erased is kept out from then on: a number by its mark, old rows by the instant before
which none is kept.
"""

from __future__ import annotations

import mmap
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import ConfigError, StoreError
from dialframe.evidence.log import KEYS
from dialframe.evidence.record import FORGOTTEN
from dialframe.files import exclusive
from dialframe.privacy import keyed_mark
from dialframe.store.catalog import live_parts, read_meta, write_meta
from dialframe.store.compaction import Rewriting, delete_dead, rewriting
from dialframe.store.database import PARTS_LOCK, Database
from dialframe.store.forgotten_numbers import Forgotten, digits_of
from dialframe.store.layouts import BY_NAME, LAYOUTS, Layout
from dialframe.store.parts import ASIDE, flags
from dialframe.store.records import Row, hash_of, rows_of
from dialframe.store.versions import drop_heads

#: Tables whose rows are about persons; campaigns and counts of dispositions are not.
PERSONAL: Final = ("calls", "leads", "callbacks", "appointments", "events", "dnc_checks")
#: The least run of digits that is searched for in text: a shorter national number stands in many figures.
_LEAST_DIGITS: Final = 9
#: Text that may hold a number, as RE2 reads it.
_RUN: Final = r"[0-9](?:[\s().\-/]{0,3}[0-9]){6}"


@dataclass(frozen=True, slots=True)
class Person:
    """Whom to look for.

    Attributes:
        phone: The number; None where only marks are known of it.
        leads: Ids of their leads.
    """

    phone: str | None
    leads: frozenset[str] = frozenset()

    @property
    def needle(self) -> str:
        """Digits that every writing of the number has, from the end on."""
        digits = digits_of(self.phone or "")
        return digits[-_LEAST_DIGITS:]


def forgotten(connection: sqlite3.Connection, database: Database) -> Forgotten:
    """The store's marks of forgotten numbers, and the keys that made them.

    Raises:
        StoreError: There are marks, and the keys are missing.
    """
    marks = connection.execute("SELECT mark, digits FROM forgotten").fetchall()
    return Forgotten(
        keys=tuple(database.evidence.forget_keys()) if marks else (),
        marks=frozenset(mark for mark, _ in marks),
        lengths=frozenset(digits for _, digits in marks if digits),
    )


def erase(database: Database, phone: str, at: datetime) -> int:
    """Erase a number from the evidence log, rows, files and SQLite's log, and prove it: see `Store.forget`."""
    if not database.evidence.forgotten([phone]):
        database.evidence.forget([phone], at)
    with exclusive(database.folder / PARTS_LOCK, wait=True):
        erased = _erase(database, Person(phone))
        database.compact()
        prove(database, phone)
    return erased


def catch_up(database: Database) -> int:
    """Erase whom the evidence log has erased and this store has not; gives how many versions that were.

    Raises:
        StoreError: Another process is reading, so that old bytes may remain.
    """
    if database.read_only or not (database.evidence.folder / KEYS).exists():
        return 0  # nobody was ever erased
    if not _unknown(database):
        return 0
    with exclusive(database.folder / PARTS_LOCK, wait=True):
        erased = _erase(database, Person(None))
        database.compact()
    return erased


def _unknown(database: Database) -> list[dict[bytes, int]]:
    """Of each person that the evidence log has erased, and this store not: marks, with how many digits each has."""
    people: list[dict[bytes, int]] = []
    for record in database.evidence.erasures():
        if record.number is not None:
            marks = {record.number.removeprefix(FORGOTTEN): int(record.detail.get("digits", 0))}
            marks |= record.detail.get("national", {})
            people.append({bytes.fromhex(mark): digits for mark, digits in marks.items()})
    with database.reading() as connection:
        known = {mark for (mark,) in connection.execute("SELECT mark FROM forgotten")}
    return [marks for marks in people if not marks.keys() <= known]


def _erase(database: Database, person: Person) -> int:
    unknown = _unknown(database)
    if person.phone is not None:
        own = {keyed_mark(key, "phone", person.phone) for key in database.evidence.forget_keys()}
        if any(own.isdisjoint(marks) for marks in unknown):
            # There are others than this one, of whom no more than a mark is known.
            person = Person(None)
    with rewriting(database) as writing:
        connection = writing.connection
        for marks_of_one in unknown:
            for mark, digits in marks_of_one.items():
                _mark(connection, mark, digits)
        marks = forgotten(connection, database)
        erased = 0
        for layout in LAYOUTS:  # leads come before the callbacks that name them
            writing.seal(layout)  # so that what is looked for is in parts alone
            owned = _keys_of_person(writing, layout, marks, person)
            if layout.name == "leads":
                for key in owned:
                    _mark(connection, keyed_mark(marks.keys[0], "id", key), 0)
                marks = forgotten(connection, database)
                person = Person(person.phone, frozenset(owned))
            if layout.ledger:
                _erase_checks(connection, marks, person)
            else:
                drop_heads(connection, layout, owned)
            erased += _rewrite_parts(writing, layout, owned, marks, person)
        quarantined = connection.execute("SELECT seq, raw, reason FROM quarantine").fetchall()
        # Nobody can say whose a record is that could not be read: a mention is enough.
        mentions = [
            (seq,)
            for seq, raw, reason in quarantined
            if marks.text(raw) != raw or marks.text(reason) != reason
        ]
        connection.executemany("DELETE FROM quarantine WHERE seq = ?", mentions)
        # Published tables are written anew where this has grown.
        write_meta(connection, "erasures", erasures(connection) + 1)
    # After the commit: until then the old files are the store.
    _delete_files(database)
    return erased + len(mentions)


def _mark(connection: sqlite3.Connection, mark: bytes, digits: int) -> None:
    connection.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", (mark, digits))


def _traces(table: pa.Table, layout: Layout, marks: Forgotten, person: Person) -> Any:
    """Which rows may be about the person or mention them, as a numpy array: too many, never too few."""
    masks = [np.zeros(table.num_rows, dtype=bool)]
    for position in layout.phone_places:
        column = table[layout.names[position]]
        # Digits alone: the service may write a number with blanks or a hyphen.
        if person.phone is not None:
            masks.append(flags(pc.equal(_digits(column), digits_of(person.phone))))
        else:
            known = [value for value in column.unique().to_pylist() if marks.has_phone(value)]
            masks.append(flags(pc.is_in(column, pa.array(known, pa.large_string()))))
    for position, _ in layout.prose_places:
        column = table[layout.names[position]]
        masks.append(
            flags(pc.match_substring_regex(column, _RUN))
            if person.phone is None
            else flags(pc.match_substring(_digits(column), person.needle))
        )
    # A callback names its lead and no number.
    if "lead_id" in layout.names:
        ids = pa.array(sorted(person.leads), pa.large_string())
        masks.append(flags(pc.is_in(table["lead_id"], ids)))
    if layout.about is not None:
        masks += [
            flags(pc.match_substring(table[layout.about], lead_id)) for lead_id in person.leads
        ]
    return np.logical_or.reduce(masks)


def _keys_of_person(
    writing: Rewriting, layout: Layout, marks: Forgotten, person: Person
) -> set[str]:
    """Keys of the rows that are about a forgotten person; of checks, their numbers in the order of arrival."""
    owned: set[str] = set()
    for part in live_parts(writing.connection, layout):
        table = writing.shelf.load(part, layout)
        # By column first: one row in thousands is looked at in Python.
        suspects = table.filter(pa.array(_traces(table, layout, marks, person)))
        for seq, row in rows_of(layout, suspects):
            if marks.owns(layout, row):
                owned.add(str(seq) if layout.ledger else row.key)
    return owned


def _erase_checks(connection: sqlite3.Connection, marks: Forgotten, person: Person) -> None:
    phones = (
        [(person.phone,)]
        if person.phone is not None
        # Of the others no more than the marks is known.
        else [
            (phone,)
            for (phone,) in connection.execute("SELECT phone FROM last_check")
            if marks.has_phone(phone)
        ]
    )
    connection.executemany("DELETE FROM last_check WHERE phone = ?", phones)


def _rewrite_parts(
    writing: Rewriting, layout: Layout, owned: set[str], marks: Forgotten, person: Person
) -> int:
    """Write parts anew that hold rows of the person, or mention them."""
    column = "seq" if layout.ledger else layout.table.key[0]
    type_ = layout.schema.field(column).type
    keys = pa.array([int(key) if layout.ledger else key for key in sorted(owned)], type_)
    count = 0

    def cleaned(table: pa.Table) -> pa.Table | None:
        nonlocal count
        # Rows of the person go; of the others only the text changes.
        drop = flags(pc.is_in(table[column], keys))
        suspects = _traces(table, layout, marks, person) & ~drop
        changed = {} if layout.ledger else _clean_rows(table, layout, marks, suspects)
        if not drop.any() and not changed:
            return None
        count += int(drop.sum()) + len(changed)
        for seq, row in changed.values():
            # A head has the hash of what its latest version says now.
            writing.connection.execute(
                "UPDATE head SET content = ? WHERE table_name = ? AND key = ? AND seq = ?",
                (row.content, layout.name, hash_of(row.key), seq),
            )
        table = _with_rows(table, layout, {place: row for place, (_, row) in changed.items()})
        return table.filter(pa.array(~drop))

    writing.rewrite(layout, cleaned)
    return count


def _clean_rows(
    table: pa.Table, layout: Layout, marks: Forgotten, suspects: Any
) -> dict[int, tuple[int, Row]]:
    """Rows whose text mentions the person, without that, by their place in the table."""
    places = np.flatnonzero(suspects)
    rows = rows_of(layout, table.take(pa.array(places)))
    cleaned: dict[int, tuple[int, Row]] = {}
    for position, (seq, row) in zip(places.tolist(), rows, strict=True):
        clean = marks.without(layout, row)
        if clean is not row:
            cleaned[position] = (seq, clean)
    return cleaned


def _with_rows(table: pa.Table, layout: Layout, rows: dict[int, Row]) -> pa.Table:
    if not rows:
        return table
    mask = np.zeros(table.num_rows, dtype=bool)
    mask[list(rows)] = True
    for position, _ in layout.prose_places:
        name = layout.names[position]
        column = table.schema.get_field_index(name)
        values = pa.array([row.values[position] for row in rows.values()], pa.large_string())
        # Values come in the order of the rows that the mask names.
        replaced = pc.replace_with_mask(table[name].combine_chunks(), pa.array(mask), values)
        table = table.set_column(column, table.schema.field(column), replaced)
    return table


def _digits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(column, pattern="[^0-9]+", replacement="")


def prove(database: Database, phone: str) -> None:
    """Look for a number in every byte of every file and, as parts are compressed, in their rows.

    Raises:
        StoreError: It is still somewhere; the file is named.
    """
    # With its `+`, and not as the beginning of a longer number.
    pattern = re.compile(rb"\+" + digits_of(phone).encode() + rb"(?![0-9])")
    for path in sorted(database.folder.rglob("*")):
        # An empty file cannot be mapped, and holds nothing.
        if not path.is_file() or not path.stat().st_size:
            continue
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            if pattern.search(content):
                raise _failure(path)
    with database.reading() as connection:
        marks = forgotten(connection, database)
        parts = [(layout, part) for layout in LAYOUTS for part in live_parts(connection, layout)]
    for layout, part in parts:
        table = database.shelf.load(part, layout)
        # The same judgment as of a row that arrives: what it would not let in must not be there.
        suspects = rows_of(layout, table.filter(_traces(table, layout, marks, Person(phone))))
        if any(
            marks.owns(layout, row) or marks.without(layout, row) is not row for _, row in suspects
        ):
            raise _failure(database.shelf.folder / part.name)


def erasures(connection: sqlite3.Connection) -> int:
    """How often something was erased from the store; from 1, so that none is known from never asked."""
    return int(read_meta(connection, "erasures", 1))


def _failure(path: Path) -> StoreError:
    return StoreError(f"{path}: it still holds the number; run it again, or delete the store")


def _delete_files(database: Database) -> None:
    """Delete replaced parts even while they are read, and what was set aside, whose content cannot be checked."""
    delete_dead(database)
    for path in (database.folder / ASIDE).glob("*"):
        path.unlink(missing_ok=True)


def discard(database: Database, tables: Sequence[str], before: int) -> dict[str, int]:
    """Delete rows created before an instant (microseconds since 1970 UTC): see `Store.prune`."""
    for name in tables:
        # Before anything is deleted: all of the tables, or none.
        if name not in PERSONAL:
            raise ConfigError(
                f"{name} is not about persons; what can be pruned is {', '.join(PERSONAL)}"
            )
    deleted: dict[str, int] = {}
    with exclusive(database.folder / PARTS_LOCK, wait=True):
        with rewriting(database) as writing:
            for name in tables:
                deleted[name] = _prune(writing, BY_NAME[name], before)
                deleted[name] += writing.connection.execute(
                    "DELETE FROM quarantine WHERE table_name = ? AND observed_at < ?",
                    (name, before),
                ).rowcount
            write_meta(writing.connection, "erasures", erasures(writing.connection) + 1)
        _delete_files(database)
        database.compact()
    return deleted


def floor_of(connection: sqlite3.Connection, layout: Layout) -> int | None:
    """The instant before which rows of a table are not kept, microseconds since 1970 UTC."""
    return _floors(connection).get(layout.name)


def young_enough(layout: Layout, rows: Sequence[Row], floor: int | None) -> list[Row]:
    """Rows that may be kept; one without a time may."""
    if floor is None:
        return list(rows)
    column = layout.place(layout.time_column)
    return [
        row for row in rows if not isinstance(moment := row.values[column], int) or moment >= floor
    ]


def _floors(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(read_meta(connection, "keep_from", {}))


def _prune(writing: Rewriting, layout: Layout, before: int) -> int:
    """Delete every version of the rows of a table that were created before an instant; gives how many."""
    # From now on: what comes late, or again, is kept out by the same instant.
    floors = _floors(writing.connection)
    floors[layout.name] = max(before, floors.get(layout.name, before))
    write_meta(writing.connection, "keep_from", floors)
    writing.seal(layout)  # so that they are in parts alone
    keys: set[str] = set()
    deleted = 0

    def young(table: pa.Table) -> pa.Table | None:
        nonlocal deleted
        mask = flags(pc.less(table[layout.time_column].cast(pa.int64()), before))
        deleted += int(mask.sum())
        if not layout.ledger:
            keys.update(table.filter(pa.array(mask))[layout.table.key[0]].to_pylist())
        return table.filter(pa.array(~mask)) if mask.any() else None

    # A row that is gone has one version left that says so: it has no time, and goes with the others.
    def present(table: pa.Table) -> pa.Table | None:
        nonlocal deleted
        owned = pc.is_in(table[layout.table.key[0]], pa.array(sorted(keys), pa.large_string()))
        empty = flags(pc.and_(table["_gone"], owned))
        deleted += int(empty.sum())
        return table.filter(pa.array(~empty)) if empty.any() else None

    writing.rewrite(layout, young)
    if layout.ledger:
        writing.connection.execute("DELETE FROM last_check WHERE checked_at < ?", (before,))
    else:
        drop_heads(writing.connection, layout, keys)
        writing.rewrite(layout, present)
    return deleted
