"""Requests that meet: whatever may happen once happens once."""

from __future__ import annotations

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


def test_agent_is_held_for_one_call(party: Party) -> None:
    """Of calls for one agent at the same time one is placed, the others find it held."""
    party.caller_id()
    agent, numbers = party.agent(), [party.phone() for _ in range(8)]
    answers = at_once(
        lambda n: party.post("/v1/calls", {"to": numbers[n], "agent_extension": agent})
    )
    placed = [answer for answer in answers if answer.is_success]

    assert len(placed) == 1
    for answer in answers:
        if answer is not placed[0]:
            problem(answer, 409, "agent_unavailable")
    assert len([entry for entry in party.outbox("call") if entry["to"] in numbers]) == 1


def test_reference_is_used_for_one_message(party: Party) -> None:
    """Of messages under one client_reference at the same time one is sent."""
    number, reference = party.phone(), fresh_key()
    body = {"to": number, "body": "Hello", "client_reference": reference}
    answers = at_once(lambda n: party.post("/v1/sms", body))

    assert sum(answer.is_success for answer in answers) == 1
    for answer in answers:
        if not answer.is_success:
            problem(answer, 409, "duplicate_client_reference")
    assert [entry["to"] for entry in party.outbox("sms")].count(number) == 1


def test_lead_is_stored_once(party: Party) -> None:
    """Of leads with one phone at the same time one is accepted, the others are duplicates."""
    body = {"campaign_id": party.campaign("paused"), "phone": party.phone()}
    answers = at_once(lambda n: party.post("/v1/leads", body))

    seen = sorted(answered(answer, 200)["status"] for answer in answers)
    assert seen == ["accepted", *["duplicate"] * 7]
    assert len(party.walk("/v1/leads", campaign_id=body["campaign_id"])) == 1


def test_endpoints_stay_within_their_limit(party: Party) -> None:
    """Of fourteen endpoints made at the same time ten are there."""
    body = {"url": PUBLIC_URL, "events": ["call.completed"]}
    answers = at_once(lambda n: party.post("/v1/webhooks", body), 14)
    made = [answer.json()["id"] for answer in answers if answer.is_success]
    for answer in answers:
        if not answer.is_success:
            problem(answer, 409, "webhook_limit_reached")
    assert len(made) == 10
    assert {each["id"] for each in party.walk("/v1/webhooks")} == {*made}
    for each in made:
        answered(party.delete(f"/v1/webhooks/{each}"))


def test_daily_cap_holds_under_pressure(console: Console, party: Party) -> None:
    """With three left of the day, three of eight messages go."""
    console.to_next_day()
    with console.settings(daily_cap=3):
        answers = at_once(
            lambda n: party.post(
                "/v1/sms", {"to": PHONE, "body": "Hello", "client_reference": fresh_key()}
            )
        )
    assert sum(answer.is_success for answer in answers) == 3
    for answer in answers:
        if not answer.is_success:
            problem(answer, 429, "daily_cap_reached")


def test_event_is_replayed_five_times_under_pressure(console: Console, party: Party) -> None:
    """Of eight replays at the same time five go."""
    console.to_next_day()
    path = f"/v1/webhook-events/{party.event()}/replay"
    answers = at_once(lambda n: party.post(path))

    assert sorted(answer.status_code for answer in answers) == [*[202] * 5, *[429] * 3]


def test_changes_of_one_lead_are_guarded(party: Party) -> None:
    """Of changes that all matched the same ETag one is made."""
    path = f"/v1/leads/{party.lead()}"
    etag = party.get(path).headers["etag"]
    answers = at_once(
        lambda n: party.patch(path, {"full_name": f"name {n}"}, headers={"If-Match": etag})
    )

    assert sorted(answer.status_code for answer in answers) == [200, *[412] * 7]


def test_callback_is_cancelled_or_moved(party: Party) -> None:
    """Cancelling and moving at the same time leave one consistent callback."""
    body = {"lead_id": party.lead(), "scheduled_at": SOON}
    made = answered(party.post("/v1/callbacks", body), 201)
    path = f"/v1/callbacks/{made['id']}"
    answers = at_once(
        lambda n: (
            party.post(f"{path}/reschedule", {"scheduled_at": SOON})
            if n % 2
            else party.post(f"{path}/cancel")
        )
    )
    callbacks = party.walk("/v1/callbacks", campaign_id=made["campaign_id"])

    assert [each["status"] for each in callbacks] == ["cancelled"]
    for answer in answers:
        if not answer.is_success:
            problem(answer, 409, "callback_not_pending")
