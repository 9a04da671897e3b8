"""Do-Not-Call, consent, SMS and WhatsApp (contract, Endpoints: Do-Not-Call, SMS; the rest assumed)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dialframe.contract import limits
from dialframe.contract.models.shape import (
    E164,
    Answer,
    Flag,
    Instant,
    Integer,
    ListQuery,
    Request,
)


class DncCheck(Request):
    """Numbers to be checked, answered one by one in the order given."""

    phones: Annotated[list[E164], Field(min_length=1, max_length=limits.PHONES_PER_DNC_CHECK)]


class DncResult(Answer):
    """Listed or not; which list, and since when, is not said."""

    phone: str
    listed: Flag


class DncAnswer(Answer):
    """One result per number, in the order of the request."""

    data: list[DncResult]


class DncAdd(Request):
    """A number for the Do-Not-Call list; its shape is assumed."""

    phone: E164
    reason: Annotated[str, Field(max_length=200)] | None = None


class DncEntry(Answer):
    """A number on the Do-Not-Call list; its shape is assumed."""

    phone: str | None = None
    listed: Flag | None = None
    reason: str | None = None
    created_at: Instant | None = None


class ConsentRecord(Request):
    """Evidence of consent; its shape is assumed."""

    phone: E164
    channel: Annotated[str, Field(min_length=1, max_length=32)]
    source: Annotated[str, Field(min_length=1, max_length=200)]
    obtained_at: Instant
    evidence: Annotated[str, Field(max_length=2000)] | None = None


class Consent(Answer):
    """Recorded evidence of consent; its shape is assumed."""

    id: str | None = None
    phone: str | None = None
    channel: str | None = None
    source: str | None = None
    obtained_at: Instant | None = None
    created_at: Instant | None = None


class SmsSend(Request):
    """A text message; a repeated `client_reference` sends nothing again."""

    to: E164
    body: Annotated[
        str, Field(min_length=limits.SMS_BODY_CHARS[0], max_length=limits.SMS_BODY_CHARS[1])
    ]
    client_reference: Annotated[
        str,
        Field(min_length=limits.SMS_REFERENCE_CHARS[0], max_length=limits.SMS_REFERENCE_CHARS[1]),
    ]


class SmsMessage(Answer):
    """A text message that was accepted."""

    id: str
    to: str
    status: str
    client_reference: str
    created_at: Instant


class SmsReportQuery(ListQuery):
    """The SMS delivery reports."""


class SmsDeliveryReport(Answer):
    """What became of a text message; its shape is assumed."""

    message_id: str | None = None
    to: str | None = None
    status: str | None = None
    client_reference: str | None = None
    created_at: Instant | None = None
    updated_at: Instant | None = None
    error_code: str | None = None


class SmsUsage(Answer):
    """Counters of text messages sent; its shape is assumed."""

    day: str | None = None
    sent_today: Integer | None = None
    sent_this_month: Integer | None = None
    daily_cap: Integer | None = None


class WhatsAppSend(Request):
    """A WhatsApp text or approved template; its shape is assumed."""

    to: E164
    body: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    template: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    client_reference: Annotated[str, Field(min_length=1, max_length=64)] | None = None


class WhatsAppMessage(Answer):
    """A WhatsApp message that was accepted; its shape is assumed."""

    id: str | None = None
    to: str | None = None
    status: str | None = None
    created_at: Instant | None = None
