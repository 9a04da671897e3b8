"""What the sandbox would have sent: an entry for each call, text and callback, and nothing more."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from typing import Literal

from dialframe.sandbox import instants
from dialframe.sandbox.exchange import Json
from dialframe.sandbox.loading import insert


@dataclass(frozen=True, slots=True)
class Sent:
    """One thing that would have been sent.

    Attributes:
        at_us: When; a callback's time lies ahead.
        about: Id of the call, message, callback or lead that it belongs to.
        detail: What else the console shows of it.
    """

    kind: Literal["call", "sms", "callback"]
    to: str = field(repr=False)
    at_us: int
    about: str
    detail: Json = field(default_factory=dict, repr=False)


def add(db: sqlite3.Connection, client: int, sent: Sent) -> None:
    """Note it."""
    values = {
        "kind": sent.kind,
        "recipient": sent.to,
        "at": sent.at_us,
        "about": sent.about,
        "detail": json.dumps(sent.detail),
    }
    insert(db, "outbox", client, values)


def move(db: sqlite3.Connection, client: int, about: str, at_us: int) -> None:
    """What belongs to an id would be sent at another time."""
    db.execute("UPDATE outbox SET at = ? WHERE client = ? AND about = ?", (at_us, client, about))


def withdraw(db: sqlite3.Connection, client: int, about: str) -> None:
    """What belongs to an id would not be sent any more."""
    db.execute("DELETE FROM outbox WHERE client = ? AND about = ?", (client, about))


def entries(db: sqlite3.Connection, client: int) -> list[Json]:
    """Everything that would have been sent, in the order in which it was asked for."""
    rows = db.execute(
        "SELECT kind, recipient, at, about, detail FROM outbox WHERE client = ? ORDER BY number",
        (client,),
    )
    return [
        {
            "kind": kind,
            "to": to,
            "at": instants.text(at),
            "id": about,
            **json.loads(detail),
        }
        for kind, to, at, about, detail in rows
    ]
