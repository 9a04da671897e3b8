"""Webhook endpoints (contract, Endpoints: Webhooks): made, changed, tested, deleted."""

from __future__ import annotations

import json
from typing import Any, Final

from dialframe.contract import limits, operations
from dialframe.contract.models.webhooks import (
    WebhookCreate,
    WebhookQuery,
    WebhookRef,
    WebhookUpdate,
)
from dialframe.sandbox import events, identifiers, instants, lists, webhook_urls
from dialframe.sandbox.exchange import Ask, Json, Reply, answer, encode, on
from dialframe.sandbox.instants import SECOND_US
from dialframe.sandbox.lists import Source
from dialframe.sandbox.loading import insert
from dialframe.sandbox.problems import FieldError, Refusal, invalid

OVERLAP_US: Final = limits.SECRET_OVERLAP_HOURS * 3600 * SECOND_US

_COLUMNS: Final = (
    "id", "url", "description", "events", "enabled", "secret", "created_at", "updated_at",
)  # fmt: skip
_NEVER_NULL: Final = ("url", "events", "enabled")


@on(operations.WEBHOOKS_LIST)
def list_webhooks(ask: Ask[WebhookQuery]) -> Reply:
    """All endpoints, newest first; the shape of the list is assumed."""
    return lists.page(ask, Source("webhooks", _COLUMNS, {}), _shown)


@on(operations.WEBHOOKS_GET)
def get_webhook(ask: Ask[WebhookRef]) -> Reply:
    """One endpoint."""
    return answer(_find(ask, ask.request.webhook_id))


@on(operations.WEBHOOKS_CREATE)
def create(ask: Ask[WebhookCreate]) -> Reply:
    """A new endpoint with its secret, which is shown this once."""
    wanted = ask.request
    _check_events(wanted.events)
    _check_url(ask, wanted.url)
    (count,) = ask.db.execute(
        "SELECT count(*) FROM webhooks WHERE client = ?", (ask.client,)
    ).fetchone()
    if count >= limits.WEBHOOK_ENDPOINTS:
        raise Refusal("webhook_limit_reached", f"There are {count} endpoints already.")
    webhook_id, secret = identifiers.new("webhook_endpoint"), identifiers.new_signing_secret()
    values = {
        "id": webhook_id,
        "url": wanted.url,
        "description": wanted.description or "",
        "events": json.dumps(wanted.events),
        "enabled": 1,
        "secret": secret,
        "created_at": ask.now_us,
        "updated_at": ask.now_us,
    }
    insert(ask.db, "webhooks", ask.client, values)
    return _with_secret(_find(ask, webhook_id), secret, status=201)


@on(operations.WEBHOOKS_UPDATE)
def update(ask: Ask[WebhookUpdate]) -> Reply:
    """Change an endpoint; what is not given stays."""
    wanted, given = ask.request, ask.request.model_fields_set - {"webhook_id"}
    nulls = [name for name in _NEVER_NULL if name in given and getattr(wanted, name) is None]
    if nulls:
        errors = tuple(FieldError(f"/{name}", "wrong_type") for name in nulls)
        raise Refusal("validation_failed", "These fields cannot be null.", errors=errors)
    _check_events(wanted.events or [])
    _find(ask, wanted.webhook_id)
    if wanted.url is not None:
        _check_url(ask, wanted.url)
    columns: dict[str, Any] = {
        "url": wanted.url,
        "description": wanted.description or "",
        "events": json.dumps(wanted.events),
        "enabled": int(bool(wanted.enabled)),
    }
    changes = {name: value for name, value in columns.items() if name in given}
    if changes:
        _change(ask, wanted.webhook_id, {**changes, "updated_at": ask.now_us})
    return answer(_find(ask, wanted.webhook_id))


@on(operations.WEBHOOKS_DELETE)
def delete(ask: Ask[WebhookRef]) -> Reply:
    """Delete an endpoint; what it was still to receive is cancelled. Its answer is assumed."""
    mine = (ask.client, ask.request.webhook_id)
    _find(ask, ask.request.webhook_id)
    ask.db.execute("DELETE FROM webhooks WHERE client = ? AND id = ?", mine)
    ask.db.execute(
        "UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL,"
        " failure_reason = 'endpoint_deleted'"
        " WHERE client = ? AND webhook_id = ? AND status IN ('pending', 'retry_scheduled')",
        mine,
    )
    return Reply(204)


@on(operations.WEBHOOKS_TEST)
def test(ask: Ask[WebhookRef]) -> Reply:
    """Send a test event to one endpoint, enabled or not. Its answer is assumed."""
    webhook_id = ask.request.webhook_id
    _find(ask, webhook_id)
    data = {"webhook_id": webhook_id, "message": "This is a test event."}
    event_id = events.keep(ask.db, ask.client, "webhook.test", data, ask.now_us)
    delivery_id = events.schedule(ask.db, ask.client, event_id, webhook_id, ask.now_us)
    sent = [{"event_id": event_id, "delivery_id": delivery_id}]
    return answer({"event_id": event_id, "deliveries": sent}, status=202)


@on(operations.WEBHOOKS_ROTATE_SECRET)
def rotate_secret(ask: Ask[WebhookRef]) -> Reply:
    """A new secret; for 24 hours the previous one signs along."""
    webhook_id = ask.request.webhook_id
    _find(ask, webhook_id)
    secret, until_us = identifiers.new_signing_secret(), ask.now_us + OVERLAP_US
    ask.db.execute(
        "UPDATE webhooks SET previous_secret = secret, previous_until = ?, secret = ?,"
        " updated_at = ? WHERE client = ? AND id = ?",
        (until_us, secret, ask.now_us, ask.client, webhook_id),
    )
    body = {
        "webhook_id": webhook_id,
        "secret_hint": secret[-4:],
        "previous_secret_expires_at": instants.text(until_us),
    }
    return _with_secret(body, secret)


def _with_secret(body: Json, secret: str, status: int = 200) -> Reply:
    reply = answer({**body, "secret": secret}, status=status)
    return Reply(
        reply.status, reply.body, reply.headers, stored_body=encode({**body, "secret": None})
    )


def _find(ask: Ask[Any], webhook_id: str) -> Json:
    row = ask.db.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM webhooks WHERE client = ? AND id = ?",
        (ask.client, webhook_id),
    ).fetchone()
    if row is None:
        raise Refusal("not_found", "The id names no endpoint of the account.")
    return _shown(row)


def _change(ask: Ask[Any], webhook_id: str, values: Json) -> None:
    assignments = ", ".join(f"{name} = ?" for name in values)
    ask.db.execute(
        f"UPDATE webhooks SET {assignments} WHERE client = ? AND id = ?",
        (*values.values(), ask.client, webhook_id),
    )


def _shown(row: tuple[Any, ...]) -> Json:
    webhook_id, url, description, subscribed, enabled, secret, created_us, updated_us = row
    return {
        "id": webhook_id,
        "url_preview": webhook_urls.preview(url),
        "host": webhook_urls.host_of(url),
        "description": description,
        "events": json.loads(subscribed),
        "enabled": bool(enabled),
        "secret_hint": secret[-4:],
        "created_at": instants.text(created_us),
        "updated_at": instants.text(updated_us),
    }


def _check_events(wanted: list[Any]) -> None:
    if len(set(wanted)) < len(wanted):
        raise invalid("/events", "duplicate_item")


def _check_url(ask: Ask[Any], url: str) -> None:
    webhook_urls.reach(url, allow_loopback=ask.caller.settings.allow_loopback_webhooks)


HANDLERS = (list_webhooks, get_webhook, create, update, delete, test, rotate_secret)
