"""Leads (contract, Endpoints: Leads)."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tuned
from hypothesis import strategies as st

from dialframe.sandbox import Sandbox
from sandbox.calling import Api, Json, ok, phone, pointers, refused

UNKNOWN = "00000000-0000-4000-8000-000000000000"
RESULT = {"index", "external_id", "status", "reason", "field", "lead_id"}
LEAD = {
    "id", "campaign_id", "external_id", "phone", "full_name", "email", "status", "attempts",
    "custom_fields", "last_attempt_at", "next_attempt_at", "disposition_code", "hangup_cause",
    "created_at", "updated_at",
}  # fmt: skip


@pytest.fixture
def campaign(sandbox: Sandbox) -> str:
    """A campaign of its own, ready to be filled."""
    return str(sandbox.console.create_campaign(sandbox.client_id, "c", status="ready")["id"])


def send(api: Api, campaign: str, *leads: Json, **more: Any) -> Json:
    """The answer to an import."""
    path = f"/v1/leads/import?campaign_id={campaign}"
    return ok(api.post(path, {"leads": list(leads)}, **more))


def outcomes(answer: Json) -> list[tuple[str, str | None]]:
    """Status and reason of each result."""
    return [(row["status"], row["reason"]) for row in answer["data"]]


def test_accepted_leads_can_be_read(api: Api, campaign: str) -> None:
    """One result per lead by index, counts, and the lead as it was sent, its number in E.164."""
    number, tag = phone(), uuid.uuid4().hex
    given = {
        "external_id": tag, "phone": f"{number[:2]} ({number[2:5]}) {number[5:8]}-{number[8:]}",
        "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com",
        "custom_fields": {"score": 7, "tags": ["a", None], "ü": {"x": 1.5}},
    }  # fmt: skip
    answer = send(api, campaign, given, {"phone": phone()})
    assert answer["campaign_id"] == campaign
    assert answer["summary"] == {"received": 2, "accepted": 2, "rejected": 0}
    assert [row["index"] for row in answer["data"]] == [0, 1]
    assert all(set(row) == RESULT for row in answer["data"])
    assert answer["data"][0]["external_id"] == tag
    lead = ok(api.get(f"/v1/leads/{answer['data'][0]['lead_id']}"))
    assert set(lead) == LEAD
    assert lead["phone"] == number
    assert (lead["full_name"], lead["status"], lead["attempts"]) == ("Ada Lovelace", "new", 0)
    assert lead["custom_fields"] == given["custom_fields"]
    assert (lead["campaign_id"], lead["external_id"]) == (campaign, tag)
    assert lead["last_attempt_at"] is lead["disposition_code"] is lead["hangup_cause"] is None
    assert lead["created_at"].endswith("Z")
    assert [row["id"] for row in api.walk("/v1/leads", external_id=tag)] == [lead["id"]]


def test_numbers_are_checked(api: Api, campaign: str) -> None:
    """Missing, empty, too short, not a number; also what has no country code."""
    answer = send(
        api, campaign, {}, {"phone": None}, {"phone": ""}, {"phone": "  "}, {"phone": "+1212"},
        {"phone": "call me"}, {"phone": "2125550142"}, {"phone": "+1 212 555 0142 99"},
        {"phone": "+999 1234567"},
    )  # fmt: skip
    assert (
        outcomes(answer) == [("invalid", "missing_phone")] * 4 + [("invalid", "invalid_phone")] * 5
    )
    assert answer["summary"] == {"received": 9, "accepted": 0, "rejected": 9}
    assert {row["lead_id"] for row in answer["data"]} == {None}


def test_sanctioned_destinations(settings: Sandbox, api: Api, campaign: str) -> None:
    """Before the number's validity; `blocked_countries` is about sending and stops no import."""
    settings.console.update_account(
        {"sanctioned_countries": ["KP", "GB"], "blocked_countries": ["DE"]}
    )
    answer = send(
        api, campaign, {"phone": "+850 123"}, {"phone": "+44 20 7946 0018"},
        {"phone": "+49 30 23125 100"}, {"phone": phone()},
    )  # fmt: skip
    assert outcomes(answer) == [
        ("blocked_country", None), ("blocked_country", None), ("accepted", None),
        ("accepted", None),
    ]  # fmt: skip


def test_duplicates(sandbox: Sandbox, api: Api, campaign: str) -> None:
    """In the request, then in the campaign; in another campaign a number is no duplicate."""
    number, tag = phone(), uuid.uuid4().hex
    answer = send(
        api, campaign, {"phone": number, "external_id": tag}, {"phone": number},
        {"phone": phone(), "external_id": tag},
    )  # fmt: skip
    twice = ("duplicate", "duplicate_in_request")
    assert outcomes(answer) == [("accepted", None), twice, twice]
    again = send(api, campaign, {"phone": number}, {"phone": phone(), "external_id": tag})
    known = ("duplicate", "duplicate_in_campaign")
    assert outcomes(again) == [known, known]
    elsewhere = sandbox.console.create_campaign(sandbox.client_id, "e", status="draft")["id"]
    assert outcomes(send(api, elsewhere, {"phone": number})) == [("accepted", None)]


def test_field_rules(sandbox: Sandbox) -> None:
    """The first field that breaks a rule is named; only leads that pass the checks before it."""
    made = sandbox.console.create_client("strict", scopes=["leads:write", "leads:read"])
    client_id = made["client_id"]
    campaign = sandbox.console.create_campaign(client_id, "c", status="paused")["id"]
    sandbox.console.add_field_rule(client_id, "email", required=True)
    sandbox.console.add_field_rule(client_id, "custom_fields.zip", pattern=r"^\d{5}$")
    sandbox.console.add_field_rule(client_id, "full_name", required=True)
    api = Api(sandbox.base_url, made["api_key"])
    full = {"email": "a@example.com", "full_name": "A", "custom_fields": {"zip": "90210"}}
    answer = send(
        api, campaign,
        {**full, "phone": phone()},
        {**full, "phone": phone(), "email": ""},
        {**full, "phone": phone(), "custom_fields": {"zip": "9021"}},
        {**full, "phone": phone(), "custom_fields": {"zip": 90210}},
        {"phone": phone(), "email": "a@example.com", "first_name": "A"},
        {"phone": phone(), "email": "a@example.com"},
        {"phone": "nonsense"},
    )  # fmt: skip
    assert [(row["status"], row["field"]) for row in answer["data"]] == [
        ("accepted", None), ("invalid", "email"), ("invalid", "custom_fields.zip"),
        ("accepted", None), ("accepted", None), ("invalid", "full_name"), ("invalid", None),
    ]  # fmt: skip
    assert {row["reason"] for row in answer["data"]} == {None, "field_rule", "invalid_phone"}
    single = ok(api.post("/v1/leads", {"campaign_id": campaign, "phone": phone()}))
    assert (single["status"], single["reason"], single["field"]) == (
        "invalid",
        "field_rule",
        "email",
    )
    api.close()


def test_do_not_call_screen(settings: Sandbox, api: Api, campaign: str) -> None:
    """Listed numbers are refused; without the screen nothing is written at all."""
    listed = phone()
    settings.console.add_dnc(settings.client_id, [listed])
    answer = send(api, campaign, {"phone": listed}, {"phone": phone()})
    assert outcomes(answer) == [("on_dnc", None), ("accepted", None)]
    settings.console.update_account({"dnc_screen_available": False})
    path, body = f"/v1/leads/import?campaign_id={campaign}", {"leads": [{"phone": phone()}]}
    before = api.walk("/v1/leads")
    refused(api.post(path, body), 503, "dnc_screen_unavailable")
    single = {"campaign_id": campaign, "phone": phone()}
    refused(api.post("/v1/leads", single), 503, "dnc_screen_unavailable")
    assert api.walk("/v1/leads") == before


def test_bounds_of_an_import(api: Api, campaign: str) -> None:
    """1 to 200 leads: more is `batch_too_large`, none and wrong fields are `validation_failed`."""
    path = f"/v1/leads/import?campaign_id={campaign}"
    numbers = [f"+1213555{place:04d}" for place in range(200)]
    answer = send(api, campaign, *({"phone": number} for number in numbers))
    assert answer["summary"] == {"received": 200, "accepted": 200, "rejected": 0}
    too_many = {"leads": [{"phone": number} for number in [*numbers, "x"]]}
    refused(api.post(path, too_many), 400, "batch_too_large")
    assert len(api.walk("/v1/leads", campaign_id=campaign, limit=100)) == 200
    bad = {
        "leads": [
            {"phone": phone(), "nickname": "x"}, {"phone": 1}, {"phone": "1" * 33},
            {"full_name": "x" * 201}, {"first_name": "x" * 101}, {"last_name": "x" * 101},
            {"email": "x" * 255}, {"external_id": ""}, {"external_id": "x" * 129},
            {"custom_fields": {str(n): n for n in range(21)}}, {"custom_fields": []},
            "not an object", {"first_name": 7},
        ]
    }  # fmt: skip
    problem = refused(api.post(path, bad), 400, "validation_failed")
    assert {int(pointer.split("/")[2]) for pointer in pointers(problem)} == set(range(13))
    assert "/leads/0/nickname" in pointers(problem)
    for body in ({"leads": []}, {}, {"leads": {}}, {"leads": [{}], "campaign_id": campaign}, []):
        refused(api.post(path, body), 400, "validation_failed")
    missing = refused(api.post("/v1/leads/import", {"leads": [{}]}), 400, "validation_failed")
    assert missing["errors"] == [{"pointer": "/campaign_id", "code": "missing"}]


@tuned(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["+12025550101", "+12025550102", "+12025550103", "", "x", "+98 21 1234"]),
        min_size=1,
        max_size=12,
    )
)
def test_every_lead_has_one_outcome(sandbox: Sandbox, api: Api, numbers: list[str]) -> None:
    """Received = accepted + rejected = results, and what is accepted is there exactly once."""
    campaign = sandbox.console.create_campaign(sandbox.client_id, "law", status="draft")["id"]
    answer = send(api, campaign, *({"phone": number} for number in numbers))
    summary = answer["summary"]
    assert [row["index"] for row in answer["data"]] == list(range(len(numbers)))
    assert summary["received"] == len(numbers) == summary["accepted"] + summary["rejected"]
    accepted = [row["lead_id"] for row in answer["data"] if row["status"] == "accepted"]
    assert len(accepted) == summary["accepted"]
    assert {row["id"] for row in api.walk("/v1/leads", campaign_id=campaign)} == set(accepted)


def test_single_add(sandbox: Sandbox, api: Api, campaign: str) -> None:
    """The import's outcomes one by one; a known source becomes the custom field `lead_source`."""
    sandbox.console.add_lead_source(sandbox.client_id, "web")
    number = phone()
    body = {"campaign_id": campaign, "phone": number, "source": "web", "full_name": "A"}
    answer = ok(api.post("/v1/leads", {**body, "custom_fields": {"x": 1}}))
    assert set(answer) == {
        "status", "reason", "field", "lead_id", "external_id", "campaign_id", "dial_now",
    }  # fmt: skip
    assert (answer["status"], answer["campaign_id"]) == ("accepted", campaign)
    assert answer["dial_now"] == {"status": "not_requested", "expires_at": None}
    lead = ok(api.get(f"/v1/leads/{answer['lead_id']}"))
    assert lead["custom_fields"] == {"x": 1, "lead_source": "web"}

    def outcome(**more: object) -> tuple[str, str | None]:
        given = ok(api.post("/v1/leads", {"campaign_id": campaign, "phone": phone(), **more}))
        assert given["status"] == "duplicate" or given["lead_id"] is None
        return given["status"], given["reason"]

    assert outcome(phone=number) == ("duplicate", "duplicate_in_campaign")
    assert outcome(source="nobody") == ("invalid", "unknown_source")
    assert outcome(phone="x") == ("invalid", "invalid_phone")
    for missing in (None, "", "  "):
        assert outcome(phone=missing) == ("invalid", "missing_phone")
    assert ok(api.post("/v1/leads", {"campaign_id": campaign}))["reason"] == "missing_phone"
    listed = phone()
    sandbox.console.add_dnc(sandbox.client_id, [listed])
    assert outcome(phone=listed) == ("on_dnc", None)
    assert outcome(phone="+98 21 12345678") == ("blocked_country", None)
    for wrong in (
        {"phone": phone()}, {"campaign_id": "x", "phone": phone()}, {**body, "source": ""},
        {**body, "dial_now": "yes"}, {**body, "dial_within_seconds": 29},
        {**body, "dial_within_seconds": 3601}, {**body, "dial_within_seconds": 60.5},
        {**body, "status": "new"},
    ):  # fmt: skip
        refused(api.post("/v1/leads", wrong), 400, "validation_failed")
    gone = {"campaign_id": f"cmp_{UNKNOWN}", "phone": phone()}
    refused(api.post("/v1/leads", gone), 404, "not_found")


def test_update(sandbox: Sandbox, api: Api) -> None:
    """Only name, e-mail and custom fields change; null clears, and removes a custom field."""
    (lead_id,) = sandbox.console.add_leads(
        sandbox.client_id,
        [{"phone": phone(), "full_name": "A", "custom_fields": {"a": 1, "b": 2}}],
    )
    path = f"/v1/leads/{lead_id}"
    before = api.get(path)
    after = api.send(
        "PATCH",
        path,
        {"custom_fields": {"a": None, "c": 3, "never": None}, "email": "e@example.com"},
    )
    lead = ok(after)
    assert lead["custom_fields"] == {"b": 2, "c": 3}
    assert (lead["full_name"], lead["email"]) == ("A", "e@example.com")
    assert after.headers["ETag"] != before.headers["ETag"]
    assert api.get(path).headers["ETag"] == after.headers["ETag"]
    assert ok(api.send("PATCH", path, {"full_name": None}))["full_name"] is None
    unchanged = api.send("PATCH", path, {})
    assert ok(unchanged) == ok(api.send("PATCH", path, {"email": "e@example.com"}))
    for wrong in (
        {"phone": phone()}, {"status": "dnc"}, {"custom_fields": None}, {"full_name": 1},
        {"full_name": "x" * 201}, {"email": "x" * 255},
        {"custom_fields": {str(n): n for n in range(21)}},
        {"custom_fields": {str(n): n for n in range(19)}},
    ):  # fmt: skip
        refused(api.send("PATCH", path, wrong), 400, "validation_failed")
    refused(api.send("PATCH", f"/v1/leads/lead_{UNKNOWN}", {}), 404, "not_found")


def test_history(sandbox: Sandbox, api: Api) -> None:
    """What happened to a lead, newest first, page by page."""
    (lead_id,) = sandbox.console.add_leads(
        sandbox.client_id, [{"phone": phone(), "created_at": "2026-01-01T00:00:00Z"}]
    )
    sandbox.console.add_calls(
        sandbox.client_id,
        [
            {"lead_id": lead_id, "created_at": f"2026-02-0{day}T00:00:00Z", "disposition": "NA"}
            for day in (1, 2, 3)
        ],
    )
    rows = api.walk(f"/v1/leads/{lead_id}/history", limit=2)
    assert [row["type"] for row in rows] == ["call", "call", "call", "created"]
    assert [row["at"][:10] for row in rows] == [
        "2026-02-03", "2026-02-02", "2026-02-01", "2026-01-01",
    ]  # fmt: skip
    refused(api.get(f"/v1/leads/lead_{UNKNOWN}/history"), 404, "not_found")


def test_nothing_of_another_client(sandbox: Sandbox, api: Api, other: Api) -> None:
    """An id of another client is unknown, and its external ids and numbers are free."""
    tag, number = uuid.uuid4().hex, phone()
    mine = sandbox.console.create_campaign(sandbox.client_id, "m", status="ready")["id"]
    theirs_id = ok(other.get("/v1/me"))["client_id"]
    theirs = sandbox.console.create_campaign(theirs_id, "t", status="ready")["id"]
    lead = {"phone": number, "external_id": tag}
    made = send(api, mine, lead)["data"][0]["lead_id"]
    assert outcomes(send(other, theirs, lead)) == [("accepted", None)]
    refused(other.get(f"/v1/leads/{made}"), 404, "not_found")
    refused(other.send("PATCH", f"/v1/leads/{made}", {}), 404, "not_found")
    path = f"/v1/leads/import?campaign_id={mine}"
    refused(other.post(path, {"leads": [lead]}), 404, "not_found")
    assert other.walk("/v1/leads", campaign_id=mine) == []


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"null", b"[]", b'"x"', b"1", b"{", b"\xff", b'{"leads": [{"phone": "\\ud800"}]}',
        b'{"leads": [{"phone": "a\\u0000"}]}', b'{"leads": NaN}', b'{"leads": 1, "leads": 2}',
        b'{"leads": [{"custom_fields": {"n": ' + b"9" * 5000 + b"}}]}",
        b'{"leads": [{"custom_fields": ' + b'{"a":' * 30 + b"1" + b"}" * 30 + b"}]}",
        b'{"leads":' * 50_000,
    ],
)  # fmt: skip
def test_hostile_bodies_are_refused(api: Api, campaign: str, raw: bytes) -> None:
    """400 `validation_failed`, never anything worse."""
    path = f"/v1/leads/import?campaign_id={campaign}"
    refused(api.send("POST", path, raw=raw), 400, "validation_failed")


def test_numbers_of_any_size_survive_in_custom_fields(api: Api, campaign: str) -> None:
    """They are kept as JSON, so none is rounded or cut."""
    custom = {"big": 2**70, "small": -(2**70), "real": 1e-300, "text": "\u2028\U0001f600"}
    answer = send(api, campaign, {"phone": phone(), "custom_fields": custom})
    lead = ok(api.get(f"/v1/leads/{answer['data'][0]['lead_id']}"))
    assert json.dumps(lead["custom_fields"]) == json.dumps(custom)


def test_every_reason_of_an_import_can_be_had(sandbox: Sandbox) -> None:
    """The contract's seven reasons, each from leads that deserve it."""
    console = sandbox.console
    made = console.create_client("reasons", scopes=["leads:write", "leads:read"])
    client_id, api = made["client_id"], Api(sandbox.base_url, made["api_key"])
    here, there = (
        console.create_campaign(client_id, name, status="paused")["id"] for name in "ab"
    )
    console.add_field_rule(client_id, "full_name", required=True)
    known, twice = phone(), phone()
    ok(api.post("/v1/leads/import", {"leads": [{"phone": known, "full_name": "A"}]},
                params={"campaign_id": here}))  # fmt: skip
    taken = {"phone": phone(), "full_name": "A", "external_id": "taken"}
    ok(api.post("/v1/leads/import", {"leads": [taken]}, params={"campaign_id": there}))
    answer = send(
        api, here,
        {"phone": "12345", "full_name": "A"}, {"full_name": "A"}, {"phone": phone()},
        {"phone": twice, "full_name": "A"}, {"phone": twice, "full_name": "A"},
        {"phone": known, "full_name": "A"}, {**taken, "phone": phone()},
        {"phone": "+80012345678", "full_name": "A"},
    )  # fmt: skip
    api.close()
    assert outcomes(answer) == [
        ("invalid", "invalid_phone"), ("invalid", "missing_phone"), ("invalid", "field_rule"),
        ("accepted", None), ("duplicate", "duplicate_in_request"),
        ("duplicate", "duplicate_in_campaign"), ("failed", "not_stored"),
        ("failed", "unrecognised"),
    ]  # fmt: skip


def test_a_source_is_a_custom_field(sandbox: Sandbox, api: Api, campaign: str) -> None:
    """With 20 others it is one too many, so that the lead can still be changed."""
    sandbox.console.add_lead_source(sandbox.client_id, "web")
    fields = {f"f{number}": number for number in range(20)}
    body = {"campaign_id": campaign, "phone": phone(), "source": "web", "custom_fields": fields}
    problem = refused(api.post("/v1/leads", body), 400, "validation_failed")
    assert pointers(problem) == {"/custom_fields"}
    del fields["f0"]
    made = ok(api.post("/v1/leads", body))
    path = f"/v1/leads/{made['lead_id']}"
    assert len(ok(api.get(path))["custom_fields"]) == 20
    assert ok(api.send("PATCH", path, {"custom_fields": {"f1": "changed"}}))


def test_a_whole_number_may_have_a_point(api: Api, campaign: str) -> None:
    """JSON has one kind of number: 300.0 is the integer 300, and 300.5 is none."""
    body = {"campaign_id": campaign, "phone": phone(), "dial_within_seconds": 300.0}
    assert ok(api.post("/v1/leads", body))["status"] == "accepted"
    body = {**body, "phone": phone(), "dial_within_seconds": 300.5}
    refused(api.post("/v1/leads", body), 400, "validation_failed")
