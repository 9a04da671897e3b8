"""Campaigns: reading, pausing and resuming (contract, States: Campaign)."""

from __future__ import annotations

from dialframe.contract import operations
from dialframe.contract.models.campaigns import CampaignQuery, CampaignRef
from dialframe.sandbox import lists, sending
from dialframe.sandbox.exchange import Ask, Json, Reply, answer, on
from dialframe.sandbox.problems import Refusal
from dialframe.sandbox.resources import CAMPAIGN


@on(operations.CAMPAIGNS_LIST)
def list_campaigns(ask: Ask[CampaignQuery]) -> Reply:
    """Campaigns that are not archived."""
    wanted = {"status": ask.request.status}
    return lists.rows_of(ask, CAMPAIGN, wanted, "status <> 'archived'")


@on(operations.CAMPAIGNS_GET)
def get_campaign(ask: Ask[CampaignRef]) -> Reply:
    """One campaign, archived or not."""
    return answer(CAMPAIGN.find(ask.db, ask.client, ask.request.campaign_id))


@on(operations.CAMPAIGNS_PROGRESS)
def progress(ask: Ask[CampaignRef]) -> Reply:
    """Counts of a campaign's leads, attempts and answered calls; its shape is assumed."""
    campaign = CAMPAIGN.find(ask.db, ask.client, ask.request.campaign_id)
    mine = (ask.client, ask.request.campaign_id)
    by_status = ask.db.execute(
        "SELECT status, count(*), sum(attempts) FROM leads"
        " WHERE client = ? AND campaign_id = ? GROUP BY status ORDER BY status",
        mine,
    ).fetchall()
    (answered,) = ask.db.execute(
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
def pause(ask: Ask[CampaignRef]) -> Reply:
    """Running becomes paused; paused stays so."""
    campaign = CAMPAIGN.find(ask.db, ask.client, ask.request.campaign_id)
    if campaign["status"] == "running":
        campaign = _move(ask, "paused")
    elif campaign["status"] != "paused":
        raise Refusal("campaign_not_running", f"The campaign is {campaign['status']}.")
    return answer(campaign)


@on(operations.CAMPAIGNS_RESUME)
def resume(ask: Ask[CampaignRef]) -> Reply:
    """Paused becomes running; running stays so."""
    campaign = CAMPAIGN.find(ask.db, ask.client, ask.request.campaign_id)
    if campaign["status"] == "running":
        return answer(campaign)
    if campaign["status"] != "paused":
        raise Refusal("campaign_not_paused", f"The campaign is {campaign['status']}.")
    settings = ask.caller.settings
    if settings.registry_stale and settings.block_stale_registry:
        raise Refusal("registry_stale_blocked", "A national do-not-call list is out of date.")
    sending.spend(ask, "launch")
    return answer(_move(ask, "running"))


def _move(ask: Ask[CampaignRef], status: str) -> Json:
    return CAMPAIGN.change(
        ask.db,
        ask.client,
        ask.request.campaign_id,
        {"status": status, "updated_at": ask.now_us},
    )


HANDLERS = (list_campaigns, get_campaign, progress, pause, resume)
