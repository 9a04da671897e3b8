"""Shapes of messages, Do-Not-Call checks, consents, reports and the account itself (contract, Resources)."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Self

from pydantic import Field, model_validator

from dialframe.contract import limits
from dialframe.contract.models.base_models import (
    E164,
    Answer,
    CampaignId,
    Flag,
    Instant,
    Integer,
    ListQuery,
    Request,
    chars,
)


class DncCheck(Request):
    """Numbers to be checked, answered one by one in the order given."""

    # Endpoints, Do-Not-Call: 1 to 100 items; more answer 400 `batch_too_large`.
    phones: Annotated[list[E164], Field(min_length=1, max_length=limits.PHONES_PER_DNC_CHECK)]


class DncResult(Answer):
    """Listed or not; which list, and since when, is not said."""

    # Endpoints, Do-Not-Call: one result per number, which says "only listed or not listed".
    phone: str
    listed: Flag


class DncAnswer(Answer):
    """One result per number, in the order of the request."""

    data: list[DncResult]


# Endpoints, last section: POST /v1/dnc is named without its shapes; these fields are ours.
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


# Scopes: tier 2 with a switch of its own, though recording a consent contacts nobody.
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
    body: Annotated[str, chars(limits.SMS_BODY_CHARS)]
    # Endpoints, SMS: a repeated one answers 409 `duplicate_client_reference`, and nothing is sent again.
    client_reference: Annotated[str, chars(limits.SMS_REFERENCE_CHARS)]


class SmsMessage(Answer):
    """A text message that was accepted."""

    id: str
    to: str
    # Other statuses: `queued` on acceptance; later ones are not shown.
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


# Endpoints, last section: it answers 403 `tier_not_enabled` for every account for now.
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


# Authentication 6: all that a key of a client without scopes may ask for.
class Me(Answer):
    """Who the key belongs to and what it may do; its shape is assumed."""

    client_id: str | None = None
    client_name: str | None = None
    credential_id: str | None = None
    environment: str | None = None
    scopes: list[str] | None = None
    sending_key: Flag | None = None
    switches: dict[str, Flag] | None = None
    webhooks_enabled: Flag | None = None


class DispositionQuery(Request):
    """A range of UTC days, both included, at most 92; its shape is assumed."""

    start_date: date
    end_date: date
    campaign_id: CampaignId | None = None

    # Limits: a report covers 92 days at most.
    @model_validator(mode="after")
    def _within_bounds(self) -> Self:
        days = (self.end_date - self.start_date).days + 1
        if not 1 <= days <= limits.REPORT_RANGE_DAYS:
            raise ValueError(f"a report covers 1 to {limits.REPORT_RANGE_DAYS} days")
        return self


class DispositionCount(Answer):
    """Calls of one day, campaign and disposition; its shape is assumed."""

    date: str | None = None
    campaign_id: str | None = None
    disposition: str | None = None
    calls: Integer | None = None


class DispositionReport(Answer):
    """Aggregated disposition counts; its shape is assumed."""

    start_date: str | None = None
    end_date: str | None = None
    data: list[DispositionCount] | None = None
