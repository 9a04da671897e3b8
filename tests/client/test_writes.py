"""Writes without a clear answer are found again and settled with their own key."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.fakes import (
    KEY,
    REPLAYED,
    REQUEST_ID,
    SECRET,
    SENT,
    FakeClock,
    Service,
    an_id,
    answer,
    connected,
    on_disk,
    problem,
    send_sms,
)
from dialframe.client import Client
from dialframe.errors import (
    AuthenticationError,
    ConfigError,
    Conflict,
    ContractError,
    OutcomeUnknown,
    PermissionDenied,
    Refused,
    StoreError,
    TransportError,
)
from dialframe.evidence import EvidenceLog
from forked import Forked

UNKNOWN = problem(409, "outcome_unknown")


def text_somebody(base_url: str, journal: Path) -> None:
    """Send a text whose answer is waited for."""
    send_sms(Client(base_url, KEY, limiter=None, journal=journal), "killed-1")


RAW_REPLAY = (
    b"HTTP/1.1 202 Accepted\r\nIdempotency-Replayed: true\r\nContent-Length: %d\r\n\r\n"
    % len(SENT.content)
    + SENT.content
)


def received(connection: socket.socket) -> bytes:
    """The body of the request on a connection."""
    connection.settimeout(60)
    data = b""
    while True:
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if length and len(body) == int(length[1]):
            return body
        part = connection.recv(65536)
        assert part, "it hung up before its request was whole"
        data += part


def test_write_is_on_disk_before_its_first_byte(tmp_path: Path) -> None:
    """Seen from the service: when the request arrives, the entry is there."""
    keys: list[str] = []

    def service(request: httpx.Request) -> httpx.Response:
        keys.extend(write.key for write in watcher.writes.pending())
        return httpx.Response(202, content=SENT.content)

    watcher = connected(service, tmp_path)
    send_sms(connected(service, tmp_path), "k")

    assert keys == ["k"]


def test_no_journal_no_write(tmp_path: Path) -> None:
    """What cannot be remembered is not sent."""
    (tmp_path / "file").write_text("in the way")
    service = Service(SENT)

    with pytest.raises(StoreError):
        send_sms(connected(service, tmp_path / "file"))

    assert not service.requests


def test_settling_asks_with_the_same_key_and_bytes(tmp_path: Path) -> None:
    """Also in another process: the journal is all it takes."""
    service = Service(UNKNOWN, UNKNOWN, REPLAYED)
    with pytest.raises(OutcomeUnknown):
        send_sms(connected(service, tmp_path), "k")
    later = connected(service, tmp_path)

    with pytest.raises(OutcomeUnknown):
        later.writes.settle("k")
    assert [write.state for write in later.writes.pending()] == ["outcome_unknown"]
    answered = later.writes.settle("k")

    assert answered.replayed
    assert answered.status == 202
    assert later.writes.pending() == []
    assert service.keys == ["k"] * 3
    assert len(set(service.bodies)) == 1


GONE, REFUSED = httpx.ReadError("cut"), httpx.ConnectError("refused")
RUNNING = problem(409, "conflict", Retry_After="1")

#: What the service does with a write until its caller gives up, the error, its words, and what is known then.
ENDS: dict[str, tuple[list[Any], type[BaseException], str, str | None]] = {
    "no answer to any attempt": ([GONE] * 4, TransportError, "open: .*settle", "pending"),
    "it never left": ([REFUSED] * 4, TransportError, "cannot be reached", None),
    "one attempt may have arrived": ([GONE, *[REFUSED] * 3], TransportError, "settle", "pending"),
    "an interrupt is nobody's answer": ([KeyboardInterrupt()], KeyboardInterrupt, "", "pending"),
    # Answered ahead of the key: the first attempt may have happened.
    "a key revoked meanwhile": ([GONE, problem(401, "invalid_api_key")], AuthenticationError, "", "pending"),
    "words that nobody can read": ([httpx.Response(202, content=b"{")], ContractError, "settle", "pending"),
    "the first request still runs": ([RUNNING] * 16, Conflict, "settle", "pending"),
    "the service does not know": ([UNKNOWN], OutcomeUnknown, "settle", "outcome_unknown"),
    "it refuses": ([problem(422, "on_dnc")], Refused, "on_dnc", None),
}  # fmt: skip


@pytest.mark.parametrize(
    ("script", "kind", "words", "state"),
    ENDS.values(),
    ids=[name.replace(" ", "_") for name in ENDS],
)
def test_write_is_open_exactly_where_it_may_have_happened(
    script: list[Any], kind: type[BaseException], words: str, state: str | None, tmp_path: Path
) -> None:
    """It is listed with its key, which the message names and which brings the stored answer."""
    service = Service(*script, REPLAYED)
    client = connected(service, tmp_path)

    with pytest.raises(kind, match=words or None) as caught:
        send_sms(client, "k")

    assert service.keys == ["k"] * len(script)
    if isinstance(caught.value, TransportError):
        assert caught.value.sent == (state is not None)
    pending = client.writes.pending()
    assert [(write.key, write.state) for write in pending] == ([("k", state)] if state else [])
    if state:
        assert client.writes.settle("k").replayed
        assert client.writes.pending() == []


def test_unknown_outcome_is_listed_with_what_the_service_said(tmp_path: Path) -> None:
    """Its code and request id; the error carries the key that was made for it."""
    client = connected(Service(UNKNOWN), tmp_path)

    with pytest.raises(OutcomeUnknown) as caught:
        send_sms(client)

    (write,) = client.writes.pending()
    assert (write.key, write.code, write.request_id) == (
        caught.value.key, "outcome_unknown", REQUEST_ID,
    )  # fmt: skip


def test_settling_that_fails_leaves_what_was_known(tmp_path: Path) -> None:
    """An unknown outcome stays unknown when the network is down or access is off."""
    service = Service(
        UNKNOWN, *[httpx.ConnectError("refused")] * 4, problem(403, "ip_not_allowed")
    )
    client = connected(service, tmp_path)
    for kind in (OutcomeUnknown, TransportError, PermissionDenied):
        with pytest.raises(kind):
            client.writes.settle("k") if client.writes.pending() else send_sms(client, "k")

        assert [write.state for write in client.writes.pending()] == ["outcome_unknown"]


def test_old_key_is_never_sent_again(tmp_path: Path) -> None:
    """After 24 hours the service forgot it: a clear refusal that says what to do, and nothing is sent."""
    clock = FakeClock()
    service = Service(UNKNOWN, SENT)
    client = connected(service, tmp_path, clock=clock)
    with pytest.raises(OutcomeUnknown):
        send_sms(client, "k")
    clock.elapsed_s += 24 * 3600

    with pytest.raises(ConfigError, match=r"24 hours.*a new key.*dismiss"):
        client.writes.settle("k", late=True)
    with pytest.raises(ConfigError, match="24 hours"):
        send_sms(client, "k")
    client.writes.dismiss("k")

    assert len(service.requests) == 1
    assert client.writes.pending() == []


@pytest.mark.parametrize(
    "ask", [lambda c: c.writes.settle("no"), lambda c: c.writes.dismiss("no")]
)
def test_unknown_key_is_said(ask: Callable[[Client], Any], tmp_path: Path) -> None:
    """The message says where the open ones are listed."""
    with pytest.raises(ConfigError, match=r"'no'.*client\.writes\.pending\(\)"):
        ask(connected(Service(SENT), tmp_path))


def test_write_of_another_version_is_not_guessed_at(tmp_path: Path) -> None:
    """An operation that this version does not know is not sent."""
    client = connected(Service(httpx.ReadError("cut")), tmp_path)
    with pytest.raises(TransportError):
        send_sms(client, "k")
    log = EvidenceLog.open(tmp_path)
    *_, write = log.records(["write"])
    log.append([replace(write, detail={**write.detail, "operation": "sms.broadcast"})])

    with pytest.raises(ConfigError, match=r"sms\.broadcast: .*another version"):
        client.writes.settle("k")


def test_settled_long_ago_has_nothing_to_ask_with(tmp_path: Path) -> None:
    """Its bytes are gone with the day."""
    clock = FakeClock()
    client = connected(Service(SENT), tmp_path, clock=clock)
    send_sms(client, "k")
    clock.elapsed_s += 25 * 3600
    send_sms(client, "k2")

    with pytest.raises(ConfigError, match=r"settled \(answered, status 202\)"):
        client.writes.settle("k")


def test_answer_that_was_lost_by_its_reader_can_be_asked_for_again(tmp_path: Path) -> None:
    """The same call with the same key within the day: the stored answer comes, an hour later too."""
    clock, service = FakeClock(), Service(SENT, REPLAYED)
    client = connected(service, tmp_path, clock=clock)
    send_sms(client, "k")
    clock.elapsed_s += 3600

    assert send_sms(client, "k").status == "queued"
    assert service.keys == ["k", "k"]
    assert client.writes.pending() == []


def test_write_of_a_process_that_was_killed_is_settled_by_another(tmp_path: Path) -> None:
    """Killed while it waited for the answer: key and bytes are there, and bring the stored answer."""
    bodies: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        base_url = f"http://127.0.0.1:{server.getsockname()[1]}"
        child = Forked(text_somebody, base_url, tmp_path)
        waiting, _ = server.accept()
        with waiting:
            bodies.append(received(waiting))
            child.kill()
            child.end()

        def answer_once() -> None:
            connection, _ = server.accept()
            with connection:
                bodies.append(received(connection))
                connection.sendall(RAW_REPLAY)

        thread = threading.Thread(target=answer_once, daemon=True)
        thread.start()
        with Client(base_url, KEY, limiter=None, journal=tmp_path) as client:
            (write,) = client.writes.pending()
            answered = client.writes.settle(write.key)
            left = client.writes.pending()
        thread.join(60)

    assert (write.key, write.state) == ("killed-1", "pending")
    assert answered.replayed
    assert left == []
    assert bodies[0] == bodies[1] != b""


def test_neither_secrets_nor_the_key_are_on_disk(tmp_path: Path) -> None:
    """A signing secret is shown once, to the caller."""
    created = {
        "id": an_id("wh"), "url_preview": "https://x.example/…", "host": "x.example", "description": "",
        "events": ["call.completed"], "enabled": True, "secret_hint": "abcd",
        "created_at": "2026-11-21T09:00:00Z", "updated_at": "2026-11-21T09:00:00Z",
        "secret": "whsec_verysecret",
    }  # fmt: skip
    client = connected(Service(answer(created, 201)), tmp_path)

    endpoint = client.webhooks.create(url="https://x.example/hook", events=["call.completed"])

    assert endpoint.secret == "whsec_verysecret"
    assert b"whsec_" not in on_disk(tmp_path)
    assert SECRET.encode() not in on_disk(tmp_path)
    assert "whsec_" not in repr(endpoint)


def test_journal_that_fails_after_the_answer_does_not_cost_the_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The write happened; its entry stays pending, and the log says so."""

    def breaking(request: httpx.Request) -> httpx.Response:
        (tmp_path / "log.jsonl").write_bytes(b"damaged")
        return httpx.Response(202, content=SENT.content)

    message = send_sms(connected(breaking, tmp_path))

    assert message.status == "queued"
    assert "dialframe store repair" in caplog.text
