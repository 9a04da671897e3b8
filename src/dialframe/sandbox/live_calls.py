"""Calls that were started here: they hold their agent, ring, are answered and end by the clock."""

from __future__ import annotations

import sqlite3
from typing import Final

from dialframe.sandbox import events
from dialframe.sandbox.exchange import Json
from dialframe.sandbox.instants import SECOND_US
from dialframe.sandbox.loading import insert
from dialframe.sandbox.resources import CALL

RINGS_US: Final = 10 * SECOND_US
TALKS_US: Final = 60 * SECOND_US
ENDS_AS: Final = "NORMAL_CLEARING"


def begin(db: sqlite3.Connection, client: int, call: Json) -> None:
    """Keep a new call and hold its agent, who is shown as ringing."""
    insert(db, "calls", client, call)
    answered_us = call["created_at"] + RINGS_US
    live = {
        "call_id": call["id"],
        "extension": call["agent_extension"],
        "answered_at": answered_us,
        "ends_at": answered_us + TALKS_US,
    }
    insert(db, "live_calls", client, live)
    _set_agent(db, client, call["agent_extension"], "ringing")


def next_end_us(db: sqlite3.Connection) -> int | None:
    """When the next of them ends."""
    found: tuple[int | None] = db.execute("SELECT min(ends_at) FROM live_calls").fetchone()
    return found[0]


def end_due(db: sqlite3.Connection, now_us: int) -> None:
    """End the calls whose time has come, free their agents and say so."""
    due = db.execute(
        "SELECT client, call_id, extension, answered_at, ends_at FROM live_calls"
        " WHERE ends_at <= ? ORDER BY ends_at",
        (now_us,),
    ).fetchall()
    for client, call_id, extension, answered_us, ends_us in due:
        changes = {
            "status": "completed",
            "answered_at": answered_us,
            "ended_at": ends_us,
            "duration_seconds": (ends_us - answered_us) // SECOND_US,
            "hangup_cause": ENDS_AS,
        }
        call = CALL.change(db, client, call_id, changes)
        db.execute("DELETE FROM live_calls WHERE client = ? AND call_id = ?", (client, call_id))
        if _state_of(db, client, extension) == "ringing":
            _set_agent(db, client, extension, "ready")
        events.emit(db, client, "call.completed", events.call_completed(call), now_us)


def _state_of(db: sqlite3.Connection, client: int, extension: str) -> str | None:
    row = db.execute(
        "SELECT state FROM agents WHERE client = ? AND extension = ?", (client, extension)
    ).fetchone()
    return None if row is None else str(row[0])


def _set_agent(db: sqlite3.Connection, client: int, extension: str, state: str) -> None:
    db.execute(
        "UPDATE agents SET state = ? WHERE client = ? AND extension = ?",
        (state, client, extension),
    )
