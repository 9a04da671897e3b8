"""Leads: imported, added singly, read, changed (contract, Endpoints: Leads)."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tuned
from hypothesis import strategies as st

from sandbox.service_bench import (
    CAMPAIGN,
    LEAD,
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


def outcomes(answer: Json) -> list[tuple[str, str | None]]:
    """Status and reason of each result."""
    return [(result["status"], result["reason"]) for result in answer["data"]]


def add(party: Party, campaign: str, **fields: Any) -> Json:
    """Add one lead; the answer, held to its shape."""
    body = {"campaign_id": campaign, "phone": fields.pop("phone", None) or party.phone()}
    made = answered(party.post("/v1/leads", {**body, **fields}), 200)
    shaped("lead created", made)
    shaped("dial now", made["dial_now"])
    assert made["campaign_id"] == campaign
    return made


def read(party: Party, lead_id: str) -> Json:
    """One lead, held to its shape."""
    return shaped("lead", answered(party.get(f"/v1/leads/{lead_id}"), 200))


# --- import -----------------------------------------------------------------------------------


def test_accepted_leads_can_be_read(party: Party, campaign: str) -> None:
    """The lead as it was sent, its number in E.164 and its names joined, found by its external id."""
    number, tag = party.phone(), uuid.uuid4().hex
    sent = {
        "external_id": tag, "phone": f"{number[:2]} ({number[2:5]}) {number[5:8]}-{number[8:]}",
        "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com",
        "custom_fields": {"score": 7, "tags": ["a", None], "ü": {"x": 1.5}},
    }  # fmt: skip
    results = bring(party, campaign, [sent, {"phone": party.phone()}])["data"]
    lead = read(party, results[0]["lead_id"])

    assert [result["external_id"] for result in results] == [tag, None]
    expected = {
        "phone": number, "full_name": "Ada Lovelace", "email": "ada@example.com", "status": "new",
        "attempts": 0, "custom_fields": sent["custom_fields"], "campaign_id": campaign,
        "external_id": tag, "last_attempt_at": None, "disposition_code": None, "hangup_cause": None,
    }  # fmt: skip
    assert {name: lead[name] for name in expected} == expected
    assert [found["id"] for found in party.walk("/v1/leads", external_id=tag)] == [lead["id"]]


def test_every_reason_of_an_import_can_be_had(client: Party) -> None:
    """The contract's seven reasons and the Do-Not-Call list, each from leads that deserve it."""
    here, there = client.campaign("paused"), client.campaign("paused")
    client.console("POST", "/field-rules", {"field": "full_name", "required": True})
    known, twice, listed = client.phone(), client.phone(), client.phone()
    client.on_dnc(listed)
    bring(client, here, [{"phone": known, "external_id": "known", "full_name": "A"}])
    taken = {"phone": client.phone(), "full_name": "A", "external_id": "taken"}
    bring(client, there, [taken])
    rows = [
        ({"phone": "12345", "full_name": "A"}, ("invalid", "invalid_phone")),
        ({"full_name": "A"}, ("invalid", "missing_phone")),
        ({"phone": client.phone()}, ("invalid", "field_rule")),
        ({"phone": twice, "full_name": "A", "external_id": "a"}, ("accepted", None)),
        ({"phone": twice, "full_name": "A"}, ("duplicate", "duplicate_in_request")),
        ({"phone": client.phone(), "full_name": "A", "external_id": "a"},
         ("duplicate", "duplicate_in_request")),
        ({"phone": known, "full_name": "A"}, ("duplicate", "duplicate_in_campaign")),
        ({"phone": client.phone(), "full_name": "A", "external_id": "known"},
         ("duplicate", "duplicate_in_campaign")),
        ({"phone": listed, "full_name": "A"}, ("on_dnc", None)),
        ({**taken, "phone": client.phone()}, ("failed", "not_stored")),
        ({"phone": "+80012345678", "full_name": "A"}, ("failed", "unrecognised")),
        ({"phone": client.phone(), "full_name": "A"}, ("accepted", None)),
    ]  # fmt: skip
    answer = bring(client, here, [lead for lead, _ in rows])

    assert outcomes(answer) == [outcome for _, outcome in rows]
    assert [result["external_id"] for result in answer["data"]] == [
        lead.get("external_id") for lead, _ in rows
    ]
    stored = [lead["phone"] for lead in client.walk("/v1/leads", campaign_id=here)]
    assert stored.count(twice) == stored.count(known) == 1
    assert listed not in stored
    # In another campaign a number is no duplicate.
    assert outcomes(bring(client, there, [{"phone": known, "full_name": "A"}])) == [
        ("accepted", None)
    ]


def test_numbers_are_checked(party: Party, campaign: str) -> None:
    """Missing, empty, too short, not a number; also what has no country code."""
    missing: list[Json] = [{}, {"phone": None}, {"phone": ""}, {"phone": "  "}]
    bad = ["+1212", "call me", "2125550142", "+1 212 555 0142 99", "+999 1234567"]
    answer = bring(party, campaign, [*missing, *({"phone": phone} for phone in bad)])

    assert (
        outcomes(answer) == [("invalid", "missing_phone")] * 4 + [("invalid", "invalid_phone")] * 5
    )
    assert {result["lead_id"] for result in answer["data"]} == {None}


def test_sanctioned_destinations(console: Console, party: Party, campaign: str) -> None:
    """Before the number's validity; `blocked_countries` is about sending and stops no import."""
    phones = ["+850 123", "+44 20 7946 0018", "+49 30 23125 100", party.phone()]
    with console.settings(sanctioned_countries=["KP", "GB"], blocked_countries=["DE"]):
        answer = bring(party, campaign, [{"phone": phone} for phone in phones])

    assert outcomes(answer) == [("blocked_country", None)] * 2 + [("accepted", None)] * 2


def test_field_rules(client: Party) -> None:
    """The first field that breaks a rule is named; only leads that pass the checks before it."""
    campaign = client.campaign("paused")
    rules = [
        {"field": "email", "required": True},
        {"field": "custom_fields.zip", "pattern": r"^\d{5}$"},
        {"field": "full_name", "required": True},
    ]
    for rule in rules:
        client.console("POST", "/field-rules", rule)
    full = {"email": "a@example.com", "full_name": "A", "custom_fields": {"zip": "90210"}}
    named = {"email": "a@example.com", "first_name": "A"}
    rows: list[tuple[Json, tuple[str, str | None, str | None]]] = [
        (full, ("accepted", None, None)),
        ({**full, "email": ""}, ("invalid", "field_rule", "email")),
        (
            {**full, "custom_fields": {"zip": "9021"}},
            ("invalid", "field_rule", "custom_fields.zip"),
        ),
        ({**full, "custom_fields": {"zip": 90210}}, ("accepted", None, None)),
        (named, ("accepted", None, None)),
        ({"email": "a@example.com"}, ("invalid", "field_rule", "full_name")),
        ({"phone": "nonsense"}, ("invalid", "invalid_phone", None)),
    ]
    results = bring(client, campaign, [{"phone": client.phone(), **lead} for lead, _ in rows])[
        "data"
    ]
    single_outcomes = [(result["status"], result["reason"], result["field"]) for result in results]
    single = add(client, campaign)

    assert single_outcomes == [outcome for _, outcome in rows]
    assert (single["status"], single["reason"], single["field"]) == (
        "invalid",
        "field_rule",
        "email",
    )


def test_an_import_has_1_to_200_leads(client: Party) -> None:
    """200 are taken; one more is `batch_too_large`, whatever it is, and adds nothing."""
    campaign = client.campaign("paused")
    leads: list[Json] = [{"phone": client.phone()} for _ in range(200)]
    assert bring(client, campaign, leads)["summary"]["accepted"] == 200
    params = {"campaign_id": campaign}
    response = client.post("/v1/leads/import", {"leads": [*leads, {"phone": "x"}]}, params=params)
    problem(response, 400, "batch_too_large")
    assert len(client.walk("/v1/leads", campaign_id=campaign, limit="100")) == 200
    for body in ({}, {"leads": [{}], "campaign_id": campaign}, []):
        invalid(client.post("/v1/leads/import", body, params=params))


def test_every_wrong_lead_of_an_import_is_named(party: Party, campaign: str) -> None:
    """By its place in the list."""
    wrong: list[Any] = [
        {"phone": party.phone(), "nickname": "x"}, {"phone": 1}, {"phone": "1" * 33},
        {"full_name": "x" * 201}, {"first_name": "x" * 101}, {"last_name": "x" * 101},
        {"email": "x" * 255}, {"external_id": ""}, {"external_id": "x" * 129},
        {"custom_fields": {str(n): n for n in range(21)}}, {"custom_fields": []},
        "not an object", {"first_name": 7},
    ]  # fmt: skip
    params = {"campaign_id": campaign}
    errors = invalid(party.post("/v1/leads/import", {"leads": wrong}, params=params))["errors"]

    assert {int(error["pointer"].split("/")[2]) for error in errors} == set(range(13))


@tuned(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["+12025550101", "+12025550102", "+12025550103", "", "x", "+98 21 1234"]),
        min_size=1,
        max_size=12,
    )
)
def test_every_lead_has_one_outcome(party: Party, phones: list[str]) -> None:
    """Received = accepted + rejected = results, and what is accepted is there exactly once."""
    campaign = party.campaign("draft")
    results = bring(party, campaign, [{"phone": phone} for phone in phones])["data"]
    accepted = [result["lead_id"] for result in results if result["status"] == "accepted"]

    stored = party.walk("/v1/leads", campaign_id=campaign)
    assert sorted(lead["id"] for lead in stored) == sorted(accepted)


def test_external_ids_and_numbers_are_a_clients_own(party: Party, other: Party) -> None:
    """What one client has is no duplicate in another's campaign."""
    lead = {"phone": party.phone(), "external_id": uuid.uuid4().hex}
    for client in (party, other):
        assert outcomes(bring(client, client.campaign("ready"), [lead])) == [("accepted", None)]

    again = add(party, party.campaign("ready"), external_id=lead["external_id"])
    assert (again["status"], again["reason"]) == ("duplicate", None)


@pytest.mark.parametrize("state", STATES)
def test_adding_goes_by_the_campaigns_state(party: Party, state: str) -> None:
    """Draft, ready and paused campaigns take an import, running ones a single lead too; others answer 409."""
    campaign = party.campaign(state)
    body, params = {"leads": [{"phone": party.phone()}]}, {"campaign_id": campaign}
    response = party.post("/v1/leads/import", body, params=params)
    if state in ("draft", "ready", "paused"):
        assert answered(response, 200)["summary"]["accepted"] == 1
    else:
        problem(response, 409, "campaign_not_importable")
        assert party.walk("/v1/leads", campaign_id=campaign) == []
    if state == "completed":
        body = {"campaign_id": campaign, "phone": party.phone()}
        problem(party.post("/v1/leads", body), 409, "campaign_not_importable")
        return
    made = add(party, campaign)
    assert (made["status"], made["reason"], made["field"]) == ("accepted", None, None)
    assert made["dial_now"] == {"status": "not_requested", "expires_at": None}
    assert read(party, made["lead_id"])["campaign_id"] == campaign


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


def test_single_add_has_the_imports_outcomes(
    console: Console, party: Party, campaign: str
) -> None:
    """One by one: duplicate, unknown source, bad, missing and listed numbers, sanctioned countries."""
    number, listed = party.phone(), party.phone()
    add(party, campaign, phone=number)
    party.on_dnc(listed)
    for fields, outcome in (
        ({"phone": number}, ("duplicate", "duplicate_in_campaign")),
        ({"source": "nobody"}, ("invalid", "unknown_source")),
        ({"phone": "x"}, ("invalid", "invalid_phone")),
        ({"phone": listed}, ("on_dnc", None)),
        ({"phone": "+98 21 12345678"}, ("blocked_country", None)),
    ):
        with console.settings(sanctioned_countries=["IR"]):
            made = add(party, campaign, **fields)
        assert (made["status"], made["reason"]) == outcome
        assert made["status"] == "duplicate" or made["lead_id"] is None
    for missing in ({}, {"phone": None}, {"phone": ""}, {"phone": "  "}):
        made = answered(party.post("/v1/leads", {"campaign_id": campaign, **missing}), 200)
        assert (made["status"], made["reason"]) == ("invalid", "missing_phone")


def test_a_source_is_a_custom_field(party: Party, campaign: str) -> None:
    """`lead_source`; with 20 others it is one too many, so that the lead can still be changed."""
    party.console("POST", "/lead-sources", {"code": "web"})
    fields = {f"f{place}": place for place in range(20)}
    body = {
        "campaign_id": campaign,
        "phone": party.phone(),
        "source": "web",
        "custom_fields": fields,
    }
    errors = invalid(party.post("/v1/leads", body))["errors"]
    assert [error["pointer"] for error in errors] == ["/custom_fields"]
    del fields["f0"]
    made = answered(party.post("/v1/leads", body), 200)
    assert read(party, made["lead_id"])["custom_fields"] == {**fields, "lead_source": "web"}
    path = f"/v1/leads/{made['lead_id']}"
    answered(party.patch(path, {"custom_fields": {"f1": "changed"}}), 200)


def test_a_whole_number_may_have_a_point(party: Party, campaign: str) -> None:
    """JSON has one kind of number: 300.0 is the integer 300, and 300.5 is none."""
    assert add(party, campaign, dial_within_seconds=300.0)["status"] == "accepted"
    body = {"campaign_id": campaign, "phone": party.phone(), "dial_within_seconds": 300.5}
    invalid(party.post("/v1/leads", body), "dial_within_seconds")


def test_adding_to_an_unknown_campaign_is_404(party: Party, other: Party) -> None:
    """A campaign that is not the client's answers 404 not_found."""
    for campaign in (CAMPAIGN, other.campaign("paused")):
        lead, params = {"phone": party.phone()}, {"campaign_id": campaign}
        problem(party.post("/v1/leads", {**params, **lead}), 404, "not_found")
        response = party.post("/v1/leads/import", {"leads": [lead]}, params=params)
        problem(response, 404, "not_found")


@pytest.mark.parametrize(
    ("state", "window", "status"),
    [("running", None, "queued"), ("running", 30, "queued"), ("running", 3600, "queued"),
     ("paused", None, "campaign_not_running"), ("running", None, "lead_not_accepted")],
)  # fmt: skip
def test_dial_now_queues_for_its_window(
    console: Console, party: Party, state: str, window: int | None, status: str
) -> None:
    """In a running campaign a lead is queued for its window, 300 s by default; elsewhere it says why not."""
    more: Json = {} if window is None else {"dial_within_seconds": window}
    if status == "lead_not_accepted":
        more["phone"] = "12345"
    made = add(party, party.campaign(state), dial_now=True, **more)
    outcome = "invalid" if status == "lead_not_accepted" else "accepted"
    assert (made["status"], made["dial_now"]["status"]) == (outcome, status)
    if status == "queued":
        left = moment(made["dial_now"]["expires_at"]) - console.now()
        assert abs(left - timedelta(seconds=window or 300)) < timedelta(seconds=3)
    else:
        assert made["dial_now"]["expires_at"] is None


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


def test_null_clears_and_removes(party: Party, campaign: str) -> None:
    """A custom field that is null goes, another one comes, 20 are the most; a change of nothing is no change."""
    made = add(party, campaign, full_name="A", custom_fields={f"k{n}": n for n in range(20)})
    path = f"/v1/leads/{made['lead_id']}"
    invalid(party.patch(path, {"custom_fields": {"k20": 20}}))
    change = {"custom_fields": {"k0": None, "k20": 20, "never": None}, "email": "e@example.com"}
    lead = answered(party.patch(path, change), 200)
    assert lead["custom_fields"] == {f"k{n}": n for n in range(1, 21)}
    assert (lead["full_name"], lead["email"]) == ("A", "e@example.com")
    for nothing in ({}, {"email": "e@example.com"}):
        assert answered(party.patch(path, nothing), 200) == lead
    invalid(party.patch(path, {"custom_fields": None}))
    problem(party.patch(f"/v1/leads/{LEAD}", {}), 404, "not_found")


def test_history(party: Party) -> None:
    """What happened to a lead, newest first, page by page."""
    lead = party.lead(created_at="2026-01-01T00:00:00Z")
    days = [f"2026-02-0{day}T00:00:00Z" for day in (1, 2, 3)]
    party.calls([{"lead_id": lead, "created_at": day, "disposition": "NA"} for day in days])
    rows = party.walk(f"/v1/leads/{lead}/history", limit="2")

    assert [row["type"] for row in rows] == ["call", "call", "call", "created"]
    assert [row["at"][:10] for row in rows] == [
        "2026-02-03", "2026-02-02", "2026-02-01", "2026-01-01",
    ]  # fmt: skip


def test_if_match_guards_a_lead(party: Party, campaign: str) -> None:
    """With the ETag of the last read, or any, a change passes; a changed lead answers 412, a weak tag too; it has at most 128 characters."""
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
    longest = {"If-Match": '"' + "e" * 127 + '"'}
    invalid(party.patch(path, {"full_name": "x"}, headers=longest), "If-Match")
