"""Leads: imported, added singly, read, changed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sandbox.contract.service_bench import (
    CAMPAIGN,
    LONDON,
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


def test_import_stores_what_was_sent(party: Party, campaign: str) -> None:
    """An accepted lead is stored with its fields, new and not yet attempted."""
    phone = party.phone()
    sent = {
        "phone": phone,
        "external_id": "crm-1",
        "full_name": "Ada Lovelace",
        "email": "ada@example.com",
        "custom_fields": {"plan": "gold", "seats": 3},
    }
    result = bring(party, campaign, [sent])["data"][0]
    lead = shaped("lead", read(party, result["lead_id"]))

    assert result["external_id"] == "crm-1"
    assert {name: lead[name] for name in sent} == sent
    assert (lead["campaign_id"], lead["status"], lead["attempts"]) == (campaign, "new", 0)
    assert lead["last_attempt_at"] is lead["disposition_code"] is lead["hangup_cause"] is None


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


def test_same_phone_may_be_in_two_campaigns(party: Party, campaign: str) -> None:
    """Duplicates are looked for in the request and in the campaign, not beyond."""
    phone = party.phone()
    elsewhere = party.campaign("draft")
    for where in (campaign, elsewhere):
        assert bring(party, where, [{"phone": phone}])["data"][0]["status"] == "accepted"


def test_missing_phone_is_a_reason(party: Party, campaign: str) -> None:
    """Of no phone, an empty one and a blank one, one at least is told as missing_phone."""
    reasons = []
    params = {"campaign_id": campaign}
    for lead in ({}, {"phone": ""}, {"phone": "   "}):
        body = {"leads": [lead, {"phone": party.phone()}]}
        response = party.post("/v1/leads/import", body, params=params)
        if response.is_success:
            results = response.json()["data"]
            assert results[0]["status"] == "invalid"
            assert results[1]["status"] == "accepted"
            reasons.append(results[0]["reason"])
        else:
            invalid(response, "phone")
    assert "missing_phone" in reasons


def test_sanctioned_destination_is_a_blocked_country(
    console: Console, party: Party, campaign: str
) -> None:
    """A lead in a sanctioned country is refused by itself; the others go in."""
    with console.settings(sanctioned_countries=["GB"]):
        leads = [{"phone": LONDON}, {"phone": party.phone()}]
        results = bring(party, campaign, leads)["data"]
        single = add(party, campaign, phone=LONDON)
    assert [each["status"] for each in results] == ["blocked_country", "accepted"]
    assert (single["status"], single["lead_id"]) == ("blocked_country", None)
    assert add(party, campaign, phone=LONDON)["status"] == "accepted"


def test_field_rules_of_the_account_apply(console: Console) -> None:
    """A required field that is missing or off its pattern is invalid, with its name."""
    client = console.client()
    campaign = client.campaign("ready")
    rules: list[Json] = [
        {"field": "email", "required": True, "pattern": None},
        {"field": "custom_fields.plan", "required": False, "pattern": "gold|silver"},
    ]
    for rule in rules:
        client.console("POST", "/field-rules", rule)
    mail = "ada@example.com"
    leads = [
        {"phone": client.phone()},
        {"phone": client.phone(), "email": mail, "custom_fields": {"plan": "lead"}},
        {"phone": client.phone(), "email": mail, "custom_fields": {"plan": "gold"}},
        {"phone": client.phone(), "email": mail},
    ]
    results = bring(client, campaign, leads)["data"]
    assert [(each["status"], each["reason"], each["field"]) for each in results] == [
        ("invalid", "field_rule", "email"),
        ("invalid", "field_rule", "custom_fields.plan"),
        ("accepted", None, None),
        ("accepted", None, None),
    ]
    single = add(client, campaign)
    assert (single["status"], single["reason"], single["field"]) == (
        "invalid",
        "field_rule",
        "email",
    )


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


def test_import_takes_200_and_no_more(console: Console) -> None:
    """200 leads at once are taken, 201 answer 400 batch_too_large."""
    client = console.client()
    campaign = client.campaign("draft")
    leads = [{"phone": client.phone()} for _ in range(201)]
    assert bring(client, campaign, leads[:200])["summary"]["accepted"] == 200
    response = client.post("/v1/leads/import", {"leads": leads}, params={"campaign_id": campaign})
    problem(response, 400, "batch_too_large")
    assert len(client.walk("/v1/leads", limit="100")) == 200


def test_import_into_an_unknown_campaign_is_404(party: Party, other: Party) -> None:
    """A campaign that is not the client's answers 404 not_found."""
    for campaign in (CAMPAIGN, other.campaign("paused")):
        body, params = {"leads": [{"phone": party.phone()}]}, {"campaign_id": campaign}
        problem(party.post("/v1/leads/import", body, params=params), 404, "not_found")


def test_external_id_is_unique_per_client(console: Console) -> None:
    """One client cannot have it twice; two clients may use the same value."""
    one, two = console.client(), console.client()
    for client in (one, two):
        campaign = client.campaign("paused")
        first = {"phone": client.phone(), "external_id": "crm-7"}
        assert bring(client, campaign, [first])["data"][0]["status"] == "accepted"
        params = {"campaign_id": campaign}
        again = {"phone": client.phone(), "external_id": "crm-7"}
        client.post("/v1/leads/import", {"leads": [again]}, params=params)
        twice = [{"phone": client.phone(), "external_id": "crm-8"} for _ in range(2)]
        client.post("/v1/leads/import", {"leads": twice}, params=params)
        for external_id in ("crm-7", "crm-8"):
            assert len(client.walk("/v1/leads", external_id=external_id)) == 1


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


def test_single_add_is_validated_as_an_import(party: Party, campaign: str) -> None:
    """Invalid, duplicate and Do-Not-Call leads are answered 200 with status and reason."""
    phone, listed = party.phone(), party.phone()
    party.on_dnc(listed)
    assert add(party, campaign, phone=phone)["status"] == "accepted"
    seen = {
        what: add(party, campaign, phone=number)
        for what, number in {"again": phone, "listed": listed, "wrong": "12345"}.items()
    }
    assert {what: (made["status"], made["reason"]) for what, made in seen.items()} == {
        "again": ("duplicate", "duplicate_in_campaign"),
        "listed": ("on_dnc", None),
        "wrong": ("invalid", "invalid_phone"),
    }
    assert seen["listed"]["lead_id"] is seen["wrong"]["lead_id"] is None


def test_missing_phone_of_a_single_add(party: Party, campaign: str) -> None:
    """A lead without a phone is missing_phone or an invalid request, and is not stored."""
    before = len(party.walk("/v1/leads", limit="100"))
    for more in ({}, {"phone": ""}, {"phone": "  "}, {"phone": None}):
        response = party.post("/v1/leads", {"campaign_id": campaign, **more})
        if response.is_success:
            assert (response.json()["status"], response.json()["reason"]) in (
                ("invalid", "missing_phone"),
                ("invalid", "invalid_phone"),
            )
        else:
            invalid(response, "phone")
    assert len(party.walk("/v1/leads", limit="100")) == before


def test_source_must_be_one_of_the_accounts(party: Party, campaign: str) -> None:
    """A known source is stored as the custom field lead_source; another is unknown_source."""
    party.console("POST", "/lead-sources", {"code": "web-form"})
    made = add(party, campaign, source="web-form", custom_fields={"plan": "gold"})
    refused = add(party, campaign, source="nobody-knows")

    assert made["status"] == "accepted"
    fields = read(party, made["lead_id"])["custom_fields"]
    assert fields == {"plan": "gold", "lead_source": "web-form"}
    assert (refused["status"], refused["reason"]) == ("invalid", "unknown_source")
    assert refused["lead_id"] is None


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


def test_single_add_stops_with_the_screen(console: Console, party: Party, campaign: str) -> None:
    """If the Do-Not-Call screen cannot run: 503 dnc_screen_unavailable, nothing written."""
    body = {"campaign_id": campaign, "phone": party.phone()}
    with console.settings(dnc_screen_available=False):
        problem(party.post("/v1/leads", body), 503, "dnc_screen_unavailable")
    assert answered(party.post("/v1/leads", body), 200)["status"] == "accepted"


# --- read and change --------------------------------------------------------------------------


def test_lead_and_its_history_can_be_read(party: Party, campaign: str) -> None:
    """GET a lead and GET its history answer 200."""
    lead = add(party, campaign, full_name="Ada")["lead_id"]

    assert answered(party.get(f"/v1/leads/{lead}"), 200)["id"] == lead
    answered(party.get(f"/v1/leads/{lead}/history"), 200)


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


def test_patch_of_custom_fields_merges(party: Party, campaign: str) -> None:
    """A key set to null is removed, keys not sent are kept, others are set."""
    made = add(party, campaign, custom_fields={"keep": 1, "change": 2, "remove": 3})
    body = {"custom_fields": {"change": "two", "remove": None, "new": True, "never": None}}
    after = answered(party.patch(f"/v1/leads/{made['lead_id']}", body), 200)

    assert after["custom_fields"] == {"keep": 1, "change": "two", "new": True}


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


def test_patch_of_an_unknown_lead_is_404(party: Party, other: Party) -> None:
    """An unknown id, or one of another client, is not found."""
    lead = other.lead()
    problem(party.patch(f"/v1/leads/{lead}", {"full_name": "x"}), 404, "not_found")
