"""The account's identity and its reports; all shapes here are assumed."""

from __future__ import annotations

from datetime import date
from typing import Self

from pydantic import model_validator

from dialframe.contract import limits
from dialframe.contract.ids import CampaignId
from dialframe.contract.models.shape import Answer, Flag, Integer, Request


class Me(Answer):
    """Who the key belongs to and what it may do; its shape is assumed."""

    client_id: str | None = None
    client_name: str | None = None
    credential_id: str | None = None
    environment: str | None = None
    scopes: list[str] | None = None
    sending_key: Flag | None = None
    switches: dict[str, Flag] | None = None
    webhooks_enabled: Flag | None = None


class DispositionQuery(Request):
    """A range of UTC days, both included, at most 92; its shape is assumed."""

    start_date: date
    end_date: date
    campaign_id: CampaignId | None = None

    @model_validator(mode="after")
    def _within_bounds(self) -> Self:
        days = (self.end_date - self.start_date).days + 1
        if not 1 <= days <= limits.REPORT_RANGE_DAYS:
            raise ValueError(f"a report covers 1 to {limits.REPORT_RANGE_DAYS} days")
        return self


class DispositionCount(Answer):
    """Calls of one day, campaign and disposition; its shape is assumed."""

    date: str | None = None
    campaign_id: str | None = None
    disposition: str | None = None
    calls: Integer | None = None


class DispositionReport(Answer):
    """Aggregated disposition counts; its shape is assumed."""

    start_date: str | None = None
    end_date: str | None = None
    data: list[DispositionCount] | None = None
