"""Rows that files brought stay beside those of the service: no walk of its lists misses or refreshes them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from account.service import FakeService
from dialframe.account import Account
from dialframe.flows import call_load

SAMPLES = Path(__file__).parents[2] / "data_samples" / "calls"
DAY = timedelta(days=1)


def load(account: Account, service: FakeService) -> None:
    """Load the calls of another dialer."""
    call_load.load(
        account, "calls", SAMPLES / "twilio_calls.csv", profile="twilio", region="US",
        zone="America/New_York", now=service.clock(),
    )  # fmt: skip


@pytest.mark.parametrize("loaded_first", [True, False])
def test_loaded_rows_outlive_the_walks_of_the_service(
    account: Account, service: FakeService, loaded_first: bool
) -> None:
    """However often its lists are read to their ends; a row that it no longer lists goes all the same."""
    if not loaded_first:
        account.sync()
    load(account, service)
    held = {name: set(getattr(account, name)()["id"]) for name in ("calls", "leads", "campaigns")}
    deleted = next(iter(service.rows["calls"]))
    account.sync()
    del service.rows["calls"][deleted]
    for _ in range(4):
        service.now += 8 * DAY
        assert account.sync(whole=True).complete

    for name, ids in held.items():
        assert ids - set(getattr(account, name)()["id"]) == ({deleted} & ids)
    assert deleted not in set(account.calls()["id"])


def test_loaded_calls_are_not_asked_for(account: Account, service: FakeService) -> None:
    """The service knows none of them; and no walk of it is a look at them."""
    account.sync()
    load(account, service)
    loaded_at = service.now
    for _ in range(3):
        service.now += DAY
        account.sync()

    calls = account.calls()
    theirs = ~calls["id"].isin(service.rows["calls"])
    assert theirs.sum() > 50
    assert calls[theirs]["last_looked_at"].max() <= loaded_at
    assert service.count("calls.get") == 0
