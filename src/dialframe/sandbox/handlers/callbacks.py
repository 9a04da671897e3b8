"""Callbacks: listing, scheduling, moving and cancelling (contract, States: Callback)."""

from __future__ import annotations

from typing import Any

from dialframe.contract import operations
from dialframe.contract.models.callbacks import (
    CallbackCreate,
    CallbackQuery,
    CallbackRef,
    CallbackReschedule,
)
from dialframe.sandbox import identifiers, instants, lists, outbox, sending
from dialframe.sandbox.exchange import Ask, Json, Reply, answer, on
from dialframe.sandbox.loading import insert
from dialframe.sandbox.outbox import Sent
from dialframe.sandbox.problems import Refusal, invalid
from dialframe.sandbox.resources import CALLBACK, LEAD


@on(operations.CALLBACKS_LIST)
def list_callbacks(ask: Ask[CallbackQuery]) -> Reply:
    """One campaign's callbacks; a campaign that is not the client's has none."""
    wanted = {"campaign_id": ask.request.campaign_id, "status": ask.request.status}
    return lists.rows_of(ask, CALLBACK, wanted)


@on(operations.CALLBACKS_CREATE)
def create(ask: Ask[CallbackCreate]) -> Reply:
    """Schedule one; when it is due, the outbox lists it."""
    wanted = ask.request
    lead = LEAD.find(ask.db, ask.client, wanted.lead_id)
    if lead["campaign_id"] is None:
        raise invalid("/lead_id", "no_campaign", "The lead belongs to no campaign.")
    sending.not_on_dnc(ask, lead["phone"], "/lead_id")
    sending.spend(ask, "callback")
    due_us = instants.from_datetime(wanted.scheduled_at)
    values: Json = {
        "id": identifiers.new("callback"),
        "lead_id": wanted.lead_id,
        "campaign_id": lead["campaign_id"],
        "scheduled_at": due_us,
        "status": "pending",
        "notes": wanted.notes,
        "created_at": ask.now_us,
    }
    insert(ask.db, "callbacks", ask.client, values)
    _promise(ask, values["id"], lead, due_us)
    return answer(CALLBACK.find(ask.db, ask.client, values["id"]), status=201)


@on(operations.CALLBACKS_CANCEL)
def cancel(ask: Ask[CallbackRef]) -> Reply:
    """Pending becomes cancelled; cancelled stays so."""
    callback_id = ask.request.callback_id
    callback = CALLBACK.find(ask.db, ask.client, callback_id)
    if callback["status"] == "pending":
        callback = CALLBACK.change(ask.db, ask.client, callback_id, {"status": "cancelled"})
        outbox.withdraw(ask.db, ask.client, callback_id, ask.now_us)
    elif callback["status"] != "cancelled":
        raise Refusal("callback_not_pending", f"The callback is {callback['status']}.")
    return answer(callback)


@on(operations.CALLBACKS_RESCHEDULE)
def reschedule(ask: Ask[CallbackReschedule]) -> Reply:
    """A pending one gets a new time."""
    callback_id = ask.request.callback_id
    callback = CALLBACK.find(ask.db, ask.client, callback_id)
    if callback["status"] != "pending":
        raise Refusal("callback_not_pending", f"The callback is {callback['status']}.")
    due_us = instants.from_datetime(ask.request.scheduled_at)
    outbox.withdraw(ask.db, ask.client, callback_id, ask.now_us)
    if callback["lead_id"] is not None:
        lead = LEAD.find(ask.db, ask.client, callback["lead_id"])
        _promise(ask, callback_id, lead, due_us)
    return answer(CALLBACK.change(ask.db, ask.client, callback_id, {"scheduled_at": due_us}))


def _promise(ask: Ask[Any], callback_id: str, lead: Json, due_us: int) -> None:
    sent = Sent("callback", lead["phone"], due_us, callback_id, {"lead_id": lead["id"]})
    outbox.add(ask.db, ask.client, sent)


HANDLERS = (list_callbacks, create, cancel, reschedule)
