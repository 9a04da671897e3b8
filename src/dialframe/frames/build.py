"""DataFrames with a schema that never depends on the data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dialframe import instants
from dialframe.frames.columns import DTYPES, Column, Kind, Table

_BLANK_JSON: tuple[Any, ...] = (None, {}, "")


def empty(table: Table, extra: Sequence[Column] = ()) -> pd.DataFrame:
    """A frame of no rows with the table's columns and dtypes, and those of `extra` behind them.

    Args:
        table: The column table.
        extra: Further columns behind the table's own.

    Returns:
        No rows, every column with its dtype.

    Example:
        >>> from dialframe.frames import CAMPAIGNS
        >>> len(empty(CAMPAIGNS))
        0
    """
    return from_columns(table, {}, extra)


def from_columns(
    table: Table, values: Mapping[str, Sequence[Any]], extra: Sequence[Column] = ()
) -> pd.DataFrame:
    """A frame from whole columns.

    Args:
        table: The column table.
        values: Column name to values, all of one length; a column that is absent is null throughout.
        extra: Further columns behind the table's own.

    Returns:
        One row per value, columns in the table's order, dtypes as in `columns.DTYPES`.

    Example:
        >>> from dialframe.frames import CAMPAIGNS
        >>> from_columns(CAMPAIGNS, {"name": ["Autumn"]})["name"].tolist()
        ['Autumn']
    """
    columns = [*table.columns, *extra]
    length = max((len(column) for column in values.values()), default=0)
    return pd.DataFrame(
        {c.name: _series(values.get(c.name, [None] * length), c.kind) for c in columns}
    )


def from_records(
    table: Table, records: Iterable[Mapping[str, Any]], extra: Sequence[Column] = ()
) -> pd.DataFrame:
    """A frame from rows as the service sends them.

    Fields that the table does not name are kept together in `_extra` as JSON, where the table
    has that column. Objects become JSON text; timestamps may be text or aware datetimes, and text
    that is none (30 February) is null, its row stays.

    Args:
        table: The column table.
        records: Mappings of field name to value.
        extra: Further columns behind the table's own, taken from the records too.

    Returns:
        One row per record, in the order given.

    Example:
        >>> from dialframe.frames import CAMPAIGNS
        >>> rows = from_records(CAMPAIGNS, [{"name": "Autumn", "created_at": "2026-09-30T08:00:00Z"}])
        >>> rows["created_at"].dt.hour.tolist()
        [8]
    """
    columns = [*table.columns, *extra]
    named = {column.name for column in columns}
    values: dict[str, list[Any]] = {column.name: [] for column in columns}
    for record in records:
        for column in columns:
            values[column.name].append(_cell(record.get(column.name), column.kind))
        if "_extra" in values and "_extra" not in record:
            unknown = {name: record[name] for name in record if name not in named}
            values["_extra"][-1] = as_json(unknown) if unknown else None
    return from_columns(table, values, extra)


def custom_field(leads: pd.DataFrame, name: str) -> pd.Series:
    """One custom field of each lead as text, null where the lead does not have it.

    Args:
        leads: Frame of the leads table.
        name: Key inside `custom_fields`, `lead_source` for instance.

    Returns:
        `str` series on the index of `leads`, named after the field.

    Example:
        >>> leads = pd.DataFrame({"custom_fields": ['{"lead_source":"web"}', None]})
        >>> custom_field(leads, "lead_source").tolist()
        ['web', nan]
    """
    cells = [_lookup(cell, name) for cell in leads["custom_fields"]]
    return pd.Series(cells, index=leads.index, dtype="str", name=name)


def as_json(value: object) -> str:
    """Canonical JSON text: keys sorted, no blanks, non-ASCII kept."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str
    )


def _cell(value: Any, kind: Kind) -> Any:
    if kind == "json":
        return (
            None if value in _BLANK_JSON else value if isinstance(value, str) else as_json(value)
        )
    if kind in ("text", "day"):
        return None if value is None else str(value)
    return value


def _series(values: Sequence[Any], kind: Kind) -> pd.Series:
    if kind == "instant":
        return _instants(pd.Series(values, dtype=object))
    return pd.Series(values, dtype=DTYPES[kind])


def _instants(values: pd.Series) -> pd.Series:
    """Instants in microseconds; what cannot be read is null.

    One value that is no instant, or is out of reach of nanoseconds beside one that has them, stops
    the whole column: then the values that are left out are read one by one.
    """
    try:
        return pd.to_datetime(values, utc=True, format="ISO8601").astype(DTYPES["instant"])
    except ValueError:
        read = pd.to_datetime(values, utc=True, format="ISO8601", errors="coerce")
    read = read.astype(DTYPES["instant"])
    for place in np.flatnonzero(read.isna() & values.notna()):
        alone = pd.to_datetime(values.iloc[[place]], utc=True, format="ISO8601", errors="coerce")
        at = alone.astype(DTYPES["instant"]).iloc[0]
        if pd.isna(at) and isinstance(values.iloc[place], str):
            # Leap seconds and the midnight that ends a day, which pandas refuses.
            at = instants.parse(values.iloc[place])
        read.iloc[place] = pd.NaT if at is None else at
    return read


def _lookup(cell: Any, name: str) -> str | None:
    if not isinstance(cell, str):
        return None
    value = json.loads(cell).get(name)
    return None if value is None else str(value)
