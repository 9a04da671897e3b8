"""Records as rows of SQLite values with key and content hash, and the rows that still wait in SQLite."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pyarrow as pa

from dialframe.frames.frame_schemas import Kind, as_json
from dialframe.store.files.table_layouts import FEW, FOREVER, SCHEMA_VERSION, Layout

#: Arrow type of each kind, in parts and in what is read. Long offsets are what pandas wants.
TYPES: Final[dict[Kind, pa.DataType]] = {
    "text": pa.large_string(),
    "instant": pa.timestamp("us", "UTC"),
    "day": pa.large_string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "json": pa.large_string(),
}

#: Arrow type of a text column with few values while rows are picked and put in order.
CODED: Final = pa.dictionary(pa.int32(), pa.string())

Value = str | int | float | None

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
HASH_BYTES = 16

_BLANK_JSON: tuple[Any, ...] = (None, {}, "")
_FITS: dict[Kind, type | tuple[type, ...]] = {
    "text": str,
    "day": (str, date),
    "instant": (str, datetime),
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


@dataclass(frozen=True, slots=True)
class Row:
    """One record, ready to be stored: its key and its payload in the layout's order."""

    key: str
    values: tuple[Value, ...]

    @property
    def digest(self) -> bytes:
        """Hash of the content: equal for equal content, whatever brought it."""
        return digest_of(json.dumps(self.values, ensure_ascii=False, separators=(",", ":")))


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that does not validate, as it came.

    Attributes:
        raw: Its JSON.
        reason: What is wrong with it.
        key: Its id where it has one: the row exists, although its content is unreadable.
    """

    raw: str
    reason: str
    key: str | None = None


def rows(layout: Layout, records: Iterable[Mapping[str, Any]]) -> tuple[list[Row], list[Bad]]:
    """Rows in the order given, and apart from them the records that cannot be stored.

    Instants are aware datetimes or ISO 8601 text with a zone. Of two records with one key the
    later one counts.
    """
    good: dict[str, Row] = {}
    bad: list[Bad] = []
    for position, record in enumerate(records):
        try:
            row = _row(layout, record)
            _ = row.digest  # finds text that cannot be written down
        except ValueError as error:
            bad.append(bad_record(record, str(error)))
            continue
        # Checks have no key: the same answer twice is two rows.
        good[str(position) if layout.ledger else row.key] = row
    return list(good.values()), bad


def bad_record(record: Mapping[str, Any], reason: str) -> Bad:
    """Set a record aside.

    Args:
        record: The record, as the service sent it.
        reason: Why it is not stored as a row.

    Returns:
        The record's JSON, the reason, and its id where it has one.

    Example:
        >>> bad_record({'id': 'cal_1', 'status': 7}, 'status is no text').key
        'cal_1'
    """
    identifier = record.get("id")
    # One spelling for one content, so that it is set aside once.
    raw = json.dumps(record, sort_keys=True, default=str)
    return Bad(raw=raw, reason=reason, key=identifier if isinstance(identifier, str) else None)


def microseconds(instant: datetime) -> int:
    """Microseconds since 1970 UTC.

    Raises:
        ValueError: The instant has no zone.
    """
    if instant.tzinfo is None:
        raise ValueError(f"{instant.isoformat()} has no zone")
    # Whole numbers: a float of seconds is not exact to the microsecond.
    return (instant - EPOCH) // MICROSECOND


def instant(value: int) -> datetime:
    """The UTC instant of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=value)


def digest_of(text: str) -> bytes:
    """Hash of a text, 16 bytes."""
    return hashlib.blake2b(text.encode(), digest_size=HASH_BYTES).digest()


def _row(layout: Layout, record: Mapping[str, Any]) -> Row:
    named = {column.name for column in layout.table.columns}
    extra = {name: record[name] for name in record if name not in named}
    values: dict[str, Value] = {}
    for column in layout.table.columns:
        value = record.get(column.name)
        try:
            values[column.name] = _cell(value, column.kind)
        except (ValueError, TypeError) as error:
            if "_extra" not in named or column.name in layout.table.key:
                raise ValueError(f"{column.name}: {error}") from None
            # The contract does not show every shape: what does not fit its column is kept beside.
            values[column.name], extra[column.name] = None, value
    if "_extra" in named and extra:
        values["_extra"] = as_json(extra)
    return Row(_key(layout, values), tuple(values[name] for name in layout.names))


def _key(layout: Layout, values: Mapping[str, Value]) -> str:
    parts = [values[name] for name in layout.table.key]
    # The later parts of a key may be null: counts of calls outside any campaign are rows, too.
    if parts[0] is None:
        raise ValueError(f"{layout.table.key[0]} is missing")
    return str(parts[0]) if layout.by_id else as_json(parts)


def _cell(value: Any, kind: Kind) -> Value:
    if value is None:
        return None
    if kind == "json":
        # Contract, Resources, Lead: `custom_fields` is an object or null; an empty one says as little.
        return (
            None if value in _BLANK_JSON else value if isinstance(value, str) else as_json(value)
        )
    # In Python a boolean is an integer; in a column of integers it is a mistake.
    if isinstance(value, bool):
        fits = kind == "boolean"
    else:
        # SQLite's integers have 64 bits.
        too_large = isinstance(value, int) and not -(2**63) <= value < 2**63
        fits = isinstance(value, _FITS[kind]) and not too_large
    if not fits:
        raise TypeError(f"{type(value).__name__} is not {kind}")
    if kind == "instant":
        return microseconds(datetime.fromisoformat(value) if isinstance(value, str) else value)
    if kind == "day" and isinstance(value, date):
        # A datetime is a date in Python; its day is what counts here.
        return value.isoformat()[:10]
    if kind == "number":
        return float(value)
    return int(value) if kind in ("boolean", "integer") else str(value)


ROWS_AT_ONCE = 5_000

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


def schema(layout: Layout) -> pa.Schema:
    """The columns of a table's parts: `seq`, key, payload, when observed, until when it counted."""
    key = [] if layout.by_id or layout.ledger else [pa.field("_key", pa.large_string())]
    return pa.schema(
        [
            pa.field("seq", pa.int64()),
            *key,
            *(pa.field(column.name, TYPES[column.kind]) for column in layout.columns),
            pa.field("_until", pa.int64()),
            pa.field("_gone", pa.bool_()),
        ],
        metadata={"dialframe": f"{layout.table.name} {SCHEMA_VERSION}"},
    )


def coded(layout: Layout, names: Sequence[str]) -> pa.Schema:
    """Columns of `schema`, those with few different values as places in a list of them."""
    full = schema(layout)
    return pa.schema(
        [pa.field(name, CODED) if name in FEW else full.field(name) for name in names]
    )


def plain(layout: Layout, names: Sequence[str]) -> pa.Schema:
    """Columns of `schema`."""
    full = schema(layout)
    return pa.schema([full.field(name) for name in names])


def read_tail(
    connection: sqlite3.Connection, layout: Layout, where: str, values: Sequence[Value] = ()
) -> pa.Table:
    """Versions of the tail as they are in a part, oldest first; `_until` is null where no other follows."""
    wanted = schema(layout)
    kinds = {column.name: column.kind for column in layout.columns}
    shown = ", ".join(_expression(layout, name) for name in wanted.names)
    cursor = connection.execute(
        f"SELECT {shown} FROM {layout.versions} WHERE {where} "
        f"ORDER BY {layout.time_column}, {layout.tail_key}",
        values,
    )
    batches = []
    # Rows of Python values take several times the memory of Arrow's.
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        columns = zip(wanted, zip(*rows, strict=True), strict=True)
        arrays = [_array(cells, field, kinds.get(field.name)) for field, cells in columns]
        batches.append(pa.record_batch(arrays, schema=wanted))
    return pa.Table.from_batches(batches, schema=wanted)


def rows_of(layout: Layout, table: pa.Table) -> Iterator[tuple[int, Row]]:
    """Versions of a table in the columns of `parts.schema` as rows of SQLite values, with their `seq`."""
    columns = [_plain(table[name]) for name in layout.names]
    keys = table[layout.part_key].to_pylist()
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
