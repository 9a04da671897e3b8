"""The table of error codes against the contract's."""

from __future__ import annotations

import pytest

from dialframe import errors
from dialframe.contract import error_codes
from rows import every_row

# status and code, written out from the contract's Errors table.
PROMISED = (
    """
401 invalid_api_key|403 api_access_disabled|403 ip_not_allowed|403 insufficient_scope|400 credential_in_url
400 credential_in_body|400,422 validation_failed|400 batch_too_large|400 invalid_cursor|413 payload_too_large
415 unsupported_media_type|400 idempotency_key_required|403 tier_not_enabled|404 not_found
404 route_not_available|405 method_not_allowed|409 conflict|409 idempotency_conflict|409 outcome_unknown
409 agent_unavailable|422 dial_refused|422 on_dnc|422 blocked_country|422 message_refused
402 insufficient_balance|403 sending_suspended|403 outbound_not_approved|409 duplicate_client_reference
429 rate_limit_exceeded|429 daily_cap_reached|429 spend_cap_reached|403 webhooks_disabled
422 webhook_url_refused|409 webhook_limit_reached|409 replay_unavailable|429 replay_limit_reached
409 campaign_not_importable|503 dnc_screen_unavailable|409 campaign_not_paused|409 campaign_not_running
409 registry_stale_blocked|409 callback_not_pending|409 appointment_not_modifiable|412 precondition_failed
503 temporarily_unavailable|503 upstream_unavailable|502 upstream_invalid_response|500 internal_error
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


def test_codes_are_those_of_the_contract() -> None:
    """Every code of the contract's table is a row with its statuses, and there is no other."""
    codes = {f"{','.join(map(str, row.statuses))} {row.code}" for row in error_codes.ALL}

    assert codes == set(PROMISED)
    assert len(error_codes.BY_CODE) == len(error_codes.ALL)


@every_row("row", error_codes.ALL)
def test_code_has_a_family_and_advice(row: error_codes.Code) -> None:
    """Each code names an error class that exists and says what may be done."""
    assert row.family in errors.FAMILIES
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
