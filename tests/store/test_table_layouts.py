"""A store of an older layout becomes one of this; events are stored once and forgotten with their person."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dialframe.frames import CALLS, DISPOSITIONS, EVENTS, LEADS
from dialframe.store import Store
from dialframe.store.files.database import FILE
from dialframe.store.files.table_layouts import SCHEMA_VERSION
from dialframe.store.forgotten_numbers import REPLACED
from store.made import CAMPAIGN, OTHER_CAMPAIGN, at, bytes_of, call, lead, phone, put

PERSON, OTHER = "+12125550142", "+12125550143"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(tmp_path / "part") as opened:
        yield opened


def event(number: int = 1, minute: float = 1, **changes: Any) -> dict[str, Any]:
    """An event as a receiver gives it."""
    return {
        "id": f"evt_{number}",
        "type": "call.completed",
        "created_at": at(number),
        "api_version": "v1",
        "schema_version": 1,
        "data": {"from": OTHER, "to": phone(number)},
        "call_details": {"schema_version": 1},
        "received_at": at(minute),
        "delivery_id": f"whd_{minute}",
    } | changes


def receive(store: Store, *events: dict[str, Any], minute: float = 1) -> int:
    """Append events received at a minute; gives the number of new versions."""
    return put(store, events, minute, EVENTS).versions


def made_old(folder: Path, version: int) -> None:
    """Make a store of an older layout, as the code of that time wrote it; the first had no events."""
    with sqlite3.connect(folder / FILE) as connection:
        connection.executescript((Path(__file__).parent / "layout2.sql").read_text())
        if version == 1:
            connection.execute("DROP TABLE row_events")
            connection.execute("DROP TABLE head_events")
            connection.execute("PRAGMA user_version = 1")
    connection.close()


def test_a_store_of_the_first_layout_gains_the_events(tmp_path: Path) -> None:
    """Opening it adds the table and leaves every row where it was."""
    made_old(tmp_path, 1)

    with Store.open(tmp_path) as store:
        assert len(store.frame(CALLS)) == 3
        assert len(store.frame(EVENTS)) == 0
        assert receive(store, event()) == 1
        assert store.info().schema_version == SCHEMA_VERSION == 5
    with Store.open(tmp_path) as store:
        assert len(store.frame(EVENTS)) == 1


def test_a_store_of_the_second_layout_keeps_everything(tmp_path: Path) -> None:
    """Versions, late answers, gone rows, checks, checkpoints and marks are what they were."""
    made_old(tmp_path, 2)

    with Store.open(tmp_path) as store:
        for _ in range(2):
            calls = store.frame(CALLS)
            assert list(calls["id"]) == [call(n)["id"] for n in (1, 2, 3)]
            assert calls["disposition"].fillna("-").tolist() == ["sale", "-", "-"]
            assert calls["campaign_id"].tolist()[1] == OTHER_CAMPAIGN
            late = store.frame(CALLS, as_of=at(16))
            assert late["status"].tolist() == ["completed", "completed", "ringing", "completed"]
            assert len(store.frame(CALLS, as_of=at(20))) == 4
            assert len(store.history(CALLS)) == 9
            assert store.info().table("calls").gone == 1
            assert store.frame(LEADS)["status"].tolist() == ["contacted", "new"]
            assert store.last_checks([phone(1)])[phone(1)].listed
            assert not store.last_checks([phone(1)], as_of=at(6))[phone(1)].listed
            assert store.campaign_ids(CALLS, LEADS) == {CAMPAIGN, OTHER_CAMPAIGN}
            store.compact()

        assert len(store.frame(DISPOSITIONS)) == len(store.frame(EVENTS)) == 1
        assert store.state("leads") == {"n": 1}
        assert store.info().table("leads").quarantined == 1
        same = put(store, [call(1, disposition="sale")], 50)
        kept_out = put(store, [call(9, to_number=PERSON)], 50)
        assert (same.versions, kept_out.forgotten) == (0, 1)
        assert store.reconcile(CALLS, seen_before=at(49), at=at(50), misses=1) == 2
        assert (
            store.reconcile(
                LEADS, seen_before=at(49), at=at(50), misses=1, campaign=OTHER_CAMPAIGN
            )
            == 0
        )


def test_two_may_open_an_older_store_at_once(tmp_path: Path) -> None:
    """One of them adds the table, the other finds it there."""
    made_old(tmp_path, 1)

    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(Store.open, [tmp_path] * 4))

    assert {store.info().schema_version for store in stores} == {SCHEMA_VERSION}
    for store in stores:
        store.close()


def test_an_event_stays_as_it_first_receive(store: Store) -> None:
    """A replay has another delivery and another time; the event is the one that is there."""
    assert receive(store, event(1), minute=5) == 1
    assert receive(store, event(1, 7, type="webhook.test", data={}), minute=7) == 0
    assert receive(store, event(1, 3), minute=3) == 0
    assert receive(store, event(1, 7), event(2, 7), minute=7) == 1

    frame = store.frame(EVENTS)
    assert list(frame["id"]) == ["evt_1", "evt_2"]
    assert list(frame["delivery_id"]) == ["whd_1", "whd_7"]
    assert store.info().table("events").versions == 2
    assert len(store.frame(EVENTS, as_of=at(4))) == 0


@pytest.mark.parametrize(
    "data",
    [
        {"from": PERSON, "to": OTHER},
        {"from": OTHER, "to": PERSON},
        {"phone": PERSON, "notes": "a word in confidence"},
        {"customer": {"name": "Ada Example", "phone": PERSON}},
        {"lead_id": lead(1)["id"], "phone": None},
    ],
    ids=["from", "to", "phone", "customer", "lead"],
)
def test_a_forgotten_persons_events_are_gone_and_stay_away(
    store: Store, data: dict[str, Any]
) -> None:
    """An event about a forgotten number, or its lead, is erased, and not kept when it comes again."""
    put(store, [lead(1, phone=PERSON)], 1, LEADS)
    receive(store, event(1, data=data), event(2))

    store.forget(PERSON, at=at(2))
    again = put(store, [event(1, data=data)], 3, EVENTS)

    assert list(store.frame(EVENTS)["id"]) == ["evt_2"]
    assert (again.versions, again.forgotten) == (0, 1)
    held = bytes_of(store.folder)
    assert b"a word in confidence" not in held
    assert b"Ada Example" not in held
    assert PERSON[1:].encode() not in held


def test_a_mention_in_another_persons_event_is_replaced(store: Store) -> None:
    """The event stays, the number in its notes and summary does not, before and afterwards."""
    details = {"summary": {"text": "ring (212) 555-0142"}}
    receive(store, event(1, data={"phone": OTHER, "notes": f"was {PERSON}"}, call_details=details))

    store.forget(PERSON, at=at(2))
    receive(store, event(2, data={"phone": OTHER, "notes": f"was {PERSON}"}), minute=3)

    frame = store.frame(EVENTS)
    assert [json.loads(data)["notes"] for data in frame["data"]] == [f"was {REPLACED}"] * 2
    assert json.loads(frame["call_details"].iloc[0])["summary"]["text"] == f"ring ({REPLACED}"
    assert PERSON[1:].encode() not in bytes_of(store.folder)
