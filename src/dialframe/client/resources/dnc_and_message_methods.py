"""`client.dnc`, `.consents`, `.sms`, `.whatsapp`, `.callbacks`, `.appointments`: who may be contacted, and how."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from pydantic import TypeAdapter

from dialframe.client.client_settings import Options
from dialframe.client.pagination import ListPlan
from dialframe.client.request_building import checked
from dialframe.client.resources import Resource, ShellT, listed, operation
from dialframe.client.response_reading import Answered
from dialframe.client.step_runners import Steps
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.base_models import E164
from dialframe.contract.models.call_models import (
    Appointment,
    Callback,
    CallbackStatus,
)
from dialframe.contract.models.dnc_and_message_models import (
    Consent,
    DncAnswer,
    DncCheck,
    DncEntry,
    SmsDeliveryReport,
    SmsMessage,
    SmsUsage,
    WhatsAppMessage,
)
from dialframe.errors import ConfigError, ContractError, DialframeError
from dialframe.privacy import mask

_NUMBERS: Final = TypeAdapter(list[E164])


@dataclass(frozen=True, slots=True)
class DncChecked:
    """One number's answer from the Do-Not-Call check, with its evidence.

    Attributes:
        phone: The number as it was asked.
        listed: Whether it is on a Do-Not-Call list; which one is not said.
        checked_at: When the question was sent, UTC, by this machine's clock.
        request_id: The service's id of the answer.
    """

    phone: str
    listed: bool
    checked_at: datetime
    request_id: str | None

    def __repr__(self) -> str:
        return (
            f"DncChecked(phone={mask(self.phone)!r}, listed={self.listed}, "
            f"checked_at={self.checked_at.isoformat()}, request_id={self.request_id!r})"
        )


class Dnc(Resource[ShellT]):
    """Do-Not-Call: check and add; removing is done in the console. What a method raises is said at `Client`."""

    @operation
    def check(
        self,
        phones: Iterable[str],
        *,
        on_progress: OnProgress | None = None,
        options: Options | None = None,
    ) -> Steps[list[DncChecked]]:
        """Check any number of numbers against Do-Not-Call, a hundred in each request.

        Every number is looked at before the first is sent, so a malformed one costs no request.

        Args:
            phones: E.164 numbers; one that comes twice is asked twice.
            on_progress: Called after each request with the count of numbers answered.
            options: Options of each request.

        Returns:
            One answer per number, in their order.

        Raises:
            ContractError: The service answered other numbers than it was asked.
            DialframeError: Whatever ends it early: the answers that came before are in its `.partial`.
        """
        if isinstance(phones, str):
            raise ConfigError(f"{rows.DNC_CHECK.name}: phones: give a list of numbers, not text")
        asked = checked(
            rows.DNC_CHECK.name, lambda: _NUMBERS.validate_python([*phones]), root="phones"
        )
        tell = on_progress or silent
        results: list[DncChecked] = []
        # Contract, Limits: numbers per DNC check.
        for start in range(0, len(asked), limits.PHONES_PER_DNC_CHECK):
            chunk = asked[start : start + limits.PHONES_PER_DNC_CHECK]
            try:
                answered = yield from self._sender.ask_raw(
                    rows.DNC_CHECK, partial(DncCheck, phones=chunk), options
                )
                results += _results(chunk, answered)
            except DialframeError as error:
                # The answers before it are as good as they were, and the method ends here: the error carries them.
                if results:
                    error.partial = tuple(results)
                    error.args = (
                        f"{error}; {len(results)} of {len(asked)} numbers were answered before: they "
                        "are in error.partial",
                    )
                raise
            tell(Progress(rows.DNC_CHECK.name, len(results), len(asked)))
        return results

    @operation
    def add(
        self, phone: str, *, reason: str | None = None, options: Options | None = None
    ) -> Steps[DncEntry]:
        """Add a number to the account's Do-Not-Call list.

        Args:
            phone: E.164.
            reason: At most 200 characters.
            options: Options of this call.
        """
        # What the service does: removing a number is not offered here, it is done in the console.
        return self._ask(rows.DNC_ADD, options, phone=phone, reason=reason)


class Consents(Resource[ShellT]):
    """Evidence of consent. What a method raises is said at `Client`."""

    @operation
    def record(
        self,
        *,
        phone: str,
        channel: str,
        source: str,
        obtained_at: datetime,
        evidence: str | None = None,
        options: Options | None = None,
    ) -> Steps[Consent]:
        """Record evidence of consent.

        Args:
            phone: E.164.
            channel: What was consented to: calls, texts.
            source: Where the consent was given.
            obtained_at: When, with a time zone.
            evidence: What proves it.
            options: Options of this call.
        """
        # Scopes: tier 2 and a switch of its own, though nobody is contacted.
        return self._ask(
            rows.CONSENTS_RECORD,
            options,
            phone=phone,
            channel=channel,
            source=source,
            obtained_at=obtained_at,
            evidence=evidence,
        )


class Sms(Resource[ShellT]):
    """Text messages. What a method raises is said at `Client`."""

    @operation
    def send(
        self, *, to: str, body: str, client_reference: str, options: Options | None = None
    ) -> Steps[SmsMessage]:
        """Send a text message.

        Args:
            to: E.164.
            body: 1-918 characters.
            client_reference: Your own reference, 1-64 characters; a repeated one sends nothing.
            options: Options of this call.
        """
        # Endpoints, SMS: under another key a repeated reference is refused (409), and nothing is sent again.
        return self._ask(
            rows.SMS_SEND, options, to=to, body=body, client_reference=client_reference
        )

    @listed
    def delivery_reports(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> ListPlan[SmsDeliveryReport]:
        """List what became of text messages.

        Args:
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page.
            options: Options of each page's request.
        """
        return self._list(rows.SMS_DELIVERY_REPORTS, options, limit=limit, cursor=cursor)

    @operation
    def usage(self, *, options: Options | None = None) -> Steps[SmsUsage]:
        """Read how many text messages were sent.

        Args:
            options: Options of this call.
        """
        return self._ask(rows.SMS_USAGE, options)


class WhatsApp(Resource[ShellT]):
    """WhatsApp messages. What a method raises is said at `Client`."""

    @operation
    def send(
        self,
        *,
        to: str,
        body: str | None = None,
        template: str | None = None,
        client_reference: str | None = None,
        options: Options | None = None,
    ) -> Steps[WhatsAppMessage]:
        """Send a WhatsApp message; refused for every account until it is announced.

        Args:
            to: E.164.
            body: The text.
            template: Name of an approved template.
            client_reference: Your own reference.
            options: Options of this call.
        """
        # What the service does: 403 `tier_not_enabled` for every account for now.
        return self._ask(
            rows.WHATSAPP_SEND,
            options,
            to=to,
            body=body,
            template=template,
            client_reference=client_reference,
        )


def _results(phones: Sequence[str], answered: Answered[DncAnswer]) -> list[DncChecked]:
    answers = answered.value.data
    # Contract, Endpoints, Do-Not-Call: one result per input number in input order.
    if [answer.phone for answer in answers] != list(phones):
        raise ContractError(
            f"{rows.DNC_CHECK.name}: {len(phones)} numbers were asked and the {len(answers)} "
            "answers are not theirs in their order; none of them is used "
            f"(request {answered.request_id})",
            operation=rows.DNC_CHECK.name,
            where="data",
        )
    return [
        DncChecked(answer.phone, answer.listed, answered.observed_at, answered.request_id)
        for answer in answers
    ]


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
        # Endpoints, Callbacks: a campaign is demanded; that of another account has an empty page.
        return self._list(
            rows.CALLBACKS_LIST,
            options,
            campaign_id=campaign_id,
            status=status,
            limit=limit,
            cursor=cursor,
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
        # States, Callback: when it is due, the platform calls the lead.
        return self._ask(
            rows.CALLBACKS_CREATE, options, lead_id=lead_id, scheduled_at=scheduled_at, notes=notes
        )

    @operation
    def cancel(self, callback_id: str, *, options: Options | None = None) -> Steps[Callback]:
        """Cancel a pending callback.

        Args:
            callback_id: `cb_` and a UUID; one that is cancelled stays so.
            options: Options of this call.
        """
        # States, Callback: cancelling twice is once (200).
        return self._ask(rows.CALLBACKS_CANCEL, options, callback_id=callback_id)

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
        return self._ask(
            rows.CALLBACKS_RESCHEDULE, options, callback_id=callback_id, scheduled_at=scheduled_at
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
        return self._list(rows.APPOINTMENTS_LIST, options, limit=limit, cursor=cursor)

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
        # Endpoints, Appointments: no e-mail is accepted, though an answer may hold one.
        return self._ask(
            rows.APPOINTMENTS_CREATE,
            options,
            phone=phone,
            scheduled_at=scheduled_at,
            duration_minutes=duration_minutes,
            timezone=timezone,
            service_type=service_type,
            contact_name=contact_name,
            notes=notes,
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
        # Endpoints, Common request parts: it understands `If-Match`; States: the customer may be texted.
        answer = self._ask(rows.APPOINTMENTS_CANCEL, options, appointment_id=appointment_id)
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
        return self._ask(
            rows.APPOINTMENTS_RESCHEDULE,
            options,
            appointment_id=appointment_id,
            scheduled_at=scheduled_at,
            duration_minutes=duration_minutes,
            timezone=timezone,
        )

    def _get(self, appointment_id: str, options: Options | None = None) -> Steps[Appointment]:
        return self._ask(rows.APPOINTMENTS_GET, options, appointment_id=appointment_id)
