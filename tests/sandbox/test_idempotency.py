"""Idempotency keys: required, replayed, refused, forgotten."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from sandbox.service_bench import (
    DAY_S,
    LONDON,
    OPERATIONS,
    PHONE,
    PUBLIC_URL,
    SOON,
    Console,
    Operation,
    Party,
    answered,
    common,
    eventually,
    fresh_key,
    invalid,
    named,
    problem,
)

WRITES = [op for op in OPERATIONS if op.write and op.name != "whatsapp.send"]
REPLAYED = "idempotency-replayed"


def add(party: Party, campaign: str, phone: str, key: str, **more: Any) -> httpx.Response:
    """Add one lead under a key."""
    return party.post("/v1/leads", {"campaign_id": campaign, "phone": phone}, idem=key, **more)


def replayed(response: httpx.Response) -> bool:
    return response.headers.get(REPLAYED) == "true"


def count(party: Party, phone: str) -> int:
    """How many leads have this phone."""
    return sum(lead["phone"] == phone for lead in party.walk("/v1/leads", limit="100"))


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
    """The stored answer comes back with Idempotency-Replayed: true, and nothing is done twice."""
    key, phone = fresh_key(), party.phone()
    first = add(party, campaign, phone, key)
    assert answered(first, 200)["status"] == "accepted"
    assert not replayed(first)
    for _ in range(2):
        again = add(party, campaign, phone, key)
        assert replayed(again)
        assert again.json() == first.json()
        assert again.status_code == first.status_code
    assert count(party, phone) == 1


@pytest.mark.parametrize("status", [201, 202])
def test_status_of_the_stored_answer_is_kept(party: Party, status: int) -> None:
    """A replayed 201 is a 201, with its ETag; a replayed 202 a 202."""
    if status == 201:
        path, body = "/v1/appointments", {"phone": PHONE, "scheduled_at": SOON}
    else:
        path = "/v1/sms"
        body = {"to": PHONE, "body": "Hello", "client_reference": fresh_key()}
    key = fresh_key()
    first = party.post(path, body, idem=key)
    again = party.post(path, body, idem=key)

    assert answered(first, status) == answered(again, status)
    assert replayed(again)
    assert first.headers.get("etag") == again.headers.get("etag")


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


def test_delete_is_replayed(party: Party) -> None:
    """A deletion repeated under its key is answered as the first time, not 404."""
    body = {"url": PUBLIC_URL, "events": ["call.completed"]}
    made = answered(party.post("/v1/webhooks", body), 201)
    key = fresh_key()
    first = party.delete(f"/v1/webhooks/{made['id']}", idem=key)
    again = party.delete(f"/v1/webhooks/{made['id']}", idem=key)

    assert first.is_success
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert replayed(again)


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


def test_other_spelling_of_the_same_json_is_the_same_request(party: Party) -> None:
    """Blanks and the order of names make no difference."""
    key, phone = fresh_key(), party.phone()
    first = party.post("/v1/dnc", {"phone": phone, "reason": "asked"}, idem=key)
    raw = f'{{ "reason":"asked",\n "phone":"{phone}" }}'.encode()
    again = party.post(
        "/v1/dnc", content=raw, headers={"Content-Type": "application/json"}, idem=key
    )
    assert (again.status_code, again.content) == (201, first.content)
    assert replayed(again)


def test_if_match_is_part_of_the_request(party: Party) -> None:
    """A refused 412 does not hide a later try on what was read since: it needs a new key."""
    path, body, key = f"/v1/leads/{party.lead()}", {"email": "a@example.com"}, fresh_key()
    stale, current = {"If-Match": '"stale"'}, {"If-Match": party.get(path).headers["ETag"]}
    problem(party.patch(path, body, idem=key, headers=stale), 412, "precondition_failed")
    problem(party.patch(path, body, idem=key, headers=current), 409, "idempotency_conflict")
    answered(party.patch(path, body, idem=fresh_key(), headers=current), 200)


def test_key_on_another_target_conflicts(party: Party) -> None:
    """The same empty body for another campaign is another request."""
    key = fresh_key()
    one, two = party.campaign("running"), party.campaign("running")
    answered(party.post(f"/v1/campaigns/{one}/pause", idem=key), 200)

    problem(party.post(f"/v1/campaigns/{two}/pause", idem=key), 409, "idempotency_conflict")
    assert answered(party.get(f"/v1/campaigns/{two}"), 200)["status"] == "running"


def test_key_is_the_clients_own(console: Console, party: Party, other: Party) -> None:
    """Two clients may use one key; two keys of one client share its idempotency keys."""
    key, phone = fresh_key(), party.phone()
    mine, theirs = party.campaign("paused"), other.campaign("paused")
    first = answered(add(party, mine, phone, key), 200)
    response = add(other, theirs, phone, key)
    assert not replayed(response)
    assert answered(response, 200)["status"] == "accepted"
    again = add(console.further_key(party), mine, phone, key)
    assert replayed(again)
    assert again.json() == first


def test_key_is_kept_24_hours(console: Console, party: Party, campaign: str) -> None:
    """A minute before 24 hours the answer is replayed; a minute after, the request is new."""
    key, phone = fresh_key(), party.phone()
    answered(add(party, campaign, phone, key), 200)
    console.advance(DAY_S - 60)
    assert replayed(add(party, campaign, phone, key))
    console.advance(120)
    late = add(party, campaign, phone, key)

    assert not replayed(late)
    assert answered(late, 200)["status"] == "duplicate"


def test_refusal_is_a_stored_answer_too(party: Party) -> None:
    """A refusal that came from the account's state is replayed, although the state has changed."""
    phone, key = party.phone(), fresh_key()
    body = {"to": phone, "body": "Hello", "client_reference": fresh_key()}
    party.on_dnc(phone)
    first = problem(party.post("/v1/sms", body, idem=key), 422, "on_dnc")
    party.console("DELETE", f"/dnc/{phone}", status=204)
    again = party.post("/v1/sms", body, idem=key)

    assert problem(again, 422, "on_dnc")["detail"] == first["detail"]
    assert replayed(again)
    answered(party.post("/v1/sms", body), 202)


def test_refusal_of_a_state_or_of_what_is_gone_is_stored_too(party: Party) -> None:
    """A 409 or 404 of a write is what its key answers, byte for byte."""
    gone = "/v1/callbacks/cb_00000000-0000-4000-8000-000000000000/cancel"
    draft = f"/v1/campaigns/{party.campaign('draft')}/pause"
    for path, status, code in ((draft, 409, "campaign_not_running"), (gone, 404, "not_found")):
        key = fresh_key()
        first, again = (party.post(path, idem=key) for _ in range(2))
        problem(first, status, code)
        assert again.content == first.content
        assert replayed(again)


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
    response = add(party, campaign, phone, key)

    assert not replayed(response)
    assert answered(response, 200)["status"] == "accepted"


def test_cap_refusal_is_not_stored(console: Console, party: Party) -> None:
    """429 daily_cap_reached leaves the key free for the day when it can be done."""
    key = fresh_key()
    body = {"to": party.phone(), "body": "Hello", "client_reference": fresh_key()}
    with console.settings(daily_cap=0):
        problem(party.post("/v1/sms", body, idem=key), 429, "daily_cap_reached")
    response = party.post("/v1/sms", body, idem=key)

    answered(response, 202)
    assert not replayed(response)


def test_screen_outage_writes_nothing_and_may_be_retried(
    console: Console, party: Party, campaign: str
) -> None:
    """503 dnc_screen_unavailable refuses the whole import; the same key then does it."""
    key, phones = fresh_key(), [party.phone(), party.phone()]
    body = {"leads": [{"phone": phone} for phone in phones]}
    params = {"campaign_id": campaign}
    with console.settings(dnc_screen_available=False):
        response = party.post("/v1/leads/import", body, params=params, idem=key)
        problem(response, 503, "dnc_screen_unavailable")
    assert [count(party, phone) for phone in phones] == [0, 0]
    response = party.post("/v1/leads/import", body, params=params, idem=key)
    assert answered(response, 200)["summary"]["accepted"] == 2
    assert not replayed(response)


def test_second_request_while_the_first_runs_conflicts(
    console: Console, party: Party, campaign: str
) -> None:
    """409 conflict with Retry-After while the first runs; afterwards its stored answer."""
    key, phone, answers = fresh_key(), party.phone(), []
    with console.fault("leads.create", delay_seconds=0.5):
        first = threading.Thread(target=lambda: answers.append(add(party, campaign, phone, key)))
        first.start()
        threading.Event().wait(0.2)
        meanwhile = add(party, campaign, phone, key)
        first.join()
    problem(meanwhile, 409, "conflict")
    assert meanwhile.headers["retry-after"].isdigit()
    assert answered(answers[0], 200)["status"] == "accepted"
    again = add(party, campaign, phone, key)
    assert replayed(again)
    assert again.json() == answers[0].json()


def test_slow_write_does_not_hold_up_others(console: Console, party: Party, campaign: str) -> None:
    """While one write is slow, another client's read and write are answered."""
    answers: list[httpx.Response] = []
    with console.fault("leads.create", delay_seconds=0.5):
        slow = threading.Thread(
            target=lambda: answers.append(add(party, campaign, party.phone(), fresh_key()))
        )
        slow.start()
        threading.Event().wait(0.1)
        answered(party.get("/v1/leads"), 200)
        answered(add(party, campaign, party.phone(), fresh_key()), 200)
        assert not answers
        slow.join()
    answered(answers[0], 200)


@pytest.mark.parametrize("drop", ["before", "during", "after-commit"])
def test_cut_connection_is_made_good_by_the_same_key(
    console: Console, party: Party, campaign: str, drop: str
) -> None:
    """However the connection broke, the same key leads to exactly one lead."""
    key, phone = fresh_key(), party.phone()
    with (
        console.fault("leads.create", drop=drop),
        pytest.raises(httpx.TransportError),
    ):
        add(party, campaign, phone, key)
    if drop == "before":
        assert count(party, phone) == 0
    if drop == "after-commit":
        assert count(party, phone) == 1
    again = add(party, campaign, phone, key)
    assert answered(again, 200)["status"] == "accepted"
    if drop != "during":
        assert replayed(again) == (drop == "after-commit")
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
    retried = add(party, campaign, phone, key)
    assert answered(retried, 200)["status"] == "accepted"
    assert replayed(retried) is (outcome == "done")
    assert count(party, phone) == 1
    assert console.call("POST", path, {"outcome": outcome}).status_code == 404


def test_signing_secret_is_null_on_a_replay(party: Party) -> None:
    """The secret is shown once: a replayed create or rotation has null in its place."""
    body = {"url": PUBLIC_URL, "events": ["call.completed"]}
    key = fresh_key()
    first = answered(party.post("/v1/webhooks", body, idem=key), 201)
    again = party.post("/v1/webhooks", body, idem=key)
    assert first["secret"].startswith("whsec_")
    assert replayed(again)
    assert answered(again, 201) == {**first, "secret": None}
    path, key = f"/v1/webhooks/{first['id']}/rotate-secret", fresh_key()
    turned = answered(party.post(path, idem=key), 200)
    again = party.post(path, idem=key)
    assert turned["secret"] not in (None, first["secret"])
    assert replayed(again)
    assert answered(again, 200) == {**turned, "secret": None}
    answered(party.delete(f"/v1/webhooks/{first['id']}"))


def test_many_at_once_under_one_key_write_once(party: Party, campaign: str) -> None:
    """Eight threads under one key: one lead, and each answer is the first's or a conflict."""
    key, phone = fresh_key(), party.phone()
    answers: list[httpx.Response] = []
    threads = [
        threading.Thread(target=lambda: answers.append(add(party, campaign, phone, key)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    for response in answers:
        if common(response).status_code == 409:
            problem(response, 409, "conflict")
        else:
            assert answered(response, 200)["status"] == "accepted"
    assert sum(not replayed(r) and r.is_success for r in answers) == 1
    assert count(party, phone) == 1
