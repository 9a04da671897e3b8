"""Campaigns (contract, Resources: Campaign; Endpoints: Campaigns)."""

from __future__ import annotations

from typing import Literal

from dialframe.contract.ids import CampaignId
from dialframe.contract.models.shape import Answer, Instant, Integer, ListQuery, Request

CampaignStatus = Literal["draft", "ready", "running", "paused", "completed"]


class Campaign(Answer):
    """A campaign; archived ones are not listed."""

    id: str
    name: str
    status: CampaignStatus | str
    dialer_mode: str
    created_at: Instant
    updated_at: Instant | None
    started_at: Instant | None
    completed_at: Instant | None


class CampaignProgress(Answer):
    """Counts of a campaign's leads; its shape is assumed."""

    campaign_id: str | None = None
    status: str | None = None
    leads_total: Integer | None = None
    leads_by_status: dict[str, Integer] | None = None
    attempts: Integer | None = None
    calls_answered: Integer | None = None


class CampaignQuery(ListQuery):
    """Filters of the campaign list."""

    status: CampaignStatus | None = None


class CampaignRef(Request):
    """One campaign by id."""

    campaign_id: CampaignId
