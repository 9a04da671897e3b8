"""Parts that are damaged, missing or half written: named, set aside, rebuilt, and never a wrong answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialframe.errors import StoreError
from dialframe.frames import CALLS, DNC_CHECKS, LEADS
from dialframe.store import Checkpoint, Store, verify_and_repair
from dialframe.store.compaction import Sizes
from dialframe.store.files.database import Database
from dialframe.store.files.parts import FOLDER
from forked import Forked
from store.made import at, bytes_of, call, check, lead, phone, put
from store.racing import append_without_room, read_as_nobody

#: Every part holds ten rows, so that one of several can be damaged.
TENS = Sizes(seal_rows=10, close_rows=1, part_rows=10, small_parts=99, patches=10**6)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Thirty calls in three parts, each page at its own minute, and a walk that is done."""
    with Store(Database(tmp_path / "part"), TENS) as opened:
        for first in (0, 10, 20):
            page(opened, first, first)
        opened.save(Checkpoint("calls", {"done": True}))
        yield opened


def page(store: Store, first: int, minute: int) -> int:
    """Ten calls, observed at a minute; gives the number of new versions."""
    records = [call(number) for number in range(first, first + 10)]
    return put(store, records, minute).versions


def files(store: Store) -> list[Path]:
    """The parts of the calls, oldest rows first."""
    with store._database.reading() as connection:
        names = connection.execute("SELECT name FROM part WHERE dead = 0 ORDER BY first_time")
        return [store.folder / FOLDER / name for (name,) in names]


def both(path: Path) -> tuple[Path, Path]:
    """A part and its second copy."""
    return path, path.parents[1] / "copy" / FOLDER / path.name


def flip(path: Path, place: int) -> None:
    """Change one byte of a part, in both copies."""
    for file in both(path):
        content = bytearray(file.read_bytes())
        content[place] ^= 0x10
        file.write_bytes(content)


def test_any_changed_byte_of_a_part_is_found(store: Store) -> None:
    """Whichever byte it is, a reader that verifies the part says so."""
    path = files(store)[1]
    whole = path.read_bytes()
    with store._database.reading() as connection:
        from dialframe.store.files.catalog import live_parts
        from dialframe.store.files.parts import Damaged
        from dialframe.store.files.table_layouts import BY_NAME

        part = live_parts(connection, BY_NAME["calls"])[1]
    for place in range(0, len(whole), 97):
        flip(path, place)
        with pytest.raises(Damaged, match="checksum differs"):
            store._database.shelf.verify(part)
        for file in both(path):
            file.write_bytes(whole)
    store._database.shelf.verify(part)


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "delete"])
def test_a_damaged_part_is_named_set_aside_and_read_again(store: Store, harm: str) -> None:
    """The first reader says which file; what is left is marked incomplete; a whole walk heals it."""
    path = files(store)[1]
    if harm == "flip":
        flip(path, 700)
    for file in both(path):
        if harm == "delete":
            file.unlink()
        elif harm != "flip":
            file.write_bytes(file.read_bytes()[:-9] if harm == "cut" else b"")

    with pytest.raises(StoreError, match=rf"{path.name}: .*set aside.* table calls is incomplete"):
        store.frame(CALLS)

    assert len(store.frame(CALLS)) == 20
    assert store.state("calls") is None
    (lost,) = store.info().damaged
    assert (lost.file, lost.table, lost.rows) == (path.name, "calls", 10)
    assert (store.folder / "set-aside" / path.name).exists() == (harm != "delete")

    assert [page(store, first, 50) for first in (0, 10, 20)] == [0, 10, 0]
    assert len(store.frame(CALLS)) == 30


def test_a_question_about_lost_history_is_refused(store: Store) -> None:
    """As of a time of which versions are lost there is no answer; before and after it there is."""
    flip(files(store)[1], 700)
    with pytest.raises(StoreError, match="set aside"):
        store.frame(CALLS, as_of=at(15))

    assert len(store.frame(CALLS, as_of=at(9))) == 10
    with pytest.raises(
        StoreError, match=r"calls: versions of that time were lost .* from 2026-03-02"
    ):
        store.frame(CALLS, as_of=at(15))
    with pytest.raises(StoreError, match="versions of that time were lost"):
        list(store.batches(CALLS, as_of=at(15)))
    page(store, 10, 50)
    assert len(store.frame(CALLS, as_of=at(50))) == 30


def test_a_walk_under_way_is_not_taken_for_whole(store: Store) -> None:
    """Checkpoints of a sync that began before the damage are not written: the next one walks it all."""
    with Store(Database(store.folder), TENS) as sync:
        assert sync.state("calls") == {"done": True}
        flip(files(store)[0], 700)
        with pytest.raises(StoreError, match="set aside"):
            store.frame(CALLS)
        sync.save(Checkpoint("calls", {"done": True}))
        put(sync, [call(99)], 60, checkpoint=Checkpoint("calls", {"walk": 1}))

        assert store.state("calls") is None
        assert sync.state("calls") is None
        sync.save(Checkpoint("calls", {"anew": True}))
    assert store.state("calls") == {"anew": True}


def test_an_append_that_meets_a_damaged_part_goes_on(store: Store) -> None:
    """A late answer needs older versions; where they are lost it is stored as it is."""
    flip(files(store)[0], 700)

    late = [call(1, status="ringing"), call(25, status="ringing")]
    added = put(store, late, -5)

    assert added.versions == 2
    assert store.info().damaged[0].rows == 10
    frame = store.frame(CALLS).set_index("id")["status"]
    assert frame[call(1)["id"]] == "ringing"
    assert frame[call(25)["id"]] == "completed"


def test_another_tables_damage_is_its_own(store: Store) -> None:
    """Leads are read, and keep their checkpoints, while calls are damaged; checks keep their last answers."""
    put(store, [lead(n) for n in range(10)], 1, LEADS)
    store.save(Checkpoint("leads", {"done": True}))
    checks = [check(n, n, listed=True) for n in range(10)]
    put(store, checks, 9, DNC_CHECKS)
    for path in files(store):
        if not path.name.startswith("leads"):
            flip(path, 500)

    with pytest.raises(StoreError, match="table calls is incomplete"):
        store.frame(CALLS)
    with pytest.raises(StoreError, match="table dnc_checks is incomplete"):
        store.frame(DNC_CHECKS)

    assert len(store.frame(LEADS)) == 10
    assert store.state("leads") == {"done": True}
    assert len(store.last_checks([phone(n) for n in range(10)])) == 10
    assert len(store.info().damaged) == 4


def test_forgetting_deletes_what_was_set_aside(store: Store) -> None:
    """Nobody knows what a damaged file holds, so after forgetting a number there is none."""
    for path in files(store)[:2]:
        flip(path, 700)
    with pytest.raises(StoreError, match="set aside"):
        store.frame(CALLS)
    flip(files(store)[0], 700)

    store.forget(phone(25), at=at(60))

    assert not list((store.folder / "set-aside").iterdir())
    assert phone(25).encode() not in bytes_of(store.folder)
    assert put(store, [call(25)], 70).forgotten == 1


def test_half_written_files_are_swept_away(store: Store) -> None:
    """Drafts and parts that no transaction names are gone when the store is opened again."""
    folder = store.folder / FOLDER
    (folder / "calls-0.parquet.draft").write_bytes(b"PAR1")
    (folder / "calls-0.parquet").write_bytes(b"PAR1")
    store.close()

    with Store.open(store.folder) as again:
        assert sorted(folder.iterdir()) == sorted(files(again))
        assert len(again.frame(CALLS)) == 30


def test_a_part_that_no_catalog_names_is_kept_and_brought_in_again(store: Store) -> None:
    """What only it holds is missing until then, and is said; nothing is deleted."""
    path = files(store)[1]
    with store._database.writing() as connection:
        connection.execute("DELETE FROM part WHERE name = ?", (path.name,))
    store.close()

    with Store(Database(store.folder), TENS) as again:
        (damage,) = again.info().damaged
        assert (damage.file, damage.rows) == (path.name, 10)
        assert "dialframe store repair brings it in" in damage.reason
        assert len(again.frame(CALLS)) == 20
    assert (store.folder / "set-aside" / path.name).exists()
    done = verify_and_repair.repair(store.folder, at(99))
    assert done == [f"{path.name}: 10 versions of calls brought in again"]
    with Store(Database(store.folder), TENS) as again:
        assert len(again.frame(CALLS)) == 30
        assert again.info().damaged == ()


@pytest.mark.parametrize("limit", [100_000, 900_000])
def test_a_disk_that_takes_no_more_leaves_what_was_there(tmp_path: Path, limit: int) -> None:
    """Wherever the room ends, in the file, its log or a part: rows and checkpoint are of one page."""
    folder = tmp_path / "part"
    Store.open(folder).close()
    status, lines = Forked(append_without_room, folder, limit).end()
    printed = [json.loads(line) for line in lines]

    assert status == 0
    stored = max([0, *(line for line in printed[:-1] if isinstance(line, int))])
    assert any("full" in str(line) or "disk" in str(line) for line in printed)
    assert printed[-1] == stored * 100
    with Store.open(folder) as store:
        assert len(store.frame(CALLS)) == stored * 100
        assert (store.state("calls") or {"n": 0}) == {"n": stored}
        assert put(store, [call(99_999)], 9).versions
        store.compact()
        assert len(store.frame(CALLS)) == stored * 100 + 1


def test_a_store_in_a_folder_that_may_not_be_written_to_can_be_read(tmp_path: Path) -> None:
    """A copy on a read-only disk, or somebody else's with a right to read: rows yes, changes in words no."""
    import shutil
    import tempfile

    with Store(Database(tmp_path / "part"), TENS) as made:
        page(made, 0, 0)
        put(made, [call(77)], 1)
        made.save(Checkpoint("calls", {"done": True}))
    # Outside of the tests' own folders, which nobody else may enter.
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        folder = Path(root) / "part"
        shutil.copytree(tmp_path / "part", folder)
        for path in (folder, *folder.rglob("*")):
            if os.geteuid() == 0:
                os.chown(path, 65534, 65534)
            path.chmod(0o500 if path.is_dir() else 0o400)
        _, lines = Forked(read_as_nobody, folder).end()
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o700)

    assert lines[0].startswith("11 {'done': True} ")
    assert len(lines) == 5
    assert all("folder" in line or "may not be written" in line for line in lines[1:])
