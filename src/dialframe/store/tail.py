"""The tail: versions still in SQLite, as Arrow tables and as rows; writes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from dialframe.frames.columns import Kind
from dialframe.store.encode import Row, Value
from dialframe.store.layout import FOREVER, Layout
from dialframe.store.parts import schema

ROWS_AT_ONCE = 50_000

#: Arrow type in which SQLite's values of a kind arrive.
_STORED: dict[Kind, pa.DataType] = {
    "text": pa.large_string(),
    "instant": pa.int64(),
    "day": pa.large_string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.int8(),
    "json": pa.large_string(),
}


def read_tail(
    connection: sqlite3.Connection, layout: Layout, where: str, values: Sequence[Value] = ()
) -> pa.Table:
    """Versions of the tail in the columns of `parts.schema`, oldest first.

    `_until` is null where no other version follows, as in a part.
    """
    wanted = schema(layout)
    kinds = {column.name: column.kind for column in layout.columns}
    shown = ", ".join(_expression(layout, name) for name in wanted.names)
    cursor = connection.execute(
        f"SELECT {shown} FROM {layout.versions} WHERE {where} "
        f"ORDER BY {layout.time_column}, {layout.tie}",
        values,
    )
    batches = []
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        columns = zip(wanted, zip(*rows, strict=True), strict=True)
        arrays = [_array(cells, field, kinds.get(field.name)) for field, cells in columns]
        batches.append(pa.record_batch(arrays, schema=wanted))
    return pa.Table.from_batches(batches, schema=wanted)


def rows_of(layout: Layout, table: pa.Table) -> Iterator[tuple[int, Row]]:
    """Versions of a table in the columns of `parts.schema` as rows of SQLite values, with their `seq`."""
    columns = [_plain(table[name]) for name in layout.names]
    key = "seq" if layout.ledger else "id" if layout.by_id else "_key"
    keys = table[key].to_pylist()
    for seq, key_, *values in zip(table["seq"].to_pylist(), keys, *columns, strict=True):
        yield seq, Row(str(key_), tuple(values))


def _plain(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return list(column.cast(pa.int64()).to_pylist())
    if pa.types.is_boolean(column.type):
        return list(column.cast(pa.int8()).to_pylist())
    return list(column.to_pylist())


def _expression(layout: Layout, name: str) -> str:
    if layout.ledger and name in ("_until", "_gone"):
        return "NULL" if name == "_until" else "0"
    if name == "_until":
        return f"nullif(_until, {FOREVER})"
    return layout.expression(name)


def _array(cells: tuple[Value, ...], field: pa.Field, kind: Kind | None) -> pa.Array:
    if kind is None:
        stored = pa.int8() if pa.types.is_boolean(field.type) else field.type
    else:
        stored = _STORED[kind]
    return pa.array(cells, type=stored).cast(field.type)
