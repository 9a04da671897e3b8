"""A delivery that was found genuine, as a value: what to store of it and what to show."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dialframe.contract.webhook_envelope import Envelope
from dialframe.privacy import PHONE_FIELDS, mask


@dataclass(frozen=True, slots=True, repr=False)
class Delivery:
    """One genuine delivery of one event; the repr has its numbers masked.

    Attributes:
        event_id: The event's id; deliveries of the same event have the same one.
        delivery_id: This delivery's id, as its header says it: no signature covers it.
        type: The event's type.
        envelope: What was delivered.
        received_at: The receiver's clock when it was checked.
        raw: The body's bytes, exactly as they came.
    """

    event_id: str
    delivery_id: str
    type: str
    envelope: Envelope
    received_at: datetime
    raw: bytes

    def __repr__(self) -> str:
        return (
            f"Delivery(type={self.type!r}, event_id={self.event_id!r}, "
            f"delivery_id={self.delivery_id!r}, created_at={self.envelope.created_at.isoformat()}, "
            f"received_at={self.received_at.isoformat()}, data={mask(self.envelope.data, reach='json')!r})"
        )


def record(delivery: Delivery) -> dict[str, Any]:
    """A delivery as a row of the events table: every field of the body as it came, and when it came."""
    body: dict[str, Any] = json.loads(delivery.raw)
    return body | {
        "created_at": delivery.envelope.created_at,
        "received_at": delivery.received_at,
        "delivery_id": delivery.delivery_id,
    }


def as_json(delivery: Delivery, *, show_numbers: bool = False) -> str:
    """A delivery as one line of JSON in ASCII, its numbers masked unless they are asked for."""
    row = record(delivery)
    for name in ("created_at", "received_at"):
        row[name] = row[name].isoformat()
    return json.dumps(row if show_numbers else mask(row, reach="json"))


def as_line(delivery: Delivery, *, show_numbers: bool = False) -> str:
    """A delivery as one line for people: when, type, event id, and the numbers that it is about."""
    row = record(delivery) if show_numbers else mask(record(delivery), reach="json")
    parts = [
        f"{delivery.received_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z",
        f"{delivery.type:<21}",
        delivery.event_id,
        *_numbers(row.get("data")),
    ]
    # What came over the wire must not steer the terminal.
    return "".join(letter if letter.isprintable() else "?" for letter in "  ".join(parts))


def _numbers(value: Any) -> Iterator[str]:
    """What stands in the fields that are numbers, in order, wherever they are in the value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if (
                name in PHONE_FIELDS
                and isinstance(inner, str | int)
                and inner not in (True, False)
            ):
                yield str(inner)
            else:
                yield from _numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner)
