"""Webhook endpoints: created, refused, changed, rotated, removed."""

from __future__ import annotations

import json
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox.service_bench import (
    EVENT_TYPES,
    OPERATIONS,
    PUBLIC_URL,
    WEBHOOK,
    Console,
    Json,
    Party,
    Receiver,
    answered,
    moment,
    problem,
    shaped,
)


def create(party: Party, url: str = PUBLIC_URL, **more: Any) -> Json:
    """Create an endpoint; the answer, held to its shape."""
    body = {"url": url, "events": ["call.completed"], **more}
    made = answered(party.post("/v1/webhooks", body), 201)
    return shaped("endpoint", made, more=("secret",))


def test_endpoint_is_created(client: Party) -> None:
    """201 with the endpoint and its secret, enabled; the hint is the secret's end."""
    made = create(client, events=list(EVENT_TYPES), description="for the CRM")

    assert made["secret"].startswith("whsec_")
    assert made["secret_hint"] == made["secret"][-4:]
    assert sorted(made["events"]) == sorted(EVENT_TYPES)
    assert made["enabled"] is True
    assert made["description"] == "for the CRM"
    assert made["host"] == "8.8.8.8"
    assert create(client)["description"] == ""


def test_secret_is_shown_once(client: Party) -> None:
    """No later answer has the secret, and no answer at all the full URL."""
    url = PUBLIC_URL + "/a-long-and-private-path/0123456789?token=keep-this-to-yourself"
    made = create(client, url=url)
    path = f"/v1/webhooks/{made['id']}"
    answers = [
        client.get(path),
        client.get("/v1/webhooks"),
        client.patch(path, {"description": "changed"}),
        client.get("/v1/webhook-events"),
    ]
    for response in answers:
        assert made["secret"] not in response.text
        assert "keep-this-to-yourself" not in response.text
        assert url not in response.text
    assert made["url_preview"] == "https://8.8.8.8/..."
    shaped("endpoint", answered(answers[0], 200))
    shaped("endpoint", answered(answers[2], 200))


URLS: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "webhook_urls.toml").read_text()
)


PRIVATE = [f"https://{name}/x" for name in URLS["private_names"]]


@pytest.mark.parametrize("url", URLS["refused"] + URLS["leading_elsewhere"] + PRIVATE)
def test_url_must_be_https_and_public(client: Party, url: str) -> None:
    """Private, link-local, metadata and other addresses, and http, answer 422."""
    body = {"url": url, "events": ["call.completed"]}

    problem(client.post("/v1/webhooks", body), 422, "webhook_url_refused")
    assert client.walk("/v1/webhooks") == []


def test_loopback_is_refused_when_it_is_not_allowed(console: Console, client: Party) -> None:
    """Without the sandbox's allowance loopback is a private address like the others."""
    made = create(client)
    with console.settings(allow_loopback_webhooks=False):
        for url in URLS["loopback"]:
            body = {"url": url, "events": ["call.completed"]}
            problem(client.post("/v1/webhooks", body), 422, "webhook_url_refused")
            response = client.patch(f"/v1/webhooks/{made['id']}", {"url": url})
            problem(response, 422, "webhook_url_refused")
    assert len(client.walk("/v1/webhooks")) == 1


@pytest.mark.parametrize("url", URLS["public"] + URLS["loopback"])
def test_public_address_is_taken(client: Party, url: str) -> None:
    """And in the sandbox, http and https URLs of a receiver on this machine's loopback."""
    assert create(client, url=url)["enabled"] is True


def test_refused_url_changes_nothing(client: Party) -> None:
    """A PATCH to a refused URL answers 422, and the endpoint stays as it was."""
    made = create(client)
    path = f"/v1/webhooks/{made['id']}"
    before = answered(client.get(path), 200)
    for url in ("https://10.0.0.1/x", "http://8.8.8.8/x"):
        response = client.patch(path, {"url": url, "description": "new"})
        problem(response, 422, "webhook_url_refused")
    assert answered(client.get(path), 200) == before


def test_account_has_10_endpoints(client: Party) -> None:
    """The eleventh answers 409 webhook_limit_reached; one deleted makes room for one."""
    made = [create(client, url=f"{PUBLIC_URL}/{n}") for n in range(10)]
    body = {"url": PUBLIC_URL, "events": ["call.completed"]}
    problem(client.post("/v1/webhooks", body), 409, "webhook_limit_reached")
    answered(client.delete(f"/v1/webhooks/{made[0]['id']}"))
    create(client)
    assert len(client.walk("/v1/webhooks", limit="3")) == 10


def test_endpoint_is_changed(console: Console, client: Party) -> None:
    """Any of url, events, description and enabled; what is not sent stays."""
    made = create(client, description="one")
    path = f"/v1/webhooks/{made['id']}"
    before = answered(client.get(path), 200)
    console.advance(2)
    changes: list[Json] = [
        {"description": "two"},
        {"enabled": False},
        {"events": ["appointment.booked", "disposition.logged"]},
    ]
    for change in changes:
        after = shaped("endpoint", answered(client.patch(path, change), 200))
        (name,) = change
        assert after[name] == change[name] or sorted(after[name]) == sorted(change[name])
        assert {key for key in after if after[key] != before[key]} <= {name, "updated_at"}
        before = after
    after = answered(client.patch(path, {"url": "https://8.8.4.4/other"}), 200)
    assert after["host"] == "8.8.4.4"
    assert answered(client.get(path), 200) == after


def test_rotation_gives_a_new_secret(console: Console, client: Party) -> None:
    """A new secret, its hint, and the old one's end in 24 hours."""
    made = create(client)
    path = f"/v1/webhooks/{made['id']}"
    turned = shaped("rotation", answered(client.post(f"{path}/rotate-secret"), 200))
    left = moment(turned["previous_secret_expires_at"]) - console.now()

    assert turned["webhook_id"] == made["id"]
    assert turned["secret"].startswith("whsec_")
    assert turned["secret"] != made["secret"]
    assert turned["secret_hint"] == turned["secret"][-4:]
    assert abs(left - timedelta(hours=24)) < timedelta(seconds=10)
    assert answered(client.get(path), 200)["secret_hint"] == turned["secret_hint"]


def test_endpoint_that_is_gone_is_404(client: Party) -> None:
    """After DELETE it is in no list and not found."""
    gone, kept = create(client), create(client)
    assert client.delete(f"/v1/webhooks/{gone['id']}").is_success
    assert [each["id"] for each in client.walk("/v1/webhooks")] == [kept["id"]]
    for operation in OPERATIONS:
        if "webhook_id" in operation.names:
            path = operation.path.replace(WEBHOOK, gone["id"])
            problem(client.send(operation.method, path, operation.body), 404, "not_found")


def test_loopback_receiver_is_reached(client: Party, receiver: Receiver) -> None:
    """POST .../test sends a webhook.test event to that endpoint, subscribed or not."""
    path, quiet = receiver.new_path(), receiver.new_path()
    made = create(client, url=receiver.url(path))
    create(client, url=receiver.url(quiet), events=list(EVENT_TYPES))
    answered(client.post(f"/v1/webhooks/{made['id']}/test"))
    delivery = receiver.wait(path)[0]
    assert delivery.headers["service-event"] == "webhook.test"
    shaped("envelope", json.loads(delivery.body), more=("call_details",))
    event_id = delivery.headers["service-event-id"]
    seen = answered(client.get(f"/v1/webhook-events/{event_id}"), 200)
    assert shaped("event", seen)["type"] == "webhook.test"
    assert receiver.got(quiet) == []
