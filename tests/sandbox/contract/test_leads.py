"""Leads: imported, added singly, read, changed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sandbox.contract.service_bench import (
    CAMPAIGN,
    Console,
    Json,
    Party,
    answered,
    fresh_key,
    invalid,
    moment,
    problem,
    shaped,
)

STATES = ("draft", "ready", "running", "paused", "completed")


@pytest.fixture(scope="module")
def campaign(party: Party) -> str:
    """A paused campaign."""
    return party.campaign("paused")


def bring(party: Party, campaign: str, leads: list[Json]) -> Json:
    """Import leads; the answer, held to its shape."""
    params = {"campaign_id": campaign}
    body = answered(party.post("/v1/leads/import", {"leads": leads}, params=params), 200)
    assert set(body) == {"campaign_id", "data", "summary"}
    assert body["campaign_id"] == campaign
    assert [shaped("lead result", each)["index"] for each in body["data"]] == [*range(len(leads))]
    accepted = sum(each["status"] == "accepted" for each in body["data"])
    assert body["summary"] == {
        "received": len(leads),
        "accepted": accepted,
        "rejected": len(leads) - accepted,
    }
    for each in body["data"]:
        assert (each["field"] is not None) == (each["reason"] == "field_rule")
        if each["status"] == "accepted":
            assert each["reason"] is None
            assert each["lead_id"] is not None
    return body


def add(party: Party, campaign: str, **fields: Any) -> Json:
    """Add one lead; the answer, held to its shape."""
    body = {"campaign_id": campaign, "phone": fields.pop("phone", None) or party.phone()}
    made = answered(party.post("/v1/leads", {**body, **fields}), 200)
    shaped("lead created", made)
    shaped("dial now", made["dial_now"])
    assert made["campaign_id"] == campaign
    return made


def read(party: Party, lead_id: str) -> Json:
    """One lead, found through the list, whose shape is shown."""
    return next(each for each in party.walk("/v1/leads", limit="100") if each["id"] == lead_id)


# --- import -----------------------------------------------------------------------------------


def test_import_gives_each_lead_its_result(party: Party, campaign: str) -> None:
    """One result per lead by index: accepted, duplicate, invalid, on the Do-Not-Call list."""
    known, twice, listed = party.phone(), party.phone(), party.phone()
    bring(party, campaign, [{"phone": known}])
    party.on_dnc(listed)
    leads = [
        {"phone": twice, "external_id": "a"},
        {"phone": "12345"},
        {"phone": twice},
        {"phone": known},
        {"phone": listed},
        {"phone": "no number at all"},
        {"phone": party.phone()},
    ]
    results = bring(party, campaign, leads)["data"]

    assert [(each["status"], each["reason"]) for each in results] == [
        ("accepted", None),
        ("invalid", "invalid_phone"),
        ("duplicate", "duplicate_in_request"),
        ("duplicate", "duplicate_in_campaign"),
        ("on_dnc", None),
        ("invalid", "invalid_phone"),
        ("accepted", None),
    ]
    assert [each["external_id"] for each in results] == ["a", *[None] * 6]
    stored = [lead["phone"] for lead in party.walk("/v1/leads", campaign_id=campaign)]
    assert stored.count(twice) == stored.count(known) == 1
    assert listed not in stored


@pytest.mark.parametrize("state", STATES)
def test_import_goes_by_the_campaigns_state(party: Party, state: str) -> None:
    """Draft, ready and paused campaigns take an import; others answer 409."""
    campaign = party.campaign(state)
    body, params = {"leads": [{"phone": party.phone()}]}, {"campaign_id": campaign}
    response = party.post("/v1/leads/import", body, params=params)

    if state in ("draft", "ready", "paused"):
        assert answered(response, 200)["summary"]["accepted"] == 1
    else:
        problem(response, 409, "campaign_not_importable")
        assert party.walk("/v1/leads", campaign_id=campaign) == []


def test_import_into_an_unknown_campaign_is_404(party: Party, other: Party) -> None:
    """A campaign that is not the client's answers 404 not_found."""
    for campaign in (CAMPAIGN, other.campaign("paused")):
        body, params = {"leads": [{"phone": party.phone()}]}, {"campaign_id": campaign}
        problem(party.post("/v1/leads/import", body, params=params), 404, "not_found")


def test_limits_of_a_leads_fields_are_taken(party: Party, campaign: str) -> None:
    """The longest values and twenty custom fields go in and come out."""
    sent = {
        "external_id": fresh_key().ljust(128, "x"),
        "full_name": "n" * 200,
        "email": "e" * 242 + "@example.com",
        "custom_fields": {f"k{n}": n for n in range(20)},
    }
    made = add(party, campaign, **sent)
    lead = read(party, made["lead_id"])

    assert {name: lead[name] for name in sent} == sent
    names = {"first_name": "f" * 100, "last_name": "l" * 100}
    assert add(party, campaign, **names)["status"] == "accepted"
    results = bring(party, campaign, [{"phone": party.phone(), **names}, {**sent, "phone": "1"}])
    assert results["data"][0]["status"] == "accepted"


# --- single add -------------------------------------------------------------------------------


@pytest.mark.parametrize("state", STATES)
def test_single_add_goes_by_the_campaigns_state(party: Party, state: str) -> None:
    """Draft, ready, paused and running take one lead; a completed campaign answers 409."""
    campaign = party.campaign(state)
    if state == "completed":
        body = {"campaign_id": campaign, "phone": party.phone()}
        problem(party.post("/v1/leads", body), 409, "campaign_not_importable")
        return
    made = add(party, campaign)
    assert (made["status"], made["reason"], made["field"]) == ("accepted", None, None)
    assert made["dial_now"] == {"status": "not_requested", "expires_at": None}
    assert read(party, made["lead_id"])["campaign_id"] == campaign


@pytest.mark.parametrize("window", [None, 30, 3600])
def test_dial_now_queues_for_its_window(
    console: Console, party: Party, window: int | None
) -> None:
    """In a running campaign the lead is queued for its window, 300 s by default."""
    more = {} if window is None else {"dial_within_seconds": window}
    made = add(party, party.campaign("running"), dial_now=True, **more)
    left = moment(made["dial_now"]["expires_at"]) - console.now()

    assert (made["status"], made["dial_now"]["status"]) == ("accepted", "queued")
    assert abs(left - timedelta(seconds=window or 300)) < timedelta(seconds=3)


def test_dial_now_needs_a_running_campaign_and_an_accepted_lead(party: Party) -> None:
    """Elsewhere it says why the lead is not dialed first."""
    paused = add(party, party.campaign("paused"), dial_now=True)
    refused = add(party, party.campaign("running"), phone="12345", dial_now=True)

    assert (paused["status"], paused["dial_now"]["status"]) == ("accepted", "campaign_not_running")
    assert (refused["status"], refused["dial_now"]["status"]) == ("invalid", "lead_not_accepted")
    assert paused["dial_now"]["expires_at"] is refused["dial_now"]["expires_at"] is None


@pytest.mark.parametrize(
    ("state", "dial_now"),
    [("running", None), ("running", True), ("paused", True), ("running", False)],
)
def test_reaching_people_needs_calls_originate(
    console: Console, state: str, dial_now: bool | None
) -> None:
    """A lead for a running campaign or dialed first needs calls:originate, the switch, a sending key."""
    client = console.client(scopes=["leads:write", "leads:read"])
    campaign = client.campaign(state)
    body = {"campaign_id": campaign, "phone": client.phone()}
    if dial_now is not None:
        body["dial_now"] = dial_now
    problem(client.post("/v1/leads", body), 403, "insufficient_scope")
    console.change_client(client, scopes=["leads:write", "leads:read", "calls:originate"])
    with console.settings(tier2_calls_originate_enabled=False):
        problem(client.post("/v1/leads", body), 403, "tier_not_enabled")
    quiet = console.further_key(client, sending=False)
    problem(quiet.post("/v1/leads", body), 403, "tier_not_enabled")
    assert client.walk("/v1/leads") == []
    assert answered(client.post("/v1/leads", body), 200)["status"] == "accepted"


def test_quiet_single_add_needs_no_calls_originate(console: Console) -> None:
    """Into a draft, ready or paused campaign leads:write alone is enough, switch off or on."""
    client = console.client(scopes=["leads:write"], sending=False)
    with console.settings(tier2_calls_originate_enabled=False):
        for state in ("draft", "ready", "paused"):
            assert add(client, client.campaign(state))["status"] == "accepted"
            assert add(client, client.campaign(state), dial_now=False)["status"] == "accepted"


# --- read and change --------------------------------------------------------------------------


def test_patch_changes_what_is_sent(console: Console, party: Party, campaign: str) -> None:
    """Name, email and custom fields change; what is not sent stays; the answer has an ETag."""
    made = add(party, campaign, full_name="Ada", email="ada@example.com", custom_fields={"a": 1})
    path = f"/v1/leads/{made['lead_id']}"
    before = read(party, made["lead_id"])
    console.advance(2)
    response = party.patch(path, {"full_name": "Ada King"})
    after = shaped("lead", answered(response, 200))

    assert response.headers["etag"]
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"full_name", "updated_at"}
    assert moment(after["updated_at"]) > moment(before["updated_at"])
    emptied = answered(party.patch(path, {"full_name": None, "email": None}), 200)
    assert emptied["full_name"] is emptied["email"] is None
    assert emptied["custom_fields"] == {"a": 1}
    assert read(party, made["lead_id"]) == emptied


def test_lead_never_has_more_than_20_custom_fields(party: Party, campaign: str) -> None:
    """A merge beyond 20 keys is refused; one that makes room is not."""
    full = {f"k{n}": n for n in range(20)}
    path = f"/v1/leads/{add(party, campaign, custom_fields=full)['lead_id']}"
    invalid(party.patch(path, {"custom_fields": {"k20": 20}}))
    after = answered(party.patch(path, {"custom_fields": {"k20": 20, "k0": None}}), 200)

    assert len(after["custom_fields"]) == 20


def test_if_match_guards_a_lead(party: Party, campaign: str) -> None:
    """With the ETag of the last read, or any, a change passes; a changed lead answers 412, a weak tag too."""
    path = f"/v1/leads/{add(party, campaign)['lead_id']}"
    read_etag = party.get(path).headers["etag"]
    changed = party.patch(path, {"full_name": "One"}, headers={"If-Match": read_etag})
    answered(changed, 200)
    assert changed.headers["etag"] != read_etag
    for stale in (read_etag, '"made-up"', f"W/{changed.headers['etag']}"):
        response = party.patch(path, {"full_name": "Two"}, headers={"If-Match": stale})
        problem(response, 412, "precondition_failed")
    assert answered(party.get(path), 200)["full_name"] == "One"
    fresh = changed.headers["etag"]
    assert party.get(path).headers["etag"] == fresh
    for current in (fresh, "*"):
        answered(party.patch(path, {"full_name": "Three"}, headers={"If-Match": current}), 200)


def test_if_match_has_at_most_128_characters(party: Party, campaign: str) -> None:
    """A longer If-Match is an invalid request or matches nothing."""
    path = f"/v1/leads/{add(party, campaign)['lead_id']}"
    response = party.patch(path, {"full_name": "x"}, headers={"If-Match": '"' + "e" * 127 + '"'})

    assert response.status_code in (400, 412, 422)
    assert response.json()["code"] in ("validation_failed", "precondition_failed")
