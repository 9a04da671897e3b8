"""The receiver on a real socket: who is answered what, in time, whatever stands behind it."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpx
import pytest

from dialframe.errors import ConfigError, DialframeError, StoreError, WebhookError
from dialframe.webhooks import Delivery, verify
from dialframe.webhooks.receiver import Announcer, Receiver, start
from webhooks.made import NOW, OLD, SECRET, Made, delivery, event, until

#: Made once: reading the machine's certificates takes longer than a delivery.
TRUST = ssl.create_default_context()


class Shelf:
    """Keeps deliveries in memory, once per event; can be told to fail or to dawdle."""

    def __init__(self) -> None:
        self.kept: list[Delivery] = []
        self.told: list[Delivery] = []
        self.troubles: list[DialframeError] = []
        self.before: Callable[[], None] = lambda: None
        self.listening: Callable[[], None] = lambda: None

    def keep(self, one: Delivery) -> bool:
        self.before()
        new = one.event_id not in {other.event_id for other in self.kept}
        if new:
            self.kept.append(one)
        return new

    def event(self, one: Delivery) -> None:
        self.told.append(one)
        self.listening()

    def start(self, *, answer_s: float = 8.0, path: str = "/", port: int = 0) -> Receiver:
        return start(
            self.keep,
            secrets=[SECRET, OLD],
            now=lambda: datetime.now(UTC),
            on_event=self.event,
            on_trouble=self.troubles.append,
            port=port,
            path=path,
            answer_s=answer_s,
        )


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Shelf, Receiver]]:
    """A receiver that puts deliveries on a shelf."""
    shelf = Shelf()
    with shelf.start() as receiver:
        yield shelf, receiver


@pytest.fixture
def shelf(running: tuple[Shelf, Receiver]) -> Iterator[Shelf]:
    """The receiver's shelf, emptied when all that was put on it has been told."""
    shelf, _ = running
    yield shelf
    until(lambda: len(shelf.told) == len(shelf.kept))
    for filled in (shelf.kept, shelf.told, shelf.troubles):
        filled.clear()


@pytest.fixture
def receiver(running: tuple[Shelf, Receiver]) -> Receiver:
    """The receiver."""
    return running[1]


@pytest.fixture
def own() -> Shelf:
    """A shelf whose receiver the test starts itself."""
    return Shelf()


def fresh(number: int = 1, secret: str = SECRET) -> Made:
    """A delivery signed now."""
    return delivery(at=datetime.now(UTC), number=number, secrets=(secret,))


def post(url: str, made: Made) -> httpx.Response:
    """The answer to a delivery."""
    return httpx.post(url, content=made.body, headers=made.headers, verify=TRUST)


def test_a_genuine_delivery_is_kept_before_it_is_answered(
    receiver: Receiver, shelf: Shelf
) -> None:
    """2xx without content; the event is on the shelf and told of."""
    made = fresh()

    answer = post(receiver.url, made)

    assert (answer.status_code, answer.content) == (204, b"")
    assert [one.raw for one in shelf.kept] == [made.body]
    until(lambda: [one.raw for one in shelf.told] == [made.body])


def test_every_delivery_of_an_event_is_accepted_and_told_once(
    receiver: Receiver, shelf: Shelf
) -> None:
    """Retries and replays keep the event's id: they are answered 2xx, so that the service stops."""
    for secret in (SECRET, OLD, SECRET):
        assert post(receiver.url, fresh(secret=secret)).status_code == 204
    assert post(receiver.url, fresh(2)).status_code == 204

    until(lambda: len(shelf.told) == 2)
    assert [one.event_id for one in shelf.told] == [event(1)["id"], event(2)["id"]]


@pytest.mark.parametrize(
    ("change", "status", "why"),
    [
        (lambda one: one.having("Service-Signature", "sha256=00"), 401, "bad_signature"),
        (lambda one: Made(one.body + b" ", one.headers), 401, "bad_signature"),
        (lambda _: delivery(), 401, "stale"),
        (lambda one: one.without("Service-Signature"), 400, "missing_header"),
        (lambda one: one.having("Service-Timestamp", "soon"), 400, "bad_timestamp"),
        (lambda one: one.having("Service-Event-Id", "evt_x"), 400, "bad_body"),
        (lambda _: delivery(b"{}", at=datetime.now(UTC)), 400, "bad_body"),
    ],
    ids=["signature", "body", "stale", "missing", "timestamp", "other event", "no event"],
)
def test_a_delivery_that_is_not_believed_is_refused(
    receiver: Receiver,
    shelf: Shelf,
    change: Callable[[Made], Made],
    status: int,
    why: str,
) -> None:
    """400 or 401 with the same few bytes each time; whoever runs the receiver hears why."""
    answer = post(receiver.url, change(fresh()))

    assert (answer.status_code, answer.text) == (status, "refused\n")
    assert not shelf.kept
    until(lambda: len(shelf.troubles) == 1)
    (trouble,) = shelf.troubles
    assert isinstance(trouble, WebhookError)
    assert trouble.why == why


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_post_is_answered(receiver: Receiver, method: str) -> None:
    """Another method is 405 and says which would do."""
    answer = httpx.request(method, receiver.url, verify=TRUST)

    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_deliveries_arrive_at_one_path(own: Shelf) -> None:
    """Everywhere else there is nothing, not even a redirect."""
    with own.start(path="/hooks/calls") as running:
        root = running.url.removesuffix("/hooks/calls")
        found = [
            post(root + path, fresh()).status_code
            for path in ("/hooks/calls", "/", "/hooks/calls/", "/hooks/callsx", "/hooks/calls?x=1")
        ]

    assert found == [204, 404, 404, 404, 204]


def test_a_body_may_have_one_mebibyte(receiver: Receiver, shelf: Shelf) -> None:
    """Exactly so much is taken, one byte more is not, whether its length was declared or not."""
    made = event(data={"x": ""})
    spare = 1_048_576 - len(delivery(made).body)
    exact = delivery(event(data={"x": "a" * spare}), at=datetime.now(UTC))
    over = delivery(event(data={"x": "a" * (spare + 1)}), at=datetime.now(UTC))

    assert len(exact.body) == 1_048_576
    assert post(receiver.url, exact).status_code == 204
    assert post(receiver.url, over).status_code == 413
    chunks = (over.body[start : start + 65_536] for start in range(0, len(over.body), 65_536))
    answer = httpx.post(receiver.url, content=chunks, headers=over.headers, verify=TRUST)
    assert (answer.status_code, answer.text) == (413, "refused\n")
    assert len(shelf.kept) == 1


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (StoreError("store.sqlite: the disk is full"), "store.sqlite: the disk is full"),
        (RuntimeError("+12125550142 is too much for me"), "RuntimeError"),
    ],
    ids=["full disk", "fault"],
)
def test_what_was_not_kept_is_503(
    receiver: Receiver, shelf: Shelf, error: Exception, named: str
) -> None:
    """The service brings it again, and then it is new; a fault of ours is named without its words."""

    def fail() -> None:
        raise error

    shelf.before = fail
    answer = post(receiver.url, fresh())
    shelf.before = lambda: None

    assert (answer.status_code, answer.text) == (503, "not kept\n")
    assert not shelf.told
    until(lambda: len(shelf.troubles) == 1)
    assert str(shelf.troubles[0]).endswith(f"will come again: {named}")
    assert post(receiver.url, fresh()).status_code == 204
    until(lambda: len(shelf.told) == 1)


def test_a_disk_that_hangs_is_503_in_time(own: Shelf) -> None:
    """The answer does not wait for the disk; what nobody waits for any more is not written later."""
    gate = threading.Event()
    own.before = lambda: gate.wait(60)  # type: ignore[assignment]
    with own.start(answer_s=0.2) as running:
        with ThreadPoolExecutor(3) as pool:
            began = time.monotonic()
            answers = list(pool.map(lambda n: post(running.url, fresh(n)), range(3)))
            took_s = time.monotonic() - began
        gate.set()
        until(lambda: len(own.told) == 1)
        again = [post(running.url, fresh(n)).status_code for n in range(3)]
        until(lambda: len(own.told) == 3)

    assert [answer.status_code for answer in answers] == [503] * 3
    assert took_s < 2
    assert again == [204] * 3
    assert len(own.kept) == 3


def test_half_a_request_is_answered_in_time(own: Shelf) -> None:
    """A body that never ends does not hold the receiver."""
    with own.start(answer_s=0.2) as running:
        host, port = running.url.removeprefix("http://").rstrip("/").split(":")
        with socket.create_connection((host, int(port))) as half:
            half.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            half.settimeout(3)
            assert half.recv(100).startswith(b"HTTP/1.1 503")
        assert post(running.url, fresh()).status_code == 204


@pytest.mark.parametrize("manner", ["slow", "failing"])
def test_a_listener_never_delays_the_answer(own: Shelf, manner: str) -> None:
    """Whoever is told may sleep or break: deliveries are kept and answered as ever."""
    gate = threading.Event()

    def listen() -> None:
        if manner == "failing":
            raise RuntimeError("+12125550142 is too much for me")
        gate.wait(60)

    own.listening = listen
    with own.start() as running:
        began = time.monotonic()
        for number in range(20):
            assert post(running.url, fresh(number)).status_code == 204
        took_s = time.monotonic() - began
        gate.set()
        until(lambda: len(own.told) == 20)

    assert took_s < 3
    assert len(own.kept) == 20
    if manner == "failing":
        assert len(own.troubles) == 20
        assert "RuntimeError; the event is stored" in str(own.troubles[0])
        assert "555" not in str(own.troubles[0])


def test_fifty_at_once(receiver: Receiver, shelf: Shelf) -> None:
    """Fifty deliveries of twenty-five events side by side: all accepted, each event kept and told once."""
    with ThreadPoolExecutor(50) as pool:
        answers = list(
            pool.map(lambda n: post(receiver.url, fresh(n % 25)).status_code, range(50))
        )

    assert answers == [204] * 50
    until(lambda: len(shelf.told) == 25)
    assert len({one.event_id for one in shelf.kept}) == len(shelf.kept) == 25


def test_closing_answers_what_is_under_way(own: Shelf) -> None:
    """A delivery that came before the end is kept and answered; afterwards nobody listens."""
    own.before = lambda: time.sleep(0.3)
    running = own.start()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(post, running.url, fresh())
        time.sleep(0.15)
        running.close()
        assert answer.result(60).status_code == 204
    running.close()

    assert len(own.kept) == len(own.told) == 1
    with pytest.raises(httpx.ConnectError):
        post(running.url, fresh())


def test_closing_takes_two_seconds_at_most(own: Shelf) -> None:
    """Neither a disk nor a listener that hangs keeps it from ending."""
    gate = threading.Event()
    own.listening = lambda: gate.wait(60)  # type: ignore[assignment]
    running = own.start(answer_s=0.5)
    assert post(running.url, fresh()).status_code == 204
    own.before = lambda: gate.wait(60)  # type: ignore[assignment]
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(post, running.url, fresh(2))
        time.sleep(0.1)
        began = time.monotonic()
        running.close()
        took_s = time.monotonic() - began
        assert hanging.result(60).status_code == 503
    gate.set()

    assert took_s < 2


@pytest.mark.parametrize("path", ["", "hook", "/a b", "/{x}", "/a?b", "/é", "/a\n"])
def test_a_path_is_plain(own: Shelf, path: str) -> None:
    """A path that a server would read otherwise is a wrong setting."""
    with pytest.raises(ConfigError, match="path"):
        own.start(path=path)


def test_a_port_that_is_taken_is_named(receiver: Receiver, own: Shelf) -> None:
    """Two receivers cannot share a port."""
    port = int(receiver.url.rstrip("/").rsplit(":", 1)[1])

    with pytest.raises(ConfigError, match=f"port {port}"):
        own.start(port=port)


def test_connections_that_send_no_headers_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half-open connections do not keep the places of deliveries."""
    from dialframe import serving
    from dialframe.webhooks import receiver

    monkeypatch.setattr(serving, "HEADERS_S", 0.3)
    with receiver.start(
        lambda _: True,
        secrets="whsec_x",
        now=lambda: datetime.now(UTC),
        on_event=lambda _: None,
        on_trouble=lambda _: None,
        port=0,
    ) as running:
        host, port = running.url.removeprefix("http://").rstrip("/").split(":")
        waiting = [socket.create_connection((host, int(port)), timeout=5) for _ in range(20)]
        for one in waiting[:10]:
            one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n")
        try:
            assert all(one.recv(1) == b"" for one in waiting)
        finally:
            for one in waiting:
                one.close()


# --- listeners behind a queue ------------------------------------------------------------------


def one(number: int) -> Delivery:
    """A genuine delivery."""
    made = delivery(number=number)
    return verify(made.body, made.headers, SECRET, NOW)


def test_events_are_told_in_order() -> None:
    """As they were kept, so they are told, and the end waits for what was on its way."""
    told: list[Delivery] = []
    announcer = Announcer(told.append, lambda _: None)
    given = [one(number) for number in range(20)]

    for delivery_ in given:
        announcer.event(delivery_)
    announcer.close(within_s=2)

    assert told == given


def test_too_slow_a_listener_hears_how_many_it_missed() -> None:
    """What finds no place is counted and left out, instead of filling the memory."""
    gate, troubles, told = threading.Event(), list[DialframeError](), list[Delivery]()

    def listen(delivery_: Delivery) -> None:
        gate.wait(60)
        told.append(delivery_)

    announcer = Announcer(listen, troubles.append, places=3)
    announcer.event(one(0))
    until(lambda: announcer._worker._jobs.qsize() == 0)
    for number in range(1, 9):
        announcer.event(one(number))
    announcer.trouble(DialframeError("also left out"))
    gate.set()
    until(lambda: len(told) == 4)
    announcer.event(one(9))
    announcer.close(within_s=2)

    assert len(told) == 5
    assert [str(trouble)[:18] for trouble in troubles] == ["5 events were stor"]
