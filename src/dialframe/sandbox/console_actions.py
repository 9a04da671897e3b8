"""The console's calls: what an administrator, the operator and a rehearsal do, and the bodies they take.

The contract leaves the first to an account's administrator or to the operator; a rehearsal needs the
clock and the faults.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    RootModel,
    StringConstraints,
    ValidationError,
    create_model,
)

from dialframe.contract.models.base_models import E164, CallId, CampaignId, LeadId
from dialframe.contract.models.webhook_models import EventType
from dialframe.contract.scopes import BY_NAME as SCOPES
from dialframe.sandbox import clock, request_handling
from dialframe.sandbox.dialer import automatic_dialing, contact_checks
from dialframe.sandbox.world import clients_and_keys, events
from dialframe.sandbox.world.api_objects import (
    APPOINTMENT,
    CALLBACK,
    CAMPAIGN,
    Json,
    Refusal,
    Transaction,
    invalid,
)
from dialframe.sandbox.world.clients_and_keys import Address, Number, Settings
from dialframe.sandbox.world.runtime_state import FIRST, Rule, World, load_account
from dialframe.sandbox.world.sandbox_database import write_meta


def _scope(name: str) -> str:
    if name not in SCOPES:
        raise ValueError(f"no scope is called {name!r}")
    return name


def _regular_expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


def _moment(text: Any) -> Any:
    if not isinstance(text, str) or not clock.TEXT.fullmatch(text):
        raise ValueError("an instant is ISO 8601 text with a zone, from 1970 on")
    return dt.datetime.fromisoformat(text)


# Conventions: timestamps are ISO 8601; left alone, pydantic takes other spellings too.
Moment = Annotated[dt.datetime, BeforeValidator(_moment)]
Scope = Annotated[str, AfterValidator(_scope)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=2000)]
# SQLite keeps integers of 64 bits; this is far below.
Count = Annotated[int, Field(ge=0, le=10**9)]
Size = Literal["empty", "tiny", "small", "medium", "large"]


# Strict, since the console is typed by tests: a misspelled field or a number in quotes is a mistake.
class Body(BaseModel):
    """Root of all bodies: no unknown fields, no conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NewClient(Body):
    """A client with its first key."""

    name: Name
    scopes: tuple[Scope, ...] = ()
    sending: bool = False
    ip_allow: tuple[Address, ...] = ()
    size: Size = "empty"


class ClientChange(Body):
    """What is given replaces what is there."""

    scopes: tuple[Scope, ...] = ()
    ip_allow: tuple[Address, ...] = ()
    enabled: bool = True


class NewCampaign(Body):
    """A campaign in any state; `archived` is one that lists leave out.

    What it does not say of attempts, gaps and pace, the account's dialer settings say.
    """

    name: Name
    # States, Campaign: five states; Resources: archived campaigns exist and are not listed.
    status: Literal["draft", "ready", "running", "paused", "completed", "archived"] = "draft"
    dialer_mode: Name = "predictive"
    max_attempts: Annotated[int, Field(ge=1, le=100)] | None = None
    retry_gap_minutes: Annotated[FiniteFloat, Field(ge=0, le=525_600)] | None = None
    calls_per_minute: Annotated[FiniteFloat, Field(gt=0, le=1_000_000)] | None = None


class AnyLead(Body):
    """A lead with any of its fields; those not given get plain values."""

    id: LeadId | None = None
    campaign_id: CampaignId | None = None
    external_id: Name | None = None
    # Reserved for fiction: 555-0100 to 555-0199 of the North American plan.
    phone: Annotated[str, Field(min_length=1, max_length=32)] = "+12025550100"
    full_name: Text | None = None
    email: Text | None = None
    status: Name = "new"
    attempts: Count = 0
    custom_fields: dict[str, Any] | None = None
    last_attempt_at: Moment | None = None
    next_attempt_at: Moment | None = None
    disposition_code: Text | None = None
    hangup_cause: Text | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None


class AnyCall(Body):
    """A call with any of its fields, and with the lead and agent that no answer shows."""

    id: CallId | None = None
    direction: Name = "outbound"
    from_number: Name = "+12025550100"
    to_number: Name = "+12025550101"
    status: Name = "completed"
    created_at: Moment | None = None
    answered_at: Moment | None = None
    ended_at: Moment | None = None
    # Resources, Call record: a number, in contrast to the integers of other resources.
    duration_seconds: Count | Annotated[FiniteFloat, Field(ge=0)] | None = None
    campaign_id: CampaignId | None = None
    disposition: Text | None = None
    hangup_cause: Text | None = None
    lead_id: LeadId | None = None
    agent_extension: Name | None = None


Leads = RootModel[list[AnyLead]]
Calls = RootModel[list[AnyCall]]


def _body(**fields: Any) -> type[Body]:
    """A body that is kept as it comes: names to types, or to a type and what it is without one."""
    made: type[Body] = create_model("Body", __base__=Body, **fields)
    return made


#: An agent; one with the same extension is replaced.
NewAgent = _body(
    extension=Name,
    email=Annotated[str, Field(min_length=3, max_length=254)],
    state=(Name, "ready"),
)
#: What a lead's field has to be; Resources, Lead outcome objects: named as a request sends it.
NewFieldRule = _body(
    field=Annotated[
        str,
        StringConstraints(
            pattern=r"^(phone|external_id|first_name|last_name|full_name|email|custom_fields\..+)$"
        ),
    ],
    required=(bool, False),
    pattern=(
        Annotated[str, Field(max_length=500), AfterValidator(_regular_expression)] | None,
        None,
    ),
)
NewCallerId = _body(number=E164)
NewLeadSource = _body(code=Annotated[str, Field(min_length=1, max_length=100)])
NoBody = _body()


class CallbackStatus(Body):
    """A callback in another state (States, Callback)."""

    status: Literal["pending", "completed", "cancelled"]


class AppointmentStatus(Body):
    """An appointment in another state (States, Appointment): the names seen; the complete set is not shown."""

    status: Literal["scheduled", "confirmed", "cancelled", "completed", "no-show"]


class NewEvent(Body):
    """What happened."""

    type: EventType
    data: dict[str, Any]


class Advance(Body):
    """Seconds to move the clock forward by; ten years at most."""

    advance_seconds: Annotated[Number, Field(ge=0, le=315_360_000)]


class NewKey(Body):
    """A further key, and whether it may send."""

    sending: bool = False


class Phones(Body):
    """Numbers for the Do-Not-Call list."""

    phones: list[E164]


class Reconciled(Body):
    """What became of a write whose outcome nobody knew."""

    outcome: Literal["done", "not_done"]


@dataclass(frozen=True, slots=True)
class Visit:
    """Where a call of the console acts: in one transaction, everything played until now.

    Attributes:
        tx: For the client that the path names, or the first one where it names none.
        path: What stands in the path's `{names}`.
    """

    world: World
    tx: Transaction
    path: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the console.

    Attributes:
        shape: Shape of its body; `Settings` takes any part of itself.
        run: What it does; returns the answer, or None for an empty one.
        alone: It opens a transaction of its own, because it moves the clock or ends a write.
    """

    method: str
    path: str
    shape: type[BaseModel]
    run: Callable[[Visit, Any], Json | None]
    status: int = 201
    alone: bool = False

    def perform(self, world: World, path: Mapping[str, str], text: bytes | str) -> Json | None:
        """Read a body and do what the call is for; all of it happens, or nothing.

        Raises:
            Refusal: `validation_failed`, status 422, where the body is none of its shape; `not_found`.
        """
        try:
            body = self.shape.model_validate_json(text)
        except ValidationError as error:
            # Without input and context: a value may be a number or a key, and the answer repeats neither.
            (first, *_) = error.errors(
                include_url=False, include_context=False, include_input=False
            )
            pointer = "".join(f"/{part}" for part in first["loc"])
            reason = f"The body is not valid at {pointer or 'its root'}: {first['msg']}."
            raise unprocessable(invalid(pointer, first["type"], reason)) from None
        numbers = {client.client_id: client.number for client in world.access.clients.values()}
        client = numbers.get(path["client_id"]) if "client_id" in path else FIRST
        if client is None:
            raise Refusal("not_found", "No client has this id.")
        caller = world.access.service(client)
        # Nested writes would wait for themselves: those calls take the writer on their own.
        if self.method == "GET" or self.alone:
            with world.database.read() as db:
                tx = Transaction(db, world.clock.now_us(), caller)
                return self.run(Visit(world, tx, path), body)
        with automatic_dialing.up_to_now(world) as (db, now_us):
            return self.run(Visit(world, Transaction(db, now_us, caller), path), body)


def create_client(visit: Visit, body: NewClient) -> Json:
    """A client of its own data set, with its first key."""
    # The account of a further client ends on the day on which the first one's does.
    client = clients_and_keys.add_client(
        visit.tx.db,
        name=body.name,
        scopes=body.scopes,
        ip_allow=body.ip_allow,
        now_us=visit.tx.now_us,
    )
    key = clients_and_keys.add_key(
        visit.tx.db, client.number, sending=body.sending, now_us=visit.tx.now_us
    )
    first_start = replace(visit.world.first_start, size=body.size)
    load_account(visit.tx.db, first_start, client.number)
    visit.world.change_access(clients_and_keys.load(visit.tx.db))
    return {"client_id": client.client_id, "api_key": key}


def create_key(visit: Visit, body: NewKey) -> Json:
    """A further key of a client."""
    tx = visit.tx
    key = clients_and_keys.add_key(tx.db, tx.client, sending=body.sending, now_us=tx.now_us)
    visit.world.change_access(clients_and_keys.load(visit.tx.db))
    return {"api_key": key}


def update_client(visit: Visit, body: ClientChange) -> Json:
    """Change scopes, addresses or whether the client may call at all."""
    columns = {
        "scopes": json.dumps(body.scopes),
        "ip_allow": json.dumps(body.ip_allow),
        "enabled": int(body.enabled),
    }
    for name in body.model_fields_set:
        visit.tx.db.execute(
            f"UPDATE clients SET {name} = ? WHERE number = ?", (columns[name], visit.tx.client)
        )
    visit.world.change_access(clients_and_keys.load(visit.tx.db))
    client = visit.world.access.clients[visit.tx.client]
    keys = [key for key in visit.world.access.credentials.values() if key.client == client.number]
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


def revoke_key(visit: Visit, _: object) -> None:
    """Make a key worthless."""
    changed = visit.tx.db.execute(
        "UPDATE credentials SET revoked = 1 WHERE credential_id = ?",
        (visit.path["credential_id"],),
    )
    if not changed.rowcount:
        raise Refusal("not_found", "No key has this credential id.")
    visit.world.change_access(clients_and_keys.load(visit.tx.db))


def read_account(visit: Visit, _: object) -> Json:
    """All switches and settings."""
    return visit.world.access.settings.model_dump(mode="json")


def update_account(visit: Visit, body: Settings) -> Json:
    """Change the switches and settings that are given."""
    changes = body.model_dump(mode="json", exclude_unset=True)
    before = clients_and_keys.load(visit.tx.db).settings.model_dump(mode="json")
    dialer = {**before["dialer"], **changes.get("dialer", {})}
    # Parts of `dialer` are merged one by one, every other setting is replaced as a whole.
    whole = {**before, **changes, "dialer": dialer}
    settings = Settings.model_validate_json(json.dumps(whole))
    write_meta(visit.tx.db, "settings", settings.model_dump_json())
    # What was refused for the account's sake may be allowed by what was just set.
    visit.tx.db.execute("DELETE FROM holds")
    visit.world.change_access(clients_and_keys.load(visit.tx.db))
    return read_account(visit, NoBody())


def create_campaign(visit: Visit, body: NewCampaign) -> Json:
    """A campaign in any state."""
    # States, Campaign: what is paused or completed has run before.
    started = body.status in ("running", "paused", "completed")
    values = {
        **body.model_dump(),
        "updated_at": visit.tx.now_us,
        "started_at": visit.tx.now_us if started else None,
        "completed_at": visit.tx.now_us if body.status == "completed" else None,
    }
    return visit.tx.find(CAMPAIGN, visit.tx.add("campaigns", "campaign", values))


def add_leads(visit: Visit, body: Leads) -> Json:
    """Leads with any of their fields, past every check of an import."""
    return {"ids": _insert_all(visit, "lead", body.root)}


def add_calls(visit: Visit, body: Calls) -> Json:
    """Calls with any of their fields; no event reports them."""
    return {"ids": _insert_all(visit, "call", body.root)}


def putting(table: str) -> Callable[[Visit, BaseModel], Json]:
    """What puts a body into a table as it is, in the place of the row with its key."""

    def put(visit: Visit, body: BaseModel) -> Json:
        values = body.model_dump()
        # As it stands: the names of its fields are those of the columns.
        visit.tx.insert(table, values, replace=True)
        return values

    return put


add_agent = putting("agents")
add_caller_id = putting("caller_ids")
add_lead_source = putting("lead_sources")
add_field_rule = putting("field_rules")


def add_dnc(visit: Visit, body: Phones) -> Json:
    """Numbers for the Do-Not-Call list."""
    for phone in body.phones:
        contact_checks.list_number(visit.tx, phone, "console")
    return {"phones": list(body.phones)}


def remove_dnc(visit: Visit, _: object) -> None:
    """Take a number off the Do-Not-Call list."""
    phone = visit.path["phone"]
    deleted = visit.tx.row("DELETE FROM dnc WHERE client = ? AND phone = ? RETURNING 1", phone)
    if deleted is None:
        raise Refusal("not_found", "The number is not on the list.")


def set_callback(visit: Visit, body: CallbackStatus) -> Json:
    """Move a callback to any state."""
    # Looked for first: an id of nobody's is refused, not passed over.
    callback = visit.tx.find(CALLBACK, visit.path["callback_id"])
    return visit.tx.change(CALLBACK, callback["id"], status=body.status)


def set_appointment(visit: Visit, body: AppointmentStatus) -> Json:
    """Move an appointment to any state; no event reports it."""
    booked, now_us = visit.tx.find(APPOINTMENT, visit.path["appointment_id"]), visit.tx.now_us
    return visit.tx.change(APPOINTMENT, booked["id"], status=body.status, updated_at=now_us)


def emit_event(visit: Visit, body: NewEvent) -> Json:
    """Let something have happened."""
    return {"event_id": events.emit(visit.tx, body.type, body.data)}


def read_outbox(visit: Visit, _: object) -> Json:
    """What would have been sent by now, in the order of its time."""
    rows = visit.tx.rows(
        "SELECT kind, recipient, at, about, detail FROM outbox"
        " WHERE client = ? AND at <= ? ORDER BY at, number",
        visit.tx.now_us,
    )
    entries = [
        {"kind": kind, "to": to, "at": clock.text(at), "id": about, **json.loads(detail)}
        for kind, to, at, about, detail in rows
    ]
    return {"data": entries}


def read_refusals(visit: Visit, _: object) -> Json:
    """What a check at dial time refused, in the order of its time."""
    rows = visit.tx.rows(
        "SELECT kind, recipient, at, code, reason, about FROM refusals"
        " WHERE client = ? ORDER BY at, number"
    )
    entries = [
        {"kind": kind, "to": to, "at": clock.text(at), "code": code, "reason": reason, "id": about}
        for kind, to, at, code, reason, about in rows
    ]
    return {"data": entries}


def _insert_all(visit: Visit, kind: str, rows: Sequence[AnyLead] | Sequence[AnyCall]) -> list[str]:
    # In one step: thousands of rows would otherwise cost a counter update each.
    ids = visit.tx.new_ids(kind, len(rows)) if rows else []
    values = [_values(kind, row, new, visit.tx.now_us) for row, new in zip(rows, ids, strict=True)]
    try:
        for row in values:
            visit.tx.insert(f"{kind}s", row)
    except sqlite3.IntegrityError:
        # Ids are unique by client; with a unique index nobody has to look first.
        refusal = invalid("/id", "duplicate_id", "An id is there already, or given twice.")
        raise unprocessable(refusal) from None
    return [row["id"] for row in values]


def _values(kind: str, row: BaseModel, new_id: str, now_us: int) -> Json:
    values = {
        name: clock.from_datetime(value) if isinstance(value, dt.datetime) else value
        for name, value in row.model_dump().items()
    }
    values["id"] = values["id"] or new_id
    # 0 is an instant too: 1970-01-01.
    values["created_at"] = now_us if values["created_at"] is None else values["created_at"]
    if kind == "lead":
        values["updated_at"] = values["updated_at"] or values["created_at"]
        fields = values["custom_fields"]
        values["custom_fields"] = None if fields is None else json.dumps(fields)
    return values


def advance_clock(visit: Visit, body: Advance) -> Json:
    """Move the clock forward, and play everything that falls into it."""
    now_us, played = automatic_dialing.advance(visit.world, body.advance_seconds)
    return {"now": clock.text(now_us), "played": played}


def reconcile(visit: Visit, body: Reconciled) -> Json:
    """End an `outcome_unknown`: the write was done, or it was not and may be sent again."""
    key = visit.path["idempotency_key"]
    status = request_handling.reconcile(visit.world, key, done=body.outcome == "done")
    return {"idempotency_key": key, "outcome": body.outcome, "status": status}


def arm_fault(visit: Visit, body: Rule) -> Json:
    """Have the next matching requests fail."""
    visit.tx.db.execute(
        "INSERT INTO faults (rule, after, times) VALUES (?, ?, ?)",
        (body.model_dump_json(), body.after, body.times),
    )
    return body.model_dump(mode="json")


def clear_faults(visit: Visit, _: object) -> None:
    """Have nothing fail any more."""
    visit.tx.db.execute("DELETE FROM faults")


_MINE: Final = "/console/clients/{client_id}"

#: Every call, as the console's table has it.
CALLS: Final[tuple[Call, ...]] = (
    Call("POST", "/console/clients", NewClient, create_client),
    Call("POST", f"{_MINE}/keys", NewKey, create_key),
    Call("PUT", _MINE, ClientChange, update_client, 200),
    Call("DELETE", "/console/keys/{credential_id}", NoBody, revoke_key, 204),
    Call("PUT", "/console/account", Settings, update_account, 200),
    Call("GET", "/console/account", NoBody, read_account, 200),
    Call("POST", f"{_MINE}/campaigns", NewCampaign, create_campaign),
    Call("POST", f"{_MINE}/leads", Leads, add_leads),
    Call("POST", f"{_MINE}/calls", Calls, add_calls),
    Call("POST", f"{_MINE}/agents", NewAgent, add_agent),
    Call("POST", f"{_MINE}/caller-ids", NewCallerId, add_caller_id),
    Call("POST", f"{_MINE}/lead-sources", NewLeadSource, add_lead_source),
    Call("POST", f"{_MINE}/field-rules", NewFieldRule, add_field_rule),
    Call("POST", f"{_MINE}/dnc", Phones, add_dnc),
    Call("DELETE", f"{_MINE}/dnc/{{phone}}", NoBody, remove_dnc, 204),
    Call("PUT", f"{_MINE}/callbacks/{{callback_id}}", CallbackStatus, set_callback, 200),
    Call("PUT", f"{_MINE}/appointments/{{appointment_id}}", AppointmentStatus,
         set_appointment, 200),
    Call("POST", f"{_MINE}/events", NewEvent, emit_event),
    Call("GET", f"{_MINE}/outbox", NoBody, read_outbox, 200),
    Call("GET", f"{_MINE}/refusals", NoBody, read_refusals, 200),
    Call("POST", "/console/clock", Advance, advance_clock, 200, alone=True),
    # Contract, Idempotency 7: the key answers `outcome_unknown` until reconciled. A key may hold slashes.
    Call("POST", "/console/writes/{idempotency_key:path}/reconcile", Reconciled, reconcile,
         200, alone=True),
    Call("POST", "/console/faults", Rule, arm_fault),
    Call("DELETE", "/console/faults", NoBody, clear_faults, 204),
)  # fmt: skip


def unprocessable(refusal: Refusal) -> Refusal:
    """The same refusal with the console's status."""
    return Refusal(refusal.code, refusal.detail, status=422, errors=refusal.errors)
