"""The SQLite file: opened, made, locked, of other layouts, and its failures in words."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dialframe.errors import StoreError
from dialframe.frames import CALLS, EVENTS, LEADS
from dialframe.sqlite import connect, make_private
from dialframe.store import Checkpoint, Store
from dialframe.store.database import FILE, MIGRATIONS, Database
from dialframe.store.forgotten_numbers import REPLACED
from forked import Forked
from store.made import at, bytes_of, call, lead, phone, put

LATEST = max(int(file.name[:4]) for file in MIGRATIONS.iterdir())


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    """Folders are 0700 and files 0600, whatever the umask says, the log and locks among them."""
    old = os.umask(0)
    try:
        with Store.open(tmp_path / "root" / "part") as store, store.lock("calls"):
            put(store, [call(1)], 1)
            paths = [store.folder, store.folder.parent, *store.folder.rglob("*")]
            modes = {path.name: path.stat().st_mode & 0o777 for path in paths if path.is_file()}
            folders = {path.stat().st_mode & 0o777 for path in paths if path.is_dir()}
    finally:
        os.umask(old)

    assert folders == {0o700}
    assert set(modes.values()) == {0o600}
    assert {FILE, f"{FILE}-wal", "lock.calls"} <= set(modes)


def with_sql(statement: str) -> Callable[[Path], None]:
    """Change a SQLite file, made where it is missing, past the store."""

    def change(file: Path) -> None:
        with closing(sqlite3.connect(file)) as outsider, outsider:
            outsider.execute(statement)

    return change


#: What stands where the store's file should be, and the words of the refusal.
WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "garbage": (lambda file: file.write_bytes(b"not a store at all " * 500),
                f"{FILE}: this is not a store, or it is damaged"),
    "a newer layout": (
        lambda file: (Store.open(file.parent).close(),
                      with_sql("UPDATE meta SET value = '\"9.1.0\"' WHERE name = 'needs'")(file),
                      with_sql("PRAGMA user_version = 99")(file)),
        "it was written by a newer dialframe; it needs 9.1.0 or later: pip install -U dialframe"),
    "a layout of before 0.1.0": (
        lambda file: (with_sql("CREATE TABLE row_calls (x)")(file),
                      with_sql(f"PRAGMA application_id = {0x64666D65}")(file)),
        "made by a dialframe of before 0.1.0 and is left as it is; move .* away, or choose another folder"),
    "another program's file": (with_sql("CREATE TABLE theirs (x)"), "this is a SQLite file, but not a store"),
    "a file in the way": (lambda file: (file.parent.rmdir(), file.parent.touch()),
                          "Not a directory; choose another folder"),
    "parts without their catalog": (
        lambda file: ((file.parent / "parts").mkdir(), (file.parent / "parts" / "calls-1.parquet").touch()),
        "it is missing or empty, and the files that it named are still here"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "words"), WRONG.values(), ids=WRONG)
def test_what_is_no_store_of_ours_is_refused_in_words_and_left_alone(
    tmp_path: Path, make: Callable[[Path], object], words: str
) -> None:
    """One sentence with the file's name, and not a byte of it is changed."""
    file = tmp_path / "part" / FILE
    file.parent.mkdir()
    make(file)
    before = bytes_of(tmp_path)

    with pytest.raises(StoreError, match=words):
        Store.open(file.parent)

    assert bytes_of(tmp_path) == before


def layouts(folder: Path, more: dict[int, str]) -> Path:
    """The numbered SQL files of today, and some of tomorrow."""
    today = {int(file.name[:4]): file.read_text() for file in MIGRATIONS.iterdir()}
    for number, sql in (today | more).items():
        (folder / f"{number:04}.sql").write_text(sql)
    return folder


NEXT = "-- needs dialframe 0.2.0\nCREATE TABLE further (x TEXT DEFAULT 'a;b');\nINSERT INTO further (x) VALUES (1);\n"


@pytest.mark.parametrize("version", range(1, LATEST + 1))
def test_every_earlier_layout_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    """By several at once; rows, checkpoints and whoever was forgotten stay; what went wrong halfway never was."""
    early = layouts(tmp_path, {})
    for file in early.glob("*.sql"):
        if int(file.stem) > version:
            file.unlink()
    folder = tmp_path / "part"
    with Store(Database(folder, migrations=early)) as store:
        put(store, [call(1)], 1, checkpoint=Checkpoint("calls", {"n": 1}))
    broken = layouts(tmp_path, {LATEST + 1: NEXT + "CREATE TABLE meta (x);"})
    with pytest.raises(StoreError, match="its tables are not those that were made"):
        Database(folder, migrations=broken)

    later = layouts(tmp_path, {LATEST + 1: NEXT})
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(lambda _: Store(Database(folder, migrations=later)), range(4)))
    for store in opened:
        assert store.info().schema_version == LATEST + 1
        assert list(store.frame(CALLS)["id"]) == [call(1)["id"]]
        assert store.state("calls") == {"n": 1}
        store.close()
    with pytest.raises(StoreError, match=r"it needs 0\.2\.0 or later: pip install -U dialframe"):
        Store.open(folder)


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """An append that finds no room is a sentence; rows and checkpoint of before are intact."""
    with Store.open(tmp_path / "part") as store:
        page = [call(n) for n in range(100)]
        put(store, page, 1, checkpoint=Checkpoint("calls", {"n": 1}))
        with store._database.reading() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")

        with pytest.raises(StoreError, match="the disk is full; what was stored before is intact"):
            put(
                store,
                [call(n) for n in range(100, 2000)],
                2,
                checkpoint=Checkpoint("calls", {"n": 2}),
            )

        assert len(store.frame(CALLS)) == 100
        assert store.state("calls") == {"n": 1}
        assert put(store, [call(5000)], 3).versions == 1


@pytest.mark.parametrize("name", [FILE, "lock.schema"])
@pytest.mark.parametrize("there", [True, False], ids=["empty", "missing"])
def test_a_link_in_the_place_of_a_file_is_refused(tmp_path: Path, name: str, there: bool) -> None:
    victim = tmp_path / "victim"
    if there:
        victim.touch(0o644)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / name).symlink_to(victim)
    with (
        pytest.raises(StoreError, match="a link stands in its place"),
        Store.open(tmp_path / "store"),
    ):
        pass
    assert victim.exists() is there
    assert not there or (victim.read_bytes(), victim.stat().st_mode & 0o777) == (b"", 0o644)


def test_a_lock_outlives_another_opening_in_the_same_process(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    write = f"import sqlite3; sqlite3.connect({str(path)!r}, timeout=0).execute('BEGIN IMMEDIATE')"
    with closing(connect(path)) as first:
        first.execute("BEGIN EXCLUSIVE")
        make_private(path)
        other = subprocess.run(
            [sys.executable, "-c", write], check=False, capture_output=True, text=True, timeout=60
        )
    assert "database is locked" in other.stderr


def test_every_connection_is_durable_and_erases(tmp_path: Path) -> None:
    """Commits reach the disk before they count, and deleted bytes are overwritten at once."""
    with Store.open(tmp_path / "part") as store, store._database.reading() as connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete")
        }

    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}


def test_threads_share_a_store(tmp_path: Path) -> None:
    """One store object serves several threads, each with its own connection."""
    with Store.open(tmp_path / "part") as store:

        def work(number: int) -> int:
            put(store, [call(number)], number)
            return len(store.frame(CALLS))

        with ThreadPoolExecutor(3) as threads:
            assert all(threads.map(work, range(60)))

        assert len(store.frame(CALLS)) == 60


def test_a_reader_in_the_way_of_erasing_is_named(tmp_path: Path) -> None:
    """While somebody reads an old state, erasing says that bytes may remain, rather than that all is well."""
    with Store(Database(tmp_path / "part", busy_s=0.1)) as store:
        put(store, [call(1)], 1)
        reader = sqlite3.connect(tmp_path / "part" / FILE, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM page").fetchone()

        with pytest.raises(StoreError, match="another process is still reading"):
            store.forget(call(1)["to_number"], at=at(2))

        reader.close()
        store.forget(call(1)["to_number"], at=at(3))
        assert len(store.frame(CALLS)) == 0


def hold_the_lock(folder: Path) -> None:
    """Take a lock, say so, and keep it."""
    with Store.open(folder) as store, store.lock("calls") as held:
        print(held)  # noqa: T201 - read by the test
        time.sleep(60)


def test_a_lock_has_one_holder_and_a_plain_name(tmp_path: Path) -> None:
    """A second taker, in this process or another, is told so; the system frees the lock of a killed process."""
    with Store.open(tmp_path / "part") as first, Store.open(tmp_path / "part") as second:
        taken, again, free = first.lock("calls"), second.lock("calls"), second.lock("leads")
        with taken as held, again as twice, free as other:
            assert (held, twice, other) == (True, False, True)
        with pytest.raises(StoreError, match="plain word"), second.lock("../calls"):
            pass
        process = Forked(hold_the_lock, tmp_path / "part")
        assert process.stdout.readline().strip() == "True"
        with first.lock("calls") as held:
            assert not held
        process.kill()
        process.end()
        with first.lock("calls") as held:
            assert held


def test_a_forked_child_opens_its_own_connections(tmp_path: Path) -> None:
    """A connection does not cross a fork: parent and child both go on working."""
    with Store.open(tmp_path / "part") as store:
        put(store, [call(1)], 1)
        child = os.fork()
        if child == 0:
            try:
                inherited = list(store._database._idle)
                with store._database.reading() as connection:
                    assert inherited
                    assert all(connection is not other for other in inherited)
                put(store, [call(2)], 2)
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        put(store, [call(3)], 3)

        assert len(store.frame(CALLS)) == 3


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
