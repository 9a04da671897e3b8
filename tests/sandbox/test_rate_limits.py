"""Token buckets at the four levels, by the service's clock."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

from sandbox.service_bench import Console, Party, common, problem


@dataclass(frozen=True)
class Drained:
    """How many requests passed before the first refusal, and in how many seconds."""

    passed: int
    elapsed_s: float
    refusal: httpx.Response


@pytest.fixture(autouse=True)
def _limits_on(console: Console) -> Iterator[None]:
    """Every bucket is full at the start of a test; no limits at its end."""
    with console.settings(rate_limits="contract"):
        console.advance(60)
        yield


def drain(send: Callable[[int], httpx.Response]) -> Drained:
    """Send until one is refused."""
    began = time.monotonic()
    for passed in itertools.count():
        response = common(send(passed))
        if response.status_code == 429:
            return Drained(passed, time.monotonic() - began, response)
        assert response.status_code == 200
        assert passed < 400, "nothing was refused"
    raise AssertionError


def holds(drained: Drained, tokens: int, rate: int) -> None:
    """As many as there were tokens, and those that came in meanwhile."""
    problem(drained.refusal, 429, "rate_limit_exceeded")
    assert int(drained.refusal.headers["retry-after"]) >= 1
    assert tokens <= drained.passed <= tokens + drained.elapsed_s * rate + 1, drained


def me(party: Party, http: httpx.Client | None = None) -> httpx.Response:
    auth = {"Authorization": f"Bearer {party.key}"}
    return (http or party.http).get(party.service.base_url + "/v1/me", headers=auth)


@pytest.fixture(scope="module")
def addresses() -> Iterator[list[httpx.Client]]:
    """Callers at different addresses of this machine's loopback."""
    clients = [
        httpx.Client(
            transport=httpx.HTTPTransport(local_address=f"127.0.1.{n}"),
            trust_env=False,
            timeout=20,
        )
        for n in range(1, 9)
    ]
    yield clients
    for client in clients:
        client.close()


#: Level, how many keys of a client or clients share it, whether they call from one address, rate and burst.
LEVELS = [
    ("key", 1, True, 10, 20),
    ("key", 1, False, 10, 20),
    ("client", 4, False, 20, 40),
    ("address", 4, True, 20, 40),
    ("account", 8, False, 30, 60),
]


@pytest.mark.parametrize(("level", "count", "together", "rate", "burst"), LEVELS)
def test_level_has_its_rate_and_burst(
    console: Console,
    addresses: list[httpx.Client],
    level: str,
    count: int,
    together: bool,
    rate: int,
    burst: int,
) -> None:
    """A burst at once; after a second what the rate gives; never more than the burst is saved up."""
    first = console.client()
    further = console.further_key if level == "client" else lambda _: console.client()
    keys = [first, *(further(first) for _ in range(count - 1))]

    def send(number: int) -> httpx.Response:
        return me(keys[number % count], None if together else addresses[number % 8])

    holds(drain(send), burst, rate)
    for seconds, tokens in ((1, rate), (3_600, burst)):
        console.advance(seconds)
        holds(drain(send), tokens, rate)


def test_retry_after_is_long_enough(console: Console, party: Party) -> None:
    """Once Retry-After has passed, the next request does."""
    drained = drain(lambda n: me(party))
    console.advance(int(drained.refusal.headers["retry-after"]))

    assert common(me(party)).status_code == 200


def test_refused_keys_count_against_their_address(party: Party) -> None:
    """They are answered 401 all the same, and leave less for whoever shares the address."""
    unknown = {"Authorization": "Bearer svc_test_0_0"}
    for _ in range(200):
        response = party.http.get(party.service.base_url + "/v1/me", headers=unknown)
        problem(response, 401, "invalid_api_key")
    drained = drain(lambda n: me(party))
    assert drained.passed <= 20 * drained.elapsed_s + 5


def test_limits_can_be_switched_off(console: Console, party: Party) -> None:
    """With rate_limits null nothing is refused."""
    with console.settings(rate_limits=None):
        assert {common(me(party)).status_code for _ in range(100)} == {200}
