"""Webhook endpoints and the events of the last 30 days (contract, Endpoints: Webhooks)."""

from __future__ import annotations

import json
import math
from typing import Any, Final
from urllib.parse import urlsplit

from dialframe.contract import limits, operations
from dialframe.contract.models.webhook_models import (
    EventQuery,
    EventRef,
    EventReplay,
    WebhookCreate,
    WebhookEndpoint,
    WebhookRef,
    WebhookUpdate,
)
from dialframe.sandbox import clock
from dialframe.sandbox.clock import SECOND_US
from dialframe.sandbox.handlers import requests_and_replies
from dialframe.sandbox.handlers.requests_and_replies import Reply, answer, on
from dialframe.sandbox.world import clients_and_keys, events
from dialframe.sandbox.world.api_objects import (
    EVENT,
    FieldError,
    Json,
    Refusal,
    Transaction,
    encode,
    invalid,
    resource,
)

OVERLAP_US: Final = limits.SECRET_OVERLAP_HOURS * 3600 * SECOND_US

# Resources, Webhook endpoint: path and query of the URL are shortened, and it is never shown whole
# again; of the current secret the last four characters are shown.
ENDPOINT: Final = resource(
    "webhooks",
    WebhookEndpoint,
    derived={
        "url_preview": ("url", lambda url: "{0.scheme}://{0.netloc}/...".format(urlsplit(url))),
        "host": ("url", lambda url: urlsplit(url).hostname or ""),
        "events": ("events", json.loads),
        "enabled": ("enabled", bool),
        "secret_hint": ("secret", lambda secret: secret[-4:]),
    },
)
_NEVER_NULL: Final = ("url", "events", "enabled")

# The shape of the list is not shown: it is assumed to be that of the other lists.
requests_and_replies.lists(operations.WEBHOOKS_LIST, ENDPOINT)
requests_and_replies.finds(operations.WEBHOOKS_GET, ENDPOINT)


@on(operations.WEBHOOKS_CREATE)
def create(tx: Transaction, request: WebhookCreate) -> Reply:
    """A new endpoint with its secret, which is shown this once."""
    # Endpoints, Webhooks: the URL must resolve to a public address.
    _check_events(request.events)
    _check_url(tx, request.url)
    (count,) = tx.row("SELECT count(*) FROM webhooks WHERE client = ?")
    # Contract, Limits: webhook endpoints per account.
    if count >= limits.WEBHOOK_ENDPOINTS:
        raise Refusal("webhook_limit_reached")
    secret = clients_and_keys.new_signing_secret()
    values = {
        "url": request.url,
        "description": request.description or "",
        "events": json.dumps(request.events),
        "enabled": 1,
        "secret": secret,
        "updated_at": tx.now_us,
    }
    webhook_id = tx.add("webhooks", "webhook_endpoint", values)
    return _with_secret(tx.find(ENDPOINT, webhook_id), secret, status=201)


@on(operations.WEBHOOKS_UPDATE)
def update(tx: Transaction, request: WebhookUpdate) -> Reply:
    """Change an endpoint; what is not given stays."""
    fields = request.model_fields_set - {"webhook_id"}
    nulls = [name for name in _NEVER_NULL if name in fields and getattr(request, name) is None]
    if nulls:
        errors = tuple(FieldError(f"/{name}", "wrong_type") for name in nulls)
        raise Refusal("validation_failed", errors=errors)
    _check_events(request.events or [])
    endpoint = tx.find(ENDPOINT, request.webhook_id)
    if request.url is not None:
        _check_url(tx, request.url)
    # Endpoints, Webhooks: any of url, description, events, enabled; what is not sent stays.
    columns: dict[str, Any] = {
        "url": request.url,
        "description": request.description or "",
        "events": json.dumps(request.events),
        "enabled": int(bool(request.enabled)),
    }
    changes = {name: value for name, value in columns.items() if name in fields}
    if changes:
        changes["updated_at"] = tx.now_us
        endpoint = tx.change(ENDPOINT, request.webhook_id, **changes)
    return answer(endpoint)


@on(operations.WEBHOOKS_DELETE)
def delete(tx: Transaction, request: WebhookRef) -> Reply:
    """Delete an endpoint; what it was still to receive is cancelled. Its answer is assumed."""
    tx.find(ENDPOINT, request.webhook_id)
    # States, Webhook delivery: what leads to `cancelled` is not shown.
    tx.execute("DELETE FROM webhooks WHERE client = ? AND id = ?", request.webhook_id)
    tx.execute(
        "UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL,"
        " failure_reason = 'endpoint_deleted'"
        " WHERE client = ? AND webhook_id = ? AND status IN ('pending', 'retry_scheduled')",
        request.webhook_id,
    )
    return Reply(204)


@on(operations.WEBHOOKS_TEST)
def test(tx: Transaction, request: WebhookRef) -> Reply:
    """Send a test event to one endpoint, enabled or not. Its answer is assumed."""
    webhook_id = request.webhook_id
    tx.find(ENDPOINT, webhook_id)
    data = {"webhook_id": webhook_id, "message": "This is a test event."}
    # Events, Event types: webhook.test is not subscribable, so it goes to the one endpoint alone.
    event_id = events.keep(tx, "webhook.test", data)
    delivery_id = events.schedule(tx, event_id, webhook_id)
    sent = [{"event_id": event_id, "delivery_id": delivery_id}]
    return answer({"event_id": event_id, "deliveries": sent}, status=202)


@on(operations.WEBHOOKS_ROTATE_SECRET)
def rotate_secret(tx: Transaction, request: WebhookRef) -> Reply:
    """A new secret; for 24 hours the previous one signs along."""
    webhook_id = request.webhook_id
    tx.find(ENDPOINT, webhook_id)
    # Limits: secret rotation overlap.
    secret, until_us = clients_and_keys.new_signing_secret(), tx.now_us + OVERLAP_US
    tx.execute(
        "UPDATE webhooks SET previous_secret = secret, previous_until = ?2, secret = ?3,"
        " updated_at = ?4 WHERE client = ?1 AND id = ?5",
        until_us,
        secret,
        tx.now_us,
        webhook_id,
    )
    body = {
        "webhook_id": webhook_id,
        "secret_hint": secret[-4:],
        "previous_secret_expires_at": clock.text(until_us),
    }
    return _with_secret(body, secret)


def _with_secret(body: Json, secret: str, status: int = 200) -> Reply:
    # Idempotency 4: on a replay the secret is null.
    reply = answer({**body, "secret": secret}, status=status)
    return Reply(
        reply.status, reply.body, reply.headers, stored_body=encode({**body, "secret": None})
    )


def _check_events(events_wanted: list[Any]) -> None:
    if len(set(events_wanted)) < len(events_wanted):
        raise invalid("/events", "duplicate_item")


def _check_url(tx: Transaction, url: str) -> None:
    events.url_reach(url, allow_loopback=tx.settings.allow_loopback_webhooks)


@on(operations.EVENTS_LIST)
def list_events(tx: Transaction, request: EventQuery) -> Reply:
    """Events without their data, newest first; an entry's shape is assumed."""
    # Events, Delivery 7: history is kept 30 days.
    since = {"created_at > ?": tx.now_us - events.HISTORY_US}
    return requests_and_replies.page(tx, request, operations.EVENTS_LIST, EVENT, since)


@on(operations.EVENTS_GET)
def get_event(tx: Transaction, request: EventRef) -> Reply:
    """One event with its deliveries and its data."""
    return answer(events.find(tx, request.event_id))


@on(operations.EVENTS_REPLAY)
def replay(tx: Transaction, request: EventReplay) -> Reply:
    """Send an event again, to one endpoint or to all that received it and are still there."""
    # Resources, Webhook delivery: a replay is a new delivery of the same event.
    event_id, endpoint_id = request.event_id, request.webhook_id
    event = events.find(tx, event_id)
    # The earliest delivery to each endpoint comes last and stays: `replay_of` names it.
    before = {item["webhook_id"]: item["id"] for item in reversed(event["deliveries"])}
    receivers = [endpoint_id] if endpoint_id is not None else list(reversed(before))
    rows = tx.rows(
        "SELECT id, url FROM webhooks WHERE client = ? AND id IN (SELECT value FROM json_each(?))",
        json.dumps(receivers),
    )
    present = dict(rows)
    # An endpoint that was deleted since is left out.
    urls = {webhook_id: present[webhook_id] for webhook_id in receivers if webhook_id in present}
    if endpoint_id is not None and endpoint_id not in urls:
        raise Refusal("not_found")
    _count(tx, event_id)
    for url in urls.values():
        _check_url(tx, url)
    sent = [
        events.schedule(tx, event_id, webhook_id, replay_of=before.get(webhook_id))
        for webhook_id in urls
    ]
    deliveries = [{"event_id": event_id, "delivery_id": delivery} for delivery in sent]
    return answer({"event_id": event_id, "deliveries": deliveries}, status=202)


def _count(tx: Transaction, event_id: str) -> None:
    midnight_us = clock.next_midnight(tx.now_us)
    (today,) = tx.row(
        "SELECT count(*) FROM replays WHERE client = ? AND event_id = ? AND at >= ?",
        event_id,
        midnight_us - clock.DAY_US,
    )
    # Limits: replays per event per UTC day.
    if today >= limits.WEBHOOK_REPLAYS_PER_DAY:
        wait_s = math.ceil((midnight_us - tx.now_us) / SECOND_US)
        raise Refusal("replay_limit_reached", retry_after_s=wait_s)
    tx.insert("replays", {"event_id": event_id, "at": tx.now_us})
