"""Webhook events as they are kept and delivered, and the URLs that they may go to (contract, Events)."""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

from dialframe.contract import limits
from dialframe.sandbox import call_content
from dialframe.sandbox.call_content import Conversation
from dialframe.sandbox.clock import DAY_US
from dialframe.sandbox.world.api_objects import (
    CALL,
    DELIVERY,
    EVENT,
    Json,
    Refusal,
    Transaction,
    encode,
)

HISTORY_US: Final = limits.WEBHOOK_HISTORY_DAYS * DAY_US


def emit(tx: Transaction, kind: str, data: Json) -> str:
    """Keep an event and a delivery of it for every endpoint that wants its type."""
    event_id = keep(tx, kind, data)
    # Resources, Webhook endpoint: an endpoint names the types that it subscribes to.
    subscribed = tx.rows(
        "SELECT id FROM webhooks WHERE client = ? AND enabled = 1"
        " AND EXISTS (SELECT 1 FROM json_each(webhooks.events) WHERE value = ?)"
        " ORDER BY created_at, id",
        kind,
    )
    # Events, Delivery: one delivery each, with an id of its own.
    for (webhook_id,) in subscribed:
        schedule(tx, event_id, webhook_id)
    return event_id


def keep(tx: Transaction, kind: str, data: Json) -> str:
    """Keep an event without delivering it to anybody."""
    return tx.add("events", "webhook_event", {"type": kind, "data": encode(data).decode()})


def schedule(tx: Transaction, event_id: str, webhook_id: str, replay_of: str | None = None) -> str:
    """A new delivery of an event, due now."""
    values = {
        "webhook_id": webhook_id,
        "event_id": event_id,
        "status": "pending",
        "attempts": 0,
        "replay_of": replay_of,
        "next_attempt_at": tx.now_us,
    }
    return tx.add("deliveries", "webhook_delivery", values)


def find(tx: Transaction, event_id: str) -> Json:
    """An event of the last 30 days with its data and deliveries."""
    row = tx.row("SELECT created_at, data FROM events WHERE client = ? AND id = ?", event_id)
    # Events, Delivery 7: history is kept 30 days.
    if row is None or row[0] <= tx.now_us - HISTORY_US:
        raise Refusal("not_found")
    deliveries = tx.rows(
        f"SELECT {', '.join(DELIVERY.columns)} FROM deliveries"
        " WHERE client = ? AND event_id = ? ORDER BY number",
        event_id,
    )
    return {
        **tx.find(EVENT, event_id),
        "deliveries": [DELIVERY.render(delivery) for delivery in deliveries],
        "data": json.loads(row[1]),
    }


def envelope(tx: Transaction, event_id: str) -> bytes:
    """The raw body of every delivery of an event: the same bytes each time."""
    (data,) = tx.row("SELECT data FROM events WHERE client = ? AND id = ?", event_id)
    facts: Json = json.loads(data)
    # Events, Envelope: never an internal account id; the same bytes for retries and replays.
    details = {"data": facts, "call_details": _call_details(tx, facts)}
    return encode({**tx.find(EVENT, event_id), **details})


def conversation_of(tx: Transaction, call: Json) -> Conversation:
    """What is known of the conversation of a call."""
    instants = tx.row(
        "SELECT answered_at, ended_at FROM calls WHERE client = ? AND id = ?", call["id"]
    )
    return call_content.conversation(call, *instants)


def _call_details(tx: Transaction, data: Json) -> Json:
    # Present in every shown example, also where no call is known.
    call: Json | None = None
    if isinstance(call_id := data.get("call_id"), str):
        with suppress(Refusal):
            call = tx.find(CALL, call_id)
    spoken = None if call is None else conversation_of(tx, call)
    code = data.get("disposition_code") or (call or {}).get("disposition")
    return {
        "schema_version": call_content.SCHEMA_VERSION,
        "summary": call_content.event_summary(spoken),
        "disposition": {
            "status": "ready" if code else "not_logged",
            "code": code,
            "notes": data.get("notes"),
            "follow_up_at": None,
            "logged_at": data.get("logged_at") or ((call or {}).get("ended_at") if code else None),
        },
    }


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
        raise _refusal("The URL has to be https and lead to a public address.")
    return "public"


def _split(url: str) -> tuple[SplitResult, str]:
    # urlsplit drops tabs and line ends silently and takes spaces; a URL has neither.
    if re.search(r"[\x00-\x20\x7f\\]", url):
        raise _refusal("The URL holds characters that no URL has.")
    try:
        parts = urlsplit(url)
        # RFC 3490: names beyond ASCII as their A-labels, which the resolver looks up.
        host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
        port = parts.port
    except ValueError:
        raise _refusal("This is not a URL.") from None
    if not host or port == 0 or parts.username is not None or parts.password is not None:
        raise _refusal("The URL needs a host, and neither a user nor a password.")
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
            raise _refusal("The URL's host is no address.") from None
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


def _refusal(detail: str) -> Refusal:
    return Refusal("webhook_url_refused", detail, field=("/url", "url_refused"))
