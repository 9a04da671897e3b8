"""Campaigns: the transition table, row by row."""

from __future__ import annotations

import pytest

from sandbox.service_bench import Console, Party, answered, problem, shaped

STATES = ("draft", "ready", "running", "paused", "completed")


def state_of(party: Party, campaign: str) -> str:
    return next(each["status"] for each in party.walk("/v1/campaigns") if each["id"] == campaign)


@pytest.mark.parametrize(
    ("before", "operation", "after"),
    [
        ("running", "pause", "paused"),
        ("paused", "pause", "paused"),
        ("paused", "resume", "running"),
        ("running", "resume", "running"),
    ],
)
def test_transition_answers_the_campaign(
    party: Party, before: str, operation: str, after: str
) -> None:
    """Pause and resume answer 200 with the campaign in its new state."""
    campaign = party.campaign(before)
    body = shaped("campaign", answered(party.post(f"/v1/campaigns/{campaign}/{operation}"), 200))

    assert (body["id"], body["status"]) == (campaign, after)
    assert state_of(party, campaign) == after


@pytest.mark.parametrize(("operation", "other_end"), [("pause", "paused"), ("resume", "running")])
def test_repeated_transition_changes_nothing(
    console: Console, party: Party, operation: str, other_end: str
) -> None:
    """A paused campaign paused again, or a running one resumed, is the same campaign."""
    campaign = party.campaign(other_end)
    before = next(each for each in party.walk("/v1/campaigns") if each["id"] == campaign)
    console.advance(5)
    after = answered(party.post(f"/v1/campaigns/{campaign}/{operation}", {}), 200)

    assert after == before


@pytest.mark.parametrize(
    ("before", "operation", "code"),
    [(state, "pause", "campaign_not_running") for state in ("draft", "ready", "completed")]
    + [(state, "resume", "campaign_not_paused") for state in ("draft", "ready", "completed")],
)
def test_transition_from_another_state_is_refused(
    party: Party, before: str, operation: str, code: str
) -> None:
    """From any other state 409, and the state stays."""
    campaign = party.campaign(before)
    problem(party.post(f"/v1/campaigns/{campaign}/{operation}"), 409, code)

    assert state_of(party, campaign) == before


def test_resume_is_blocked_by_a_stale_registry(console: Console, party: Party) -> None:
    """Leads of a country whose list is outdated block the resume if the account chose so."""
    campaign = party.campaign("paused")
    party.lead(campaign)
    path = f"/v1/campaigns/{campaign}/resume"
    with console.settings(registry_stale=True, block_stale_registry=True):
        problem(party.post(path), 409, "registry_stale_blocked")
        assert state_of(party, campaign) == "paused"
    with console.settings(registry_stale=True, block_stale_registry=False):
        assert answered(party.post(path), 200)["status"] == "running"


def test_resume_can_reach_the_daily_cap(console: Console, party: Party) -> None:
    """With the day's cap used up, resume answers 429 daily_cap_reached and nothing runs."""
    campaign = party.campaign("paused")
    with console.settings(daily_cap=0):
        response = party.post(f"/v1/campaigns/{campaign}/resume")
        problem(response, 429, "daily_cap_reached")
    assert state_of(party, campaign) == "paused"


def test_campaign_and_its_progress_can_be_read(party: Party) -> None:
    """The campaign, and of its own leads and calls how many there are, as the sandbox has them."""
    campaign = party.campaign("paused")
    for status in ("new", "new", "dnc"):
        party.lead(campaign, status=status, attempts=2)
    party.calls([{"campaign_id": campaign, "answered_at": "2026-01-01T00:00:00Z"}, {}])

    assert answered(party.get(f"/v1/campaigns/{campaign}"), 200)["id"] == campaign
    assert answered(party.get(f"/v1/campaigns/{campaign}/progress"), 200) == {
        "campaign_id": campaign, "status": "paused", "leads_total": 3,
        "leads_by_status": {"dnc": 1, "new": 2}, "attempts": 6, "calls_answered": 1,
    }  # fmt: skip


@pytest.mark.parametrize("operation", ["pause", "resume"])
def test_campaign_of_another_client_is_404(party: Party, other: Party, operation: str) -> None:
    """An id that is not the client's is not found, and nothing changes."""
    campaign = other.campaign("running" if operation == "pause" else "paused")
    before = state_of(other, campaign)
    problem(party.post(f"/v1/campaigns/{campaign}/{operation}"), 404, "not_found")

    assert state_of(other, campaign) == before
