"""`client.dnc`, `.consents`, `.sms`, `.whatsapp`, `.callbacks`, `.appointments`: who may be contacted, and how."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from pydantic import TypeAdapter

from dialframe.client.client_settings import Options
from dialframe.client.pagination import Listing
from dialframe.client.request_building import checked
from dialframe.client.resources import Resource, ShellT, listed, operation, sent
from dialframe.client.response_reading import Answered
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.base_models import E164
from dialframe.contract.models.call_models import Appointment, Callback, CallbackStatus
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
    async def check(
        self,
        phones: Iterable[str],
        *,
        on_progress: OnProgress | None = None,
        options: Options | None = None,
    ) -> list[DncChecked]:
        """Check any number of numbers against Do-Not-Call, a hundred in each request.

        Every number is looked at before the first is sent, so a malformed one costs no request. The client of an
        account (`dialframe.connect`) keeps each answer as evidence, which audits and screenings read; a client of
        its own keeps none.

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
        # Endpoints, Do-Not-Call: a check changes nothing and has no key, so that each hundred may be asked again.
        results: list[DncChecked] = []
        tell = on_progress or silent
        # Contract, Limits: numbers per DNC check.
        for start in range(0, len(asked), limits.PHONES_PER_DNC_CHECK):
            chunk = asked[start : start + limits.PHONES_PER_DNC_CHECK]
            try:
                answered = await self._sender.ask_raw(
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

    # What the service does: removing a number is not offered here, it is done in the console.
    @sent(rows.DNC_ADD)
    def add(
        self, phone: str, *, reason: str | None = None, options: Options | None = None
    ) -> DncEntry:
        """Add a number to the account's Do-Not-Call list.

        Args:
            phone: E.164.
            reason: At most 200 characters.
        """


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


class Consents(Resource[ShellT]):
    """Evidence of consent. What a method raises is said at `Client`."""

    # Scopes: tier 2 and a switch of its own, though nobody is contacted.
    @sent(rows.CONSENTS_RECORD)
    def record(
        self,
        *,
        phone: str,
        channel: str,
        source: str,
        obtained_at: datetime,
        evidence: str | None = None,
        options: Options | None = None,
    ) -> Consent:
        """Record evidence of consent.

        Args:
            phone: E.164.
            channel: What was consented to: calls, texts.
            source: Where the consent was given.
            obtained_at: When, with a time zone.
            evidence: What proves it.
        """


class Sms(Resource[ShellT]):
    """Text messages. What a method raises is said at `Client`."""

    # Endpoints, SMS: under another key a repeated reference is refused (409), and nothing is sent again.
    @sent(rows.SMS_SEND)
    def send(
        self, *, to: str, body: str, client_reference: str, options: Options | None = None
    ) -> SmsMessage:
        """Send a text message.

        Args:
            to: E.164.
            body: 1-918 characters.
            client_reference: Your own reference, 1-64 characters; a repeated one sends nothing.
        """

    # Other statuses: what may follow `queued` is not shown, so that any status is kept as it comes.
    @listed(rows.SMS_DELIVERY_REPORTS)
    def delivery_reports(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[SmsDeliveryReport]:
        """List what became of text messages."""

    # Endpoints, SMS: a text counts against daily and per-minute caps of the key and of the account.
    @sent(rows.SMS_USAGE)
    def usage(self, *, options: Options | None = None) -> SmsUsage:
        """Read how many text messages were sent."""


class WhatsApp(Resource[ShellT]):
    """WhatsApp messages. What a method raises is said at `Client`."""

    # What the service does: 403 `tier_not_enabled` for every account for now.
    @sent(rows.WHATSAPP_SEND)
    def send(
        self,
        *,
        to: str,
        body: str | None = None,
        template: str | None = None,
        client_reference: str | None = None,
        options: Options | None = None,
    ) -> WhatsAppMessage:
        """Send a WhatsApp message; refused for every account until it is announced.

        Args:
            to: E.164.
            body: The text.
            template: Name of an approved template.
            client_reference: Your own reference.
        """


class Callbacks(Resource[ShellT]):
    """Callbacks: read, schedule, move, cancel. What a method raises is said at `Client`."""

    # Endpoints, Callbacks: a campaign is demanded; that of another account has an empty page.
    @listed(rows.CALLBACKS_LIST)
    def list(
        self,
        campaign_id: str,
        *,
        status: CallbackStatus | None = None,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[Callback]:
        """List one campaign's callbacks, newest created first.

        Args:
            status: Only callbacks in this state.
        """

    # States, Callback: when it is due, the platform calls the lead.
    @sent(rows.CALLBACKS_CREATE)
    def create(
        self,
        *,
        lead_id: str,
        scheduled_at: datetime,
        notes: str | None = None,
        options: Options | None = None,
    ) -> Callback:
        """Schedule a callback; when due, the platform calls the lead.

        Args:
            scheduled_at: When, with a time zone.
            notes: At most 500 characters.
        """

    # States, Callback: cancelling twice is once (200).
    @sent(rows.CALLBACKS_CANCEL)
    def cancel(self, callback_id: str, *, options: Options | None = None) -> Callback:
        """Cancel a pending callback.

        Args:
            callback_id: `cb_` and a UUID; one that is cancelled stays so.
        """

    # States, Callback: only a pending one can move.
    @sent(rows.CALLBACKS_RESCHEDULE)
    def reschedule(
        self, callback_id: str, *, scheduled_at: datetime, options: Options | None = None
    ) -> Callback:
        """Move a pending callback.

        Args:
            scheduled_at: When, with a time zone.
        """


class Appointments(Resource[ShellT]):
    """Appointments: read, book, move, cancel. What a method raises is said at `Client`."""

    @listed(rows.APPOINTMENTS_LIST)
    def list(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[Appointment]:
        """List appointments."""

    @sent(rows.APPOINTMENTS_GET)
    def get(self, appointment_id: str, *, options: Options | None = None) -> Appointment:
        """Read one appointment."""

    # Endpoints, Appointments: no e-mail is accepted, though an answer may hold one.
    @sent(rows.APPOINTMENTS_CREATE)
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
        """

    # Endpoints, Common request parts: it understands `If-Match`; States: the customer may be texted.
    @sent(rows.APPOINTMENTS_CANCEL)
    def cancel(self, appointment_id: str, *, options: Options | None = None) -> Appointment:
        """Cancel an appointment; the customer may be texted.

        With `Options(if_match=appointment)` only if it is still as it was read; else
        `PreconditionFailed`, whose `.fresh` is the appointment as it is now.

        Args:
            appointment_id: `appt_` and a UUID; one that is cancelled stays so.
        """

    @sent(rows.APPOINTMENTS_RESCHEDULE)
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
            scheduled_at: When, with a time zone.
            duration_minutes: 5-480; None leaves it alone.
            timezone: IANA zone of the customer; None leaves it alone.
        """
