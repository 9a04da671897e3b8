"""Calls: reading them with what belongs to them, and starting one (contract, Endpoints: Calls)."""

from __future__ import annotations

from typing import Any, Final

from dialframe.contract import operations
from dialframe.contract.models.calls import CallQuery, CallRef, CallStart
from dialframe.sandbox import (
    conversation,
    identifiers,
    instants,
    lists,
    live_calls,
    outbox,
    sending,
)
from dialframe.sandbox.conversation import Spoken
from dialframe.sandbox.exchange import Ask, Json, Reply, answer, on
from dialframe.sandbox.outbox import Sent
from dialframe.sandbox.problems import FieldError, Refusal
from dialframe.sandbox.resources import CALL, CAMPAIGN, LEAD

READY: Final = "ready"


@on(operations.CALLS_LIST)
def list_calls(ask: Ask[CallQuery]) -> Reply:
    """Every call, `created_at` descending, then `id` descending."""
    wanted = {"campaign_id": ask.request.campaign_id, "direction": ask.request.direction}
    return lists.rows_of(ask, CALL, wanted)


@on(operations.CALLS_GET)
def get_call(ask: Ask[CallRef]) -> Reply:
    """One call."""
    return answer(CALL.find(ask.db, ask.client, ask.request.call_id))


@on(operations.CALLS_RECORDING)
def recording(ask: Ask[CallRef]) -> Reply:
    """A WAV file as long as the conversation; a call that nobody answered has none."""
    spoken = _spoken(ask)
    if not spoken.answered:
        raise Refusal("not_found", "The call has no recording.")
    length = str(conversation.wav_bytes(spoken))
    headers = (("Content-Type", "audio/wav"), ("Content-Length", length))
    return Reply(200, headers=headers, stream=conversation.wav(spoken))


@on(operations.CALLS_TRANSCRIPT)
def transcript(ask: Ask[CallRef]) -> Reply:
    """What was said, turn by turn; nothing where nobody answered. Its shape is assumed."""
    return answer(conversation.transcript(_spoken(ask)))


@on(operations.CALLS_SUMMARY)
def summary(ask: Ask[CallRef]) -> Reply:
    """A summary, ready a minute after the call; its content's place is assumed."""
    return answer(conversation.summary(_spoken(ask), ask.now_us))


@on(operations.CALLS_START)
def start(ask: Ask[CallStart]) -> Reply:
    """Dial a customer for one of the account's agents: here, note it and let it end by itself."""
    wanted = ask.request
    if wanted.campaign_id is not None:
        CAMPAIGN.find(ask.db, ask.client, wanted.campaign_id)
    if wanted.lead_id is not None:
        LEAD.find(ask.db, ask.client, wanted.lead_id)
    extension = _ready_agent(ask)
    caller_id = _caller_id(ask)
    sending.country_reachable(ask, wanted.to, "/to")
    sending.not_on_dnc(ask, wanted.to, "/to")
    sending.contact_allowed(ask, wanted.to, "dial_refused")
    sending.affordable(ask, "call")
    sending.spend(ask, "call")
    call_id = _dial(ask, extension, caller_id)
    return answer(
        {
            "call_id": call_id,
            "status": "dialing",
            "to": wanted.to,
            "agent_extension": extension,
            "caller_id": caller_id,
            "campaign_id": wanted.campaign_id,
            "lead_id": wanted.lead_id,
            "recording": True,
            "created_at": instants.text(ask.now_us),
        },
        status=201,
    )


def _spoken(ask: Ask[CallRef]) -> Spoken:
    call: Json = CALL.find(ask.db, ask.client, ask.request.call_id)
    return conversation.spoken_of(ask.db, ask.client, call)


def _ready_agent(ask: Ask[CallStart]) -> str:
    column = "extension" if ask.request.agent_email is None else "email"
    name = ask.request.agent_extension or ask.request.agent_email
    found: tuple[str, Any] | None = ask.db.execute(
        f"SELECT extension, state FROM agents WHERE client = ? AND {column} = ?"
        " ORDER BY state <> 'ready', extension",
        (ask.client, name),
    ).fetchone()
    if found is None or found[1] != READY:
        raise Refusal("agent_unavailable", "The agent is not signed in and ready.")
    return found[0]


def _caller_id(ask: Ask[CallStart]) -> str:
    owned = ask.db.execute(
        "SELECT number FROM caller_ids WHERE client = ? ORDER BY number", (ask.client,)
    )
    numbers = [number for (number,) in owned]
    wanted = ask.request.caller_id or (numbers[0] if numbers else None)
    if wanted not in numbers:
        problem = FieldError("/caller_id", "caller_id_not_registered")
        raise Refusal(
            "dial_refused",
            "caller_id_not_registered: not a verified number of the account.",
            errors=(problem,),
        )
    return str(wanted)


def _dial(ask: Ask[CallStart], extension: str, caller_id: str) -> str:
    wanted, call_id = ask.request, identifiers.new("call")
    live_calls.begin(
        ask.db,
        ask.client,
        {
            "id": call_id,
            "direction": "outbound",
            "from_number": caller_id,
            "to_number": wanted.to,
            "status": "dialing",
            "created_at": ask.now_us,
            "campaign_id": wanted.campaign_id,
            "lead_id": wanted.lead_id,
            "agent_extension": extension,
        },
    )
    detail: Json = {"agent_extension": extension, "caller_id": caller_id}
    outbox.add(ask.db, ask.client, Sent("call", wanted.to, ask.now_us, call_id, detail))
    return call_id


HANDLERS = (list_calls, get_call, recording, transcript, summary, start)
