"""Scopes, tiers and switches (contract, Authentication)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Scope:
    """One scope: its tier, its account switch (tier 2) and what it allows."""

    name: str
    tier: int
    allows: str
    switch: str | None = None
    sending_key: bool = False


SCOPES: Final[tuple[Scope, ...]] = (
    Scope("leads:read", 1, "read leads including history, all campaigns"),
    Scope("leads:write", 1, "import, add one, update name, email, custom fields"),
    Scope("campaigns:read", 1, "read campaigns and progress"),
    Scope("campaigns:pause", 1, "pause"),
    Scope("campaigns:resume", 2, "resume", "tier2_campaign_resume_enabled"),
    Scope("calls:read", 1, "read calls of the whole account"),
    Scope("calls:originate", 2, "click-to-call; dial-first adds", "tier2_calls_originate_enabled",
          sending_key=True),
    Scope("recordings:read", 1, "stream recordings"),
    Scope("transcripts:read", 1, "read transcripts"),
    Scope("summaries:read", 1, "read AI summary without transcript"),
    Scope("webhooks:read", 1, "read endpoints, events, deliveries"),
    Scope("webhooks:write", 1, "create, change, delete, test, rotate, replay"),
    Scope("dnc:check", 1, "check numbers"),
    Scope("dnc:add", 1, "add a number"),
    Scope("consent:write", 2, "record consent", "tier2_consent_write_enabled"),
    Scope("callbacks:read", 1, "read callbacks"),
    Scope("callbacks:cancel", 1, "cancel pending callback"),
    Scope("callbacks:write", 2, "schedule or move", "tier2_callback_write_enabled"),
    Scope("appointments:read", 1, "read appointments"),
    Scope("appointments:write", 2, "book, reschedule, cancel", "tier2_appointment_write_enabled"),
    Scope("sms:read", 1, "SMS delivery reports and usage"),
    Scope("messages:send", 2, "send SMS", "tier2_sms_send_enabled", sending_key=True),
    # Answers 403 `tier_not_enabled` for every account, though its tier is 1.
    Scope("whatsapp:send", 1, "send WhatsApp text or approved template; unavailable"),
    Scope("reports:read", 1, "aggregated disposition counts"),
)  # fmt: skip

#: Account switches of tier 2; all are off until the operator enables them.
SWITCHES: Final = tuple(scope.switch for scope in SCOPES if scope.switch is not None)

BY_NAME: Final[dict[str, Scope]] = {scope.name: scope for scope in SCOPES}

# Authentication 1 and 3.
KEY_PREFIXES: Final[dict[str, str]] = {"live": "svc_live_", "test": "svc_test_"}
