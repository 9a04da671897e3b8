"""What every request meets first, with apps made for the purpose behind it."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.types import Message, Receive, Scope, Send

from dialframe.contract.ids import REQUEST_ID
from dialframe.sandbox import Sandbox
from dialframe.sandbox.edge import Edge
from sandbox.calling import Api, refused


def run(app: Any, incoming: list[Message], path: str = "/v1/me", **headers: str) -> list[Message]:
    """What the edge sends for what comes in."""
    sent: list[Message] = []
    coming = iter(incoming)

    async def receive() -> Message:
        return next(coming, {"type": "http.disconnect"})

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode())
                    for name, value in headers.items()],
        "client": ("127.0.0.1", 1), "state": {"docs_base": "http://d"},
    }  # fmt: skip
    asyncio.run(Edge(app)(scope, receive, send))
    return sent


def request(body: bytes = b"", *, more: bool = False) -> Message:
    """One part of a request."""
    return {"type": "http.request", "body": body, "more_body": more}


async def breaks(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that fails before it answers."""
    raise RuntimeError("a secret detail")


async def breaks_late(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that fails in the middle of its answer."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise RuntimeError("a secret detail")


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that answers with the body it was given."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["state"]["body"]})


def test_failure_is_a_500_without_a_word_of_its_cause() -> None:
    """`internal_error` as a problem document, with request id and `no-store`."""
    start, body = run(breaks, [request()])
    headers = dict(start["headers"])
    assert start["status"] == 500
    assert REQUEST_ID.fullmatch(headers[b"x-request-id"].decode())
    assert headers[b"cache-control"] == b"no-store"
    problem = json.loads(body["body"])
    assert problem["code"] == "internal_error"
    assert problem["request_id"] == headers[b"x-request-id"].decode()
    assert b"secret" not in body["body"]


def test_failure_in_the_middle_ends_the_line() -> None:
    """A second answer is not put after the first: the server is told to hang up."""
    with pytest.raises(RuntimeError):
        run(breaks_late, [request()])


def test_body_comes_in_parts() -> None:
    """They are joined; a sender that hangs up before the end is not answered."""
    assert run(echo, [request(b"a", more=True), request(b"b")])[1]["body"] == b"ab"
    assert run(echo, [request(b"a", more=True)]) == []


def test_path_with_a_line_end_is_another_path() -> None:
    """404, although a pattern that ends in `$` would take it."""
    assert run(echo, [request()], path="/v1/me\n")[0]["status"] == 404


def test_console_takes_longer_bodies() -> None:
    """The service's limit of 1 MiB is not the console's."""
    long = b"x" * 1_048_577
    assert run(echo, [request(long)])[0]["status"] == 413
    assert run(echo, [request(long)], path="/console/clients")[0]["status"] == 200
    assert run(echo, [request(long)], path="/consoles")[0]["status"] == 413


def test_sender_that_waits_for_leave_sends_nothing(api: Api) -> None:
    """`Expect: 100-continue` with too long a body is refused before the body comes."""
    parts = urlsplit(api.base_url)
    head = b"POST /v1/dnc HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection((parts.hostname, parts.port), timeout=5) as line:
        line.sendall(head)
        assert line.recv(65_536).startswith(b"HTTP/1.1 413")


def test_line_goes_on_after_refusals(sandbox: Sandbox, api: Api) -> None:
    """One connection serves what comes after a 413, a 404 and a 401."""
    connection = http.client.HTTPConnection(urlsplit(sandbox.base_url).netloc, timeout=5)
    statuses = []
    for path, body, auth in (
        ("/v1/dnc/check", b" " * 1_200_000, ""),
        ("/nothing", b"", ""),
        ("/v1/me", b"", "Bearer x"),
    ):
        connection.request("POST" if body else "GET", path, body, {"Authorization": auth})
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    assert statuses == [413, 404, 401]
    connection.close()
    refused(api.get("/v1/me%0A"), 404, "route_not_available")
