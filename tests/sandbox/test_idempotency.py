"""Idempotency (contract, Conventions: Idempotency)."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest

from dialframe.errors import ConfigError
from dialframe.sandbox import Sandbox
from sandbox.calling import Api, ok, phone, refused

DAY_S = 86_400


@pytest.fixture(scope="module")
def campaign(sandbox: Sandbox) -> str:
    """A campaign that takes imports."""
    return str(sandbox.console.create_campaign(sandbox.client_id, "ready", status="ready")["id"])


def _import(campaign: str) -> tuple[str, dict[str, object]]:
    return f"/v1/leads/import?campaign_id={campaign}", {"leads": [{"phone": phone()}]}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/leads"),
        ("POST", "/v1/leads/import"),
        ("POST", "/v1/dnc"),
        ("POST", "/v1/webhooks"),
        ("POST", "/v1/sms"),
        ("POST", "/v1/calls"),
        ("POST", "/v1/consents"),
        ("DELETE", "/v1/webhooks/wh_00000000-0000-4000-8000-000000000000"),
    ],
)
def test_writes_need_a_key(api: Api, method: str, path: str) -> None:
    """Missing or empty: 400 `idempotency_key_required`, whatever the body; 256 characters: 400."""
    answer = api.send(method, path, {"unknown": 1}, headers={"Idempotency-Key": ""})
    refused(answer, 400, "idempotency_key_required")
    refused(api.send(method, path, {}, key="k" * 256), 400, "validation_failed")


def test_255_characters_are_a_key(api: Api, campaign: str) -> None:
    """The longest key is used like any other."""
    path, body = _import(campaign)
    ok(api.post(path, body, key="k" * 255))
    assert api.post(path, body, key="k" * 255).headers["Idempotency-Replayed"] == "true"


def test_same_request_gets_the_stored_answer(api: Api, campaign: str) -> None:
    """Status, headers and body as before, marked; the write happened once."""
    path, body = _import(campaign)
    first, second = api.post(path, body, key="once"), api.post(path, body, key="once")
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert first.headers["X-Request-ID"] != second.headers["X-Request-ID"]
    lead = ok(first)["data"][0]["lead_id"]
    assert [row["id"] for row in api.walk("/v1/leads") if row["id"] == lead] == [lead]


def test_other_spelling_of_the_same_json_is_the_same_request(api: Api) -> None:
    """Blanks and the order of names make no difference."""
    number = phone()
    first = api.send("POST", "/v1/dnc", {"phone": number, "reason": "asked"}, key="spelled")
    raw = f'{{ "reason":"asked",\n "phone":"{number}" }}'.encode()
    again = api.send("POST", "/v1/dnc", raw=raw, key="spelled")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"


def test_other_request_conflicts(api: Api, campaign: str) -> None:
    """Another body, query, path or operation under a used key: 409 `idempotency_conflict`."""
    path, body = _import(campaign)
    ok(api.post(path, body, key="taken"))
    refused(api.post(*_import(campaign), key="taken"), 409, "idempotency_conflict")
    refused(api.post("/v1/dnc", {"phone": phone()}, key="taken"), 409, "idempotency_conflict")
    refused(api.post(path, {"nonsense": 1}, key="taken"), 409, "idempotency_conflict")
    pause = f"/v1/campaigns/{campaign}/pause"
    refused(api.post(pause, key="taken"), 409, "idempotency_conflict")
    assert api.post(path, body, key="taken").headers["Idempotency-Replayed"] == "true"


def test_keys_belong_to_their_client(sandbox: Sandbox, api: Api, other: Api) -> None:
    """Two clients use the same key for different things; two keys of one client share."""
    number = phone()
    ok(api.post("/v1/dnc", {"phone": number}, key="shared"), 201)
    answer = other.post("/v1/dnc", {"phone": phone()}, key="shared")
    assert (answer.status_code, answer.headers.get("Idempotency-Replayed")) == (201, None)
    second = Api(sandbox.base_url, sandbox.console.create_key(sandbox.client_id))
    again = second.post("/v1/dnc", {"phone": number}, key="shared")
    assert again.headers["Idempotency-Replayed"] == "true"
    second.close()


def test_key_is_kept_24_hours(sandbox: Sandbox, api: Api) -> None:
    """By the sandbox's clock; afterwards the request is a new one."""
    body = {"phone": phone(), "reason": "first"}
    ok(api.post("/v1/dnc", body, key="old"), 201)
    sandbox.console.advance_clock(DAY_S - 60)
    assert api.post("/v1/dnc", body, key="old").headers["Idempotency-Replayed"] == "true"
    sandbox.console.advance_clock(120)
    assert "Idempotency-Replayed" not in api.post("/v1/dnc", body, key="old").headers
    refused(api.post("/v1/dnc", {"phone": phone()}, key="old"), 409, "idempotency_conflict")


def test_refusals_are_kept_too(sandbox: Sandbox, api: Api) -> None:
    """A 404 or 409 of a write is what the key answers, also when the state has changed."""
    made = sandbox.console.create_campaign(sandbox.client_id, "draft", status="draft")
    path = f"/v1/campaigns/{made['id']}/pause"
    first = api.post(path, key="early")
    refused(first, 409, "campaign_not_running")
    again = api.post(path, key="early")
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.content == first.content
    gone = "/v1/callbacks/cb_00000000-0000-4000-8000-000000000000/cancel"
    refused(api.post(gone, key="gone"), 404, "not_found")
    assert api.post(gone, key="gone").headers["Idempotency-Replayed"] == "true"


def test_429_and_503_are_not_kept(settings: Sandbox, api: Api, campaign: str) -> None:
    """The same key may be sent again, and then does its work."""
    path, body = _import(campaign)
    settings.console.update_account({"dnc_screen_available": False})
    for _ in range(2):
        answer = api.post(path, body, key="later")
        refused(answer, 503, "dnc_screen_unavailable")
        assert "Idempotency-Replayed" not in answer.headers
    settings.console.update_account({"dnc_screen_available": True, "daily_cap": 0})
    assert ok(api.post(path, body, key="later"))["summary"]["accepted"] == 1
    sms = {"to": phone(), "body": "hello", "client_reference": "capped"}
    refused(api.post("/v1/sms", sms, key="capped"), 429, "daily_cap_reached")
    settings.console.update_account({"daily_cap": None})
    ok(api.post("/v1/sms", sms, key="capped"), 202)


def test_patch_takes_a_key_or_none(sandbox: Sandbox, api: Api) -> None:
    """Without one it just happens, with one it behaves like any write."""
    (lead,) = sandbox.console.add_leads(sandbox.client_id, [{"phone": phone()}])
    path = f"/v1/leads/{lead}"
    assert ok(api.send("PATCH", path, {"full_name": "A"}))["full_name"] == "A"
    ok(api.send("PATCH", path, {"full_name": "B"}, key="patch"))
    ok(api.send("PATCH", path, {"full_name": "C"}))
    again = api.send("PATCH", path, {"full_name": "B"}, key="patch")
    assert again.headers["Idempotency-Replayed"] == "true"
    assert ok(api.get(path))["full_name"] == "C"
    answer = api.send("PATCH", path, {"full_name": "D"}, key="patch")
    refused(answer, 409, "idempotency_conflict")


def test_same_key_while_it_runs(settings: Sandbox, api: Api, campaign: str) -> None:
    """409 `conflict` with `Retry-After`, and the stored answer later; another request conflicts."""
    path, body = _import(campaign)
    settings.console.arm_fault("leads.import", delay_seconds=1)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(api.post, path, body, key="busy")
        time.sleep(0.3)
        refused_meanwhile = api.post(path, body, key="busy")
        refused(refused_meanwhile, 409, "conflict")
        assert int(refused_meanwhile.headers["Retry-After"]) >= 1
        refused(api.post(*_import(campaign), key="busy"), 409, "idempotency_conflict")
        first = slow.result()
    assert ok(first)["summary"]["accepted"] == 1
    again = api.post(path, body, key="busy")
    assert (again.content, again.headers["Idempotency-Replayed"]) == (first.content, "true")


def test_many_at_once_write_once(sandbox: Sandbox, campaign: str) -> None:
    """Of twenty with one key, one writes; the others get its answer or are told to wait."""
    path, body = _import(campaign)
    apis = [Api(sandbox.base_url, sandbox.api_key) for _ in range(8)]

    def send(turn: int) -> tuple[int, str | None, bytes]:
        answer = apis[turn % 8].post(path, body, key="crowd")
        return answer.status_code, answer.headers.get("Idempotency-Replayed"), answer.content

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(20)))
    fresh = [content for status, replayed, content in answers if status == 200 and not replayed]
    replayed = [content for status, mark, content in answers if status == 200 and mark]
    assert len(fresh) == 1
    assert set(replayed) <= set(fresh)
    assert {status for status, _, _ in answers} <= {200, 409}
    sent = body["leads"][0]["phone"]  # type: ignore[index]
    assert [row["phone"] for row in apis[0].walk("/v1/leads")].count(sent) == 1
    for api in apis:
        api.close()


def test_reading_uses_no_key(api: Api) -> None:
    """GET and the Do-Not-Call check ignore the header, and are never replayed."""
    for body in ({"phones": [phone()]}, {"phones": [phone()]}):
        answer = api.post("/v1/dnc/check", body, key="read")
        assert (answer.status_code, answer.headers.get("Idempotency-Replayed")) == (200, None)
    ok(api.send("POST", "/v1/dnc/check", {"phones": [phone()]}, headers={"Idempotency-Key": ""}))
    ok(api.send("GET", "/v1/me", key="x" * 300))


def test_secrets_are_not_replayed(sandbox: Sandbox, api: Api) -> None:
    """`secret` is null on the replay of a creation and of a rotation; all else is the same."""
    body = {"url": "https://93.184.216.34/x", "events": ["call.completed"]}
    first = ok(api.post("/v1/webhooks", body, key="hook"), 201)
    again = ok(api.post("/v1/webhooks", body, key="hook"), 201)
    assert first["secret"].startswith("whsec_")
    assert again == {**first, "secret": None}
    path = f"/v1/webhooks/{first['id']}/rotate-secret"
    rotated = ok(api.post(path, key="turn"))
    assert rotated["secret"] != first["secret"]
    assert ok(api.post(path, key="turn")) == {**rotated, "secret": None}
    assert len(api.walk("/v1/webhooks")) == 1


def test_if_match_is_part_of_the_request(sandbox: Sandbox, api: Api) -> None:
    """A refused 412 does not hide a later try on what was read since: it needs a new key."""
    (lead,) = sandbox.console.add_leads(sandbox.client_id, [{"phone": phone()}])
    path, body = f"/v1/leads/{lead}", {"email": "a@example.com"}
    stale = {"If-Match": '"stale"'}
    refused(api.send("PATCH", path, body, key="m", headers=stale), 412, "precondition_failed")
    tag = {"If-Match": api.get(path).headers["ETag"]}
    refused(api.send("PATCH", path, body, key="m", headers=tag), 409, "idempotency_conflict")
    ok(api.send("PATCH", path, body, key="m2", headers=tag))


def test_an_unknown_outcome_stays_until_it_is_reconciled(sandbox: Sandbox, api: Api) -> None:
    """Every retry answers 409, days later too; another request with the key is a conflict."""
    console, me = sandbox.console, sandbox.client_id
    campaign = console.create_campaign(me, "u", status="paused")["id"]
    body = {"campaign_id": campaign, "phone": phone()}
    console.arm_fault("leads.create", code="outcome_unknown")
    key = f"unknown/{uuid.uuid4()}"
    for _ in range(3):
        refused(api.post("/v1/leads", body, key=key), 409, "outcome_unknown")
    console.advance_clock(3 * 86_400)
    refused(api.post("/v1/leads", body, key=key), 409, "outcome_unknown")
    other = {**body, "phone": phone()}
    refused(api.post("/v1/leads", other, key=key), 409, "idempotency_conflict")
    assert api.walk("/v1/leads", campaign_id=campaign) == []


@pytest.mark.parametrize("outcome", ["done", "not_done"])
def test_reconciling_ends_an_unknown_outcome(
    sandbox: Sandbox, api: Api, outcome: Literal["done", "not_done"]
) -> None:
    """Done: the answer is replayed. Not done: the retry is the first request. One lead either way."""
    console, me = sandbox.console, sandbox.client_id
    campaign = console.create_campaign(me, "u", status="paused")["id"]
    body = {"campaign_id": campaign, "phone": phone()}
    console.arm_fault("leads.create", code="outcome_unknown")
    key = f"unknown/{uuid.uuid4()}"
    refused(api.post("/v1/leads", body, key=key), 409, "outcome_unknown")
    answer = console.reconcile(key, outcome)
    assert (answer["outcome"], answer["status"]) == (outcome, 200 if outcome == "done" else None)
    retried = api.post("/v1/leads", body, key=key)
    assert ok(retried)["status"] == "accepted"
    assert ("Idempotency-Replayed" in retried.headers) is (outcome == "done")
    assert len(api.walk("/v1/leads", campaign_id=campaign)) == 1
    with pytest.raises(ConfigError, match="unconfirmed"):
        console.reconcile(key, outcome)


def test_reconciling_over_http(sandbox: Sandbox, api: Api) -> None:
    """200 with the outcome, 404 for a key that nobody asks about, 422 for another word."""
    console, me = sandbox.console, sandbox.client_id
    campaign = console.create_campaign(me, "u", status="paused")["id"]
    console.arm_fault("leads.create", code="outcome_unknown")
    api.post("/v1/leads", {"campaign_id": campaign, "phone": phone()}, key="once")
    token = {"Authorization": f"Bearer {sandbox.console_token}"}

    def reconcile(key: str, outcome: str) -> int:
        path = f"/console/writes/{key}/reconcile"
        return api.http.post(path, json={"outcome": outcome}, headers=token).status_code

    assert reconcile("never", "done") == 404
    assert reconcile("once", "perhaps") == 422
    assert reconcile("once", "not_done") == 200
