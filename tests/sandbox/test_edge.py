"""What every request meets first, with apps made for the purpose behind it."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from dialframe.contract.error_codes import BY_CODE
from dialframe.contract.models.base_models import REQUEST_ID
from dialframe.sandbox import Sandbox, start
from dialframe.sandbox.asgi_app import Edge
from sandbox.service_bench import Party, problem


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


def test_sender_that_waits_for_leave_sends_nothing(api: Party) -> None:
    """`Expect: 100-continue` with too long a body is refused before the body comes."""
    parts = urlsplit(api.service.base_url)
    head = b"POST /v1/dnc HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection((parts.hostname, parts.port), timeout=5) as line:
        line.sendall(head)
        assert line.recv(65_536).startswith(b"HTTP/1.1 413")


def test_line_goes_on_after_refusals(sandbox: Sandbox, api: Party) -> None:
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
    problem(api.get("/v1/me%0A"), 404, "route_not_available")


def test_foreign_hosts_are_refused(sandbox: Sandbox, api: Party) -> None:
    """A name that was made to lead here gets nothing, not even the console or its documents."""
    port = sandbox.base_url.rpartition(":")[2]
    for path in ("/v1/me", "/console/account", "/openapi.json", "/mcp"):
        for host in (
            "evil.example",
            f"evil.example:{port}",
            "127.0.0.1.evil.example",
            "x.localhost.",
        ):
            answer = api.send("GET", path, headers={"Host": host})
            problem(answer, 400, "validation_failed")
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"LOCALHOST:{port}", "[::1]", "box"):
        assert api.send("GET", "/v1/me", headers={"Host": host}).status_code == 200


def test_documents_are_served(sandbox: Sandbox, api: Party) -> None:
    """The OpenAPI description with its webhooks, and a page for the type of every problem."""
    document = api.http.get(f"{sandbox.base_url}/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert document["servers"] == [{"url": sandbox.base_url}]
    assert set(document["webhooks"]) == {
        "call.completed", "ai_call.completed", "disposition.logged", "appointment.booked",
        "appointment.moved", "appointment.cancelled", "webhook.test",
    }  # fmt: skip
    made = document["components"]["schemas"]["WebhookCreate"]["properties"]["events"]
    assert made["uniqueItems"] is True
    address = api.get("/v1/nowhere").json()["type"]
    assert address == f"{sandbox.base_url}/docs/errors/route-not-available"
    for code in BY_CODE:
        page = api.http.get(address.replace("route-not-available", code.replace("_", "-")))
        assert page.status_code == 200
        assert f"<h1>{code}</h1>" in page.text
    assert api.http.get(f"{sandbox.base_url}/docs/errors/no-such-thing").status_code == 404


def test_slow_headers_are_cut_off(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a request is not waited for; a connection that is used stays open."""
    monkeypatch.setattr("dialframe.serving.HEADERS_S", 0.3)
    host, _, port = sandbox.base_url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        slow.sendall(b"GET /v1/me HTTP/1.1\r\nHost: localhost\r\n")
        assert slow.recv(100) == b""
    with httpx.Client(base_url=sandbox.base_url, trust_env=False) as client:
        assert client.get("/v1/me").status_code == 401
        time.sleep(0.4)
        assert client.get("/v1/me").status_code == 401


def test_a_dripping_body_is_cut_off(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes slowly but fast enough is waited for, however long it takes; after a pause it is not."""
    monkeypatch.setattr("dialframe.serving.BODY_S", 0.3)
    monkeypatch.setattr("dialframe.serving.BODY_BYTES_PER_S", 1000)
    host, _, port = sandbox.base_url.removeprefix("http://").partition(":")
    head = b"POST /v1/leads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n"

    def answer(parts: int, size: int) -> bytes:
        with socket.create_connection((host, int(port)), timeout=5) as slow:
            slow.sendall(head)
            try:
                for _ in range(parts):
                    slow.sendall(b" " * size)
                    time.sleep(0.05)
                return slow.recv(100)
            except OSError:
                return b""

    assert answer(10, 200).startswith(b"HTTP/1.1 401")
    assert answer(20, 1) == b""
    assert answer(1, 1900) == b""


def test_app_beside_is_made_at_its_first_request() -> None:
    """What it is made of takes long to load, and most sandboxes are never asked for it."""
    made: list[str] = []

    def make() -> Starlette:
        made.append("once")
        return Starlette(routes=[Route("/beside", lambda _: PlainTextResponse("here"))])

    def fail() -> Starlette:
        raise ImportError("a package is missing")

    with start(
        size="empty", beside=lambda _: {"/beside": make, "/broken": fail, "/idle": fail}
    ) as sandbox:
        assert httpx.get(f"{sandbox.base_url}/v1/me").status_code == 401
        assert made == []
        for _ in range(2):
            assert httpx.get(f"{sandbox.base_url}/beside").text == "here"
            assert httpx.get(f"{sandbox.base_url}/broken").status_code == 500
        assert made == ["once"]
