"""Raw bytes to a service and its answers taken apart; knows HTTP/1.1's frame and the contract's promises for every answer."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from dialframe.contract.error_codes import BY_CODE

#: No answer and no end for so long is a hang.
HANG_S = 2.0

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
    with socket.create_connection((where.hostname, where.port), timeout=HANG_S) as line:
        try:
            for part in parts:
                line.sendall(part)
                if pause_s:
                    time.sleep(pause_s)
            deadline_s = time.monotonic() + wait_s
            while len(_taken(came, methods)[0]) < wanted:
                part = _receive(line, deadline_s)
                if part is None:
                    break
                if not part:
                    return _talk(came, methods, ended=True)
                came += part
            line.shutdown(socket.SHUT_WR)
            deadline_s = time.monotonic() + HANG_S
            while part := _receive(line, deadline_s):
                came += part
        except TimeoutError:
            raise
        except OSError:
            # Refused while it was still being sent, or hung up with bytes of ours unread.
            return _talk(came, methods, ended=True)
    return _talk(came, methods, ended=part == b"")


def _receive(line: socket.socket, deadline_s: float) -> bytes | None:
    """Bytes, none at the end, None at the deadline."""
    line.settimeout(max(deadline_s - time.monotonic(), 0.001))
    try:
        return line.recv(1 << 16)
    except TimeoutError:
        return None


def _talk(came: bytes, methods: Sequence[str], *, ended: bool) -> Talk:
    answers, rest = _taken(came, methods)
    return Talk(tuple(answers), rest, ended)


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
