"""The console's calls as a table, with those about clock and faults; knows no HTTP.

The contract leaves these to an account's administrator or to the operator; a rehearsal needs the
clock and the faults.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from dialframe.sandbox import console_data as data
from dialframe.sandbox import console_people as people
from dialframe.sandbox import console_shapes as shapes
from dialframe.sandbox import faults, instants
from dialframe.sandbox.console_people import Path
from dialframe.sandbox.exchange import Json
from dialframe.sandbox.problems import Refusal, invalid
from dialframe.sandbox.settings import Settings
from dialframe.sandbox.world import World


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
    Call("POST", "/console/clients", shapes.NewClient, people.create_client),
    Call("POST", f"{_MINE}/keys", shapes.NewKey, people.create_key),
    Call("PUT", _MINE, shapes.ClientChange, people.update_client, 200),
    Call("DELETE", "/console/keys/{credential_id}", shapes.Nothing, people.revoke_key, 204),
    Call("PUT", "/console/account", Settings, people.update_account, 200),
    Call("GET", "/console/account", shapes.Nothing, people.read_account, 200),
    Call("POST", f"{_MINE}/campaigns", shapes.NewCampaign, data.create_campaign),
    Call("POST", f"{_MINE}/leads", shapes.Leads, data.add_leads),
    Call("POST", f"{_MINE}/calls", shapes.Calls, data.add_calls),
    Call("POST", f"{_MINE}/agents", shapes.NewAgent, data.add_agent),
    Call("POST", f"{_MINE}/caller-ids", shapes.NewCallerId, data.add_caller_id),
    Call("POST", f"{_MINE}/lead-sources", shapes.NewLeadSource, data.add_lead_source),
    Call("POST", f"{_MINE}/field-rules", shapes.NewFieldRule, data.add_field_rule),
    Call("POST", f"{_MINE}/dnc", shapes.Phones, data.add_dnc),
    Call("DELETE", f"{_MINE}/dnc/{{phone}}", shapes.Nothing, data.remove_dnc, 204),
    Call("PUT", f"{_MINE}/callbacks/{{callback_id}}", shapes.CallbackStatus, data.set_callback, 200),
    Call("PUT", f"{_MINE}/appointments/{{appointment_id}}", shapes.AppointmentStatus,
         data.set_appointment, 200),
    Call("POST", f"{_MINE}/events", shapes.NewEvent, data.emit_event),
    Call("GET", f"{_MINE}/outbox", shapes.Nothing, data.read_outbox, 200),
    Call("POST", "/console/clock", shapes.Advance, advance_clock, 200),
    Call("POST", "/console/faults", faults.Rule, arm_fault),
    Call("DELETE", "/console/faults", shapes.Nothing, clear_faults, 204),
)  # fmt: skip


def _unprocessable(error: ValidationError) -> Refusal:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    pointer = "".join(f"/{part}" for part in first["loc"])
    reason = f"The body is not valid at {pointer or 'its root'}: {first['msg']}."
    refusal = invalid(pointer, first["type"], reason)
    return Refusal(refusal.code, refusal.detail, status=422, errors=refusal.errors)
