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
from dialframe.sandbox.world import clock
from dialframe.sandbox.world.sandbox_database import update

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

    def find(self, db: sqlite3.Connection, client: int, identifier: str) -> Json:
        """The object with this id."""
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
        update(db, self.table, client, identifier, **values)
        return self.find(db, client, identifier)


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


# RFC 9110, 8.8.3: a strong validator, the same bytes or another tag.
def etag(body: Json) -> str:
    """A strong entity tag of an object as it is answered."""
    return f'"{hashlib.sha256(encode(body)).hexdigest()[:32]}"'


def check_if_match(if_match: str | None, body: Json) -> None:
    """Compare `If-Match` with what the object is now."""
    # RFC 9110, 13.1.1: `*` takes whatever is there.
    if if_match is None or if_match.strip() == "*":
        return
    # A list of tags takes any of them; a weak one never matches, as the comparison is strong.
    if etag(body) not in (tag.strip() for tag in if_match.split(",")):
        raise Refusal("precondition_failed", "It was changed since it was read.")


def encode(body: Json) -> bytes:
    """A JSON document as the bytes that are sent."""
    # Conventions: bodies are JSON in UTF-8, so letters stay letters.
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


MEDIA_TYPE: Final = "application/problem+json"

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
        self.detail = detail or f"{_condition(code)}."
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


def document(refusal: Refusal, *, request_id: str, docs_base: str) -> dict[str, Any]:
    """The problem document of a refusal (RFC 9457 with the contract's fields)."""
    body: dict[str, Any] = {
        # Errors: the first five are RFC 9457's, the rest is the contract's.
        "type": f"{docs_base}/errors/{problem_slug(refusal.code)}",
        "title": _condition(refusal.code),
        "status": refusal.status,
        "detail": refusal.detail,
        "instance": f"urn:service:request:{request_id}",
        "code": refusal.code,
        "request_id": request_id,
    }
    # Errors: validation errors add `errors`, each a JSON pointer and a code.
    if refusal.errors:
        body["errors"] = [
            {"pointer": error.pointer, "code": error.code} for error in refusal.errors
        ]
    return body


def problem_slug(code: str) -> str:
    """A code as the last part of its problem type."""
    return code.replace("_", "-")


def _condition(code: str) -> str:
    text = BY_CODE[code].condition if code in BY_CODE else code.replace("_", " ")
    return text[0].upper() + text[1:]
