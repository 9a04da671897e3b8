"""Webhook endpoints, events and their deliveries (contract, Endpoints: Webhooks; Events)."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from dialframe.contract.scopes import SCOPES
from dialframe.sandbox import Sandbox
from sandbox.calling import Api, Json, ok, phone, refused
from sandbox.receiver import Delivery, Receiver

PUBLIC = "https://93.184.216.34/calls"
UNKNOWN = "00000000-0000-4000-8000-000000000000"
CALL = {"call_id": f"call_{UNKNOWN}", "direction": "outbound", "status": "completed"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of its own."""
    listening = Receiver()
    yield listening
    listening.close()


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Api]:
    """A client without endpoints or events."""
    made = sandbox.console.create_client("hooked", scopes=[s.name for s in SCOPES], sending=True)
    calling = Api(sandbox.base_url, made["api_key"])
    yield calling
    calling.close()


def me(client: Api) -> str:
    """The client's id."""
    return str(ok(client.get("/v1/me"))["client_id"])


def endpoint(client: Api, url: str, *events: str) -> Json:
    """A new endpoint."""
    body = {"url": url, "events": list(events) or ["call.completed"]}
    return ok(client.post("/v1/webhooks", body), 201)


def detail(client: Api, event_id: str) -> Json:
    """An event with its deliveries."""
    return ok(client.get(f"/v1/webhook-events/{event_id}"))


def until(client: Api, event_id: str, holds: Callable[[Json], bool]) -> Json:
    """The event's first delivery once something holds of it."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        delivery: Json = detail(client, event_id)["deliveries"][0]
        if holds(delivery):
            return delivery
        time.sleep(0.01)
    raise AssertionError(delivery)


def signature(secret: str, delivery: Delivery) -> str:
    """HMAC-SHA256 over timestamp, dot and raw body, as the contract has it."""
    signed = delivery.headers["service-timestamp"].encode() + b"." + delivery.body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def test_life_of_an_endpoint(client: Api) -> None:
    """Made, read, listed, changed, deleted; the secret and the whole URL are shown never again."""
    made = endpoint(client, PUBLIC, "call.completed", "appointment.booked")
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert made["secret_hint"] == secret[-4:]
    assert (made["host"], made["enabled"], made["description"]) == ("93.184.216.34", True, "")
    assert PUBLIC not in json.dumps(made)
    path = f"/v1/webhooks/{made['id']}"
    assert ok(client.get(path)) == made
    assert client.walk("/v1/webhooks") == [made]
    change = {"description": "d", "enabled": False, "events": ["disposition.logged"]}
    changed = ok(client.send("PATCH", path, change))
    assert {name: changed[name] for name in change} == change
    assert ok(client.send("PATCH", path, {"description": None}))["description"] == ""
    gone = client.send("DELETE", path)
    assert (gone.status_code, gone.content) == (204, b"")
    refused(client.get(path), 404, "not_found")
    refused(client.send("DELETE", path), 404, "not_found")


def test_bounds_of_an_endpoint(client: Api) -> None:
    """URL 9-2048 characters, 1-6 known events, each once, description up to 200."""
    good = {"url": PUBLIC, "events": ["call.completed"]}
    for wrong in (
        {}, {"url": PUBLIC}, {**good, "events": []}, {**good, "events": ["webhook.test"]},
        {**good, "events": ["call.completed"] * 2}, {**good, "events": "call.completed"},
        {**good, "url": "https://"}, {**good, "url": "https://a.example.com/" + "x" * 2048},
        {**good, "url": 1}, {**good, "description": "x" * 201}, {**good, "enabled": True},
    ):  # fmt: skip
        refused(client.post("/v1/webhooks", wrong), 400, "validation_failed")
    refused(client.post("/v1/webhooks", {**good, "url": "ftp://x.example.com"}), 422,
            "webhook_url_refused")  # fmt: skip
    path = f"/v1/webhooks/{endpoint(client, PUBLIC)['id']}"
    for wrong in ({"url": None}, {"events": None}, {"enabled": None}, {"enabled": 1}, {"id": "x"}):
        refused(client.send("PATCH", path, wrong), 400, "validation_failed")
    answer = client.send("PATCH", path, {"url": "https://10.0.0.1/hook"})
    refused(answer, 422, "webhook_url_refused")


def test_ten_endpoints(client: Api) -> None:
    """The eleventh answers 409; one deleted makes room."""
    made = [endpoint(client, PUBLIC)["id"] for _ in range(10)]
    body = {"url": PUBLIC, "events": ["call.completed"]}
    refused(client.post("/v1/webhooks", body), 409, "webhook_limit_reached")
    client.send("DELETE", f"/v1/webhooks/{made[0]}")
    endpoint(client, PUBLIC)


def test_delivery_is_signed_and_named(sandbox: Sandbox, client: Api, receiver: Receiver) -> None:
    """Five headers, an envelope, and a signature over the raw bytes; 2xx is delivered."""
    made = endpoint(client, receiver.url)
    event_id = sandbox.console.emit_event(me(client), "call.completed", CALL)
    (delivery,) = receiver.wait(1)
    heads, body = delivery.headers, json.loads(delivery.body)
    assert heads["service-signature"] == f"sha256={signature(made['secret'], delivery)}"
    assert abs(int(heads["service-timestamp"]) - time.time()) < 10
    assert (heads["service-event-id"], heads["service-event"]) == (event_id, "call.completed")
    row = until(client, event_id, lambda one: one["status"] == "delivered")
    assert heads["service-delivery-id"] == row["id"]
    assert (row["attempts"], row["last_status_code"]) == (1, 204)
    assert row["delivered_at"] is not None
    assert row["next_attempt_at"] is None
    event = detail(client, event_id)
    assert body["data"] == event["data"] == CALL
    for name in ("id", "type", "created_at", "api_version", "schema_version"):
        assert body[name] == event[name]
    assert (body["api_version"], body["call_details"]["schema_version"]) == ("v1", 1)
    assert set(body["call_details"]["disposition"]) == {
        "status", "code", "notes", "follow_up_at", "logged_at",
    }  # fmt: skip


def test_subscriptions_are_kept(sandbox: Sandbox, client: Api, receiver: Receiver) -> None:
    """Only enabled endpoints that want the type, of the client that the event belongs to."""
    endpoint(client, receiver.url, "disposition.logged")
    off = endpoint(client, receiver.url)
    ok(client.send("PATCH", f"/v1/webhooks/{off['id']}", {"enabled": False}))
    event_id = sandbox.console.emit_event(me(client), "call.completed", CALL)
    assert detail(client, event_id)["deliveries"] == []
    sandbox.console.emit_event(sandbox.client_id, "disposition.logged", CALL)
    wanted = sandbox.console.emit_event(me(client), "disposition.logged", CALL)
    assert receiver.wait(1)[0].headers["service-event-id"] == wanted


def test_retries_go_by_the_clock(sandbox: Sandbox, client: Api, receiver: Receiver) -> None:
    """After 1, 5, 15, 60 and 240 minutes, the same bytes signed with real time; then it failed."""
    made = endpoint(client, receiver.url)
    receiver.answers = [500, 404, 302, 199 + 200, 503, 410]
    event_id = sandbox.console.emit_event(me(client), "call.completed", CALL)
    for attempt, minutes in enumerate((1, 5, 15, 60, 240), start=1):
        receiver.wait(attempt)
        row = until(client, event_id, lambda one, n=attempt: one["attempts"] == n)  # type: ignore[misc]
        assert (row["status"], row["failure_reason"]) == ("retry_scheduled", None)
        sandbox.console.advance_clock(minutes * 60 - 5)
        time.sleep(0.02)
        assert len(receiver.deliveries) == attempt
        sandbox.console.advance_clock(6)
    receiver.wait(6)
    row = until(client, event_id, lambda one: one["status"] == "failed")
    assert (row["attempts"], row["last_status_code"], row["next_attempt_at"]) == (6, 410, None)
    assert row["failure_reason"]
    assert len({one.body for one in receiver.deliveries}) == 1
    for one in receiver.deliveries:
        assert one.headers["service-signature"] == f"sha256={signature(made['secret'], one)}"
        # A receiver refuses what is 300 s from its own clock, which nobody advances.
        assert abs(int(one.headers["service-timestamp"]) - time.time()) < 30


def test_nobody_listens(sandbox: Sandbox, client: Api) -> None:
    """No answer is retried like any other failure; so is a receiver that is off this machine."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint(client, f"http://127.0.0.1:{unused.getsockname()[1]}/hook")
    endpoint(client, PUBLIC)
    event_id = sandbox.console.emit_event(me(client), "call.completed", CALL)
    until(client, event_id, lambda one: one["status"] == "retry_scheduled")
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        rows = detail(client, event_id)["deliveries"]
        if {row["status"] for row in rows} == {"retry_scheduled"}:
            break
    assert {row["last_status_code"] for row in rows} == {None}
    assert {row["attempts"] for row in rows} == {1}


def test_rotation_signs_with_both_for_a_day(
    sandbox: Sandbox, client: Api, receiver: Receiver
) -> None:
    """New before old for 24 hours, afterwards the new one alone."""
    made = endpoint(client, receiver.url)
    path = f"/v1/webhooks/{made['id']}"
    rotated = ok(client.post(f"{path}/rotate-secret"))
    assert set(rotated) == {
        "webhook_id", "secret", "secret_hint", "previous_secret_expires_at",
    }  # fmt: skip
    assert rotated["secret_hint"] == rotated["secret"][-4:] == ok(client.get(path))["secret_hint"]
    sandbox.console.emit_event(me(client), "call.completed", CALL)
    one = receiver.wait(1)[0]
    both = [f"sha256={signature(secret, one)}" for secret in (rotated["secret"], made["secret"])]
    assert one.headers["service-signature"] == ",".join(both)
    sandbox.console.advance_clock(86_400 + 1)
    sandbox.console.emit_event(me(client), "call.completed", CALL)
    two = receiver.wait(2)[1]
    assert two.headers["service-signature"] == f"sha256={signature(rotated['secret'], two)}"


def test_test_event(client: Api, receiver: Receiver) -> None:
    """A `webhook.test` for this endpoint alone."""
    made = endpoint(client, receiver.url)
    endpoint(client, receiver.url)
    answer = ok(client.post(f"/v1/webhooks/{made['id']}/test"), 202)
    (delivery,) = receiver.wait(1)
    assert delivery.headers["service-event"] == "webhook.test"
    assert delivery.headers["service-event-id"] == answer["event_id"]
    assert detail(client, answer["event_id"])["type"] == "webhook.test"
    refused(client.post(f"/v1/webhooks/wh_{UNKNOWN}/test"), 404, "not_found")


def test_replay(sandbox: Sandbox, client: Api, receiver: Receiver) -> None:
    """The event keeps its id, each delivery gets a new one; five a UTC day."""
    made = endpoint(client, receiver.url)
    event_id = sandbox.console.emit_event(me(client), "call.completed", CALL)
    first = until(client, event_id, lambda one: one["status"] == "delivered")
    path = f"/v1/webhook-events/{event_id}/replay"
    answer = ok(client.post(path), 202)
    assert answer["event_id"] == event_id
    (again,) = answer["deliveries"]
    assert again["event_id"] == event_id
    assert receiver.wait(2)[1].headers["service-delivery-id"] == again["delivery_id"]
    assert receiver.deliveries[0].body == receiver.deliveries[1].body
    rows = detail(client, event_id)["deliveries"]
    assert [row["replay_of"] for row in rows] == [None, first["id"]]
    for _ in range(4):
        ok(client.post(path, {"webhook_id": made["id"]}), 202)
    answered = client.post(path)
    refused(answered, 429, "replay_limit_reached")
    assert 1 <= int(answered.headers["Retry-After"]) <= 86_400
    sandbox.console.advance_clock(int(answered.headers["Retry-After"]))
    ok(client.post(path), 202)
    refused(client.post(path, {"webhook_id": f"wh_{UNKNOWN}"}), 404, "not_found")
    refused(client.post(path, {"webhook_id": "x"}), 400, "validation_failed")
    refused(client.post(f"/v1/webhook-events/evt_{UNKNOWN}/replay"), 404, "not_found")


def test_url_is_checked_again(settings: Sandbox, client: Api, receiver: Receiver) -> None:
    """Before a replay, which is refused, and before a delivery, which fails."""
    endpoint(client, receiver.url)
    event_id = settings.console.emit_event(me(client), "call.completed", CALL)
    until(client, event_id, lambda one: one["status"] == "delivered")
    settings.console.update_account({"allow_loopback_webhooks": False})
    answer = client.post(f"/v1/webhook-events/{event_id}/replay")
    refused(answer, 422, "webhook_url_refused")
    second = settings.console.emit_event(me(client), "call.completed", CALL)
    row = until(client, second, lambda one: one["status"] == "failed")
    assert (row["attempts"], row["failure_reason"]) == (0, "webhook_url_refused")
    assert len(receiver.deliveries) == 1


def test_deleted_endpoint_gets_nothing_more(
    sandbox: Sandbox, client: Api, receiver: Receiver
) -> None:
    """What was still to come is cancelled."""
    made = endpoint(client, receiver.url)
    receiver.answers = [500]
    event_id = sandbox.console.emit_event(me(client), "call.completed", CALL)
    until(client, event_id, lambda one: one["status"] == "retry_scheduled")
    client.send("DELETE", f"/v1/webhooks/{made['id']}")
    row = until(client, event_id, lambda one: one["status"] == "cancelled")
    assert row["next_attempt_at"] is None
    sandbox.console.advance_clock(120)
    time.sleep(0.05)
    assert len(receiver.deliveries) == 1


def test_history_is_kept_30_days(sandbox: Sandbox, client: Api) -> None:
    """Then an event is neither listed nor read."""
    event_id = sandbox.console.emit_event(me(client), "call.completed", CALL)
    sandbox.console.advance_clock(30 * 86_400 - 60)
    assert [row["id"] for row in client.walk("/v1/webhook-events")] == [event_id]
    sandbox.console.advance_clock(120)
    assert client.walk("/v1/webhook-events") == []
    refused(client.get(f"/v1/webhook-events/{event_id}"), 404, "not_found")


def test_bookings_are_delivered(client: Api, receiver: Receiver) -> None:
    """What happens through the API reaches the endpoint, with the contract's fields."""
    endpoint(client, receiver.url, "appointment.booked")
    body = {"phone": phone(), "scheduled_at": "2030-01-01T10:00:00Z", "contact_name": "Ada"}
    booked = ok(client.post("/v1/appointments", body), 201)
    data = json.loads(receiver.wait(1)[0].body)["data"]
    assert data == {
        "appointment_id": booked["id"], "status": "scheduled", "service": None,
        "starts_at": booked["scheduled_at"], "timezone": None,
        "duration_minutes": booked["duration_minutes"],
        "customer": {"name": "Ada", "phone": booked["phone"]}, "source": booked["source"],
    }  # fmt: skip
