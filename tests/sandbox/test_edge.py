"""What every request meets first: its line, its host, its pace; and what is served beside the API."""

from __future__ import annotations

import http.client
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dialframe.contract import error_codes
from dialframe.sandbox import Sandbox, start
from sandbox.service_bench import Party, problem


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
    for code in error_codes.BY_CODE:
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
