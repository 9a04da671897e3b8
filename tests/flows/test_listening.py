"""Deliveries of a real service, over real sockets, into a real store."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx
import pytest

from dialframe import sandbox
from dialframe.account import Account, connect
from dialframe.contract.models.webhook_models import WebhookCreated
from dialframe.errors import DialframeError
from dialframe.flows.gate_server import keep_event
from dialframe.webhooks import Delivery, receiver, verify
from dialframe.webhooks.receiver import Receiver
from webhooks.made import PERSON, SECRET, Made, delivery, event, until

TYPES = (
    "call.completed", "ai_call.completed", "disposition.logged", "appointment.booked",
    "appointment.moved", "appointment.cancelled",
)  # fmt: skip


@pytest.fixture(scope="module")
def service() -> Iterator[sandbox.Sandbox]:
    """An empty account without rate limits."""
    with sandbox.start(size="empty") as started:
        started.console.update_account({"rate_limits": None})
        yield started


@pytest.fixture
def account(service: sandbox.Sandbox, tmp_path: Path) -> Iterator[Account]:
    """A client of its own, without endpoints, and an empty store."""
    scopes = ["webhooks:read", "webhooks:write"]
    key = service.console.create_client("hooked", scopes=scopes)["api_key"]
    with connect(service.base_url, key, tmp_path, environment={}) as opened:
        yield opened


class Heard:
    """What a receiver's listeners were told."""

    def __init__(self) -> None:
        self.events: list[Delivery] = []
        self.troubles: list[DialframeError] = []

    def listen(self, account: Account, *secrets: str, port: int = 0) -> Receiver:
        return receiver.start(
            partial(keep_event, account),
            secrets=secrets,
            now=lambda: datetime.now(UTC),
            on_event=self.events.append,
            on_trouble=self.troubles.append,
            port=port,
        )


def endpoint(heard: Heard, account: Account, *types: str) -> tuple[WebhookCreated, int]:
    """An endpoint of these types, whose secret nobody here knew, and the port that it is at."""
    with heard.listen(account, "whsec_not-known-yet") as first:
        made = account.client.webhooks.create(url=first.url, events=list(types))
        return made, int(first.url.rstrip("/").rsplit(":", 1)[1])


def me(account: Account) -> str:
    """The client's id."""
    return str(account.client.me().client_id)


def delivered(account: Account, event_id: str) -> bool:
    """Whether the service takes every delivery of an event for delivered."""
    found = account.client.events.get(event_id).deliveries
    return bool(found) and {one.status for one in found} == {"delivered"}


def test_what_the_service_emits_is_in_the_table(
    service: sandbox.Sandbox, account: Account
) -> None:
    """Every type arrives, is verified, counts as delivered, and stands in the table as it was emitted."""
    heard = Heard()
    made, port = endpoint(heard, account, *TYPES)
    with heard.listen(account, str(made.secret), port=port):
        ids = {
            kind: service.console.emit_event(me(account), kind, {"n": n, "to": PERSON})
            for n, kind in enumerate(TYPES)
        }
        test = account.client.webhooks.test(made.id).event_id
        until(lambda: len(heard.events) == 7)
        until(lambda: all(delivered(account, one) for one in (*ids.values(), test)))

    frame = account.events()
    assert frame["created_at"].is_monotonic_increasing
    assert dict(zip(frame["type"], frame["id"], strict=True)) == {**ids, "webhook.test": test}
    for n, kind in enumerate(TYPES):
        row = account.events(type=kind).iloc[0]
        emitted = account.client.events.get(row["id"])
        assert json.loads(row["data"]) == {"n": n, "to": PERSON} == emitted.data
        assert row["created_at"].to_pydatetime() == emitted.created_at
        assert row["delivery_id"] in {one.id for one in emitted.deliveries}
    assert heard.troubles == []


def test_replays_are_accepted_and_change_nothing(
    service: sandbox.Sandbox, account: Account
) -> None:
    """A replay is a new delivery of the same event: answered 2xx, stored once, told once."""
    heard = Heard()
    made, port = endpoint(heard, account, "call.completed")
    with heard.listen(account, str(made.secret), port=port):
        event_id = service.console.emit_event(me(account), "call.completed", {"n": 1})
        until(lambda: delivered(account, event_id))
        before = account.events()
        for _ in range(3):
            account.client.events.replay(event_id)
        until(lambda: len(account.client.events.get(event_id).deliveries) == 4)
        until(lambda: delivered(account, event_id))

    assert account.events().equals(before)
    assert len(heard.events) == 1


def test_a_rotation_loses_nothing(service: sandbox.Sandbox, account: Account) -> None:
    """Held with the old secret, with both, and with the new one, every delivery is genuine."""
    heard = Heard()
    made, port = endpoint(heard, account, "call.completed")
    rotated = account.client.webhooks.rotate_secret(made.id)
    old, new = str(made.secret), str(rotated.secret)
    for count, held in enumerate([(old,), (old, new), (new,)], start=1):
        with heard.listen(account, *held, port=port):
            event_id = service.console.emit_event(me(account), "call.completed", {})
            until(lambda one=event_id: delivered(account, one))  # type: ignore[misc]
        assert len(account.events()) == count

    assert heard.troubles == []


def test_a_refused_delivery_comes_again(service: sandbox.Sandbox, account: Account) -> None:
    """With the wrong secret nothing is stored; once it is right, the service's retry brings the event."""
    heard = Heard()
    with heard.listen(account, "whsec_wrong") as first:
        port = int(first.url.rstrip("/").rsplit(":", 1)[1])
        made = account.client.webhooks.create(url=first.url, events=["call.completed"])
        event_id = service.console.emit_event(me(account), "call.completed", {})
        until(lambda: account.client.events.get(event_id).deliveries[0].last_status_code == 401)
    assert len(account.events()) == 0
    assert {trouble.why for trouble in heard.troubles} == {"bad_signature"}  # type: ignore[attr-defined]

    with heard.listen(account, str(made.secret), port=port):
        service.console.advance_clock(61)
        until(lambda: delivered(account, event_id))

    assert list(account.events()["id"]) == [event_id]


def test_fifty_at_once_are_stored_once_each(account: Account) -> None:
    """Fifty deliveries side by side of forty events, into the store: all accepted, none lost or doubled."""
    heard, trust = Heard(), ssl.create_default_context()

    def post(number: int) -> int:
        made = delivery(at=datetime.now(UTC), number=number % 40)
        answer = httpx.post(running.url, content=made.body, headers=made.headers, verify=trust)
        return answer.status_code

    with heard.listen(account, SECRET) as running, ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(post, range(50)))
        until(lambda: len(heard.events) == 40)

    assert answers == [204] * 50
    assert set(account.events()["id"]) == {event(number)["id"] for number in range(40)}
    assert len(account.events()) == 40


def test_a_full_disk_is_503_and_the_retry_is_new(account: Account) -> None:
    """When the disk has no room nothing of the delivery is stored; the same event is taken later."""
    heard = Heard()
    made = delivery(event(data={"x": "a" * 200_000}), at=datetime.now(UTC))
    with heard.listen(account, SECRET) as running:
        with account.store._database.reading() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")
        first = httpx.post(running.url, content=made.body, headers=made.headers)
        assert len(account.events()) == 0
        second = httpx.post(running.url, content=made.body, headers=made.headers)
        until(lambda: len(heard.events) == 1)

    assert (first.status_code, second.status_code) == (503, 204)
    assert "the disk is full" in str(heard.troubles[0])
    assert len(account.events()) == 1


def genuine(made: Made) -> Delivery:
    """A delivery that was found genuine now."""
    return verify(made.body, made.headers, SECRET, datetime.now(UTC))


def test_keeping_says_whether_an_event_is_new(account: Account) -> None:
    """New once; known already, and about somebody forgotten, are not new and no failure."""
    made = delivery(at=datetime.now(UTC))

    assert keep_event(account, genuine(made))
    assert not keep_event(account, genuine(made))
    account.forget(PERSON)
    assert not keep_event(account, genuine(made))
    assert len(account.events()) == 0


def test_text_that_no_file_can_hold_is_set_aside(account: Account) -> None:
    """A genuine event with half a character is kept as it came, and does not come again and again."""
    odd = json.dumps(event(data={"notes": "\ud83d"})).encode()
    made = delivery(json.loads(odd), at=datetime.now(UTC))

    assert keep_event(account, genuine(made))
    assert account.info()["quarantined"]["events"] == 1
