"""Do-Not-Call, consent, texts, callbacks and appointments (contract, Endpoints)."""

from __future__ import annotations

from bisect import bisect
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dialframe.contract import operations
from dialframe.contract.models.base_models import Empty
from dialframe.contract.models.call_models import (
    AppointmentCreate,
    CallbackCreate,
)
from dialframe.contract.models.dnc_and_message_models import (
    ConsentRecord,
    DncAdd,
    DncCheck,
    SmsReportQuery,
    SmsSend,
    WhatsAppSend,
)
from dialframe.sandbox import call_content, clock
from dialframe.sandbox.clock import SECOND_US
from dialframe.sandbox.dialer import contact_checks
from dialframe.sandbox.handlers import requests_and_replies
from dialframe.sandbox.handlers.requests_and_replies import Reply, answer, on
from dialframe.sandbox.world import events
from dialframe.sandbox.world.api_objects import (
    APPOINTMENT,
    CALLBACK,
    LEAD,
    MESSAGE,
    Json,
    Refusal,
    Transaction,
    invalid,
)

#: After so long by the sandbox's clock a text is on its way, and after so long its fate is known.
SENT_US: Final = 2 * SECOND_US
SETTLED_US: Final = 30 * SECOND_US

#: What becomes of texts that are on their way, with the carrier's error code; both are assumed.
_FATES: Final[tuple[tuple[str, str | None], ...]] = (
    ("delivered", None),
    ("undelivered", "unreachable_handset"),
    ("failed", "carrier_rejected"),
)
#: Where the second and the third of them begin, of 256.
_REACHED: Final = (240, 250)


@on(operations.DNC_CHECK)
def check(tx: Transaction, request: DncCheck) -> Reply:
    """Listed or not, one result per number in the order given."""
    phones = request.phones
    listed = contact_checks.listed(tx, phones)
    # Contract, Endpoints, Do-Not-Call: one result for each number, in input order.
    return answer({"data": [{"phone": phone, "listed": phone in listed} for phone in phones]})


@on(operations.DNC_ADD)
def add(tx: Transaction, request: DncAdd) -> Reply:
    """List a number; one that is listed stays as it was. The shapes are assumed."""
    contact_checks.list_number(tx, request.phone, "api", request.reason)
    # Of a number that was listed before, the first reason and instant are answered.
    reason, listed_us = tx.row(
        "SELECT reason, listed_at FROM dnc WHERE client = ? AND phone = ?", request.phone
    )
    entry = {
        "phone": request.phone,
        "listed": True,
        "reason": reason,
        "created_at": clock.text(listed_us),
    }
    return answer(entry, status=201)


@on(operations.CONSENTS_RECORD)
def record(tx: Transaction, request: ConsentRecord) -> Reply:
    """Keep evidence of consent; the shapes are assumed."""
    obtained_us = clock.from_datetime(request.obtained_at)
    named = {"phone": request.phone, "channel": request.channel, "source": request.source}
    consent = {**named, "obtained_at": obtained_us, "evidence": request.evidence}
    consent_id = tx.add("consents", "consent", consent)
    moments = {"obtained_at": clock.text(obtained_us), "created_at": clock.text(tx.now_us)}
    return answer({"id": consent_id, **named, **moments}, status=201)


@on(operations.SMS_SEND)
def send(tx: Transaction, request: SmsSend) -> Reply:
    """Accept a text: here, note it. A reference is taken once and for all."""
    # Endpoints, SMS: a repeated reference sends nothing again.
    used = tx.row(
        "SELECT 1 FROM messages WHERE client = ? AND client_reference = ?",
        request.client_reference,
    )
    if used is not None:
        raise Refusal("duplicate_client_reference")
    # Endpoints, SMS: the checks before sending.
    contact_checks.not_on_dnc(tx, request.to, "/to")
    contact_checks.country_reachable(tx, request.to, "/to")
    contact_checks.contact_allowed(tx, request.to, "message_refused")
    contact_checks.affordable(tx, "sms")
    contact_checks.spend(tx, "sms")
    detail = {"body": request.body, "client_reference": request.client_reference}
    message = {"recipient": request.to, "status": "queued", **detail}
    message_id = tx.add("messages", "message", message)
    contact_checks.note_sent(tx, "sms", request.to, message_id, detail)
    # States, Other statuses: `queued` on acceptance.
    return answer(tx.find(MESSAGE, message_id), status=202)


def delivery(message_id: str, created_us: int, now_us: int) -> tuple[str, int, str | None]:
    """How a text stands: its status, since when, and why it did not arrive; drawn from its id."""
    if now_us < created_us + SENT_US:
        return "queued", created_us, None
    if now_us < created_us + SETTLED_US:
        return "sent", created_us + SENT_US, None
    # Of its id, so that a report says the same whenever it is asked for.
    status, error_code = _FATES[bisect(_REACHED, int(message_id[-2:], 16))]
    return status, created_us + SETTLED_US, error_code


@on(operations.SMS_DELIVERY_REPORTS)
def delivery_reports(tx: Transaction, request: SmsReportQuery) -> Reply:
    """What became of each text: queued, sent, then delivered or not. The shape is assumed."""

    def render(row: tuple[Any, ...]) -> Json:
        message_id, to, _, reference, created_us = row
        status, updated_us, error_code = delivery(message_id, created_us, tx.now_us)
        return {
            "message_id": message_id,
            "to": to,
            "status": status,
            "client_reference": reference,
            "created_at": clock.text(created_us),
            "updated_at": clock.text(updated_us),
            "error_code": error_code,
        }

    return requests_and_replies.page(
        tx, request, operations.SMS_DELIVERY_REPORTS, MESSAGE, render=render
    )


@on(operations.SMS_USAGE)
def usage(tx: Transaction, request: Empty) -> Reply:
    """Texts accepted today and this month (UTC), with the daily cap. The shape is assumed."""
    # Limits: daily caps go by the UTC day, and so do these counts.
    del request
    today = clock.day_of(tx.now_us)
    sent_today, this_month = tx.row(
        "SELECT coalesce(sum(day = ?2), 0), count(*) FROM"
        " (SELECT date(created_at / 1000000, 'unixepoch') AS day FROM messages WHERE client = ?1)"
        " WHERE substr(day, 1, 7) = substr(?2, 1, 7)",
        today,
    )
    counts = {"day": today, "sent_today": sent_today, "sent_this_month": this_month}
    return answer({**counts, "daily_cap": tx.settings.daily_cap})


@on(operations.WHATSAPP_SEND)
def whatsapp(tx: Transaction, request: WhatsAppSend) -> Reply:
    """Refused for every account, which happens before a request gets here."""
    # `request_checks` refuses it with the switches; this row only completes the table.
    del tx, request
    # What the service does: 403 for every account until the operator announces it.
    raise Refusal("tier_not_enabled")


# Contract, Endpoints, Callbacks: a campaign of another account yields an empty page.
requests_and_replies.lists(operations.CALLBACKS_LIST, CALLBACK)


@on(operations.CALLBACKS_CREATE)
def create_callback(tx: Transaction, request: CallbackCreate) -> Reply:
    """Schedule one; when it is due, the lead is called."""
    lead = tx.find(LEAD, request.lead_id)
    if lead["campaign_id"] is None:
        raise invalid("/lead_id", "no_campaign", "The lead belongs to no campaign.")
    # Endpoints, Callbacks: a lead on the Do-Not-Call list answers 422.
    contact_checks.not_on_dnc(tx, lead["phone"], "/lead_id")
    contact_checks.spend(tx, "callback")
    due_us = clock.from_datetime(request.scheduled_at)
    values: Json = {
        "lead_id": request.lead_id,
        "campaign_id": lead["campaign_id"],
        "scheduled_at": due_us,
        "status": "pending",
        "notes": request.notes,
        "call_at": max(due_us, tx.now_us),
        # A callback that a request promised is kept also while its campaign is paused.
        "asked_by": "request",
    }
    callback_id = tx.add("callbacks", "callback", values)
    return answer(tx.find(CALLBACK, callback_id), status=201)


# Limits: 5 to 480 minutes; the default is not shown.
DURATION_MINUTES: Final = 30
SOURCE: Final = "api"


requests_and_replies.lists(operations.APPOINTMENTS_LIST, APPOINTMENT)
requests_and_replies.finds(operations.APPOINTMENTS_GET, APPOINTMENT)


@on(operations.APPOINTMENTS_CREATE)
def create_appointment(tx: Transaction, request: AppointmentCreate) -> Reply:
    """Book one and say so."""
    check_zone(request.timezone)
    contact_checks.country_reachable(tx, request.phone, "/phone")
    values: Json = {
        **request.model_dump(),
        "status": "scheduled",
        "scheduled_at": clock.from_datetime(request.scheduled_at),
        "duration_minutes": request.duration_minutes or DURATION_MINUTES,
        # Resources, Appointment: `source` is not explained; of a call's own booking it is `call`.
        "source": SOURCE,
        "updated_at": tx.now_us,
    }
    booked = tx.find(APPOINTMENT, tx.add("appointments", "appointment", values))
    events.emit(tx, "appointment.booked", call_content.appointment(booked))
    return answer(booked, status=201)


def check_zone(name: str | None) -> None:
    """Refuse a time zone that there is not."""
    if name is None:
        return
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # A directory of the zone data is an OSError, a path out of it a ValueError.
        raise invalid("/timezone", "unknown_time_zone") from None
