"""What the console does: one function per call, on the state of the sandbox; knows no HTTP.

The contract leaves these to an account's administrator or to the operator; a rehearsal needs the
clock and the faults.
"""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from dialframe.sandbox import access, events, faults, identifiers, instants, loading, outbox
from dialframe.sandbox import console_shapes as shapes
from dialframe.sandbox.access import Client
from dialframe.sandbox.exchange import Json
from dialframe.sandbox.problems import Refusal, invalid
from dialframe.sandbox.resources import APPOINTMENT, CALLBACK, CAMPAIGN
from dialframe.sandbox.settings import Settings
from dialframe.sandbox.world import World

Path = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the console.

    Attributes:
        shape: Shape of its body; `Settings` takes any part of itself.
        run: What it does; returns the answer, or None for an empty one.
    """

    method: str
    path: str
    shape: type[BaseModel]
    run: Callable[[World, Any, Path], Json | None]
    status: int = 201


def read_body(shape: type[BaseModel], text: bytes | str) -> BaseModel:
    """A checked body.

    Raises:
        Refusal: `validation_failed`, status 422, with the reason.
    """
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        raise _unprocessable(error) from None


def create_client(world: World, body: shapes.NewClient, path: Path) -> Json:
    """A client of its own data set, with its first key."""
    del path
    now_us, birth = world.clock.now_us(), world.birth
    as_of = birth.as_of or dt.date.fromisoformat(instants.day_of(now_us))
    with world.database.write() as db:
        client = access.add_client(
            db, name=body.name, scopes=body.scopes, ip_allow=body.ip_allow, now_us=now_us
        )
        key = access.add_key(db, client, sending=body.sending, now_us=now_us)
        account = loading.account_of(
            seed=birth.seed, size=body.size, as_of=as_of, client=client.number
        )
        if account is not None:
            loading.load(db, account, client.number)
    world.reload_access()
    return {"client_id": client.client_id, "api_key": key}


def create_key(world: World, body: shapes.NewKey, path: Path) -> Json:
    """A further key of a client."""
    client = _client(world, path)
    with world.database.write() as db:
        key = access.add_key(db, client, sending=body.sending, now_us=world.clock.now_us())
    world.reload_access()
    return {"api_key": key}


def update_client(world: World, body: shapes.ClientChange, path: Path) -> Json:
    """Change scopes, addresses or whether the client may call at all."""
    client = _client(world, path)
    columns = {
        "scopes": json.dumps(body.scopes),
        "ip_allow": json.dumps(body.ip_allow),
        "enabled": int(body.enabled),
    }
    with world.database.write() as db:
        for name in body.model_fields_set:
            db.execute(
                f"UPDATE clients SET {name} = ? WHERE number = ?", (columns[name], client.number)
            )
    world.reload_access()
    return _shown(world, _client(world, path))


def revoke_key(world: World, body: shapes.Nothing, path: Path) -> None:
    """Make a key worthless."""
    del body
    with world.database.write() as db:
        found = db.execute(
            "UPDATE credentials SET revoked = 1 WHERE credential_id = ?", (path["credential_id"],)
        )
        if not found.rowcount:
            raise Refusal("not_found", "No key has this credential id.")
    world.reload_access()


def read_account(world: World, body: shapes.Nothing, path: Path) -> Json:
    """All switches and settings."""
    del body, path
    return world.access.settings.model_dump(mode="json")


def update_account(world: World, body: Settings, path: Path) -> Json:
    """Change the switches and settings that are given."""
    changes = body.model_dump(mode="json", exclude_unset=True)
    with world.database.write() as db:
        whole = {**access.load(db).settings.model_dump(mode="json"), **changes}
        access.save_settings(db, Settings.model_validate_json(json.dumps(whole)))
    world.reload_access()
    return read_account(world, shapes.Nothing(), path)


def create_campaign(world: World, body: shapes.NewCampaign, path: Path) -> Json:
    """A campaign in any state."""
    client, now_us = _client(world, path), world.clock.now_us()
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
    client, now_us = _client(world, path), world.clock.now_us()
    rows = [_lead_values(lead, now_us) for lead in body.root]
    return {"ids": _insert_all(world, "leads", client, rows)}


def add_calls(world: World, body: shapes.Calls, path: Path) -> Json:
    """Calls with any of their fields; no event tells of them."""
    client, now_us = _client(world, path), world.clock.now_us()
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
    client, now_us = _client(world, path), world.clock.now_us()
    rows = [(client.number, phone, now_us) for phone in body.phones]
    with world.database.write() as db:
        db.executemany("INSERT OR IGNORE INTO dnc VALUES (?, ?, ?, 'console', NULL)", rows)
    return {"phones": list(body.phones)}


def remove_dnc(world: World, body: shapes.Nothing, path: Path) -> None:
    """Take a number off the Do-Not-Call list."""
    del body
    client = _client(world, path)
    with world.database.write() as db:
        found = db.execute(
            "DELETE FROM dnc WHERE client = ? AND phone = ?", (client.number, path["phone"])
        )
        if not found.rowcount:
            raise Refusal("not_found", "The number is not on the list.")


def set_callback(world: World, body: shapes.CallbackStatus, path: Path) -> Json:
    """Move a callback to any state."""
    client = _client(world, path)
    with world.database.write() as db:
        CALLBACK.find(db, client.number, path["callback_id"])
        if body.status != "pending":
            outbox.withdraw(db, client.number, path["callback_id"], world.clock.now_us())
        return CALLBACK.change(db, client.number, path["callback_id"], body.model_dump())


def set_appointment(world: World, body: shapes.AppointmentStatus, path: Path) -> Json:
    """Move an appointment to any state; no event tells of it."""
    client, identifier = _client(world, path), path["appointment_id"]
    changes = {**body.model_dump(), "updated_at": world.clock.now_us()}
    with world.database.write() as db:
        APPOINTMENT.find(db, client.number, identifier)
        return APPOINTMENT.change(db, client.number, identifier, changes)


def emit_event(world: World, body: shapes.NewEvent, path: Path) -> Json:
    """Let something have happened."""
    client, now_us = _client(world, path), world.clock.now_us()
    with world.database.write() as db:
        event_id = events.emit(db, client.number, body.type, body.data, now_us)
    world.stir()
    return {"event_id": event_id}


def read_outbox(world: World, body: shapes.Nothing, path: Path) -> Json:
    """What would have been sent by now."""
    del body
    client = _client(world, path)
    with world.database.read() as db:
        return {"data": outbox.entries(db, client.number, world.clock.now_us())}


def advance_clock(world: World, body: shapes.Advance, path: Path) -> Json:
    """Move the clock forward."""
    del path
    return {"now": instants.text(world.advance(body.advance_seconds))}


def arm_fault(world: World, body: faults.Rule, path: Path) -> Json:
    """Have the next matching requests fail."""
    del path
    with world.database.write() as db:
        armed = faults.add(db, body)
    world.faults.arm(armed)
    return body.model_dump(mode="json")


def clear_faults(world: World, body: shapes.Nothing, path: Path) -> None:
    """Have nothing fail any more."""
    del body, path
    world.faults.clear()
    with world.database.write() as db:
        db.execute("DELETE FROM faults")


_MINE: Final = "/console/clients/{client_id}"

#: Every call, as the console's table has it.
CALLS: Final[tuple[Call, ...]] = (
    Call("POST", "/console/clients", shapes.NewClient, create_client),
    Call("POST", f"{_MINE}/keys", shapes.NewKey, create_key),
    Call("PUT", _MINE, shapes.ClientChange, update_client, 200),
    Call("DELETE", "/console/keys/{credential_id}", shapes.Nothing, revoke_key, 204),
    Call("PUT", "/console/account", Settings, update_account, 200),
    Call("GET", "/console/account", shapes.Nothing, read_account, 200),
    Call("POST", f"{_MINE}/campaigns", shapes.NewCampaign, create_campaign),
    Call("POST", f"{_MINE}/leads", shapes.Leads, add_leads),
    Call("POST", f"{_MINE}/calls", shapes.Calls, add_calls),
    Call("POST", f"{_MINE}/agents", shapes.NewAgent, add_agent),
    Call("POST", f"{_MINE}/caller-ids", shapes.NewCallerId, add_caller_id),
    Call("POST", f"{_MINE}/lead-sources", shapes.NewLeadSource, add_lead_source),
    Call("POST", f"{_MINE}/field-rules", shapes.NewFieldRule, add_field_rule),
    Call("POST", f"{_MINE}/dnc", shapes.Phones, add_dnc),
    Call("DELETE", f"{_MINE}/dnc/{{phone}}", shapes.Nothing, remove_dnc, 204),
    Call("PUT", f"{_MINE}/callbacks/{{callback_id}}", shapes.CallbackStatus, set_callback, 200),
    Call("PUT", f"{_MINE}/appointments/{{appointment_id}}", shapes.AppointmentStatus,
         set_appointment, 200),
    Call("POST", f"{_MINE}/events", shapes.NewEvent, emit_event),
    Call("GET", f"{_MINE}/outbox", shapes.Nothing, read_outbox, 200),
    Call("POST", "/console/clock", shapes.Advance, advance_clock, 200),
    Call("POST", "/console/faults", faults.Rule, arm_fault),
    Call("DELETE", "/console/faults", shapes.Nothing, clear_faults, 204),
)  # fmt: skip


def _client(world: World, path: Path) -> Client:
    for client in world.access.clients.values():
        if client.client_id == path["client_id"]:
            return client
    raise Refusal("not_found", "No client has this id.")


def _shown(world: World, client: Client) -> Json:
    keys = [key for key in world.access.credentials.values() if key.client == client.number]
    return {
        "client_id": client.client_id,
        "name": client.name,
        "scopes": sorted(client.scopes),
        "ip_allow": list(client.ip_allow),
        "enabled": client.enabled,
        "keys": [
            {"credential_id": key.credential_id, "sending": key.sending, "revoked": key.revoked}
            for key in keys
        ],
    }


def _put(world: World, table: str, body: BaseModel, path: Path) -> Json:
    client, values = _client(world, path), body.model_dump()
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


def _unprocessable(error: ValidationError) -> Refusal:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    pointer = "".join(f"/{part}" for part in first["loc"])
    reason = f"The body is not valid at {pointer or 'its root'}: {first['msg']}."
    refusal = invalid(pointer, first["type"], reason)
    return Refusal(refusal.code, refusal.detail, status=422, errors=refusal.errors)
