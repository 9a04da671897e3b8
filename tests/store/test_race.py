"""Several processes on one store, and processes killed in the middle: nothing lost, doubled or torn."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dialframe.files import exclusive
from dialframe.frames import CALLS
from dialframe.store.database import TURN_LOCK, Database
from store.made import bytes_of, call, phone, put
from store.racing import FORGOTTEN, PAGE, SHARED, Bell, check, opened, page, start

#: Longer and more often by hand: `RACE_PAGES=200 KILLS=20 pytest tests/store/test_race.py`.
PAGES = int(os.environ.get("RACE_PAGES", "4"))
KILLS = int(os.environ.get("KILLS", "1"))


def test_writers_readers_and_compactors_at_once(tmp_path: Path) -> None:
    """Two of each: every answer is of whole pages, every acknowledged page is there once."""
    folder = tmp_path / "part"
    opened(folder).close()
    roles = [("write", "a"), ("write", "b"), *[("read", "r"), ("compact", "c")] * 2]
    running = [start(role, folder, name, PAGES) for role, name in roles]
    ended = [process.end() for process in running[:2]]
    Bell(folder).ring()
    ended += [process.end() for process in running[2:]]
    reports = [lines for _, lines in ended]

    assert [status for status, _ in ended] == [0] * len(roles)
    written = [json.loads(lines[-1])["pages"] for lines in reports[:2]]
    assert written == [PAGES, PAGES]
    assert all(json.loads(lines[-1]).get("reads", 1) > 0 for lines in reports)
    with opened(folder) as store:
        assert check(store, read_whole=True) == sum(written)
        frame = store.frame(CALLS)
        assert len(frame) == sum(written) * PAGE + SHARED
        last = {f"{name} {count - 1}" for name, count in zip("ab", written, strict=True)}
        assert set(frame[frame["id"].str.startswith("call_shared")]["status"]) <= last
        history = store.history(CALLS, [f"call_shared_{row}" for row in range(SHARED)])
        # An answer that was overtaken on its way adds its own version and that of the newer one again.
        assert len(history.drop_duplicates(["id", "status"])) == sum(written) * SHARED
        store.compact()
        assert store._database.shelf.names() == _named(folder)


def test_forgetting_among_writers_readers_and_compactors(tmp_path: Path) -> None:
    """A number is gone from all pages at one moment, from every byte, and from pages that come later."""
    folder = tmp_path / "part"
    opened(folder).close()
    # Forgetting waits for its turn alone, which thirty pages suffice for; a bound, where a machine is busy.
    writer = start("write", folder, "a", 300)
    writer.stdout.readline()  # one page stands before anything is forgotten
    others = [
        start(role, folder, name)
        for role, name in [("forget", "f"), ("read", "r"), ("compact", "c")]
    ]
    ended = [others[0].end()]
    Bell(folder).ring()
    ended += [process.end() for process in [writer, *others[1:]]]

    assert [status for status, _ in ended] == [0] * 4
    pages = json.loads(ended[1][1][-1])["pages"]
    with opened(folder) as store:
        frame = store.frame(CALLS)
        assert len(frame) == pages * (PAGE - FORGOTTEN) + SHARED
        store.vacuum()
        parts = [pq.read_table(path) for path in folder.rglob("*.parquet")]
        held = bytes_of(folder) + b"".join(repr(part.to_pylist()).encode() for part in parts)
    assert not [n for n in range(FORGOTTEN) if phone(n).encode() in held]
    assert phone(FORGOTTEN).encode() in held


def test_who_waits_to_write_comes_before_who_has_just_written(tmp_path: Path) -> None:
    """SQLite's own lock goes to whoever asks at the right moment, and not to whoever waits."""
    first, second = Database(tmp_path / "part"), Database(tmp_path / "part")
    order = []

    def write_second() -> None:
        with second.writing():
            order.append("second")

    with ThreadPoolExecutor() as threads:
        with first.writing():
            waiting = threads.submit(write_second)
            for _ in range(1000):
                with exclusive(first.folder / TURN_LOCK, wait=False) as free:
                    if not free:
                        break
                time.sleep(0.005)
        with first.writing():
            order.append("first")
        waiting.result(60)
    first.close()
    second.close()
    assert order == ["second", "first"]


def test_compacting_ends_though_others_write_without_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever comes after each of its transactions, to the tail and to sealed rows, waits for the next time."""
    writes = 0
    with opened(tmp_path / "part") as store, opened(tmp_path / "part") as other:
        put(store, [call(number) for number in range(99)], 0)
        database, writing = store._database, store._database.writing

        @contextmanager
        def disturbed() -> Iterator[sqlite3.Connection]:
            nonlocal writes
            with writing() as connection:
                yield connection
            if writes < 99:
                writes += 1
                put(other, [call(writes, status="busy"), call(99 + writes)], writes)

        monkeypatch.setattr(database, "writing", disturbed)
        store.compact()
    assert writes < 50


def _named(folder: Path) -> set[str]:
    with opened(folder) as store, store._database.reading() as connection:
        return {name for (name,) in connection.execute("SELECT name FROM part WHERE dead = 0")}


def test_killed_writers_lose_nothing_that_was_stored(tmp_path: Path) -> None:
    """After kill -9 at any moment, sealing and merging included, rows and checkpoint agree."""
    folder = tmp_path / "part"
    chance = random.Random(11)
    acknowledged = 0
    for _ in range(KILLS):
        writer = start("write", folder, "a")
        compactor = start("compact", folder, "c")
        for _ in range(chance.randint(2, 25)):
            acknowledged = json.loads(writer.stdout.readline())["next"]
        for process in (compactor, writer) if chance.random() < 0.5 else (writer, compactor):
            process.kill()
        left = [json.loads(line)["next"] for line in writer.end()[1] if line]
        compactor.end()
        acknowledged = max([acknowledged, *left])

        with opened(folder) as store:
            state = store.state("a")
            assert state is not None
            assert check(store, read_whole=True) == state["next"] >= acknowledged
            assert len(store.frame(CALLS)) == state["next"] * PAGE + SHARED
            versions = store.info().table("calls").versions
            assert versions == state["next"] * (PAGE + SHARED)
            # What a killed process left lying is gone at the next opening.
            assert store._database.shelf.names() == _named(folder)


def test_a_page_has_new_rows_and_shared_ones() -> None:
    """The pages of the race are what its checks count on."""
    ids = [row["id"] for row in page("a", 1) + page("b", 1)]

    assert len(ids) == 2 * (PAGE + SHARED)
    assert len(set(ids)) == 2 * PAGE + SHARED
