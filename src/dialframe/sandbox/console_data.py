"""The console's calls about one client's data set, past every check of the service; knows no HTTP."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections.abc import Sequence

from pydantic import BaseModel

from dialframe.sandbox import console_shapes as shapes
from dialframe.sandbox import events, identifiers, instants, loading, outbox
from dialframe.sandbox.access import Client
from dialframe.sandbox.console_people import Path, client_of
from dialframe.sandbox.exchange import Json
from dialframe.sandbox.problems import Refusal, invalid
from dialframe.sandbox.resources import APPOINTMENT, CALLBACK, CAMPAIGN
from dialframe.sandbox.world import World


def create_campaign(world: World, body: shapes.NewCampaign, path: Path) -> Json:
    """A campaign in any state."""
    client, now_us = client_of(world, path), world.clock.now_us()
    started = body.status in ("running", "paused", "completed")
    values = {
        "id": identifiers.new("campaign"),
        **body.model_dump(),
        "created_at": now_us,
        "updated_at": now_us,
        "started_at": now_us if started else None,
        "completed_at": now_us if body.status == "completed" else None,
    }
    with world.database.write() as db:
        loading.insert(db, "campaigns", client.number, values)
        return CAMPAIGN.find(db, client.number, str(values["id"]))


def add_leads(world: World, body: shapes.Leads, path: Path) -> Json:
    """Leads with any of their fields, past every check of an import."""
    client, now_us = client_of(world, path), world.clock.now_us()
    rows = [_lead_values(lead, now_us) for lead in body.root]
    return {"ids": _insert_all(world, "leads", client, rows)}


def add_calls(world: World, body: shapes.Calls, path: Path) -> Json:
    """Calls with any of their fields; no event tells of them."""
    client, now_us = client_of(world, path), world.clock.now_us()
    rows = [_values("call", call, now_us) for call in body.root]
    return {"ids": _insert_all(world, "calls", client, rows)}


def add_agent(world: World, body: shapes.NewAgent, path: Path) -> Json:
    """An agent, or a known one in another state."""
    return _put(world, "agents", body, path)


def add_caller_id(world: World, body: shapes.NewCallerId, path: Path) -> Json:
    """A verified number."""
    return _put(world, "caller_ids", body, path)


def add_lead_source(world: World, body: shapes.NewLeadSource, path: Path) -> Json:
    """A source that leads may name."""
    return _put(world, "lead_sources", body, path)


def add_field_rule(world: World, body: shapes.NewFieldRule, path: Path) -> Json:
    """A rule that leads have to keep."""
    return _put(world, "field_rules", body, path)


def add_dnc(world: World, body: shapes.Phones, path: Path) -> Json:
    """Numbers for the Do-Not-Call list."""
    client, now_us = client_of(world, path), world.clock.now_us()
    rows = [(client.number, phone, now_us) for phone in body.phones]
    with world.database.write() as db:
        db.executemany("INSERT OR IGNORE INTO dnc VALUES (?, ?, ?, 'console', NULL)", rows)
    return {"phones": list(body.phones)}


def remove_dnc(world: World, body: shapes.Nothing, path: Path) -> None:
    """Take a number off the Do-Not-Call list."""
    del body
    client = client_of(world, path)
    with world.database.write() as db:
        found = db.execute(
            "DELETE FROM dnc WHERE client = ? AND phone = ?", (client.number, path["phone"])
        )
        if not found.rowcount:
            raise Refusal("not_found", "The number is not on the list.")


def set_callback(world: World, body: shapes.CallbackStatus, path: Path) -> Json:
    """Move a callback to any state."""
    client = client_of(world, path)
    with world.database.write() as db:
        CALLBACK.find(db, client.number, path["callback_id"])
        if body.status != "pending":
            outbox.withdraw(db, client.number, path["callback_id"], world.clock.now_us())
        return CALLBACK.change(db, client.number, path["callback_id"], body.model_dump())


def set_appointment(world: World, body: shapes.AppointmentStatus, path: Path) -> Json:
    """Move an appointment to any state; no event tells of it."""
    client, identifier = client_of(world, path), path["appointment_id"]
    changes = {**body.model_dump(), "updated_at": world.clock.now_us()}
    with world.database.write() as db:
        APPOINTMENT.find(db, client.number, identifier)
        return APPOINTMENT.change(db, client.number, identifier, changes)


def emit_event(world: World, body: shapes.NewEvent, path: Path) -> Json:
    """Let something have happened."""
    client, now_us = client_of(world, path), world.clock.now_us()
    with world.database.write() as db:
        event_id = events.emit(db, client.number, body.type, body.data, now_us)
    world.stir()
    return {"event_id": event_id}


def read_outbox(world: World, body: shapes.Nothing, path: Path) -> Json:
    """What would have been sent by now."""
    del body
    client = client_of(world, path)
    with world.database.read() as db:
        return {"data": outbox.entries(db, client.number, world.clock.now_us())}


def _put(world: World, table: str, body: BaseModel, path: Path) -> Json:
    client, values = client_of(world, path), body.model_dump()
    columns = ("client", *values)
    marks = ", ".join("?" * len(columns))
    with world.database.write() as db:
        db.execute(
            f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({marks})",
            (client.number, *values.values()),
        )
    return values


def _values(kind: str, row: BaseModel, now_us: int) -> Json:
    values = {
        name: instants.from_datetime(value) if isinstance(value, dt.datetime) else value
        for name, value in row.model_dump().items()
    }
    values["id"] = values["id"] or identifiers.new(kind)
    values["created_at"] = now_us if values["created_at"] is None else values["created_at"]
    return values


def _lead_values(lead: shapes.AnyLead, now_us: int) -> Json:
    values = _values("lead", lead, now_us)
    if values["updated_at"] is None:
        values["updated_at"] = values["created_at"]
    if lead.custom_fields is not None:
        values["custom_fields"] = json.dumps(lead.custom_fields)
    return values


def _insert_all(world: World, table: str, client: Client, rows: Sequence[Json]) -> list[str]:
    if not rows:
        return []
    columns = ("client", *rows[0])
    marks = ", ".join("?" * len(columns))
    try:
        with world.database.write() as db:
            db.executemany(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",
                [(client.number, *row.values()) for row in rows],
            )
    except sqlite3.IntegrityError:
        raise _twice() from None
    return [row["id"] for row in rows]


def _twice() -> Refusal:
    refusal = invalid("/id", "duplicate_id", "An id is there already, or given twice.")
    return Refusal(refusal.code, refusal.detail, status=422, errors=refusal.errors)
