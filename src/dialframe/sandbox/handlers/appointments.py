"""Appointments: reading, booking, moving and cancelling (contract, States: Appointment)."""

from __future__ import annotations

from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dialframe.contract import operations
from dialframe.contract.models.appointments import (
    AppointmentCreate,
    AppointmentQuery,
    AppointmentRef,
    AppointmentReschedule,
)
from dialframe.sandbox import events, identifiers, instants, lists, sending
from dialframe.sandbox.exchange import Ask, Json, Reply, answer, on
from dialframe.sandbox.loading import insert
from dialframe.sandbox.problems import Refusal, invalid
from dialframe.sandbox.resources import APPOINTMENT, check_if_match, etag

DURATION_MINUTES: Final = 30
SOURCE: Final = "api"

_FINAL: Final = ("completed", "no-show")


@on(operations.APPOINTMENTS_LIST)
def list_appointments(ask: Ask[AppointmentQuery]) -> Reply:
    """All appointments, newest first."""
    return lists.rows_of(ask, APPOINTMENT, {})


@on(operations.APPOINTMENTS_GET)
def get_appointment(ask: Ask[AppointmentRef]) -> Reply:
    """One appointment."""
    return _tagged(APPOINTMENT.find(ask.db, ask.client, ask.request.appointment_id))


@on(operations.APPOINTMENTS_CREATE)
def create(ask: Ask[AppointmentCreate]) -> Reply:
    """Book one and say so."""
    wanted = ask.request
    _check_zone(wanted.timezone)
    sending.country_reachable(ask, wanted.phone, "/phone")
    values: Json = {
        "id": identifiers.new("appointment"),
        "status": "scheduled",
        "scheduled_at": instants.from_datetime(wanted.scheduled_at),
        "timezone": wanted.timezone,
        "duration_minutes": wanted.duration_minutes or DURATION_MINUTES,
        "service_type": wanted.service_type,
        "contact_name": wanted.contact_name,
        "phone": wanted.phone,
        "notes": wanted.notes,
        "source": SOURCE,
        "created_at": ask.now_us,
        "updated_at": ask.now_us,
    }
    insert(ask.db, "appointments", ask.client, values)
    booked = APPOINTMENT.find(ask.db, ask.client, values["id"])
    _tell(ask, "appointment.booked", booked)
    return _tagged(booked, status=201)


@on(operations.APPOINTMENTS_CANCEL)
def cancel(ask: Ask[AppointmentRef]) -> Reply:
    """Cancel one and say so; a cancelled one stays as it is."""
    identifier = ask.request.appointment_id
    booked = APPOINTMENT.find(ask.db, ask.client, identifier)
    check_if_match(ask.if_match, booked)
    if booked["status"] == "cancelled":
        return _tagged(booked)
    _refuse_in(_FINAL, booked)
    changes = {"status": "cancelled", "updated_at": ask.now_us}
    booked = APPOINTMENT.change(ask.db, ask.client, identifier, changes)
    _tell(ask, "appointment.cancelled", booked)
    return _tagged(booked)


@on(operations.APPOINTMENTS_RESCHEDULE)
def reschedule(ask: Ask[AppointmentReschedule]) -> Reply:
    """Move one and say so; its status stays. The request's shape is assumed."""
    wanted = ask.request
    _check_zone(wanted.timezone)
    booked = APPOINTMENT.find(ask.db, ask.client, wanted.appointment_id)
    _refuse_in((*_FINAL, "cancelled"), booked)
    changes: Json = {
        "scheduled_at": instants.from_datetime(wanted.scheduled_at),
        "updated_at": ask.now_us,
    }
    if wanted.duration_minutes is not None:
        changes["duration_minutes"] = wanted.duration_minutes
    if wanted.timezone is not None:
        changes["timezone"] = wanted.timezone
    booked = APPOINTMENT.change(ask.db, ask.client, wanted.appointment_id, changes)
    _tell(ask, "appointment.moved", booked)
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


def _tell(ask: Ask[Any], kind: str, booked: Json) -> None:
    events.emit(ask.db, ask.client, kind, events.appointment(booked), ask.now_us)


HANDLERS = (list_appointments, get_appointment, create, cancel, reschedule)
