"""What an operation does to a campaign, a callback or an appointment by its state (contract, States)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialframe.contract import operations
from dialframe.contract.models.base_models import Request
from dialframe.contract.models.call_models import AppointmentReschedule, CallbackReschedule
from dialframe.contract.operations import Operation
from dialframe.sandbox import call_content, clock
from dialframe.sandbox.dialer import contact_checks
from dialframe.sandbox.handlers.dnc_and_message_handlers import check_zone
from dialframe.sandbox.handlers.requests_and_replies import Reply, answer, on
from dialframe.sandbox.world import events
from dialframe.sandbox.world.api_objects import (
    APPOINTMENT,
    CALLBACK,
    CAMPAIGN,
    Json,
    Refusal,
    Resource,
    Transaction,
    check_if_match,
)

#: What else changes of an object that moves; it may refuse.
Changes = Callable[[Transaction, Any, Json], Json]


def _update(tx: Transaction, request: Request, body: Json) -> Json:
    del request, body
    return {"updated_at": tx.now_us}


def _launch(tx: Transaction, request: Request, body: Json) -> Json:
    # States, Campaign: `registry_stale_blocked`; Tiers: a launch counts against the caps.
    contact_checks.registry_fresh(tx.settings)
    contact_checks.spend(tx, "launch")
    return _update(tx, request, body)


def _plan_lead(tx: Transaction, lead_id: str | None, next_us: int | None) -> None:
    """When a lead that waits for its callback is dialed next."""
    tx.execute(
        "UPDATE leads SET next_attempt_at = ?2 WHERE client = ?1 AND id = ?3 AND status = 'callback'",
        next_us, lead_id,
    )  # fmt: skip


def _unplan(tx: Transaction, request: Request, body: Json) -> Json:
    # States, Callback: lead no longer scheduled.
    del request
    _plan_lead(tx, body["lead_id"], None)
    return {}


def _replan(tx: Transaction, request: CallbackReschedule, body: Json) -> Json:
    due_us = clock.from_datetime(request.scheduled_at)
    _plan_lead(tx, body["lead_id"], due_us)
    return {"scheduled_at": due_us, "call_at": max(due_us, tx.now_us)}


def _move_appointment(tx: Transaction, request: AppointmentReschedule, body: Json) -> Json:
    given = request.model_dump(exclude={"appointment_id"}, exclude_none=True)
    due_us = clock.from_datetime(request.scheduled_at)
    return {**given, "scheduled_at": due_us, **_update(tx, request, body)}


@dataclass(frozen=True, slots=True)
class Move:
    """What one operation does.

    Attributes:
        next_states: State to the next one; to None where the answer is 200 and nothing changes.
        code: What it answers from any other state.
        event: Event type that tells of it.
    """

    operation: Operation[Any, Any]
    resource: Resource
    next_states: Mapping[str, str | None]
    code: str
    changes: Changes
    event: str = ""


#: States of the contract, one row for each operation that moves something. Of an appointment the complete set and
#: what a reschedule leads to are not shown: its state stays.
MOVES: Final = (
    Move(operations.CAMPAIGNS_PAUSE, CAMPAIGN, {"running": "paused", "paused": None},
         "campaign_not_running", _update),
    Move(operations.CAMPAIGNS_RESUME, CAMPAIGN, {"paused": "running", "running": None},
         "campaign_not_paused", _launch),
    Move(operations.CALLBACKS_CANCEL, CALLBACK, {"pending": "cancelled", "cancelled": None},
         "callback_not_pending", _unplan),
    Move(operations.CALLBACKS_RESCHEDULE, CALLBACK, {"pending": "pending"},
         "callback_not_pending", _replan),
    Move(operations.APPOINTMENTS_CANCEL, APPOINTMENT,
         {"scheduled": "cancelled", "confirmed": "cancelled", "cancelled": None},
         "appointment_not_modifiable", _update, "appointment.cancelled"),
    Move(operations.APPOINTMENTS_RESCHEDULE, APPOINTMENT,
         {"scheduled": "scheduled", "confirmed": "confirmed"},
         "appointment_not_modifiable", _move_appointment, "appointment.moved"),
)  # fmt: skip


def _build_handler(move: Move) -> Callable[[Transaction, Any], Reply]:
    (name,) = move.operation.path_names

    def handle(tx: Transaction, request: Request) -> Reply:
        if isinstance(request, AppointmentReschedule):
            check_zone(request.timezone)
        body = tx.find(move.resource, getattr(request, name))
        # Before the state: who read an older one is told so first (412).
        if move.operation.if_match:
            check_if_match(tx.if_match, body)
        if body["status"] not in move.next_states:
            raise Refusal(move.code, f"It is {body['status']}.")
        after = move.next_states[body["status"]]
        if after is None:
            return answer(body)
        changes = move.changes(tx, request, body)
        body = tx.change(move.resource, body["id"], status=after, **changes)
        if move.event:
            events.emit(tx, move.event, call_content.appointment(body))
        return answer(body)

    return handle


for _move in MOVES:
    on(_move.operation)(_build_handler(_move))
