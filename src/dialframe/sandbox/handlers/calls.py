"""Calls: reading them with what belongs to them, and starting one (contract, Endpoints: Calls)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from dialframe.contract import operations
from dialframe.contract.models.call_models import CallQuery, CallRef, CallStart
from dialframe.sandbox.dialer import call_life, clockwork, sending
from dialframe.sandbox.dialer.call_life import CalledParty
from dialframe.sandbox.handlers import exchange
from dialframe.sandbox.handlers.exchange import Context, Reply, answer, on
from dialframe.sandbox.world import clock, conversation
from dialframe.sandbox.world.conversation import Conversation
from dialframe.sandbox.world.refusals import FieldError, Refusal
from dialframe.sandbox.world.resources import CALL, CAMPAIGN, LEAD, Json

READY: Final = "ready"


@on(operations.CALLS_LIST)
def list_calls(context: Context[CallQuery]) -> Reply:
    """Every call, `created_at` descending, then `id` descending."""
    wanted = {"campaign_id": context.request.campaign_id, "direction": context.request.direction}
    return exchange.rows_of(context, CALL, wanted)


@on(operations.CALLS_GET)
def get_call(context: Context[CallRef]) -> Reply:
    """One call."""
    return answer(CALL.find(context.db, context.client, context.request.call_id))


@on(operations.CALLS_RECORDING)
def recording(context: Context[CallRef]) -> Reply:
    """A WAV file as long as the conversation; a call that nobody answered has none."""
    spoken = _spoken(context)
    if not spoken.answered:
        raise Refusal("not_found", "The call has no recording.")
    length = str(conversation.wav_bytes(spoken))
    headers = (("Content-Type", "audio/wav"), ("Content-Length", length))
    return Reply(200, headers=headers, stream=conversation.wav(spoken))


@on(operations.CALLS_TRANSCRIPT)
def transcript(context: Context[CallRef]) -> Reply:
    """What was said, turn by turn; nothing where nobody answered. Its shape is assumed."""
    return answer(conversation.transcript(_spoken(context)))


@on(operations.CALLS_SUMMARY)
def summary(context: Context[CallRef]) -> Reply:
    """A summary, ready a minute after the call; its content's place is assumed."""
    return answer(conversation.summary(_spoken(context), context.now_us))


@on(operations.CALLS_START)
def start(context: Context[CallStart]) -> Reply:
    """Dial a customer for one of the account's agents: here, note it and let it end by itself."""
    wanted = context.request
    if wanted.campaign_id is not None:
        CAMPAIGN.find(context.db, context.client, wanted.campaign_id)
    if wanted.lead_id is not None:
        LEAD.find(context.db, context.client, wanted.lead_id)
    extension = _ready_agent(context)
    caller_id = _caller_id(context)
    sending.country_reachable(context.sender, wanted.to, "/to")
    sending.not_on_dnc(context.sender, wanted.to, "/to")
    sending.contact_allowed(context.sender, wanted.to, "dial_refused")
    sending.affordable(context.sender, "call")
    called = CalledParty(wanted.to, wanted.campaign_id)
    if wanted.lead_id is not None:
        lead = call_life.lead_called(context.db, context.client, wanted.lead_id)
        called = replace(lead, phone=wanted.to, campaign_id=wanted.campaign_id)
    dialing = clockwork.context_at(context.sender)
    call_id = call_life.place(dialing, called, "click", caller_id=caller_id, agent=extension)
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
            "created_at": clock.text(context.now_us),
        },
        status=201,
    )


def _spoken(context: Context[CallRef]) -> Conversation:
    call: Json = CALL.find(context.db, context.client, context.request.call_id)
    return conversation.conversation_of(context.db, context.client, call)


def _ready_agent(context: Context[CallStart]) -> str:
    column = "extension" if context.request.agent_email is None else "email"
    name = context.request.agent_extension or context.request.agent_email
    agent: tuple[str, Any] | None = context.db.execute(
        f"SELECT extension, state FROM agents WHERE client = ? AND {column} = ?"
        " ORDER BY state <> 'ready', extension",
        (context.client, name),
    ).fetchone()
    if agent is None or agent[1] != READY:
        raise Refusal("agent_unavailable", "The agent is not signed in and ready.")
    return agent[0]


def _caller_id(context: Context[CallStart]) -> str:
    owned = context.db.execute(
        "SELECT number FROM caller_ids WHERE client = ? ORDER BY number", (context.client,)
    )
    numbers = [number for (number,) in owned]
    wanted = context.request.caller_id or (numbers[0] if numbers else None)
    if wanted not in numbers:
        problem = FieldError("/caller_id", "caller_id_not_registered")
        raise Refusal(
            "dial_refused",
            "caller_id_not_registered: not a verified number of the account.",
            errors=(problem,),
        )
    return str(wanted)


HANDLERS = (list_calls, get_call, recording, transcript, summary, start)
