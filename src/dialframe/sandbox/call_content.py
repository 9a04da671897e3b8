"""What is said of a call or an appointment: event data, recording, transcript and summary.

The synthetic history and the service itself both tell of what happened in these shapes (contract, Events: Event
data). What a call left behind is made up from its id: the same call gives the same bytes every time, and nobody
ever said it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialframe.sandbox import clock
from dialframe.sandbox.clock import SECOND_US

Json = dict[str, Any]

#: What every conversation with the AI was about, in the words of its summary.
WHAT_FOR: Final = "The customer asked about an enquiry."


def call_completed(call: Mapping[str, Any]) -> Json:
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


def disposition_logged(call: Mapping[str, Any], phone: str, logged_at: str) -> Json:
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


def appointment(booked: Mapping[str, Any]) -> Json:
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


def ai_call_completed(call: Mapping[str, Any], code: str | None) -> Json:
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


SAMPLES_PER_S: Final = 8_000
WAV_HEADER_BYTES: Final = 44
LANGUAGE: Final = "en-US"
SUMMARY_READY_US: Final = 60 * SECOND_US
SCHEMA_VERSION: Final = 1

_TURNS: Final = (
    ("agent", "Hello, am I speaking with the account holder?"),
    ("customer", "Yes, speaking. What is it about?"),
    ("agent", "It is about the enquiry that you sent us."),
    ("customer", "Right, I remember. Please go on."),
    ("agent", "Shall I explain the two options that you have?"),
    ("customer", "Yes, but keep it short, please."),
    ("agent", "Thank you for your time. I will note that down."),
    ("customer", "Thanks, goodbye."),
)
_REASONS: Final = ("enquiry", "renewal", "complaint", "price question")
_ACTIONS: Final = ("call back", "send an offer", "none", "book an appointment")
_TURN_S: Final = 4.0
_BLOCK_S: Final = 1


@dataclass(frozen=True, slots=True)
class Conversation:
    """A call as far as it was a conversation.

    Attributes:
        length_s: From the answer to the end; 0 where nobody answered.
        seed: Number that everything made up is drawn from.
    """

    call_id: str
    disposition: str | None
    answered: bool
    ended_us: int | None
    length_s: float
    seed: int


def conversation(call: Json, answered_us: int | None, ended_us: int | None) -> Conversation:
    """The conversation of a call; its length comes from its instants."""
    length_s = 0.0
    if answered_us is not None and ended_us is not None:
        length_s = max(0.0, (ended_us - answered_us) / SECOND_US)
    return Conversation(
        call_id=call["id"],
        disposition=call["disposition"],
        answered=answered_us is not None and ended_us is not None,
        ended_us=ended_us,
        length_s=length_s,
        seed=int.from_bytes(hashlib.sha256(call["id"].encode()).digest()[:4], "big"),
    )


def wav_bytes(spoken: Conversation) -> int:
    """Length of the recording's file."""
    return WAV_HEADER_BYTES + _samples(spoken)


def wav(spoken: Conversation) -> Iterator[bytes]:
    """The recording in parts: PCM, mono, 8 bits, 8 kHz; a tone whose pitch is the call's own."""
    total = _samples(spoken)
    # RIFF WAVE: format 1 (PCM), one channel, eight bits, silence at 128.
    yield struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF", WAV_HEADER_BYTES - 8 + total, b"WAVE",
        b"fmt ", 16, 1, 1, SAMPLES_PER_S, SAMPLES_PER_S, 1, 8,
        b"data", total,
    )  # fmt: skip
    pitch = 200 + spoken.seed % 400
    block = bytes(
        128 + round(40 * math.sin(2 * math.pi * pitch * sample / SAMPLES_PER_S))
        for sample in range(SAMPLES_PER_S * _BLOCK_S)
    )
    for start in range(0, total, len(block)):
        yield block[: min(len(block), total - start)]


def transcript(spoken: Conversation) -> Json:
    """Who said what and when, as far as the call's length reaches."""
    # Its shape is not shown; this one is assumed.
    segments = [
        {
            "speaker": speaker,
            "start_seconds": turn * _TURN_S,
            "end_seconds": min((turn + 1) * _TURN_S, spoken.length_s),
            "text": text,
        }
        for turn, (speaker, text) in enumerate(_TURNS)
        if turn * _TURN_S < spoken.length_s
    ]
    return {"call_id": spoken.call_id, "language": LANGUAGE, "segments": segments}


# Contract, Resources, Call summary: ready, processing, or not_generated with a reason.
def summary(spoken: Conversation, now_us: int) -> Json:
    """Ready, processing, or not generated with a reason; the content is null unless ready."""
    status, reason = "ready", None
    if not spoken.answered or spoken.ended_us is None:
        status, reason = "not_generated", "no_conversation"
    elif now_us < spoken.ended_us + SUMMARY_READY_US:
        status = "processing"
    return {
        "call_id": spoken.call_id,
        "status": status,
        "schema_version": SCHEMA_VERSION,
        "not_generated_reason": reason,
        # The content is null unless ready; where it stands is assumed ("full shape: not shown").
        "summary": _content(spoken) if status == "ready" else None,
    }


def event_summary(spoken: Conversation | None) -> Json:
    """The summary as an event's `call_details` has it: as it is once it is ready."""
    content = _content(spoken) if spoken is not None and spoken.answered else {}
    shared = ("next_action", "language", "source", "generated_at")
    return {
        "status": "ready" if content else "not_generated",
        "text": WHAT_FOR if content else None,
        **{name: content.get(name) for name in shared},
        "truncated": False,
    }


def _content(spoken: Conversation) -> Json:
    ready_us = None if spoken.ended_us is None else spoken.ended_us + SUMMARY_READY_US
    return {
        # The fields that the contract knows; `language` is a BCP 47 tag.
        "reason_for_contact": _REASONS[spoken.seed % len(_REASONS)],
        "intent": "information",
        "next_action": _ACTIONS[spoken.seed // 7 % len(_ACTIONS)],
        "outcome_candidate": spoken.disposition,
        "language": LANGUAGE,
        "source": "transcript",
        "generated_at": None if ready_us is None else clock.text(ready_us),
    }


def _samples(spoken: Conversation) -> int:
    # Whole seconds, at most the half hour after which the service ends a call.
    # Limits: 30 minutes by default; longer histories than that are cut in the recording alone.
    longest = dt.timedelta(minutes=30).total_seconds()
    return max(1, math.ceil(min(spoken.length_s, longest))) * SAMPLES_PER_S
