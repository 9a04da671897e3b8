"""Webhook envelope and signature (contract, Events)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import Any, Final

from dialframe.contract import limits
from dialframe.contract.models.base_models import Answer, Flag, Instant, Integer
from dialframe.contract.models.webhook_models import EventType

SIGNATURE_HEADER: Final = "Service-Signature"
TIMESTAMP_HEADER: Final = "Service-Timestamp"
EVENT_ID_HEADER: Final = "Service-Event-Id"
EVENT_HEADER: Final = "Service-Event"
DELIVERY_ID_HEADER: Final = "Service-Delivery-Id"

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the mark that starts every secret, not one
_SCHEME: Final = "sha256="


class CallDetailsSummary(Answer):
    """The summary inside `call_details`."""

    status: str
    text: str | None = None
    next_action: str | None = None
    language: str | None = None
    source: str | None = None
    generated_at: Instant | None = None
    truncated: Flag | None = None


class CallDetailsDisposition(Answer):
    """The disposition inside `call_details`."""

    status: str
    code: str | None = None
    notes: str | None = None
    follow_up_at: Instant | None = None
    logged_at: Instant | None = None


class CallDetails(Answer):
    """What the envelope says of the call beside the event's own data."""

    schema_version: Integer
    summary: CallDetailsSummary | None = None
    disposition: CallDetailsDisposition | None = None


class Envelope(Answer):
    """One event as it is delivered; it never names an internal account."""

    id: str
    type: EventType | str
    created_at: Instant
    api_version: str
    schema_version: Integer
    data: dict[str, Any]
    call_details: CallDetails | None = None


#: Fields of `data` by event type, in the contract's order.
EVENT_DATA: Final[dict[str, tuple[str, ...]]] = {
    "call.completed": (
        "call_id", "direction", "status", "from", "to", "campaign_id", "started_at", "answered_at",
        "ended_at", "duration_seconds", "hangup_cause",
    ),
    "ai_call.completed": (
        "call_id", "direction", "from", "to", "ai_agent", "started_at", "answered_at", "ended_at",
        "duration_seconds", "outcome", "disposition_code", "sentiment", "requires_human_review",
        "summary",
    ),
    "disposition.logged": (
        "call_id", "campaign_id", "lead_id", "disposition_code", "notes", "phone", "logged_at",
    ),
    "appointment.booked": (
        "appointment_id", "status", "service", "starts_at", "timezone", "duration_minutes",
        "customer", "source",
    ),
    "appointment.moved": (
        "appointment_id", "status", "service", "starts_at", "timezone", "duration_minutes",
        "customer", "source",
    ),
    "appointment.cancelled": ("appointment_id", "status", "service"),
    "webhook.test": (),
}  # fmt: skip


def sign(body: bytes, *, timestamp_s: int, secrets: Iterable[str]) -> str:
    """The `Service-Signature` of a delivery.

    HMAC-SHA256 over `<timestamp>.` followed by the raw body, keyed with the whole text of each
    secret, newest first.
    """
    return ",".join(_SCHEME + _digest(body, timestamp_s, secret) for secret in secrets)


def signature_matches(
    body: bytes, *, signature: str, timestamp_s: int, now_s: float, secrets: Iterable[str]
) -> bool:
    """Whether a delivery is genuine and fresh.

    True when the timestamp is at most 300 seconds from `now_s` either way and any of the
    signatures matches any of the secrets; compared in constant time.
    """
    if abs(now_s - timestamp_s) > limits.SIGNATURE_TOLERANCE_S:
        return False
    given = [part.strip().removeprefix(_SCHEME) for part in signature.split(",")]
    expected = [_digest(body, timestamp_s, secret) for secret in secrets]
    matches = [
        hmac.compare_digest(sent.encode(), other.encode()) for sent in given for other in expected
    ]
    return any(matches)


def _digest(body: bytes, timestamp_s: int, secret: str) -> str:
    signed = f"{timestamp_s}.".encode() + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
