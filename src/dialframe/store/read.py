"""Frames read from disk in one SELECT, through Arrow; knows columns and dtypes, writes nothing."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

import pandas as pd
import pyarrow as pa

from dialframe.frames.columns import Column, Kind
from dialframe.store.encode import Value, microseconds
from dialframe.store.layout import Layout

ROWS_AT_ONCE = 50_000

_STORED: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "instant": pa.int64(),
    "day": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.int8(),
    "json": pa.string(),
}
_SHOWN: dict[Kind, pa.DataType] = {
    **_STORED,
    "instant": pa.timestamp("us", "UTC"),
    "boolean": pa.bool_(),
}
_DTYPES = {
    pa.int64(): pd.Int64Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows of a table are wanted.

    Attributes:
        as_of: Rows as they were last observed by this instant; None for the latest.
        since: First instant of the table's time column that is wanted.
        until: First instant of it that is not wanted any more.
        campaign: One campaign's rows.
    """

    as_of: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    campaign: str | None = None


def read_frame(
    connection: sqlite3.Connection, layout: Layout, selection: Selection
) -> pd.DataFrame:
    """Rows of a table, oldest first.

    The selection looks at the version chosen, never at older ones: a row that left a campaign is
    not found in it by a version of before.
    """
    found, values = _query(layout, selection)
    columns = layout.columns
    schema = pa.schema([(column.name, _SHOWN[column.kind]) for column in columns])
    cursor = connection.execute(found, values)
    batches = []
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        by_column = zip(zip(*rows, strict=True), columns, strict=True)
        arrays = [_array(cells, column) for cells, column in by_column]
        batches.append(pa.record_batch(arrays, schema=schema))
    if not batches:
        # One empty chunk: some of pandas cannot join a column that has none at all.
        batches = [pa.record_batch([pa.array([], field.type) for field in schema], schema=schema)]
    table = pa.Table.from_batches(batches, schema=schema)
    frame: pd.DataFrame = table.to_pandas(types_mapper=_DTYPES.get)
    return frame


def _query(layout: Layout, selection: Selection) -> tuple[str, list[Value]]:
    shown = ", ".join(layout.expression(column.name) for column in layout.columns)
    source, values = _source(layout, selection.as_of)
    conditions, bound = _conditions(layout, selection)
    where = " AND ".join(conditions)
    tie = "seq" if layout.ledger else "_key"
    return (
        f"SELECT {shown} FROM {source} WHERE {where} ORDER BY {layout.time_column}, {tie}",
        [*values, *bound],
    )


def _source(layout: Layout, as_of: datetime | None) -> tuple[str, list[Value]]:
    if layout.ledger:
        return f"{layout.versions}", []
    if as_of is None:
        return f"(SELECT v.* FROM {layout.heads} h JOIN {layout.versions} v ON v.seq = h.seq)", []
    ranked = (
        "SELECT *, row_number() OVER "
        "(PARTITION BY _key ORDER BY _observed_at DESC, seq DESC) AS _rank "
        f"FROM {layout.versions} WHERE _observed_at <= ?"
    )
    return f"(SELECT * FROM ({ranked}) WHERE _rank = 1)", [microseconds(as_of)]


def _conditions(layout: Layout, selection: Selection) -> tuple[list[str], list[Value]]:
    conditions, values = (["1"] if layout.ledger else ["_gone = 0"]), list[Value]()
    if layout.ledger and selection.as_of is not None:
        conditions.append("_observed_at <= ?")
        values.append(microseconds(selection.as_of))
    for sign, bound in ((">=", _first(layout, selection)), ("<", _end(layout, selection))):
        if bound is not None:
            conditions.append(f"{layout.time_column} {sign} ?")
            values.append(bound)
    if selection.campaign is not None and layout.campaign_column is not None:
        conditions.append(f"{layout.expression(layout.campaign_column)} = ?")
        values.append(selection.campaign)
    return conditions, values


def _first(layout: Layout, selection: Selection) -> Value:
    if selection.since is None or not _counts_days(layout):
        return None if selection.since is None else microseconds(selection.since)
    return selection.since.astimezone(UTC).date().isoformat()


def _end(layout: Layout, selection: Selection) -> Value:
    if selection.until is None or not _counts_days(layout):
        return None if selection.until is None else microseconds(selection.until)
    until = selection.until.astimezone(UTC)
    started = until.time() != time(0)  # a day that has begun by then is wanted whole
    return (until.date() + timedelta(days=int(started))).isoformat()


def _counts_days(layout: Layout) -> bool:
    return layout.time_column == "date"


def _array(cells: tuple[Value, ...], column: Column) -> pa.Array:
    array = pa.array(cells, type=_STORED[column.kind])
    return array.cast(_SHOWN[column.kind])
