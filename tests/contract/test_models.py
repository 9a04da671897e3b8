"""Bounds of requests and tolerance of answers."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from dialframe.contract.models import (
    account,
    appointments,
    callbacks,
    calls,
    contact,
    leads,
    webhooks,
)
from dialframe.contract.models.shape import ListQuery, Page, Request

UUID = "00000000-0000-4000-8000-000000000001"
CAMPAIGN, LEAD = f"cmp_{UUID}", f"lead_{UUID}"
PHONE = "+12125550142"

ACCEPTED: list[tuple[type[Request], dict[str, Any]]] = [
    (ListQuery, {"limit": 1}),
    (ListQuery, {"limit": 100, "cursor": "c" * 1024}),
    (leads.LeadInput, {"phone": "x" * 32, "external_id": "e" * 128, "email": "m" * 254}),
    (leads.LeadInput, {"phone": "1", "custom_fields": {str(n): n for n in range(20)}}),
    (leads.LeadImport, {"campaign_id": CAMPAIGN, "leads": [{"phone": PHONE}] * 200}),
    (leads.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "dial_within_seconds": 30}),
    (leads.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "source": "s" * 100}),
    (calls.CallStart, {"to": PHONE, "agent_extension": "1001"}),
    (callbacks.CallbackCreate, {"lead_id": LEAD, "scheduled_at": "2026-01-01T00:00:00Z"}),
    (appointments.AppointmentCreate,
     {"phone": PHONE, "scheduled_at": "2026-01-01T00:00:00Z", "duration_minutes": 480}),
    (contact.DncCheck, {"phones": [PHONE] * 100}),
    (contact.SmsSend, {"to": PHONE, "body": "b" * 918, "client_reference": "r" * 64}),
    (webhooks.WebhookCreate, {"url": "https://a", "events": ["call.completed"]}),
    (account.DispositionQuery, {"start_date": "2026-01-01", "end_date": "2026-04-02"}),
]  # fmt: skip

REFUSED: list[tuple[type[Request], dict[str, Any]]] = [
    (ListQuery, {"limit": 0}),
    (ListQuery, {"limit": 101}),
    (ListQuery, {"cursor": ""}),
    (ListQuery, {"cursor": "c" * 1025}),
    (ListQuery, {"offset": 1}),
    (leads.LeadInput, {}),
    (leads.LeadInput, {"phone": ""}),
    (leads.LeadInput, {"phone": "x" * 33}),
    (leads.LeadInput, {"phone": "1", "external_id": ""}),
    (leads.LeadInput, {"phone": "1", "custom_fields": {str(n): n for n in range(21)}}),
    (leads.LeadInput, {"phone": "1", "first_name": "n" * 101}),
    (leads.LeadImport, {"campaign_id": CAMPAIGN, "leads": []}),
    (leads.LeadImport, {"campaign_id": CAMPAIGN, "leads": [{"phone": PHONE}] * 201}),
    (leads.LeadImport, {"campaign_id": LEAD, "leads": [{"phone": PHONE}]}),
    (leads.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "dial_within_seconds": 29}),
    (leads.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "dial_within_seconds": 3601}),
    (leads.LeadUpdate, {"lead_id": LEAD, "phone": PHONE}),
    (calls.CallStart, {"to": PHONE}),
    (calls.CallStart, {"to": PHONE, "agent_extension": "1", "agent_email": "a@b"}),
    (calls.CallStart, {"to": "2125550142", "agent_extension": "1"}),
    (callbacks.CallbackCreate, {"lead_id": LEAD, "scheduled_at": "2026-01-01T00:00:00"}),
    (callbacks.CallbackCreate, {"lead_id": LEAD, "scheduled_at": 1767225600}),
    (appointments.AppointmentCreate,
     {"phone": PHONE, "scheduled_at": "2026-01-01T00:00:00Z", "duration_minutes": 4}),
    (contact.DncCheck, {"phones": []}),
    (contact.DncCheck, {"phones": [PHONE] * 101}),
    (contact.SmsSend, {"to": PHONE, "body": "", "client_reference": "r"}),
    (webhooks.WebhookCreate, {"url": "https://", "events": ["call.completed"]}),
    (webhooks.WebhookCreate, {"url": "https://a", "events": []}),
    (webhooks.WebhookCreate, {"url": "https://a", "events": ["webhook.test"]}),
    (account.DispositionQuery, {"start_date": "2026-01-01", "end_date": "2026-04-03"}),
    (account.DispositionQuery, {"start_date": "2026-01-02", "end_date": "2026-01-01"}),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "values"), ACCEPTED)
def test_request_within_the_bounds_is_accepted(
    shape: type[Request], values: dict[str, Any]
) -> None:
    """Values at the contract's bounds are accepted and travel unchanged."""
    sent = shape.model_validate(values).model_dump(mode="json", exclude_unset=True)

    assert sent == values


@pytest.mark.parametrize(("shape", "values"), REFUSED)
def test_request_beyond_the_bounds_is_refused(
    shape: type[Request], values: dict[str, Any]
) -> None:
    """Values one step beyond the contract's bounds, and unknown fields, are refused."""
    with pytest.raises(ValidationError):
        shape.model_validate(values)


def test_answer_keeps_what_v1_may_add() -> None:
    """A new field and a new status value survive the reading of an answer."""
    row = leads.LeadResult.model_validate({"index": 0, "status": "parked", "score": 7})

    assert row.status == "parked"
    assert row.model_extra == {"score": 7}


@pytest.mark.parametrize("attempts", ["3", 3.5, True])
def test_answer_with_a_number_of_another_type_is_refused(attempts: Any) -> None:
    """Numbers are numbers: text, fractions and booleans do not pass for an integer."""
    with pytest.raises(ValidationError):
        leads.LeadResult.model_validate({"index": attempts, "status": "accepted"})


def test_page_without_page_object_is_refused() -> None:
    """A list answer that does not say where it goes on is no page."""
    with pytest.raises(ValidationError):
        Page[leads.Lead].model_validate({"data": []})


def test_repr_masks_numbers() -> None:
    """Printing an answer or a request shows no whole number."""
    answer = contact.DncResult.model_validate({"phone": PHONE, "listed": True})
    request = contact.DncCheck(phones=[PHONE])

    assert PHONE not in repr(answer) + str(answer) + repr(request) + str(request)
    assert answer.phone == PHONE
