"""Webhook events as they are kept and delivered, and the URLs that they may go to (contract, Events)."""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal
from urllib.parse import SplitResult, urlsplit

from dialframe.contract import limits
from dialframe.sandbox.world import clients_and_keys, recordings_and_transcripts
from dialframe.sandbox.world.api_objects import (
    API_VERSION,
    CALL,
    DELIVERY,
    EVENT,
    SCHEMA_VERSION,
    Json,
    Refusal,
    encode,
)
from dialframe.sandbox.world.clock import DAY_US
from dialframe.sandbox.world.sandbox_database import insert

HISTORY_US: Final = limits.WEBHOOK_HISTORY_DAYS * DAY_US


def emit(db: sqlite3.Connection, client: int, kind: str, data: Json, now_us: int) -> str:
    """Keep an event and a delivery of it for every endpoint that wants its type."""
    event_id = keep(db, client, kind, data, now_us)
    # Resources, Webhook endpoint: an endpoint names the types that it subscribes to.
    subscribed = db.execute(
        "SELECT id FROM webhooks WHERE client = ? AND enabled = 1"
        " AND EXISTS (SELECT 1 FROM json_each(webhooks.events) WHERE value = ?)",
        (client, kind),
    ).fetchall()
    # Events, Delivery: one delivery each, with an id of its own.
    for (webhook_id,) in subscribed:
        schedule(db, client, event_id, webhook_id, now_us)
    return event_id


def keep(db: sqlite3.Connection, client: int, kind: str, data: Json, now_us: int) -> str:
    """Keep an event without delivering it to anybody."""
    event_id = clients_and_keys.new_id(db, client, "webhook_event")
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
    delivery_id = clients_and_keys.new_id(db, client, "webhook_delivery")
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
    """An event of the last 30 days with its data and deliveries."""
    row = db.execute(
        "SELECT created_at, data FROM events WHERE client = ? AND id = ?", (client, event_id)
    ).fetchone()
    # Events, Delivery 7: history is kept 30 days.
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
    # Events, Envelope: never an internal account id; the same bytes for retries and replays.
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
    # Events, Event data: call.completed.
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
    # Events, Event data: ai_call.completed.
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
        "summary": recordings_and_transcripts.WHAT_FOR if spoken else None,
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
    # Present in every shown example, also where no call is known.
    call = _call_of(db, client, data)
    spoken = None if call is None else recordings_and_transcripts.conversation_of(db, client, call)
    code = data.get("disposition_code") or (call or {}).get("disposition")
    return {
        "schema_version": recordings_and_transcripts.SCHEMA_VERSION,
        "summary": recordings_and_transcripts.event_summary(spoken),
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


Reach = Literal["public", "loopback"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str], Sequence[str]]

#: A name server that takes longer counts as one that does not answer.
_RESOLVE_S: Final = 2.0

#: Endings of names that never belong to a public host (RFC 6761, 6762, 8375, 9476 and cloud use).
_PRIVATE_ENDINGS: Final = (
    "localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa",
    "alt", "onion", "localdomain", "invalid",
)  # fmt: skip
_NAME: Final = re.compile(
    r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\.?", re.ASCII
)
#: Prefixes behind which an IPv4 address stands: NAT64 (RFC 6052, 8215), IPv4-compatible (RFC 4291)
#: and IPv4-translated addresses (RFC 2765).
_TRANSLATED: Final = tuple(
    ipaddress.IPv6Network(prefix)
    for prefix in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96")
)
#: Addresses of protocols (RFC 6890, 2.1), some of which older Pythons take for public.
_PROTOCOL_BLOCK: Final = ipaddress.IPv4Network("192.0.0.0/24")
_NUMERIC_LAST: Final = re.compile(r"(0x[0-9a-f]*|[0-9]+)\.?", re.ASCII)


def by_name_server(host: str) -> Sequence[str]:
    """Addresses of a name as this machine's resolver gives them; none where it fails or is slow."""
    addresses: list[str] = []

    def look_up() -> None:
        try:
            answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return
        # Every address counts: a name with one private address could be answered with that one.
        addresses.extend(str(answer[4][0]) for answer in answers)

    # getaddrinfo has no timeout; a daemon thread may be left behind.
    lookup = threading.Thread(target=look_up, daemon=True)
    lookup.start()
    lookup.join(_RESOLVE_S)
    return tuple(addresses)


def url_reach(url: str, *, allow_loopback: bool, resolve: Resolver = by_name_server) -> Reach:
    """Where a URL leads: off the machine, or to a receiver on it."""
    parts, host = _split(url)
    addresses = _addresses(host, resolve)
    # A mapped address (RFC 4291, 2.5.5.2) is the IPv4 address in it.
    plain = [getattr(address, "ipv4_mapped", None) or address for address in addresses]
    local = bool(plain) and all(address.is_loopback for address in plain)
    if local and allow_loopback and parts.scheme in ("http", "https"):
        return "loopback"
    public = bool(addresses) and all(_is_public(address) for address in addresses)
    # Errors, `webhook_url_refused`: not https, not public, or a private address.
    if parts.scheme != "https" or not public:
        raise _refused("The URL has to be https and lead to a public address.")
    return "public"


def _split(url: str) -> tuple[SplitResult, str]:
    # urlsplit drops tabs and line ends silently and takes spaces; a URL has neither.
    if re.search(r"[\x00-\x20\x7f\\]", url):
        raise _refused("The URL holds characters that no URL has.")
    try:
        parts = urlsplit(url)
        # RFC 3490: names beyond ASCII as their A-labels, which the resolver looks up.
        host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
        port = parts.port
    except ValueError:
        raise _refused("This is not a URL.") from None
    if not host or port == 0 or parts.username is not None or parts.password is not None:
        raise _refused("The URL needs a host, and neither a user nor a password.")
    return parts, host.lower()


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    # `127.1`, `0x7f000001` and `2130706433` are addresses to a resolver as well.
    if _NUMERIC_LAST.fullmatch(host.rstrip(".").rpartition(".")[2]):
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host.rstrip(".")))
        except OSError:
            raise _refused("The URL's host is no address.") from None
    return None


def _addresses(host: str, resolve: Resolver) -> list[Address]:
    """What a host stands for; none for a name that is private or does not resolve."""
    literal = _address(host)
    if literal is not None:
        return [literal]
    if host == "localhost":
        return [ipaddress.IPv4Address("127.0.0.1")]
    name = host.rstrip(".")
    private = any(name == ending or name.endswith("." + ending) for ending in _PRIVATE_ENDINGS)
    if private or "." not in name or not _NAME.fullmatch(name):
        return []
    return [ipaddress.ip_address(text.partition("%")[0]) for text in resolve(host)]


def _within(address: Address) -> Iterator[Address]:
    """An address, and every IPv4 address that it carries to whoever translates it."""
    yield address
    if isinstance(address, ipaddress.IPv4Address):
        return
    teredo = address.teredo or ()
    for carried in (address.ipv4_mapped, address.sixtofour, *teredo):
        if carried is not None:
            yield carried
    raw = address.packed
    for prefix in _TRANSLATED:
        if address in prefix:
            # RFC 6052, 2.2: behind a prefix shorter than 96 bits, bits 64 to 71 are left out.
            octets = raw[:8] + raw[9:] if prefix.prefixlen < 96 else raw
            yield ipaddress.IPv4Address(octets[prefix.prefixlen // 8 :][:4])


def _is_public(address: Address) -> bool:
    return all(
        part.is_global and not part.is_multicast and part not in _PROTOCOL_BLOCK
        for part in _within(address)
    )


def _refused(detail: str) -> Refusal:
    return Refusal("webhook_url_refused", detail, field=("/url", "url_refused"))
