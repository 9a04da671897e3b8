"""The console's calls: what an administrator, the operator and a rehearsal do, and the bodies they take.

The contract leaves the first to an account's administrator or to the operator; a rehearsal needs the
clock and the faults.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
)

from dialframe.contract.models.base_models import E164, CallId, CampaignId, LeadId
from dialframe.contract.models.webhook_models import EventType
from dialframe.contract.scopes import BY_NAME as SCOPES
from dialframe.sandbox import request_handling
from dialframe.sandbox.dialer import automatic_dialing, contact_checks
from dialframe.sandbox.world import clients_and_keys, clock, events, sandbox_database
from dialframe.sandbox.world.api_objects import (
    APPOINTMENT,
    CALLBACK,
    CAMPAIGN,
    Json,
    Refusal,
    Resource,
    invalid,
)
from dialframe.sandbox.world.clients_and_keys import Address, Number, Settings
from dialframe.sandbox.world.runtime_state import Rule, World


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


class NewKey(Body):
    """A further key."""

    sending: bool = False


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


class Leads(RootModel[list[AnyLead]]):
    """A list of leads."""


class Calls(RootModel[list[AnyCall]]):
    """A list of calls."""


class NewAgent(Body):
    """An agent; one with the same extension is replaced."""

    extension: Name
    email: Annotated[str, Field(min_length=3, max_length=254)]
    state: Name = "ready"


class NewCallerId(Body):
    """A verified number of the account."""

    number: E164


class NewLeadSource(Body):
    """A source that leads may name."""

    code: Annotated[str, Field(min_length=1, max_length=100)]


class NewFieldRule(Body):
    """What a lead's field has to be."""

    # Resources, Lead outcome objects: a rule names the field as a request sends it.
    field: Annotated[
        str,
        StringConstraints(
            pattern=r"^(phone|external_id|first_name|last_name|full_name|email|custom_fields\..+)$"
        ),
    ]
    required: bool = False
    pattern: Annotated[str, Field(max_length=500), AfterValidator(_regular_expression)] | None = (
        None
    )


class Phones(Body):
    """Numbers for the Do-Not-Call list."""

    phones: list[E164]


class CallbackStatus(Body):
    """A state of a callback."""

    # States, Callback: pending, completed, cancelled.
    status: Literal["pending", "completed", "cancelled"]


class AppointmentStatus(Body):
    """A state of an appointment."""

    # States, Appointment: the names seen; the complete set is not shown.
    status: Literal["scheduled", "confirmed", "cancelled", "completed", "no-show"]


class NewEvent(Body):
    """A webhook event."""

    type: EventType
    data: dict[str, Any]


class Reconciled(Body):
    """What became of a write that could not be confirmed."""

    outcome: Literal["done", "not_done"]


class Advance(Body):
    """Seconds to move the clock forward by; ten years at most."""

    advance_seconds: Annotated[Number, Field(ge=0, le=315_360_000)]


class NoBody(Body):
    """No body at all."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Where a call of the console acts: in one transaction, everything played until now.

    Attributes:
        path: What stands in the path's `{names}`.
        client: Number of the client that it names; 0 where it names none.
    """

    world: World
    db: sqlite3.Connection
    now_us: int
    path: Mapping[str, str]
    client: int


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
        client = numbers.get(path["client_id"]) if "client_id" in path else 0
        if client is None:
            raise Refusal("not_found", "No client has this id.")
        with self._opened(world) as (db, now_us):
            return self.run(Visit(world, db, now_us, path, client), body)

    @contextmanager
    def _opened(self, world: World) -> Iterator[tuple[sqlite3.Connection, int]]:
        # Nested writes would wait for themselves: those calls take the writer on their own.
        if self.method == "GET" or self.alone:
            with world.database.read() as db:
                yield db, world.clock.now_us()
        else:
            with automatic_dialing.up_to_now(world) as opened:
                yield opened


def create_client(visit: Visit, body: NewClient) -> Json:
    """A client of its own data set, with its first key."""
    # The account of a further client ends on the day on which the first one's does.
    first_start = visit.world.first_start
    as_of = first_start.as_of or dt.date.fromisoformat(clock.day_of(visit.now_us))
    client = clients_and_keys.add_client(
        visit.db, name=body.name, scopes=body.scopes, ip_allow=body.ip_allow, now_us=visit.now_us
    )
    key = clients_and_keys.add_key(
        visit.db, client.number, sending=body.sending, now_us=visit.now_us
    )
    account = sandbox_database.account_of(
        seed=first_start.seed, size=body.size, as_of=as_of, client=client.number
    )
    if account is not None:
        sandbox_database.load(visit.db, account, client.number)
    visit.world.access = clients_and_keys.load(visit.db)
    return {"client_id": client.client_id, "api_key": key}


def create_key(visit: Visit, body: NewKey) -> Json:
    """A further key of a client."""
    key = clients_and_keys.add_key(
        visit.db, visit.client, sending=body.sending, now_us=visit.now_us
    )
    visit.world.access = clients_and_keys.load(visit.db)
    return {"api_key": key}


def update_client(visit: Visit, body: ClientChange) -> Json:
    """Change scopes, addresses or whether the client may call at all."""
    columns = {
        "scopes": json.dumps(body.scopes),
        "ip_allow": json.dumps(body.ip_allow),
        "enabled": int(body.enabled),
    }
    for name in body.model_fields_set:
        visit.db.execute(
            f"UPDATE clients SET {name} = ? WHERE number = ?", (columns[name], visit.client)
        )
    visit.world.access = clients_and_keys.load(visit.db)
    client = visit.world.access.clients[visit.client]
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


def revoke_key(visit: Visit, _: NoBody) -> None:
    """Make a key worthless."""
    changed = visit.db.execute(
        "UPDATE credentials SET revoked = 1 WHERE credential_id = ?",
        (visit.path["credential_id"],),
    )
    if not changed.rowcount:
        raise Refusal("not_found", "No key has this credential id.")
    visit.world.access = clients_and_keys.load(visit.db)


def read_account(visit: Visit, _: NoBody) -> Json:
    """All switches and settings."""
    return visit.world.access.settings.model_dump(mode="json")


def update_account(visit: Visit, body: Settings) -> Json:
    """Change the switches and settings that are given."""
    changes = body.model_dump(mode="json", exclude_unset=True)
    before = clients_and_keys.load(visit.db).settings.model_dump(mode="json")
    dialer = {**before["dialer"], **changes.get("dialer", {})}
    # Parts of `dialer` are merged one by one, every other setting is replaced as a whole.
    whole = {**before, **changes, "dialer": dialer}
    clients_and_keys.save_settings(visit.db, Settings.model_validate_json(json.dumps(whole)))
    # What was refused for the account's sake may be allowed by what was just set.
    automatic_dialing.release_holds(visit.db)
    visit.world.access = clients_and_keys.load(visit.db)
    return read_account(visit, NoBody())


def create_campaign(visit: Visit, body: NewCampaign) -> Json:
    """A campaign in any state."""
    # States, Campaign: what is paused or completed has run before.
    started = body.status in ("running", "paused", "completed")
    values = {
        "id": clients_and_keys.new_id(visit.db, visit.client, "campaign"),
        **body.model_dump(),
        "created_at": visit.now_us,
        "updated_at": visit.now_us,
        "started_at": visit.now_us if started else None,
        "completed_at": visit.now_us if body.status == "completed" else None,
    }
    sandbox_database.insert(visit.db, "campaigns", visit.client, values)
    return CAMPAIGN.find(visit.db, visit.client, str(values["id"]))


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
        sandbox_database.insert(visit.db, table, visit.client, values, replace=True)
        return values

    return put


add_agent = putting("agents")
add_caller_id = putting("caller_ids")
add_lead_source = putting("lead_sources")
add_field_rule = putting("field_rules")


def add_dnc(visit: Visit, body: Phones) -> Json:
    """Numbers for the Do-Not-Call list."""
    # A number that is listed already keeps the instant of its first listing (OR IGNORE).
    rows = [(visit.client, phone, visit.now_us) for phone in body.phones]
    visit.db.executemany("INSERT OR IGNORE INTO dnc VALUES (?, ?, ?, 'console', NULL)", rows)
    return {"phones": list(body.phones)}


def remove_dnc(visit: Visit, _: NoBody) -> None:
    """Take a number off the Do-Not-Call list."""
    deleted = visit.db.execute(
        "DELETE FROM dnc WHERE client = ? AND phone = ?",
        (visit.client, visit.path["phone"]),
    )
    if not deleted.rowcount:
        raise Refusal("not_found", "The number is not on the list.")


def set_callback(visit: Visit, body: CallbackStatus) -> Json:
    """Move a callback to any state."""
    return _changed(visit, CALLBACK, visit.path["callback_id"], body.model_dump())


def set_appointment(visit: Visit, body: AppointmentStatus) -> Json:
    """Move an appointment to any state; no event reports it."""
    changes = {**body.model_dump(), "updated_at": visit.now_us}
    return _changed(visit, APPOINTMENT, visit.path["appointment_id"], changes)


def emit_event(visit: Visit, body: NewEvent) -> Json:
    """Let something have happened."""
    event_id = events.emit(visit.db, visit.client, body.type, body.data, visit.now_us)
    return {"event_id": event_id}


def read_outbox(visit: Visit, _: NoBody) -> Json:
    """What would have been sent by now."""
    return {"data": contact_checks.outbox(visit.db, visit.client, visit.now_us)}


def read_refusals(visit: Visit, _: NoBody) -> Json:
    """What a check at dial time refused."""
    return {"data": contact_checks.refusals(visit.db, visit.client)}


def _changed(visit: Visit, resource: Resource, identifier: str, changes: Json) -> Json:
    resource.find(visit.db, visit.client, identifier)
    return resource.change(visit.db, visit.client, identifier, changes)


def _insert_all(visit: Visit, kind: str, rows: Sequence[AnyLead] | Sequence[AnyCall]) -> list[str]:
    # In one step: thousands of rows would otherwise cost a counter update each.
    ids = clients_and_keys.new_ids(visit.db, visit.client, kind, len(rows)) if rows else []
    values = [_values(kind, row, new, visit.now_us) for row, new in zip(rows, ids, strict=True)]
    try:
        for row in values:
            sandbox_database.insert(visit.db, f"{kind}s", visit.client, row)
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
    visit.db.execute(
        "INSERT INTO faults (rule, after, times) VALUES (?, ?, ?)",
        (body.model_dump_json(), body.after, body.times),
    )
    return body.model_dump(mode="json")


def clear_faults(visit: Visit, _: NoBody) -> None:
    """Have nothing fail any more."""
    visit.db.execute("DELETE FROM faults")


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
