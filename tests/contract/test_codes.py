"""The table of error codes against the contract's."""

from __future__ import annotations

import pytest

from dialframe.contract import error_codes
from dialframe.errors import (
    FAMILIES,
    ApiError,
    AuthenticationError,
    Conflict,
    InvalidRequest,
    LimitReached,
    NotFound,
    OutcomeUnknown,
    PermissionDenied,
    PreconditionFailed,
    RateLimited,
    Refused,
    ServiceUnavailable,
)
from rows import every_row

#: The contract's table of errors, in its order, each with the family that a program would catch.
PROMISED: tuple[tuple[int, str, type[ApiError]], ...] = (
    (401, "invalid_api_key", AuthenticationError),
    (403, "api_access_disabled", PermissionDenied),
    (403, "ip_not_allowed", PermissionDenied),
    (403, "insufficient_scope", PermissionDenied),
    (400, "credential_in_url", InvalidRequest),
    (400, "credential_in_body", InvalidRequest),
    (400, "validation_failed", InvalidRequest),
    (422, "validation_failed", InvalidRequest),
    (400, "batch_too_large", InvalidRequest),
    (400, "invalid_cursor", InvalidRequest),
    (413, "payload_too_large", InvalidRequest),
    (415, "unsupported_media_type", InvalidRequest),
    (400, "idempotency_key_required", InvalidRequest),
    (403, "tier_not_enabled", PermissionDenied),
    (404, "not_found", NotFound),
    (404, "route_not_available", NotFound),
    (405, "method_not_allowed", NotFound),
    (409, "conflict", Conflict),
    (409, "idempotency_conflict", Conflict),
    (409, "outcome_unknown", OutcomeUnknown),
    (409, "agent_unavailable", Conflict),
    (422, "dial_refused", Refused),
    (422, "on_dnc", Refused),
    (422, "blocked_country", Refused),
    (422, "message_refused", Refused),
    (402, "insufficient_balance", Refused),
    (403, "sending_suspended", PermissionDenied),
    (403, "outbound_not_approved", PermissionDenied),
    (409, "duplicate_client_reference", Conflict),
    (429, "rate_limit_exceeded", RateLimited),
    (429, "daily_cap_reached", LimitReached),
    (429, "spend_cap_reached", LimitReached),
    (403, "webhooks_disabled", PermissionDenied),
    (422, "webhook_url_refused", InvalidRequest),
    (409, "webhook_limit_reached", Conflict),
    (409, "replay_unavailable", Conflict),
    (429, "replay_limit_reached", LimitReached),
    (409, "campaign_not_importable", Conflict),
    (503, "dnc_screen_unavailable", ServiceUnavailable),
    (409, "campaign_not_paused", Conflict),
    (409, "campaign_not_running", Conflict),
    (409, "registry_stale_blocked", Conflict),
    (409, "callback_not_pending", Conflict),
    (409, "appointment_not_modifiable", Conflict),
    (412, "precondition_failed", PreconditionFailed),
    (503, "temporarily_unavailable", ServiceUnavailable),
    (503, "upstream_unavailable", ServiceUnavailable),
    (502, "upstream_invalid_response", ServiceUnavailable),
    (500, "internal_error", ServiceUnavailable),
)


def test_codes_are_those_of_the_contract() -> None:
    """Every code of the contract's table is a row with its statuses and family, and there is no other."""
    rows = [
        (status, row.code, FAMILIES[row.family])
        for row in error_codes.ALL
        for status in row.statuses
    ]

    assert rows == list(PROMISED)
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
