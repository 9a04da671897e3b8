"""Parts written anew without, or with other, rows, inside one write transaction; knows not why."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pyarrow as pa

from dialframe.store.catalogue import add_parts, bury, live_parts
from dialframe.store.layout import Layout
from dialframe.store.parts import Part, Shelf


def rewrite(
    connection: sqlite3.Connection,
    shelf: Shelf,
    made: list[Part],
    layout: Layout,
    change: Callable[[pa.Table], pa.Table | None],
) -> None:
    """Replace every live part of a table that `change` changes; the caller holds `lock.parts`.

    Args:
        connection: Inside a write transaction.
        shelf: The parts.
        made: Gets the parts that are written.
        layout: The table.
        change: Gives a part's versions as they are to be, None to leave the part as it is.
    """
    for part in live_parts(connection, layout):
        table = change(shelf.load(part, layout))
        if table is None:
            continue
        bury(connection, [part])
        if table.num_rows:
            made.append(shelf.put(layout, table, history=part.history))
            add_parts(connection, made[-1:])
