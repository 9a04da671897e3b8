"""One service for the suite that speaks HTTP alone; a sandbox in this process for what looks inside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialframe.sandbox import Sandbox, start
from sandbox.service_bench import BASELINE, Console, Party, Receiver, Service, Site, answered


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """A running sandbox with an empty account, rate limits off."""
    with Service("--size", "empty") as running:
        running.console.change(**BASELINE)
        yield running


@pytest.fixture(scope="module")
def console(service: Service) -> Iterator[Console]:
    """Its console; the account is left as every module expects to find it."""
    yield service.console
    service.console.do("DELETE", "/faults", status=204)
    service.console.change(**BASELINE)


@pytest.fixture(scope="module")
def party(console: Console) -> Party:
    """A client of this module's own, with every scope and a sending key."""
    return console.client()


@pytest.fixture(scope="module")
def campaign(party: Party) -> str:
    """A paused campaign of it, which takes leads."""
    return party.campaign("paused")


@pytest.fixture(scope="module")
def other(console: Console) -> Party:
    """A second client, which must see nothing of the first."""
    return console.client()


@pytest.fixture
def client(console: Console) -> Iterator[Party]:
    """A client of the test's own, whose webhook endpoints are gone afterwards."""
    made = console.client()
    yield made
    for endpoint in made.walk("/v1/webhooks"):
        answered(made.delete(f"/v1/webhooks/{endpoint['id']}"))


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    """A receiver of deliveries on loopback."""
    listening = Receiver()
    yield listening
    listening.close()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox in this process, its account empty and without rate limits."""
    with start(size="empty") as running:
        running.console.update_account({"rate_limits": None})
        yield running


@pytest.fixture(scope="module")
def api(sandbox: Sandbox) -> Iterator[Party]:
    """Its first client, which may do everything."""
    with Site(sandbox.ready()) as site:
        yield site.first_client()


@pytest.fixture
def settings(sandbox: Sandbox) -> Iterator[Sandbox]:
    """The sandbox in this process, whose settings and faults are as before after the test."""
    before = sandbox.console.account()
    yield sandbox
    sandbox.console.update_account(before)
    sandbox.console.clear_faults()
