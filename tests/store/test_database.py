"""The SQLite file: opened, made, locked, of older layouts, and its failures in words."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dialframe.errors import StoreError
from dialframe.frames import CALLS, DISPOSITIONS, EVENTS, LEADS
from dialframe.store import Checkpoint, Store
from dialframe.store.files import database
from dialframe.store.files.database import FILE, Database
from dialframe.store.files.table_layouts import SCHEMA_VERSION
from dialframe.store.forgotten_numbers import REPLACED
from forked import Forked
from store.made import CAMPAIGN, OTHER_CAMPAIGN, at, bytes_of, call, lead, phone, put


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


def overwritten(file: Path) -> None:
    """The second half of a store's pages is something else."""
    with Store.open(file.parent) as store:
        put(store, [call(n) for n in range(1500)], 1)
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2].ljust(len(content), b"\xa5"))


#: What stands where the store's file should be, and the words of the refusal.
WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "garbage": (lambda file: file.write_bytes(b"not a store at all " * 500),
                f"{FILE}: this is not a store, or it is damaged"),
    # An error, and never a short table.
    "pages overwritten": (overwritten, f"{FILE}: the file is damaged; run dialframe store repair"),
    "a newer layout": (lambda file: (Store.open(file.parent).close(),
                                     with_sql("PRAGMA user_version = 99")(file)),
                       r"newer dialframe .layout 99, this one reads 5.; update"),
    "another program's file": (with_sql("CREATE TABLE theirs (x)"), "another program's file"),
    "a file in the way": (lambda file: (file.parent.rmdir(), file.parent.touch()),
                          "Not a directory; choose another folder"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "words"), WRONG.values(), ids=WRONG)
def test_what_is_no_store_of_ours_is_refused_in_words_and_left_alone(
    tmp_path: Path, make: Callable[[Path], object], words: str
) -> None:
    """One sentence with the file's name, and not a byte of it is changed."""
    file = tmp_path / "part" / FILE
    file.parent.mkdir()
    make(file)
    before = file.read_bytes() if file.exists() else None

    with pytest.raises(StoreError, match=words):
        Store.open(file.parent)

    assert (file.read_bytes() if file.exists() else None) == before


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """An append that finds no room is a sentence; rows and checkpoint of before are intact."""
    with Store.open(tmp_path) as store:
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


def test_every_connection_is_durable_and_erases(tmp_path: Path) -> None:
    """Commits reach the disk before they count, and deleted bytes are overwritten at once."""
    with Store.open(tmp_path) as store, store._database.reading() as connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete")
        }

    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}


def test_threads_share_a_store(tmp_path: Path) -> None:
    """One store object serves several threads, each with its own connection."""
    with Store.open(tmp_path) as store:

        def work(number: int) -> int:
            put(store, [call(number)], number)
            return len(store.frame(CALLS))

        with ThreadPoolExecutor(3) as threads:
            assert all(threads.map(work, range(60)))

        assert len(store.frame(CALLS)) == 60


def test_a_reader_in_the_way_of_erasing_is_named(tmp_path: Path) -> None:
    """While somebody reads an old state, erasing says that bytes may remain, rather than that all is well."""
    with Store(Database(tmp_path, busy_s=0.1)) as store:
        put(store, [call(1)], 1)
        reader = sqlite3.connect(tmp_path / FILE, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM row_calls").fetchone()

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
    with Store.open(tmp_path) as first, Store.open(tmp_path) as second:
        taken, again, free = first.lock("calls"), second.lock("calls"), second.lock("leads")
        with taken as held, again as twice, free as other:
            assert (held, twice, other) == (True, False, True)
        with pytest.raises(StoreError, match="plain word"), second.lock("../calls"):
            pass
        process = Forked(hold_the_lock, tmp_path)
        assert process.stdout.readline().strip() == "True"
        with first.lock("calls") as held:
            assert not held
        process.kill()
        process.end()
        with first.lock("calls") as held:
            assert held


def test_a_forked_child_opens_its_own_connections(tmp_path: Path) -> None:
    """A connection does not cross a fork: parent and child both go on working."""
    with Store.open(tmp_path) as store:
        put(store, [call(1)], 1)
        child = os.fork()
        if child == 0:
            try:
                inherited = [link.connection for link in store._database._idle]
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


def test_what_another_thread_commits_is_not_compared_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that reads while another one's commit ends takes it for what it is: this process's own."""
    compared: list[str] = []
    differing, commit = database.differing, Database._commit
    readers: list[threading.Thread] = []

    def counted(connection: sqlite3.Connection, tables: Sequence[str]) -> list[str]:
        compared.extend(tables)
        return differing(connection, tables)

    def disturbed(self: Database, *values: Any) -> None:
        commit(self, *values)
        readers.append(threading.Thread(target=store.state, args=("calls",)))
        readers[-1].start()
        readers[-1].join(0.2)

    with Store.open(tmp_path) as store:
        put(store, [call(0)], 0)
        monkeypatch.setattr(database, "differing", counted)
        monkeypatch.setattr(Database, "_commit", disturbed)
        for number in range(1, 4):
            put(store, [call(number)], number)
        for reader in readers:
            reader.join()

    assert len(readers) >= 3
    assert compared == []


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
    """Opening it, by several at once, adds the table and leaves every row where it was."""
    made_old(tmp_path, 1)

    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(Store.open, [tmp_path] * 4))
    assert {store.info().schema_version for store in stores} == {SCHEMA_VERSION} == {5}
    for store in stores:
        store.close()
    with Store.open(tmp_path) as store:
        assert (len(store.frame(CALLS)), len(store.frame(EVENTS))) == (3, 0)
        assert receive(store, event()) == 1
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
