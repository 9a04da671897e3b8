"""Events of an account as a DataFrame: kept by a receiver, or fetched by a sync."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from account.service import START, FakeService
from dialframe import frames
from dialframe.account import Account
from dialframe.errors import ConfigError
from dialframe.frames.frame_schemas import PROVENANCE
from dialframe.store import Store

COLUMNS = [
    "id", "type", "created_at", "api_version", "schema_version", "data", "call_details",
    "received_at", "delivery_id",
]  # fmt: skip


@pytest.fixture
def service() -> FakeService:
    """A service with nothing in it."""
    return FakeService()


@pytest.fixture
def account(service: FakeService, tmp_path: Path) -> Iterator[Account]:
    """An account with an empty store."""
    with Account(service, Store.open(tmp_path), now=service.clock) as made:
        yield made


def put(
    account: Account, number: int, *, created_h: float = 0, received_h: float = 0, **more: Any
) -> None:
    """Keep an event that happened and came so many hours after the start."""
    received_at = START + timedelta(hours=received_h)
    row = {
        "id": f"evt_{number}",
        "type": "call.completed",
        "created_at": START + timedelta(hours=created_h),
        "api_version": "v1",
        "schema_version": 1,
        "data": {"call_id": f"call_{number}", "duration_seconds": 61},
        "call_details": {"schema_version": 1},
        "received_at": received_at,
        "delivery_id": f"whd_{number}",
    } | more
    account.store.append(frames.EVENTS, [row], observed_at=received_at, request_id=None)


def test_columns_and_dtypes_never_depend_on_the_events(account: Account) -> None:
    """None, some, and one without data have the same columns and dtypes."""
    empty = account.events()
    put(account, 1)
    put(account, 2, data={}, call_details=None)

    filled = account.events()

    assert list(empty.columns)[: len(COLUMNS)] == COLUMNS
    assert empty.dtypes.equals(filled.dtypes)
    assert empty.dtypes.equals(frames.empty(frames.EVENTS, PROVENANCE).dtypes)
    assert {str(filled[name].dtype) for name in ("created_at", "received_at")} == {
        "datetime64[us, UTC]"
    }
    assert str(filled["schema_version"].dtype) == "Int64"


def test_events_are_in_the_order_in_which_they_happened(account: Account) -> None:
    """Deliveries come out of order; `created_at` says what was first, and the id where that is equal."""
    for number, hours in ((1, 3), (2, 1), (4, 2), (3, 2)):
        put(account, number, created_h=hours, received_h=10 + number)

    frame = account.events()

    assert list(frame["id"]) == ["evt_2", "evt_3", "evt_4", "evt_1"]
    assert frame["created_at"].is_monotonic_increasing
    assert list(frame["_observed_at"]) == list(frame["received_at"])


def test_data_is_json_as_it_was_delivered(account: Account) -> None:
    """Data and call details are JSON text; what v1 gains is kept in `_extra`."""
    put(account, 1, data={"to": "+12125550142", "n": 1.5, "é": None}, mood=["glad"])

    row = account.events().iloc[0]

    assert json.loads(row["data"]) == {"to": "+12125550142", "n": 1.5, "é": None}
    assert json.loads(row["call_details"]) == {"schema_version": 1}
    assert json.loads(row["_extra"]) == {"mood": ["glad"]}


def test_since_until_type_and_as_of(account: Account) -> None:
    """`since` and `until` speak of `created_at`, `as_of` of what had been received by then."""
    put(account, 1, created_h=-48, received_h=1)
    put(account, 2, created_h=0, received_h=2, type="webhook.test")
    put(account, 3, created_h=0, received_h=3)

    def ids(**wanted: Any) -> list[str]:
        return list(account.events(**wanted)["id"])

    assert ids(since="2026-03-01") == ["evt_2", "evt_3"]
    assert ids(until=START) == ["evt_1"]
    assert ids(type="webhook.test") == ["evt_2"]
    assert ids(type="call.completed", since=START) == ["evt_3"]
    assert ids(type="call.started") == []
    assert ids(as_of=START + timedelta(hours=2)) == ["evt_1", "evt_2"]
    assert list(account.events(type="call.completed").index) == [0, 1]
    assert account.events(type="call.started").dtypes.equals(account.events().dtypes)
    with pytest.raises(ConfigError, match="since"):
        account.events(since="yesterday")


def test_freshness_promises_nothing(account: Account) -> None:
    """A frame of events says how many it shows, and that nobody fetched those that were not delivered."""
    put(account, 1)
    put(account, 2, type="webhook.test")

    fresh = account.events(type="webhook.test").attrs["dialframe"]

    assert (fresh["table"], fresh["rows"], fresh["complete"]) == ("events", 1, False)
    assert pd.Timestamp(fresh["oldest"]) == pd.Timestamp(START)
    assert fresh["sentence"] == "events: only those that were delivered to a receiver here."
    assert account.info()["rows"]["events"] == 2
    assert account.info()["freshness"]["events"] == fresh["sentence"]


def test_a_sync_asks_for_events_that_were_not_delivered(
    account: Account, service: FakeService
) -> None:
    """Each listed event is asked for once, with its data; what a receiver kept stays as it came."""
    put(account, 1)
    for number in (5, 6, 7):
        service.put("events", number, START - timedelta(hours=number))

    report = account.sync(["events"])
    again = account.sync(["events"])

    events = account.events()
    assert len(events) == 4
    assert json.loads(events["data"].iloc[0]) == {"call_id": "call_1"}
    assert (report["events"].requests, again["events"].requests) == (4, 1)
    assert report.complete
    assert "complete as of" in events.attrs["dialframe"]["sentence"]


def test_an_event_that_the_service_forgot_is_not_gone(
    account: Account, service: FakeService
) -> None:
    """The list forgets after 30 days; the store does not, however often the list is read whole."""
    service.put("events", 5, START)
    account.sync(["events"])
    service.rows["events"].clear()

    for _ in range(3):
        account.sync(["events"], whole=True)

    assert len(account.events()) == 1
