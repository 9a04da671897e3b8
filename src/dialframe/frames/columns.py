"""The tables that people work with, column by column, and how records become frames of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from dialframe import instants

Kind = Literal["text", "instant", "day", "integer", "number", "boolean", "json"]

#: pandas dtype of each kind. A day is text (ISO 8601); JSON is text, so that every cell can be compared and stored.
DTYPES: Final[dict[Kind, str]] = {
    "text": "str",
    "instant": "datetime64[us, UTC]",
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


def _column(name: str, kind: Kind, meaning: str) -> Column:
    return Column(name, kind, meaning)


_EXTRA: Final = _column(
    "_extra", "json", "fields that the contract does not name, kept as they came"
)

#: Calls, inbound and outbound, a row each.
CALLS: Final = Table(
    name="calls",
    operation="calls.list",
    key=("id",),
    columns=(
        _column("id", "text", "call id"),
        _column("direction", "text", "inbound or outbound"),
        _column("from_number", "text", "calling number, E.164; the caller ID of an outbound call"),
        _column("to_number", "text", "called number, E.164"),
        _column("status", "text", "open set; completed is seen"),
        _column("created_at", "instant", "the call was started, UTC"),
        _column(
            "answered_at", "instant", "somebody or something answered, UTC; null if nobody did"
        ),
        _column("ended_at", "instant", "the call ended, UTC"),
        _column("duration_seconds", "number", "seconds; the contract does not say from when"),
        _column("campaign_id", "text", "campaign, null for calls outside any"),
        _column("disposition", "text", "the agent's outcome"),
        _column("hangup_cause", "text", "the carrier's outcome"),
        _EXTRA,
    ),
)

#: Leads of all campaigns, with the outcome of the last attempt only.
LEADS: Final = Table(
    name="leads",
    operation="leads.list",
    key=("id",),
    columns=(
        _column("id", "text", "lead id"),
        _column("campaign_id", "text", "campaign of the lead"),
        _column("external_id", "text", "the client's own id"),
        _column("phone", "text", "E.164; never changes"),
        _column("full_name", "text", "name"),
        _column("email", "text", "e-mail address"),
        _column("status", "text", "new, contacted, callback, dnc, completed"),
        _column("attempts", "integer", "calls made to the lead"),
        _column("custom_fields", "json", "the account's own fields; lead_source among them"),
        _column("last_attempt_at", "instant", "last call, UTC"),
        _column("next_attempt_at", "instant", "next call that is planned, UTC"),
        _column("disposition_code", "text", "the agent's outcome of the last attempt"),
        _column("hangup_cause", "text", "the carrier's outcome of the last attempt"),
        _column("created_at", "instant", "imported or added, UTC"),
        _column("updated_at", "instant", "last change, UTC"),
        _EXTRA,
    ),
)

#: Campaigns that are not archived.
CAMPAIGNS: Final = Table(
    name="campaigns",
    operation="campaigns.list",
    key=("id",),
    columns=(
        _column("id", "text", "campaign id"),
        _column("name", "text", "name"),
        _column("status", "text", "draft, ready, running, paused, completed"),
        _column("dialer_mode", "text", "open set"),
        _column("created_at", "instant", "UTC"),
        _column("updated_at", "instant", "UTC"),
        _column("started_at", "instant", "UTC"),
        _column("completed_at", "instant", "UTC"),
        _EXTRA,
    ),
)

#: Calls that were promised.
CALLBACKS: Final = Table(
    name="callbacks",
    operation="callbacks.list",
    key=("id",),
    columns=(
        _column("id", "text", "callback id"),
        _column("lead_id", "text", "null when the lead was deleted after scheduling"),
        _column("campaign_id", "text", "campaign"),
        _column("scheduled_at", "instant", "when the platform calls, UTC"),
        _column("status", "text", "pending, completed, cancelled"),
        _column("notes", "text", "the agent's words"),
        _column("created_at", "instant", "UTC"),
        _EXTRA,
    ),
)

#: Appointments, kept and not.
APPOINTMENTS: Final = Table(
    name="appointments",
    operation="appointments.list",
    key=("id",),
    columns=(
        _column("id", "text", "appointment id"),
        _column("status", "text", "scheduled, confirmed, cancelled, completed, no-show are seen"),
        _column("scheduled_at", "instant", "UTC"),
        _column("timezone", "text", "IANA zone of the customer"),
        _column("duration_minutes", "integer", "minutes"),
        _column("service_type", "text", "what is booked"),
        _column("contact_name", "text", "customer"),
        _column("phone", "text", "E.164"),
        _column("email", "text", "e-mail address"),
        _column("notes", "text", "notes"),
        _column("source", "text", "who booked it"),
        _column("created_at", "instant", "UTC"),
        _column("updated_at", "instant", "UTC"),
        _EXTRA,
    ),
)

#: The service's own report: counts by day, campaign and disposition.
DISPOSITIONS: Final = Table(
    name="dispositions",
    operation="reports.dispositions",
    key=("date", "campaign_id", "disposition"),
    columns=(
        _column("date", "day", "UTC day that the count belongs to"),
        _column("campaign_id", "text", "campaign, null for calls outside any"),
        _column("disposition", "text", "the agent's outcome, null where none was logged"),
        _column("calls", "integer", "calls counted by the service"),
        _EXTRA,
    ),
)

#: Our ledger of Do-Not-Call checks: many rows for one number.
DNC_CHECKS: Final = Table(
    name="dnc_checks",
    operation="dnc.check",
    key=("phone", "checked_at"),
    columns=(
        _column("phone", "text", "E.164 as it was asked"),
        _column("listed", "boolean", "the service's answer: on a Do-Not-Call list or not"),
        _column(
            "checked_at", "instant", "when the question was sent, UTC, by this machine's clock"
        ),
        _column("request_id", "text", "the service's id of the answer: the evidence"),
    ),
)

#: Its rows are delivered, not listed: the list's shape is assumed, an event's own and its envelope's are not.
EVENTS: Final = Table(
    name="events",
    operation="events.get",
    key=("id",),
    columns=(
        _column("id", "text", "event id; its deliveries and replays share it"),
        _column("type", "text", "open set; the six that can be subscribed to, and webhook.test"),
        _column("created_at", "instant", "it happened, UTC; deliveries may come in another order"),
        _column("api_version", "text", "v1"),
        _column("schema_version", "integer", "version of the data's shape"),
        _column("data", "json", "what happened, by type, exactly as delivered"),
        _column("call_details", "json", "summary and disposition of its call, as delivered"),
        _column("received_at", "instant", "first delivery here, UTC, by this machine's clock"),
        _column("delivery_id", "text", "that delivery's id"),
        _EXTRA,
    ),
)

SMS_REPORTS: Final = Table(
    name="sms_reports",
    # Not the list, whose shape is assumed: of what was sent, and its `to` named as in every other table.
    operation="sms.send",
    key=("message_id",),
    columns=(
        _column("message_id", "text", "message id; this table's shape is assumed"),
        _column("to_number", "text", "E.164; the service calls it `to`"),
        _column("status", "text", "open set; queued on acceptance"),
        _column("client_reference", "text", "the client's own reference of the message"),
        _column("created_at", "instant", "accepted, UTC"),
        _column("updated_at", "instant", "last change of the status, UTC"),
        _column("error_code", "text", "why it was not delivered"),
        _EXTRA,
    ),
)

WEBHOOKS: Final = Table(
    name="webhooks",
    operation="webhooks.list",
    key=("id",),
    columns=(
        _column("id", "text", "endpoint id"),
        _column("url_preview", "text", "URL with path and query shortened"),
        _column("host", "text", "host that events are sent to"),
        _column("description", "text", "the account's own words"),
        _column("events", "json", "subscribed types"),
        _column("enabled", "boolean", "whether events are sent"),
        _column("secret_hint", "text", "last four characters of the signing secret"),
        _column("created_at", "instant", "UTC"),
        _column("updated_at", "instant", "UTC"),
        _EXTRA,
    ),
)

#: Every table by name.
TABLES: Final[dict[str, Table]] = {
    table.name: table
    for table in (
        CALLS, LEADS, CAMPAIGNS, CALLBACKS, APPOINTMENTS, DISPOSITIONS, DNC_CHECKS, EVENTS,
        SMS_REPORTS, WEBHOOKS,
    )
}  # fmt: skip


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
    for row in np.flatnonzero(read.isna() & values.notna()):
        alone = pd.to_datetime(values.iloc[[row]], utc=True, format="ISO8601", errors="coerce")
        at = alone.astype(DTYPES["instant"]).iloc[0]
        if pd.isna(at) and isinstance(values.iloc[row], str):
            # Leap seconds and the midnight that ends a day, which pandas refuses.
            at = instants.parse(values.iloc[row])
        read.iloc[row] = pd.NaT if at is None else at
    return read


def _lookup(cell: Any, name: str) -> str | None:
    try:
        fields = json.loads(cell) if isinstance(cell, str) else None
    except ValueError:
        return None
    value = fields.get(name) if isinstance(fields, dict) else None
    return None if value is None else str(value)
