"""`client.leads`: who is to be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from dialframe.client.client_settings import Options
from dialframe.client.pagination import Listing
from dialframe.client.resources import UNSET, Resource, ShellT, Unset, listed, sent
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.lead_models import (
    Lead,
    LeadCreated,
    LeadHistoryEntry,
    LeadImportAnswer,
    LeadInput,
    LeadStatus,
)
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd


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


class Leads(Resource[ShellT]):
    """Contacts: read, import, add, change. What a method raises is said at `Client`."""

    # Endpoints, Leads, GET: an `external_id` is looked for among those of this API client alone.
    @listed(rows.LEADS_LIST)
    def list(
        self,
        *,
        campaign_id: str | None = None,
        status: LeadStatus | None = None,
        external_id: str | None = None,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[Lead]:
        """List leads, newest first.

        Args:
            campaign_id: Only leads of this campaign.
            status: Only leads in this state.
            external_id: Only the lead with this id of your own.
        """

    @sent(rows.LEADS_GET)
    def get(self, lead_id: str, *, options: Options | None = None) -> Lead:
        """Read one lead."""

    @listed(rows.LEADS_HISTORY)
    def history(
        self,
        lead_id: str,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[LeadHistoryEntry]:
        """List what happened to one lead."""

    # Endpoints, Leads: a batch without its Do-Not-Call screen is refused as a whole (503).
    @sent(rows.LEADS_IMPORT, leads=_leads)
    def import_(
        self,
        campaign_id: str,
        leads: Sequence[LeadInput | Mapping[str, Any]] | pd.DataFrame,
        *,
        options: Options | None = None,
    ) -> LeadImportAnswer:
        """Import up to 200 leads into a campaign.

        Args:
            campaign_id: A campaign in draft, ready or paused.
            leads: 1-200 leads, each with `phone` and any of `external_id`, `first_name`,
                `last_name`, `full_name`, `email`, `custom_fields`; or a DataFrame with columns of
                these names. A missing value (`None`, `NaN`, `NaT`, `NA`) is a field that is not sent;
                numpy scalars are understood.

        Returns:
            One result per lead, by its 0-based index in `leads`.
        """

    # Endpoints, Leads: into a running campaign, or to be dialed first, it needs `calls:originate` too.
    @sent(rows.LEADS_CREATE, custom_fields=_plain)
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
    ) -> LeadCreated:
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
        """

    # Contract, Endpoints, Leads, PATCH: only these three can change, and null clears one.
    @sent(rows.LEADS_UPDATE)
    def update(
        self,
        lead_id: str,
        *,
        full_name: str | Unset | None = UNSET,
        email: str | Unset | None = UNSET,
        custom_fields: Mapping[str, Any] | Unset = UNSET,
        options: Options | None = None,
    ) -> Lead:
        """Change a lead's name, e-mail or custom fields.

        What is not given is left alone. With `Options(if_match=lead)` the change is made only if
        the lead is still as it was read; else `PreconditionFailed`, whose `.fresh` is the lead
        as it is now.

        Args:
            full_name: At most 200 characters; None clears it.
            email: At most 254 characters; None clears it.
            custom_fields: Keys to be set; a key that is None is removed, others are kept.
        """
