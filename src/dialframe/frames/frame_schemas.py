"""The tables that people work with, column by column, and how records become frames of them."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from dialframe import instants

Kind = Literal["text", "instant", "day", "integer", "number", "boolean", "json"]

#: pandas dtype of each kind. A day is text (ISO 8601); JSON is text, so that every cell can be compared and stored.
DTYPES: Final[dict[Kind, str]] = {
    "text": "str",
    "instant": "datetime64[us, UTC]",
    # A day has no zone to be converted from, so it is never an instant.
    "day": "str",
    "integer": "Int64",
    "number": "Float64",
    "boolean": "boolean",
    "json": "str",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name (the contract's field name), kind and meaning (with unit where it has one)."""

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its rows' operation in the contract, its key, its columns in order."""

    name: str
    operation: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [column.name for column in self.columns]


#: Within v1 the service may add fields (contract, Versioning): none of them is lost.
_EXTRA: Final = Column(
    "_extra", "json", "fields that the contract does not name, kept as they came"
)


def _table(name: str, facts: Mapping[str, Any]) -> Table:
    extra = (_EXTRA,) if facts.get("extra", True) else ()
    columns = (*itertools.starmap(Column, facts["columns"]), *extra)
    return Table(name, facts["operation"], tuple(facts["key"]), columns)


_TEXT: Final = resources.files("dialframe.frames").joinpath("tables.toml").read_text("utf-8")
#: Every table by name.
TABLES: Final[dict[str, Table]] = {
    name: _table(name, facts) for name, facts in tomllib.loads(_TEXT).items()
}
#: Calls, inbound and outbound, a row each.
CALLS: Final = TABLES["calls"]
#: Leads of all campaigns, with the outcome of the last attempt only.
LEADS: Final = TABLES["leads"]
#: Campaigns that are not archived.
CAMPAIGNS: Final = TABLES["campaigns"]
#: Calls that were promised.
CALLBACKS: Final = TABLES["callbacks"]
#: Appointments, kept and not.
APPOINTMENTS: Final = TABLES["appointments"]
#: The service's own report: counts by day, campaign and disposition.
DISPOSITIONS: Final = TABLES["dispositions"]
#: Our ledger of Do-Not-Call checks: many rows for one number.
DNC_CHECKS: Final = TABLES["dnc_checks"]
#: Events as they were delivered, each once.
EVENTS: Final = TABLES["events"]
#: Delivery reports of text messages.
SMS_REPORTS: Final = TABLES["sms_reports"]
#: Endpoints that events are sent to.
WEBHOOKS: Final = TABLES["webhooks"]

#: What an account's frames have behind a table's own columns.
PROVENANCE: Final[tuple[Column, ...]] = (
    Column("_observed_at", "instant", "the answer that brought this version was asked for, UTC"),
    Column("_request_id", "text", "the service's id of that answer"),
    Column("last_looked_at", "instant", "the row was read from the service then or later, UTC"),
)
LAST_LOOKED_AT: Final = PROVENANCE[2]

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
    frame = {}
    for column in columns:
        cells = values.get(column.name, [None] * length)
        if column.kind == "instant":
            frame[column.name] = _instants(pd.Series(cells, dtype=object))
        else:
            frame[column.name] = pd.Series(cells, dtype=DTYPES[column.kind])
    return pd.DataFrame(frame)


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
    texts = []
    for cell in leads["custom_fields"]:
        try:
            fields = json.loads(cell) if isinstance(cell, str) else None
        except ValueError:
            fields = None
        value = fields.get(name) if isinstance(fields, dict) else None
        texts.append(None if value is None else str(value))
    return pd.Series(texts, index=leads.index, dtype="str", name=name)


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


def _instants(values: pd.Series) -> pd.Series:
    """Instants in microseconds; what cannot be read is null.

    One value that is no instant, or is out of reach of nanoseconds beside one that has them, stops
    the whole column: then the values that are left out are read one by one.
    """
    try:
        # Timestamps are ISO 8601 in UTC (contract, Conventions): one by one only where this fails.
        return pd.to_datetime(values, utc=True, format="ISO8601").astype(DTYPES["instant"])
    except ValueError:
        read = pd.to_datetime(values, utc=True, format="ISO8601", errors="coerce")
    read = read.astype(DTYPES["instant"])
    for row in np.flatnonzero(read.isna() & values.notna()):
        alone = pd.to_datetime(values.iloc[[row]], utc=True, format="ISO8601", errors="coerce")
        at = alone.astype(DTYPES["instant"]).iloc[0]
        if pd.isna(at) and isinstance(values.iloc[row], str):
            # Leap seconds and the midnight that ends a day, which pandas refuses.
            at = instants.parse(values.iloc[row])
        read.iloc[row] = pd.NaT if at is None else at
    return read
