"""Shapes of leads and campaigns (contract, Resources: Lead, Campaign, Lead outcome objects)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dialframe.contract import limits
from dialframe.contract.models.base_models import (
    WHOLE,
    Answer,
    CampaignId,
    Flag,
    Instant,
    Integer,
    LeadId,
    ListQuery,
    Request,
    chars,
)

CampaignStatus = Literal["draft", "ready", "running", "paused", "completed"]


class Campaign(Answer):
    """A campaign; archived ones are not listed."""

    id: str
    name: str
    status: CampaignStatus | str
    # Resources, Campaign: the allowed values are not shown.
    dialer_mode: str
    created_at: Instant
    updated_at: Instant | None
    started_at: Instant | None
    completed_at: Instant | None


# Resources, last paragraph: the counts of a campaign's progress are "not shown".
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


LeadStatus = Literal["new", "contacted", "callback", "dnc", "completed"]
ImportStatus = Literal["accepted", "duplicate", "on_dnc", "invalid", "blocked_country", "failed"]
ImportReason = Literal[
    "invalid_phone",
    "missing_phone",
    "field_rule",
    "duplicate_in_request",
    "duplicate_in_campaign",
    "not_stored",
    "unrecognised",
]

CustomFields = Annotated[dict[str, Any], Field(max_length=limits.CUSTOM_FIELDS)]
ExternalId = Annotated[str, chars(limits.EXTERNAL_ID_CHARS)]
Phone = Annotated[str, chars(limits.PHONE_CHARS)]


class Lead(Answer):
    """A contact of the account, with the outcome of its last attempt only."""

    id: str
    campaign_id: str | None
    # Resources, Lead: unique for each API client; two clients may use the same one.
    external_id: str | None
    phone: str
    full_name: str | None
    email: str | None
    status: LeadStatus | str
    attempts: Integer
    custom_fields: dict[str, Any] | None
    last_attempt_at: Instant | None
    next_attempt_at: Instant | None
    # Resources, Lead: the agent's outcome of the last attempt, and the carrier's.
    disposition_code: str | None
    hangup_cause: str | None
    created_at: Instant
    updated_at: Instant


class LeadHistoryEntry(Answer):
    """One event in a lead's life; its shape is assumed."""

    # Resources, last paragraph: the entry of a lead's history is "not shown".
    at: Instant | None = None
    type: str | None = None
    call_id: str | None = None
    status: str | None = None
    disposition_code: str | None = None
    hangup_cause: str | None = None


# Resources, Lead: the input fields of import and create; only the number is demanded.
class LeadInput(Request):
    """One lead to be imported."""

    external_id: ExternalId | None = None
    phone: Phone
    first_name: Annotated[str, Field(max_length=limits.FIRST_NAME_CHARS)] | None = None
    last_name: Annotated[str, Field(max_length=limits.LAST_NAME_CHARS)] | None = None
    full_name: Annotated[str, Field(max_length=limits.FULL_NAME_CHARS)] | None = None
    email: Annotated[str, Field(max_length=limits.EMAIL_CHARS)] | None = None
    custom_fields: CustomFields | None = None


class LeadImport(Request):
    """A batch of leads for one campaign; `campaign_id` travels in the query."""

    campaign_id: CampaignId
    # Limits: leads per import.
    leads: Annotated[list[LeadInput], Field(min_length=1, max_length=limits.LEADS_PER_IMPORT)]


class LeadResult(Answer):
    """What became of one lead of an import, by its 0-based index in the request."""

    index: Integer
    external_id: str | None = None
    status: ImportStatus | str
    reason: ImportReason | str | None = None
    # Resources, Lead outcome objects: the first field that broke a rule, as the request named it.
    field: str | None = None
    lead_id: str | None = None


class ImportSummary(Answer):
    """Counts of an import."""

    received: Integer
    accepted: Integer
    rejected: Integer


class LeadImportAnswer(Answer):
    """One result per lead sent."""

    campaign_id: str
    data: list[LeadResult]
    summary: ImportSummary


class LeadCreate(LeadInput):
    """One lead to be added, optionally to be dialed first."""

    campaign_id: CampaignId
    # Resources, Lead: the code of a lead source, stored as the custom field `lead_source`.
    source: Annotated[str, chars(limits.SOURCE_CHARS)] | None = None
    # Endpoints, Leads, POST: it also needs the scope `calls:originate`, its switch and a sending setup.
    dial_now: Flag | None = None
    dial_within_seconds: (
        Annotated[Integer, Field(ge=limits.DIAL_WITHIN_S[0], le=limits.DIAL_WITHIN_S[1]), WHOLE]
        | None
    ) = None


# Resources, Lead outcome objects: `not_requested` where nobody asked for it.
class DialNowOutcome(Answer):
    """Whether the lead was put at the front of the dialing order."""

    status: str
    expires_at: Instant | None = None


class LeadCreated(Answer):
    """What became of a lead that was added singly."""

    status: ImportStatus | str
    reason: str | None = None
    field: str | None = None
    lead_id: str | None = None
    external_id: str | None = None
    campaign_id: str | None = None
    dial_now: DialNowOutcome | None = None


class LeadQuery(ListQuery):
    """Filters of the lead list; newest first."""

    campaign_id: CampaignId | None = None
    status: LeadStatus | None = None
    external_id: ExternalId | None = None


class LeadRef(Request):
    """One lead by id."""

    lead_id: LeadId


class LeadHistoryQuery(ListQuery):
    """One lead's history, page by page."""

    lead_id: LeadId


class LeadUpdate(Request):
    """A change of a lead: only these three fields can change.

    A field that is not given is left alone; null clears it. In `custom_fields` a key set to
    null is removed and keys not sent are kept.
    """

    lead_id: LeadId
    full_name: Annotated[str, Field(max_length=limits.FULL_NAME_CHARS)] | None = None
    email: Annotated[str, Field(max_length=limits.EMAIL_CHARS)] | None = None
    custom_fields: CustomFields = Field(default_factory=dict)
