"""One service for the whole suite; a fresh API client for each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.contract.service_bench import BASELINE, Console, Party, Receiver, Service


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """A running sandbox with an empty account, rate limits off."""
    with Service("--size", "empty") as running:
        running.console.change(**BASELINE)
        yield running


@pytest.fixture(scope="session")
def console(service: Service) -> Console:
    """Its console."""
    return service.console


@pytest.fixture(scope="module")
def party(console: Console) -> Party:
    """A client of this module's own, with every scope and a sending key."""
    return console.client()


@pytest.fixture(scope="module")
def other(console: Console) -> Party:
    """A second client, which must see nothing of the first."""
    return console.client()


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    """A receiver of deliveries on loopback."""
    listening = Receiver()
    yield listening
    listening.close()


@pytest.fixture(scope="module", autouse=True)
def _as_found(console: Console) -> Iterator[None]:
    """Leave the account as every module expects to find it."""
    yield
    console.do("DELETE", "/faults", status=204)
    console.change(**BASELINE)
