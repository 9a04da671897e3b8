"""What can be asked of a store's tables, one function per question; each reads one snapshot, and writes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import StoreError
from dialframe.frames.columns import Column
from dialframe.store.catalogue import Patches, live_parts, read_patches
from dialframe.store.damage import read_steadily, refuse_lost, refused
from dialframe.store.database import Database
from dialframe.store.facts import Check, last_checks, last_checks_by
from dialframe.store.layout import BY_NAME, FOREVER, Layout
from dialframe.store.lock import shared
from dialframe.store.parts import Damaged, Part, Shelf, Vanished, integers, ordered, plain
from dialframe.store.read import Selection, Snapshot, pieces, snapshot, whole
from dialframe.store.sealing import LEASE
from dialframe.store.tail import read_tail

#: What a row of a table's history says beside the table's columns.
HISTORY: Final[tuple[Column, ...]] = (
    Column("_observed_at", "instant", "the request that brought this version was sent, UTC"),
    Column("_request_id", "text", "the service's id of the answer that brought this version"),
    Column("_until", "instant", "from then on another version counts, UTC; null for the latest"),
    Column("_gone", "boolean", "the version says that the row was no longer listed"),
)


def read_table(
    database: Database,
    shelf: Shelf,
    layout: Layout,
    selection: Selection,
    columns: Sequence[str] | None,
) -> pa.Table:
    """The rows wanted, oldest first, in one table."""
    _known(layout, columns)

    def read(connection: sqlite3.Connection) -> Callable[[], pa.Table]:
        refuse_lost(connection, layout, selection.as_of)
        taken = snapshot(connection, layout, selection, columns)
        return lambda: whole(shelf, taken)

    return read_steadily(database, shelf, read)


def read_batches(
    database: Database,
    shelf: Shelf,
    layout: Layout,
    selection: Selection,
    columns: Sequence[str] | None,
    rows: int,
) -> Iterator[pa.RecordBatch]:
    """The rows wanted, in batches of one snapshot; memory is that of one part, however many there are."""
    _known(layout, columns)
    with shared(database.folder / LEASE):
        with database.reading() as connection:
            refuse_lost(connection, layout, selection.as_of)
            taken = snapshot(connection, layout, selection, columns)
        yield from _batches(database, shelf, taken, rows)


def read_history(
    database: Database, shelf: Shelf, layout: Layout, keys: Sequence[str] | None
) -> pa.Table:
    """Every version of the rows, in the order of their keys and of time."""

    def read(connection: sqlite3.Connection) -> Callable[[], pa.Table]:
        tail = read_tail(connection, layout, "1")
        parts, patches = live_parts(connection, layout), read_patches(connection, layout)
        return lambda: _history(shelf, layout, parts, patches, tail, keys)

    return read_steadily(database, shelf, read)


def read_last_checks(
    database: Database, shelf: Shelf, phones: Sequence[str], as_of: datetime | None
) -> dict[str, Check]:
    """The latest Do-Not-Call answer about each number, or the latest by an instant."""
    layout = BY_NAME["dnc_checks"]
    if as_of is None:
        with database.reading() as connection:
            return last_checks(connection, phones)
    moment = as_of

    def read(connection: sqlite3.Connection) -> Callable[[], dict[str, Check]]:
        refuse_lost(connection, layout, moment)
        parts, tail = live_parts(connection, layout), read_tail(connection, layout, "1")
        return lambda: last_checks_by(shelf, parts, tail, phones, moment)

    return read_steadily(database, shelf, read)


def _batches(
    database: Database, shelf: Shelf, taken: Snapshot, rows: int
) -> Iterator[pa.RecordBatch]:
    shown = plain(taken.layout, taken.columns)
    try:
        for piece in pieces(shelf, taken):
            for start in range(0, piece.num_rows, rows):
                table = piece.slice(start, rows).select(taken.columns)
                yield from table.cast(shown).combine_chunks().to_batches()
    except Vanished as found:
        raise StoreError(
            f"{shelf.folder / found.part.name}: it was replaced while it was read; read again"
        ) from None
    except Damaged as found:
        raise refused(database, shelf, found.part, str(found)) from None


def _history(
    shelf: Shelf,
    layout: Layout,
    parts: Sequence[Part],
    patches: Patches,
    tail: pa.Table,
    keys: Sequence[str] | None,
) -> pa.Table:
    key = layout.tie_shown
    wanted = None if keys is None else pa.array(list(keys), pa.large_string())
    tables = []
    for table in (*(shelf.load(part, layout) for part in parts), tail):
        kept = table if wanted is None else table.filter(pc.is_in(table[key], wanted))
        tables.append(_with_until(kept, patches))
    found = ordered(pa.concat_tables(tables), [*dict.fromkeys((key, "_observed_at", "seq"))])
    names = [*layout.table.names, *(column.name for column in HISTORY)]
    place = found.schema.get_field_index("_until")
    until = found["_until"].cast(pa.timestamp("us", "UTC"))
    shown = found.set_column(place, "_until", until).select(names)
    return shown if shown.num_rows else shown.schema.empty_table().combine_chunks()


def _with_until(table: pa.Table, patches: Patches) -> pa.Table:
    untils = patches.untils_of(integers(table["seq"]))
    own = table["_until"].combine_chunks().fill_null(FOREVER).to_numpy(zero_copy_only=False)
    ends = np.minimum(own, untils)
    place = table.schema.get_field_index("_until")
    column = pa.array(ends, pa.int64(), mask=ends == FOREVER)
    return table.set_column(place, table.schema.field(place), column)


def _known(layout: Layout, columns: Sequence[str] | None) -> None:
    shown = [column.name for column in layout.columns]
    unknown = [name for name in columns or () if name not in shown]
    if unknown:
        raise StoreError(
            f"{layout.table.name} has no column {unknown[0]!r}; it has {', '.join(shown)}"
        )
