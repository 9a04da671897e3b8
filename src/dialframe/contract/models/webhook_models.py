"""Shapes of webhook endpoints, events and deliveries (contract, Resources: Webhook endpoint to delivery)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from dialframe.contract import limits
from dialframe.contract.models.base_models import (
    Answer,
    Flag,
    Instant,
    Integer,
    ListQuery,
    Request,
    WebhookEndpointId,
    WebhookEventId,
    chars,
)

EventType = Literal[
    "call.completed",
    "ai_call.completed",
    "disposition.logged",
    "appointment.booked",
    "appointment.moved",
    "appointment.cancelled",
]
DeliveryStatus = Literal["pending", "retry_scheduled", "delivered", "failed", "cancelled"]

Url = Annotated[str, chars(limits.WEBHOOK_URL_CHARS)]
Events = Annotated[
    list[EventType],
    Field(
        min_length=limits.WEBHOOK_EVENTS[0],
        max_length=limits.WEBHOOK_EVENTS[1],
        json_schema_extra={"uniqueItems": True},
    ),
]
Description = Annotated[str, Field(max_length=limits.WEBHOOK_DESCRIPTION_CHARS)]


class WebhookEndpoint(Answer):
    """Where events are sent; the full URL and the secret are never shown again."""

    id: str
    # Resources, Webhook endpoint: path and query are shortened, and of the secret four characters are left.
    url_preview: str
    host: str
    description: str
    events: list[EventType | str]
    enabled: Flag
    secret_hint: str
    created_at: Instant
    updated_at: Instant


# Resources, Webhook endpoint: the secret is in the answer to its creation, and null on a replay.
class WebhookCreated(WebhookEndpoint):
    """A new endpoint with its signing secret, null on a replayed answer."""

    secret: str | None = Field(default=None, repr=False)


# Events, Delivery 4: until the old secret expires, a match on either is accepted.
class SecretRotated(Answer):
    """A new signing secret, null on a replayed answer; the previous one signs along until it expires."""

    webhook_id: str
    secret: str | None = Field(default=None, repr=False)
    secret_hint: str
    previous_secret_expires_at: Instant | None


class WebhookDelivery(Answer):
    """One attempt, with its retries, to deliver an event; a replay is a new delivery."""

    id: str
    webhook_id: str
    # States, Webhook delivery: five retries after 1, 5, 15, 60 and 240 minutes; what leads to `cancelled` is not shown.
    status: DeliveryStatus | str
    attempts: Integer
    replay_of: str | None
    last_status_code: Integer | None
    last_attempt_at: Instant | None
    next_attempt_at: Instant | None
    delivered_at: Instant | None
    failure_reason: str | None
    created_at: Instant


# Endpoints, last section: the rows of the event list are named without their shape.
class WebhookEventSummary(Answer):
    """One row of the event list; its shape is assumed."""

    id: str
    type: EventType | str
    created_at: Instant
    api_version: str | None = None
    schema_version: Integer | None = None


class WebhookEvent(Answer):
    """An event with its deliveries and its data exactly as delivered."""

    id: str
    type: EventType | str
    created_at: Instant
    api_version: str
    schema_version: Integer
    deliveries: list[WebhookDelivery]
    data: dict[str, Any]


class ReplayedDelivery(Answer):
    """A new delivery of an event."""

    event_id: str
    delivery_id: str


class Replayed(Answer):
    """The new deliveries of a replay or of a test event."""

    event_id: str
    deliveries: list[ReplayedDelivery]


class WebhookQuery(ListQuery):
    """The endpoint list."""


class EventQuery(ListQuery):
    """The event list."""


class WebhookRef(Request):
    """One endpoint by id."""

    webhook_id: WebhookEndpointId


class EventRef(Request):
    """One event by id."""

    event_id: WebhookEventId


class WebhookCreate(Request):
    """A new endpoint."""

    url: Url
    events: Events
    description: Description | None = None


class WebhookUpdate(Request):
    """A change of an endpoint; what is not given is left alone."""

    webhook_id: WebhookEndpointId
    url: Url | None = None
    events: Events | None = None
    description: Description | None = None
    enabled: Flag | None = None


# Endpoints, Webhooks: without an endpoint it goes to every one that received it.
class EventReplay(Request):
    """Send an event again, to one endpoint or to every one that received it."""

    event_id: WebhookEventId
    webhook_id: WebhookEndpointId | None = None


# Events, Delivery: every attempt is signed anew; retries and replays keep the event's id, a replay has a delivery of its own.
SIGNATURE_HEADER: Final = "Service-Signature"
TIMESTAMP_HEADER: Final = "Service-Timestamp"
EVENT_ID_HEADER: Final = "Service-Event-Id"
EVENT_HEADER: Final = "Service-Event"
DELIVERY_ID_HEADER: Final = "Service-Delivery-Id"

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the mark that starts every secret, not one
SCHEME: Final = "sha256="


class CallDetailsSummary(Answer):
    """The summary inside `call_details`."""

    status: str
    text: str | None = None
    next_action: str | None = None
    language: str | None = None
    source: str | None = None
    generated_at: Instant | None = None
    truncated: Flag | None = None


class CallDetailsDisposition(Answer):
    """The disposition inside `call_details`."""

    status: str
    code: str | None = None
    notes: str | None = None
    follow_up_at: Instant | None = None
    logged_at: Instant | None = None


class CallDetails(Answer):
    """What the envelope says of the call beside the event's own data."""

    schema_version: Integer
    summary: CallDetailsSummary | None = None
    disposition: CallDetailsDisposition | None = None


# Events, Envelope: it never contains an internal account id.
class Envelope(Answer):
    """One event as it is delivered; it never names an internal account."""

    id: str
    type: EventType | str
    created_at: Instant
    api_version: str
    schema_version: Integer
    data: dict[str, Any]
    call_details: CallDetails | None = None


_BOOKED: Final = (
    "appointment_id", "status", "service", "starts_at", "timezone", "duration_minutes", "customer", "source",
)  # fmt: skip
#: Fields of `data` by event type, in the contract's order.
EVENT_DATA: Final[dict[str, tuple[str, ...]]] = {
    "call.completed": (
        "call_id", "direction", "status", "from", "to", "campaign_id", "started_at", "answered_at",
        "ended_at", "duration_seconds", "hangup_cause",
    ),
    "ai_call.completed": (
        "call_id", "direction", "from", "to", "ai_agent", "started_at", "answered_at", "ended_at",
        "duration_seconds", "outcome", "disposition_code", "sentiment", "requires_human_review",
        "summary",
    ),
    "disposition.logged": (
        "call_id", "campaign_id", "lead_id", "disposition_code", "notes", "phone", "logged_at",
    ),
    "appointment.booked": _BOOKED,
    "appointment.moved": _BOOKED,
    "appointment.cancelled": ("appointment_id", "status", "service"),
    "webhook.test": (),
}  # fmt: skip


def sign(body: bytes, *, timestamp_s: int, secrets: Iterable[str]) -> str:
    """The `Service-Signature` of a delivery.

    One signature for each secret, newest first.
    """
    return ",".join(SCHEME + digest(body, timestamp_s, secret) for secret in secrets)


def digest(body: bytes, timestamp_s: int, secret: str) -> str:
    """HMAC-SHA256 over the timestamp, a dot and the raw body, keyed with the whole text of a secret."""
    signed = f"{timestamp_s}.".encode() + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
