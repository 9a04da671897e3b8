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
        at_us: When; a callback is kept here from its promise on, and listed once it is due.
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


def withdraw(db: sqlite3.Connection, client: int, about: str, now_us: int) -> None:
    """What belongs to an id and lies ahead would not be sent any more."""
    db.execute(
        "DELETE FROM outbox WHERE client = ? AND about = ? AND at > ?", (client, about, now_us)
    )


def entries(db: sqlite3.Connection, client: int, now_us: int) -> list[Json]:
    """Everything that would have been sent by now, in the order of its time."""
    rows = db.execute(
        "SELECT kind, recipient, at, about, detail FROM outbox WHERE client = ? AND at <= ?"
        " ORDER BY at, number",
        (client, now_us),
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
