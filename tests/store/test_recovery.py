"""Evidence that only this disk has: never deleted, never changed unnoticed, mended from its second copy."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dialframe.errors import ConfigError, StoreError
from dialframe.frames import CALLS, DNC_CHECKS
from dialframe.store import Store, backups, verify_and_repair
from dialframe.store.files.database import FILE, Database
from forked import Forked
from store import faults
from store.faults import NOW, TENS
from store.made import at, call, phone, put
from store.racing import append_checks

#: Faults in the suite; a thousand are run by hand before a release.
FAULTS = 8


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of fourteen pages, closed, and with what it was after nine."""
    room = tmp_path_factory.mktemp("whole")
    faults.make(room / "part")
    return room


@pytest.fixture(scope="module")
def before(whole: Path) -> dict[str, Any]:
    """What that store shows."""
    return faults.shown(whole / "part")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of that store, to be harmed; what it was after nine pages stands beside it."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path / "part"


def checks(folder: Path) -> int:
    """How many Do-Not-Call checks a store has."""
    with Store(Database(folder), TENS) as store:
        return len(store.frame(DNC_CHECKS))


@pytest.mark.parametrize("loss", ["moved away", "empty", "empty database", "old copy"])
def test_no_part_is_deleted_for_a_catalog_that_does_not_name_it(
    folder: Path, loss: str, before: dict[str, Any]
) -> None:
    """A lost, empty or old SQLite file is refused; nothing goes, and repair brings everything back."""
    if loss == "old copy":
        shutil.copyfile(folder.with_name("old") / FILE, folder / FILE)
    else:
        (folder / FILE).unlink()
    if loss == "empty":
        (folder / FILE).touch()
    elif loss == "empty database":
        made = sqlite3.connect(folder / FILE)
        made.execute("VACUUM")
        made.close()
    parts = sorted((folder / "parts").iterdir())

    with pytest.raises(StoreError, match="run dialframe store repair"):
        Store.open(folder)

    assert sorted((folder / "parts").iterdir()) == parts
    assert verify_and_repair.repair(folder, NOW)
    assert faults.shown(folder) == before
    assert not verify_and_repair.verify(folder)


def test_the_catalog_is_rebuilt_from_the_parts_alone(folder: Path) -> None:
    """Without SQLite file and log, every sealed version is found again by what its part says of itself."""
    with Store(Database(folder), TENS) as store:
        store.compact()
        sealed = len(store.history(CALLS)), len(store.frame(CALLS)), len(store.frame(DNC_CHECKS))
    (folder / FILE).unlink()
    (folder / "copy" / "changes.log").unlink()

    done = verify_and_repair.repair(folder, NOW)

    assert any("rebuilt from the parts" in line for line in done)
    with Store(Database(folder), TENS) as store:
        counts = len(store.history(CALLS)), len(store.frame(CALLS)), len(store.frame(DNC_CHECKS))
        assert counts == sealed
        # What is appended now follows what was rebuilt.
        again = put(store, [call(50)], 500)
        assert again.versions == 0


def put_in(*statements: str) -> Callable[[Path], None]:
    """Change a SQLite file past the store."""

    def harm(file: Path) -> None:
        with closing(sqlite3.connect(file, isolation_level=None)) as outsider:
            for statement in statements:
                assert outsider.execute(statement).rowcount

    return harm


def replaced(text: bytes, by: bytes, times: int = -1) -> Callable[[Path], None]:
    """Change bytes of a SQLite file."""

    def harm(file: Path) -> None:
        content = file.read_bytes()
        assert text in content
        file.write_bytes(content.replace(text, by, times))

    return harm


ROWS = "are not those that were written; run dialframe store repair"
ANY = "run dialframe store repair"

#: What may happen to the SQLite file, and the words of the refusal; empty where there need not be one.
HARMS: dict[str, tuple[Callable[[Path], None], str]] = {
    # Numbers that wait there: another one would be believed.
    "digits are changed": (replaced(b"55501", b"55511"), ROWS),
    "a row is deleted": (
        put_in("DELETE FROM row_dnc_checks WHERE seq = (SELECT max(seq) FROM row_dnc_checks)"),
        ROWS,
    ),
    "answers are changed": (put_in("UPDATE head_dnc_checks SET listed = 1 - listed"), ROWS),
    "times of parts are changed": (put_in("UPDATE part SET first_time = last_time"), ROWS),
    "a row is added": (put_in("INSERT INTO patch VALUES ('calls', 1, 5)"), ROWS),
    # No row differs then, SQLite finds nothing wrong with its pages, and nothing shown need ask for the name.
    **{
        f"the name {name.decode()} is changed": (replaced(name, b"z" + name[1:], 1), "")
        for name in (
            b"first_seq INTEGER",
            b"_until INTEGER",
            b"seen_at INTEGER",
            b"misses INTEGER",
        )
    },
    # One flipped bit ends UTF-8, in rows as in names of parts.
    **{
        f"{text.decode()} is no text": (replaced(text, bytes([text[0] | 0x80]) + text[1:]), ANY)
        for text in (b"55501", b"req_1", b".parquet")
    },
}


@pytest.mark.parametrize(("harm", "words"), HARMS.values(), ids=HARMS)
def test_a_changed_sqlite_file_is_said_and_mended(
    folder: Path, harm: Callable[[Path], None], words: str, before: dict[str, Any]
) -> None:
    """An error with a next step, never another number; after the repair everything is as it was."""
    harm(folder / FILE)

    if words:
        with pytest.raises(StoreError, match=words):
            faults.shown(folder)
    else:
        with suppress(StoreError):
            assert faults.shown(folder) == before

    assert any(problem.file == FILE for problem in verify_and_repair.verify(folder))
    verify_and_repair.repair(folder, NOW)
    assert not verify_and_repair.verify(folder)
    assert faults.shown(folder) == before


@pytest.mark.parametrize("place", ["parts", "copy/parts"])
def test_one_damaged_copy_of_a_part_is_mended_from_the_other(
    folder: Path, place: str, before: dict[str, Any]
) -> None:
    """No row is missing while either copy lives, whoever reads first."""
    for path in sorted((folder / place).iterdir()):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 4
        path.write_bytes(content)

    if place == "copy/parts":
        assert {
            problem.file.partition("/")[0] for problem in verify_and_repair.verify(folder)
        } == {"copy"}
    assert faults.shown(folder) == before
    verify_and_repair.repair(folder, NOW)
    assert not verify_and_repair.verify(folder)
    assert faults.shown(folder) == before


@pytest.mark.parametrize("left", ["nothing", "an empty folder", "an empty file"])
def test_a_store_that_vanished_is_named_and_none_is_made_in_its_place(
    tmp_path: Path, left: str
) -> None:
    """A note beside its folder knows of it, until somebody takes note that what it held is lost."""
    folder = tmp_path / "test-0123456789abcdef"
    with Store(Database(folder), TENS) as store:
        put(store, [call()], 1)
    shutil.rmtree(folder)
    if left != "nothing":
        folder.mkdir()
    if left == "an empty file":
        (folder / FILE).touch()

    assert verify_and_repair.stores(tmp_path) == [folder]
    assert [problem.lost for problem in verify_and_repair.verify(folder)] == [True]
    assert "nothing is left to mend" in verify_and_repair.repair(folder, NOW)[0]
    for _ in range(2):
        with pytest.raises(StoreError, match="it is missing, and what only it knew"):
            Store.open(folder)
    verify_and_repair.repair(folder, NOW, acknowledge=True)
    with Store(Database(folder), TENS) as store:
        assert not store.frame(CALLS).size


def test_what_is_missing_is_said_until_it_is_acknowledged(folder: Path) -> None:
    """Both copies of a part of the ledger gone: every look says how many checks of which period."""
    whole = checks(folder)
    lost = sorted((folder / "parts").glob("dnc_checks-*"))[0]
    for path in (lost, folder / "copy" / "parts" / lost.name):
        path.write_bytes(b"PAR1 no more")

    with pytest.raises(StoreError, match="no sync can bring them back"):
        checks(folder)

    for _ in range(2):
        with Store(Database(folder), TENS) as store:
            left = len(store.frame(DNC_CHECKS))
            (damage,) = store.info().damaged
        assert damage.rows == whole - left > 0
        assert f"dnc_checks: {damage.rows} versions observed from 2026-03-02" in damage.sentence
    assert [problem.lost for problem in verify_and_repair.verify(folder)] == [True]

    verify_and_repair.repair(folder, NOW, acknowledge=True)
    assert not verify_and_repair.verify(folder)
    with Store(Database(folder), TENS) as store:
        assert [one.acknowledged_at for one in store.info().damaged] == [NOW]


def test_no_fault_changes_a_number_silently(tmp_path: Path) -> None:
    """A flip, a cut, a deletion or an old copy of any one file: said or mended, and no check is lost."""
    outcomes = faults.run(tmp_path, FAULTS, first=int(os.environ.get("FIRST_FAULT", "0")))

    assert set(outcomes) <= {"same", "repaired"}, outcomes
    assert outcomes["repaired"]


def test_a_killed_writer_leaves_file_and_copy_of_one_transaction(tmp_path: Path) -> None:
    """Killed anywhere between copy and commit: what was answered for is there, in both places."""
    draw = random.Random(19)
    for round_ in range(2):
        folder = tmp_path / str(round_)
        process = Forked(append_checks, folder)
        process.stdout.readline()
        time.sleep(draw.random() / 8)
        process.kill()
        said = [1, *map(int, process.end()[1])]

        assert said[-1] <= checks(folder) <= said[-1] + 1
        assert not [
            one for one in verify_and_repair.verify(folder) if one.lost or one.file == FILE
        ]
        (folder / FILE).unlink()
        (folder / f"{FILE}-wal").unlink(missing_ok=True)
        verify_and_repair.repair(folder, NOW)
        assert checks(folder) >= said[-1]


def test_a_backup_is_restored_as_it_was_made(
    folder: Path, tmp_path: Path, before: dict[str, Any]
) -> None:
    """Its files are listed with digests; what stood in its place is kept beside it."""
    made = backups.backup(folder, tmp_path / "backups")
    with pytest.raises(ConfigError, match="holds an older backup"):
        backups.backup(folder, tmp_path / "backups")
    with Store(Database(folder), TENS) as store:
        faults.fill(store, 20, 22)
    assert faults.shown(folder) != before

    with pytest.raises(ConfigError, match="--replace"):
        backups.restore(made, folder, NOW)
    kept = backups.restore(made, folder, NOW, replace=True)

    assert faults.shown(folder) == before
    assert not verify_and_repair.verify(folder)
    assert kept is not None
    assert checks(kept) > checks(folder)
    assert {path.stat().st_mode & 0o777 for path in made.rglob("*") if path.is_file()} == {0o600}


def test_a_changed_backup_is_not_restored(folder: Path, tmp_path: Path) -> None:
    """One byte of any of its files is enough."""
    made = backups.backup(folder, tmp_path / "backups")
    for name in json.loads((made / backups.MANIFEST).read_text())["files"]:
        content = (made / name).read_bytes()
        (made / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))

        with pytest.raises(StoreError, match="it is not what was written"):
            backups.restore(made, tmp_path / "elsewhere", NOW)

        (made / name).write_bytes(content)
    assert not (tmp_path / "elsewhere").exists()


def test_what_lies_beside_the_stores_is_backed_up_and_put_back_where_it_is_missing(
    tmp_path: Path,
) -> None:
    """SQLite files as they are at one moment; what is there stays."""
    database, note = tmp_path / "list.sqlite", tmp_path / "note.txt"
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE numbers AS SELECT 1 AS n")
    note.write_text("as it was")
    there = {"list.sqlite": database, "note.txt": note, "absent": tmp_path / "absent"}
    beside = backups.Beside(there, frozenset({"list.sqlite"}))

    made = backups.backup_beside(beside, tmp_path / "backups")
    assert made is not None
    with pytest.raises(ConfigError, match="holds an older backup"):
        backups.backup_beside(beside, tmp_path / "backups")
    database.unlink()
    note.write_text("as it is")

    assert backups.restore_beside(beside, made) == ["list.sqlite"]
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT n FROM numbers").fetchall() == [(1,)]
    assert note.read_text() == "as it is"
    assert backups.backup_beside(backups.Beside({}, frozenset()), tmp_path) is None


def test_what_audits_said_is_kept_twice_and_chained(folder: Path) -> None:
    """Without the SQLite file, or without the second copy, no verdict is lost; a forged one is named."""
    with Store(Database(folder), TENS) as store:
        kept = store.verdicts()
        assert [(one.number, one.content["verdict"]) for one in kept] == [
            (1, "3 violations"),
            (2, "4 violations"),
        ]
        assert all(one.whole for one in kept)
        # The same said of the same is no news.
        assert not store.keep_verdict({"verdict": "4 violations"}, at=at(300))
    for lost in (FILE, "copy/changes.log"):
        (folder / lost).unlink()
        (folder / f"{FILE}-wal").unlink(missing_ok=True)
        verify_and_repair.repair(folder, NOW)
        with Store(Database(folder), TENS) as store:
            assert store.verdicts() == kept
    database = Database(folder)
    with database.writing() as connection:
        connection.execute("UPDATE verdict SET content = replace(content, '3', '0')")
    database.close()
    assert [problem.what for problem in verify_and_repair.verify(folder)] == [
        "audits 1 are not those kept"
    ]


def test_a_damaged_store_of_the_fourth_layout_is_not_taken_for_right(folder: Path) -> None:
    """It had no table of verdicts; gaining one does not count a changed row anew."""
    outsider = sqlite3.connect(folder / FILE, isolation_level=None)
    outsider.execute("DROP TABLE verdict")
    outsider.execute("DELETE FROM checksum WHERE name = 'verdict'")
    outsider.execute("PRAGMA user_version = 4")
    shutil.copytree(folder, folder.with_name("harmed"))
    outsider.close()
    with Store(Database(folder), TENS) as store:
        assert store.verdicts() == []
    assert not verify_and_repair.verify(folder)

    outsider = sqlite3.connect(folder.with_name("harmed") / FILE, isolation_level=None)
    outsider.execute("UPDATE head_dnc_checks SET listed = 1 - listed")
    outsider.close()
    with pytest.raises(StoreError, match="are not those that were written"):
        Database(folder.with_name("harmed"))


def test_a_store_of_the_third_layout_gets_its_second_copy(tmp_path: Path) -> None:
    """Opening it writes digests and copies and takes its key out; nothing that it shows changes."""
    with Store(Database(tmp_path / "part"), TENS) as store:
        faults.fill(store, 0, 9)
        before = len(store.history(CALLS))
    shutil.rmtree(tmp_path / "part" / "copy")
    key = "0123456789abcdef" * 4
    outsider = sqlite3.connect(tmp_path / "part" / FILE, isolation_level=None)
    for statement in (
        "DROP TABLE verdict",
        "DROP TABLE checksum",
        "DROP TABLE chain",
        "ALTER TABLE damage DROP COLUMN last_observed",
        "ALTER TABLE damage DROP COLUMN acknowledged_at",
        "DELETE FROM meta WHERE name = 'store_id'",
        f"INSERT INTO meta VALUES ('forget_key', '\"{key}\"')",
        "PRAGMA user_version = 3",
    ):
        outsider.execute(statement)
    outsider.close()

    database = Database(tmp_path / "part")
    with Store(database, TENS) as store:
        assert len(store.history(CALLS)) == before
        assert database.key_file.read_text() == f"{key}\n"
        assert database.key_file.stat().st_mode & 0o777 == 0o600
    assert key.encode() not in (tmp_path / "part" / FILE).read_bytes()
    assert not verify_and_repair.verify(tmp_path / "part")


def test_phones_of_the_world_stay_masked_in_what_is_said(folder: Path) -> None:
    """No message of verify or repair names a number."""
    (folder / FILE).write_bytes((folder / FILE).read_bytes().replace(b"55501", b"55511"))
    words = [f"{one.file} {one.what}" for one in verify_and_repair.verify(folder)]
    words += verify_and_repair.repair(folder, datetime(2026, 4, 1, tzinfo=UTC))

    assert words
    assert not any(phone(0)[1:6] in line for line in words)
