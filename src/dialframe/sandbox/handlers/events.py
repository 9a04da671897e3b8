"""Webhook events of the last 30 days: listed, read and sent again (contract, Endpoints: Webhooks)."""

from __future__ import annotations

import math
from typing import Any

from dialframe.contract import limits, operations
from dialframe.contract.models.webhooks import EventQuery, EventRef, EventReplay
from dialframe.sandbox import events, instants, lists, webhook_urls
from dialframe.sandbox.exchange import Ask, Reply, answer, on
from dialframe.sandbox.instants import SECOND_US
from dialframe.sandbox.lists import Source
from dialframe.sandbox.problems import Refusal
from dialframe.sandbox.resources import EVENT


@on(operations.EVENTS_LIST)
def list_events(ask: Ask[EventQuery]) -> Reply:
    """Events without their data, newest first; an entry's shape is assumed."""
    since = {"created_at > ?": ask.now_us - events.HISTORY_US}
    return lists.page(ask, Source(EVENT.table, EVENT.columns, since), EVENT.render)


@on(operations.EVENTS_GET)
def get_event(ask: Ask[EventRef]) -> Reply:
    """One event with its deliveries and its data."""
    return answer(events.find(ask.db, ask.client, ask.request.event_id, ask.now_us))


@on(operations.EVENTS_REPLAY)
def replay(ask: Ask[EventReplay]) -> Reply:
    """Send an event again, to one endpoint or to all that received it and are still there."""
    event_id, one = ask.request.event_id, ask.request.webhook_id
    event = events.find(ask.db, ask.client, event_id, ask.now_us)
    before = {item["webhook_id"]: item["id"] for item in reversed(event["deliveries"])}
    wanted = [one] if one is not None else list(reversed(before))
    urls = {webhook_id: url for webhook_id in wanted if (url := _url(ask, webhook_id))}
    if one is not None and one not in urls:
        raise Refusal("not_found", "The id names no endpoint of the account.")
    _count(ask, event_id)
    for url in urls.values():
        webhook_urls.reach(url, allow_loopback=ask.caller.settings.allow_loopback_webhooks)
    sent = [
        events.schedule(
            ask.db, ask.client, event_id, webhook_id, ask.now_us, replay_of=before.get(webhook_id)
        )
        for webhook_id in urls
    ]
    deliveries = [{"event_id": event_id, "delivery_id": delivery} for delivery in sent]
    return answer({"event_id": event_id, "deliveries": deliveries}, status=202)


def _url(ask: Ask[Any], webhook_id: str) -> str | None:
    row = ask.db.execute(
        "SELECT url FROM webhooks WHERE client = ? AND id = ?", (ask.client, webhook_id)
    ).fetchone()
    return None if row is None else str(row[0])


def _count(ask: Ask[EventReplay], event_id: str) -> None:
    midnight_us = instants.next_midnight(ask.now_us)
    (today,) = ask.db.execute(
        "SELECT count(*) FROM replays WHERE client = ? AND event_id = ? AND at >= ?",
        (ask.client, event_id, midnight_us - instants.DAY_US),
    ).fetchone()
    if today >= limits.WEBHOOK_REPLAYS_PER_DAY:
        raise Refusal(
            "replay_limit_reached",
            f"The event was replayed {today} times today (UTC).",
            retry_after_s=math.ceil((midnight_us - ask.now_us) / SECOND_US),
        )
    ask.db.execute("INSERT INTO replays VALUES (?, ?, ?)", (ask.client, event_id, ask.now_us))


HANDLERS = (list_events, get_event, replay)
