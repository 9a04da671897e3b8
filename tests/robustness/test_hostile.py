"""The client against a service that breaks every rule, over real sockets: an error that says where, or a result; never a hang."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from client import fakes
from client.fakes import CALL, CAMPAIGN, PHONE, REQUEST_ID, a_page, problem
from client.fakes import a_call as row
from dialframe.client import Client
from dialframe.client.response_reading import ANSWER_BYTES
from dialframe.contract.models.call_models import Call
from dialframe.errors import ContractError, DialframeError, ServiceUnavailable, TransportError

#: A behavior that would go on for ever ends here, so that a test that fails does end.
LONGEST_S = 20.0


class Line:
    """One request that was read, and the connection that it came over.

    Attributes:
        request: Head and body as they came.
        number: How many requests this service had before it.
        sent_bytes: Bytes that were taken of the answer.
    """

    def __init__(
        self, connection: socket.socket, request: bytes, number: int, ended: threading.Event
    ) -> None:
        self._connection = connection
        self._ended = ended
        self.request = request
        self.number = number
        self.sent_bytes = 0

    @property
    def target(self) -> str:
        """Path and query that were asked for."""
        return self.request.split(b" ", 2)[1].decode()

    def send(self, *parts: bytes) -> None:
        """Put bytes on the line."""
        for part in parts:
            self._connection.sendall(part)
            self.sent_bytes += len(part)

    def drip(self, parts: Iterable[bytes], *, every_s: float) -> None:
        """Put parts on the line one by one until they or the test end."""
        for part in parts:
            if self._ended.wait(every_s):
                return
            self.send(part)

    def hold(self) -> None:
        """Do nothing and keep the line open until the test ends."""
        self._ended.wait(LONGEST_S)


Behavior = Callable[[Line], bool | None]


class Hostile:
    """Listens on loopback; a behavior answers each request and says by True to read another."""

    def __init__(self, behavior: Behavior) -> None:
        self._behavior = behavior
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._guard = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self.lines: list[Line] = []
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        # Closing alone does not wake a thread that waits in accept or recv.
        for one in (self._listener, *self._held()):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        for thread in self._threads:
            thread.join(60)
        self._listener.close()

    @property
    def requests(self) -> list[bytes]:
        """What was asked, in order."""
        return [line.request for line in self.lines]

    def _held(self) -> list[socket.socket]:
        with self._guard:
            return list(self._open)

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._guard:
                self._open.add(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while (request := _read(connection)) and self._answer(connection, request):
                    pass
            except OSError:
                pass  # The client hung up, which is its right.
            finally:
                with self._guard:
                    self._open.discard(connection)

    def _answer(self, connection: socket.socket, request: bytes) -> bool:
        with self._guard:
            line = Line(connection, request, len(self.lines), self._ended)
            self.lines.append(line)
        return bool(self._behavior(line))


def http(
    body: bytes | Any = b"",
    *headers: str,
    status: str = "200 OK",
    kind: str = "application/json",
    length: int | None = None,
) -> bytes:
    """An answer with the contract's headers; a body that is no bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(data) if length is None else length}",
        f"X-Request-ID: {REQUEST_ID}",
        "Cache-Control: no-store",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + data


def _read(connection: socket.socket) -> bytes:
    """One request, or nothing when the other side hung up."""
    whole = b""
    while b"\r\n\r\n" not in whole:
        part = connection.recv(65_536)
        if not part:
            return b""
        whole += part
    head, _, body = whole.partition(b"\r\n\r\n")
    missing = _length(head) - len(body)
    while missing > 0:
        part = connection.recv(65_536)
        if not part:
            return b""
        whole += part
        missing -= len(part)
    return whole


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


ATTEMPTS = 2
#: For answers that come at once, on a machine that is busy.
PATIENT_S = 20.0
#: For answers that are waited for in vain.
HASTY_S = 0.25
#: What a call that waits in vain may take in all: attempts, waits, slack.
BOUND_S = 20.0
#: What is taken of one answer at most: the longest that is read, and what the line holds beside it.
MOST_TAKEN_BYTES = ANSWER_BYTES + (16 << 20)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

#: A page of which the packed bytes end too early, in an answer that is whole.
CUT_OFF = gzip.compress(json.dumps({"data": list(range(1_000))}).encode())[:-500]

Asking = Callable[[Client], object]

#: A list, a single read, and a write, each with the operation's name.
ASKED: tuple[tuple[str, Asking], ...] = (
    ("calls.list", lambda client: list(client.calls.list())),
    ("calls.get", lambda client: client.calls.get(CALL)),
    ("leads.create", lambda client: client.leads.create(campaign_id=CAMPAIGN, phone=PHONE)),
)


def said(*parts: bytes) -> Behavior:
    """The same bytes for every request; then the line is closed."""

    def behave(line: Line) -> None:
        line.send(*parts)

    return behave


def kept(answer: bytes) -> Behavior:
    """The same whole answer for every request, over one connection."""

    def behave(line: Line) -> bool:
        line.send(answer)
        return True

    return behave


def held(*parts: bytes) -> Behavior:
    """The same bytes for every request; then nothing more, on an open line."""

    def behave(line: Line) -> None:
        line.send(*parts)
        line.hold()

    return behave


def dripping(begin: bytes, drop: bytes, every_s: float) -> Behavior:
    """A drop again and again, each of them in time."""

    def behave(line: Line) -> None:
        line.send(begin)
        line.drip(itertools.repeat(drop), every_s=every_s)

    return behave


def flooding(begin: bytes, drop: bytes) -> Behavior:
    """A drop again and again, as fast as they are taken, until more is taken than anybody should take."""

    def behave(line: Line) -> None:
        line.send(begin)
        while line.sent_bytes <= MOST_TAKEN_BYTES:
            line.send(drop)

    return behave


@dataclass(frozen=True)
class Case:
    """What the service does, and how the client names it."""

    name: str
    behavior: Behavior
    error: type[DialframeError]
    words: str
    attempts: int = 1
    timeout_s: float = PATIENT_S


def broken(name: str, behavior: Behavior, words: str) -> Case:
    """An answer that came and is not the contract's: asked for once."""
    return Case(name, behavior, ContractError, words)


def lost(name: str, behavior: Behavior, words: str) -> Case:
    """No answer: a read is asked for again, a write too, as it has a key."""
    return Case(name, behavior, TransportError, words, ATTEMPTS)


def slow(name: str, behavior: Behavior, words: str) -> Case:
    """No answer in time."""
    return Case(name, behavior, TransportError, words, ATTEMPTS, HASTY_S)


CASES: tuple[Case, ...] = (
    broken("a page of HTML", kept(http(b"<html>", kind="text/html")), "6 bytes of text/html are not JSON"),
    broken("a byte order mark", kept(http(b"\xef\xbb\xbf{}")), "are not JSON"),
    broken("UTF-16", kept(http('{"data":[]}'.encode("utf-16"))), "are not JSON"),
    broken("a lone surrogate", kept(http(b'{"id":"\\ud800"}')),
           "(at id: half of a character|at data: a list of rows)"),
    broken("a raw NUL", kept(http(b'{"id":"\x00"}')), "are not JSON"),
    broken("not a number", kept(http(b'{"id":NaN}')),
           "(at id: a finite number|at data: a list of rows)"),
    broken("nested without end", kept(http(b"[" * 100_000)), "are not JSON"),
    broken("a number", kept(http(5)), "at body: .*an object"),
    broken("a list", kept(http([])), "at body: .*an object"),
    broken("a redirect to itself", kept(http(b"", "Location: /v1/calls", status="302 Found")), "at status 302: redirects"),
    broken("a redirect to nowhere", kept(http(b"", "Location: http://[", status="308 Permanent Redirect")), "at status 308: redirects"),
    broken("a problem with status 200", kept(http(problem(409, "conflict").content, kind="application/problem+json")), "at status 200: a problem document"),
    broken("half a gzip stream", said(http(CUT_OFF, "Content-Encoding: gzip")), "are not JSON"),
    broken("a body without end", flooding(CHUNKED, b"100000\r\n" + b" " * 2**20 + b"\r\n"), f"longer than {ANSWER_BYTES:,} bytes"),
    lost("half a body", said(http(b'{"data":[', length=100)), "broke off its answer"),
    lost("half a chunk", said(CHUNKED, b'20\r\n{"data":'), "broke off its answer"),
    lost("a gigabyte that ends early", said(http(b'{"data":[', length=10**9)), "broke off its answer"),
    slow("a gigabyte that stops", held(http(b'{"data":[', length=10**9)), "did not answer in time"),
    lost("garbage called gzip", said(http(b"\x1f\x8bgarbage", "Content-Encoding: gzip")), "cannot be unpacked"),
    lost("two lengths", said(HEAD, b"Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}"), "conflicting Content-Length"),
    lost("a length and chunks that disagree", said(HEAD, b"Content-Length: 2\r\nTransfer-Encoding: chunked, gzip\r\n\r\n{}"), "broke off its answer"),
    lost("a length that is no number", said(HEAD, b"Content-Length: -1\r\n\r\n{}"), "broke off its answer"),
    lost("no answer, hung up", said(), "without sending a response"),
    slow("no answer, line kept", held(), "did not answer in time"),
    lost("another protocol", said(b"SSH-2.0-OpenSSH_9.9\r\n"), "broke off its answer"),
    lost("half a status line", said(b"HTTP/1.1 2"), "broke off its answer"),
    lost("a status of two digits", said(b"HTTP/1.1 99 x\r\n\r\n"), "broke off its answer"),
    lost("an upgrade nobody asked for", said(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"), "broke off its answer"),
    lost("headers without end", flooding(HEAD, b"X-More: " + b"y" * 5_000 + b"\r\n"), "broke off its answer"),
    slow("a head that drips", dripping(HEAD + b"X-More: ", b"y", 0.02), "did not answer in time"),
    slow("early hints for ever", dripping(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.01), "did not answer in time"),
    slow("a body that drips", dripping(HEAD + b"Content-Length: 1000000\r\n\r\n", b" ", 0.02), "drips in"),
    slow("chunks that drip", dripping(CHUNKED, b"1\r\n \r\n", 0.02), "drips in"),
)  # fmt: skip


def connected(
    service: Hostile,
    journal: Path,
    *,
    timeout_s: float = PATIENT_S,
    deadline_s: float | None = None,
) -> Client:
    """A client of a hostile service that tries twice, of the kind that is under test."""
    return fakes.client_at(
        service.base_url, "svc_test_a_b", journal=journal, max_attempts=ATTEMPTS,
        timeout_s=timeout_s, deadline_s=deadline_s,
    )  # fmt: skip


@pytest.fixture(autouse=True, params=["threads", "event loop"])
def client_kind(request: pytest.FixtureRequest) -> Iterator[str]:
    """Both kinds of client meet every hostile service."""
    fakes.KIND = request.param
    yield request.param
    fakes.KIND = "threads"


#: Every case for a list, a read and a write; what takes its time for a write alone.
TRIED = [
    (operation, ask, case)
    for operation, ask in ASKED
    for case in CASES
    if case.timeout_s == PATIENT_S or operation == "leads.create"
]


@pytest.mark.parametrize(
    ("operation", "ask", "case"), TRIED, ids=[f"{tried[0]}-{tried[2].name}" for tried in TRIED]
)
def test_broken_answer_is_an_error_that_says_where(
    operation: str, ask: Asking, case: Case, tmp_path: Path
) -> None:
    """Of the right family, with the operation, the place or the host, in bounded time; a write stays open."""
    with (
        Hostile(case.behavior) as service,
        connected(service, tmp_path, timeout_s=case.timeout_s) as client,
    ):
        began_s = time.monotonic()
        with pytest.raises(case.error, match=f"(?s)^{operation}: .*{case.words}") as caught:
            ask(client)
        taken_s = time.monotonic() - began_s
        pending = [write.operation for write in client.writes.pending()]

    # What answers at once is bounded by what is taken of it: how long that takes is the machine's matter.
    assert case.timeout_s == PATIENT_S or taken_s < BOUND_S
    assert max(line.sent_bytes for line in service.lines) <= MOST_TAKEN_BYTES
    assert caught.value.operation == operation  # type: ignore[attr-defined]
    assert len(service.requests) == case.attempts
    if isinstance(caught.value, ContractError):
        assert caught.value.where
        assert f" at {caught.value.where}: " in str(caught.value)
    if isinstance(caught.value, TransportError):
        assert caught.value.sent
    # Whatever came instead of an answer, the write may have happened.
    assert pending == ([operation] if operation == "leads.create" else [])


def test_rows_of_the_wrong_type_are_set_aside_and_the_others_stay(tmp_path: Path) -> None:
    """Each with its place and its JSON; the walk goes on."""
    wrong = [row(9, id=5), row(9, created_at=1_700_000_000), row(9, created_at="1700000000"),
             row(9, answered_at="yesterday"), row(9, duration_seconds="12"), [], None, "x", {}]  # fmt: skip
    document = a_page([row(1), *wrong, row(2)]).json()
    with Hostile(kept(http(document))) as service, connected(service, tmp_path) as client:
        (only,) = client.calls.list().pages()

    assert [call.id for call in only.records] == [row(1)["id"], row(2)["id"]]
    assert [item.raw for item in only.quarantined] == wrong
    assert [item.index for item in only.quarantined] == list(range(1, 10))
    assert [item.where for item in only.quarantined[:5]] == [
        "id", "created_at", "created_at", "answered_at", "duration_seconds"
    ]  # fmt: skip


ONE = a_page([row()]).content
SURVIVED: dict[str, Behavior] = {
    "header twice": kept(http(ONE, "X-Request-ID: b", "ETag: a", "ETag: b")),
    "type twice": kept(http(ONE, "Content-Type: text/plain", "Retry-After: soon")),
    "length twice, the same": kept(http(ONE, f"Content-Length: {len(ONE)}")),
    "no header at all": said(b"HTTP/1.0 200 OK\r\n\r\n", ONE),
    "called text": kept(http(ONE, kind="text/plain; charset=latin-1")),
    "status 299": kept(http(ONE, status="299 Fine")),
    "cookies": kept(http(ONE, "Set-Cookie: a=b; Path=/; HttpOnly")),
    "an early hint first": kept(b"HTTP/1.1 103 Early Hints\r\n\r\n" + http(ONE)),
    "gzip": kept(http(gzip.compress(ONE), "Content-Encoding: gzip")),
    "fields of tomorrow": kept(http({**a_page([row(new={"deep": [1]}, direction="sideways")]).json(), "x": 1})),
}  # fmt: skip


@pytest.mark.parametrize("behavior", SURVIVED.values(), ids=SURVIVED)
def test_oddness_that_changes_no_meaning_is_survived(behavior: Behavior, tmp_path: Path) -> None:
    """Twice over one client: what is left on a line does not reach the next answer."""
    with Hostile(behavior) as service, connected(service, tmp_path) as client:
        for _ in range(2):
            assert [call.id for call in client.calls.list()] == [row()["id"]]
        assert not any(b"cookie" in request.lower() for request in service.requests)


def test_answer_without_a_body_is_survived_where_the_contract_shows_none(tmp_path: Path) -> None:
    """The answer to `calls.get` is unshown: nothing is known of the call then, and that is said so."""
    empty = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    with Hostile(kept(empty)) as service, connected(service, tmp_path) as client:
        call = client.calls.get(row()["id"])
        with pytest.raises(ContractError, match=r"^calls\.list: .* at body: 0 bytes"):
            list(client.calls.list())

    assert isinstance(call, Call)
    assert set(call.model_dump().values()) == {None}


def test_refusal_that_nobody_understands_is_still_a_refusal(tmp_path: Path) -> None:
    """A status of no range, a body of no problem: asked again as any outage, then said."""
    answer = http(b"\x00\xff", status="999 What", kind="application/problem+json")
    with Hostile(kept(answer)) as service, connected(service, tmp_path) as client:
        with pytest.raises(ServiceUnavailable, match=r"^calls\.list: 999 ") as caught:
            list(client.calls.list())
        assert len(service.requests) == ATTEMPTS

    assert (caught.value.status, caught.value.code) == (999, "")


@pytest.mark.parametrize(
    "behavior",
    [dripping(HEAD + b"X-More: ", b"y", 0.02), dripping(CHUNKED, b"1\r\n \r\n", 0.02), held()],
    ids=["head", "body", "nothing"],
)
def test_deadline_ends_whatever_drips(behavior: Behavior, tmp_path: Path) -> None:
    """Also where each wait alone would be allowed to take longer than the whole call."""
    with (
        Hostile(behavior) as service,
        connected(service, tmp_path, timeout_s=30.0, deadline_s=0.4) as client,
    ):
        began_s = time.monotonic()
        with pytest.raises(TransportError, match=r"^calls\.list: "):
            list(client.calls.list())

    assert 0.3 < time.monotonic() - began_s < BOUND_S


def test_answer_that_comes_slowly_and_steadily_is_taken(tmp_path: Path) -> None:
    """Thirty parts, in all longer than one wait may take: slow is not dripping."""
    body = a_page([row(n) for n in range(60)]).content
    size = len(body) // 30 + 1

    def behave(line: Line) -> None:
        line.send(HEAD + b"Content-Length: %d\r\n\r\n" % len(body))
        line.drip((body[at : at + size] for at in range(0, len(body), size)), every_s=0.02)

    with Hostile(behave) as service, connected(service, tmp_path, timeout_s=0.4) as client:
        began_s = time.monotonic()
        assert len(list(client.calls.list())) == 60
        assert time.monotonic() - began_s > 0.4
        assert len(service.requests) == 1


def test_recording_that_breaks_off_leaves_no_file(tmp_path: Path) -> None:
    """Neither half a recording under its name nor anything beside it."""
    folder = tmp_path / "recordings"
    folder.mkdir()
    with (
        Hostile(said(http(b"RIFF" * 100, length=10**9, kind="audio/wav"))) as service,
        connected(service, tmp_path) as client,
        pytest.raises(TransportError, match=r"^calls\.recording: .*broke off"),
    ):
        client.calls.recording(row()["id"], folder / "call.wav")

    assert list(folder.iterdir()) == []
