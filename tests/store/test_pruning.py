"""Rows older than they may be kept: deleted in every version and byte, and kept out from then on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dialframe.errors import ConfigError
from dialframe.frames import CALLS, CAMPAIGNS, DNC_CHECKS, EVENTS, LEADS
from dialframe.store import Store, bad_record
from dialframe.store.compaction import Sizes
from dialframe.store.files.database import Database
from store.made import at, bytes_of, call, check, lead, phone, put

TINY = Sizes(seal_rows=6, close_rows=1, part_rows=5, small_parts=99, patches=99)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Calls of minutes 0 to 19, the first with a history, one of them gone; leads, checks and an event."""
    with Store(Database(tmp_path / "part"), TINY) as opened:
        put(opened, [call(n) for n in range(20)], 30)
        put(opened, [call(n, disposition="sale") for n in (0, 1, 15)], 40)
        for minute in (50, 60):
            put(opened, [call(n) for n in range(20) if n != 2], minute)
            opened.reconcile(CALLS, seen_before=at(minute), at=at(minute))
        put(opened, [lead(n) for n in range(20)], 30, LEADS)
        put(opened, [check(n, n) for n in range(20)], 30, DNC_CHECKS)
        put(opened, [{"id": "evt_1", "created_at": at(1), "data": {"to": phone(1)}}], 30, EVENTS)
        yield opened


def test_old_rows_are_gone_in_all_versions(store: Store) -> None:
    """Current table, as of any instant, history and heads: nothing created before is left."""
    deleted = store.prune(at(10))

    assert deleted["calls"] >= 10 + 2 + 2
    assert store.frame(CALLS)["created_at"].min() == at(10)
    assert len(store.frame(CALLS, as_of=at(35))) == 10
    history = store.history(CALLS)
    assert set(history["id"]) == {call(n)["id"] for n in range(10, 20)}
    assert len(store.frame(LEADS)) == len(store.frame(DNC_CHECKS)) == 10
    assert len(store.frame(EVENTS)) == 0
    assert set(store.last_checks([phone(9), phone(10)])) == {phone(10)}
    facts = store.info().table("calls")
    assert (facts.rows, facts.gone, facts.versions) == (10, 0, len(history))


def test_no_byte_of_them_is_left(store: Store) -> None:
    """Neither the file nor its log nor a part holds what was deleted."""
    assert call(3)["id"].encode() in bytes_of(store.folder) or store.info().table("calls").parts

    store.prune(at(10))

    held = bytes_of(store.folder)
    assert not [n for n in range(10) if call(n)["id"].encode() in held]
    assert call(15)["id"] in set(store.frame(CALLS)["id"])


def test_a_later_sync_does_not_bring_them_back(store: Store) -> None:
    """The same answers again add nothing that is older; what has no time is kept."""
    store.prune(at(10), [CALLS])

    added = put(store, [call(n) for n in range(20)], 70)
    assert (added.rows, added.versions, added.pruned) == (20, 0, 10)
    assert len(store.frame(CALLS)) == 10
    assert put(store, [call(40, created_at=None)], 71).versions == 1
    assert put(store, [lead(1, status="dnc")], 72, LEADS).versions == 1

    store.prune(at(5), [CALLS])
    assert put(store, [call(7)], 73).pruned == 1


def test_records_set_aside_are_deleted_by_their_arrival(store: Store) -> None:
    """What could not be read has no time of its own: that of its observation counts."""
    for minute in (5, 15):
        bad = [bad_record({"id": f"call_{minute}"}, "odd")]
        put(store, [], minute, quarantined=bad)

    store.prune(at(10))

    assert store.info().table("calls").quarantined == 1


def test_only_tables_about_persons_are_pruned(store: Store) -> None:
    """Campaigns are needed to read what is left; asking for them is refused before anything is deleted."""
    with pytest.raises(ConfigError, match="campaigns is not about persons; what can be pruned is"):
        store.prune(at(10), [CALLS, CAMPAIGNS])

    assert len(store.frame(CALLS)) == 19
