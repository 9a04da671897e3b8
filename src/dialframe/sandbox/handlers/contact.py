"""Do-Not-Call, consent, SMS and WhatsApp (contract, Endpoints: Do-Not-Call, SMS)."""

from __future__ import annotations

import json
from typing import Any, Final

from dialframe.contract import operations
from dialframe.contract.models.contact import (
    ConsentRecord,
    DncAdd,
    DncCheck,
    SmsReportQuery,
    SmsSend,
    WhatsAppSend,
)
from dialframe.contract.models.shape import Empty
from dialframe.sandbox import identifiers, instants, lists, outbox, sending
from dialframe.sandbox.exchange import Ask, Json, Reply, answer, on
from dialframe.sandbox.instants import SECOND_US
from dialframe.sandbox.lists import Source
from dialframe.sandbox.loading import insert
from dialframe.sandbox.outbox import Sent
from dialframe.sandbox.problems import Refusal
from dialframe.sandbox.resources import MESSAGE

#: After this long by the sandbox's clock a text counts as delivered.
DELIVERED_US: Final = 30 * SECOND_US

_REPORTED: Final = ("id", "recipient", "client_reference", "created_at")


@on(operations.DNC_CHECK)
def check(ask: Ask[DncCheck]) -> Reply:
    """Listed or not, one result per number in the order given."""
    phones = ask.request.phones
    rows = ask.db.execute(
        "SELECT phone FROM dnc WHERE client = ? AND phone IN (SELECT value FROM json_each(?))",
        (ask.client, json.dumps(phones)),
    )
    listed = {phone for (phone,) in rows}
    return answer({"data": [{"phone": phone, "listed": phone in listed} for phone in phones]})


@on(operations.DNC_ADD)
def add(ask: Ask[DncAdd]) -> Reply:
    """List a number; one that is listed stays as it was. The shapes are assumed."""
    ask.db.execute(
        "INSERT OR IGNORE INTO dnc (client, phone, listed_at, source, reason)"
        " VALUES (?, ?, ?, 'api', ?)",
        (ask.client, ask.request.phone, ask.now_us, ask.request.reason),
    )
    reason, listed_us = ask.db.execute(
        "SELECT reason, listed_at FROM dnc WHERE client = ? AND phone = ?",
        (ask.client, ask.request.phone),
    ).fetchone()
    entry = {
        "phone": ask.request.phone,
        "listed": True,
        "reason": reason,
        "created_at": instants.text(listed_us),
    }
    return answer(entry, status=201)


@on(operations.CONSENTS_RECORD)
def record(ask: Ask[ConsentRecord]) -> Reply:
    """Keep evidence of consent; the shapes are assumed."""
    given = ask.request
    values = {
        "id": identifiers.new("consent"),
        "phone": given.phone,
        "channel": given.channel,
        "source": given.source,
        "obtained_at": instants.from_datetime(given.obtained_at),
        "created_at": ask.now_us,
    }
    insert(ask.db, "consents", ask.client, {**values, "evidence": given.evidence})
    moments = ("obtained_at", "created_at")
    shown = {**values, **{name: instants.text(int(str(values[name]))) for name in moments}}
    return answer(shown, status=201)


@on(operations.SMS_SEND)
def send(ask: Ask[SmsSend]) -> Reply:
    """Accept a text: here, note it. A reference is taken once and for all."""
    wanted = ask.request
    used = ask.db.execute(
        "SELECT 1 FROM messages WHERE client = ? AND client_reference = ?",
        (ask.client, wanted.client_reference),
    )
    if used.fetchone() is not None:
        raise Refusal("duplicate_client_reference", "The reference was used before.")
    sending.not_on_dnc(ask, wanted.to, "/to")
    sending.country_reachable(ask, wanted.to, "/to")
    sending.contact_allowed(ask, wanted.to, "message_refused")
    sending.affordable(ask, "sms")
    sending.spend(ask, "sms")
    values = {
        "id": identifiers.new("message"),
        "recipient": wanted.to,
        "body": wanted.body,
        "status": "queued",
        "client_reference": wanted.client_reference,
        "created_at": ask.now_us,
    }
    insert(ask.db, "messages", ask.client, values)
    detail = {"body": wanted.body, "client_reference": wanted.client_reference}
    message_id = str(values["id"])
    outbox.add(ask.db, ask.client, Sent("sms", wanted.to, ask.now_us, message_id, detail))
    return answer(MESSAGE.find(ask.db, ask.client, message_id), status=202)


@on(operations.SMS_DELIVERY_REPORTS)
def delivery_reports(ask: Ask[SmsReportQuery]) -> Reply:
    """What became of each text: queued, half a minute later delivered. The shape is assumed."""

    def render(row: tuple[Any, ...]) -> Json:
        message_id, to, reference, created_us = row
        delivered = ask.now_us >= created_us + DELIVERED_US
        updated_us = created_us + DELIVERED_US if delivered else created_us
        return {
            "message_id": message_id,
            "to": to,
            "status": "delivered" if delivered else "queued",
            "client_reference": reference,
            "created_at": instants.text(created_us),
            "updated_at": instants.text(updated_us),
            "error_code": None,
        }

    return lists.page(ask, Source("messages", _REPORTED, {}), render)


@on(operations.SMS_USAGE)
def usage(ask: Ask[Empty]) -> Reply:
    """Texts accepted today and this month (UTC), with the daily cap. The shape is assumed."""
    today = instants.day_of(ask.now_us)
    counts = ask.db.execute(
        "SELECT coalesce(sum(day = ?), 0), count(*) FROM"
        " (SELECT date(created_at / 1000000, 'unixepoch') AS day FROM messages WHERE client = ?)"
        " WHERE substr(day, 1, 7) = ?",
        (today, ask.client, today[:7]),
    ).fetchone()
    return answer(
        {
            "day": today,
            "sent_today": counts[0],
            "sent_this_month": counts[1],
            "daily_cap": ask.caller.settings.daily_cap,
        }
    )


@on(operations.WHATSAPP_SEND)
def whatsapp(ask: Ask[WhatsAppSend]) -> Reply:
    """Refused for every account, which happens before a request gets here."""
    del ask
    raise Refusal("tier_not_enabled", "WhatsApp sending is not available yet.")


HANDLERS = (check, add, record, send, delivery_reports, usage, whatsapp)
