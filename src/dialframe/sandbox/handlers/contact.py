"""Do-Not-Call, consent, SMS and WhatsApp (contract, Endpoints: Do-Not-Call, SMS)."""

from __future__ import annotations

import json
from bisect import bisect
from typing import Any, Final

from dialframe.contract import operations
from dialframe.contract.models.message_models import (
    ConsentRecord,
    DncAdd,
    DncCheck,
    SmsReportQuery,
    SmsSend,
    WhatsAppSend,
)
from dialframe.contract.models.shape import Empty
from dialframe.sandbox.dialer import sending
from dialframe.sandbox.dialer.sending import Sent
from dialframe.sandbox.handlers import exchange
from dialframe.sandbox.handlers.exchange import Context, Reply, Source, answer, on
from dialframe.sandbox.world import access, clock
from dialframe.sandbox.world.clock import SECOND_US
from dialframe.sandbox.world.database import insert
from dialframe.sandbox.world.refusals import Refusal
from dialframe.sandbox.world.resources import MESSAGE, Json

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

_REPORTED: Final = ("id", "recipient", "client_reference", "created_at")


@on(operations.DNC_CHECK)
def check(context: Context[DncCheck]) -> Reply:
    """Listed or not, one result per number in the order given."""
    phones = context.request.phones
    rows = context.db.execute(
        "SELECT phone FROM dnc WHERE client = ? AND phone IN (SELECT value FROM json_each(?))",
        (context.client, json.dumps(phones)),
    )
    listed = {phone for (phone,) in rows}
    return answer({"data": [{"phone": phone, "listed": phone in listed} for phone in phones]})


@on(operations.DNC_ADD)
def add(context: Context[DncAdd]) -> Reply:
    """List a number; one that is listed stays as it was. The shapes are assumed."""
    context.db.execute(
        "INSERT OR IGNORE INTO dnc (client, phone, listed_at, source, reason)"
        " VALUES (?, ?, ?, 'api', ?)",
        (context.client, context.request.phone, context.now_us, context.request.reason),
    )
    reason, listed_us = context.db.execute(
        "SELECT reason, listed_at FROM dnc WHERE client = ? AND phone = ?",
        (context.client, context.request.phone),
    ).fetchone()
    entry = {
        "phone": context.request.phone,
        "listed": True,
        "reason": reason,
        "created_at": clock.text(listed_us),
    }
    return answer(entry, status=201)


@on(operations.CONSENTS_RECORD)
def record(context: Context[ConsentRecord]) -> Reply:
    """Keep evidence of consent; the shapes are assumed."""
    given = context.request
    values = {
        "id": access.new_id(context.db, context.client, "consent"),
        "phone": given.phone,
        "channel": given.channel,
        "source": given.source,
        "obtained_at": clock.from_datetime(given.obtained_at),
        "created_at": context.now_us,
    }
    insert(context.db, "consents", context.client, {**values, "evidence": given.evidence})
    moments = ("obtained_at", "created_at")
    shown = {**values, **{name: clock.text(int(str(values[name]))) for name in moments}}
    return answer(shown, status=201)


@on(operations.SMS_SEND)
def send(context: Context[SmsSend]) -> Reply:
    """Accept a text: here, note it. A reference is taken once and for all."""
    wanted = context.request
    used = context.db.execute(
        "SELECT 1 FROM messages WHERE client = ? AND client_reference = ?",
        (context.client, wanted.client_reference),
    )
    if used.fetchone() is not None:
        raise Refusal("duplicate_client_reference", "The reference was used before.")
    sending.not_on_dnc(context.sender, wanted.to, "/to")
    sending.country_reachable(context.sender, wanted.to, "/to")
    sending.contact_allowed(context.sender, wanted.to, "message_refused")
    sending.affordable(context.sender, "sms")
    sending.spend(context.sender, "sms")
    values = {
        "id": access.new_id(context.db, context.client, "message"),
        "recipient": wanted.to,
        "body": wanted.body,
        "status": "queued",
        "client_reference": wanted.client_reference,
        "created_at": context.now_us,
    }
    insert(context.db, "messages", context.client, values)
    detail = {"body": wanted.body, "client_reference": wanted.client_reference}
    message_id = str(values["id"])
    sending.note_sent(
        context.db, context.client, Sent("sms", wanted.to, context.now_us, message_id, detail)
    )
    return answer(MESSAGE.find(context.db, context.client, message_id), status=202)


def delivery(message_id: str, created_us: int, now_us: int) -> tuple[str, int, str | None]:
    """How a text stands: its status, since when, and why it did not arrive; drawn from its id."""
    if now_us < created_us + SENT_US:
        return "queued", created_us, None
    if now_us < created_us + SETTLED_US:
        return "sent", created_us + SENT_US, None
    status, error_code = _FATES[bisect(_REACHED, int(message_id[-2:], 16))]
    return status, created_us + SETTLED_US, error_code


@on(operations.SMS_DELIVERY_REPORTS)
def delivery_reports(context: Context[SmsReportQuery]) -> Reply:
    """What became of each text: queued, sent, then delivered or not. The shape is assumed."""

    def render(row: tuple[Any, ...]) -> Json:
        message_id, to, reference, created_us = row
        status, updated_us, error_code = delivery(message_id, created_us, context.now_us)
        return {
            "message_id": message_id,
            "to": to,
            "status": status,
            "client_reference": reference,
            "created_at": clock.text(created_us),
            "updated_at": clock.text(updated_us),
            "error_code": error_code,
        }

    return exchange.page(context, Source("messages", _REPORTED, {}), render)


@on(operations.SMS_USAGE)
def usage(context: Context[Empty]) -> Reply:
    """Texts accepted today and this month (UTC), with the daily cap. The shape is assumed."""
    today = clock.day_of(context.now_us)
    counts = context.db.execute(
        "SELECT coalesce(sum(day = ?), 0), count(*) FROM"
        " (SELECT date(created_at / 1000000, 'unixepoch') AS day FROM messages WHERE client = ?)"
        " WHERE substr(day, 1, 7) = ?",
        (today, context.client, today[:7]),
    ).fetchone()
    return answer(
        {
            "day": today,
            "sent_today": counts[0],
            "sent_this_month": counts[1],
            "daily_cap": context.caller.settings.daily_cap,
        }
    )


@on(operations.WHATSAPP_SEND)
def whatsapp(context: Context[WhatsAppSend]) -> Reply:
    """Refused for every account, which happens before a request gets here."""
    del context
    raise Refusal("tier_not_enabled", "WhatsApp sending is not available yet.")


HANDLERS = (check, add, record, send, delivery_reports, usage, whatsapp)
