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


def test_key_has_10_a_second_and_a_burst_of_20(console: Console, party: Party) -> None:
    """Twenty at once; ten more after a second; never more than twenty saved up."""
    holds(drain(lambda n: me(party)), 20, 10)
    console.advance(1)
    holds(drain(lambda n: me(party)), 10, 10)
    console.advance(3_600)
    holds(drain(lambda n: me(party)), 20, 10)


def test_retry_after_is_long_enough(console: Console, party: Party) -> None:
    """Once Retry-After has passed, the next request does."""
    drained = drain(lambda n: me(party))
    console.advance(int(drained.refusal.headers["retry-after"]))

    assert common(me(party)).status_code == 200


def test_key_has_one_bucket_wherever_it_calls_from(
    console: Console, addresses: list[httpx.Client]
) -> None:
    """The limit per key is not per address."""
    client = console.client()

    holds(drain(lambda n: me(client, addresses[n % 8])), 20, 10)


def test_client_has_20_a_second_and_a_burst_of_40(
    console: Console, addresses: list[httpx.Client]
) -> None:
    """Four keys of one client at eight addresses share the client's bucket."""
    client = console.client()
    keys = [client, *(console.further_key(client) for _ in range(3))]

    holds(drain(lambda n: me(keys[n % 4], addresses[n % 8])), 40, 20)
    console.advance(1)
    holds(drain(lambda n: me(keys[n % 4], addresses[n % 8])), 20, 20)


def test_address_has_20_a_second_and_a_burst_of_40(console: Console) -> None:
    """Four clients at one address share the address's bucket."""
    clients = [console.client() for _ in range(4)]

    holds(drain(lambda n: me(clients[n % 4])), 40, 20)
    console.advance(1)
    holds(drain(lambda n: me(clients[n % 4])), 20, 20)


def test_account_has_30_a_second_and_a_burst_of_60(
    console: Console, addresses: list[httpx.Client]
) -> None:
    """Eight clients at eight addresses share the account's bucket."""
    clients = [console.client() for _ in range(8)]

    holds(drain(lambda n: me(clients[n % 8], addresses[n % 8])), 60, 30)
    console.advance(1)
    holds(drain(lambda n: me(clients[n % 8], addresses[n % 8])), 30, 30)


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
