"""Shapes of webhook endpoints, events and deliveries (contract, Resources: Webhook endpoint to delivery)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dialframe.contract import limits
from dialframe.contract.ids import WebhookEndpointId, WebhookEventId
from dialframe.contract.models.base_models import (
    Answer,
    Flag,
    Instant,
    Integer,
    ListQuery,
    Request,
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

Url = Annotated[
    str, Field(min_length=limits.WEBHOOK_URL_CHARS[0], max_length=limits.WEBHOOK_URL_CHARS[1])
]
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
    url_preview: str
    host: str
    description: str
    events: list[EventType | str]
    enabled: Flag
    secret_hint: str
    created_at: Instant
    updated_at: Instant


class WebhookCreated(WebhookEndpoint):
    """A new endpoint with its signing secret, null on a replayed answer."""

    secret: str | None = Field(default=None, repr=False)


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
    status: DeliveryStatus | str
    attempts: Integer
    replay_of: str | None
    last_status_code: Integer | None
    last_attempt_at: Instant | None
    next_attempt_at: Instant | None
    delivered_at: Instant | None
    failure_reason: str | None
    created_at: Instant


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


class EventReplay(Request):
    """Send an event again, to one endpoint or to every one that received it."""

    event_id: WebhookEventId
    webhook_id: WebhookEndpointId | None = None
