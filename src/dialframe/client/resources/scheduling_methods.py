"""`client.callbacks` and `client.appointments`: calls promised to leads, and what was booked with customers."""

from __future__ import annotations

from datetime import datetime

from dialframe.client.pagination import ListPlan
from dialframe.client.request_options import Options
from dialframe.client.resources import Resource, ShellT, listed, operation
from dialframe.client.step_runners import Steps
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.call_models import (
    Appointment,
    AppointmentCreate,
    AppointmentQuery,
    AppointmentRef,
    AppointmentReschedule,
    Callback,
    CallbackCreate,
    CallbackQuery,
    CallbackRef,
    CallbackReschedule,
    CallbackStatus,
)


class Callbacks(Resource[ShellT]):
    """Callbacks: read, schedule, move, cancel. What a method raises is said at `Client`."""

    @listed
    def list(
        self,
        campaign_id: str,
        *,
        status: CallbackStatus | None = None,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> ListPlan[Callback]:
        """List one campaign's callbacks, newest created first.

        Args:
            campaign_id: `cmp_` and a UUID.
            status: Only callbacks in this state.
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page of the same filters.
            options: Options of each page's request.
        """
        return self._sender.listing(
            rows.CALLBACKS_LIST,
            lambda: CallbackQuery(
                campaign_id=campaign_id, status=status, limit=limit, cursor=cursor
            ),
            options,
        )

    @operation
    def create(
        self,
        *,
        lead_id: str,
        scheduled_at: datetime,
        notes: str | None = None,
        options: Options | None = None,
    ) -> Steps[Callback]:
        """Schedule a callback; when due, the platform calls the lead.

        Args:
            lead_id: `lead_` and a UUID.
            scheduled_at: When, with a time zone.
            notes: At most 500 characters.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CALLBACKS_CREATE,
            lambda: CallbackCreate(lead_id=lead_id, scheduled_at=scheduled_at, notes=notes),
            options,
        )

    @operation
    def cancel(self, callback_id: str, *, options: Options | None = None) -> Steps[Callback]:
        """Cancel a pending callback.

        Args:
            callback_id: `cb_` and a UUID; one that is cancelled stays so.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CALLBACKS_CANCEL, lambda: CallbackRef(callback_id=callback_id), options
        )

    @operation
    def reschedule(
        self, callback_id: str, *, scheduled_at: datetime, options: Options | None = None
    ) -> Steps[Callback]:
        """Move a pending callback.

        Args:
            callback_id: `cb_` and a UUID.
            scheduled_at: When, with a time zone.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CALLBACKS_RESCHEDULE,
            lambda: CallbackReschedule(callback_id=callback_id, scheduled_at=scheduled_at),
            options,
        )


class Appointments(Resource[ShellT]):
    """Appointments: read, book, move, cancel. What a method raises is said at `Client`."""

    @listed
    def list(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> ListPlan[Appointment]:
        """List appointments.

        Args:
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page.
            options: Options of each page's request.
        """
        return self._sender.listing(
            rows.APPOINTMENTS_LIST, lambda: AppointmentQuery(limit=limit, cursor=cursor), options
        )

    @operation
    def get(self, appointment_id: str, *, options: Options | None = None) -> Steps[Appointment]:
        """Read one appointment.

        Args:
            appointment_id: `appt_` and a UUID.
            options: Options of this call.
        """
        return self._get(appointment_id, options)

    @operation
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
    ) -> Steps[Appointment]:
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

    @operation
    def cancel(self, appointment_id: str, *, options: Options | None = None) -> Steps[Appointment]:
        """Cancel an appointment; the customer may be texted.

        With `Options(if_match=appointment)` only if it is still as it was read; else
        `PreconditionFailed`, whose `.fresh` is the appointment as it is now.

        Args:
            appointment_id: `appt_` and a UUID; one that is cancelled stays so.
            options: Options of this call.
        """
        answer = self._sender.ask(
            rows.APPOINTMENTS_CANCEL,
            lambda: AppointmentRef(appointment_id=appointment_id),
            options,
        )
        return self._sender.or_fresh(answer, lambda: self._get(appointment_id))

    @operation
    def reschedule(
        self,
        appointment_id: str,
        *,
        scheduled_at: datetime,
        duration_minutes: int | None = None,
        timezone: str | None = None,
        options: Options | None = None,
    ) -> Steps[Appointment]:
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

    def _get(self, appointment_id: str, options: Options | None = None) -> Steps[Appointment]:
        return self._sender.ask(
            rows.APPOINTMENTS_GET, lambda: AppointmentRef(appointment_id=appointment_id), options
        )
