"""The sandbox under bytes of every kind: an answer of the contract or a closed line, soon, and never a failure.

`DIALFRAME_FUZZ_EXAMPLES=2000` makes it 2,000 examples for each property.
"""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from dialframe.contract import operations
from dialframe.contract.error_codes import BY_CODE
from dialframe.sandbox import start
from robustness import fuzz_requests as made
from robustness.fuzz_requests import Bytes, Raw
from rows import every_row

#: What is put into each field in turn.
VALUES: tuple[object, ...] = (
    None, True, 0, -1, 2**63, 2**70, -(2**70), 1e308, 0.1, "", " ", "x" * 5_000, "\u2028", "\x7f",
    "\U0001f600", "%00", "' OR 1=1 --", "../../etc/passwd", "2026-01-01T00:00:00Z",
    "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-02-30T00:00:00Z", [], {},
    [None], [[]], [{}], {"": ""}, {"a": {"b": None}}, ["call.completed"], "+12025550142",
    "https://[", "https://a.example.com\t", "http://0x7f.1/", "Europe/London\n", "nan", "1e5",
)  # fmt: skip
#: What is put into each parameter in turn, as a query spells it.
QUERIES = ("", "%00", "%ff", "%F0%9F%98%80", "a" * 5_000, "-1", "1e9", "[]", "%", "+", "2026-02-30",
           "0001-01-01", "9999-12-31", "%27", "a&a", "%E2%80%A8")  # fmt: skip

#: No answer and no end for so long is a hang.
HANG_S = 20.0

REQUEST_ID = re.compile(r"req_[0-9A-HJKMNP-TV-Z]{26}|edge_[0-9a-f]{32}")


@dataclass(frozen=True)
class Answer:
    """One answer; header names in lower case, each with all its values."""

    status: int
    headers: dict[str, list[str]]
    body: bytes


@dataclass(frozen=True)
class Talk:
    """What came over one connection.

    Attributes:
        answers: Whole answers, in order.
        rest: Bytes behind the last whole answer.
        ended: Whether the service hung up.
    """

    answers: tuple[Answer, ...]
    rest: bytes
    ended: bool


def talk(
    base_url: str,
    parts: Sequence[bytes],
    *,
    wanted: int,
    methods: Sequence[str] = (),
    pause_s: float = 0.0,
    wait_s: float = HANG_S,
) -> Talk:
    """Send parts, wait for so many answers, then say that nothing more comes and wait for the end.

    Args:
        base_url: The service.
        parts: What is sent, with a pause behind each.
        wanted: Answers to wait for, at most `wait_s`.
        methods: Methods of the requests, as an answer to HEAD has no body.
        pause_s: Seconds between parts.
        wait_s: How long answers may take before the end is announced.
    """
    where = urlsplit(base_url)
    came = b""
    answers: list[Answer] = []
    with socket.create_connection((where.hostname, where.port), timeout=HANG_S) as line:
        try:
            for part in parts:
                line.sendall(part)
                if pause_s:
                    time.sleep(pause_s)
            deadline_s = time.monotonic() + wait_s
            while len(answers) < wanted:
                part = _receive(line, deadline_s)
                if part is None:
                    break
                if not part:
                    return Talk(tuple(answers), came, ended=True)
                more, came = _taken(came + part, methods[len(answers) :])
                answers += more
            line.shutdown(socket.SHUT_WR)
            deadline_s = time.monotonic() + HANG_S
            while part := _receive(line, deadline_s):
                came += part
        except TimeoutError:
            raise
        except OSError:
            # Refused while it was still being sent, or hung up with bytes of ours unread.
            part = b""
    more, came = _taken(came, methods[len(answers) :])
    return Talk((*answers, *more), came, ended=part == b"")


def _receive(line: socket.socket, deadline_s: float) -> bytes | None:
    """Bytes, none at the end, None at the deadline."""
    line.settimeout(max(deadline_s - time.monotonic(), 0.001))
    try:
        return line.recv(1 << 16)
    except TimeoutError:
        return None


def _taken(came: bytes, methods: Sequence[str]) -> tuple[list[Answer], bytes]:
    answers: list[Answer] = []
    while b"\r\n\r\n" in came:
        head, _, rest = came.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        status = int(first.split(" ")[1])
        if status < 200:
            came = rest
            continue
        headers: dict[str, list[str]] = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers.setdefault(name.lower(), []).append(value.strip())
        to_head = methods[len(answers) : len(answers) + 1] == ["HEAD"]
        # What was no request has no method either: its refusal comes whole.
        unread = headers.get("x-request-id", [""])[0].startswith("edge_")
        silent = status in (204, 304) or (to_head and not unread)
        body = b"" if silent else _body(headers, rest)
        if body is None:
            break
        answers.append(Answer(status, headers, body))
        came = rest[len(body) if "content-length" in headers else _chunked_size(rest) :]
        if silent:
            came = rest
    return answers, came


def _body(headers: dict[str, list[str]], rest: bytes) -> bytes | None:
    if "content-length" in headers:
        length = int(headers["content-length"][0])
        return rest[:length] if len(rest) >= length else None
    if b"0\r\n\r\n" not in rest:
        return None
    return rest[: _chunked_size(rest)]


def _chunked_size(rest: bytes) -> int:
    return rest.index(b"0\r\n\r\n") + 5 if b"0\r\n\r\n" in rest else 0


def check(answer: Answer, *, secret: str, contract: bool = True) -> None:
    """What the contract promises of every answer, whatever was asked.

    Args:
        answer: The answer.
        secret: The key, which no answer shows.
        contract: Whether the path is the contract's and not the console's.
    """
    assert len(answer.headers.get("x-request-id", ())) == 1, answer
    assert REQUEST_ID.fullmatch(answer.headers["x-request-id"][0]), answer
    assert answer.headers.get("cache-control") == ["no-store"], answer
    assert b"Traceback" not in answer.body, answer
    assert b'File "' not in answer.body, answer
    assert secret.encode() not in answer.body, answer
    if answer.status >= 500:
        assert answer.status == 503, answer
    if answer.status >= 400 and contract and answer.body:
        _check_problem(answer)


def _check_problem(answer: Answer) -> None:
    assert answer.headers.get("content-type") == ["application/problem+json"], answer
    problem = json.loads(answer.body)
    code = problem["code"]
    assert code in BY_CODE, answer
    assert answer.status in BY_CODE[code].statuses, answer
    assert problem["status"] == answer.status, answer
    if "idempotency-replayed" not in answer.headers:
        # A stored answer names the request that it was the answer to.
        assert problem["request_id"] == answer.headers["x-request-id"][0], answer
    assert problem["instance"] == f"urn:service:request:{problem['request_id']}", answer
    assert problem["type"].endswith("/errors/" + code.replace("_", "-")), answer
    assert isinstance(problem["title"], str), answer
    assert isinstance(problem["detail"], str), answer
    if answer.status in (429, 503):
        assert int(answer.headers["retry-after"][0]) >= 1, answer
    for entry in problem.get("errors", ()):
        assert set(entry) == {"pointer", "code"}, answer
        assert entry["pointer"] == "" or entry["pointer"].startswith("/"), answer


EXAMPLES = int(os.environ.get("DIALFRAME_FUZZ_EXAMPLES", "40"))
#: How long bytes that are no whole request may stay unanswered before their end is announced.
BRIEF_S = 0.02

fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Complaints(logging.Handler):
    """Collects what the service logs as an error: a traceback that was hidden from the answer."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))


@dataclass(frozen=True)
class Fuzzed:
    """A service with a small account, and what it complained of."""

    base_url: str
    api_key: str
    ids: dict[str, str]
    complaints: Complaints

    def real(self, raw: bytes) -> bytes:
        """Bytes with the key and the ids of this account, and a new idempotency key."""
        for name, value in self.ids.items():
            raw = raw.replace(made.IDS[name].encode(), value.encode())
        raw = raw.replace(made.FRESH, uuid.uuid4().hex.encode())
        return raw.replace(made.KEY.encode(), self.api_key.encode())

    def send(self, one: Raw) -> Raw:
        """A request with the key and the ids of this account, its length said anew."""
        headers = [
            (name, self.real(value)) for name, value in one.headers if name != b"Content-Length"
        ]
        body = self.real(one.body)
        return replace(
            one, target=self.real(one.target), headers=tuple(headers), body=body
        ).framed()

    def check(self, came: Talk, *, contract: bool = True) -> None:
        """Every answer is one of the contract; nothing failed behind it; the service is there."""
        for answer in came.answers:
            check(answer, secret=self.api_key, contract=contract)
        assert came.rest == b"", came
        assert self.complaints.texts == []
        self.alive()

    def alive(self) -> None:
        """Another caller is answered at once."""
        began_s = time.monotonic()
        answer = httpx.get(
            f"{self.base_url}/v1/me",
            headers={"Authorization": f"Bearer {self.api_key}"},
            trust_env=False,
            timeout=HANG_S,
            verify=False,  # noqa: S501 - plain http; reading certificates takes longer than asking
        )
        assert answer.status_code == 200
        assert time.monotonic() - began_s < HANG_S


@pytest.fixture(scope="module")
def fuzzed_service() -> Iterator[Fuzzed]:
    """One service for all; whatever is written to it stays."""
    complaints = Complaints()
    # Also what uvicorn and asyncio say: an exception that nobody caught ends there.
    logging.getLogger().addHandler(complaints)
    try:
        with start(size="tiny") as sandbox:
            sandbox.console.update_account({"rate_limits": None})
            ids = _ids(sandbox.base_url, sandbox.api_key)
            yield Fuzzed(sandbox.base_url, sandbox.api_key, ids, complaints)
    finally:
        logging.getLogger().removeHandler(complaints)


def _ids(base_url: str, api_key: str) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {api_key}"}
    with httpx.Client(base_url=base_url, headers=headers, trust_env=False) as http:

        def first(path: str) -> str:
            return str(http.get(path).raise_for_status().json()["data"][0]["id"])

        def fresh(path: str, **body: object) -> str:
            answer = http.post(path, json=body, headers={"Idempotency-Key": path})
            return str(answer.raise_for_status().json()["id"])

        lead = first("/v1/leads")
        return {
            "campaign_id": first("/v1/campaigns?status=paused"),
            "lead_id": lead,
            "call_id": first("/v1/calls"),
            "appointment_id": first("/v1/appointments"),
            "callback_id": fresh(
                "/v1/callbacks", lead_id=lead, scheduled_at="2030-01-01T00:00:00Z"
            ),
            "webhook_id": fresh(
                "/v1/webhooks", url="http://127.0.0.1:9/x", events=["call.completed"]
            ),
            "event_id": first("/v1/webhook-events"),
        }


def good(fuzzed_service: Fuzzed, name: str) -> Raw:
    """A request that is right."""
    return fuzzed_service.send(made.good(operations.BY_NAME[name]))


FRAGMENTS = st.sampled_from(
    [b"GET", b"POST", b"PRI", b" ", b"/v1/me", b"/v1/calls?limit=1", b"*", b"http://x/v1/me",
     b" HTTP/1.1", b" HTTP/1.0", b" HTTP/2.0", b" HTTP/9", b"\r\n", b"\n", b"\r", b"\r\n\r\n",
     b"Host: x", b"Authorization: Bearer " + made.KEY.encode(), b"Content-Length: 2", b"{}",
     b"Content-Length: 99", b"Transfer-Encoding: chunked", b"2\r\n{}\r\n", b"0\r\n\r\n", b"ffff",
     b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Key: eA==", b"\x16\x03\x01",
     b"Expect: 100-continue", b"\x00", b"\xff", b": ", b"x" * 70_000, b" folded"]
)  # fmt: skip


@fuzzed
@given(
    raw=st.one_of(st.binary(max_size=400), st.lists(FRAGMENTS, max_size=14).map(b"".join)).map(
        Bytes
    )
)
def test_any_bytes(fuzzed_service: Fuzzed, raw: bytes) -> None:
    """Whatever comes over the line: answers of the contract or none, and the line ends with the sender."""
    came = talk(fuzzed_service.base_url, [fuzzed_service.real(raw)], wanted=1, wait_s=BRIEF_S)

    event(f"answers: {len(came.answers)}")
    assert came.ended, "the service kept the line open"
    fuzzed_service.check(came)


@fuzzed
@given(one=made.mutated())
def test_mutated_request(fuzzed_service: Fuzzed, one: Raw) -> None:
    """A whole request, changed anywhere: one answer, in time."""
    sent = fuzzed_service.send(one)
    came = talk(fuzzed_service.base_url, [sent.encode()], wanted=1, methods=[sent.method])

    assert len(came.answers) == 1, (sent, came)
    event(f"status {came.answers[0].status}")
    fuzzed_service.check(came, contract=b"/console" not in sent.target)


@fuzzed
@given(data=st.data(), row=made.WRITES_ANY)
def test_any_json(
    fuzzed_service: Fuzzed, data: st.DataObject, row: operations.Operation[Any, Any]
) -> None:
    """NaN, huge numbers, a name twice, depth, half characters, NUL, no UTF-8: 2xx or a 4xx that says why."""
    request = replace(made.good(row), body=data.draw(made.bodies(row)))
    sent = fuzzed_service.send(request)
    came = talk(fuzzed_service.base_url, [sent.encode()], wanted=1)

    (answer,) = came.answers
    event(f"status {answer.status}")
    fuzzed_service.check(came)
    if answer.status == 400 and json.loads(answer.body)["code"] == "validation_failed":
        assert json.loads(answer.body)["errors"], answer


@fuzzed
@given(one=made.mutated(), frame=made.FRAMING, brief=st.booleans())
def test_message_whose_end_is_unclear(
    fuzzed_service: Fuzzed, one: Raw, frame: tuple[bytes, bytes], brief: bool
) -> None:
    """Lengths and codings that are wrong, missing or contradict: refused or waited for, never hung."""
    sent = fuzzed_service.send(one)
    plain = [pair for pair in sent.headers if pair[0] != b"Content-Length" or not brief]
    sent = replace(sent, headers=(*plain, frame))
    came = talk(
        fuzzed_service.base_url, [sent.encode()], wanted=1, methods=[sent.method], wait_s=BRIEF_S
    )

    event(f"answers: {len(came.answers)}")
    assert came.ended, "the service kept the line open"
    fuzzed_service.check(came, contract=b"/console" not in sent.target)


def in_one_go(fuzzed_service: Fuzzed, requests: list[Raw]) -> set[int]:
    """The statuses of requests that are sent over one line; each has its answer, of the contract."""
    sent = [_framed_once(fuzzed_service.send(one)).encode() for one in requests]
    came = talk(fuzzed_service.base_url, [b"".join(sent)], wanted=len(sent), wait_s=30)
    assert len(came.answers) == len(sent)
    fuzzed_service.check(came)
    return {answer.status for answer in came.answers}


@every_row("row", [row for row in operations.ALL if row.method != "GET"])
def test_any_value_in_any_field(
    fuzzed_service: Fuzzed, row: operations.Operation[Any, Any]
) -> None:
    """Each field of each write in turn, beside good ones."""
    right = made.good(row)
    fields = {**made.GOOD, **made.IDS}
    for field in (*row.body_names, "unknown"):
        beside = {name: fields[name] for name in row.body_names if name in fields}
        bodies = [json.dumps({**beside, field: value}).encode() for value in VALUES]
        in_one_go(fuzzed_service, [replace(right, body=body) for body in bodies])


@every_row("field", ["custom_fields", "full_name", "email", "external_id", "phone"])
def test_any_value_in_a_lead(fuzzed_service: Fuzzed, field: str) -> None:
    """What a lead of an import holds is accepted, refused by lead, or refused at once."""
    leads = [
        {"phone": f"+1212555{100 + place:04d}", field: value}
        for place, value in enumerate((*VALUES, {"k": "v"}, {str(n): [n] for n in range(20)}))
    ]
    right = made.good(operations.LEADS_IMPORT)
    requests = [replace(right, body=json.dumps({"leads": [lead]}).encode()) for lead in leads]
    # What was sent at random before may have resumed the campaign, and a running one takes no import.
    assert in_one_go(fuzzed_service, [made.good(operations.CAMPAIGNS_PAUSE)]) == {200}
    assert in_one_go(fuzzed_service, requests) <= {200, 400}


@every_row("row", [row for row in made.ROWS if row.method == "GET"])
def test_any_query(fuzzed_service: Fuzzed, row: operations.Operation[Any, Any]) -> None:
    """Each parameter of each reading operation in turn."""
    right = made.good(row)
    for field in (*row.query_names, "unknown"):
        targets = [right.target + f"?{field}={value}".encode() for value in QUERIES]
        in_one_go(fuzzed_service, [replace(right, target=target) for target in targets])


@every_row(
    "header",
    ["Authorization", "Idempotency-Key", "X-Correlation-ID", "If-Match", "Content-Type",
     "Content-Length", "Transfer-Encoding", "Expect", "Accept-Encoding", "Host"],
)  # fmt: skip
def test_any_header(fuzzed_service: Fuzzed, header: str) -> None:
    """Odd values are refused by the API or by the edge, and the line goes on or is closed."""
    right = fuzzed_service.send(made.good(operations.LEADS_UPDATE))
    for value in (b"", b"\xff\xfe", b"x" * 9_000, b'"', b",,,", b"-1", b"chunked, chunked"):
        name = header.encode()
        unframed = {name, b"Content-Length"} if header == "Transfer-Encoding" else {name}
        headers = [pair for pair in right.headers if pair[0] not in unframed]
        one = replace(right, headers=(*headers, (name, value)), body=b"{}")
        came = talk(fuzzed_service.base_url, [one.encode()], wanted=1, wait_s=BRIEF_S)
        assert came.ended
        fuzzed_service.check(came)


STEPS = st.sampled_from(
    ["me", "calls.list", "leads.get", "nothing", "dnc.check", "dnc.add", "leads.update", "broken"]
)


@fuzzed
@given(steps=st.lists(STEPS, min_size=2, max_size=7), pieces=st.integers(1, 9))
def test_pipelined_requests(fuzzed_service: Fuzzed, steps: list[str], pieces: int) -> None:
    """Several in one go, cut anywhere: one answer each, in their order, until one that ends the line."""
    requests, expected = [], []
    for step in steps:
        if step == "nothing":
            requests.append(replace(good(fuzzed_service, "me"), target=b"/v1/nothing"))
            expected.append(404)
        elif step == "broken":
            requests.append(replace(good(fuzzed_service, "dnc.check"), body=b"{").framed())
            expected.append(400)
        else:
            requests.append(good(fuzzed_service, step))
            expected.append(201 if step == "dnc.add" else 200)
    whole = b"".join(_framed_once(request).encode() for request in requests)
    size = len(whole) // pieces + 1
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    came = talk(fuzzed_service.base_url, parts, wanted=len(requests))

    statuses = [answer.status for answer in came.answers]
    assert statuses == expected
    fuzzed_service.check(came)


def _framed_once(one: Raw) -> Raw:
    plain = tuple(pair for pair in one.headers if pair[0] != b"Content-Length")
    return replace(one, headers=plain).framed()


@fuzzed
@given(
    cut=st.floats(0, 1, exclude_max=True),
    goodbye=st.sampled_from(["close", "reset", "half"]),
    number=st.integers(0, 99),
)
def test_half_requests(fuzzed_service: Fuzzed, cut: float, goodbye: str, number: int) -> None:
    """A write that breaks off before its end does nothing, however the sender leaves."""
    phone = f"+1952555{100 + number:04d}"
    body = json.dumps({"phone": phone}).encode()
    request = replace(good(fuzzed_service, "dnc.add"), body=body)
    whole = _framed_once(request).encode()
    where = urlsplit(fuzzed_service.base_url)
    with socket.create_connection((where.hostname, where.port), timeout=HANG_S) as line:
        line.sendall(whole[: int(len(whole) * cut)])
        if goodbye == "reset":
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        elif goodbye == "half":
            line.shutdown(socket.SHUT_WR)
            while line.recv(1 << 16):
                pass
    asked = replace(
        good(fuzzed_service, "dnc.check"), body=json.dumps({"phones": [phone]}).encode()
    )
    came = talk(fuzzed_service.base_url, [_framed_once(asked).encode()], wanted=1)

    assert json.loads(came.answers[0].body)["data"] == [{"phone": phone, "listed": False}]
    fuzzed_service.check(came)


@settings(fuzzed, max_examples=max(EXAMPLES // 8, 5))
@given(
    name=st.sampled_from(["me", "calls.list", "dnc.check", "leads.update"]),
    pieces=st.integers(5, 60),
)
def test_slow_requests(fuzzed_service: Fuzzed, name: str, pieces: int) -> None:
    """Bytes that trickle in are answered in the end, and nobody else waits for them meanwhile."""
    whole = _framed_once(good(fuzzed_service, name)).encode()
    size = len(whole) // pieces + 1
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    where = urlsplit(fuzzed_service.base_url)
    with socket.create_connection((where.hostname, where.port), timeout=HANG_S) as idle:
        idle.sendall(whole[:-1])
        came = talk(fuzzed_service.base_url, parts, wanted=1, pause_s=0.002)
        fuzzed_service.alive()
        idle.sendall(whole[-1:])
        assert idle.recv(1 << 16).startswith(b"HTTP/1.1 2")

    assert [answer.status for answer in came.answers] == [200]
    fuzzed_service.check(came)
