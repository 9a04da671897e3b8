"""`client.campaigns`: campaigns and how far they are."""

from __future__ import annotations

from dialframe.client.listing import Listing
from dialframe.client.options import Options
from dialframe.client.sender import Sender
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.campaigns import (
    Campaign,
    CampaignProgress,
    CampaignQuery,
    CampaignRef,
    CampaignStatus,
)


class Campaigns:
    """Campaigns: read, pause, resume. What a method raises is said at `Client`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(
        self,
        *,
        status: CampaignStatus | None = None,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[Campaign]:
        """List campaigns that are not archived.

        Args:
            status: Only campaigns in this state.
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page of the same filters.
            options: Options of each page's request.
        """
        return self._sender.listing(
            rows.CAMPAIGNS_LIST,
            lambda: CampaignQuery(status=status, limit=limit, cursor=cursor),
            options,
        )

    def get(self, campaign_id: str, *, options: Options | None = None) -> Campaign:
        """Read one campaign.

        Args:
            campaign_id: `cmp_` and a UUID.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CAMPAIGNS_GET, lambda: CampaignRef(campaign_id=campaign_id), options
        )

    def progress(self, campaign_id: str, *, options: Options | None = None) -> CampaignProgress:
        """Read how far a campaign is.

        Args:
            campaign_id: `cmp_` and a UUID.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CAMPAIGNS_PROGRESS, lambda: CampaignRef(campaign_id=campaign_id), options
        )

    def pause(self, campaign_id: str, *, options: Options | None = None) -> Campaign:
        """Pause a running campaign.

        Args:
            campaign_id: `cmp_` and a UUID; one that is paused stays so.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CAMPAIGNS_PAUSE, lambda: CampaignRef(campaign_id=campaign_id), options
        )

    def resume(self, campaign_id: str, *, options: Options | None = None) -> Campaign:
        """Resume a paused campaign: real calls start.

        Args:
            campaign_id: `cmp_` and a UUID; one that is running stays so.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CAMPAIGNS_RESUME, lambda: CampaignRef(campaign_id=campaign_id), options
        )
