"""Records as rows of SQLite values, with key and content hash; pure, and knows no database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from dialframe.frames.build import as_json
from dialframe.frames.columns import Kind
from dialframe.store.layout import Layout

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
    for place, record in enumerate(records):
        try:
            row = _row(layout, record)
            _ = row.digest  # finds text that cannot be written down
        except ValueError as error:
            bad.append(bad_record(record, str(error)))
            continue
        good[str(place) if layout.ledger else row.key] = row
    return list(good.values()), bad


def bad_record(record: Mapping[str, Any], reason: str) -> Bad:
    """A record set aside, with its JSON and its id where it has one."""
    found = record.get("id")
    raw = json.dumps(record, sort_keys=True, default=str)
    return Bad(raw=raw, reason=reason, key=found if isinstance(found, str) else None)


def microseconds(instant: datetime) -> int:
    """Microseconds since 1970 UTC.

    Raises:
        ValueError: The instant has no zone.
    """
    if instant.tzinfo is None:
        raise ValueError(f"{instant.isoformat()} has no zone")
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
    if parts[0] is None:
        raise ValueError(f"{layout.table.key[0]} is missing")
    return str(parts[0]) if layout.by_id else as_json(parts)


def _cell(value: Any, kind: Kind) -> Value:
    if value is None:
        return None
    if kind == "json":
        return (
            None if value in _BLANK_JSON else value if isinstance(value, str) else as_json(value)
        )
    if isinstance(value, bool):
        fits = kind == "boolean"
    else:
        fits = isinstance(value, _FITS[kind]) and not _too_large(value)
    if not fits:
        raise TypeError(f"{type(value).__name__} is not {kind}")
    return _converted(value, kind)


def _converted(value: Any, kind: Kind) -> Value:
    if kind == "instant":
        return microseconds(datetime.fromisoformat(value) if isinstance(value, str) else value)
    if kind == "day" and isinstance(value, date):
        return value.isoformat()[:10]
    if kind == "number":
        return float(value)
    return int(value) if kind in ("boolean", "integer") else str(value)


def _too_large(value: Any) -> bool:
    return isinstance(value, int) and not -(2**63) <= value < 2**63
