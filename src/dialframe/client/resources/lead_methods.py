"""`client.leads`, `.campaigns`, `.reports`: who is to be called, in which campaigns, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from math import isnan
from typing import TYPE_CHECKING, Any, Final, Literal

from dialframe.client.client_settings import Options
from dialframe.client.pagination import ListPlan
from dialframe.client.resources import Resource, ShellT, listed, operation
from dialframe.client.step_runners import Steps
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.dnc_and_message_models import DispositionReport
from dialframe.contract.models.lead_models import (
    Campaign,
    CampaignProgress,
    CampaignStatus,
    Lead,
    LeadCreated,
    LeadHistoryEntry,
    LeadImport,
    LeadImportAnswer,
    LeadInput,
    LeadStatus,
)
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


#: Leave this field alone, as opposed to None, which clears it.
UNSET: Final[Literal[Unset.UNSET]] = Unset.UNSET


class Leads(Resource[ShellT]):
    """Contacts: read, import, add, change. What a method raises is said at `Client`."""

    @listed
    def list(
        self,
        *,
        campaign_id: str | None = None,
        status: LeadStatus | None = None,
        external_id: str | None = None,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> ListPlan[Lead]:
        """List leads, newest first.

        Args:
            campaign_id: Only leads of this campaign.
            status: Only leads in this state.
            external_id: Only the lead with this id of your own.
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page of the same filters.
            options: Options of each page's request.
        """
        # Endpoints, Leads, GET: an `external_id` is looked for among those of this API client alone.
        return self._list(
            rows.LEADS_LIST,
            options,
            campaign_id=campaign_id,
            status=status,
            external_id=external_id,
            limit=limit,
            cursor=cursor,
        )

    @operation
    def get(self, lead_id: str, *, options: Options | None = None) -> Steps[Lead]:
        """Read one lead.

        Args:
            lead_id: `lead_` and a UUID.
            options: Options of this call.
        """
        return self._get(lead_id, options)

    @listed
    def history(
        self,
        lead_id: str,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> ListPlan[LeadHistoryEntry]:
        """List what happened to one lead.

        Args:
            lead_id: `lead_` and a UUID.
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page of the same lead.
            options: Options of each page's request.
        """
        return self._list(rows.LEADS_HISTORY, options, lead_id=lead_id, limit=limit, cursor=cursor)

    @operation
    def import_(
        self,
        campaign_id: str,
        leads: Sequence[LeadInput | Mapping[str, Any]] | pd.DataFrame,
        *,
        options: Options | None = None,
    ) -> Steps[LeadImportAnswer]:
        """Import up to 200 leads into a campaign.

        Args:
            campaign_id: A campaign in draft, ready or paused.
            leads: 1-200 leads, each with `phone` and any of `external_id`, `first_name`,
                `last_name`, `full_name`, `email`, `custom_fields`; or a DataFrame with columns of
                these names. A missing value (`None`, `NaN`, `NaT`, `NA`) is a field that is not sent;
                numpy scalars are understood.
            options: Options of this call.

        Returns:
            One result per lead, by its 0-based index in `leads`.
        """
        # Endpoints, Leads: a batch without its Do-Not-Call screen is refused as a whole (503).
        return self._sender.ask(
            rows.LEADS_IMPORT,
            # Validated from values, so that a message names the lead by its place in the list.
            lambda: LeadImport.model_validate(
                {"campaign_id": campaign_id, "leads": _leads(leads)}
            ),
            options,
        )

    @operation
    def create(
        self,
        *,
        campaign_id: str,
        phone: str,
        external_id: str | None = None,
        first_name: str | None = None,
        last_name: str | None = None,
        full_name: str | None = None,
        email: str | None = None,
        custom_fields: Mapping[str, Any] | None = None,
        source: str | None = None,
        dial_now: bool | None = None,
        dial_within_seconds: int | None = None,
        options: Options | None = None,
    ) -> Steps[LeadCreated]:
        """Add one lead, optionally to be dialed first.

        A lead that is refused (`on_dnc`, `invalid`, `duplicate`, ...) is an answer, not an error:
        look at `.status`.

        Args:
            campaign_id: A campaign in draft, ready, paused or running.
            phone: E.164.
            external_id: Your own id, 1-128 characters.
            first_name: At most 100 characters.
            last_name: At most 100 characters.
            full_name: At most 200 characters.
            email: At most 254 characters.
            custom_fields: At most 20 keys.
            source: Code of one of the account's lead sources.
            dial_now: Put the lead at the front of a running campaign: it is called.
            dial_within_seconds: For how long it stays at the front, 30-3600, by default 300.
            options: Options of this call.
        """
        # Endpoints, Leads: into a running campaign, or to be dialed first, it needs `calls:originate` too.
        return self._ask(
            rows.LEADS_CREATE,
            options,
            campaign_id=campaign_id,
            phone=phone,
            external_id=external_id,
            first_name=first_name,
            last_name=last_name,
            full_name=full_name,
            email=email,
            custom_fields=None if custom_fields is None else _plain(custom_fields),
            source=source,
            dial_now=dial_now,
            dial_within_seconds=dial_within_seconds,
        )

    @operation
    def update(
        self,
        lead_id: str,
        *,
        full_name: str | Unset | None = UNSET,
        email: str | Unset | None = UNSET,
        custom_fields: Mapping[str, Any] | Unset = UNSET,
        options: Options | None = None,
    ) -> Steps[Lead]:
        """Change a lead's name, e-mail or custom fields.

        What is not given is left alone. With `Options(if_match=lead)` the change is made only if
        the lead is still as it was read; else `PreconditionFailed`, whose `.fresh` is the lead
        as it is now.

        Args:
            lead_id: `lead_` and a UUID.
            full_name: At most 200 characters; None clears it.
            email: At most 254 characters; None clears it.
            custom_fields: Keys to be set; a key that is None is removed, others are kept.
            options: Options of this call.
        """
        # Contract, Endpoints, Leads, PATCH: only these three can change, and null clears one.
        changes = {"full_name": full_name, "email": email, "custom_fields": custom_fields}
        fields = {name: value for name, value in changes.items() if value is not UNSET}
        answer = self._ask(rows.LEADS_UPDATE, options, lead_id=lead_id, **fields)
        return self._sender.or_fresh(answer, lambda: self._get(lead_id))

    def _get(self, lead_id: str, options: Options | None = None) -> Steps[Lead]:
        return self._ask(rows.LEADS_GET, options, lead_id=lead_id)


def _leads(leads: Any) -> list[Any]:
    """Leads as plain values, from records or a DataFrame."""
    if hasattr(leads, "to_dict") and hasattr(leads, "columns"):
        leads = leads.to_dict("records")
    # Each of them can be walked, and none of them is a list of leads.
    if isinstance(leads, str | bytes | Mapping):
        raise ConfigError("leads.import: leads: give a list of leads, or a DataFrame")
    return [
        {name: value for name, value in _plain(lead).items() if value is not None}
        if isinstance(lead, Mapping)
        else lead
        for lead in leads
    ]


def _plain(value: Any) -> Any:
    """A value without numpy or pandas in it; what is missing is None."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item") and not getattr(value, "shape", ()):
        value = value.item()  # a scalar of numpy
    # By name: neither pandas nor numpy is loaded for a list of dictionaries.
    missing = type(value).__name__ in ("NAType", "NaTType")
    return None if missing or (isinstance(value, float) and isnan(value)) else value


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
        # Resources, Campaign: archived ones are not listed.
        return self._list(rows.CAMPAIGNS_LIST, options, status=status, limit=limit, cursor=cursor)

    @operation
    def get(self, campaign_id: str, *, options: Options | None = None) -> Steps[Campaign]:
        """Read one campaign.

        Args:
            campaign_id: `cmp_` and a UUID.
            options: Options of this call.
        """
        return self._ask(rows.CAMPAIGNS_GET, options, campaign_id=campaign_id)

    @operation
    def progress(
        self, campaign_id: str, *, options: Options | None = None
    ) -> Steps[CampaignProgress]:
        """Read how far a campaign is.

        Args:
            campaign_id: `cmp_` and a UUID.
            options: Options of this call.
        """
        return self._ask(rows.CAMPAIGNS_PROGRESS, options, campaign_id=campaign_id)

    @operation
    def pause(self, campaign_id: str, *, options: Options | None = None) -> Steps[Campaign]:
        """Pause a running campaign.

        Args:
            campaign_id: `cmp_` and a UUID; one that is paused stays so.
            options: Options of this call.
        """
        # States, Campaign: what is paused stays so (200); whatever does not run answers 409.
        return self._ask(rows.CAMPAIGNS_PAUSE, options, campaign_id=campaign_id)

    @operation
    def resume(self, campaign_id: str, *, options: Options | None = None) -> Steps[Campaign]:
        """Resume a paused campaign: real calls start.

        Args:
            campaign_id: `cmp_` and a UUID; one that is running stays so.
            options: Options of this call.
        """
        # States, Campaign: tier 2, for real calls start; 409 where a national list is stale.
        return self._ask(rows.CAMPAIGNS_RESUME, options, campaign_id=campaign_id)


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
        # Limits: a report covers 92 days at most, which its request checks.
        return self._ask(
            rows.REPORTS_DISPOSITIONS,
            options,
            start_date=start_date,
            end_date=end_date,
            campaign_id=campaign_id,
        )
