"""`client.reports`: what the service counted itself."""

from __future__ import annotations

from datetime import date

from dialframe.client.options import Options
from dialframe.client.sender import Sender
from dialframe.contract import operations as rows
from dialframe.contract.models.account import DispositionQuery, DispositionReport


class Reports:
    """Aggregated reports. What a method raises is said at `Client`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def dispositions(
        self,
        start_date: date,
        end_date: date,
        campaign_id: str | None = None,
        *,
        options: Options | None = None,
    ) -> DispositionReport:
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
