"""Deletes rows that are older than somebody may keep, and keeps them out from then on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.store.files.parts import Part, Shelf
from dialframe.store.files.rows import Row
from dialframe.store.files.table_layouts import Layout
from dialframe.store.write.seal import rewrite

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
    return [row for row in rows if not _older(row, column, floor)]


def prune(
    connection: sqlite3.Connection, shelf: Shelf, made: list[Part], layout: Layout, before: int
) -> int:
    """Delete every version of the rows of a table that were created before an instant.

    Args:
        connection: Inside a write transaction; the caller holds `lock.parts`.
        shelf: The parts.
        made: Gets the parts that are written in place of others.
        layout: The table, one with instants.
        before: The instant, microseconds since 1970 UTC.

    Returns:
        How many versions were deleted.
    """
    _raise_floor(connection, layout, before)
    gone_keys = _delete_in_tail(connection, layout, before)
    deleted = len(gone_keys)

    def young(table: pa.Table) -> pa.Table | None:
        nonlocal deleted
        old = pc.fill_null(pc.less(table[layout.time_column].cast(pa.int64()), before), False)  # noqa: FBT003 - the value that fills
        mask = old.combine_chunks().to_numpy(zero_copy_only=False)
        if not mask.any():
            return None
        deleted += int(mask.sum())
        if not layout.ledger:
            gone_keys.extend(table.filter(pa.array(mask))[_key(layout)].to_pylist())
        return table.filter(pa.array(~mask))

    rewrite(connection, shelf, made, layout, young)
    return deleted + _delete_heads(connection, shelf, made, layout, gone_keys, before)


def prune_quarantine(connection: sqlite3.Connection, layout: Layout, before: int) -> int:
    """Delete what was set aside of a table before an instant; gives how many records."""
    return connection.execute(
        "DELETE FROM quarantine WHERE table_name = ? AND _observed_at < ?",
        (layout.table.name, before),
    ).rowcount


def _floors(connection: sqlite3.Connection) -> dict[str, int]:
    row = connection.execute("SELECT value FROM meta WHERE name = 'keep_from'").fetchone()
    return {} if row is None else dict(json.loads(row[0]))


def _raise_floor(connection: sqlite3.Connection, layout: Layout, before: int) -> None:
    floors = _floors(connection)
    floors[layout.table.name] = max(before, floors.get(layout.table.name, before))
    connection.execute(
        "INSERT OR REPLACE INTO meta VALUES ('keep_from', ?)", (json.dumps(floors),)
    )


def _older(row: Row, column: int, floor: int) -> bool:
    moment = row.values[column]
    return isinstance(moment, int) and moment < floor


def _key(layout: Layout) -> str:
    return "id" if layout.by_id else "_key"


def _delete_in_tail(connection: sqlite3.Connection, layout: Layout, before: int) -> list[str]:
    key = "phone" if layout.ledger else "_key"
    rows = connection.execute(
        f"DELETE FROM {layout.versions} WHERE {layout.time_column} < ? RETURNING {key}", (before,)
    )
    return [key for (key,) in rows]


def _delete_heads(
    connection: sqlite3.Connection,
    shelf: Shelf,
    made: list[Part],
    layout: Layout,
    keys: list[str],
    before: int,
) -> int:
    """Delete heads of rows that have no version left, and the versions that say that such a row is gone."""
    if layout.ledger:
        connection.execute(f"DELETE FROM {layout.heads} WHERE checked_at < ?", (before,))
        return 0
    connection.executemany(
        f"DELETE FROM {layout.heads} WHERE _key = ?", [(key,) for key in set(keys)]
    )
    wanted = pa.array(sorted(set(keys)), pa.large_string())
    deleted = connection.executemany(
        f"DELETE FROM {layout.versions} WHERE _key = ? AND _gone = 1",
        [(key,) for key in set(keys)],
    ).rowcount

    def present(table: pa.Table) -> pa.Table | None:
        nonlocal deleted
        mask = pc.and_(table["_gone"], pc.is_in(table[_key(layout)], wanted))
        empty = np.asarray(mask.combine_chunks().to_numpy(zero_copy_only=False))
        deleted += int(empty.sum())
        return table.filter(pa.array(~empty)) if empty.any() else None

    rewrite(connection, shelf, made, layout, present)
    return max(deleted, 0)
