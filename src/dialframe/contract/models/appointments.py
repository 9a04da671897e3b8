"""Appointments (contract, Resources: Appointment; Endpoints: Appointments)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dialframe.contract import limits
from dialframe.contract.ids import AppointmentId
from dialframe.contract.models.shape import E164, Answer, Instant, Integer, ListQuery, Request

Minutes = Annotated[
    Integer, Field(ge=limits.APPOINTMENT_MINUTES[0], le=limits.APPOINTMENT_MINUTES[1])
]
Zone = Annotated[str, Field(max_length=limits.TIMEZONE_CHARS)]


class Appointment(Answer):
    """A booked appointment; it names neither the lead nor the call that it came from."""

    id: str
    status: str
    scheduled_at: Instant
    timezone: str | None
    duration_minutes: Integer
    service_type: str | None
    contact_name: str | None
    phone: str
    email: str | None
    notes: str | None
    source: str
    created_at: Instant
    updated_at: Instant


class AppointmentQuery(ListQuery):
    """The appointment list; it takes no filters that the contract shows."""


class AppointmentRef(Request):
    """One appointment by id."""

    appointment_id: AppointmentId


class AppointmentCreate(Request):
    """An appointment to be booked; no e-mail is accepted."""

    phone: E164
    scheduled_at: Instant
    duration_minutes: Minutes | None = None
    timezone: Zone | None = None
    service_type: Annotated[str, Field(max_length=limits.APPOINTMENT_SERVICE_CHARS)] | None = None
    contact_name: Annotated[str, Field(max_length=limits.APPOINTMENT_NAME_CHARS)] | None = None
    notes: Annotated[str, Field(max_length=limits.APPOINTMENT_NOTES_CHARS)] | None = None


class AppointmentReschedule(Request):
    """A new time for an appointment; its shape is assumed."""

    appointment_id: AppointmentId
    scheduled_at: Instant
    duration_minutes: Minutes | None = None
    timezone: Zone | None = None
