"""What a call left behind: recording, transcript and summary, all made up from its id.

The same call gives the same bytes every time. Nothing of it is stored, and nobody ever said it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dialframe.sandbox.event_data import WHAT_FOR
from dialframe.sandbox.world import clock
from dialframe.sandbox.world.api_objects import Json, Transaction
from dialframe.sandbox.world.clock import SECOND_US

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


def conversation_of(tx: Transaction, call: Json) -> Conversation:
    """The conversation of a call; its length comes from its instants."""
    answered_us, ended_us = tx.row(
        "SELECT answered_at, ended_at FROM calls WHERE client = ? AND id = ?", call["id"]
    )
    both = answered_us is not None and ended_us is not None
    return Conversation(
        call_id=call["id"],
        disposition=call["disposition"],
        answered=both,
        ended_us=ended_us,
        length_s=max(0.0, (ended_us - answered_us) / SECOND_US) if both else 0.0,
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
