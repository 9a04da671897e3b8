"""Campaigns, the account behind a key and its disposition counts (contract, States: Campaign)."""

from __future__ import annotations

from dialframe.contract import operations
from dialframe.contract.models.lead_models import CampaignQuery, CampaignRef
from dialframe.contract.models.message_models import DispositionQuery
from dialframe.contract.models.shape import Empty
from dialframe.contract.scopes import SWITCHES
from dialframe.sandbox.dialer import sending
from dialframe.sandbox.handlers import exchange
from dialframe.sandbox.handlers.exchange import Context, Reply, answer, on
from dialframe.sandbox.world import clock
from dialframe.sandbox.world.refusals import Refusal
from dialframe.sandbox.world.resources import CAMPAIGN, Json


@on(operations.ME)
def me(context: Context[Empty]) -> Reply:
    """Client, key, scopes and switches; the sandbox calls its environment `sandbox`."""
    caller = context.caller
    return answer(
        {
            "client_id": caller.client.client_id,
            "client_name": caller.client.name,
            "credential_id": caller.credential.credential_id,
            "environment": "sandbox",
            "scopes": sorted(caller.client.scopes),
            "sending_key": caller.credential.sending,
            "switches": {name: getattr(caller.settings, name) for name in SWITCHES},
            "webhooks_enabled": caller.settings.webhooks_enabled,
        }
    )


@on(operations.REPORTS_DISPOSITIONS)
def dispositions(context: Context[DispositionQuery]) -> Reply:
    """Calls by UTC day, campaign and disposition; calls without one are counted under null."""
    wanted = context.request
    since = clock.from_day(wanted.start_date)
    until = clock.from_day(wanted.end_date) + clock.DAY_US
    campaign = () if wanted.campaign_id is None else (wanted.campaign_id,)
    rows = context.db.execute(
        f"SELECT created_at / {clock.DAY_US} AS day, campaign_id, disposition, count(*)"
        " FROM calls WHERE client = ? AND created_at >= ? AND created_at < ?"
        f"{' AND campaign_id = ?' if campaign else ''}"
        " GROUP BY day, campaign_id, disposition ORDER BY day, campaign_id, disposition",
        (context.client, since, until, *campaign),
    )
    return answer(
        {
            "start_date": wanted.start_date.isoformat(),
            "end_date": wanted.end_date.isoformat(),
            "data": [
                {
                    "date": clock.day_of(day * clock.DAY_US),
                    "campaign_id": campaign_id,
                    "disposition": disposition,
                    "calls": calls,
                }
                for day, campaign_id, disposition, calls in rows
            ],
        }
    )


@on(operations.CAMPAIGNS_LIST)
def list_campaigns(context: Context[CampaignQuery]) -> Reply:
    """Campaigns that are not archived."""
    wanted = {"status": context.request.status}
    return exchange.rows_of(context, CAMPAIGN, wanted, "status <> 'archived'")


@on(operations.CAMPAIGNS_GET)
def get_campaign(context: Context[CampaignRef]) -> Reply:
    """One campaign, archived or not."""
    return answer(CAMPAIGN.find(context.db, context.client, context.request.campaign_id))


@on(operations.CAMPAIGNS_PROGRESS)
def progress(context: Context[CampaignRef]) -> Reply:
    """Counts of a campaign's leads, attempts and answered calls; its shape is assumed."""
    campaign = CAMPAIGN.find(context.db, context.client, context.request.campaign_id)
    mine = (context.client, context.request.campaign_id)
    by_status = context.db.execute(
        "SELECT status, count(*), sum(attempts) FROM leads"
        " WHERE client = ? AND campaign_id = ? GROUP BY status ORDER BY status",
        mine,
    ).fetchall()
    (answered,) = context.db.execute(
        "SELECT count(*) FROM calls"
        " WHERE client = ? AND campaign_id = ? AND answered_at IS NOT NULL",
        mine,
    ).fetchone()
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


@on(operations.CAMPAIGNS_PAUSE)
def pause(context: Context[CampaignRef]) -> Reply:
    """Running becomes paused; paused stays so."""
    campaign = CAMPAIGN.find(context.db, context.client, context.request.campaign_id)
    if campaign["status"] == "running":
        campaign = _move(context, "paused")
    elif campaign["status"] != "paused":
        raise Refusal("campaign_not_running", f"The campaign is {campaign['status']}.")
    return answer(campaign)


@on(operations.CAMPAIGNS_RESUME)
def resume(context: Context[CampaignRef]) -> Reply:
    """Paused becomes running; running stays so."""
    campaign = CAMPAIGN.find(context.db, context.client, context.request.campaign_id)
    if campaign["status"] == "running":
        return answer(campaign)
    if campaign["status"] != "paused":
        raise Refusal("campaign_not_paused", f"The campaign is {campaign['status']}.")
    sending.registry_fresh(context.caller.settings)
    sending.spend(context.sender, "launch")
    return answer(_move(context, "running"))


def _move(context: Context[CampaignRef], status: str) -> Json:
    return CAMPAIGN.change(
        context.db,
        context.client,
        context.request.campaign_id,
        {"status": status, "updated_at": context.now_us},
    )


HANDLERS = (me, dispositions, list_campaigns, get_campaign, progress, pause, resume)
