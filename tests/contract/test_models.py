"""Bounds of requests and tolerance of answers."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from dialframe.contract.models import (
    call_models,
    dnc_and_message_models,
    lead_models,
    webhook_models,
)
from dialframe.contract.models.base_models import ListQuery, Page, Request
from rows import every_row

UUID = "00000000-0000-4000-8000-000000000001"
CAMPAIGN, LEAD = f"cmp_{UUID}", f"lead_{UUID}"
PHONE = "+12125550142"

ACCEPTED: list[tuple[type[Request], dict[str, Any]]] = [
    (ListQuery, {"limit": 1}),
    (ListQuery, {"limit": 100, "cursor": "c" * 1024}),
    (lead_models.LeadInput, {"phone": "x" * 32, "external_id": "e" * 128, "email": "m" * 254}),
    (lead_models.LeadInput, {"phone": "1", "custom_fields": {str(n): n for n in range(20)}}),
    (lead_models.LeadImport, {"campaign_id": CAMPAIGN, "leads": [{"phone": PHONE}] * 200}),
    (lead_models.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "dial_within_seconds": 30}),
    (lead_models.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "source": "s" * 100}),
    (call_models.CallStart, {"to": PHONE, "agent_extension": "1001"}),
    (call_models.CallbackCreate, {"lead_id": LEAD, "scheduled_at": "2026-01-01T00:00:00Z"}),
    (call_models.AppointmentCreate,
     {"phone": PHONE, "scheduled_at": "2026-01-01T00:00:00Z", "duration_minutes": 480}),
    (dnc_and_message_models.DncCheck, {"phones": [PHONE] * 100}),
    (dnc_and_message_models.SmsSend, {"to": PHONE, "body": "b" * 918, "client_reference": "r" * 64}),
    (webhook_models.WebhookCreate, {"url": "https://a", "events": ["call.completed"]}),
    (dnc_and_message_models.DispositionQuery, {"start_date": "2026-01-01", "end_date": "2026-04-02"}),
]  # fmt: skip

REFUSED: list[tuple[type[Request], dict[str, Any]]] = [
    (ListQuery, {"limit": 0}),
    (ListQuery, {"limit": 101}),
    (ListQuery, {"cursor": ""}),
    (ListQuery, {"cursor": "c" * 1025}),
    (ListQuery, {"offset": 1}),
    (lead_models.LeadInput, {}),
    (lead_models.LeadInput, {"phone": ""}),
    (lead_models.LeadInput, {"phone": "x" * 33}),
    (lead_models.LeadInput, {"phone": "1", "external_id": ""}),
    (lead_models.LeadInput, {"phone": "1", "custom_fields": {str(n): n for n in range(21)}}),
    (lead_models.LeadInput, {"phone": "1", "first_name": "n" * 101}),
    (lead_models.LeadImport, {"campaign_id": CAMPAIGN, "leads": []}),
    (lead_models.LeadImport, {"campaign_id": CAMPAIGN, "leads": [{"phone": PHONE}] * 201}),
    (lead_models.LeadImport, {"campaign_id": LEAD, "leads": [{"phone": PHONE}]}),
    (lead_models.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "dial_within_seconds": 29}),
    (lead_models.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "dial_within_seconds": 3601}),
    (lead_models.LeadUpdate, {"lead_id": LEAD, "phone": PHONE}),
    (call_models.CallStart, {"to": PHONE}),
    (call_models.CallStart, {"to": PHONE, "agent_extension": "1", "agent_email": "a@b"}),
    (call_models.CallStart, {"to": "2125550142", "agent_extension": "1"}),
    (call_models.CallbackCreate, {"lead_id": LEAD, "scheduled_at": "2026-01-01T00:00:00"}),
    (call_models.CallbackCreate, {"lead_id": LEAD, "scheduled_at": 1767225600}),
    (call_models.AppointmentCreate,
     {"phone": PHONE, "scheduled_at": "2026-01-01T00:00:00Z", "duration_minutes": 4}),
    (dnc_and_message_models.DncCheck, {"phones": []}),
    (dnc_and_message_models.DncCheck, {"phones": [PHONE] * 101}),
    (dnc_and_message_models.SmsSend, {"to": PHONE, "body": "", "client_reference": "r"}),
    (webhook_models.WebhookCreate, {"url": "https://", "events": ["call.completed"]}),
    (webhook_models.WebhookCreate, {"url": "https://a", "events": []}),
    (webhook_models.WebhookCreate, {"url": "https://a", "events": ["webhook.test"]}),
    (dnc_and_message_models.DispositionQuery, {"start_date": "2026-01-01", "end_date": "2026-04-03"}),
    (dnc_and_message_models.DispositionQuery, {"start_date": "2026-01-02", "end_date": "2026-01-01"}),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "values"), ACCEPTED)
def test_request_within_the_bounds_is_accepted(
    shape: type[Request], values: dict[str, Any]
) -> None:
    """Values at the contract's bounds are accepted and travel unchanged."""
    sent = shape.model_validate(values).model_dump(mode="json", exclude_unset=True)

    assert sent == values


@every_row(("shape", "values"), REFUSED)
def test_request_beyond_the_bounds_is_refused(
    shape: type[Request], values: dict[str, Any]
) -> None:
    """Values one step beyond the contract's bounds, and unknown fields, are refused."""
    with pytest.raises(ValidationError):
        shape.model_validate(values)


def test_answer_keeps_what_v1_may_add() -> None:
    """A new field and a new status value survive the reading of an answer."""
    row = lead_models.LeadResult.model_validate({"index": 0, "status": "parked", "score": 7})

    assert row.status == "parked"
    assert row.model_extra == {"score": 7}


@pytest.mark.parametrize("attempts", ["3", 3.5, True])
def test_answer_with_a_number_of_another_type_is_refused(attempts: Any) -> None:
    """Numbers are numbers: text, fractions and booleans do not pass for an integer."""
    with pytest.raises(ValidationError):
        lead_models.LeadResult.model_validate({"index": attempts, "status": "accepted"})


def test_page_without_page_object_is_refused() -> None:
    """A list answer that does not say where it goes on is no page."""
    with pytest.raises(ValidationError):
        Page[lead_models.Lead].model_validate({"data": []})


def test_repr_masks_numbers() -> None:
    """Printing an answer or a request shows no whole number."""
    answer = dnc_and_message_models.DncResult.model_validate({"phone": PHONE, "listed": True})
    request = dnc_and_message_models.DncCheck(phones=[PHONE])

    assert PHONE not in repr(answer) + str(answer) + repr(request) + str(request)
    assert answer.phone == PHONE
