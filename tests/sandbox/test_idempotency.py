"""Idempotency keys: required, replayed, refused, forgotten."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from sandbox.service_bench import (
    CALLBACK,
    DAY_S,
    LONDON,
    OPERATIONS,
    PHONE,
    PUBLIC_URL,
    SOON,
    Console,
    Json,
    Operation,
    Party,
    answered,
    at_once,
    eventually,
    fresh_key,
    invalid,
    named,
    problem,
)

WRITES = [op for op in OPERATIONS if op.write and op.name != "whatsapp.send"]


def add(party: Party, campaign: str, phone: str, key: str, **more: Any) -> httpx.Response:
    """Add one lead under a key."""
    return party.post("/v1/leads", {"campaign_id": campaign, "phone": phone}, idem=key, **more)


def replayed(response: httpx.Response) -> bool:
    return response.headers.get("idempotency-replayed") == "true"


def accepted(response: httpx.Response, *, again: bool = False) -> None:
    """A lead that was added, now or when the key first came."""
    assert answered(response, 200)["status"] == "accepted"
    assert replayed(response) is again


def twice(
    send: Callable[[], httpx.Response], status: int
) -> tuple[httpx.Response, httpx.Response]:
    """The answers to a request that is sent twice under its key: the second comes from the store."""
    first, again = send(), send()
    assert (first.status_code, again.status_code) == (status, status), first.text
    assert (replayed(first), replayed(again)) == (False, True)
    assert first.headers.get("etag") == again.headers.get("etag")
    return first, again


def count(party: Party, phone: str) -> int:
    """How many leads have this phone."""
    return sum(lead["phone"] == phone for lead in party.walk("/v1/leads", limit="100"))


def text(phone: str = PHONE) -> Json:
    """A message that nobody sent before."""
    return {"to": phone, "body": "Hello", "client_reference": fresh_key()}


@pytest.mark.parametrize("operation", WRITES, ids=named)
def test_write_needs_a_key(party: Party, operation: Operation) -> None:
    """Every POST and DELETE that changes data answers 400 without the header."""
    problem(party.run(operation.name, idem=None), 400, "idempotency_key_required")


def test_read_only_check_needs_no_key_and_ignores_one(party: Party) -> None:
    """POST /v1/dnc/check is read-only: it takes no key, and one that comes binds nothing."""
    key = fresh_key()
    for phone in (PHONE, LONDON):
        for idem in (None, key):
            response = party.post("/v1/dnc/check", {"phones": [phone]}, idem=idem)
            assert answered(response, 200)["data"][0]["phone"] == phone
            assert not replayed(response)


def test_reads_ignore_a_key(party: Party, campaign: str) -> None:
    """GET does not use the key: each answer is read afresh."""
    key = fresh_key()
    before = answered(party.get("/v1/leads", idem=key), 200)
    answered(add(party, campaign, party.phone(), fresh_key()), 200)
    after = party.get("/v1/leads", idem=key)

    assert not replayed(after)
    assert after.json() != before


def test_key_has_1_to_255_characters(party: Party, campaign: str) -> None:
    """255 characters are taken, 256 are refused, none at all are none."""
    answered(add(party, campaign, party.phone(), "k" * 255), 200)
    invalid(add(party, campaign, party.phone(), "k" * 256))
    problem(add(party, campaign, party.phone(), ""), 400, "idempotency_key_required")


def test_same_request_is_answered_from_the_store(party: Party, campaign: str) -> None:
    """The stored answer comes back, byte for byte, as often as it is asked for; nothing is done twice."""
    hook = {"url": PUBLIC_URL, "events": ["call.completed"]}
    made = answered(party.post("/v1/webhooks", hook), 201)["id"]
    phone = party.phone()
    requests: list[tuple[int, str, str, Json | None]] = [
        (200, "POST", "/v1/leads", {"campaign_id": campaign, "phone": phone}),
        (201, "POST", "/v1/appointments", {"phone": PHONE, "scheduled_at": SOON}),
        (202, "POST", "/v1/sms", text()),
        (204, "DELETE", f"/v1/webhooks/{made}", None),
        # So does a refusal that came from a state, or from what is gone.
        (409, "POST", f"/v1/campaigns/{party.campaign('draft')}/pause", None),
        (404, "POST", f"/v1/callbacks/{CALLBACK}/cancel", None),
    ]
    for status, method, path, body in requests:
        key = fresh_key()
        first, again = twice(
            lambda m=method, p=path, b=body, k=key: party.send(m, p, b, idem=k), status
        )
        third = party.send(method, path, body, idem=key)
        assert first.content == again.content == third.content
    assert count(party, phone) == 1


def test_patch_takes_a_key_and_then_behaves_alike(party: Party) -> None:
    """PATCH without a key acts each time; with one it is stored, replayed and bound."""
    lead, key = party.lead(), fresh_key()
    path = f"/v1/leads/{lead}"
    answered(party.patch(path, {"full_name": "One"}), 200)
    first = answered(party.patch(path, {"full_name": "Two"}, idem=key), 200)
    answered(party.patch(path, {"full_name": "Three"}), 200)
    again = party.patch(path, {"full_name": "Two"}, idem=key)

    assert replayed(again)
    assert again.json() == first
    problem(party.patch(path, {"full_name": "Four"}, idem=key), 409, "idempotency_conflict")
    assert answered(party.get(path), 200)["full_name"] == "Three"


def test_other_request_under_the_key_conflicts(party: Party, campaign: str) -> None:
    """Another body, another query or another operation under the key answers 409."""
    key, phone = fresh_key(), party.phone()
    answered(add(party, campaign, phone, key), 200)
    problem(add(party, campaign, party.phone(), key), 409, "idempotency_conflict")
    sms = {"to": PHONE, "body": "Hello", "client_reference": fresh_key()}
    problem(party.post("/v1/sms", sms, idem=key), 409, "idempotency_conflict")
    problem(party.post("/v1/leads", {"nonsense": 1}, idem=key), 409, "idempotency_conflict")
    assert replayed(add(party, campaign, phone, key))
    imported, key = {"leads": [{"phone": party.phone()}]}, fresh_key()
    elsewhere = party.campaign("paused")
    path = "/v1/leads/import"
    answered(party.post(path, imported, params={"campaign_id": campaign}, idem=key), 200)
    response = party.post(path, imported, params={"campaign_id": elsewhere}, idem=key)
    problem(response, 409, "idempotency_conflict")
    problem(add(party, campaign, phone, key), 409, "idempotency_conflict")
    # The same empty body for another campaign is another request.
    key, (one, two) = fresh_key(), (party.campaign("running") for _ in range(2))
    answered(party.post(f"/v1/campaigns/{one}/pause", idem=key), 200)
    problem(party.post(f"/v1/campaigns/{two}/pause", idem=key), 409, "idempotency_conflict")
    assert answered(party.get(f"/v1/campaigns/{two}"), 200)["status"] == "running"


def test_other_spelling_of_the_same_json_is_the_same_request(party: Party) -> None:
    """Blanks and the order of names make no difference."""
    key, phone = fresh_key(), party.phone()
    first = party.post("/v1/dnc", {"phone": phone, "reason": "asked"}, idem=key)
    raw = f'{{ "reason":"asked",\n "phone":"{phone}" }}'.encode()
    headers = {"Content-Type": "application/json"}
    again = party.post("/v1/dnc", content=raw, headers=headers, idem=key)
    assert (again.status_code, again.content, replayed(again)) == (201, first.content, True)


def test_if_match_is_part_of_the_request(party: Party) -> None:
    """A refused 412 does not hide a later try on what was read since: it needs a new key."""
    path, body, key = f"/v1/leads/{party.lead()}", {"email": "a@example.com"}, fresh_key()
    stale, current = {"If-Match": '"stale"'}, {"If-Match": party.get(path).headers["ETag"]}
    problem(party.patch(path, body, idem=key, headers=stale), 412, "precondition_failed")
    problem(party.patch(path, body, idem=key, headers=current), 409, "idempotency_conflict")
    answered(party.patch(path, body, idem=fresh_key(), headers=current), 200)


def test_key_is_the_clients_own(console: Console, party: Party, other: Party) -> None:
    """Two clients may use one key; two keys of one client share its idempotency keys."""
    key, phone, mine = fresh_key(), party.phone(), party.campaign("paused")
    accepted(add(party, mine, phone, key))
    accepted(add(other, other.campaign("paused"), phone, key))
    accepted(add(console.further_key(party), mine, phone, key), again=True)


def test_key_is_kept_24_hours(console: Console, party: Party, campaign: str) -> None:
    """A minute before 24 hours the answer is replayed; a minute after, the request is new."""
    key, phone = fresh_key(), party.phone()
    accepted(add(party, campaign, phone, key))
    console.advance(DAY_S - 60)
    accepted(add(party, campaign, phone, key), again=True)
    console.advance(120)
    late = add(party, campaign, phone, key)
    assert (answered(late, 200)["status"], replayed(late)) == ("duplicate", False)


def test_refusal_is_a_stored_answer_too(party: Party) -> None:
    """A refusal that came from the account's state is replayed, although the state has changed."""
    phone, key = party.phone(), fresh_key()
    body = text(phone)
    party.on_dnc(phone)
    first = problem(party.post("/v1/sms", body, idem=key), 422, "on_dnc")
    party.console("DELETE", f"/dnc/{phone}", status=204)
    again = party.post("/v1/sms", body, idem=key)
    assert (again.json(), replayed(again)) == (first, True)
    answered(party.post("/v1/sms", body), 202)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (429, "rate_limit_exceeded"),
        (503, "temporarily_unavailable"),
        (503, "upstream_unavailable"),
    ],
)
def test_busy_answers_are_not_stored(
    console: Console, party: Party, campaign: str, status: int, code: str
) -> None:
    """After 429 and 503 the same key does the work."""
    key, phone = fresh_key(), party.phone()
    with console.fault("leads.create", status=status, code=code):
        problem(add(party, campaign, phone, key), status, code)
    accepted(add(party, campaign, phone, key))


def test_second_request_while_the_first_runs_conflicts(
    console: Console, party: Party, campaign: str
) -> None:
    """409 conflict with Retry-After while the first runs, and others are answered; then its stored answer."""
    key, phone = fresh_key(), party.phone()
    answers: list[httpx.Response] = []
    with console.fault("leads.create", delay_seconds=0.5):
        first = threading.Thread(
            target=lambda: answers.append(add(party, campaign, phone, key)), daemon=True
        )
        first.start()
        threading.Event().wait(0.2)
        meanwhile = add(party, campaign, phone, key)
        answered(party.get("/v1/leads"), 200)
        accepted(add(party, campaign, party.phone(), fresh_key()))
        assert not answers
        first.join(60)
    problem(meanwhile, 409, "conflict")
    assert meanwhile.headers["retry-after"].isdigit()
    accepted(answers[0])
    again = add(party, campaign, phone, key)
    accepted(again, again=True)
    assert again.content == answers[0].content


@pytest.mark.parametrize(
    "fault",
    [
        *({"drop": drop} for drop in ("before", "during", "after-commit")),
        {"status": 500},
        {"body": "<html>"},
    ],
)
def test_failed_write_is_made_good_by_the_same_key(
    console: Console, party: Party, campaign: str, fault: Json
) -> None:
    """However it failed or the connection broke, the same key leads to exactly one lead."""
    key, phone = fresh_key(), party.phone()
    body, done = {"campaign_id": campaign, "phone": phone}, fault.get("drop") == "after-commit"
    with console.fault("leads.create", **fault):
        try:
            # As it comes: what a fault makes of an answer need not be the contract's.
            headers = {"Authorization": f"Bearer {party.key}", "Idempotency-Key": key}
            url = party.service.base_url + "/v1/leads"
            answer = party.http.post(url, json=body, headers=headers)
            assert (answer.status_code, "drop" in fault) == (fault.get("status", 200), False)
        except httpx.TransportError:
            assert "drop" in fault
    assert count(party, phone) == done
    accepted(add(party, campaign, phone, key), again=done)
    assert count(party, phone) == 1


def test_caller_who_gave_up_finds_the_answer(
    console: Console, party: Party, campaign: str
) -> None:
    """A caller that hangs up during a slow write gets its answer under the same key, once done."""
    key, phone = fresh_key(), party.phone()
    with console.fault("leads.create", delay_seconds=0.4):
        with pytest.raises(httpx.TimeoutException):
            add(party, campaign, phone, key, timeout=0.15)
        again = eventually(lambda: settled(add(party, campaign, phone, key)))
    assert answered(again, 200)["status"] == "accepted"
    assert count(party, phone) == 1


def settled(response: httpx.Response) -> httpx.Response | None:
    """The answer, unless the first request still runs."""
    if response.status_code == 409:
        problem(response, 409, "conflict")
        return None
    return response


def test_an_unknown_outcome_stays_until_it_is_reconciled(console: Console, party: Party) -> None:
    """Every retry answers 409, days later too; another request with the key is a conflict."""
    key, phone, campaign = fresh_key(), party.phone(), party.campaign("paused")
    with console.fault("leads.create", code="outcome_unknown"):
        for _ in range(3):
            problem(add(party, campaign, phone, key), 409, "outcome_unknown")
    console.advance(3 * DAY_S)
    problem(add(party, campaign, phone, key), 409, "outcome_unknown")
    problem(add(party, campaign, party.phone(), key), 409, "idempotency_conflict")
    assert count(party, phone) == 0


@pytest.mark.parametrize("outcome", ["done", "not_done"])
def test_reconciling_ends_an_unknown_outcome(
    console: Console, party: Party, campaign: str, outcome: str
) -> None:
    """Done: the answer is replayed. Not done: the retry is the first request. One lead either way."""
    key, phone = fresh_key(), party.phone()
    with console.fault("leads.create", code="outcome_unknown"):
        problem(add(party, campaign, phone, key), 409, "outcome_unknown")
    path = f"/writes/{key}/reconcile"
    assert console.call("POST", path, {"outcome": "perhaps"}).status_code == 422
    assert console.call("POST", "/writes/never/reconcile", {"outcome": outcome}).status_code == 404
    answer = console.do("POST", path, {"outcome": outcome}, status=200)
    assert (answer["outcome"], answer["status"]) == (outcome, 200 if outcome == "done" else None)
    accepted(add(party, campaign, phone, key), again=outcome == "done")
    assert count(party, phone) == 1
    assert console.call("POST", path, {"outcome": outcome}).status_code == 404


def test_signing_secret_is_null_on_a_replay(party: Party) -> None:
    """The secret is shown once: a replayed create or rotation has null in its place."""
    body = {"url": PUBLIC_URL, "events": ["call.completed"]}
    keys, secrets, path = (fresh_key(), fresh_key()), [], "/v1/webhooks"
    for key, status in zip(keys, (201, 200), strict=True):
        first, again = twice(lambda p=path, b=body, k=key: party.post(p, b, idem=k), status)
        secrets.append(first.json()["secret"])
        assert secrets[-1].startswith("whsec_")
        assert again.json() == {**first.json(), "secret": None}
        if status == 201:
            made = f"/v1/webhooks/{first.json()['id']}"
            path, body = f"{made}/rotate-secret", {}
    assert secrets[0] != secrets[1]
    answered(party.delete(made))


def test_many_at_once_under_one_key_write_once(party: Party, campaign: str) -> None:
    """Eight threads under one key: one lead, and each answer is the first's or a conflict."""
    key, phone = fresh_key(), party.phone()
    answers = at_once(lambda n: add(party, campaign, phone, key))
    for response in answers:
        if response.status_code == 409:
            problem(response, 409, "conflict")
        else:
            assert answered(response, 200)["status"] == "accepted"
    assert sum(not replayed(r) and r.is_success for r in answers) == 1
    assert count(party, phone) == 1
