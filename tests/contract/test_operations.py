"""The operation table against the contract's own text."""

from __future__ import annotations

import json
from pathlib import Path

from dialframe.contract import operations
from dialframe.contract.error_codes import BY_CODE
from dialframe.contract.models.base_models import Media, Nothing
from dialframe.contract.operations import Operation
from dialframe.contract.scopes import SCOPES, SWITCHES
from rows import every_row

# Written out from the contract's Scopes table and Endpoints, not from the rows.
PROMISED = """
GET /v1/me -
GET /v1/leads leads:read
GET /v1/leads/{lead_id} leads:read
GET /v1/leads/{lead_id}/history leads:read
POST /v1/leads/import leads:write
POST /v1/leads leads:write
PATCH /v1/leads/{lead_id} leads:write
GET /v1/campaigns campaigns:read
GET /v1/campaigns/{campaign_id} campaigns:read
GET /v1/campaigns/{campaign_id}/progress campaigns:read
POST /v1/campaigns/{campaign_id}/pause campaigns:pause
POST /v1/campaigns/{campaign_id}/resume campaigns:resume
POST /v1/calls calls:originate
GET /v1/calls calls:read
GET /v1/calls/{call_id} calls:read
GET /v1/calls/{call_id}/recording recordings:read
GET /v1/calls/{call_id}/transcript transcripts:read
GET /v1/calls/{call_id}/summary summaries:read
POST /v1/webhooks webhooks:write
GET /v1/webhooks webhooks:read
GET /v1/webhooks/{webhook_id} webhooks:read
PATCH /v1/webhooks/{webhook_id} webhooks:write
DELETE /v1/webhooks/{webhook_id} webhooks:write
POST /v1/webhooks/{webhook_id}/test webhooks:write
POST /v1/webhooks/{webhook_id}/rotate-secret webhooks:write
GET /v1/webhook-events webhooks:read
GET /v1/webhook-events/{event_id} webhooks:read
POST /v1/webhook-events/{event_id}/replay webhooks:write
POST /v1/dnc/check dnc:check
POST /v1/dnc dnc:add
POST /v1/consents consent:write
GET /v1/callbacks callbacks:read
POST /v1/callbacks callbacks:write
POST /v1/callbacks/{callback_id}/cancel callbacks:cancel
POST /v1/callbacks/{callback_id}/reschedule callbacks:write
GET /v1/appointments appointments:read
GET /v1/appointments/{appointment_id} appointments:read
POST /v1/appointments appointments:write
POST /v1/appointments/{appointment_id}/reschedule appointments:write
POST /v1/appointments/{appointment_id}/cancel appointments:write
POST /v1/sms messages:send
GET /v1/sms/delivery-reports sms:read
GET /v1/sms/usage sms:read
POST /v1/whatsapp/messages whatsapp:send
GET /v1/reports/dispositions reports:read
""".strip().splitlines()

UNSHOWN = {
    "me", "leads.get", "leads.history", "campaigns.get", "campaigns.progress", "calls.get",
    "calls.recording", "calls.transcript", "calls.summary", "webhooks.list", "events.list",
    "webhooks.delete", "webhooks.test", "dnc.add", "consents.record", "appointments.list",
    "appointments.get", "appointments.reschedule", "sms.delivery_reports", "sms.usage",
    "whatsapp.send", "reports.dispositions",
}  # fmt: skip

each_operation = every_row("row", operations.ALL)


def test_rows_are_the_operations_that_the_contract_names() -> None:
    """All 45 operations are there, each with its method, path and scope, and no other."""
    named = {f"{row.method} {row.path} {row.scope or '-'}" for row in operations.ALL}

    assert named == set(PROMISED)
    assert len(operations.ALL) == len(operations.BY_NAME) == len(PROMISED) == 45


def test_assumed_rows_are_those_whose_shapes_are_not_shown() -> None:
    """Exactly the 22 operations of the contract's last endpoint section are marked assumed."""
    assert {row.name for row in operations.ALL if row.assumed} == UNSHOWN


@each_operation
def test_row_is_complete(row: Operation) -> None:
    """Each row names its source, a summary, and only fields and codes that exist."""
    assert row.source
    assert row.summary.endswith(".")
    assert set(row.path_names) <= set(row.request.model_fields)
    assert set(row.query) <= set(row.request.model_fields)
    assert set(row.refusals) <= set(BY_CODE)


@each_operation
def test_every_write_but_patch_requires_a_key(row: Operation) -> None:
    """POST and DELETE that change data require a key, PATCH may carry one, reads use none."""
    reads = row.method == "GET" or row.name == "dnc.check"
    expected = "none" if reads else "optional" if row.method == "PATCH" else "required"

    assert row.key == expected


@each_operation
def test_sample_answer_has_the_rows_shape(row: Operation, samples: Path) -> None:
    """Each operation has a sample; request and answer read back equal to what was written."""
    sample = json.loads((samples / "responses" / f"{row.name}.json").read_text())
    request = row.request.model_validate(sample["request"])

    assert request.model_dump(mode="json", exclude_unset=True) == sample["request"]
    if sample["status"] == row.status and row.response not in (Media, Nothing):
        answer = row.response.model_validate(sample["body"])
        assert answer.model_dump(mode="json") == sample["body"]


def test_tier_two_scopes_name_a_switch() -> None:
    """Each tier 2 scope has its account switch, each switch its scope."""
    assert {s.switch for s in SCOPES if s.tier == 2} == set(SWITCHES)
    assert all(s.switch is None for s in SCOPES if s.tier == 1)
    assert {s.name for s in SCOPES} == {row.scope for row in operations.ALL} - {None}
