"""Callbacks and appointments: their rules and their transition tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sandbox.service_bench import (
    CAMPAIGN,
    LONDON,
    PHONE,
    SOON,
    Console,
    Json,
    Party,
    answered,
    eventually,
    iso,
    moment,
    problem,
    shaped,
)

LATER = "2031-04-02T09:30:00Z"


# --- callbacks --------------------------------------------------------------------------------


def call_back(party: Party, campaign: str, **more: Any) -> Json:
    """Schedule a callback of a new lead."""
    lead = more.pop("lead_id", None) or party.lead(campaign)
    body = {"lead_id": lead, "scheduled_at": SOON, **more}
    return shaped("callback", answered(party.post("/v1/callbacks", body), 201))


def callback_of(party: Party, made: Json) -> Json:
    callbacks = party.walk("/v1/callbacks", campaign_id=made["campaign_id"])
    return next(each for each in callbacks if each["id"] == made["id"])


def moved(party: Party, made: Json, status: str) -> None:
    """Put a callback into a state that the API cannot reach."""
    party.console("PUT", f"/callbacks/{made['id']}", {"status": status}, status=200)


def test_callback_is_scheduled(party: Party, campaign: str) -> None:
    """201, pending, with lead, campaign, time and notes."""
    lead = party.lead(campaign)
    made = call_back(party, campaign, lead_id=lead, notes="n" * 500)

    assert (made["status"], made["lead_id"], made["campaign_id"]) == ("pending", lead, campaign)
    assert moment(made["scheduled_at"]) == moment(SOON)
    assert made["notes"] == "n" * 500
    assert callback_of(party, made) == made
    assert call_back(party, campaign)["notes"] is None


def test_callback_of_a_listed_lead_is_refused(party: Party, campaign: str) -> None:
    """A lead on the Do-Not-Call list answers 422 on_dnc."""
    number = party.phone()
    lead = party.lead(campaign, phone=number)
    party.on_dnc(number)

    problem(party.post("/v1/callbacks", {"lead_id": lead, "scheduled_at": SOON}), 422, "on_dnc")


def test_due_callback_calls_the_lead(console: Console, party: Party, campaign: str) -> None:
    """When it is due the platform calls the lead; a cancelled or moved one waits or is gone."""
    soon = iso(console.now() + timedelta(minutes=10))
    far = iso(console.now() + timedelta(minutes=30))
    numbers = [party.phone() for _ in range(3)]
    due, cancelled, moved_on = (
        call_back(party, campaign, lead_id=party.lead(campaign, phone=number), scheduled_at=soon)
        for number in numbers
    )
    answered(party.post(f"/v1/callbacks/{cancelled['id']}/cancel"), 200)
    path = f"/v1/callbacks/{moved_on['id']}/reschedule"
    answered(party.post(path, {"scheduled_at": far}), 200)

    def called() -> list[str]:
        called = [entry["to"] for entry in party.outbox("callback")]
        return [number for number in called if number in numbers]

    console.advance(540)
    assert called() == []
    console.advance(120)
    assert eventually(called) == [numbers[0]]
    console.advance(1_200)
    assert eventually(lambda: called() if len(called()) > 1 else None) == [numbers[0], numbers[2]]
    assert due["status"] == "pending"


def test_filters_of_callbacks_hold(party: Party) -> None:
    """Status keeps what it names; an unknown campaign yields an empty page."""
    campaign = party.campaign("paused")
    pending, cancelled, completed = (call_back(party, campaign) for _ in range(3))
    answered(party.post(f"/v1/callbacks/{cancelled['id']}/cancel"), 200)
    moved(party, completed, "completed")
    for made, status in (
        (pending, "pending"),
        (cancelled, "cancelled"),
        (completed, "completed"),
    ):
        callbacks = party.walk("/v1/callbacks", campaign_id=campaign, status=status)
        assert [each["id"] for each in callbacks] == [made["id"]]
    assert party.walk("/v1/callbacks", campaign_id=CAMPAIGN) == []


# --- appointments -----------------------------------------------------------------------------


def book(party: Party, **more: Any) -> tuple[Json, str]:
    """Book an appointment; the answer and its ETag."""
    response = party.post("/v1/appointments", {"phone": PHONE, "scheduled_at": SOON, **more})
    made = shaped("appointment", answered(response, 201))
    return made, response.headers["etag"]


def at(made: Json, what: str) -> str:
    return f"/v1/appointments/{made['id']}/{what}"


def test_appointment_is_booked(party: Party) -> None:
    """201, scheduled, with an ETag and what was sent."""
    sent = {
        "phone": LONDON,
        "scheduled_at": LATER,
        "duration_minutes": 45,
        "timezone": "Europe/London",
        "service_type": "s" * 100,
        "contact_name": "c" * 200,
        "notes": "n" * 1000,
    }
    made, etag = book(party, **sent)

    assert made["status"] == "scheduled"
    assert etag
    assert moment(made.pop("scheduled_at")) == moment(sent.pop("scheduled_at"))
    assert {name: made[name] for name in sent} == sent
    assert made["email"] is None


@pytest.mark.parametrize("minutes", [5, 480])
def test_duration_is_5_to_480(party: Party, minutes: int) -> None:
    """Both ends are taken."""
    assert book(party, duration_minutes=minutes)[0]["duration_minutes"] == minutes


def test_if_match_guards_a_cancellation(party: Party) -> None:
    """The ETag of the last read passes; after a change it answers 412 and nothing happens."""
    made, etag = book(party)
    answered(party.post(at(made, "reschedule"), {"scheduled_at": LATER}))
    response = party.post(at(made, "cancel"), headers={"If-Match": etag})
    problem(response, 412, "precondition_failed")
    read = party.get(f"/v1/appointments/{made['id']}")
    assert answered(read, 200)["status"] != "cancelled"
    response = party.post(at(made, "cancel"), headers={"If-Match": read.headers["etag"]})
    assert answered(response, 200)["status"] == "cancelled"


def test_appointments_are_listed(console: Console) -> None:
    """The list has every appointment of the client."""
    client = console.client()
    made = {book(client)[0]["id"] for _ in range(5)}

    assert {each["id"] for each in client.walk("/v1/appointments", limit="2")} == made
