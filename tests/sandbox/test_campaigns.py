"""Campaigns (contract, States: Campaign)."""

from __future__ import annotations

import pytest

from dialframe.sandbox import Sandbox
from sandbox.calling import Api, ok, phone, refused

UNKNOWN = "cmp_00000000-0000-4000-8000-000000000000"


def make(sandbox: Sandbox, status: str) -> str:
    """A campaign in a state."""
    return str(sandbox.console.create_campaign(sandbox.client_id, status, status=status)["id"])


@pytest.mark.parametrize(
    ("status", "pause", "resume"),
    [
        ("running", "paused", "running"),
        ("paused", "paused", "running"),
        ("draft", "campaign_not_running", "campaign_not_paused"),
        ("ready", "campaign_not_running", "campaign_not_paused"),
        ("completed", "campaign_not_running", "campaign_not_paused"),
    ],
)
def test_transitions(sandbox: Sandbox, api: Api, status: str, pause: str, resume: str) -> None:
    """Each cell of the contract's table: the next state, or 409 and no change."""
    for verb, outcome in (("pause", pause), ("resume", resume)):
        campaign = make(sandbox, status)
        answer = api.post(f"/v1/campaigns/{campaign}/{verb}")
        if outcome.startswith("campaign_"):
            refused(answer, 409, outcome)
        else:
            assert (ok(answer)["id"], ok(answer)["status"]) == (campaign, outcome)
        after = status if outcome.startswith("campaign_") else outcome
        assert ok(api.get(f"/v1/campaigns/{campaign}"))["status"] == after


def test_body_is_empty_or_an_empty_object(sandbox: Sandbox, api: Api) -> None:
    """Nothing, `{}` and blanks of JSON are fine; a field is not."""
    path = f"/v1/campaigns/{make(sandbox, 'running')}/pause"
    ok(api.post(path))
    ok(api.post(path, {}))
    ok(api.send("POST", path, raw=b"  {} \n"))
    refused(api.post(path, {"reason": "x"}), 400, "validation_failed")
    refused(api.post(path, {"campaign_id": UNKNOWN}), 400, "validation_failed")
    answer = api.send("POST", path, raw=b"{}", headers={"Content-Type": "text/plain"})
    refused(answer, 415, "unsupported_media_type")


def test_stale_registry_blocks_a_launch(settings: Sandbox, api: Api) -> None:
    """Only where the account chose to block; the campaign stays paused."""
    campaign = make(settings, "paused")
    path = f"/v1/campaigns/{campaign}/resume"
    settings.console.update_account({"registry_stale": True, "block_stale_registry": True})
    refused(api.post(path), 409, "registry_stale_blocked")
    assert ok(api.get(f"/v1/campaigns/{campaign}"))["status"] == "paused"
    settings.console.update_account({"block_stale_registry": False})
    assert ok(api.post(path))["status"] == "running"


def test_daily_cap_stops_a_launch(settings: Sandbox, api: Api) -> None:
    """429 `daily_cap_reached` with the seconds to the next UTC day."""
    settings.console.update_account({"daily_cap": 0})
    answer = api.post(f"/v1/campaigns/{make(settings, 'paused')}/resume")
    refused(answer, 429, "daily_cap_reached")
    assert 1 <= int(answer.headers["Retry-After"]) <= 86_400


def test_fields_and_unknown_ids(sandbox: Sandbox, api: Api) -> None:
    """The contract's fields and no others; unknown and malformed ids are 404."""
    campaign = ok(api.get(f"/v1/campaigns/{make(sandbox, 'draft')}"))
    assert list(campaign) == [
        "id", "name", "status", "dialer_mode", "created_at", "updated_at", "started_at",
        "completed_at",
    ]  # fmt: skip
    for unknown in (UNKNOWN, "x", UNKNOWN.upper(), UNKNOWN[4:], "cmp_"):
        for path in ("", "/progress"):
            refused(api.get(f"/v1/campaigns/{unknown}{path}"), 404, "not_found")
        refused(api.post(f"/v1/campaigns/{unknown}/pause"), 404, "not_found")


def test_progress_counts(sandbox: Sandbox, api: Api) -> None:
    """Leads by status, attempts and answered calls of the campaign alone."""
    campaign, me = make(sandbox, "paused"), sandbox.client_id
    sandbox.console.add_leads(
        me,
        [{"campaign_id": campaign, "phone": phone(), "status": status, "attempts": 2}
         for status in ("new", "new", "dnc")],
    )  # fmt: skip
    sandbox.console.add_calls(
        me, [{"campaign_id": campaign, "answered_at": "2026-01-01T00:00:00Z"}, {}]
    )
    progress = ok(api.get(f"/v1/campaigns/{campaign}/progress"))
    assert progress == {
        "campaign_id": campaign, "status": "paused", "leads_total": 3,
        "leads_by_status": {"dnc": 1, "new": 2}, "attempts": 6, "calls_answered": 1,
    }  # fmt: skip
