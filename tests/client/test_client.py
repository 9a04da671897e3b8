"""The client as people hold it, of both kinds; address, key and options are checked, and the key is seen nowhere."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import gc
import inspect
import logging
import pickle
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import dialframe
from client import fakes
from client.fakes import (
    BASE_URL,
    CALL,
    KEY,
    LEAD,
    PHONE,
    SECRET,
    SENT,
    Service,
    a_call,
    a_lead,
    a_page,
    an_id,
    answer,
    connected,
    in_a_loop,
    send_sms,
    transport_to,
)
from dialframe.client import (
    SHARED,
    Address,
    AsyncClient,
    Client,
    Credential,
    HttpxTransport,
    Options,
    RateLimiter,
    correlation,
    parse_address,
    resolve_key,
)
from dialframe.contract import CallRef, operations
from dialframe.errors import ConfigError, DialframeError


def test_repr_shows_address_and_kind_of_key(tmp_path: Path) -> None:
    """And not the key."""
    client = connected(Service(answer({})), tmp_path)

    assert repr(client) == f"<dialframe.Client base_url='{BASE_URL}' key=svc_test_…>"
    assert client.base_url == BASE_URL


def test_key_is_in_no_repr_log_error_or_pickle(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever a person prints, logs, raises or stores."""
    caplog.set_level(logging.DEBUG)
    refusal = answer({"code": "validation_failed"}, 400)
    client = connected(Service(answer({}), refusal), tmp_path)
    shown = [
        repr(client),
        repr(vars(client)),
        repr(client._shell.transport),
        repr(vars(client._shell.transport)),
    ]
    client.me()
    try:
        client.me()
    except DialframeError as error:
        frames = traceback.TracebackException.from_exception(error, capture_locals=True)
        shown += [str(error), repr(error), *(repr(frame.locals) for frame in frames.stack)]
        shown.append(pickle.dumps(error).decode("latin-1"))
    shown.append(caplog.text)
    for leave in (pickle.dumps, copy.copy):
        with pytest.raises(ConfigError, match="is not pickled"):
            leave(client)

    assert len(shown) > 7
    assert all(SECRET not in text for text in shown)


def test_closed_client_says_so(tmp_path: Path) -> None:
    """The `with` block is the client's life."""
    with connected(Service(answer({})), tmp_path) as client:
        client.me()
    client.close()
    with pytest.raises(ConfigError, match="closed"):
        client.me()


def test_forgotten_client_lets_go_of_its_connections() -> None:
    """Nobody has to remember to close it."""
    client = Client(BASE_URL, KEY)
    carrier = client._shell.transport
    assert isinstance(carrier, HttpxTransport)
    del client
    gc.collect()

    assert carrier._closed


def test_list_outlives_its_client(tmp_path: Path) -> None:
    """Connections are held by whoever still needs them."""
    listing = connected(Service(a_page([a_call()])), tmp_path).calls.list()
    gc.collect()

    assert len(list(listing)) == 1


IDS = [an_id("call", number) for number in range(40)]


def asked_for(request: httpx.Request) -> httpx.Response:
    """The call that was asked for."""
    return answer(a_call(id=request.url.path.rsplit("/", 1)[1]))


def test_threads_share_a_client(tmp_path: Path) -> None:
    """Each gets the answer to its own question."""
    client = connected(asked_for, tmp_path)
    with ThreadPoolExecutor(4) as threads:
        calls = threads.map(client.calls.get, IDS)

    assert [call.id for call in calls] == IDS


def test_client_works_inside_a_running_event_loop(tmp_path: Path) -> None:
    """A notebook has one, and the client does not care."""

    async def cell() -> str | None:
        return connected(Service(answer({"client_id": "cli_x"})), tmp_path).me().client_id

    assert asyncio.run(cell()) == "cli_x"


def test_clients_of_one_key_share_a_rate_limit(tmp_path: Path) -> None:
    """And those of another have their own; None switches it off."""

    def limiter_of(key: str, **more: RateLimiter | None) -> RateLimiter | None:
        client = Client(BASE_URL, key, transport=transport_to(Service(answer({}))), **more)  # type: ignore[arg-type]
        return client._shell.limiter

    own = RateLimiter()
    assert limiter_of(KEY) is limiter_of(KEY)
    assert limiter_of(KEY) is SHARED.of(connected(Service(), tmp_path)._made.account)
    assert limiter_of(KEY) is not limiter_of("svc_test_cred02_x")
    assert limiter_of(KEY, limiter=None) is None
    assert limiter_of(KEY, limiter=own) is own


def test_any_row_can_be_sent_by_hand(tmp_path: Path) -> None:
    """What the methods go through is open to everybody."""
    client = connected(Service(answer(a_call())), tmp_path)

    assert client.send(operations.CALLS_GET, CallRef(call_id=CALL)).to_number == PHONE
    with pytest.raises(ConfigError, match=r"use client\.calls\.recording"):
        client.send(operations.CALLS_RECORDING, CallRef(call_id=CALL))


@pytest.mark.parametrize(
    ("given", "url", "host", "secure", "loopback"),
    [
        ("https://api.example", "https://api.example", "api.example", True, False),
        ("https://api.example/", "https://api.example", "api.example", True, False),
        (" https://api.example:8443/base/ ", "https://api.example:8443/base", "api.example:8443",
         True, False),
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787", "127.0.0.1:8787", False, True),
        ("http://localhost:1", "http://localhost:1", "localhost:1", False, True),
        ("http://[::1]:8787", "http://[::1]:8787", "::1:8787", False, True),
        ("http://10.0.0.1", "http://10.0.0.1", "10.0.0.1", False, False),
    ],
)  # fmt: skip
def test_base_url_is_taken_apart_once(
    given: str, url: str, host: str, secure: bool, loopback: bool
) -> None:
    """Slashes at the end go, path prefixes stay, this machine is recognized."""
    address = parse_address(given)

    assert address == Address(url, host, secure, loopback)


@pytest.mark.parametrize(
    "given",
    [None, "", "  ", "api.example", "ftp://api.example", "https://", "https://host:port",
     "https://api.example?key=1", "https://api.example#top", "https://user:hunter2@api.example",
     "https://api.example/v1", "https://api.example/v1/", "https://api example", "http://[::1"],
)  # fmt: skip
def test_malformed_base_url_is_one_clear_sentence(given: str | None) -> None:
    """Whatever is wrong with it, the error names base_url and says what to do, and repeats no password."""
    with pytest.raises(ConfigError, match=r"^base_url .*: \S+") as caught:
        parse_address(given)

    assert "hunter2" not in str(caught.value)


SECURE = parse_address(BASE_URL)
LIVE = "svc_live_cred01_sEcReT0123456789"


def test_argument_comes_before_environment_and_prompt() -> None:
    """The first of the three that says something wins."""
    environment = {"DIALFRAME_API_KEY": "from-environment"}

    assert resolve_key("given", environment, lambda _: "typed") == "given"
    assert resolve_key(None, environment, lambda _: "typed") == "from-environment"
    assert resolve_key(None, {}, lambda _: " typed\n") == "typed"
    assert resolve_key("", {"DIALFRAME_API_KEY": ""}, lambda _: "typed") == "typed"


def test_no_key_names_the_three_ways() -> None:
    """The error says argument, variable and notebook."""
    with pytest.raises(ConfigError, match=r"api_key=.*DIALFRAME_API_KEY.*notebook"):
        resolve_key(None, {})
    with pytest.raises(ConfigError, match="DIALFRAME_API_KEY"):
        resolve_key(None, {}, lambda _: "")


@pytest.mark.parametrize(
    ("base_url", "allowed"),
    [("http://service.example", False), ("http://10.1.2.3:80", False), ("https://service.example", True),
     ("http://127.0.0.1:1", True), ("http://localhost", True)],
)  # fmt: skip
def test_live_key_goes_over_https_or_to_this_machine(base_url: str, allowed: bool) -> None:
    """Plain http to another machine is for a test key alone."""
    where = parse_address(base_url)

    assert Credential(KEY, where).shown == "svc_test_…"
    if allowed:
        assert Credential(LIVE, where).header() == f"Bearer {LIVE}"
        return
    with pytest.raises(ConfigError, match="https") as caught:
        Credential(LIVE, where)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "key", ["sk-abc", "svc_test_", "svc_test_a b", "svc_test_a\nb", "SVC_LIVE_x"]
)
def test_malformed_key_is_refused_without_being_shown(key: str) -> None:
    """What is no key of this service is not sent to it."""
    with pytest.raises(ConfigError, match="malformed") as caught:
        Credential(key, SECURE)

    assert key == "svc_test_" or key not in str(caught.value)


def test_credential_shows_its_kind_only() -> None:
    """Neither repr, nor str, nor attributes, nor a pickle give the key away."""
    credential = Credential(KEY, SECURE)

    assert repr(credential) == str(credential) == "svc_test_…"
    assert SECRET not in credential.account
    with pytest.raises(ConfigError):
        pickle.dumps(credential)


def test_account_is_the_credential_id_and_the_address() -> None:
    """Another secret of the same credential is the same account; another id or address is not."""
    own = Credential(KEY, SECURE).account

    assert Credential("svc_test_cred01_other", SECURE).account == own
    assert Credential("svc_test_cred02_sEcReT0123456789", SECURE).account != own
    assert Credential(LIVE, SECURE).account != own
    assert Credential(KEY, parse_address("https://other.example")).account != own


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_s": 0}, {"timeout_s": -1}, {"timeout_s": float("nan")}, {"deadline_s": 0},
        {"deadline_s": float("inf")}, {"max_attempts": 0}, {"correlation_id": ""},
        {"correlation_id": "ä"}, {"correlation_id": "a b"}, {"correlation_id": "x" * 129},
        {"idempotency_key": ""}, {"idempotency_key": "x" * 256}, {"idempotency_key": "a\nb"},
        {"idempotency_key": " a"}, {"if_match": ""}, {"if_match": "x" * 129},
        {"idempotency_key": uuid.UUID(int=7)}, {"idempotency_key": 123},
    ],
    ids=str,
)  # fmt: skip
def test_option_out_of_bounds_is_refused_by_name(options: dict[str, Any]) -> None:
    """The error begins with the option's name."""
    (name,) = options

    with pytest.raises(ConfigError, match=f"^{name}: "):
        Options(**options)


def test_longest_values_are_taken() -> None:
    """255 characters of key, 128 of correlation id and ETag are within the contract."""
    options = Options(
        idempotency_key="k" * 255,
        correlation_id="a.b_c:d-E" + "9" * 119,
        if_match='"' + "e" * 126 + '"',
    )

    assert len(options.correlation_id or "") == 128


def test_malformed_correlation_is_refused_before_the_block() -> None:
    """A blank in it is against the contract."""
    with pytest.raises(ConfigError, match="correlation_id"), correlation("a b"):
        pass


def test_both_kinds_have_the_same_operations(tmp_path: Path) -> None:
    """45 methods with the same arguments, defaults and documentation."""
    one = Client(BASE_URL, KEY, journal=tmp_path)
    other = AsyncClient(BASE_URL, KEY, journal=tmp_path)
    assert (dialframe.Client, dialframe.AsyncClient) == (Client, AsyncClient)
    for row in operations.ALL:
        methods = []
        for client in (one, other):
            method: Any = client
            for name in dialframe.client.method_path(row).split("."):
                method = getattr(method, name)
            methods.append(method)
        assert inspect.signature(methods[0]) == inspect.signature(methods[1])
        assert inspect.getdoc(methods[0]) == inspect.getdoc(methods[1])
    assert {name for name in vars(Client) if not name.startswith("_")} - {"close"} == {
        name for name in vars(AsyncClient) if not name.startswith("_")
    } - {"aclose"}


def test_records_come_by_async_for(tmp_path: Path) -> None:
    """Pages, records, the first one, a frame."""
    service = Service(a_page([a_call(1), a_call(2)], "c"), a_page([a_call(3)]))

    async def walk() -> tuple[Any, ...]:
        async with in_a_loop(service, journal=tmp_path) as client:
            ids = [call.id async for call in client.calls.list()]
            service.script[:] = [a_page([a_call(1)], "c")]
            first = await client.calls.list().first()
            asked = len(service.requests)
            service.script[:] = [a_page([a_call(1)])]
            frame = await client.calls.list().to_frame()
            pages = [len(page) async for page in client.calls.list().pages()]
            return ids, first, asked, frame, pages

    ids, first, asked, frame, pages = asyncio.run(walk())

    assert ids == [an_id("call", n) for n in (1, 2, 3)]
    assert first.id == an_id("call", 1)
    assert asked == 3
    assert (len(frame), pages) == (1, [1])


def test_cancelled_write_stays_pending_and_its_connection_is_let_go(tmp_path: Path) -> None:
    """It may have happened: the journal has its key and bytes."""
    arrived = asyncio.Event()
    closed = []

    class Slow(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            arrived.set()
            try:
                await asyncio.sleep(60)
            finally:
                closed.append(request)
            raise AssertionError

    async def cancelled() -> list[Any]:
        async with in_a_loop(Slow(), journal=tmp_path) as client:
            sending = asyncio.create_task(send_sms(client))
            await asyncio.wait_for(arrived.wait(), 60)
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            return await client.writes.pending()

    (write,) = asyncio.run(cancelled())

    assert (write.operation, write.state) == ("sms.send", "pending")
    assert len(closed) == 1
    settled = fakes.connected(Service(SENT), tmp_path, clock=None)
    assert [pending.key for pending in settled.writes.pending()] == [write.key]


def test_call_that_is_cancelled_before_it_began_leaves_nothing(tmp_path: Path) -> None:
    """Neither a request nor a warning of something that was never awaited."""
    service = Service(answer(a_lead()))

    async def cancelled() -> None:
        client = in_a_loop(service, journal=tmp_path)
        for call in (client.leads.update(LEAD, full_name="A"), client.me()):
            task = asyncio.create_task(call)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())
    gc.collect()

    assert service.requests == []


def test_many_calls_at_once_share_a_client(tmp_path: Path) -> None:
    """Each gets the answer to its own question."""

    async def ask() -> list[str]:
        async with in_a_loop(asked_for, journal=tmp_path) as client:
            calls = await asyncio.gather(*map(client.calls.get, IDS))
            return [call.id for call in calls]

    assert asyncio.run(ask()) == IDS


def test_client_outlives_a_loop(tmp_path: Path) -> None:
    """Connections belong to a loop; in the next one there are new ones."""
    client = in_a_loop(Service(answer({"client_id": "c"})), journal=tmp_path)

    for _ in range(2):
        assert asyncio.run(client.me()).client_id == "c"
    gc.collect()


def test_other_defaults_share_connections(tmp_path: Path) -> None:
    """`with_options` changes how long and how often, and nothing else."""
    service = Service(fakes.problem(503, "temporarily_unavailable"))
    client = fakes.connected(service, tmp_path)
    hasty = client.with_options(max_attempts=1, timeout_s=5)

    with pytest.raises(dialframe.errors.ServiceUnavailable):
        hasty.me()
    assert len(service.requests) == 1
    with pytest.raises(dialframe.errors.ServiceUnavailable):
        client.me()
    assert len(service.requests) == 5
    with pytest.raises(dialframe.errors.ConfigError, match="max_attempts"):
        client.with_options(max_attempts=0)
    client.close()
    with pytest.raises(dialframe.errors.ConfigError, match="closed"):
        hasty.me()


def test_recording_comes_in_chunks(tmp_path: Path) -> None:
    """As they arrive."""
    client = fakes.connected(Service(httpx.Response(200, content=b"RIFF....")), tmp_path)

    assert b"".join(client.calls.recording_chunks(fakes.CALL)) == b"RIFF...."
