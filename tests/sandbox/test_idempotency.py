"""Idempotency (contract, Conventions: Idempotency)."""

from __future__ import annotations

import uuid
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
