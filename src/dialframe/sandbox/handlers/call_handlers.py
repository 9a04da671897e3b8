"""The account and its reports, campaigns and calls (contract, Endpoints: Campaigns, Calls)."""

from __future__ import annotations

from dataclasses import replace

from dialframe.contract import operations
from dialframe.contract.models.base_models import Empty
from dialframe.contract.models.call_models import CallRef, CallStart
from dialframe.contract.models.dnc_and_message_models import DispositionQuery
from dialframe.contract.models.lead_models import CampaignRef
from dialframe.contract.scopes import SWITCHES
from dialframe.sandbox import call_content, clock
from dialframe.sandbox.call_content import Conversation
from dialframe.sandbox.dialer import automatic_dialing, call_life, contact_checks
from dialframe.sandbox.dialer.call_life import CalledParty
from dialframe.sandbox.handlers import requests_and_replies
from dialframe.sandbox.handlers.requests_and_replies import Reply, answer, on
from dialframe.sandbox.world import events
from dialframe.sandbox.world.api_objects import CALL, CAMPAIGN, LEAD, Refusal, Transaction
from dialframe.sandbox.world.sandbox_database import records

# Contract, Endpoints, Calls: `created_at` descending, then `id` descending.
requests_and_replies.lists(operations.CALLS_LIST, CALL)
requests_and_replies.finds(operations.CALLS_GET, CALL)


@on(operations.CALLS_RECORDING)
def recording(tx: Transaction, request: CallRef) -> Reply:
    """A WAV file as long as the conversation; a call that nobody answered has none."""
    spoken = _conversation_of(tx, request)
    # A recording is of what was said; the contract does not show what an unanswered call answers.
    if not spoken.answered:
        raise Refusal("not_found", "The call has no recording.")
    length = str(call_content.wav_bytes(spoken))
    # Endpoints: `streamed`; the format is not shown.
    headers = (("Content-Type", "audio/wav"), ("Content-Length", length))
    return Reply(200, headers=headers, stream=call_content.wav(spoken))


@on(operations.CALLS_TRANSCRIPT)
def transcript(tx: Transaction, request: CallRef) -> Reply:
    """What was said, turn by turn; nothing where nobody answered. Its shape is assumed."""
    return answer(call_content.transcript(_conversation_of(tx, request)))


@on(operations.CALLS_SUMMARY)
def summary(tx: Transaction, request: CallRef) -> Reply:
    """A summary, ready a minute after the call; its content's place is assumed."""
    return answer(call_content.summary(_conversation_of(tx, request), tx.now_us))


@on(operations.CALLS_START)
def start(tx: Transaction, request: CallStart) -> Reply:
    """Dial a customer for one of the account's agents: here, note it and let it end by itself."""
    if request.campaign_id is not None:
        tx.find(CAMPAIGN, request.campaign_id)
    lead_status = None
    if request.lead_id is not None:
        lead_status = tx.find(LEAD, request.lead_id)["status"]
    # Contract, Endpoints, Calls: rules 1, 3, 4 and 6 in this order; nothing is dialed on refusal.
    extension = _ready_agent(tx, request)
    caller_id = _caller_id(tx, request)
    contact_checks.country_reachable(tx, request.to, "/to")
    contact_checks.not_on_dnc(tx, request.to, "/to")
    if lead_status == "dnc":
        raise Refusal("on_dnc", field=("/lead_id", "on_dnc"))
    contact_checks.contact_allowed(tx, request.to, "dial_refused")
    contact_checks.affordable(tx, "call")
    called = CalledParty(request.to, request.campaign_id)
    if request.lead_id is not None:
        # The request's number and campaign count, the attempt is the lead's.
        lead = call_life.lead_called(tx, request.lead_id)
        called = replace(lead, phone=request.to, campaign_id=request.campaign_id)
    dialing = automatic_dialing.context_at(tx)
    call_id = call_life.place(dialing, called, "click", caller_id=caller_id, agent=extension)
    return answer(
        {
            "call_id": call_id,
            "status": "dialing",
            "to": request.to,
            "agent_extension": extension,
            "caller_id": caller_id,
            "campaign_id": request.campaign_id,
            "lead_id": request.lead_id,
            # Resources, Started call: whether it is recorded; here every call is.
            "recording": True,
            "created_at": clock.text(tx.now_us),
        },
        status=201,
    )


def _conversation_of(tx: Transaction, request: CallRef) -> Conversation:
    return events.conversation_of(tx, tx.find(CALL, request.call_id))


def _ready_agent(tx: Transaction, request: CallStart) -> str:
    column = "extension" if request.agent_email is None else "email"
    name = request.agent_extension or request.agent_email
    # Endpoints, Calls 1: signed in and ready, else nothing is dialed.
    agent = tx.row(
        f"SELECT extension FROM agents WHERE client = ? AND {column} = ? AND state = 'ready'"
        " ORDER BY extension",
        name,
    )
    if agent is None:
        raise Refusal("agent_unavailable")
    return str(agent[0])


def _caller_id(tx: Transaction, request: CallStart) -> str:
    owned = tx.rows("SELECT number FROM caller_ids WHERE client = ? ORDER BY number")
    numbers = [number for (number,) in owned]
    # Endpoints, Calls 3: without one in the request, the account's first.
    caller_id = request.caller_id or (numbers[0] if numbers else None)
    if caller_id not in numbers:
        raise Refusal(
            "dial_refused",
            "caller_id_not_registered: not a verified number of the account.",
            field=("/caller_id", "caller_id_not_registered"),
        )
    return str(caller_id)


@on(operations.ME)
def me(tx: Transaction, request: Empty) -> Reply:
    """Client, key, scopes and switches; the sandbox calls its environment `sandbox`."""
    # Endpoints: the fields of the account identity are not shown; these are assumed.
    caller = tx.caller
    del request
    return answer(
        {
            "client_id": caller.client.client_id,
            "client_name": caller.client.name,
            "credential_id": caller.credential.credential_id,
            # A live service would name its own.
            "environment": "sandbox",
            "scopes": sorted(caller.client.scopes),
            "sending_key": caller.credential.sending,
            "switches": {name: getattr(caller.settings, name) for name in SWITCHES},
            "webhooks_enabled": caller.settings.webhooks_enabled,
        }
    )


@on(operations.REPORTS_DISPOSITIONS)
def dispositions(tx: Transaction, request: DispositionQuery) -> Reply:
    """Calls by UTC day, campaign and disposition; calls without one are counted under null."""
    since = clock.from_day(request.start_date)
    # The last day of the range counts too; days are UTC's.
    until = clock.from_day(request.end_date) + clock.DAY_US
    campaign = () if request.campaign_id is None else (request.campaign_id,)
    rows = tx.db.execute(
        "SELECT date(created_at / 1000000, 'unixepoch') AS date, campaign_id, disposition,"
        " count(*) AS calls"
        " FROM calls WHERE client = ? AND created_at >= ? AND created_at < ?"
        f"{' AND campaign_id = ?' if campaign else ''}"
        " GROUP BY date, campaign_id, disposition ORDER BY date, campaign_id, disposition",
        (tx.client, since, until, *campaign),
    )
    return answer(
        {
            "start_date": request.start_date.isoformat(),
            "end_date": request.end_date.isoformat(),
            "data": records(rows),
        }
    )


# Contract, Resources, Campaign: archived ones are not listed.
requests_and_replies.lists(operations.CAMPAIGNS_LIST, CAMPAIGN, {"status <> ?": "archived"})
requests_and_replies.finds(operations.CAMPAIGNS_GET, CAMPAIGN)


@on(operations.CAMPAIGNS_PROGRESS)
def progress(tx: Transaction, request: CampaignRef) -> Reply:
    """Counts of a campaign's leads, attempts and answered calls; its shape is assumed."""
    campaign = tx.find(CAMPAIGN, request.campaign_id)
    by_status = tx.rows(
        "SELECT status, count(*), sum(attempts) FROM leads"
        " WHERE client = ? AND campaign_id = ? GROUP BY status ORDER BY status",
        request.campaign_id,
    )
    # Counted from the calls: a lead does not keep how often it answered.
    (answered,) = tx.row(
        "SELECT count(*) FROM calls"
        " WHERE client = ? AND campaign_id = ? AND answered_at IS NOT NULL",
        request.campaign_id,
    )
    return answer(
        {
            "campaign_id": campaign["id"],
            "status": campaign["status"],
            "leads_total": sum(count for _, count, _ in by_status),
            "leads_by_status": {status: count for status, count, _ in by_status},
            "attempts": sum(attempts for _, _, attempts in by_status),
            "calls_answered": answered,
        }
    )
