"""The profile `contract`: what an integration meets on its first day (contract, Tiers, Events, Authentication 7)."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from dialframe import sandbox

SWITCHES = (
    "tier2_campaign_resume_enabled", "tier2_callback_write_enabled", "tier2_appointment_write_enabled",
    "tier2_consent_write_enabled", "tier2_sms_send_enabled", "tier2_calls_originate_enabled",
)  # fmt: skip


@pytest.fixture(scope="module")
def service() -> Iterator[sandbox.Sandbox]:
    """A sandbox of that profile."""
    with sandbox.start(size="empty", profile="contract") as running:
        yield running


def ask(service: sandbox.Sandbox, path: str, key: str | None = None) -> httpx.Response:
    """A question over plain HTTP."""
    headers = {"Authorization": f"Bearer {key or service.api_key}"}
    return httpx.get(f"{service.base_url}{path}", headers=headers)


def test_switches_are_off_and_a_sending_key_has_its_bounds(service: sandbox.Sandbox) -> None:
    """Off until enabled: tier 2 and webhooks; an allow-list, a daily cap and a cap a minute."""
    account = service.console.account()

    assert not any(account[name] for name in SWITCHES)
    assert account["daily_cap"] > 0
    assert account["per_minute_cap"] > 0
    assert ask(service, "/v1/calls").status_code == 200
    refused = ask(service, "/v1/webhooks")
    assert (refused.status_code, refused.json()["code"]) == (403, "webhooks_disabled")


def test_a_change_of_access_acts_within_15_seconds(service: sandbox.Sandbox) -> None:
    """What is withdrawn still works for a while; a key that was made works at once."""
    made = service.console.create_client("second", scopes=["calls:read"])
    assert ask(service, "/v1/calls", made["api_key"]).status_code == 200
    service.console.update_client(made["client_id"], enabled=False)

    early = ask(service, "/v1/calls", made["api_key"]).status_code
    service.console.advance_clock(16)
    late = ask(service, "/v1/calls", made["api_key"])

    assert early == 200
    assert (late.status_code, late.json()["code"]) == (403, "api_access_disabled")


def test_the_friendly_profile_acts_at_once() -> None:
    """As it is without a word."""
    with sandbox.start(size="empty") as service:
        assert all(service.console.account()[name] for name in SWITCHES)
        service.console.update_client(service.client_id, scopes=[])
        assert ask(service, "/v1/calls").json()["code"] == "insufficient_scope"
