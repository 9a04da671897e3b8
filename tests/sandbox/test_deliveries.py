"""Deliveries of webhook events: signed, retried by the schedule, replayed."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from dialframe.contract import limits
from sandbox.service_bench import (
    DAY_S,
    EVENT_TYPES,
    PHONE,
    SOON,
    WEBHOOK,
    Console,
    Json,
    Party,
    Received,
    Receiver,
    answered,
    eventually,
    moment,
    problem,
    shaped,
)

DETAILS = {
    "summary": [
        "status",
        "text",
        "next_action",
        "language",
        "source",
        "generated_at",
        "truncated",
    ],
    "disposition": ["status", "code", "notes", "follow_up_at", "logged_at"],
}
RETRIES_S = [60, 300, 900, 3_600, 14_400]


def endpoint(party: Party, url: str, **more: Any) -> Json:
    """An endpoint for calls, unless told otherwise; with its secret."""
    body = {"url": url, "events": ["call.completed"], **more}
    return answered(party.post("/v1/webhooks", body), 201)


def detail(party: Party, event_id: str) -> Json:
    """An event as it is read, held to its shape."""
    body = shaped("event", answered(party.get(f"/v1/webhook-events/{event_id}"), 200))
    for delivery in body["deliveries"]:
        shaped("delivery", delivery)
    return body


def delivery_when(party: Party, event_id: str, so: Callable[[Json], bool]) -> Json:
    """The event's only delivery, once something is so of it."""

    def look() -> Json | None:
        (delivery,) = detail(party, event_id)["deliveries"]
        return delivery if so(delivery) else None

    return eventually(look)


def signed(secret: str, delivery: Received) -> str:
    """The signature that the contract describes, worked out by hand."""
    stamp = delivery.headers["service-timestamp"].encode()
    return hmac.new(secret.encode(), stamp + b"." + delivery.body, hashlib.sha256).hexdigest()


def test_delivery_is_signed_and_named(console: Console, client: Party, receiver: Receiver) -> None:
    """A JSON POST with the five headers; the signature is over timestamp, dot and raw body."""
    path = receiver.new_path()
    made = endpoint(client, receiver.url(path))
    event_id = client.event("call.completed", {"call_id": "é", "n": 1})
    delivery = receiver.wait(path)[0]
    heads = delivery.headers
    body = json.loads(delivery.body)

    assert heads["service-signature"] == f"sha256={signed(made['secret'], delivery)}"
    # The receiver checks it against its own clock, which the console's does not move.
    stamp = int(heads["service-timestamp"])
    assert min(abs(stamp - console.now().timestamp()), abs(stamp - time.time())) < 10
    assert heads["content-type"].split(";")[0] == "application/json"
    assert (heads["service-event-id"], heads["service-event"]) == (event_id, "call.completed")
    row = delivery_when(client, event_id, lambda one: one["status"] == "delivered")
    assert heads["service-delivery-id"] == row["id"]
    assert body["id"] == event_id
    assert body["data"] == {"call_id": "é", "n": 1}
    assert "account" not in delivery.body.decode()


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_envelope_is_as_described(client: Party, receiver: Receiver, kind: str) -> None:
    """Every type's envelope has id, type, time, versions and data; call events their details."""
    path = receiver.new_path()
    endpoint(client, receiver.url(path), events=[kind])
    event_id = client.event(kind, {"appointment_id": "x", "call_id": "y"})
    envelope = json.loads(receiver.wait(path)[0].body)

    shaped("envelope", envelope, more=("call_details",))
    assert (envelope["id"], envelope["type"]) == (event_id, kind)
    if not kind.startswith("appointment"):
        details = envelope["call_details"]
        assert isinstance(details["schema_version"], int)
        assert set(DETAILS["summary"]) <= set(details["summary"])
        assert set(DETAILS["disposition"]) <= set(details["disposition"])
    seen = detail(client, event_id)
    for name in ("id", "type", "created_at", "api_version", "schema_version", "data"):
        assert seen[name] == envelope[name]


def test_event_goes_to_its_subscribers(client: Party, receiver: Receiver) -> None:
    """Enabled endpoints of the type get it; others, disabled ones and other clients do not."""
    yes, also, no, off = (receiver.new_path() for _ in range(4))
    endpoint(client, receiver.url(yes))
    endpoint(client, receiver.url(also), events=list(EVENT_TYPES))
    endpoint(client, receiver.url(no), events=["appointment.booked"])
    disabled = endpoint(client, receiver.url(off))
    answered(client.patch(f"/v1/webhooks/{disabled['id']}", {"enabled": False}), 200)
    event_id = client.event()
    receiver.wait(yes)
    receiver.wait(also)
    time.sleep(0.2)
    assert [len(receiver.got(path)) for path in (yes, also, no, off)] == [1, 1, 0, 0]
    sent = [d for d in detail(client, event_id)["deliveries"] if d["status"] != "cancelled"]
    assert len(sent) == 2


def test_deliveries_of_an_event_are_in_the_order_of_their_endpoints(
    client: Party, receiver: Receiver
) -> None:
    """So that the same seed and requests give the same deliveries, id for id."""
    made = [endpoint(client, receiver.url(receiver.new_path())) for _ in range(6)]

    deliveries = detail(client, client.event())["deliveries"]

    assert [row["webhook_id"] for row in deliveries] == [each["id"] for each in made]


def test_events_are_listed_for_their_client(client: Party, other: Party) -> None:
    """The list of events has this client's, newest first, and no other's."""
    made = [client.event() for _ in range(3)]

    assert {each["id"] for each in client.walk("/v1/webhook-events", limit="2")} == {*made}
    assert not {*made} & {each["id"] for each in other.walk("/v1/webhook-events")}


@pytest.mark.parametrize("status", [200, 201, 204, 299, 302, 307, 400, 404, 410, 500, None])
def test_any_2xx_is_a_delivery(client: Party, receiver: Receiver, status: int | None) -> None:
    """Anything else, a redirect too, or no answer schedules a retry a minute later."""
    path = receiver.new_path(status or 200)
    made = endpoint(client, receiver.url(path) if status else "http://127.0.0.1:9/nobody")
    row = delivery_when(client, client.event(), lambda one: one["attempts"] == 1)

    assert (row["webhook_id"], row["last_status_code"]) == (made["id"], status)
    assert row["failure_reason"] is row["replay_of"] is None
    if status is not None and 200 <= status < 300:
        assert row["status"] == "delivered"
        assert row["delivered_at"]
        assert row["next_attempt_at"] is None
        return
    assert row["status"] == "retry_scheduled"
    assert row["delivered_at"] is None
    wait = moment(row["next_attempt_at"]) - moment(row["last_attempt_at"])
    assert abs(wait - timedelta(minutes=1)) <= timedelta(seconds=2)
    assert receiver.got(path + "/elsewhere") == [], "a redirect was followed"


def test_what_is_off_this_machine_gets_no_delivery(client: Party) -> None:
    """It counts as no answer."""
    endpoint(client, "https://8.8.8.8/hook")
    row = delivery_when(client, client.event(), lambda one: one["attempts"] == 1)

    assert (row["status"], row["last_status_code"]) == ("retry_scheduled", None)


def test_delivery_that_was_taken_is_not_sent_again(
    console: Console, client: Party, receiver: Receiver
) -> None:
    """Only what is not 2xx is retried: in a busy minute each delivery comes in exactly once."""
    paths = [receiver.new_path() for _ in range(4)]
    for path in paths:
        endpoint(client, receiver.url(path))
    events = []
    for number in range(120):
        events.append(client.event())
        if number % 10 == 0:
            answered(client.post(f"/v1/webhook-events/{events[-1]}/replay"), 202)
        if number % 7 == 0:
            console.advance(1)
    for path in paths:
        receiver.wait(path, 132, timeout_s=15)
    time.sleep(0.2)
    came_in = Counter(
        one.headers["service-delivery-id"] for path in paths for one in receiver.got(path)
    )
    assert len(came_in) == 4 * 132
    assert set(came_in.values()) == {1}
    for event_id in events:
        for row in detail(client, event_id)["deliveries"]:
            assert (row["status"], row["attempts"]) == ("delivered", 1)


def test_retries_follow_the_schedule(console: Console, client: Party, receiver: Receiver) -> None:
    """After 1, 5, 15, 60 and 240 minutes; each signed anew; then the delivery fails."""
    path = receiver.new_path(500)
    endpoint(client, receiver.url(path))
    event_id = client.event()
    for attempts, gap_s in enumerate(RETRIES_S, start=1):
        row = delivery_when(client, event_id, lambda one, n=attempts: one["attempts"] == n)
        assert row["status"] == "retry_scheduled"
        gap = moment(row["next_attempt_at"]) - moment(row["last_attempt_at"])
        assert abs(gap - timedelta(seconds=gap_s)) <= timedelta(seconds=2)
        console.advance(gap_s - 10)
        time.sleep(0.1)
        assert len(receiver.got(path)) == attempts, "retried before its time"
        console.advance(11)
        receiver.wait(path, attempts + 1)
    row = delivery_when(client, event_id, lambda one: one["status"] == "failed")
    assert row["attempts"] == 6
    assert row["next_attempt_at"] is row["delivered_at"] is None
    assert row["failure_reason"]
    console.advance(DAY_S)
    time.sleep(0.1)
    got = receiver.got(path)
    assert len(got) == 6
    assert {one.headers["service-event-id"] for one in got} == {event_id}
    assert {one.headers["service-delivery-id"] for one in got} == {row["id"]}
    assert len({one.body for one in got}) == 1
    # A receiver refuses what is 300 s from its own clock, which nobody advances.
    assert {abs(int(one.headers["service-timestamp"]) - time.time()) < 300 for one in got} == {
        True
    }


@pytest.mark.parametrize("gone", [False, True])
def test_retry_goes_to_who_is_there_then(
    console: Console, client: Party, receiver: Receiver, gone: bool
) -> None:
    """A receiver that recovers gets the event at the next attempt; an endpoint that is deleted gets none."""
    path = receiver.new_path(503)
    made = endpoint(client, receiver.url(path))
    event_id = client.event()
    delivery_when(client, event_id, lambda one: one["attempts"] == 1)
    receiver.answer(path, 204)
    if gone:
        answered(client.delete(f"/v1/webhooks/{made['id']}"))
    console.advance(61)
    status = "cancelled" if gone else "delivered"
    row = delivery_when(client, event_id, lambda one: one["status"] == status)
    if not gone:
        assert (row["attempts"], row["last_status_code"]) == (2, 204)
    assert len(receiver.got(path)) == 1 + (not gone)


def test_rotation_signs_with_both_for_24_hours(
    console: Console, client: Party, receiver: Receiver
) -> None:
    """`sha256=<new>,sha256=<old>` for a day, afterwards the new alone."""
    path = receiver.new_path()
    made = endpoint(client, receiver.url(path))
    turned = answered(client.post(f"/v1/webhooks/{made['id']}/rotate-secret"), 200)
    both = [turned["secret"], made["secret"]]
    for number, (wait_s, secrets) in enumerate(((0, both), (DAY_S - 120, both), (240, both[:1]))):
        console.advance(wait_s)
        client.event()
        delivery = receiver.wait(path, number + 1)[number]
        expected = ",".join(f"sha256={signed(secret, delivery)}" for secret in secrets)
        assert delivery.headers["service-signature"] == expected


def test_url_is_checked_before_every_delivery(
    console: Console, client: Party, receiver: Receiver
) -> None:
    """An address that is no longer allowed gets nothing, on first delivery, retry or replay."""
    path, failing = receiver.new_path(), receiver.new_path(500)
    endpoint(client, receiver.url(path))
    delivered = client.event()
    delivery_when(client, delivered, lambda one: one["status"] == "delivered")
    endpoint(client, receiver.url(failing), events=["ai_call.completed"])
    waiting = client.event("ai_call.completed")
    delivery_when(client, waiting, lambda one: one["attempts"] == 1)
    with console.settings(allow_loopback_webhooks=False):
        event_id = client.event()
        console.advance(61)
        response = client.post(f"/v1/webhook-events/{delivered}/replay")
        if response.status_code != 202:
            problem(response, 422, "webhook_url_refused")
        time.sleep(0.4)
        row = delivery_when(client, event_id, lambda one: True)
        assert row["status"] != "delivered"
        assert len(receiver.got(path)) == 1
        assert len(receiver.got(failing)) == 1


# --- replay -----------------------------------------------------------------------------------


def test_replay_is_a_new_delivery_of_the_same_event(client: Party, receiver: Receiver) -> None:
    """202 with event and delivery ids: the event's id and body stay, the delivery's is new."""
    path = receiver.new_path()
    made = endpoint(client, receiver.url(path))
    event_id = client.event()
    first = delivery_when(client, event_id, lambda one: one["status"] == "delivered")
    body = answered(client.post(f"/v1/webhook-events/{event_id}/replay"), 202)
    assert set(body) == {"event_id", "deliveries"}
    assert body["event_id"] == event_id
    (new,) = body["deliveries"]
    assert set(new) == {"event_id", "delivery_id"}
    assert new["event_id"] == event_id
    assert new["delivery_id"] != first["id"]
    before, after = receiver.wait(path, 2)
    assert after.headers["service-event-id"] == event_id
    assert after.headers["service-delivery-id"] == new["delivery_id"]
    assert after.body == before.body
    rows = {row["id"]: row for row in detail(client, event_id)["deliveries"]}
    assert rows[new["delivery_id"]]["replay_of"] == first["id"]
    assert rows[new["delivery_id"]]["webhook_id"] == made["id"]


def test_replay_goes_to_all_or_to_one(client: Party, receiver: Receiver) -> None:
    """Without a webhook_id every endpoint that received it gets it again; with one, only that."""
    paths = [receiver.new_path() for _ in range(3)]
    made = [endpoint(client, receiver.url(path)) for path in paths[:2]]
    endpoint(client, receiver.url(paths[2]), events=["appointment.booked"])
    event_id = client.event()
    for path in paths[:2]:
        receiver.wait(path)
    where = f"/v1/webhook-events/{event_id}/replay"
    assert len(answered(client.post(where, {}), 202)["deliveries"]) == 2
    for path in paths[:2]:
        receiver.wait(path, 2)
    body = {"webhook_id": made[1]["id"]}
    assert len(answered(client.post(where, body), 202)["deliveries"]) == 1
    receiver.wait(paths[1], 3)
    time.sleep(0.1)
    assert [len(receiver.got(path)) for path in paths] == [2, 3, 0]
    problem(client.post(where, {"webhook_id": WEBHOOK}), 404, "not_found")


def test_event_is_replayed_five_times_a_day(
    console: Console, client: Party, receiver: Receiver
) -> None:
    """The sixth of a UTC day answers 429 replay_limit_reached; the next day it goes again."""
    endpoint(client, receiver.url(receiver.new_path()))
    console.to_next_day()
    event_id, untouched = client.event(), client.event()
    where = f"/v1/webhook-events/{event_id}/replay"
    for _ in range(5):
        answered(client.post(where), 202)
    problem(client.post(where), 429, "replay_limit_reached")
    answered(client.post(f"/v1/webhook-events/{untouched}/replay"), 202)
    console.to_next_day()
    answered(client.post(where), 202)


# --- what emits -------------------------------------------------------------------------------


def test_appointments_emit_their_events(client: Party, receiver: Receiver) -> None:
    """Booked, moved and cancelled, each with the data fields of its type."""
    path = receiver.new_path()
    kinds = ["appointment.booked", "appointment.moved", "appointment.cancelled"]
    endpoint(client, receiver.url(path), events=kinds)
    body = {
        "phone": PHONE,
        "scheduled_at": SOON,
        "duration_minutes": 30,
        "timezone": "America/New_York",
        "service_type": "survey",
        "contact_name": "Ada",
    }
    made = answered(client.post("/v1/appointments", body), 201)
    where = f"/v1/appointments/{made['id']}"
    later = {"scheduled_at": "2031-04-01T10:00:00Z"}
    answered(client.post(f"{where}/reschedule", later))
    answered(client.post(f"{where}/cancel"), 200)
    answered(client.post(f"{where}/cancel"), 200)
    got = {one.headers["service-event"]: json.loads(one.body) for one in receiver.wait(path, 3)}
    time.sleep(0.1)
    assert len(receiver.got(path)) == 3
    assert set(got) == {*kinds}
    full = {
        *("appointment_id", "status", "service", "starts_at", "timezone"),
        *("duration_minutes", "customer", "source"),
    }
    for kind in kinds[:2]:
        data = got[kind]["data"]
        assert set(data) == full
        assert data["appointment_id"] == made["id"]
        assert data["customer"] == {"name": "Ada", "phone": PHONE}
        assert (data["service"], data["duration_minutes"]) == ("survey", 30)
        assert data["timezone"] == "America/New_York"
    assert moment(got[kinds[0]]["data"]["starts_at"]) == moment(SOON)
    assert moment(got[kinds[1]]["data"]["starts_at"]) == moment(later["scheduled_at"])
    assert {"appointment_id", "status", "service"} <= set(got[kinds[2]]["data"])
    assert got[kinds[2]]["data"]["status"] == "cancelled"


def test_call_event_has_the_calls_data(
    console: Console, client: Party, receiver: Receiver
) -> None:
    """A call ends after 30 minutes at the latest, and is told with exactly the contract's data fields."""
    path = receiver.new_path()
    endpoint(client, receiver.url(path))
    client.caller_id()
    number, agent = client.phone(), client.agent()
    answered(client.post("/v1/calls", {"to": number, "agent_extension": agent}), 201)
    console.advance(1_860)
    data = json.loads(receiver.wait(path)[0].body)["data"]
    (record,) = client.walk("/v1/calls")

    assert record["ended_at"] is not None
    assert record["duration_seconds"] is None or record["duration_seconds"] <= 1_800
    told = {"call_id": "id", "from": "from_number", "to": "to_number", "started_at": "created_at"}
    same = ("direction", "status", "campaign_id", "answered_at", "ended_at", "duration_seconds")
    told.update({name: name for name in (*same, "hangup_cause")})
    assert data == {name: record[field] for name, field in told.items()}
    assert (data["direction"], data["to"]) == ("outbound", number)


def test_history_is_kept_30_days(console: Console, client: Party, receiver: Receiver) -> None:
    """An event can be read for 30 days and not much longer."""
    endpoint(client, receiver.url(receiver.new_path()))
    event_id = client.event()
    console.advance(30 * DAY_S - 600)
    detail(client, event_id)
    console.advance(DAY_S)
    problem(client.get(f"/v1/webhook-events/{event_id}"), 404, "not_found")
    problem(client.post(f"/v1/webhook-events/{event_id}/replay"), 404, "not_found")
    assert client.walk("/v1/webhook-events") == []


# --- a receiver that does not answer ----------------------------------------------------------


def test_receiver_has_its_time_to_answer(
    api: Party, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No answer within 10 s, here half of one, is no delivery: a retry is scheduled, and not sooner."""
    assert limits.WEBHOOK_ANSWER_S == 10
    monkeypatch.setattr(limits, "WEBHOOK_ANSWER_S", 0.5)
    endpoint(api, receiver.url(receiver.new_path(hang=True)))
    began = time.monotonic()
    row = delivery_when(api, api.event(), lambda one: one["status"] == "retry_scheduled")

    assert time.monotonic() - began >= 0.5
    assert (row["attempts"], row["last_status_code"]) == (1, None)
