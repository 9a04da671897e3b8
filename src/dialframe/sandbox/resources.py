"""Rows of the tables as the contract's objects; knows columns and field types, no operation.

A field that ends in `_at` is an instant, and the names in `DOCUMENTS` hold JSON text.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialframe.contract.models.appointments import Appointment
from dialframe.contract.models.callbacks import Callback
from dialframe.contract.models.calls import Call
from dialframe.contract.models.campaigns import Campaign
from dialframe.contract.models.contact import SmsMessage
from dialframe.contract.models.leads import Lead
from dialframe.contract.models.shape import Answer
from dialframe.contract.models.webhooks import WebhookDelivery, WebhookEventSummary
from dialframe.sandbox import instants
from dialframe.sandbox.exchange import Json, encode
from dialframe.sandbox.problems import Refusal

DOCUMENTS: Final = frozenset({"custom_fields", "data"})

API_VERSION: Final = "v1"
SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of thing.

    Attributes:
        fields: Its fields that come from columns, in the order in which they are answered.
        columns: Their columns.
        constants: Fields that are the same for every row.
    """

    table: str
    fields: tuple[str, ...]
    columns: tuple[str, ...]
    constants: Mapping[str, object]

    def render(self, row: tuple[Any, ...]) -> Json:
        """One row of `columns` as an object of the contract."""
        pairs = zip(self.fields, row, strict=True)
        return {**{name: value_of(name, value) for name, value in pairs}, **self.constants}

    def find(self, db: sqlite3.Connection, client: int, identifier: str) -> Json:
        """The object with this id.

        Raises:
            Refusal: `not_found`.
        """
        row = db.execute(
            f"SELECT {', '.join(self.columns)} FROM {self.table} WHERE client = ? AND id = ?",
            (client, identifier),
        ).fetchone()
        if row is None:
            raise Refusal("not_found", "The id names nothing of the account.")
        return self.render(row)

    def change(
        self, db: sqlite3.Connection, client: int, identifier: str, values: Mapping[str, object]
    ) -> Json:
        """Set columns of one row and return it as it is then."""
        assignments = ", ".join(f"{name} = ?" for name in values)
        db.execute(
            f"UPDATE {self.table} SET {assignments} WHERE client = ? AND id = ?",
            (*values.values(), client, identifier),
        )
        return self.find(db, client, identifier)


def _resource(
    table: str,
    shape: type[Answer],
    constants: Mapping[str, object] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Resource:
    constants, renamed = constants or {}, renamed or {}
    fields = tuple(name for name in shape.model_fields if name not in constants)
    return Resource(table, fields, tuple(renamed.get(name, name) for name in fields), constants)


CAMPAIGN: Final = _resource("campaigns", Campaign)
LEAD: Final = _resource("leads", Lead)
CALL: Final = _resource("calls", Call)
CALLBACK: Final = _resource("callbacks", Callback)
APPOINTMENT: Final = _resource("appointments", Appointment)
MESSAGE: Final = _resource("messages", SmsMessage, renamed={"to": "recipient"})
EVENT: Final = _resource(
    "events",
    WebhookEventSummary,
    constants={"api_version": API_VERSION, "schema_version": SCHEMA_VERSION},
)
DELIVERY: Final = _resource("deliveries", WebhookDelivery)


def value_of(name: str, value: Any) -> Any:
    """A column's value as its field has it."""
    if value is None:
        return None
    if name.endswith("_at"):
        return instants.text(value)
    return json.loads(value) if name in DOCUMENTS else value


def etag(body: Json) -> str:
    """A strong entity tag of an object as it is answered."""
    return f'"{hashlib.sha256(encode(body)).hexdigest()[:32]}"'


def check_if_match(if_match: str | None, body: Json) -> None:
    """Compare `If-Match` with what the object is now.

    Raises:
        Refusal: `precondition_failed`.
    """
    if if_match is None or if_match.strip() == "*":
        return
    if etag(body) not in (tag.strip() for tag in if_match.split(",")):
        raise Refusal("precondition_failed", "It was changed since it was read.")
