"""The contract's States, row by row: campaigns, callbacks, appointments; and what else a campaign answers."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.service_bench import (
    PHONE,
    SOON,
    Console,
    Json,
    Party,
    answered,
    moment,
    problem,
    shaped,
)

LATER = "2031-04-02T09:30:00Z"
#: Kind to operation to what it answers from each state: the next state, or the code of its 409.
STATES: dict[str, dict[str, dict[str, str]]] = {
    "campaign": {
        "pause": {
            "running": "paused", "paused": "paused",
            **dict.fromkeys(("draft", "ready", "completed"), "campaign_not_running"),
        },
        "resume": {
            "running": "running", "paused": "running",
            **dict.fromkeys(("draft", "ready", "completed"), "campaign_not_paused"),
        },
    },
    "callback": {
        "cancel": {
            "pending": "cancelled", "cancelled": "cancelled", "completed": "callback_not_pending",
        },
        "reschedule": {
            "pending": "pending",
            **dict.fromkeys(("cancelled", "completed"), "callback_not_pending"),
        },
    },
    "appointment": {
        "cancel": {
            **dict.fromkeys(("scheduled", "confirmed", "cancelled"), "cancelled"),
            **dict.fromkeys(("completed", "no-show"), "appointment_not_modifiable"),
        },
        "reschedule": {
            "scheduled": "scheduled", "confirmed": "confirmed",
            **dict.fromkeys(("cancelled", "completed", "no-show"), "appointment_not_modifiable"),
        },
    },
}  # fmt: skip


def made(party: Party, kind: str, state: str) -> str:
    """Something in a state, which the API alone may not reach; its path."""
    if kind == "campaign":
        return f"/v1/campaigns/{party.campaign(state)}"
    body: Json = {"scheduled_at": SOON}
    body |= {"lead_id": party.lead()} if kind == "callback" else {"phone": PHONE}
    path = f"/{kind}s/{answered(party.post(f'/v1/{kind}s', body), 201)['id']}"
    party.console("PUT", path, {"status": state}, status=200)
    return f"/v1{path}"


def read(party: Party, path: str) -> Json:
    """It as it is now; a callback from its list, as no operation reads one."""
    if "/callbacks/" not in path:
        return answered(party.get(path), 200)
    for campaign in party.walk("/v1/campaigns", limit="100"):
        for each in party.walk("/v1/callbacks", campaign_id=campaign["id"]):
            if path.endswith(each["id"]):
                return each
    raise AssertionError(path)


@pytest.mark.parametrize(
    ("kind", "operation", "before", "outcome"),
    [
        (kind, operation, before, outcome)
        for kind, operations in STATES.items()
        for operation, outcomes in operations.items()
        for before, outcome in outcomes.items()
    ],
)
def test_transition(
    console: Console, client: Party, kind: str, operation: str, before: str, outcome: str
) -> None:
    """200 with the next state, twice over without a further change; from any other state 409 and nothing changes."""
    path = made(client, kind, before)
    was = read(client, path)
    console.advance(2)
    body: Any = {"scheduled_at": LATER} if operation == "reschedule" else None
    response = client.post(f"{path}/{operation}", body)
    if "_" in outcome:
        problem(response, 409, outcome)
        assert read(client, path) == was
        return
    now = shaped(kind, answered(response, 200))
    assert now["status"] == outcome
    assert now == read(client, path)
    may_change = {"status", "updated_at", "started_at", "scheduled_at"}
    assert {name for name in was if now[name] != was[name]} <= may_change
    if operation == "reschedule":
        assert moment(now["scheduled_at"]) == moment(LATER)
    else:
        # Once more, or where it was so already: nothing changes, and neither does an ETag.
        again = client.post(f"{path}/{operation}", {})
        assert answered(again, 200) == now
        assert again.headers.get("etag") == response.headers.get("etag")
        if outcome == before:
            assert now == was


def state_of(party: Party, campaign: str) -> str:
    return str(read(party, f"/v1/campaigns/{campaign}")["status"])


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
