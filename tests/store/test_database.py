"""The store's file: who may read it, what happens when it is damaged, full, shared or killed."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dialframe.errors import StoreError
from dialframe.frames import CALLS
from dialframe.store import Checkpoint, Store
from dialframe.store.files import database
from dialframe.store.files.database import FILE, Database
from store.made import at, call, put


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


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """Garbage instead of a store is one sentence with the file's name."""
    file = tmp_path / FILE
    file.write_bytes(b"not a store at all " * 500)

    with pytest.raises(StoreError, match=f"{FILE}: this is not a store, or it is damaged"):
        Store.open(tmp_path)

    assert file.read_bytes().startswith(b"not a store")


def test_damage_inside_is_found_when_it_is_read(tmp_path: Path) -> None:
    """Pages overwritten in the middle are an error on reading, never a short table."""
    with Store.open(tmp_path) as store:
        put(store, [call(n) for n in range(1500)], 1)
    file = tmp_path / FILE
    content = bytearray(file.read_bytes())
    half = len(content) // 2
    content[half:] = b"\xa5" * (len(content) - half)
    file.write_bytes(content)

    with pytest.raises(
        StoreError, match=f"{FILE}: the file is damaged; run dialframe store repair"
    ):
        Store.open(tmp_path)


def test_a_store_of_a_newer_dialframe_is_refused(tmp_path: Path) -> None:
    """A layout that this code does not know is left alone, in words."""
    Store.open(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()

    with pytest.raises(StoreError, match=r"newer dialframe .layout 99, this one reads 5.; update"):
        Store.open(tmp_path)


def test_another_programs_file_is_refused(tmp_path: Path) -> None:
    """A SQLite file that is no store is not written to."""
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()

    with pytest.raises(StoreError, match="another program's file"):
        Store.open(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A path through a file is one sentence."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="Not a directory; choose another folder"):
        Store.open(tmp_path / "file" / "part")


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


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    """A second taker, in this process or another, is told so; other locks are free."""
    with (
        Store.open(tmp_path) as first,
        Store.open(tmp_path) as second,
        first.lock("calls") as held,
    ):
        assert held
        with second.lock("calls") as taken, second.lock("leads") as free:
            assert (taken, free) == (False, True)
    with second.lock("calls") as held:
        assert held


def test_a_lock_is_free_when_its_holder_dies(tmp_path: Path) -> None:
    """The system frees the lock of a killed process."""
    code = (
        "import sys, time\nfrom dialframe.store import Store\n"
        "with Store.open(sys.argv[1]) as store, store.lock('calls') as held:\n"
        "    print(held, flush=True)\n    time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "True"
    with Store.open(tmp_path) as store:
        with store.lock("calls") as held:
            assert not held
        process.kill()
        process.wait()
        process.stdout.close()
        with store.lock("calls") as held:
            assert held


def test_a_lock_has_a_plain_name(tmp_path: Path) -> None:
    """A name that would be a path is refused."""
    with (
        Store.open(tmp_path) as store,
        pytest.raises(StoreError, match="plain word"),
        store.lock("../calls"),
    ):
        pass


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
