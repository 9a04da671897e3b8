"""Requests leave as planned; every failure of the network is translated, and nothing foreign is logged."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest

from client.fakes import (
    BASE_URL,
    CALL,
    CAMPAIGN,
    KEY,
    PHONE,
    SECRET,
    Service,
    answer,
    connected,
    transport_to,
)
from dialframe.client import (
    AsyncClient,
    Client,
    Credential,
    HttpxTransport,
    PlannedRequest,
    parse_address,
)
from dialframe.config import Settings
from dialframe.errors import ConfigError, ContractError, TransportError

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
    # A write without an answer is taken for sent unless the connection itself failed.
    never_left = {"ConnectTimeout", "ConnectError", "PoolTimeout", "ProxyError", "UnsupportedProtocol",
                  "InvalidURL", "UnicodeError"}  # fmt: skip
    assert caught.value.sent == never_left.isdisjoint(each.__name__ for each in kind.__mro__)
    assert caught.value.__suppress_context__


def test_fork_gets_connections_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes never read from one socket."""
    where = parse_address("http://127.0.0.1:9")
    carrier = HttpxTransport(where, Credential(KEY, where))
    before = carrier._open()
    monkeypatch.setattr(os, "getpid", lambda: -1)

    assert carrier._open() is not before
    assert carrier._open() is carrier._open()


def test_foreign_loggers_are_silent_about_our_requests_only(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Httpx would log the whole URL; what a person does with httpx beside us is still logged."""
    caplog.set_level(logging.DEBUG)
    connected(Service(answer({})), tmp_path).me()
    with httpx.Client(transport=httpx.MockTransport(Service(answer({})))) as http:
        assert [record for record in caplog.records if record.name.startswith("http")] == []

        http.get("https://other.example/")
    assert [record.name for record in caplog.records if record.name[0] == "h"] == ["httpx"]


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
        pytest.raises(TransportError, match="is not a host name") as caught,
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


@pytest.fixture
def dripping() -> Iterator[str]:
    """A service whose answer's head comes byte by byte and never ends; then one whose body does, and ends."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                with line, contextlib.suppress(OSError):
                    line.recv(65536)
                    line.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                    for _ in range(100):
                        line.sendall(b"x")
                        time.sleep(0.02)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def test_head_that_drips_is_given_up(dripping: str) -> None:
    """However little each wait for bytes is, the head as a whole has one bound; of both kinds of client."""
    began_s = time.monotonic()

    errors = both_ask(dripping, timeout_s=0.2)

    assert len(errors) == 2
    assert all("did not answer in time" in str(error) for error in errors)
    assert time.monotonic() - began_s < 1.5


def test_streams_left_open_are_named_as_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as threads that are too many."""
    monkeypatch.setattr("dialframe.client.transport.POOL_CONNECTIONS", 3)

    class Media(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "audio/wav")
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(b"x" * 1_000_000)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Media) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        client = Client(
            f"http://127.0.0.1:{server.server_port}",
            KEY,
            limiter=None,
            timeout_s=0.3,
            max_attempts=1,
        )
        streams = [client.calls.recording_chunks(CALL) for _ in range(3)]
        for stream in streams:
            next(stream)
        with pytest.raises(TransportError) as caught:
            client.me()
        for stream in streams:
            stream.close()
        with pytest.raises(ContractError):
            client.me()
        client.close()
        server.shutdown()

    assert "3 of its 3 are held by answers of calls.recording" in str(caught.value)
    assert "read each of them to its end or close it" in str(caught.value)


ADDRESS, SECRET_KEY = {"base_url": BASE_URL}, {"api_key": KEY}
#: Environment and arguments of a client, and the words of the refusal.
WRONG: list[tuple[dict[str, str], dict[str, Any], str]] = [
    ({"DIALFRAME_BASE_URL": "nonsense", "DIALFRAME_API_KEY": KEY}, {},
     r"base_url \(from DIALFRAME_BASE_URL\) is not an http"),
    ({"DIALFRAME_BASE_URL": BASE_URL, "DIALFRAME_API_KEY": "wrong"}, {},
     r"api_key \(from DIALFRAME_API_KEY\) is malformed"),
    ({"DIALFRAME_BASE_URL": BASE_URL}, {}, "DIALFRAME_API_KEY"),
    ({"DIALFRAME_BASE_URL": "x"}, {"base_url": "y", "api_key": KEY}, r"^base_url is not"),
    ({}, SECRET_KEY, "base_url"),
    ({}, ADDRESS | {"api_key": " "}, "DIALFRAME_API_KEY"),
    ({}, ADDRESS | {"api_key": "wrong"}, "malformed"),
    ({}, {"base_url": "http://service.example", "api_key": KEY.replace("test", "live")}, "https"),
    ({}, ADDRESS | SECRET_KEY | {"timeout_s": 0}, "timeout_s"),
    ({}, ADDRESS | SECRET_KEY | {"deadline_s": -1}, "deadline_s"),
    ({}, ADDRESS | SECRET_KEY | {"max_attempts": 0}, "max_attempts"),
]  # fmt: skip


@pytest.mark.parametrize(("environment", "arguments", "words"), WRONG)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_wrong_setting_is_refused_when_the_client_is_made_and_says_where_it_comes_from(
    kind: Any, environment: dict[str, str], arguments: dict[str, Any], words: str
) -> None:
    """An argument by its name, a variable by its own; before anything is sent."""
    with pytest.raises(ConfigError, match=words):
        kind(environment=environment, **arguments)


def test_clients_read_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variables that the messages name are read; an argument wins."""
    monkeypatch.setenv("DIALFRAME_BASE_URL", BASE_URL)
    monkeypatch.setenv("DIALFRAME_API_KEY", KEY)

    assert Client(journal=tmp_path).base_url == BASE_URL
    assert AsyncClient(journal=tmp_path).base_url == BASE_URL
    assert Client("https://other.example").base_url == "https://other.example"
    settings = Settings.from_environment({"DIALFRAME_STORE": "/s"}, base_url="x")
    assert settings.origins == {
        "base_url": "argument", "api_key": "default", "store": "DIALFRAME_STORE",
    }  # fmt: skip


def test_headers_of_ones_own_go_out_and_ours_are_ours(tmp_path: Path) -> None:
    """With every request; what the client sets itself is refused."""
    service = Service(answer({}))
    carrier = transport_to(service, headers={"X-Team": "ops"})
    Client(BASE_URL, KEY, transport=carrier, limiter=None, journal=tmp_path).me()

    assert service.requests[0].headers["X-Team"] == "ops"
    assert service.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert service.requests[0].headers["User-Agent"].startswith("dialframe/")
    for name in ("Authorization", "idempotency-key", "Host"):
        for kind in (Client, AsyncClient):
            with pytest.raises(ConfigError, match=f"headers: {name} is set by the client"):
                kind(BASE_URL, KEY, headers={name: "x"})


@pytest.fixture
def refusing_proxy() -> Iterator[str]:
    """A proxy that lets nobody through."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                with line:
                    line.recv(65536)
                    line.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://user:hunter2@127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def both_ask(base_url: str = BASE_URL, **settings: Any) -> list[Exception]:
    """The errors that a question ends with, of both kinds of client."""
    more: dict[str, Any] = {"limiter": None, "max_attempts": 1, **settings}
    caught: list[Exception] = []

    async def ask() -> None:
        async with AsyncClient(base_url, KEY, **more) as client:
            await client.me()

    for work in (lambda: Client(base_url, KEY, **more).me(), lambda: asyncio.run(ask())):
        try:
            work()
        except (TransportError, ConfigError) as error:
            caught.append(error)
    return caught


def test_proxy_that_refuses_is_named_and_not_the_host(refusing_proxy: str) -> None:
    """By host and port, without its password; nothing was sent to the service."""
    errors = both_ask(proxy=refusing_proxy)

    assert len(errors) == 2
    for error in errors:
        assert "the proxy 127.0.0.1:" in str(error)
        assert "refuses to connect to service.example" in str(error)
        assert "hunter2" not in str(error)
        assert isinstance(error, TransportError)
        assert not error.sent


def test_proxy_that_is_not_there_is_named() -> None:
    """Also the environment's."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    for error in both_ask(proxy=f"http://127.0.0.1:{port}"):
        assert f"the proxy 127.0.0.1:{port} cannot be reached" in str(error)


def test_socks_proxy_without_its_package_says_which() -> None:
    """Not the name of an import error."""
    for error in both_ask(proxy="socks5://127.0.0.1:1"):
        assert "install httpx[socks]" in str(error) or "the proxy 127.0.0.1:1" in str(error)
        assert "ImportError" not in str(error)


def test_authorities_and_certificates_are_ones_own(tmp_path: Path) -> None:
    """A context is used as it is; a file that is none is said without its content."""
    context = ssl.create_default_context()
    client = Client(BASE_URL, KEY, verify=context)
    assert client._shell.transport._link._ssl_context() is context  # type: ignore[attr-defined]
    assert (
        not Client(BASE_URL, KEY, verify=False)
        ._shell.transport._link._ssl_context()
        .check_hostname
    )  # type: ignore[attr-defined]
    (tmp_path / "none.pem").write_text("nothing")
    for settings in ({"verify": tmp_path / "none.pem"}, {"cert": str(tmp_path / "none.pem")}):
        for error in both_ask(**settings):
            assert isinstance(error, ConfigError)
            assert "check proxy=, verify= and cert=" in str(error)


@pytest.fixture
def mutual_tls(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A service of an authority of one's own that asks for a certificate; its address, and the file of both."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "own.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pem.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=pem)
    context.load_cert_chain(pem)
    context.verify_mode = ssl.CERT_REQUIRED

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A handshake that failed is what the test is about."""

    with Quiet(("127.0.0.1", 0), Answers) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        serving = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        serving.start()
        yield f"https://localhost:{server.server_port}", pem
        server.shutdown()
    serving.join(60)


def test_service_of_an_authority_of_ones_own_is_reached(mutual_tls: tuple[str, Path]) -> None:
    """With its file and a certificate of one's own, by both kinds; with one of them alone by none."""
    address, pem = mutual_tls
    assert both_ask(address, verify=pem, cert=pem) == []
    assert both_ask(address, verify=ssl.create_default_context(cafile=pem), cert=(str(pem),)) == []
    for settings in ({"verify": pem}, {"cert": pem}):
        refused = both_ask(address, **settings)
        assert [type(error) for error in refused] == [TransportError, TransportError]


def test_import_takes_a_frame(tmp_path: Path) -> None:
    """Missing values are fields that are not sent; numpy's numbers are numbers."""
    import json

    service = Service(
        answer(
            {
                "campaign_id": CAMPAIGN,
                "data": [{"index": n, "status": "accepted"} for n in range(3)],
                "summary": {"received": 3, "accepted": 3, "rejected": 0},
            }
        )
    )
    frame = pd.DataFrame(
        {
            "phone": [PHONE] * 3,
            "full_name": ["Ada", None, pd.NA],
            "email": pd.array(["a@b.example", None, "c@d.example"], dtype="string"),
            "external_id": ["1", float("nan"), None],
            "custom_fields": [{"age": np.int64(7), "score": math.nan}, None, {"ok": np.bool_(True)}],
        }
    )  # fmt: skip

    connected(service, tmp_path).leads.import_(CAMPAIGN, frame)

    assert json.loads(service.bodies[0])["leads"] == [
        {"phone": PHONE, "full_name": "Ada", "email": "a@b.example", "external_id": "1",
         "custom_fields": {"age": 7, "score": None}},
        {"phone": PHONE},
        {"phone": PHONE, "email": "c@d.example", "custom_fields": {"ok": True}},
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="nickname"):
        connected(service, tmp_path).leads.import_(CAMPAIGN, frame.assign(nickname="A"))
