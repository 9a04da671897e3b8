"""The contract as data: codes, shapes, operations and signatures are those of its text."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from contract.promised import OPERATIONS, PROMISED, UNSHOWN
from dialframe import contract as promises
from dialframe.contract import (
    ListQuery,
    Media,
    Nothing,
    Page,
    Request,
    error_codes,
    operations,
    scopes,
)
from dialframe.errors import FAMILIES
from rows import every_row


def test_codes_are_those_of_the_contract() -> None:
    """Every code of the contract's table is a row with its statuses and family, and there is no other."""
    rows = [
        (status, row.code, FAMILIES[row.family])
        for row in error_codes.ALL
        for status in row.statuses
    ]

    assert rows == PROMISED
    assert len(error_codes.BY_CODE) == len(error_codes.ALL) == 48


@every_row("row", error_codes.ALL)
def test_code_has_a_family_and_advice(row: error_codes.Code) -> None:
    """Each code names an error class that exists and says what may be done."""
    assert row.family in FAMILIES
    assert row.advice
    assert row.condition


def test_only_conflict_is_retried_among_the_409s() -> None:
    """Of the 409 answers, sending again helps with `conflict` alone."""
    assert [
        row.code for row in error_codes.ALL if 409 in row.statuses and row.remedy == "retry"
    ] == ["conflict"]


@pytest.mark.parametrize(
    ("code", "status", "family"),
    [
        ("new_code", 422, "InvalidRequest"),
        ("new_code", 599, "ServiceUnavailable"),
        ("new_code", 418, "ApiError"),
        ("on_dnc", 422, "Refused"),
    ],
)
def test_unknown_code_falls_back_to_its_status(code: str, status: int, family: str) -> None:
    """A code that the contract does not name yet still becomes the right family."""
    assert error_codes.family_of(code, status) == family


UUID = "00000000-0000-4000-8000-000000000001"
CAMPAIGN, LEAD = f"cmp_{UUID}", f"lead_{UUID}"
PHONE = "+12125550142"

ACCEPTED: list[tuple[type[Request], dict[str, Any]]] = [
    (ListQuery, {"limit": 1}),
    (ListQuery, {"limit": 100, "cursor": "c" * 1024}),
    (promises.LeadInput, {"phone": "x" * 32, "external_id": "e" * 128, "email": "m" * 254}),
    (promises.LeadInput, {"phone": "1", "custom_fields": {str(n): n for n in range(20)}}),
    (promises.LeadImport, {"campaign_id": CAMPAIGN, "leads": [{"phone": PHONE}] * 200}),
    (promises.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "dial_within_seconds": 30}),
    (promises.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "source": "s" * 100}),
    (promises.CallStart, {"to": PHONE, "agent_extension": "1001"}),
    (promises.CallbackCreate, {"lead_id": LEAD, "scheduled_at": "2026-01-01T00:00:00Z"}),
    (promises.AppointmentCreate,
     {"phone": PHONE, "scheduled_at": "2026-01-01T00:00:00Z", "duration_minutes": 480}),
    (promises.DncCheck, {"phones": [PHONE] * 100}),
    (promises.SmsSend, {"to": PHONE, "body": "b" * 918, "client_reference": "r" * 64}),
    (promises.WebhookCreate, {"url": "https://a", "events": ["call.completed"]}),
    (promises.DispositionQuery, {"start_date": "2026-01-01", "end_date": "2026-04-02"}),
]  # fmt: skip

REFUSED: list[tuple[type[Request], dict[str, Any]]] = [
    (ListQuery, {"limit": 0}),
    (ListQuery, {"limit": 101}),
    (ListQuery, {"cursor": ""}),
    (ListQuery, {"cursor": "c" * 1025}),
    (ListQuery, {"offset": 1}),
    (promises.LeadInput, {}),
    (promises.LeadInput, {"phone": ""}),
    (promises.LeadInput, {"phone": "x" * 33}),
    (promises.LeadInput, {"phone": "1", "external_id": ""}),
    (promises.LeadInput, {"phone": "1", "custom_fields": {str(n): n for n in range(21)}}),
    (promises.LeadInput, {"phone": "1", "first_name": "n" * 101}),
    (promises.LeadImport, {"campaign_id": CAMPAIGN, "leads": []}),
    (promises.LeadImport, {"campaign_id": CAMPAIGN, "leads": [{"phone": PHONE}] * 201}),
    (promises.LeadImport, {"campaign_id": LEAD, "leads": [{"phone": PHONE}]}),
    (promises.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "dial_within_seconds": 29}),
    (promises.LeadCreate, {"campaign_id": CAMPAIGN, "phone": PHONE, "dial_within_seconds": 3601}),
    (promises.LeadUpdate, {"lead_id": LEAD, "phone": PHONE}),
    (promises.CallStart, {"to": PHONE}),
    (promises.CallStart, {"to": PHONE, "agent_extension": "1", "agent_email": "a@b"}),
    (promises.CallStart, {"to": "2125550142", "agent_extension": "1"}),
    (promises.CallbackCreate, {"lead_id": LEAD, "scheduled_at": "2026-01-01T00:00:00"}),
    (promises.CallbackCreate, {"lead_id": LEAD, "scheduled_at": 1767225600}),
    (promises.AppointmentCreate,
     {"phone": PHONE, "scheduled_at": "2026-01-01T00:00:00Z", "duration_minutes": 4}),
    (promises.DncCheck, {"phones": []}),
    (promises.DncCheck, {"phones": [PHONE] * 101}),
    (promises.SmsSend, {"to": PHONE, "body": "", "client_reference": "r"}),
    (promises.WebhookCreate, {"url": "https://", "events": ["call.completed"]}),
    (promises.WebhookCreate, {"url": "https://a", "events": []}),
    (promises.WebhookCreate, {"url": "https://a", "events": ["webhook.test"]}),
    (promises.DispositionQuery, {"start_date": "2026-01-01", "end_date": "2026-04-03"}),
    (promises.DispositionQuery, {"start_date": "2026-01-02", "end_date": "2026-01-01"}),
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
    row = promises.LeadResult.model_validate({"index": 0, "status": "parked", "score": 7})

    assert row.status == "parked"
    assert row.model_extra == {"score": 7}


@pytest.mark.parametrize("attempts", ["3", 3.5, True])
def test_answer_with_a_number_of_another_type_is_refused(attempts: Any) -> None:
    """Numbers are numbers: text, fractions and booleans do not pass for an integer."""
    with pytest.raises(ValidationError):
        promises.LeadResult.model_validate({"index": attempts, "status": "accepted"})


def test_page_without_page_object_is_refused() -> None:
    """A list answer that does not say where it goes on is no page."""
    with pytest.raises(ValidationError):
        Page[promises.Lead].model_validate({"data": []})


def test_repr_masks_numbers() -> None:
    """Printing an answer or a request shows no whole number."""
    answer = promises.DncResult.model_validate({"phone": PHONE, "listed": True})
    request = promises.DncCheck(phones=[PHONE])

    assert PHONE not in repr(answer) + str(answer) + repr(request) + str(request)
    assert answer.phone == PHONE


each_operation = every_row("row", operations.ALL)


def test_rows_are_the_operations_that_the_contract_names() -> None:
    """All 45 operations are there, each with its method, path and scope, and no other."""
    named = {f"{row.method} {row.path} {row.scope or '-'}" for row in operations.ALL}

    assert named == set(OPERATIONS)
    assert len(operations.ALL) == len(operations.BY_NAME) == len(OPERATIONS) == 45


def test_assumed_rows_are_those_whose_shapes_are_not_shown() -> None:
    """Exactly the 22 operations of the contract's last endpoint section are marked assumed."""
    assert {row.name for row in operations.ALL if row.assumed} == UNSHOWN


@each_operation
def test_row_is_complete(row: Any) -> None:
    """Each row names its source, a summary, and only fields and codes that exist."""
    assert row.source
    assert row.summary.endswith(".")
    assert set(row.path_names) <= set(row.request.model_fields)
    assert set(row.query) <= set(row.request.model_fields)
    assert set(row.refusals) <= set(error_codes.BY_CODE)


@each_operation
def test_every_write_but_patch_requires_a_key(row: Any) -> None:
    """POST and DELETE that change data require a key, PATCH may carry one, reads use none."""
    reads = row.method == "GET" or row.name == "dnc.check"
    expected = "none" if reads else "optional" if row.method == "PATCH" else "required"

    assert row.key == expected


@each_operation
def test_sample_answer_has_the_rows_shape(row: Any, samples: Path) -> None:
    """Each operation has a sample; request and answer read back equal to what was written."""
    sample = json.loads((samples / "responses" / f"{row.name}.json").read_text())
    request = row.request.model_validate(sample["request"])

    assert request.model_dump(mode="json", exclude_unset=True) == sample["request"]
    if sample["status"] == row.status and row.response not in (Media, Nothing):
        answer = row.response.model_validate(sample["body"])
        assert answer.model_dump(mode="json") == sample["body"]


def test_tier_two_scopes_name_a_switch() -> None:
    """Each tier 2 scope has its account switch, each switch its scope."""
    assert {s.switch for s in scopes.SCOPES if s.tier == 2} == set(scopes.SWITCHES)
    assert all(s.switch is None for s in scopes.SCOPES if s.tier == 1)
    assert {s.name for s in scopes.SCOPES} == {row.scope for row in operations.ALL} - {None}


SECRET, OLD = "whsec_new-secret", "whsec_old-secret"
BODY = b'{"id":"evt_1"}'
NOW = 1_790_000_000


def test_signature_is_what_the_contract_describes() -> None:
    """HMAC-SHA256 over timestamp, dot and raw body, keyed with the secret's whole text."""
    by_hand = hmac.new(SECRET.encode(), b"1790000000." + BODY, hashlib.sha256).hexdigest()

    assert promises.sign(BODY, timestamp_s=NOW, secrets=[SECRET]) == f"sha256={by_hand}"


def test_rotation_sends_both_signatures() -> None:
    """During a rotation new and old signatures travel together."""
    signatures = [promises.sign(BODY, timestamp_s=NOW, secrets=[one]) for one in (SECRET, OLD)]

    assert promises.sign(BODY, timestamp_s=NOW, secrets=[SECRET, OLD]) == ",".join(signatures)


def test_envelope_reads_what_is_delivered() -> None:
    """The envelope's fields are read, and data stays as it was delivered."""
    envelope = promises.Envelope.model_validate(
        {
            "id": "evt_00000000-0000-4000-8000-000000000007",
            "type": "disposition.logged",
            "created_at": "2026-09-14T15:06:35Z",
            "api_version": "v1",
            "schema_version": 1,
            "data": {"disposition_code": "NI"},
            "call_details": {
                "schema_version": 1,
                "summary": {"status": "ready", "text": "declined", "truncated": False},
                "disposition": {"status": "ready", "code": "NI", "follow_up_at": None},
            },
        }
    )

    assert envelope.data == {"disposition_code": "NI"}
    assert envelope.call_details is not None
    assert envelope.call_details.disposition is not None
    assert envelope.call_details.disposition.code == "NI"
