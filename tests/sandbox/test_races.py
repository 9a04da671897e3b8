"""Requests that meet: whatever may happen once happens once."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from sandbox.service_bench import (
    PHONE,
    PUBLIC_URL,
    SOON,
    Console,
    Party,
    answered,
    at_once,
    fresh_key,
    problem,
)


def winners(
    count: int, status: int, code: str, act: Callable[[int], httpx.Response], of: int = 8
) -> list[httpx.Response]:
    """The answers to those that went, of requests at the same time; all others are refused alike."""
    answers = at_once(act, of)
    for answer in answers:
        if not answer.is_success:
            problem(answer, status, code)
    gone = [answer for answer in answers if answer.is_success]
    assert len(gone) == count
    return gone


def test_agent_is_held_for_one_call(party: Party) -> None:
    """Of calls for one agent one is placed, the others find it held."""
    party.caller_id()
    agent, numbers = party.agent(), [party.phone() for _ in range(8)]

    def call(n: int) -> httpx.Response:
        return party.post("/v1/calls", {"to": numbers[n], "agent_extension": agent})

    winners(1, 409, "agent_unavailable", call)
    assert len([entry for entry in party.outbox("call") if entry["to"] in numbers]) == 1


def test_reference_is_used_for_one_message(party: Party) -> None:
    """Of messages under one client_reference one is sent."""
    body = {"to": party.phone(), "body": "Hello", "client_reference": fresh_key()}
    winners(1, 409, "duplicate_client_reference", lambda n: party.post("/v1/sms", body))
    assert [entry["to"] for entry in party.outbox("sms")].count(body["to"]) == 1


def test_lead_is_stored_once(party: Party) -> None:
    """Of leads with one phone one is accepted, the others are duplicates."""
    body = {"campaign_id": party.campaign("paused"), "phone": party.phone()}
    answers = at_once(lambda n: party.post("/v1/leads", body))

    seen = sorted(answered(answer, 200)["status"] for answer in answers)
    assert seen == ["accepted", *["duplicate"] * 7]
    assert len(party.walk("/v1/leads", campaign_id=body["campaign_id"])) == 1


def test_endpoints_stay_within_their_limit(client: Party) -> None:
    """Of fourteen endpoints ten are there."""
    body = {"url": PUBLIC_URL, "events": ["call.completed"]}
    limit = "webhook_limit_reached"
    made = winners(10, 409, limit, lambda n: client.post("/v1/webhooks", body), of=14)
    ids = {answer.json()["id"] for answer in made}
    assert {each["id"] for each in client.walk("/v1/webhooks")} == ids


def test_daily_cap_holds_under_pressure(console: Console, party: Party) -> None:
    """With three left of the day, three of eight messages go."""
    console.to_next_day()

    def text(n: int) -> httpx.Response:
        body = {"to": PHONE, "body": "Hello", "client_reference": fresh_key()}
        return party.post("/v1/sms", body)

    with console.settings(daily_cap=3):
        winners(3, 429, "daily_cap_reached", text)


def test_event_is_replayed_five_times_under_pressure(console: Console, party: Party) -> None:
    """Of eight replays five go."""
    console.to_next_day()
    path = f"/v1/webhook-events/{party.event()}/replay"
    winners(5, 429, "replay_limit_reached", lambda n: party.post(path))


def test_changes_of_one_lead_are_guarded(party: Party) -> None:
    """Of changes that all matched the same ETag one is made."""
    path = f"/v1/leads/{party.lead()}"
    read = {"If-Match": party.get(path).headers["etag"]}

    def change(n: int) -> httpx.Response:
        return party.patch(path, {"full_name": f"name {n}"}, headers=read)

    winners(1, 412, "precondition_failed", change)


def test_callback_is_cancelled_or_moved(party: Party) -> None:
    """Cancelling and moving leave one consistent callback."""
    body = {"lead_id": party.lead(), "scheduled_at": SOON}
    made = answered(party.post("/v1/callbacks", body), 201)
    path = f"/v1/callbacks/{made['id']}"

    def act(n: int) -> httpx.Response:
        if n % 2:
            return party.post(f"{path}/reschedule", {"scheduled_at": SOON})
        return party.post(f"{path}/cancel")

    answers = at_once(act)
    callbacks = party.walk("/v1/callbacks", campaign_id=made["campaign_id"])
    assert [each["status"] for each in callbacks] == ["cancelled"]
    for answer in answers:
        if not answer.is_success:
            problem(answer, 409, "callback_not_pending")
