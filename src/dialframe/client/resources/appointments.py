"""`client.appointments`: what was booked with customers."""

from __future__ import annotations

from datetime import datetime

from dialframe.client.listing import Listing
from dialframe.client.options import Options
from dialframe.client.sender import Sender
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.appointments import (
    Appointment,
    AppointmentCreate,
    AppointmentQuery,
    AppointmentRef,
    AppointmentReschedule,
)
from dialframe.errors import PreconditionFailed


class Appointments:
    """Appointments: read, book, move, cancel. What a method raises is said at `Client`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[Appointment]:
        """List appointments.

        Args:
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page.
            options: Options of each page's request.
        """
        return self._sender.listing(
            rows.APPOINTMENTS_LIST, lambda: AppointmentQuery(limit=limit, cursor=cursor), options
        )

    def get(self, appointment_id: str, *, options: Options | None = None) -> Appointment:
        """Read one appointment.

        Args:
            appointment_id: `appt_` and a UUID.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.APPOINTMENTS_GET, lambda: AppointmentRef(appointment_id=appointment_id), options
        )

    def create(
        self,
        *,
        phone: str,
        scheduled_at: datetime,
        duration_minutes: int | None = None,
        timezone: str | None = None,
        service_type: str | None = None,
        contact_name: str | None = None,
        notes: str | None = None,
        options: Options | None = None,
    ) -> Appointment:
        """Book an appointment; the customer may be texted.

        Args:
            phone: The customer, E.164.
            scheduled_at: When, with a time zone.
            duration_minutes: 5-480.
            timezone: IANA zone of the customer, at most 64 characters.
            service_type: At most 100 characters.
            contact_name: At most 200 characters.
            notes: At most 1000 characters.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.APPOINTMENTS_CREATE,
            lambda: AppointmentCreate(
                phone=phone,
                scheduled_at=scheduled_at,
                duration_minutes=duration_minutes,
                timezone=timezone,
                service_type=service_type,
                contact_name=contact_name,
                notes=notes,
            ),
            options,
        )

    def cancel(self, appointment_id: str, *, options: Options | None = None) -> Appointment:
        """Cancel an appointment; the customer may be texted.

        With `Options(if_match=appointment)` only if it is still as it was read; else
        `PreconditionFailed`, whose `.fresh` is the appointment as it is now.

        Args:
            appointment_id: `appt_` and a UUID; one that is cancelled stays so.
            options: Options of this call.
        """
        try:
            return self._sender.ask(
                rows.APPOINTMENTS_CANCEL,
                lambda: AppointmentRef(appointment_id=appointment_id),
                options,
            )
        except PreconditionFailed as error:
            raise self._sender.fresh(error, lambda: self.get(appointment_id)) from None

    def reschedule(
        self,
        appointment_id: str,
        *,
        scheduled_at: datetime,
        duration_minutes: int | None = None,
        timezone: str | None = None,
        options: Options | None = None,
    ) -> Appointment:
        """Move an appointment.

        Args:
            appointment_id: `appt_` and a UUID.
            scheduled_at: When, with a time zone.
            duration_minutes: 5-480; None leaves it alone.
            timezone: IANA zone of the customer; None leaves it alone.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.APPOINTMENTS_RESCHEDULE,
            lambda: AppointmentReschedule(
                appointment_id=appointment_id,
                scheduled_at=scheduled_at,
                duration_minutes=duration_minutes,
                timezone=timezone,
            ),
            options,
        )
