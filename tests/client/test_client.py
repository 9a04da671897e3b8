"""The client as people hold it: made, shared, shown, pickled, closed; and its key is nowhere to be seen."""

from __future__ import annotations

import asyncio
import copy
import gc
import logging
import pickle
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import dialframe
from client.fakes import (
    BASE_URL,
    CALL,
    KEY,
    PHONE,
    SECRET,
    FakeClock,
    Service,
    a_call,
    a_page,
    an_id,
    answer,
    connected,
    transport_to,
)
from dialframe.client import SHARED, Client, Novelty, RateLimiter
from dialframe.client.transport import HttpxTransport
from dialframe.contract import operations
from dialframe.contract.models.call_models import CallRef
from dialframe.errors import ConfigError, DialframeError


def test_client_is_the_packages_client() -> None:
    """`dialframe.Client` is this one."""
    assert dialframe.Client is Client


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"base_url": None, "api_key": KEY}, "base_url"),
        ({"base_url": "nonsense", "api_key": KEY}, "base_url"),
        ({"base_url": BASE_URL, "api_key": None}, "DIALFRAME_API_KEY"),
        ({"base_url": BASE_URL, "api_key": " "}, "DIALFRAME_API_KEY"),
        ({"base_url": BASE_URL, "api_key": "wrong"}, "malformed"),
        ({"base_url": "http://service.example", "api_key": KEY.replace("test", "live")}, "https"),
        ({"base_url": BASE_URL, "api_key": KEY, "timeout_s": 0}, "timeout_s"),
        ({"base_url": BASE_URL, "api_key": KEY, "deadline_s": -1}, "deadline_s"),
        ({"base_url": BASE_URL, "api_key": KEY, "max_attempts": 0}, "max_attempts"),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_when_the_client_is_made(
    arguments: dict[str, object], words: str
) -> None:
    """Before anything is sent, by the name of the setting."""
    with pytest.raises(ConfigError, match=words):
        Client(**arguments)  # type: ignore[arg-type]


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
    shown += [caplog.text, pickle.dumps(client).decode("latin-1")]

    assert len(shown) > 8
    assert all(SECRET not in text for text in shown)


def test_pickle_drops_the_key_and_says_so(tmp_path: Path) -> None:
    """Settings come through; a call asks for the key; with it, all is as before."""
    client = pickle.loads(pickle.dumps(connected(Service(answer({})), tmp_path, max_attempts=2)))  # noqa: S301 - our own bytes

    assert repr(client) == f"<dialframe.Client base_url='{BASE_URL}' key=svc_test_…>"
    assert client.writes.pending() == []
    with pytest.raises(ConfigError, match=r"me: .*client\.with_key"):
        client.me()
    with client.with_key(KEY) as again:
        assert (again.base_url, again._made.policy.max_attempts) == (BASE_URL, 2)
        assert isinstance(again._shell.transport, HttpxTransport)
    with pytest.raises(ConfigError):
        copy.copy(client).me()


def test_closed_client_says_so(tmp_path: Path) -> None:
    """The `with` block is the client's life."""
    with connected(Service(answer({})), tmp_path) as client:
        client.me()
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


def test_threads_share_a_client(tmp_path: Path) -> None:
    """Each gets the answer to its own question."""

    def service(request: httpx.Request) -> httpx.Response:
        return answer({**a_call(), "id": request.url.path.rsplit("/", 1)[1]})

    client = connected(service, tmp_path)
    ids = [an_id("call", number) for number in range(40)]
    with ThreadPoolExecutor(4) as threads:
        calls = threads.map(client.calls.get, ids)

    assert [call.id for call in calls] == ids


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


def test_unknown_values_are_counted_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """They survive; the log says so the first time."""
    rows = [a_call(n, direction="lateral") for n in range(3)]
    client = connected(Service(a_page(rows)), tmp_path, clock=FakeClock())

    calls = [*client.calls.list(), *client.calls.list()]

    assert {call.direction for call in calls} == {"lateral"}
    assert client.novelties() == [Novelty("calls.list", "direction", "lateral", 6)]
    assert caplog.text.count("'lateral', which the contract does not name") == 1
