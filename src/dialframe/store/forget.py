"""Erases a number, or old rows, from rows, files and log inside one write transaction; of a number it proves it.

In parts the rows in question are found by column: digits compared, text stripped to its digits and searched.
What is found that way is then judged row by row, as a row that arrives would be. What was erased is kept out from
then on: a number by its mark, old rows by the instant before which none is kept.
"""

from __future__ import annotations

import mmap
import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import ConfigError, StoreError
from dialframe.files import exclusive, forget_key
from dialframe.store.compaction import Writing, writing_parts
from dialframe.store.files.catalog import dead_parts, drop_parts, live_parts, read_meta, write_meta
from dialframe.store.files.damaged_files import without_damaged
from dialframe.store.files.database import PARTS_LOCK, Database
from dialframe.store.files.parts import ASIDE, flags
from dialframe.store.files.sqlite_rows import Row, rows_of
from dialframe.store.files.table_layouts import BY_NAME, LAYOUTS, Layout
from dialframe.store.forgotten_numbers import (
    Forgotten,
    digits_of,
    national_digits,
)


@dataclass(frozen=True, slots=True)
class Person:
    """Who is being forgotten: the number's digits, the shortest digits to search for, their leads' ids."""

    digits: str
    needle: str
    leads: frozenset[str] = frozenset()


def forgotten(connection: sqlite3.Connection, key: Path) -> Forgotten:
    """The store's marks of forgotten numbers; the key that made them is in a file apart from them.

    Raises:
        StoreError: There are marks, and the key is missing.
    """
    marks = connection.execute("SELECT mark, digits FROM forgotten").fetchall()
    return Forgotten(
        key=forget_key(key, make=False) if marks else b"",
        marks=frozenset(mark for mark, _ in marks),
        lengths=frozenset(digits for _, digits in marks if digits),
    )


def traces(table: pa.Table, layout: Layout, person: Person) -> Any:
    """Which rows may be about a person or mention them, as a numpy array: too many, never too few."""
    phones = (table[layout.names[position]] for position in layout.phone_places)
    texts = (table[layout.names[position]] for position, _ in layout.prose_places)
    masks = [
        np.zeros(table.num_rows, dtype=bool),
        # Digits alone: the service may write a number with blanks or a hyphen.
        *(flags(pc.equal(_digits(column), person.digits)) for column in phones),
        *(flags(pc.match_substring(_digits(column), person.needle)) for column in texts),
    ]
    # A callback names its lead and no number.
    if "lead_id" in layout.names:
        ids = pa.array(sorted(person.leads), pa.large_string())
        masks.append(flags(pc.is_in(table["lead_id"], ids)))
    if layout.about is not None:
        masks += [
            flags(pc.match_substring(table[layout.about], lead_id)) for lead_id in person.leads
        ]
    return np.logical_or.reduce(masks)


def _mark(connection: sqlite3.Connection, mark: bytes, digits: int, at: int) -> None:
    connection.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?)", (mark, digits, at))


def _owned(writing: Writing, layout: Layout, marks: Forgotten, person: Person) -> set[str]:
    """Keys of the rows that are about a forgotten person."""
    owned: set[str] = set()
    for part in live_parts(writing.connection, layout):
        table = writing.shelf.load(part, layout)
        # By column first: one row in thousands is looked at in Python.
        suspects = table.filter(pa.array(traces(table, layout, person)))
        owned.update(row.key for _, row in rows_of(layout, suspects) if marks.owns(layout, row))
    return owned


def _erase_heads(
    connection: sqlite3.Connection, layout: Layout, keys: set[str], marks: Forgotten
) -> None:
    if layout.ledger:
        # Heads of checks are keyed by numbers, of which only the marks are known here.
        phones = connection.execute(f"SELECT _key FROM {layout.heads}")
        keys = {phone for (phone,) in phones if marks.has_phone(phone)}
    connection.executemany(
        f"DELETE FROM {layout.heads} WHERE _key = ?", [(key,) for key in sorted(keys)]
    )


def _rewrite_parts(
    writing: Writing, layout: Layout, owned: set[str], marks: Forgotten, person: Person
) -> int:
    """Write parts anew that hold rows of the person, or mention them."""
    column = layout.part_key
    type_ = pa.int64() if layout.ledger else pa.large_string()
    keys = pa.array([int(key) if layout.ledger else key for key in sorted(owned)], type_)
    count = 0

    def cleaned(table: pa.Table) -> pa.Table | None:
        nonlocal count
        # Rows of the person go; of the others only the text changes.
        drop = flags(pc.is_in(table[column], keys))
        changed = _cleaned_rows(table, layout, marks, traces(table, layout, person) & ~drop)
        if not drop.any() and not changed:
            return None
        count += int(drop.sum()) + len(changed)
        for seq, row in changed.values():
            # A head has the hash of what its latest version says now.
            writing.connection.execute(
                f"UPDATE {layout.heads} SET digest = ? WHERE _key = ? AND seq = ?",
                (row.digest, row.key, seq),
            )
        table = _with_rows(
            table, layout, {position: row for position, (_, row) in changed.items()}
        )
        return table.filter(pa.array(~drop))

    writing.rewrite(layout, cleaned)
    return count


def _cleaned_rows(
    table: pa.Table, layout: Layout, marks: Forgotten, suspects: Any
) -> dict[int, tuple[int, Row]]:
    """Rows whose text mentions the person, without that, by their place in the table."""
    if layout.ledger:
        return {}
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


T = TypeVar("T")


def erase(database: Database, phone: str, at: int) -> int:
    """Erase a number from rows, files and log, and prove it: see `Store.forget`."""
    digits, national = digits_of(phone), national_digits(phone)

    def work() -> int:
        with writing_parts(database) as writing:
            connection = writing.connection
            marks = Forgotten(forget_key(database.key_file))
            _mark(connection, marks.mark("phone", digits), len(digits), at)
            if national is not None:
                _mark(connection, marks.mark("national", national), len(national), at)
            marks = forgotten(connection, database.key_file)
            person = Person(digits, national or digits)
            erased = 0
            for layout in LAYOUTS:  # leads come before the callbacks that name them
                while writing.seal(layout):
                    pass  # so that what is looked for is in parts alone
                owned = _owned(writing, layout, marks, person)
                if layout.table.name == "leads":
                    for key in owned:
                        _mark(connection, marks.mark("id", key), 0, at)
                    marks = forgotten(connection, database.key_file)
                    person = Person(digits, national or digits, frozenset(owned))
                _erase_heads(connection, layout, owned, marks)
                erased += _rewrite_parts(writing, layout, owned, marks, person)
            quarantined = connection.execute("SELECT seq, raw, reason FROM quarantine").fetchall()
            # Nobody can say whose a record is that could not be read: a mention is enough.
            mentions = [
                (seq,)
                for seq, raw, reason in quarantined
                if marks.text(raw) != raw or marks.text(reason) != reason
            ]
            connection.executemany("DELETE FROM quarantine WHERE seq = ?", mentions)
            erased += len(mentions)
            # Published tables are written anew where this has grown.
            write_meta(connection, "erasures", erasures(connection) + 1)
        # After the commit: until then the old files are the store.
        _delete_files(database)
        database.compact()
        prove(database, phone)
        return erased

    return _alone(database, work)


def discard(database: Database, tables: Sequence[str], before: int) -> dict[str, int]:
    """Delete rows created before an instant (microseconds since 1970 UTC): see `Store.prune`."""
    for name in tables:
        # Before anything is deleted: all of the tables, or none.
        if name not in PERSONAL:
            raise ConfigError(
                f"{name} is not about persons; what can be pruned is {', '.join(PERSONAL)}"
            )

    def work() -> dict[str, int]:
        with writing_parts(database) as writing:
            deleted = {}
            for name in tables:
                deleted[name] = _prune(writing, BY_NAME[name], before)
                deleted[name] += writing.connection.execute(
                    "DELETE FROM quarantine WHERE table_name = ? AND _observed_at < ?",
                    (name, before),
                ).rowcount
            write_meta(writing.connection, "erasures", erasures(writing.connection) + 1)
        _delete_files(database)
        database.compact()
        return deleted

    return _alone(database, work)


def prove(database: Database, phone: str) -> None:
    """Look for a number in every byte of every file and, as parts are compressed, in their rows.

    Raises:
        StoreError: It is still somewhere; the file is named.
    """
    digits = digits_of(phone)
    person = Person(digits, national_digits(phone) or digits)
    # With its `+`, and not as the beginning of a longer number.
    pattern = re.compile(rb"\+" + digits.encode() + rb"(?![0-9])")
    for path in sorted(database.folder.rglob("*")):
        # An empty file cannot be mapped, and holds nothing.
        if not path.is_file() or not path.stat().st_size:
            continue
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            if pattern.search(content):
                raise _left(path)
    with database.reading() as connection:
        marks = forgotten(connection, database.key_file)
        parts = [(layout, part) for layout in LAYOUTS for part in live_parts(connection, layout)]
    for layout, part in parts:
        table = database.shelf.load(part, layout)
        # The same judgment as of a row that arrives: what it would not let in must not be there.
        suspects = rows_of(layout, table.filter(traces(table, layout, person)))
        if any(
            marks.owns(layout, row) or marks.without(layout, row) is not row for _, row in suspects
        ):
            raise _left(database.shelf.folder / part.name)


def erasures(connection: sqlite3.Connection) -> int:
    """How often something was erased from the store; from 1, so that none is known from never asked."""
    return int(read_meta(connection, "erasures", 1))


def _left(path: Path) -> StoreError:
    return StoreError(f"{path}: it still holds the number; run it again, or delete the store")


def _alone(database: Database, work: Callable[[], T]) -> T:
    """Do something while nobody else writes files; a damaged one is set aside, and deleted, first."""

    def alone() -> T:
        with exclusive(database.folder / PARTS_LOCK, wait=True):
            return work()

    return without_damaged(database, alone)


def _delete_files(database: Database) -> None:
    """Delete replaced parts even while they are read, and damaged ones, whose content cannot be checked."""
    with database.reading() as connection:
        dead = dead_parts(connection)
    database.shelf.remove(dead)
    left = database.shelf.names()
    with database.writing() as connection:
        drop_parts(connection, sorted(set(dead) - left))
    # `damaged` is what the folder was called once.
    for name in (ASIDE, "damaged"):
        folder = database.folder / name
        for path in folder.rglob("*") if folder.is_dir() else ():
            if path.is_file():
                path.unlink(missing_ok=True)


#: Tables whose rows are about persons; campaigns and counts of dispositions are not.
PERSONAL: Final = ("calls", "leads", "callbacks", "appointments", "events", "dnc_checks")


def floor_of(connection: sqlite3.Connection, layout: Layout) -> int | None:
    """The instant before which rows of a table are not kept, microseconds since 1970 UTC."""
    return _floors(connection).get(layout.table.name)


def young_enough(layout: Layout, rows: Sequence[Row], floor: int | None) -> list[Row]:
    """Rows that may be kept; one without a time may."""
    if floor is None:
        return list(rows)
    column = layout.place(layout.time_column)
    return [
        row for row in rows if not isinstance(moment := row.values[column], int) or moment >= floor
    ]


def _prune(writing: Writing, layout: Layout, before: int) -> int:
    """Delete every version of the rows of a table that were created before an instant; gives how many."""
    # From now on: what comes late, or again, is kept out by the same instant.
    floors = _floors(writing.connection)
    floors[layout.table.name] = max(before, floors.get(layout.table.name, before))
    write_meta(writing.connection, "keep_from", floors)
    while writing.seal(layout):
        pass  # so that they are in parts alone
    gone_keys: list[str] = []
    deleted = 0

    def young(table: pa.Table) -> pa.Table | None:
        nonlocal deleted
        mask = flags(pc.less(table[layout.time_column].cast(pa.int64()), before))
        if not mask.any():
            return None
        deleted += int(mask.sum())
        if not layout.ledger:
            gone_keys.extend(table.filter(pa.array(mask))[layout.part_key].to_pylist())
        return table.filter(pa.array(~mask))

    writing.rewrite(layout, young)
    return deleted + _delete_heads(writing, layout, gone_keys, before)


def _floors(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(read_meta(connection, "keep_from", {}))


def _delete_heads(writing: Writing, layout: Layout, keys: list[str], before: int) -> int:
    """Delete heads of rows that have no version left, and the versions that say that such a row is gone."""
    if layout.ledger:
        writing.connection.execute(f"DELETE FROM {layout.heads} WHERE checked_at < ?", (before,))
        return 0
    writing.connection.executemany(
        f"DELETE FROM {layout.heads} WHERE _key = ?", [(key,) for key in set(keys)]
    )
    wanted = pa.array(sorted(set(keys)), pa.large_string())
    deleted = 0

    # A row that is gone has one version left that says so: it has no time, and goes with the others.
    def present(table: pa.Table) -> pa.Table | None:
        nonlocal deleted
        empty = flags(pc.and_(table["_gone"], pc.is_in(table[layout.part_key], wanted)))
        deleted += int(empty.sum())
        return table.filter(pa.array(~empty)) if empty.any() else None

    writing.rewrite(layout, present)
    return deleted
