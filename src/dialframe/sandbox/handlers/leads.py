"""Leads: reading, adding and changing them (contract, Endpoints: Leads)."""

from __future__ import annotations

import json
from typing import Any, Final

from dialframe.contract import limits, operations
from dialframe.contract.models.leads import LeadHistoryQuery, LeadQuery, LeadRef, LeadUpdate
from dialframe.sandbox import admission, identifiers, instants, intake, lists, outbox, sending
from dialframe.sandbox.exchange import Ask, Json, Reply, answer, on, taking
from dialframe.sandbox.instants import SECOND_US
from dialframe.sandbox.intake import CreateRow, ImportRows, Judged
from dialframe.sandbox.lists import Source
from dialframe.sandbox.loading import insert
from dialframe.sandbox.outbox import Sent
from dialframe.sandbox.problems import Refusal, invalid
from dialframe.sandbox.resources import CAMPAIGN, LEAD, check_if_match, etag

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
_HISTORY_COLUMNS: Final = (
    "created_at", "type", "call_id", "status", "disposition", "hangup_cause",
)  # fmt: skip


@on(operations.LEADS_LIST)
def list_leads(ask: Ask[LeadQuery]) -> Reply:
    """Leads, newest first."""
    wanted = ask.request
    where = {
        "campaign_id": wanted.campaign_id,
        "status": wanted.status,
        "external_id": wanted.external_id,
    }
    return lists.rows_of(ask, LEAD, where)


@on(operations.LEADS_GET)
def get_lead(ask: Ask[LeadRef]) -> Reply:
    """One lead."""
    return _tagged(LEAD.find(ask.db, ask.client, ask.request.lead_id))


@on(operations.LEADS_HISTORY)
def history(ask: Ask[LeadHistoryQuery]) -> Reply:
    """What happened to a lead, newest first; the entries' shape is assumed."""
    LEAD.find(ask.db, ask.client, ask.request.lead_id)
    # Both values are our own: a row number, and an id whose form was checked.
    table = _HISTORY.format(client=ask.client, lead=ask.request.lead_id)
    return lists.page(ask, Source(table, _HISTORY_COLUMNS, {}), _entry)


@taking(operations.LEADS_IMPORT, ImportRows)
def import_leads(ask: Ask[ImportRows]) -> Reply:
    """One result per lead, by its index."""
    wanted = ask.request
    campaign = CAMPAIGN.find(ask.db, ask.client, wanted.campaign_id)
    _check_state(campaign, IMPORTABLE)
    sending.screen_can_run(ask)
    judged = _judge(ask, wanted.campaign_id, wanted.leads)
    results = [
        {
            "index": index,
            "external_id": one.row.external_id,
            "status": one.status,
            "reason": one.reason,
            "field": one.field,
            "lead_id": _stored(ask, one, wanted.campaign_id),
        }
        for index, one in enumerate(judged)
    ]
    accepted = sum(one.status == "accepted" for one in judged)
    summary = {
        "received": len(judged),
        "accepted": accepted,
        "rejected": len(judged) - accepted,
    }
    return answer({"campaign_id": wanted.campaign_id, "data": results, "summary": summary})


@taking(operations.LEADS_CREATE, CreateRow)
def create(ask: Ask[CreateRow]) -> Reply:
    """Add one lead, if wanted at the front of a running campaign's dialling order."""
    wanted = ask.request
    if wanted.dial_now:
        admission.may_start_calls(ask.caller)
    campaign = CAMPAIGN.find(ask.db, ask.client, wanted.campaign_id)
    _check_state(campaign, (*IMPORTABLE, "running"))
    if campaign["status"] == "running":
        admission.may_start_calls(ask.caller)
    sending.screen_can_run(ask)
    one = _judged_single(ask)
    lead_id = _stored(ask, one, wanted.campaign_id)
    return answer(
        {
            "status": one.status,
            "reason": one.reason,
            "field": one.field,
            "lead_id": lead_id,
            "external_id": wanted.external_id,
            "campaign_id": wanted.campaign_id,
            "dial_now": _dial_now(ask, one, lead_id, campaign),
        }
    )


@on(operations.LEADS_UPDATE)
def update(ask: Ask[LeadUpdate]) -> Reply:
    """Change name, e-mail or custom fields; what is not given stays."""
    wanted, given = ask.request, ask.request.model_fields_set
    lead = LEAD.find(ask.db, ask.client, wanted.lead_id)
    check_if_match(ask.if_match, lead)
    changes: Json = {
        name: getattr(wanted, name) for name in ("full_name", "email") if name in given
    }
    if "custom_fields" in given:
        merged = {**(lead["custom_fields"] or {}), **wanted.custom_fields}
        kept = {name: value for name, value in merged.items() if value is not None}
        if len(kept) > limits.CUSTOM_FIELDS:
            raise invalid("/custom_fields", "too_long")
        changes["custom_fields"] = kept
    if all(lead[name] == value for name, value in changes.items()):
        return _tagged(lead)
    if "custom_fields" in changes:
        changes["custom_fields"] = json.dumps(changes["custom_fields"])
    changes["updated_at"] = ask.now_us
    return _tagged(LEAD.change(ask.db, ask.client, wanted.lead_id, changes))


def _tagged(lead: Json) -> Reply:
    return answer(lead, headers=(("ETag", etag(lead)),))


def _entry(row: tuple[Any, ...]) -> Json:
    at_us, kind, call_id, status, disposition, hangup_cause = row
    return {
        "at": instants.text(at_us),
        "type": kind,
        "call_id": call_id,
        "status": status,
        "disposition_code": disposition,
        "hangup_cause": hangup_cause,
    }


def _check_state(campaign: Json, allowed: tuple[str, ...]) -> None:
    if campaign["status"] not in allowed:
        detail = f"The campaign is {campaign['status']}."
        raise Refusal("campaign_not_importable", detail)


def _judge(ask: Ask[Any], campaign_id: str, rows: list[Any]) -> list[Judged]:
    sanctioned = frozenset(ask.caller.settings.sanctioned_countries)
    return intake.judge(ask.db, ask.client, campaign_id, rows, sanctioned)


def _judged_single(ask: Ask[CreateRow]) -> Judged:
    wanted = ask.request
    if wanted.source is not None:
        known = ask.db.execute(
            "SELECT 1 FROM lead_sources WHERE client = ? AND code = ?",
            (ask.client, wanted.source),
        )
        if known.fetchone() is None:
            return Judged(wanted, "invalid", "unknown_source")
        custom = {**(wanted.custom_fields or {}), "lead_source": wanted.source}
        wanted = wanted.model_copy(update={"custom_fields": custom})
    return _judge(ask, wanted.campaign_id, [wanted])[0]


def _stored(ask: Ask[Any], one: Judged, campaign_id: str) -> str | None:
    if one.status != "accepted":
        return one.lead_id
    lead_id = identifiers.new("lead")
    values = intake.values_of(one, campaign_id=campaign_id, lead_id=lead_id, now_us=ask.now_us)
    insert(ask.db, "leads", ask.client, values)
    return lead_id


def _dial_now(ask: Ask[CreateRow], one: Judged, lead_id: str | None, campaign: Json) -> Json:
    status = "queued"
    if not ask.request.dial_now:
        status = "not_requested"
    elif one.status != "accepted" or lead_id is None:
        status = "lead_not_accepted"
    elif campaign["status"] != "running":
        status = "campaign_not_running"
    elif ask.caller.settings.sending_suspended or not ask.caller.settings.outbound_approved:
        status = "unavailable"
    if status != "queued" or lead_id is None:
        return {"status": status, "expires_at": None}
    window_s = ask.request.dial_within_seconds or limits.DIAL_WITHIN_DEFAULT_S
    until_us = ask.now_us + window_s * SECOND_US
    LEAD.change(ask.db, ask.client, lead_id, {"dial_first_until": until_us})
    detail = {"lead_id": lead_id, "campaign_id": campaign["id"], "dial_now": True}
    outbox.add(ask.db, ask.client, Sent("call", one.phone, ask.now_us, lead_id, detail))
    return {"status": status, "expires_at": instants.text(until_us)}


HANDLERS = (list_leads, get_lead, history, import_leads, create, update)
