"""Turns pages into one DataFrame with a fixed schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Annotated, Any, Final, get_args, get_origin

import pandas as pd
from pydantic import AwareDatetime

from dialframe import frames
from dialframe.client.answers import ListPage
from dialframe.contract.models.shape import Answer
from dialframe.frames.build import as_json
from dialframe.frames.columns import Kind

#: Records that are held as Python values before they become a frame.
ROWS_AT_ONCE: Final = 5_000

_KINDS: Final[tuple[tuple[Any, Kind], ...]] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (AwareDatetime, "instant"),
    (datetime, "instant"),
    (str, "text"),
)

#: Whether a value can stand in a column; what cannot, of a shape that we only assumed, goes to `_extra`.
_FITS: Final[Mapping[Kind, Callable[[Any], bool]]] = {
    "text": lambda value: isinstance(value, str),
    "day": lambda value: isinstance(value, str | date),
    "instant": lambda value: isinstance(value, datetime),
    "integer": lambda value: type(value) is int and -(2**63) <= value < 2**63,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "json": lambda _: True,
}


class FrameBuilder:
    """Grows a frame page by page, holding few records as Python values."""

    def __init__(self, operation: str, model: type[Answer]) -> None:
        """Choose the table of an operation's rows."""
        self._table = table_of(operation, model)
        self._operation = operation
        self._parts: list[pd.DataFrame] = []
        self._records: list[dict[str, Any]] = []
        self._observed: list[datetime] = []
        self._pages = 0
        self._quarantined = 0
        self.rows = 0

    def add(self, page: ListPage[Any]) -> None:
        """Put the records of a page behind the others."""
        self._records.extend(record_of(self._table, row) for row in page.records)
        self.rows += len(page.records)
        self._pages += 1
        self._quarantined += len(page.quarantined)
        self._observed = [*self._observed[:1], page.observed_at]
        if len(self._records) >= ROWS_AT_ONCE:
            self._flush()

    def frame(self) -> pd.DataFrame:
        """The frame of all pages, with what is known of them in `.attrs["dialframe"]`."""
        if self._records or not self._parts:
            self._flush()
        whole = (
            self._parts[0] if len(self._parts) == 1 else pd.concat(self._parts, ignore_index=True)
        )
        whole.attrs["dialframe"] = {
            "operation": self._operation,
            "rows": self.rows,
            "pages": self._pages,
            "quarantined": self._quarantined,
            "observed_from": self._observed[0].isoformat() if self._observed else None,
            "observed_until": self._observed[-1].isoformat() if self._observed else None,
        }
        return whole

    def _flush(self) -> None:
        self._parts.append(frames.from_records(self._table, self._records))
        self._records = []


def table_of(operation: str, model: type[Answer]) -> frames.Table:
    """The column table of a list's rows: the one of `frames`, or one made from the model's fields."""
    for table in frames.TABLES.values():
        if table.operation == operation:
            return table
    columns = [
        frames.Column(name, _kind(field.annotation), "as the service names it")
        for name, field in model.model_fields.items()
    ]
    columns.append(frames.Column("_extra", "json", "fields that the contract does not name"))
    return frames.Table(operation, operation, ("id",), tuple(columns))


def record_of(table: frames.Table, row: Answer) -> dict[str, Any]:
    """A row as values that fit the table's columns; everything else goes to `_extra`."""
    record: dict[str, Any] = {}
    extra: dict[str, Any] = dict(row.model_extra or {})
    for column in table.columns:
        value = getattr(row, column.name, None)
        if column.kind == "json" and isinstance(value, list):
            value = [
                item.model_dump(mode="json") if isinstance(item, Answer) else item
                for item in value
            ]
        if value is None or _FITS[column.kind](value):
            record[column.name] = value
        else:
            extra[column.name] = value
    named = set(table.names)
    extra.update(
        {name: getattr(row, name) for name in type(row).model_fields if name not in named}
    )
    record["_extra"] = as_json(extra) if extra else None
    return record


def _kind(annotation: Any) -> Kind:
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    for known, kind in _KINDS:
        if annotation is known:
            return kind
    options = {_kind(option) for option in get_args(annotation) if option is not type(None)}
    scalar = options - {"json"}
    if get_origin(annotation) in (list, dict) or len(scalar) != 1:
        return "json"
    return scalar.pop()
