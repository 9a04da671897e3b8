"""What a flipped byte, a lost file or a restored backup does: found by `verify` or the next read, and mended."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal

from dialframe.errors import ConfigError, DialframeError, StoreError
from dialframe.evidence import EvidenceLog
from dialframe.frames import CALLS, DNC_CHECKS, LEADS, TABLES
from dialframe.store import Checkpoint, Store, backups
from dialframe.store.compaction import Sizes
from dialframe.store.damage import give_up, verify
from dialframe.store.database import FILE, Database
from forked import Forked
from store.made import at, bytes_of, call, check, lead, phone, put
from store.racing import append_without_room, read_as_nobody

TENS = Sizes(seal_rows=10, part_rows=10, small_parts=99, patches=99)
#: More by hand: `FAULTS=1000 pytest tests/store/test_verify.py`.
FAULTS = int(os.environ.get("FAULTS", "60"))
NOW = at(5000)


def filled(folder: Path) -> Store:
    """Calls in parts and pages, changed and gone ones among them, leads, and checks."""
    store = Store(Database(folder), TENS)
    for page in range(3):
        put(store, [call(page * 10 + row) for row in range(10)], page)
    put(store, [call(1, disposition="sale"), call(2, disposition="sale")], 50)
    for minute in (60, 70):
        put(store, [call(row) for row in range(29)], minute)
        store.reconcile(CALLS, seen_before=at(minute), at=at(minute))
    put(store, [lead(number) for number in range(12)], 5, LEADS)
    put(store, [check(number) for number in range(12)], 5, DNC_CHECKS)
    put(store, [call(99)], 80, checkpoint=Checkpoint("calls", {"n": 1}))
    return store


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that is whole and closed."""
    root = tmp_path_factory.mktemp("whole")
    filled(root / "part").close()
    return root / "part"


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(whole, tmp_path / "part"))


def shown(folder: Path) -> str:
    """Every number that a face shows of a store."""
    with Store(Database(folder), TENS) as store:
        facts = store.info()
        tables = [store.frame(table).to_csv() for table in TABLES.values()]
        past = [store.frame(CALLS, as_of=at(minute)).to_csv() for minute in (1, 55, 75)]
        history = store.history(CALLS).to_csv()
        checks = store.last_checks([phone(number) for number in range(12)])
        return repr((facts.tables, tables, past, history, checks, store.state("calls")))


def damaged_by(folder: Path, dice: random.Random) -> str:
    """Flip, cut, empty or delete something of a store; what was done, in words."""
    files = [folder / FILE, *sorted((folder / "parts").iterdir())]
    path = dice.choice(files)
    content = bytearray(path.read_bytes())
    place, how = (
        dice.randrange(len(content)),
        dice.choice(["flip"] * 7 + ["cut", "empty", "delete"]),
    )
    if how == "delete":
        path.unlink()
    else:
        content[place] ^= 1 << dice.randrange(8)
        path.write_bytes(
            bytes(content) if how == "flip" else content[:place] if how == "cut" else b""
        )
    return f"{how} {path.name} at {place}"


def test_no_fault_changes_a_number_that_verify_passes(whole: Path, tmp_path: Path) -> None:
    """Whatever happens to whatever file: verify names it, or every number is what it was."""
    dice, expected = random.Random(5), shown(whole)
    found = 0
    for number in range(FAULTS):
        folder = Path(shutil.copytree(whole, tmp_path / str(number)))
        words = damaged_by(folder, dice)
        if verify(folder):
            found += 1
            continue
        # An error, in words, is no silent change.
        with suppress(DialframeError):
            assert shown(folder) == expected, words
        shutil.rmtree(folder)
    assert found > FAULTS // 3


def test_a_flipped_byte_of_a_value_is_an_error_at_the_next_read(folder: Path) -> None:
    """Pages of parts have checksums, pages of SQLite digests; the sentence says what next."""
    part = next((folder / "parts").glob("calls-*"))
    content = bytearray(part.read_bytes())
    content[len(content) // 4] ^= 1
    part.write_bytes(content)
    with Store(Database(folder), TENS) as store, pytest.raises(StoreError, match="store restore"):
        store.history(CALLS)

    database = folder / FILE
    with closing(sqlite3.connect(database)) as outsider, outsider:
        outsider.execute(
            "UPDATE page SET content = replace(content, '99', '98') WHERE table_name = 'calls'"
        )
    with Store(Database(folder), TENS) as store, pytest.raises(StoreError, match=r"page .* of calls .* is not what was written"):  # fmt: skip
        store.frame(CALLS)


#: What is done to the SQLite file past the store, and what verify says of it.
HARMS = {
    "a head lost": "DELETE FROM head WHERE table_name = 'calls' AND seq = 5",
    "a head changed": "UPDATE head SET seq = seq + 1 WHERE table_name = 'calls' AND seq = 5",
    "a patch lost": "DELETE FROM patch",
    "a part's line changed": "UPDATE part SET first_time = first_time + 1 WHERE table_name = 'calls'",
    "a part's line lost": "DELETE FROM part WHERE table_name = 'calls' AND first_seq = 1",
    "a page lost": "DELETE FROM page WHERE table_name = 'calls'",
    "a page's time changed": "UPDATE page SET observed_at = observed_at + 1 WHERE table_name = 'calls'",
    "a page's request changed": "UPDATE page SET request_id = 'req_81' WHERE table_name = 'calls'",
    "an answer changed": f"UPDATE last_check SET listed = 1 - listed WHERE phone = '{phone(3)}'",
    "an answer's time changed": "UPDATE last_check SET checked_at = checked_at - 1",
    "an answer lost": f"DELETE FROM last_check WHERE phone = '{phone(3)}'",
}


@pytest.mark.parametrize("sql", HARMS.values(), ids=HARMS)
def test_rows_of_sqlite_that_were_changed_are_found(folder: Path, sql: str) -> None:
    """SQLite checks the form of its file; what its rows say of one another is checked here."""
    assert verify(folder) == []
    with closing(sqlite3.connect(folder / FILE)) as outsider, outsider:
        assert outsider.execute(sql).rowcount

    assert verify(folder)


def test_a_backup_takes_over_only_what_is_new(folder: Path, tmp_path: Path) -> None:
    """What is there is not copied again, what is no longer needed goes, and a killed one leaves the older."""
    place = backups.backup(folder, tmp_path / "backups")
    before = {path.name: path.stat().st_mtime_ns for path in (place / "parts").iterdir()}
    with Store(Database(folder), TENS) as store:
        put(store, [call(200 + row) for row in range(10)], 90)
        store.compact()

    backups.backup(folder, tmp_path / "backups")

    after = {path.name: path.stat().st_mtime_ns for path in (place / "parts").iterdir()}
    kept = before.keys() & after.keys()
    assert kept
    assert all(before[name] == after[name] for name in kept)
    assert after.keys() == {path.name for path in (folder / "parts").iterdir()}
    assert len(list(place.glob("store-*"))) == 1
    expected = shown(folder)
    shutil.rmtree(folder)
    assert backups.restore(place, folder, NOW) is None
    assert shown(folder) == expected
    assert verify(folder) == []
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()} == {0o600}


def test_what_is_damaged_is_neither_backed_up_nor_restored(folder: Path, tmp_path: Path) -> None:
    """The good backup stays; a backup that was changed takes no store's place."""
    place = backups.backup(folder, tmp_path / "backups")
    part = next((folder / "parts").iterdir())
    content = part.read_bytes()
    part.write_bytes(content[:-9] + b"?" + content[-8:])
    with pytest.raises(StoreError, match="no backup was made of what is damaged"):
        backups.backup(folder, tmp_path / "backups")

    with pytest.raises(ConfigError, match="--replace"):
        backups.restore(place, folder, NOW)
    assert backups.mend(place, folder) == [part.name]
    assert verify(folder) == []
    kept = backups.restore(place, folder, NOW, replace=True)
    assert kept is not None
    assert (kept / FILE).exists()

    copied = next((place / "parts").iterdir())
    copied.write_bytes(copied.read_bytes()[:-1])
    with pytest.raises(StoreError, match="it is not what was written; take another backup"):
        backups.restore(place, folder, NOW, replace=True)
    assert verify(folder) == []


@pytest.mark.parametrize("way", ["restore", "by hand"])
def test_whoever_was_forgotten_since_the_backup_is_erased_again(
    folder: Path, tmp_path: Path, way: str
) -> None:
    """The evidence log knows it; calls, leads, checks, mentions and parts that were put back lose the person."""
    person, other = phone(3), phone(4)
    with Store(Database(folder), TENS) as store:
        put(
            store,
            [lead(50, full_name=f"B {person[2:]}"), lead(51, full_name=f"C {other}")],
            99,
            LEADS,
        )
        put(
            store,
            [{"id": "cb_1", "lead_id": lead(3)["id"], "created_at": at(1)}],
            99,
            TABLES["callbacks"],
        )
    place = backups.backup(folder, tmp_path / "backups")
    with Store(Database(folder), TENS) as store:
        assert store.forget(person, at=at(100)) >= 5
        expected = [store.frame(table).to_csv() for table in TABLES.values()]

    if way == "restore":
        backups.restore(place, folder, NOW, replace=True)
    else:
        shutil.rmtree(folder)
        shutil.copytree(place / "parts", folder / "parts")
        shutil.copyfile(next(place.glob("store-*")), folder / FILE)
    with Store(Database(folder), TENS) as store:
        assert [store.frame(table).to_csv() for table in TABLES.values()] == expected
        assert put(store, [call(3)], 200).forgotten == 1
        assert other in set(store.frame(LEADS)["phone"])
    assert person.encode() not in bytes_of(folder)
    assert verify(folder) == []


def test_a_store_that_is_moved_with_its_log_still_knows_whom_it_forgot(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another home, another machine: the keys lie in the log, which lies beside the store."""
    with Store.open(folder) as store:
        store.forget(phone(3), at=at(100))
    moved = tmp_path / "moved"
    moved.mkdir()
    shutil.move(folder, moved / "part")
    shutil.move(EvidenceLog.beside(tmp_path).folder, moved / "evidence")
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))

    with Store.open(moved / "part") as store:
        assert put(store, [call(3)], 200).forgotten == 1
        assert put(store, [call(4, disposition="other")], 200).versions == 1


def test_another_accounts_store_erases_a_number_when_it_is_opened(tmp_path: Path) -> None:
    """One person, one wish: the log lies beside all stores."""
    for name in ("one", "two"):
        with Store.open(tmp_path / name) as store:
            put(store, [call(1), call(2)], 1)
    with Store.open(tmp_path / "one") as store:
        store.forget(phone(1), at=at(2))

    with Store.open(tmp_path / "two") as store:
        assert list(store.frame(CALLS)["id"]) == [call(2)["id"]]


def test_damaged_parts_are_set_aside_on_request_and_read_anew(folder: Path) -> None:
    """Nothing is deleted; the table says what it lacks, its walk begins anew, and the service's rows come back."""
    part = next(path for path in sorted((folder / "parts").glob("calls-*")))
    part.write_bytes(b"no part")
    (said,) = give_up(folder)

    assert "10 versions observed" in said or "versions observed" in said
    assert (folder / "set-aside" / part.name).read_bytes() == b"no part"
    assert verify(folder) == []
    with Store(Database(folder), TENS) as store:
        assert store.missing(CALLS) == (said,)
        assert store.missing(LEADS) == ()
        assert store.state("calls") is None
        put(store, [call(row) for row in (*range(29), 99)], 300)
        assert set(store.frame(CALLS)["id"]) == {call(row)["id"] for row in (*range(29), 99)}
        store.forget(phone(40), at=at(301))
        assert not list((folder / "set-aside").iterdir())
    (folder / FILE).write_bytes(b"")
    with pytest.raises(StoreError, match="only a backup can mend that"):
        give_up(folder)


def test_what_no_catalog_names_is_set_aside_and_drafts_are_swept(folder: Path) -> None:
    """A file may be all that is left of rows that an older catalog does not list; a draft never had its name."""
    stranger, draft = (
        folder / "parts" / "calls-x.parquet",
        folder / "parts" / ".calls-y.parquet.abc.tmp",
    )
    stranger.write_bytes(b"rows")
    draft.write_bytes(b"half")

    Store.open(folder).close()

    assert not draft.exists()
    assert not stranger.exists()
    assert (folder / "set-aside" / stranger.name).read_bytes() == b"rows"


def test_audits_are_kept_in_the_log_once(folder: Path) -> None:
    """What an audit said, in order; the same again is not said twice."""
    with Store.open(folder) as store:
        assert store.keep_verdict({"verdict": "3 violations"}, at=at(1))
        assert not store.keep_verdict({"verdict": "3 violations"}, at=at(2))
        assert store.keep_verdict({"verdict": "4 violations"}, at=at(3))
        assert [(one.number, one.content["verdict"]) for one in store.verdicts()] == [
            (1, "3 violations"), (2, "4 violations"),
        ]  # fmt: skip


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
    assert verify(folder) == []


def test_a_store_in_a_folder_that_may_not_be_written_to_can_be_read(
    whole: Path, readable: Path
) -> None:
    """A copy on a read-only disk, or somebody else's with a right to read: rows yes, changes in words no."""
    folder = Path(shutil.copytree(whole, readable / "part"))
    for path in (folder, *folder.rglob("*")):
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
        path.chmod(0o500 if path.is_dir() else 0o400)
    _, lines = Forked(read_as_nobody, folder).end()

    assert lines[0].startswith("30 {'n': 1} ")
    assert len(lines) == 5
    assert all("folder" in line or "may not be written" in line for line in lines[1:])


@pytest.fixture
def readable() -> Iterator[Path]:
    """A folder outside of the tests' own, which nobody else may enter."""
    import tempfile

    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        yield Path(root)
        for path in Path(root).rglob("*"):
            path.chmod(0o700)


def test_a_restored_table_is_the_table(folder: Path, tmp_path: Path) -> None:
    """Dtypes and order, not only values."""
    with Store.open(folder) as store:
        before = store.frame(CALLS)
    backups.restore(backups.backup(folder, tmp_path / "b"), folder, NOW, replace=True)
    with Store.open(folder) as store:
        assert_frame_equal(store.frame(CALLS), before)
