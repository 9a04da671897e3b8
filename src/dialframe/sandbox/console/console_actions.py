"""The console's calls: what an administrator, the operator and a rehearsal do.

The contract leaves the first to an account's administrator or to the operator; a rehearsal needs the
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

from dialframe.sandbox.console import console_requests
from dialframe.sandbox.dialer import automatic_dialing, contact_checks
from dialframe.sandbox.http import request_handling
from dialframe.sandbox.world import clients_and_keys, clock, events, faults, state_file
from dialframe.sandbox.world.api_objects import (
    APPOINTMENT,
    CALLBACK,
    CAMPAIGN,
    Json,
    Refusal,
    invalid,
)
from dialframe.sandbox.world.clients_and_keys import Client, Settings
from dialframe.sandbox.world.state import World

Path = Mapping[str, str]


def create_client(world: World, body: console_requests.NewClient, path: Path) -> Json:
    """A client of its own data set, with its first key."""
    del path
    first_start = world.first_start
    with automatic_dialing.up_to_now(world) as (db, now_us):
        as_of = first_start.as_of or dt.date.fromisoformat(clock.day_of(now_us))
        client = clients_and_keys.add_client(
            db, name=body.name, scopes=body.scopes, ip_allow=body.ip_allow, now_us=now_us
        )
        key = clients_and_keys.add_key(db, client, sending=body.sending, now_us=now_us)
        account = state_file.account_of(
            seed=first_start.seed, size=body.size, as_of=as_of, client=client.number
        )
        if account is not None:
            state_file.load(db, account, client.number)
        world.access = clients_and_keys.load(db)
    return {"client_id": client.client_id, "api_key": key}


def create_key(world: World, body: console_requests.NewKey, path: Path) -> Json:
    """A further key of a client."""
    client = client_of(world, path)
    with automatic_dialing.up_to_now(world) as (db, now_us):
        key = clients_and_keys.add_key(db, client, sending=body.sending, now_us=now_us)
        world.access = clients_and_keys.load(db)
    return {"api_key": key}


def update_client(world: World, body: console_requests.ClientChange, path: Path) -> Json:
    """Change scopes, addresses or whether the client may call at all."""
    client = client_of(world, path)
    columns = {
        "scopes": json.dumps(body.scopes),
        "ip_allow": json.dumps(body.ip_allow),
        "enabled": int(body.enabled),
    }
    with automatic_dialing.up_to_now(world) as (db, _):
        for name in body.model_fields_set:
            db.execute(
                f"UPDATE clients SET {name} = ? WHERE number = ?", (columns[name], client.number)
            )
        world.access = clients_and_keys.load(db)
    return _shown(world, client_of(world, path))


def revoke_key(world: World, body: console_requests.Nothing, path: Path) -> None:
    """Make a key worthless."""
    del body
    with automatic_dialing.up_to_now(world) as (db, _):
        changed = db.execute(
            "UPDATE credentials SET revoked = 1 WHERE credential_id = ?", (path["credential_id"],)
        )
        if not changed.rowcount:
            raise Refusal("not_found", "No key has this credential id.")
        world.access = clients_and_keys.load(db)


def read_account(world: World, body: console_requests.Nothing, path: Path) -> Json:
    """All switches and settings."""
    del body, path
    return world.access.settings.model_dump(mode="json")


def update_account(world: World, body: Settings, path: Path) -> Json:
    """Change the switches and settings that are given."""
    changes = body.model_dump(mode="json", exclude_unset=True)
    with automatic_dialing.up_to_now(world) as (db, _):
        before = clients_and_keys.load(db).settings.model_dump(mode="json")
        dialer = {**before["dialer"], **changes.get("dialer", {})}
        whole = {**before, **changes, "dialer": dialer}
        clients_and_keys.save_settings(db, Settings.model_validate_json(json.dumps(whole)))
        automatic_dialing.release_holds(db)
        world.access = clients_and_keys.load(db)
    return read_account(world, console_requests.Nothing(), path)


def client_of(world: World, path: Path) -> Client:
    """The client that a call's path names."""
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


def create_campaign(world: World, body: console_requests.NewCampaign, path: Path) -> Json:
    """A campaign in any state."""
    client = client_of(world, path)
    started = body.status in ("running", "paused", "completed")
    with automatic_dialing.up_to_now(world) as (db, now_us):
        values = {
            "id": clients_and_keys.new_id(db, client.number, "campaign"),
            **body.model_dump(),
            "created_at": now_us,
            "updated_at": now_us,
            "started_at": now_us if started else None,
            "completed_at": now_us if body.status == "completed" else None,
        }
        state_file.insert(db, "campaigns", client.number, values)
        return CAMPAIGN.find(db, client.number, str(values["id"]))


def add_leads(world: World, body: console_requests.Leads, path: Path) -> Json:
    """Leads with any of their fields, past every check of an import."""
    return {"ids": _insert_all(world, "lead", client_of(world, path), body.root)}


def add_calls(world: World, body: console_requests.Calls, path: Path) -> Json:
    """Calls with any of their fields; no event reports them."""
    return {"ids": _insert_all(world, "call", client_of(world, path), body.root)}


def add_agent(world: World, body: console_requests.NewAgent, path: Path) -> Json:
    """An agent, or a known one in another state."""
    return _put(world, "agents", body, path)


def add_caller_id(world: World, body: console_requests.NewCallerId, path: Path) -> Json:
    """A verified number."""
    return _put(world, "caller_ids", body, path)


def add_lead_source(world: World, body: console_requests.NewLeadSource, path: Path) -> Json:
    """A source that leads may name."""
    return _put(world, "lead_sources", body, path)


def add_field_rule(world: World, body: console_requests.NewFieldRule, path: Path) -> Json:
    """A rule that leads have to keep."""
    return _put(world, "field_rules", body, path)


def add_dnc(world: World, body: console_requests.Phones, path: Path) -> Json:
    """Numbers for the Do-Not-Call list."""
    client = client_of(world, path)
    with automatic_dialing.up_to_now(world) as (db, now_us):
        rows = [(client.number, phone, now_us) for phone in body.phones]
        db.executemany("INSERT OR IGNORE INTO dnc VALUES (?, ?, ?, 'console', NULL)", rows)
    return {"phones": list(body.phones)}


def remove_dnc(world: World, body: console_requests.Nothing, path: Path) -> None:
    """Take a number off the Do-Not-Call list."""
    del body
    client = client_of(world, path)
    with automatic_dialing.up_to_now(world) as (db, _):
        deleted = db.execute(
            "DELETE FROM dnc WHERE client = ? AND phone = ?", (client.number, path["phone"])
        )
        if not deleted.rowcount:
            raise Refusal("not_found", "The number is not on the list.")


def set_callback(world: World, body: console_requests.CallbackStatus, path: Path) -> Json:
    """Move a callback to any state."""
    client = client_of(world, path)
    with automatic_dialing.up_to_now(world) as (db, _):
        CALLBACK.find(db, client.number, path["callback_id"])
        return CALLBACK.change(db, client.number, path["callback_id"], body.model_dump())


def set_appointment(world: World, body: console_requests.AppointmentStatus, path: Path) -> Json:
    """Move an appointment to any state; no event reports it."""
    client, identifier = client_of(world, path), path["appointment_id"]
    with automatic_dialing.up_to_now(world) as (db, now_us):
        changes = {**body.model_dump(), "updated_at": now_us}
        APPOINTMENT.find(db, client.number, identifier)
        return APPOINTMENT.change(db, client.number, identifier, changes)


def emit_event(world: World, body: console_requests.NewEvent, path: Path) -> Json:
    """Let something have happened."""
    client = client_of(world, path)
    with automatic_dialing.up_to_now(world) as (db, now_us):
        event_id = events.emit(db, client.number, body.type, body.data, now_us)
    return {"event_id": event_id}


def read_outbox(world: World, body: console_requests.Nothing, path: Path) -> Json:
    """What would have been sent by now."""
    del body
    client = client_of(world, path)
    with world.database.read() as db:
        return {"data": contact_checks.outbox(db, client.number, world.clock.now_us())}


def read_refusals(world: World, body: console_requests.Nothing, path: Path) -> Json:
    """What a check at dial time refused."""
    del body
    client = client_of(world, path)
    with world.database.read() as db:
        return {"data": contact_checks.refusals(db, client.number)}


def _put(world: World, table: str, body: BaseModel, path: Path) -> Json:
    client, values = client_of(world, path), body.model_dump()
    columns = ("client", *values)
    marks = ", ".join("?" * len(columns))
    with automatic_dialing.up_to_now(world) as (db, _):
        db.execute(
            f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({marks})",
            (client.number, *values.values()),
        )
    return values


def _insert_all(
    world: World,
    kind: str,
    client: Client,
    rows: Sequence[console_requests.AnyLead] | Sequence[console_requests.AnyCall],
) -> list[str]:
    if not rows:
        return []
    try:
        with automatic_dialing.up_to_now(world) as (db, now_us):
            ids = clients_and_keys.new_ids(db, client.number, kind, len(rows))
            values = [
                _values(kind, row, new_id, now_us) for row, new_id in zip(rows, ids, strict=True)
            ]
            columns = ("client", *values[0])
            marks = ", ".join("?" * len(columns))
            db.executemany(
                f"INSERT INTO {kind}s ({', '.join(columns)}) VALUES ({marks})",
                [(client.number, *row.values()) for row in values],
            )
    except sqlite3.IntegrityError:
        raise _twice() from None
    return [row["id"] for row in values]


def _values(kind: str, row: BaseModel, new_id: str, now_us: int) -> Json:
    values = {
        name: clock.from_datetime(value) if isinstance(value, dt.datetime) else value
        for name, value in row.model_dump().items()
    }
    values["id"] = values["id"] or new_id
    values["created_at"] = now_us if values["created_at"] is None else values["created_at"]
    if kind == "lead":
        values["updated_at"] = values["updated_at"] or values["created_at"]
        fields = values["custom_fields"]
        values["custom_fields"] = None if fields is None else json.dumps(fields)
    return values


def _twice() -> Refusal:
    refusal = invalid("/id", "duplicate_id", "An id is there already, or given twice.")
    return Refusal(refusal.code, refusal.detail, status=422, errors=refusal.errors)


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
    """A checked body."""
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        raise _unprocessable(error) from None


def advance_clock(world: World, body: console_requests.Advance, path: Path) -> Json:
    """Move the clock forward, and play everything that falls into it."""
    del path
    now_us, played = automatic_dialing.advance(world, body.advance_seconds)
    return {"now": clock.text(now_us), "played": played}


def reconcile(world: World, body: console_requests.Reconciled, path: Path) -> Json:
    """End an `outcome_unknown`: the write was done, or it was not and may be sent again."""
    key = path["idempotency_key"]
    status = request_handling.reconcile(world, key, done=body.outcome == "done")
    return {"idempotency_key": key, "outcome": body.outcome, "status": status}


def arm_fault(world: World, body: faults.Rule, path: Path) -> Json:
    """Have the next matching requests fail."""
    del path
    with automatic_dialing.up_to_now(world) as (db, _):
        armed = faults.add(db, body)
    world.faults.arm(armed)
    return body.model_dump(mode="json")


def clear_faults(world: World, body: console_requests.Nothing, path: Path) -> None:
    """Have nothing fail any more."""
    del body, path
    world.faults.clear()
    with automatic_dialing.up_to_now(world) as (db, _):
        db.execute("DELETE FROM faults")


_MINE: Final = "/console/clients/{client_id}"

#: Every call, as the console's table has it.
CALLS: Final[tuple[Call, ...]] = (
    Call("POST", "/console/clients", console_requests.NewClient, create_client),
    Call("POST", f"{_MINE}/keys", console_requests.NewKey, create_key),
    Call("PUT", _MINE, console_requests.ClientChange, update_client, 200),
    Call("DELETE", "/console/keys/{credential_id}", console_requests.Nothing, revoke_key, 204),
    Call("PUT", "/console/account", Settings, update_account, 200),
    Call("GET", "/console/account", console_requests.Nothing, read_account, 200),
    Call("POST", f"{_MINE}/campaigns", console_requests.NewCampaign, create_campaign),
    Call("POST", f"{_MINE}/leads", console_requests.Leads, add_leads),
    Call("POST", f"{_MINE}/calls", console_requests.Calls, add_calls),
    Call("POST", f"{_MINE}/agents", console_requests.NewAgent, add_agent),
    Call("POST", f"{_MINE}/caller-ids", console_requests.NewCallerId, add_caller_id),
    Call("POST", f"{_MINE}/lead-sources", console_requests.NewLeadSource, add_lead_source),
    Call("POST", f"{_MINE}/field-rules", console_requests.NewFieldRule, add_field_rule),
    Call("POST", f"{_MINE}/dnc", console_requests.Phones, add_dnc),
    Call("DELETE", f"{_MINE}/dnc/{{phone}}", console_requests.Nothing, remove_dnc, 204),
    Call("PUT", f"{_MINE}/callbacks/{{callback_id}}", console_requests.CallbackStatus, set_callback, 200),
    Call("PUT", f"{_MINE}/appointments/{{appointment_id}}", console_requests.AppointmentStatus,
         set_appointment, 200),
    Call("POST", f"{_MINE}/events", console_requests.NewEvent, emit_event),
    Call("GET", f"{_MINE}/outbox", console_requests.Nothing, read_outbox, 200),
    Call("GET", f"{_MINE}/refusals", console_requests.Nothing, read_refusals, 200),
    Call("POST", "/console/clock", console_requests.Advance, advance_clock, 200),
    Call("POST", "/console/writes/{idempotency_key:path}/reconcile", console_requests.Reconciled, reconcile,
         200),
    Call("POST", "/console/faults", faults.Rule, arm_fault),
    Call("DELETE", "/console/faults", console_requests.Nothing, clear_faults, 204),
)  # fmt: skip


def _unprocessable(error: ValidationError) -> Refusal:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    pointer = "".join(f"/{part}" for part in first["loc"])
    reason = f"The body is not valid at {pointer or 'its root'}: {first['msg']}."
    refusal = invalid(pointer, first["type"], reason)
    return Refusal(refusal.code, refusal.detail, status=422, errors=refusal.errors)
