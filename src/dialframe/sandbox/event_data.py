"""Data of webhook events (contract, Events: Event data), from calls and appointments as they are answered.

The synthetic history and the service itself both tell of what happened in these shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: What every conversation with the AI was about, in the words of its summary.
WHAT_FOR: Final = "The customer asked about an enquiry."


def call_completed(call: Mapping[str, Any]) -> dict[str, Any]:
    """Data of `call.completed`."""
    return {
        "call_id": call["id"],
        "direction": call["direction"],
        "status": call["status"],
        "from": call["from_number"],
        "to": call["to_number"],
        "campaign_id": call["campaign_id"],
        "started_at": call["created_at"],
        "answered_at": call["answered_at"],
        "ended_at": call["ended_at"],
        "duration_seconds": call["duration_seconds"],
        "hangup_cause": call["hangup_cause"],
    }


def disposition_logged(call: Mapping[str, Any], phone: str, logged_at: str) -> dict[str, Any]:
    """Data of `disposition.logged`: its call, with the lead that no answer shows."""
    return {
        "call_id": call["id"],
        "campaign_id": call["campaign_id"],
        "lead_id": call["lead_id"],
        "disposition_code": call["disposition"],
        "notes": None,
        "phone": phone,
        "logged_at": logged_at,
    }


def appointment(booked: Mapping[str, Any]) -> dict[str, Any]:
    """Data of every appointment event; of a cancelled one the contract shows the first three."""
    return {
        "appointment_id": booked["id"],
        "status": booked["status"],
        "service": booked["service_type"],
        "starts_at": booked["scheduled_at"],
        "timezone": booked["timezone"],
        "duration_minutes": booked["duration_minutes"],
        "customer": {"name": booked["contact_name"], "phone": booked["phone"]},
        "source": booked["source"],
    }


#: What an AI agent calls the outcome of a call, by its disposition; the words are assumed.
_OUTCOMES: Final = {
    "A": "voicemail",
    "AA": "voicemail",
    "APPT": "appointment_booked",
    "CALLBK": "callback_requested",
    "DNC": "do_not_call",
    "HUP": "hung_up",
    "NI": "not_interested",
    "SALE": "sale",
    "WN": "wrong_number",
    "XFER": "transferred",
}
_SENTIMENTS: Final = {"APPT": "positive", "SALE": "positive", "CALLBK": "positive",
                      "NI": "negative", "DNC": "negative", "HUP": "negative"}  # fmt: skip
#: Dispositions that a person looks at again.
_REVIEWED: Final = frozenset({"DNC", "LB"})


def ai_call_completed(call: Mapping[str, Any], code: str | None) -> dict[str, Any]:
    """Data of `ai_call.completed`; a voicemail has no sentiment and no summary."""
    # Events, Event data: ai_call.completed.
    outcome = _OUTCOMES.get(code or "", "conversation")
    spoken = outcome != "voicemail"
    return {
        "call_id": call["id"],
        "direction": call["direction"],
        "from": call["from_number"],
        "to": call["to_number"],
        "ai_agent": "assistant",
        "started_at": call["created_at"],
        "answered_at": call["answered_at"],
        "ended_at": call["ended_at"],
        "duration_seconds": call["duration_seconds"],
        "outcome": outcome,
        "disposition_code": code,
        "sentiment": _SENTIMENTS.get(code or "", "neutral") if spoken else None,
        "requires_human_review": code in _REVIEWED,
        "summary": WHAT_FOR if spoken else None,
    }
