"""The tables that people work with, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

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
