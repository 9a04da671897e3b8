"""Records of an answer as rows that can be stored: values of JSON, and apart from them what does not validate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from operator import itemgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa

from dialframe.frames.frame_schemas import Kind, as_json
from dialframe.store.layouts import Layout

Value = str | int | float | None

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

_BLANK_JSON: Final[tuple[Any, ...]] = (None, {}, "")
_FITS: Final[dict[Kind, type | tuple[type, ...]]] = {
    "text": str,
    "day": (str, date),
    "instant": (str, datetime),
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}
#: What stands between the texts of two rows.
_BETWEEN: Final = "],\n["
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",\n", ":")).encode
_NOTHING: Final = type(None)
#: Types whose values are stored as they are.
_QUICK: Final[dict[Kind, frozenset[type]]] = {
    "text": frozenset({str, _NOTHING}),
    "number": frozenset({float, _NOTHING}),
}
_INTEGER: Final = frozenset({int, _NOTHING})
_INSTANT: Final = frozenset({datetime, _NOTHING})


class Row(NamedTuple):
    """One record, ready to be stored.

    Attributes:
        key: What makes it the same row as another: its id, or the JSON of several columns.
        values: Its values in the order of the table's columns.
        text: Their JSON, without the brackets.
        content: Hash of that: equal for equal values, whatever brought them.
    """

    key: str
    values: tuple[Value, ...]
    text: str
    content: int

    @classmethod
    def of(cls, layout: Layout, values: tuple[Value, ...]) -> Row:
        """The row of values."""
        (text,) = _texts([values])
        return cls(_key(layout, values), values, text, hash_of(text))


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
    given = list(records)
    columns, wrong = _columns(layout, given)
    all_values = list(zip(*columns, strict=True))
    good: dict[object, Row] = {}
    for place, (values, text) in enumerate(zip(all_values, _texts(all_values), strict=True)):
        if place in wrong:
            continue
        try:
            # The hash finds text that cannot be written down.
            row = Row(_key(layout, values), values, text, hash_of(text))
        except ValueError as error:
            wrong[place] = str(error)
        else:
            # Checks have no key: the same answer twice is two rows.
            good[place if layout.ledger else row.key] = row
    return list(good.values()), [bad_record(given[place], wrong[place]) for place in sorted(wrong)]


def _columns(
    layout: Layout, given: Sequence[Mapping[str, Any]]
) -> tuple[list[list[Value]], dict[int, str]]:
    """The values of records, column by column, and what is wrong with which of them."""
    known = frozenset(layout.names)
    keeps_extra = "_extra" in known
    wrong: dict[int, str] = {}
    misfits: dict[int, dict[str, Any]] = {}
    columns: list[list[Value]] = []
    for column, cells in zip(layout.table.columns, _cells(layout, given), strict=True):
        values = _quick(cells, column.kind)
        if values is None:
            values, errors = _one_by_one(cells, column.kind)
            for place, error in errors.items():
                # The contract does not show every shape: what does not fit its column is kept beside.
                if keeps_extra and column.name not in layout.table.key:
                    misfits.setdefault(place, {})[column.name] = cells[place]
                else:
                    wrong.setdefault(place, f"{column.name}: {error}")
        columns.append(values)
    for place, record in enumerate(given if keeps_extra else ()):
        if place in misfits or not record.keys() <= known:
            beside = {name: record[name] for name in record if name not in known}
            columns[-1][place] = as_json(beside | misfits.get(place, {}))
    return columns, wrong


def _cells(layout: Layout, given: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """What records hold of each column, null where it is missing."""
    names = layout.names
    try:
        # Records of an answer have every column but the one that takes the rest.
        shown = names[:-1] if names[-1] == "_extra" else names
        columns = [list(cells) for cells in zip(*map(itemgetter(*shown), given), strict=True)]
    except KeyError:
        return [[record.get(name) for record in given] for name in names]
    return [*columns, *([record.get(name) for record in given] for name in names[len(columns) :])]


def _one_by_one(cells: Sequence[Any], kind: Kind) -> tuple[list[Value], dict[int, Exception]]:
    """A column's values, null where a cell does not fit, and why each of those does not."""
    values: list[Value] = []
    errors: dict[int, Exception] = {}
    for place, cell in enumerate(cells):
        try:
            values.append(_value(cell, kind))
        except (ValueError, TypeError) as error:
            values.append(None)
            errors[place] = error
    return values, errors


def _texts(rows: list[tuple[Value, ...]]) -> list[str]:
    """The JSON of each row, without its brackets; all at once, which takes a third of the time."""
    # No text of JSON holds a line end, so that rows can be told apart; and no value of a row is a list.
    return _ENCODE(rows)[2:-2].split(_BETWEEN) if rows else []


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


def hash_of(text: str) -> int:
    """Hash of a key or a content, 64 bits with a sign, never 0.

    Two of ten million keys meet with a probability of some 3 in a million; contents are compared with one another
    of the same key alone.
    """
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def encoded(layout: Layout, rows: Sequence[Row]) -> str:
    """Rows as JSON: the names of the columns, and a list of values for each row."""
    names = json.dumps(layout.names)
    return f'{{"columns":{names},"rows":[[{_BETWEEN.join([row.text for row in rows])}]]}}'


def decoded(layout: Layout, contents: Iterable[str]) -> pa.Table:
    """The rows of pages, one after the other; a column that a page did not have is null in it."""
    values: list[list[Value]] = []
    for content in contents:
        page = json.loads(content)
        if page["columns"] != list(layout.names):
            places = {name: place for place, name in enumerate(page["columns"])}
            page["rows"] = [
                [row[places[name]] if name in places else None for name in layout.names]
                for row in page["rows"]
            ]
        values += page["rows"]
    cells = zip(*values, strict=True) if values else [()] * len(layout.names)
    arrays = [
        _array(list(column_cells), column.kind)
        for column, column_cells in zip(layout.table.columns, cells, strict=True)
    ]
    return pa.table(arrays, schema=layout.row)


def conformed(table: pa.Table, fields: pa.Schema) -> pa.Table:
    """The columns of a schema; one that the table did not have when it was written is null."""
    held = set(table.column_names)
    arrays = [
        table[field.name] if field.name in held else pa.nulls(table.num_rows, field.type)
        for field in fields
    ]
    return pa.table(arrays, names=fields.names).cast(fields)


def rows_of(layout: Layout, table: pa.Table) -> Iterator[tuple[int, Row]]:
    """Versions of a table in the columns of `Layout.schema` as rows, with their `seq`."""
    columns = [_plain(table[name]) for name in layout.names]
    for seq, *values in zip(table["seq"].to_pylist(), *columns, strict=True):
        yield seq, Row.of(layout, tuple(values))


def _quick(cells: list[Any], kind: Kind) -> list[Value] | None:
    """A column's values at once, where every cell is of the very type; else None."""
    types = set(map(type, cells))
    if kind in _QUICK:
        return cells if types <= _QUICK[kind] else None
    if kind == "instant":
        if not types <= _INSTANT:
            return None
        try:
            return [None if cell is None else (cell - EPOCH) // MICROSECOND for cell in cells]
        except TypeError:
            return None  # one of them has no zone
    if kind == "integer" and types <= _INTEGER:
        # Columns of integers have 64 bits.
        return cells if all(cell is None or -(2**63) <= cell < 2**63 for cell in cells) else None
    return cells if types == {_NOTHING} else None


def _value(value: Any, kind: Kind) -> Value:
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
        # Columns of integers have 64 bits.
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


def _key(layout: Layout, values: tuple[Value, ...]) -> str:
    key = [values[place] for place in layout.key_places]
    # The later parts of a key may be null: counts of calls outside any campaign are rows, too.
    if key[0] is None:
        raise ValueError(f"{layout.table.key[0]} is missing")
    return str(key[0]) if len(key) == 1 else as_json(key)


#: How values of JSON become Arrow's; all other kinds are taken as they are.
_ARRAYS: Final[dict[Kind, Callable[[list[Any]], pa.Array]]] = {
    "instant": lambda cells: pa.array(cells, pa.int64()).cast(pa.timestamp("us", "UTC")),
    "integer": lambda cells: pa.array(cells, pa.int64()),
    "number": lambda cells: pa.array(cells, pa.float64()),
    "boolean": lambda cells: pa.array(cells, pa.int8()).cast(pa.bool_()),
}


def _array(cells: list[Any], kind: Kind) -> pa.Array:
    make = _ARRAYS.get(kind)
    return pa.array(cells, pa.large_string()) if make is None else make(cells)


def _plain(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return list(column.cast(pa.int64()).to_pylist())
    if pa.types.is_boolean(column.type):
        return list(column.cast(pa.int8()).to_pylist())
    return list(column.to_pylist())
