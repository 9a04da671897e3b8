"""Chains beside a first walk: when they are begun, what they bring, and that they prove nothing."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from account.conftest import IDENTITY
from account.service import CAMPAIGN, START, FakeService, FragileStore
from dialframe.account import Account, chains
from dialframe.errors import TransportError

OTHER = "cmp_00000000-0000-0000-0000-000000000002"
CHAIN = "calls.list cmp_"


class SlowService(FakeService):
    """A service whose answers to the walk over all calls take long, by its clock and for real."""

    slow = timedelta(seconds=1)
    hold = 0.02

    def ask(self, request: str) -> tuple[datetime, str]:
        """One request, slow where it is the walk's."""
        answered = super().ask(request)
        if request.startswith("calls.list") and CHAIN not in request:
            self.now += self.slow
            time.sleep(self.hold)
        return answered


@pytest.fixture
def service() -> SlowService:
    """Two campaigns with calls in turn, and every seventh call in none."""
    made = SlowService(page_size=5)
    for number in (1, 2):
        made.put("campaigns", number, START - timedelta(days=30))
    for number in range(140):
        campaign = None if number % 7 == 0 else (CAMPAIGN, OTHER)[number % 2]
        direction = "inbound" if number % 3 == 0 else "outbound"
        made.put("calls", number, START - timedelta(hours=number), campaign_id=campaign,
                 direction=direction)  # fmt: skip
    return made


@pytest.fixture
def account(service: SlowService, tmp_path: Path) -> Account:
    """An account that knows its campaigns and has no calls yet."""
    store = FragileStore.open(tmp_path / "part", IDENTITY)
    made = Account(service, store, now=service.clock)
    made.sync(["campaigns"])
    return made


def test_a_slow_first_walk_is_helped_and_remains_the_authority(
    account: Account, service: SlowService
) -> None:
    """Chains by campaign and direction run beside it; it reads every page itself; nothing is doubled."""
    before = set(threading.enumerate())
    report = account.sync(["calls"])

    asked = [request for request in service.requests if request.startswith(CHAIN)]
    assert len({request.split(" ")[1] for request in asked}) == 2
    assert "spare" in service.lanes
    assert service.count("calls.list") - len(asked) == 28
    assert report.complete
    assert set(account.calls()["id"]) == set(service.rows["calls"])
    assert account.calls()["id"].is_unique
    assert account.store.states("chain.calls") == {}
    assert len(set(threading.enumerate()) - before) < 4


def test_what_only_chains_brought_does_not_count_as_covered(
    account: Account, service: SlowService
) -> None:
    """A walk that was cut off is incomplete however much the chains have brought; later they go on."""

    def fails(request: str) -> TransportError | None:
        walked = service.count("calls.list") - service.count(CHAIN)
        whole = request.startswith("calls.list") and CHAIN not in request
        return TransportError("calls.list: no answer") if whole and walked == 4 else None

    service.hold = 0.1
    service.fails = fails

    report = account.sync(["calls"])
    brought = len(account.calls())

    assert not report.complete
    assert report["calls"].covers_from == START - timedelta(hours=19)
    assert brought > 60
    ended = [state["ended"] for state in account.store.states("chain.calls").values()]
    assert any(ended)
    service.fails, service.hold = lambda _: None, 0.0
    assert account.sync(["calls"]).complete
    assert len(account.calls()) == 140


def test_a_fast_walk_is_left_alone(account: Account, service: SlowService) -> None:
    """Where one chain fills the limit, more would only cost."""
    service.slow = timedelta(0)

    account.sync(["calls"])

    assert service.count(CHAIN) == 0


def test_a_later_walk_is_left_alone(account: Account, service: SlowService) -> None:
    """Only a first walk is waited for."""
    account.sync(["calls"])
    service.requests.clear()

    account.sync(["calls"], reconcile_after="0s")

    assert service.count(CHAIN) == 0
    assert service.count("calls.list") == 28


def test_many_campaigns_are_not_split_further(
    account: Account, service: SlowService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a chain for each thread there is nothing to gain from halves."""
    monkeypatch.setattr(chains, "THREADS", 3)

    account.sync(["calls"])

    names = {request for request in service.requests if request.startswith(CHAIN)}
    assert {name for name in names if len(name.split()) == 2} <= {
        f"calls.list {one}" for one in (CAMPAIGN, OTHER)
    }
    assert len(account.calls()) == 140
