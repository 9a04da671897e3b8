"""Bytes leave as planned, every failure of the HTTP library is translated, and nothing foreign is logged."""

from __future__ import annotations

import logging
import os
import socket
import ssl
from collections.abc import Iterator

import httpx
import pytest

from client.fakes import BASE_URL, KEY, SECRET, Service, answer, transport_to
from dialframe.client import Client, Credential, HttpxTransport, network, parse_address
from dialframe.client.network import FAILURES, failure_of
from dialframe.client.request_building import PlannedRequest
from dialframe.errors import ConfigError, TransportError

REQUEST = PlannedRequest(
    operation="calls.list", method="GET", path="/v1/calls", query="limit=1",
    headers={"Accept": "application/json"},
)  # fmt: skip


def foreign_errors() -> Iterator[type[Exception]]:
    """Every error class of the libraries below that a request can end with."""
    waiting: list[type[Exception]] = [
        httpx.RequestError,
        httpx.InvalidURL,
        httpx.StreamError,
        ssl.SSLError,
    ]
    while waiting:
        kind = waiting.pop()
        yield kind
        waiting.extend(kind.__subclasses__())


def an_error(kind: type[Exception]) -> Exception:
    """An instance of a class whose constructors differ."""
    try:
        return kind("it broke")
    except TypeError:
        return kind()


@pytest.mark.parametrize("kind", list(foreign_errors()), ids=lambda kind: kind.__name__)
def test_every_foreign_error_becomes_a_transport_error(kind: type[Exception]) -> None:
    """Operation and host are named, and the foreign error is not chained."""
    failing = transport_to(Service(an_error(kind)))

    with pytest.raises(TransportError) as caught:
        failing.send(REQUEST, timeout_s=1.0)

    assert str(caught.value).startswith("calls.list: service.example ")
    assert caught.value.sent == (failure_of(an_error(kind)).phase == "maybe_sent")
    assert caught.value.__suppress_context__


def test_only_what_never_left_counts_as_not_sent() -> None:
    """A write without an answer is taken for sent unless the connection itself failed."""
    never = {failure.kind for failure in FAILURES if failure.phase == "not_sent"}

    assert never == {
        httpx.ConnectTimeout, httpx.ConnectError, httpx.PoolTimeout, httpx.ProxyError,
        httpx.UnsupportedProtocol, httpx.InvalidURL, UnicodeError,
    }  # fmt: skip


def test_request_leaves_as_it_was_planned() -> None:
    """Method, URL, headers and bytes are the plan's; the key joins last."""
    service = Service(answer({}))
    planned = PlannedRequest(
        operation="x", method="POST", path="/v1/x", query="a=%20b", headers={"Idempotency-Key": "k"}, body=b'{"a":1}'
    )  # fmt: skip

    reply = transport_to(service).send(planned, timeout_s=1.0)
    reply.close()

    (request,) = service.requests
    assert (request.method, str(request.url)) == ("POST", f"{BASE_URL}/v1/x?a=%20b")
    assert request.content == b'{"a":1}'
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.headers["Idempotency-Key"] == "k"
    assert request.headers["User-Agent"].startswith("dialframe/")


def test_redirect_is_handed_back() -> None:
    """The key goes to no other address."""
    service = Service(httpx.Response(302, headers={"Location": "https://else.example/"}))

    reply = transport_to(service).send(REQUEST, timeout_s=1.0)
    reply.close()

    assert reply.status == 302
    assert len(service.requests) == 1


def test_closed_transport_says_so() -> None:
    """Closing twice is fine, sending afterwards is not."""
    closed = transport_to(Service(answer({})))
    closed.close()
    closed.close()

    with pytest.raises(ConfigError, match="closed"):
        closed.send(REQUEST, timeout_s=1.0)


def test_fork_gets_connections_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes never read from one socket."""
    where = parse_address("http://127.0.0.1:9")
    carrier = HttpxTransport(where, Credential(KEY, where))
    before = carrier._open()
    monkeypatch.setattr(os, "getpid", lambda: -1)

    assert carrier._open() is not before
    assert carrier._open() is carrier._open()


def test_foreign_loggers_are_silent_about_our_requests_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Httpx would log the whole URL; what a person does with httpx beside us is still logged."""
    caplog.set_level(logging.DEBUG)
    service = Service(answer({}))

    reply = transport_to(service).send(REQUEST, timeout_s=1.0)
    b"".join(reply.chunks())
    reply.close()
    assert [record for record in caplog.records if record.name.startswith("http")] == []

    with httpx.Client(transport=httpx.MockTransport(service)) as other:
        other.get("https://other.example/")
    assert [record.name for record in caplog.records] == ["httpx"]


def test_failed_request_leaves_foreign_loggers_as_they_were(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The silence ends with the request however it ends."""
    caplog.set_level(logging.INFO)
    with pytest.raises(TransportError):
        transport_to(Service(httpx.ReadError("gone"))).send(REQUEST, timeout_s=1.0)
    with pytest.raises(KeyError):
        transport_to(Service(KeyError("a fault of the test"))).send(REQUEST, timeout_s=1.0)

    assert not network._ours.get()


@pytest.mark.parametrize(
    ("variable", "value"),
    [("HTTPS_PROXY", "bogus://user:hunter2@x"), ("HTTPS_PROXY", "http://[::1"), ("SSL_CERT_FILE", "/no/such/file")],
)  # fmt: skip
def test_environment_that_cannot_be_used_is_said(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proxy and certificate settings are named as the place to look, without their values."""
    monkeypatch.setenv(variable, value)
    with (
        Client(BASE_URL, KEY, limiter=None) as client,
        pytest.raises(ConfigError, match="proxy and certificate variables") as caught,
    ):
        client.me()

    assert "hunter2" not in str(caught.value)


def test_host_that_is_no_name_is_a_transport_error() -> None:
    """What cannot be looked up cannot be reached."""
    with (
        Client(f"http://{'a' * 300}.example", KEY, limiter=None, max_attempts=1) as client,
        pytest.raises(TransportError, match="is no host name") as caught,
    ):
        client.me()

    assert not caught.value.sent


def test_unreachable_host_is_one_sentence_with_the_host() -> None:
    """What, where, what next; nothing was sent."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with (
        Client(f"http://127.0.0.1:{port}", KEY, limiter=None, max_attempts=1) as client,
        pytest.raises(TransportError) as caught,
    ):
        client.me()

    assert str(caught.value).startswith(f"me: 127.0.0.1:{port} cannot be reached (")
    assert str(caught.value).endswith("): check base_url and the network")
    assert not caught.value.sent
    assert SECRET not in str(caught.value)


def test_proxy_of_the_environment_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sandbox key stays on the machine; other addresses go through the proxy."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")

    proxies = []
    for base_url in ("http://127.0.0.1:9", "http://service.example"):
        carrier = transport_to(Service(answer({})), base_url)
        carrier._open()
        proxies.append(carrier._link._proxy)

    assert proxies[0] is None
    assert proxies[1] is not None
