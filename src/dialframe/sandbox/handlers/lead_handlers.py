"""Leads: reading, adding and changing them (contract, Endpoints: Leads; Lead outcome objects).

The checks of a lead that comes in, and their order, are the contract's: sanctioned destinations,
phone validation, duplicates in the request and in the campaign, the account's field rules, the
Do-Not-Call screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final

from pydantic import Field

from dialframe.contract import limits, operations
from dialframe.contract.models.lead_models import (
    LeadCreate,
    LeadHistoryEntry,
    LeadHistoryQuery,
    LeadImport,
    LeadInput,
    LeadUpdate,
)
from dialframe.sandbox import clock
from dialframe.sandbox.clock import SECOND_US
from dialframe.sandbox.dialer import automatic_dialing, contact_checks
from dialframe.sandbox.handlers import requests_and_replies
from dialframe.sandbox.handlers.requests_and_replies import (
    Reply,
    answer,
    check_state,
    on,
)
from dialframe.sandbox.world.api_objects import (
    CAMPAIGN,
    LEAD,
    Json,
    Transaction,
    check_if_match,
    invalid,
    resource,
)

_CUSTOM: Final = "custom_fields."
#: Country of the networks that belong to none, such as +800 and +881.
_NO_COUNTRY: Final = "001"
#: Outcomes that a single add does not have, and what it answers instead. A reason that is not so is not given: who
#: has the external id already is a lead of another campaign.
_SINGLE: Final[dict[str, tuple[str, str | None]]] = {
    "not_stored": ("duplicate", None),
    "unrecognised": ("invalid", "invalid_phone"),
}


# Resources, Lead outcome objects: `missing_phone` is a result, so the shape must let it through.
class LeadRow(LeadInput):
    """One lead as it comes: a missing or empty phone is an outcome of that lead, not of the request."""

    phone: Annotated[str, Field(max_length=limits.PHONE_CHARS[1])] | None = None  # type: ignore[assignment]

    @property
    def name(self) -> str | None:
        """The full name, or what first and last name make."""
        parts = (self.first_name, self.last_name)
        # Resources, Lead: input has three names, the lead one.
        return self.full_name or " ".join(part for part in parts if part) or None


class ImportRows(LeadImport):
    """A batch for one campaign."""

    leads: Annotated[list[LeadRow], Field(min_length=1, max_length=limits.LEADS_PER_IMPORT)]  # type: ignore[assignment]


class CreateRow(LeadRow, LeadCreate):
    """One lead with what only the single add takes."""


@dataclass(frozen=True, slots=True)
class JudgedLead:
    """What became of one lead.

    Attributes:
        phone: E.164 form of an accepted lead.
        field: The first field that a field rule refused.
        lead_id: The lead that is already there, of a duplicate in the campaign.
    """

    row: LeadRow = field(repr=False)
    status: str = "accepted"
    reason: str | None = None
    phone: str = field(default="", repr=False)
    field: str | None = None
    lead_id: str | None = None


def judge(tx: Transaction, campaign_id: str, rows: Sequence[LeadRow]) -> list[JudgedLead]:
    """One outcome per lead, in the order given."""
    # Endpoints, Leads: the order of the checks; one result for each lead.
    judged = [_by_number(tx, row) for row in rows]
    phones = [lead.phone for lead in judged if lead.phone]
    rules = tx.rows(
        "SELECT field, required, pattern FROM field_rules WHERE client = ? ORDER BY number"
    )
    by_phone = dict(
        tx.rows(
            "SELECT phone, id FROM leads WHERE client = ? AND campaign_id = ?"
            " AND phone IN (SELECT value FROM json_each(?))",
            campaign_id,
            json.dumps(phones),
        )
    )
    names = tx.rows(
        "SELECT external_id, id, campaign_id FROM leads WHERE client = ?"
        " AND external_id IN (SELECT value FROM json_each(?))",
        json.dumps([lead.row.external_id for lead in judged if lead.row.external_id]),
    )
    by_name = {name: (lead_id, where == campaign_id) for name, lead_id, where in names}
    listed = contact_checks.listed(tx, phones)
    # Numbers and external ids of leads that stand earlier in the request.
    taken: set[tuple[str, str | None]] = set()

    def by_known(lead: JudgedLead) -> JudgedLead:
        """The first check behind the number's that a lead does not pass."""
        number, name = ("phone", lead.phone), ("external_id", lead.row.external_id)
        again = not taken.isdisjoint((number, name))
        taken.update((number, name) if lead.row.external_id is not None else (number,))
        if again:
            return replace(lead, status="duplicate", reason="duplicate_in_request")
        lead_id, here = by_name.get(lead.row.external_id or "", (None, True))
        if known := by_phone.get(lead.phone) or (lead_id if here else None):
            return replace(lead, status="duplicate", reason="duplicate_in_campaign", lead_id=known)
        if not here:
            # An external id is unique per client: one that another campaign has cannot be stored again.
            return replace(lead, status="failed", reason="not_stored", lead_id=lead_id)
        for field_name, required, pattern in rules:
            if _breaks(lead.row, field_name, required, pattern):
                return replace(lead, status="invalid", reason="field_rule", field=field_name)
        return replace(lead, status="on_dnc") if lead.phone in listed else lead

    return [by_known(lead) if lead.status == "accepted" else lead for lead in judged]


def _by_number(tx: Transaction, row: LeadRow) -> JudgedLead:
    if row.phone is None or not row.phone.strip():
        return JudgedLead(row, "invalid", "missing_phone")
    number = contact_checks.read(row.phone)
    if number is not None and number.country in tx.settings.sanctioned_countries:
        return JudgedLead(row, "blocked_country")
    if number is None or not number.valid:
        return JudgedLead(row, "invalid", "invalid_phone")
    if number.country == _NO_COUNTRY:
        # Whose hours and lists hold for it cannot be told.
        return JudgedLead(row, "failed", "unrecognised")
    return JudgedLead(row, phone=number.e164)


def _breaks(row: LeadRow, field_name: str, required: int, pattern: str | None) -> bool:
    """Whether a lead breaks a field rule; the pattern is searched for, as JSON Schema does."""
    if field_name.startswith(_CUSTOM):
        value = (row.custom_fields or {}).get(field_name.removeprefix(_CUSTOM))
    else:
        value = row.name if field_name == "full_name" else getattr(row, field_name)
    if value is None or value == "":
        return bool(required)
    text = value if isinstance(value, str) else json.dumps(value)
    return pattern is not None and re.search(pattern, text) is None


# Contract, States, Campaign: a running one takes no import; a single add with more rights.
IMPORTABLE: Final = ("draft", "ready", "paused")

#: What happened to a lead: that it came in, and each call to it.
_HISTORY: Final = """(
    SELECT client, id AS lead_id, created_at, id, 'created' AS type, NULL AS call_id,
        NULL AS status, NULL AS disposition, NULL AS hangup_cause FROM leads
        WHERE client = {client} AND id = '{lead}'
    UNION ALL
    SELECT client, lead_id, created_at, id, 'call', id, status, disposition, hangup_cause
        FROM calls WHERE client = {client} AND lead_id = '{lead}'
)"""
# The fields of a lead history entry are not shown.
_ENTRY: Final = resource(
    _HISTORY,
    LeadHistoryEntry,
    derived={"at": ("created_at", clock.text), "disposition_code": ("disposition", str)},
)


requests_and_replies.lists(operations.LEADS_LIST, LEAD)
requests_and_replies.finds(operations.LEADS_GET, LEAD)


@on(operations.LEADS_HISTORY)
def history(tx: Transaction, request: LeadHistoryQuery) -> Reply:
    """What happened to a lead, newest first; the entries' shape is assumed."""
    tx.find(LEAD, request.lead_id)
    # Both values are our own: a row number, and an id whose form was checked.
    table = _HISTORY.format(client=tx.client, lead=request.lead_id)
    entries = replace(_ENTRY, table=table)
    return requests_and_replies.page(tx, request, operations.LEADS_HISTORY, entries)


@on(operations.LEADS_IMPORT, ImportRows)
def import_leads(tx: Transaction, request: ImportRows) -> Reply:
    """One result per lead, by its index."""
    campaign = tx.find(CAMPAIGN, request.campaign_id)
    check_state("campaign", campaign, IMPORTABLE, "campaign_not_importable")
    contact_checks.screen_can_run(tx)
    judged = judge(tx, request.campaign_id, request.leads)
    results = [
        {
            "index": index,
            "external_id": lead.row.external_id,
            "status": lead.status,
            "reason": lead.reason,
            "field": lead.field,
            "lead_id": _store_lead(tx, lead, request.campaign_id),
        }
        for index, lead in enumerate(judged)
    ]
    # Endpoints, Leads: the counts beside the results.
    accepted = sum(lead.status == "accepted" for lead in judged)
    summary = {
        "received": len(judged),
        "accepted": accepted,
        "rejected": len(judged) - accepted,
    }
    return answer({"campaign_id": request.campaign_id, "data": results, "summary": summary})


@on(operations.LEADS_CREATE, CreateRow)
def create(tx: Transaction, request: CreateRow) -> Reply:
    """Add one lead, if asked at the front of a running campaign's dialing order."""
    # Endpoints, Leads: checked before anything is written.
    if request.dial_now:
        contact_checks.may_start_calls(tx)
    campaign = tx.find(CAMPAIGN, request.campaign_id)
    check_state("campaign", campaign, (*IMPORTABLE, "running"), "campaign_not_importable")
    if campaign["status"] == "running":
        contact_checks.may_start_calls(tx)
    contact_checks.screen_can_run(tx)
    lead = _judge_single(tx, request)
    lead_id = _store_lead(tx, lead, request.campaign_id)
    return answer(
        {
            "status": lead.status,
            "reason": lead.reason,
            "field": lead.field,
            "lead_id": lead_id,
            "external_id": request.external_id,
            "campaign_id": request.campaign_id,
            "dial_now": _dial_now(tx, request, lead, lead_id, campaign),
        }
    )


@on(operations.LEADS_UPDATE)
def update(tx: Transaction, request: LeadUpdate) -> Reply:
    """Change name, e-mail or custom fields; what is not given stays."""
    fields = request.model_fields_set
    lead = tx.find(LEAD, request.lead_id)
    check_if_match(tx.if_match, lead)
    # Scopes, leads:write: name, email and custom fields; the phone never changes (Resources, Lead).
    changes: Json = {
        name: getattr(request, name) for name in ("full_name", "email") if name in fields
    }
    if "custom_fields" in fields:
        # Endpoints, Leads: a key that is null is removed, keys not sent are kept.
        # RFC 7396: a merge, with null for removal.
        merged = {**(lead["custom_fields"] or {}), **request.custom_fields}
        present = {name: value for name, value in merged.items() if value is not None}
        if len(present) > limits.CUSTOM_FIELDS:
            raise invalid("/custom_fields", "too_long")
        changes["custom_fields"] = present
    # A change of nothing keeps `updated_at`, and with it the ETag.
    if all(lead[name] == value for name, value in changes.items()):
        return answer(lead)
    if "custom_fields" in changes:
        changes["custom_fields"] = json.dumps(changes["custom_fields"])
    changes["updated_at"] = tx.now_us
    return answer(tx.change(LEAD, request.lead_id, **changes))


def _judge_single(tx: Transaction, request: CreateRow) -> JudgedLead:
    # Resources, Lead outcome objects: `unknown_source` is a reason of the single add alone.
    if request.source is not None:
        source = tx.row("SELECT 1 FROM lead_sources WHERE client = ? AND code = ?", request.source)
        if source is None:
            return JudgedLead(request, "invalid", "unknown_source")
        custom = {**(request.custom_fields or {}), "lead_source": request.source}
        if len(custom) > limits.CUSTOM_FIELDS:
            # It is stored as a custom field, and a lead has no room for a 21st.
            raise invalid("/custom_fields", "too_long")
        request = request.model_copy(update={"custom_fields": custom})
    lead = judge(tx, request.campaign_id, [request])[0]
    # Resources, LeadCreated: a shorter list of states than the import's.
    status, reason = _SINGLE.get(lead.reason or "", (lead.status, lead.reason))
    return replace(lead, status=status, reason=reason)


def _store_lead(tx: Transaction, lead: JudgedLead, campaign_id: str) -> str | None:
    if lead.status != "accepted":
        return lead.lead_id
    custom = lead.row.custom_fields
    values = {
        "campaign_id": campaign_id,
        "external_id": lead.row.external_id,
        "phone": lead.phone,
        "full_name": lead.row.name,
        "email": lead.row.email,
        "status": "new",
        "attempts": 0,
        "custom_fields": None if custom is None else json.dumps(custom),
        "updated_at": tx.now_us,
    }
    return tx.add("leads", "lead", values)


def _dial_now(
    tx: Transaction, request: CreateRow, lead: JudgedLead, lead_id: str | None, campaign: Json
) -> Json:
    # Resources, Lead outcome objects: the five states of a DialNowOutcome.
    status = "queued"
    if not request.dial_now:
        status = "not_requested"
    elif lead.status != "accepted" or lead_id is None:
        status = "lead_not_accepted"
    elif campaign["status"] != "running":
        status = "campaign_not_running"
    elif tx.settings.sending_suspended or not tx.settings.outbound_approved:
        status = "unavailable"
    if status != "queued" or lead_id is None:
        return {"status": status, "expires_at": None}
    # Limits: dial-now window.
    window_s = request.dial_within_seconds or limits.DIAL_WITHIN_DEFAULT_S
    until_us = tx.now_us + window_s * SECOND_US
    automatic_dialing.dial_first(automatic_dialing.context_at(tx), lead_id, until_us)
    return {"status": status, "expires_at": clock.text(until_us)}
