"""Callbacks and appointments: listing, booking, moving and cancelling (contract, States)."""

from __future__ import annotations

from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dialframe.contract import operations
from dialframe.contract.models.call_models import (
    AppointmentCreate,
    AppointmentQuery,
    AppointmentRef,
    AppointmentReschedule,
    CallbackCreate,
    CallbackQuery,
    CallbackRef,
    CallbackReschedule,
)
from dialframe.sandbox.dialer import sending
from dialframe.sandbox.handlers import exchange
from dialframe.sandbox.handlers.exchange import Context, Reply, answer, on
from dialframe.sandbox.world import access, clock, events
from dialframe.sandbox.world.database import insert
from dialframe.sandbox.world.refusals import Refusal, invalid
from dialframe.sandbox.world.resources import (
    APPOINTMENT,
    CALLBACK,
    LEAD,
    Json,
    check_if_match,
    etag,
)


@on(operations.CALLBACKS_LIST)
def list_callbacks(context: Context[CallbackQuery]) -> Reply:
    """One campaign's callbacks; a campaign that is not the client's has none."""
    wanted = {"campaign_id": context.request.campaign_id, "status": context.request.status}
    return exchange.rows_of(context, CALLBACK, wanted)


@on(operations.CALLBACKS_CREATE)
def create_callback(context: Context[CallbackCreate]) -> Reply:
    """Schedule one; when it is due, the lead is called."""
    wanted = context.request
    lead = LEAD.find(context.db, context.client, wanted.lead_id)
    if lead["campaign_id"] is None:
        raise invalid("/lead_id", "no_campaign", "The lead belongs to no campaign.")
    sending.not_on_dnc(context.sender, lead["phone"], "/lead_id")
    sending.spend(context.sender, "callback")
    due_us = clock.from_datetime(wanted.scheduled_at)
    values: Json = {
        "id": access.new_id(context.db, context.client, "callback"),
        "lead_id": wanted.lead_id,
        "campaign_id": lead["campaign_id"],
        "scheduled_at": due_us,
        "status": "pending",
        "notes": wanted.notes,
        "created_at": context.now_us,
        "call_at": max(due_us, context.now_us),
        "asked_by": "request",
    }
    insert(context.db, "callbacks", context.client, values)
    return answer(CALLBACK.find(context.db, context.client, values["id"]), status=201)


@on(operations.CALLBACKS_CANCEL)
def cancel_callback(context: Context[CallbackRef]) -> Reply:
    """Pending becomes cancelled; cancelled stays so."""
    callback_id = context.request.callback_id
    callback = CALLBACK.find(context.db, context.client, callback_id)
    if callback["status"] == "pending":
        callback = CALLBACK.change(
            context.db, context.client, callback_id, {"status": "cancelled"}
        )
        _plan_lead(context, callback["lead_id"], None)
    elif callback["status"] != "cancelled":
        raise Refusal("callback_not_pending", f"The callback is {callback['status']}.")
    return answer(callback)


@on(operations.CALLBACKS_RESCHEDULE)
def reschedule_callback(context: Context[CallbackReschedule]) -> Reply:
    """A pending one gets a new time."""
    callback_id = context.request.callback_id
    callback = CALLBACK.find(context.db, context.client, callback_id)
    if callback["status"] != "pending":
        raise Refusal("callback_not_pending", f"The callback is {callback['status']}.")
    due_us = clock.from_datetime(context.request.scheduled_at)
    _plan_lead(context, callback["lead_id"], due_us)
    return answer(
        CALLBACK.change(
            context.db,
            context.client,
            callback_id,
            {"scheduled_at": due_us, "call_at": max(due_us, context.now_us)},
        )
    )


DURATION_MINUTES: Final = 30
SOURCE: Final = "api"

_FINAL: Final = ("completed", "no-show")


def _plan_lead(context: Context[Any], lead_id: str | None, next_us: int | None) -> None:
    """When a lead that waits for its callback is dialed next."""
    context.db.execute(
        "UPDATE leads SET next_attempt_at = ? WHERE client = ? AND id = ? AND status = 'callback'",
        (next_us, context.client, lead_id),
    )


@on(operations.APPOINTMENTS_LIST)
def list_appointments(context: Context[AppointmentQuery]) -> Reply:
    """All appointments, newest first."""
    return exchange.rows_of(context, APPOINTMENT, {})


@on(operations.APPOINTMENTS_GET)
def get_appointment(context: Context[AppointmentRef]) -> Reply:
    """One appointment."""
    return _tagged(APPOINTMENT.find(context.db, context.client, context.request.appointment_id))


@on(operations.APPOINTMENTS_CREATE)
def create_appointment(context: Context[AppointmentCreate]) -> Reply:
    """Book one and say so."""
    wanted = context.request
    _check_zone(wanted.timezone)
    sending.country_reachable(context.sender, wanted.phone, "/phone")
    values: Json = {
        "id": access.new_id(context.db, context.client, "appointment"),
        "status": "scheduled",
        "scheduled_at": clock.from_datetime(wanted.scheduled_at),
        "timezone": wanted.timezone,
        "duration_minutes": wanted.duration_minutes or DURATION_MINUTES,
        "service_type": wanted.service_type,
        "contact_name": wanted.contact_name,
        "phone": wanted.phone,
        "notes": wanted.notes,
        "source": SOURCE,
        "created_at": context.now_us,
        "updated_at": context.now_us,
    }
    insert(context.db, "appointments", context.client, values)
    booked = APPOINTMENT.find(context.db, context.client, values["id"])
    _tell(context, "appointment.booked", booked)
    return _tagged(booked, status=201)


@on(operations.APPOINTMENTS_CANCEL)
def cancel_appointment(context: Context[AppointmentRef]) -> Reply:
    """Cancel one and say so; a cancelled one stays as it is."""
    identifier = context.request.appointment_id
    booked = APPOINTMENT.find(context.db, context.client, identifier)
    check_if_match(context.if_match, booked)
    if booked["status"] == "cancelled":
        return _tagged(booked)
    _refuse_in(_FINAL, booked)
    changes = {"status": "cancelled", "updated_at": context.now_us}
    booked = APPOINTMENT.change(context.db, context.client, identifier, changes)
    _tell(context, "appointment.cancelled", booked)
    return _tagged(booked)


@on(operations.APPOINTMENTS_RESCHEDULE)
def reschedule_appointment(context: Context[AppointmentReschedule]) -> Reply:
    """Move one and say so; its status stays. The request's shape is assumed."""
    wanted = context.request
    _check_zone(wanted.timezone)
    booked = APPOINTMENT.find(context.db, context.client, wanted.appointment_id)
    _refuse_in((*_FINAL, "cancelled"), booked)
    changes: Json = {
        "scheduled_at": clock.from_datetime(wanted.scheduled_at),
        "updated_at": context.now_us,
    }
    if wanted.duration_minutes is not None:
        changes["duration_minutes"] = wanted.duration_minutes
    if wanted.timezone is not None:
        changes["timezone"] = wanted.timezone
    booked = APPOINTMENT.change(context.db, context.client, wanted.appointment_id, changes)
    _tell(context, "appointment.moved", booked)
    return _tagged(booked)


def _tagged(booked: Json, status: int = 200) -> Reply:
    return answer(booked, status=status, headers=(("ETag", etag(booked)),))


def _check_zone(name: str | None) -> None:
    if name is None:
        return
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # A directory of the zone data is an OSError, a path out of it a ValueError.
        raise invalid("/timezone", "unknown_time_zone") from None


def _refuse_in(statuses: tuple[str, ...], booked: Json) -> None:
    if booked["status"] in statuses:
        detail = f"The appointment is {booked['status']}."
        raise Refusal("appointment_not_modifiable", detail)


def _tell(context: Context[Any], kind: str, booked: Json) -> None:
    events.emit(context.db, context.client, kind, events.appointment(booked), context.now_us)


HANDLERS = (
    list_callbacks,
    create_callback,
    cancel_callback,
    reschedule_callback,
    list_appointments,
    get_appointment,
    create_appointment,
    cancel_appointment,
    reschedule_appointment,
)
