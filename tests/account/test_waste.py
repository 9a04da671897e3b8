"""A sync asks for what it needs: each page once, the next one while one is stored, single rows that may change."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from account.conftest import IDENTITY
from account.service import SECOND, START, FakeService, FragileStore
from dialframe import frames
from dialframe.account import Account
from dialframe.errors import ContractError

DAY = timedelta(days=1)


@pytest.fixture
def service() -> FakeService:
    """1,000 calls three hours apart, 600 leads, three campaigns."""
    made = FakeService(page_size=50)
    for number in range(1000):
        made.put("calls", number, START - timedelta(hours=3 * number))
    for number in range(600):
        made.put("leads", number, START - timedelta(hours=number))
    for number in (1, 2, 3):
        made.put("campaigns", number, START - 130 * DAY)
    return made


@pytest.fixture
def account(service: FakeService, tmp_path: Path) -> Iterator[Account]:
    """An account with an empty store."""
    with Account(
        service,
        FragileStore.open(tmp_path / "part", IDENTITY),
        now=service.clock,  # type: ignore[arg-type]
    ) as made:
        yield made


def test_first_sync_asks_for_each_page_once(account: Account, service: FakeService) -> None:
    """No request twice, none by campaign, and hardly one more than the lists have pages."""
    report = account.sync(["calls", "leads", "campaigns"])

    asked = [request for request in service.requests if request != "me"]
    assert report.complete
    assert len(set(asked)) == len(asked) == 20 + 12 + 1
    assert report.requests == len(asked)
    assert not [request for request in asked if " cmp_" in request]


def test_next_pages_are_fetched_while_one_is_stored(
    account: Account, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first page is being stored, the next ones come: four that wait and one in hand."""
    append, waited = account.store.append, threading.Event()

    def slow_append(*arguments: object, **keywords: object) -> object:
        until_s = time.monotonic() + 10
        while not waited.is_set() and time.monotonic() < until_s:
            if service.count("calls.list") == 6:
                waited.set()
            time.sleep(0.002)
        return append(*arguments, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(account.store, "append", slow_append)

    account.sync(["calls"])

    assert waited.is_set()


def test_no_page_is_fetched_that_the_walk_does_not_need(
    account: Account, service: FakeService
) -> None:
    """Where a walk stops before the end, nothing is fetched ahead for nothing."""
    account.sync(["calls"])
    service.now += timedelta(hours=1)
    service.requests.clear()

    account.sync(["calls"])

    assert service.count("calls.list") == 1


def test_call_that_had_not_ended_is_read_again_singly(
    account: Account, service: FakeService
) -> None:
    """However long ago it began, and the list is not read for it."""
    running = service.put("calls", 2000, START - 20 * DAY + SECOND, ended_at=None)
    account.sync(["calls"])
    service.now += timedelta(hours=3)
    service.put("calls", 2000, START, ended_at=service.now, disposition="sale")
    service.requests.clear()

    account.sync(["calls"])

    assert account.calls().set_index("id").loc[running, "disposition"] == "sale"
    assert service.count("calls.list") == 1
    assert service.count(f"calls.get {running}") == 1
    service.requests.clear()
    account.sync(["calls"])
    assert service.count("calls.get") == 0


def test_event_kept_here_is_a_hint(account: Account, service: FakeService) -> None:
    """A disposition logged for an old call is there after the next sync, and not a day later."""
    identifier = service.put("calls", 2000, START - 9 * DAY + SECOND)
    account.sync(["calls"])
    service.now += timedelta(hours=3)
    service.put("calls", 2000, START, disposition="refused")
    event = {
        "id": "evt_1", "type": "disposition.logged", "created_at": service.now, "api_version": "v1",
        "schema_version": 1, "data": {"call_id": identifier}, "received_at": service.now,
    }  # fmt: skip
    account.store.append(frames.EVENTS, [event], observed_at=service.now, request_id=None)
    service.requests.clear()

    account.sync(["calls"])

    assert account.calls().set_index("id").loc[identifier, "disposition"] == "refused"
    assert service.count("calls.get") == 1


def test_rows_set_aside_are_named_and_the_table_is_complete(
    account: Account, service: FakeService
) -> None:
    """By id and field, in the report and as JSON; everything else is stored."""
    key = next(iter(service.rows["calls"]))
    service.broken[key] = {"id": key, "status": 7}

    report = account.sync(["calls"])

    assert report.complete
    assert (report.quarantined, report["calls"].set_aside) == (
        1, (f"{key}: status: text was expected",),
    )  # fmt: skip
    assert report.as_dict()["tables"]["calls"]["set_aside"] == [*report["calls"].set_aside]
    assert f"calls: set aside {key}: status" in " ".join(str(report).split())
    assert len(account.calls()) == 999


def test_page_that_cannot_be_read_is_asked_for_once_more(
    account: Account, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something in between may have answered; if it stays, the other tables are synced all the same."""
    monkeypatch.setattr("dialframe.account.list_sync.SECOND_LOOK_S", 0.0)
    left = [1]

    def fails(request: str) -> ContractError | None:
        if request.startswith("calls.list ") and left:
            left.pop()
            return ContractError("calls.list: the answer is not what the contract says at body")
        return None

    service.fails = fails
    assert account.sync(["calls", "leads"]).complete

    service.fails = lambda request: (
        ContractError("calls.list: no page") if request.startswith("calls.list") else None
    )
    report = account.sync(["calls", "leads"], whole=True)
    assert (report["calls"].complete, report["leads"].complete) == (False, True)
    assert "no page" in report["calls"].note
    assert isinstance(report.started_at, datetime)


def test_a_sync_of_everything_asks_for_few_events(account: Account, service: FakeService) -> None:
    """Each costs a request; by name all of them come."""
    for number in range(100):
        service.put("events", number, START - timedelta(hours=number))

    report = account.sync()

    assert service.count("events.get") == 20
    assert report.complete
    assert "sync events by name" in report["events"].note
    account.sync(["events"])
    assert len(account.events()) == 100
    assert account.events()["data"].notna().all()
    assert service.count("events.get") == 100
