"""Rows of the tables as the contract's objects, and the refusals that are answered instead.

A field that ends in `_at` is an instant, and the names in `DOCUMENTS` hold JSON text.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialframe.contract.error_codes import BY_CODE
from dialframe.contract.models.base_models import Answer
from dialframe.contract.models.call_models import Appointment, Call, Callback
from dialframe.contract.models.dnc_and_message_models import SmsMessage
from dialframe.contract.models.lead_models import Campaign, Lead
from dialframe.contract.models.webhook_models import WebhookDelivery, WebhookEventSummary
from dialframe.sandbox import clock
from dialframe.sandbox.world.clients_and_keys import Caller, Settings, derived_id

Json = dict[str, Any]

# Resources: `custom_fields` of a lead and `data` of an event are objects of any shape.
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
        converted: Fields whose answer is not what their column holds, with what makes it so.
    """

    table: str
    fields: tuple[str, ...]
    columns: tuple[str, ...]
    constants: Mapping[str, object]
    converted: tuple[tuple[str, Callable[[Any], Any]], ...]

    def render(self, row: tuple[Any, ...]) -> Json:
        """One row of `columns` as an object of the contract."""
        body: Json = dict(zip(self.fields, row, strict=True))
        for name, convert in self.converted:
            # Resources: `T?` may be null, whatever its type.
            if body[name] is not None:
                body[name] = convert(body[name])
        return {**body, **self.constants} if self.constants else body


def resource(
    table: str,
    shape: type[Answer],
    constants: Mapping[str, object] | None = None,
    derived: Mapping[str, tuple[str, Callable[[Any], Any]]] | None = None,
) -> Resource:
    """A kind of thing by the shape of its answer.

    Args:
        table: Its table.
        shape: What the contract's Resources say of it: the fields, in their order.
        constants: Fields that are the same for every row.
        derived: Fields that are made from a column of another name or form, and how.
    """
    constants, derived = constants or {}, derived or {}
    fields = tuple(name for name in shape.model_fields if name not in constants)
    columns = tuple(derived[name][0] if name in derived else name for name in fields)
    # Contract, Conventions: timestamps are ISO 8601 in UTC.
    instant = ((name, clock.text) for name in fields if name.endswith("_at"))
    document = ((name, json.loads) for name in fields if name in DOCUMENTS)
    made = ((name, convert) for name, (_, convert) in derived.items())
    return Resource(table, fields, columns, constants, (*instant, *document, *made))


CAMPAIGN: Final = resource("campaigns", Campaign)
LEAD: Final = resource("leads", Lead)
CALL: Final = resource("calls", Call)
CALLBACK: Final = resource("callbacks", Callback)
APPOINTMENT: Final = resource("appointments", Appointment)
MESSAGE: Final = resource("messages", SmsMessage, derived={"to": ("recipient", str)})
EVENT: Final = resource(
    "events",
    WebhookEventSummary,
    constants={"api_version": API_VERSION, "schema_version": SCHEMA_VERSION},
)
DELIVERY: Final = resource("deliveries", WebhookDelivery)


@dataclass(frozen=True, slots=True)
class Transaction:
    """One client's data in one transaction at one instant: all of it is kept, or nothing.

    Attributes:
        now_us: The sandbox's clock.
        caller: Whose request it is, or the service itself, doing something for the client.
        if_match: The `If-Match` header of the request.
    """

    db: sqlite3.Connection
    now_us: int
    caller: Caller
    if_match: str | None = None

    @property
    def client(self) -> int:
        """Number of the client, which every row of its data carries."""
        return self.caller.client.number

    @property
    def settings(self) -> Settings:
        """What holds for the account."""
        return self.caller.settings

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        """Run a statement whose first `?` is the client."""
        return self.db.execute(statement, (self.client, *values))

    def rows(self, query: str, *values: object) -> list[Any]:
        """Rows of a query whose first `?` is the client."""
        return self.execute(query, *values).fetchall()

    def row(self, query: str, *values: object) -> Any:
        """The first of them, or None."""
        return self.execute(query, *values).fetchone()

    def find(self, resource: Resource, identifier: str) -> Json:
        """The client's object with this id, or the refusal `not_found`."""
        columns = ", ".join(resource.columns)
        row = self.row(
            f"SELECT {columns} FROM {resource.table} WHERE client = ? AND id = ?", identifier
        )
        # Errors, `not_found`: unknown, or of another client: the answer tells nothing apart.
        if row is None:
            raise Refusal("not_found")
        return resource.render(row)

    def insert(self, table: str, values: Mapping[str, object], *, replace: bool = False) -> None:
        """Insert a row, or put it in the place of the one with its key."""
        # Names are those of our own columns, values are bound: nothing of a request is ever SQL.
        columns, how = ("client", *values), "INSERT OR REPLACE" if replace else "INSERT"
        marks = ", ".join("?" * len(columns))
        self.execute(
            f"{how} INTO {table} ({', '.join(columns)}) VALUES ({marks})", *values.values()
        )

    def add(self, table: str, kind: str, values: Mapping[str, object]) -> str:
        """Insert a row that is made now; its id."""
        (identifier,) = self.new_ids(kind, 1)
        self.insert(table, {"id": identifier, **values, "created_at": self.now_us})
        return identifier

    def update(self, table: str, identifier: str, **values: object) -> None:
        """Set columns of the row with this id."""
        assignments = ", ".join(f"{name} = ?" for name in values)
        self.db.execute(
            f"UPDATE {table} SET {assignments} WHERE client = ? AND id = ?",
            (*values.values(), self.client, identifier),
        )

    def change(self, resource: Resource, identifier: str, **values: object) -> Json:
        """Set columns of the row with this id; the object as it is then."""
        self.update(resource.table, identifier, **values)
        # Read back: generated columns and what was there before belong to the answer.
        return self.find(resource, identifier)

    def new_ids(self, kind: str, count: int) -> list[str]:
        """Typed ids that follow from the seed and from how many of their kind the client has got.

        So the same requests to a sandbox of the same seed give the same ids.
        """
        # One statement: two requests never get the same number.
        last, seed = self.row(
            "INSERT INTO counters VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET next = next + ?3"
            " RETURNING next, (SELECT value FROM meta WHERE name = 'seed')",
            kind, count,
        )  # fmt: skip
        numbers = range(last - count + 1, last + 1)
        return [derived_id(kind, seed, self.client, kind, number) for number in numbers]


# RFC 9110, 8.8.3: a strong validator, the same bytes or another tag.
def etag(content: bytes) -> str:
    """A strong entity tag of an answer's bytes."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def check_if_match(if_match: str | None, body: Json) -> None:
    """Compare `If-Match` with what the object is now."""
    # RFC 9110, 13.1.1: `*` takes whatever is there.
    if if_match is None or if_match.strip() == "*":
        return
    # A list of tags takes any of them; a weak one never matches, as the comparison is strong.
    if etag(encode(body)) not in (tag.strip() for tag in if_match.split(",")):
        raise Refusal("precondition_failed")


def encode(body: Json) -> bytes:
    """A JSON document as the bytes that are sent."""
    # Conventions: bodies are JSON in UTF-8, so letters stay letters.
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


#: Statuses that carry `Retry-After`; a refusal that names no time gets one second.
RETRY_STATUSES: Final = (429, 503)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that is wrong: JSON pointer and code."""

    pointer: str
    code: str


class Refusal(Exception):
    """The request is answered with a problem document.

    Attributes:
        code: The problem's code.
        status: HTTP status; without one, the first that the contract gives the code.
        detail: One sentence for people.
        errors: Fields that are wrong; `field` is pointer and code of a single one.
        retry_after_s: Seconds for `Retry-After`.
        headers: Further headers of the answer.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        status: int | None = None,
        errors: tuple[FieldError, ...] = (),
        field: tuple[str, str] | None = None,
        retry_after_s: int | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(code)
        self.code = code
        self.status = status if status is not None else BY_CODE[code].statuses[0]
        self.detail = detail or f"{condition_of(code)}."
        self.errors = errors if field is None else (FieldError(*field),)
        self.headers = headers
        # Contract, Errors: every 429 and 503 carries it; Idempotency 6: so does a key that still runs.
        if retry_after_s is None and (self.status in RETRY_STATUSES or code == "conflict"):
            retry_after_s = 1
        self.retry_after_s = retry_after_s


def invalid(pointer: str, code: str, detail: str = "") -> Refusal:
    """`validation_failed` for one field."""
    text = detail or f"The request is not valid at {pointer or 'its root'}: {code}."
    return Refusal("validation_failed", text, field=(pointer, code))


def problem_slug(code: str) -> str:
    """A code as the last part of its problem type."""
    return code.replace("_", "-")


def condition_of(code: str) -> str:
    """When a code is answered, as a title."""
    text = BY_CODE[code].condition if code in BY_CODE else code.replace("_", " ")
    return text[0].upper() + text[1:]
