"""Webhook events: what happened, as it is kept and delivered (contract, Events)."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Final

from dialframe.contract import limits
from dialframe.sandbox.world import access, conversation
from dialframe.sandbox.world.clock import DAY_US
from dialframe.sandbox.world.database import insert
from dialframe.sandbox.world.refusals import Refusal
from dialframe.sandbox.world.resources import (
    API_VERSION,
    CALL,
    DELIVERY,
    EVENT,
    SCHEMA_VERSION,
    Json,
    encode,
)

HISTORY_US: Final = limits.WEBHOOK_HISTORY_DAYS * DAY_US


def emit(db: sqlite3.Connection, client: int, kind: str, data: Json, now_us: int) -> str:
    """Keep an event and a delivery of it for every endpoint that wants its type."""
    event_id = keep(db, client, kind, data, now_us)
    subscribed = db.execute(
        "SELECT id FROM webhooks WHERE client = ? AND enabled = 1"
        " AND EXISTS (SELECT 1 FROM json_each(webhooks.events) WHERE value = ?)",
        (client, kind),
    ).fetchall()
    for (webhook_id,) in subscribed:
        schedule(db, client, event_id, webhook_id, now_us)
    return event_id


def keep(db: sqlite3.Connection, client: int, kind: str, data: Json, now_us: int) -> str:
    """Keep an event without delivering it to anybody."""
    event_id = access.new_id(db, client, "webhook_event")
    values = {"id": event_id, "type": kind, "created_at": now_us, "data": encode(data).decode()}
    insert(db, "events", client, values)
    return event_id


def schedule(
    db: sqlite3.Connection,
    client: int,
    event_id: str,
    webhook_id: str,
    now_us: int,
    replay_of: str | None = None,
) -> str:
    """A new delivery of an event, due now."""
    delivery_id = access.new_id(db, client, "webhook_delivery")
    values = {
        "id": delivery_id,
        "webhook_id": webhook_id,
        "event_id": event_id,
        "status": "pending",
        "attempts": 0,
        "replay_of": replay_of,
        "next_attempt_at": now_us,
        "created_at": now_us,
    }
    insert(db, "deliveries", client, values)
    return delivery_id


def find(db: sqlite3.Connection, client: int, event_id: str, now_us: int) -> Json:
    """An event of the last 30 days with its data and deliveries.

    Raises:
        Refusal: `not_found`.
    """
    row = db.execute(
        "SELECT created_at, data FROM events WHERE client = ? AND id = ?", (client, event_id)
    ).fetchone()
    if row is None or row[0] <= now_us - HISTORY_US:
        raise Refusal("not_found", "The id names no event of the last 30 days.")
    deliveries = db.execute(
        f"SELECT {', '.join(DELIVERY.columns)} FROM deliveries"
        " WHERE client = ? AND event_id = ? ORDER BY number",
        (client, event_id),
    )
    return {
        **EVENT.find(db, client, event_id),
        "deliveries": [DELIVERY.render(delivery) for delivery in deliveries],
        "data": json.loads(row[1]),
    }


def envelope(db: sqlite3.Connection, client: int, event_id: str) -> bytes:
    """The raw body of every delivery of an event: the same bytes each time."""
    event = EVENT.find(db, client, event_id)
    (data,) = db.execute(
        "SELECT data FROM events WHERE client = ? AND id = ?", (client, event_id)
    ).fetchone()
    facts: Json = json.loads(data)
    body = {
        "id": event["id"],
        "type": event["type"],
        "created_at": event["created_at"],
        "api_version": API_VERSION,
        "schema_version": SCHEMA_VERSION,
        "data": facts,
        "call_details": _call_details(db, client, facts),
    }
    return encode(body)


def call_completed(call: Json) -> Json:
    """Data of `call.completed`."""
    return {
        "call_id": call["id"],
        "direction": call["direction"],
        "status": call["status"],
        "from": call["from_number"],
        "to": call["to_number"],
        "campaign_id": call["campaign_id"],
        "started_at": call["created_at"],
        "answered_at": call["answered_at"],
        "ended_at": call["ended_at"],
        "duration_seconds": call["duration_seconds"],
        "hangup_cause": call["hangup_cause"],
    }


#: What an AI agent calls the outcome of a call, by its disposition; the words are assumed.
_OUTCOMES: Final = {
    "A": "voicemail",
    "AA": "voicemail",
    "APPT": "appointment_booked",
    "CALLBK": "callback_requested",
    "DNC": "do_not_call",
    "HUP": "hung_up",
    "NI": "not_interested",
    "SALE": "sale",
    "WN": "wrong_number",
    "XFER": "transferred",
}
_SENTIMENTS: Final = {"APPT": "positive", "SALE": "positive", "CALLBK": "positive",
                      "NI": "negative", "DNC": "negative", "HUP": "negative"}  # fmt: skip
#: Dispositions that a person looks at again.
_REVIEWED: Final = frozenset({"DNC", "LB"})


def ai_call_completed(call: Json, code: str | None) -> Json:
    """Data of `ai_call.completed`; a voicemail has no sentiment and no summary."""
    outcome = _OUTCOMES.get(code or "", "conversation")
    spoken = outcome != "voicemail"
    return {
        "call_id": call["id"],
        "direction": call["direction"],
        "from": call["from_number"],
        "to": call["to_number"],
        "ai_agent": "assistant",
        "started_at": call["created_at"],
        "answered_at": call["answered_at"],
        "ended_at": call["ended_at"],
        "duration_seconds": call["duration_seconds"],
        "outcome": outcome,
        "disposition_code": code,
        "sentiment": _SENTIMENTS.get(code or "", "neutral") if spoken else None,
        "requires_human_review": code in _REVIEWED,
        "summary": conversation.WHAT_FOR if spoken else None,
    }


def appointment(booked: Json) -> Json:
    """Data of every appointment event; of a cancelled one the contract shows the first three."""
    return {
        "appointment_id": booked["id"],
        "status": booked["status"],
        "service": booked["service_type"],
        "starts_at": booked["scheduled_at"],
        "timezone": booked["timezone"],
        "duration_minutes": booked["duration_minutes"],
        "customer": {"name": booked["contact_name"], "phone": booked["phone"]},
        "source": booked["source"],
    }


def _call_details(db: sqlite3.Connection, client: int, data: Json) -> Json:
    call = _call_of(db, client, data)
    spoken = None if call is None else conversation.conversation_of(db, client, call)
    code = data.get("disposition_code") or (call or {}).get("disposition")
    return {
        "schema_version": conversation.SCHEMA_VERSION,
        "summary": conversation.event_summary(spoken),
        "disposition": {
            "status": "ready" if code else "not_logged",
            "code": code,
            "notes": data.get("notes"),
            "follow_up_at": None,
            "logged_at": data.get("logged_at") or ((call or {}).get("ended_at") if code else None),
        },
    }


def _call_of(db: sqlite3.Connection, client: int, data: Json) -> Json | None:
    call_id: Any = data.get("call_id")
    if not isinstance(call_id, str):
        return None
    try:
        return CALL.find(db, client, call_id)
    except Refusal:
        return None
