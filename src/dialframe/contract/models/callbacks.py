"""Callbacks (contract, Resources: Callback; Endpoints: Callbacks)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dialframe.contract import limits
from dialframe.contract.ids import CallbackId, CampaignId, LeadId
from dialframe.contract.models.shape import Answer, Instant, ListQuery, Request

CallbackStatus = Literal["pending", "completed", "cancelled"]


class Callback(Answer):
    """A call promised to a lead; `lead_id` is null when the lead was deleted after scheduling."""

    id: str
    lead_id: str | None
    campaign_id: str
    scheduled_at: Instant
    status: CallbackStatus | str
    notes: str | None
    created_at: Instant


class CallbackQuery(ListQuery):
    """Callbacks of one campaign, newest created first."""

    campaign_id: CampaignId
    status: CallbackStatus | None = None


class CallbackCreate(Request):
    """A callback to be scheduled; when due, the platform calls the lead."""

    lead_id: LeadId
    scheduled_at: Instant
    notes: Annotated[str, Field(max_length=limits.CALLBACK_NOTES_CHARS)] | None = None


class CallbackRef(Request):
    """One callback by id."""

    callback_id: CallbackId


class CallbackReschedule(Request):
    """A new time for a pending callback."""

    callback_id: CallbackId
    scheduled_at: Instant
