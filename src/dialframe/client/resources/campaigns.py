"""`client.campaigns`: campaigns and how far they are; `client.reports`: what the service counted itself."""

from __future__ import annotations

from datetime import date

from dialframe.client.listing import ListPlan
from dialframe.client.options import Options
from dialframe.client.resources import Resource, ShellT, listed, operation
from dialframe.client.steps import Steps
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.lead_models import (
    Campaign,
    CampaignProgress,
    CampaignQuery,
    CampaignRef,
    CampaignStatus,
)
from dialframe.contract.models.message_models import DispositionQuery, DispositionReport


class Campaigns(Resource[ShellT]):
    """Campaigns: read, pause, resume. What a method raises is said at `Client`."""

    @listed
    def list(
        self,
        *,
        status: CampaignStatus | None = None,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> ListPlan[Campaign]:
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

    @operation
    def get(self, campaign_id: str, *, options: Options | None = None) -> Steps[Campaign]:
        """Read one campaign.

        Args:
            campaign_id: `cmp_` and a UUID.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CAMPAIGNS_GET, lambda: CampaignRef(campaign_id=campaign_id), options
        )

    @operation
    def progress(
        self, campaign_id: str, *, options: Options | None = None
    ) -> Steps[CampaignProgress]:
        """Read how far a campaign is.

        Args:
            campaign_id: `cmp_` and a UUID.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CAMPAIGNS_PROGRESS, lambda: CampaignRef(campaign_id=campaign_id), options
        )

    @operation
    def pause(self, campaign_id: str, *, options: Options | None = None) -> Steps[Campaign]:
        """Pause a running campaign.

        Args:
            campaign_id: `cmp_` and a UUID; one that is paused stays so.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CAMPAIGNS_PAUSE, lambda: CampaignRef(campaign_id=campaign_id), options
        )

    @operation
    def resume(self, campaign_id: str, *, options: Options | None = None) -> Steps[Campaign]:
        """Resume a paused campaign: real calls start.

        Args:
            campaign_id: `cmp_` and a UUID; one that is running stays so.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CAMPAIGNS_RESUME, lambda: CampaignRef(campaign_id=campaign_id), options
        )


class Reports(Resource[ShellT]):
    """Aggregated reports. What a method raises is said at `Client`."""

    @operation
    def dispositions(
        self,
        start_date: date,
        end_date: date,
        campaign_id: str | None = None,
        *,
        options: Options | None = None,
    ) -> Steps[DispositionReport]:
        """Read disposition counts of up to 92 days.

        Args:
            start_date: First UTC day.
            end_date: Last UTC day, included.
            campaign_id: Only this campaign.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.REPORTS_DISPOSITIONS,
            lambda: DispositionQuery(
                start_date=start_date, end_date=end_date, campaign_id=campaign_id
            ),
            options,
        )
