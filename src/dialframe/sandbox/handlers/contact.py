"""Do-Not-Call, consent, SMS and WhatsApp (contract, Endpoints: Do-Not-Call, SMS)."""

from __future__ import annotations

import json
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

#: After this long by the sandbox's clock a text counts as delivered.
DELIVERED_US: Final = 30 * SECOND_US

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


@on(operations.SMS_DELIVERY_REPORTS)
def delivery_reports(context: Context[SmsReportQuery]) -> Reply:
    """What became of each text: queued, half a minute later delivered. The shape is assumed."""

    def render(row: tuple[Any, ...]) -> Json:
        message_id, to, reference, created_us = row
        delivered = context.now_us >= created_us + DELIVERED_US
        updated_us = created_us + DELIVERED_US if delivered else created_us
        return {
            "message_id": message_id,
            "to": to,
            "status": "delivered" if delivered else "queued",
            "client_reference": reference,
            "created_at": clock.text(created_us),
            "updated_at": clock.text(updated_us),
            "error_code": None,
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
