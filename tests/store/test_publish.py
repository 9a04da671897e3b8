"""The store as Delta tables: what is new is appended once, what was erased is gone, numbers are not in the log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from dialframe.config import Progress
from dialframe.errors import StoreError
from dialframe.frames import CALLS, CAMPAIGNS, DISPOSITIONS, DNC_CHECKS, TABLES
from dialframe.store import Store
from dialframe.store.compaction import Sizes
from dialframe.store.database import Database
from store.made import at, bytes_of, call, phone, put

TINY = Sizes(seal_rows=6, part_rows=6, small_parts=99, patches=99)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Ten calls, some of them in a part."""
    with Store(Database(tmp_path / "part"), TINY) as opened:
        put(opened, [call(n) for n in range(6)], 10)
        put(opened, [call(n) for n in range(6, 10)], 20)
        yield opened


def latest(place: Path) -> dict[str, str | None]:
    """Disposition of each call, as an engine finds the current version."""
    versions = pa.table(DeltaTable(place).to_pyarrow_table())
    with duckdb.connect() as connection:
        connection.register("versions", versions)
        rows = connection.execute(
            "SELECT id, disposition FROM versions WHERE NOT _gone QUALIFY row_number() OVER "
            "(PARTITION BY id ORDER BY _observed_at DESC, seq DESC) = 1"
        ).fetchall()
    return dict(rows)


def test_what_is_new_is_appended_once(store: Store, tmp_path: Path) -> None:
    """The first time all versions, then only those since; sealing in between changes nothing."""
    folder = tmp_path / "delta"
    steps: list[Progress] = []

    assert store.publish(str(folder), tables=[CALLS, CAMPAIGNS], on_progress=steps.append) == {
        "calls": 10,
        "campaigns": 0,
    }
    assert [progress.done for progress in steps] == [10, 0]
    store.compact()
    assert store.publish(str(folder), tables=[CALLS]) == {"calls": 0}
    put(store, [call(3, disposition="sale"), call(50)], 30)
    assert store.publish(str(folder), tables=[CALLS]) == {"calls": 2}

    frame = store.frame(CALLS)
    expected = dict(
        zip(frame["id"], frame["disposition"].replace({float("nan"): None}), strict=True)
    )
    assert latest(folder / "calls") == expected
    assert DeltaTable(folder / "calls").to_pyarrow_table().num_rows == 12


def test_every_table_can_be_published(store: Store, tmp_path: Path) -> None:
    """Tables with and without rows, keys and versions have their columns in Delta."""
    put(store, [{"date": "2026-03-02", "calls": 3}], 1, DISPOSITIONS)
    put(store, [{"phone": phone(1), "listed": True, "checked_at": at(1)}], 1, DNC_CHECKS)

    written = store.publish(str(tmp_path / "delta"))

    assert set(written) == set(TABLES)
    assert (written["dispositions"], written["dnc_checks"], written["leads"]) == (1, 1, 0)
    for name, table in TABLES.items():
        columns = [field.name for field in DeltaTable(tmp_path / "delta" / name).schema().fields]
        assert columns == ["seq", *table.names, "_observed_at", "_request_id", "_gone"]


def test_the_log_holds_no_number(store: Store, tmp_path: Path) -> None:
    """Delta's log has statistics of instants only: it is not rewritten when somebody is forgotten."""
    store.publish(str(tmp_path / "delta"))

    log = bytes_of(tmp_path / "delta" / "calls" / "_delta_log")
    assert b"numRecords" in log
    assert b"55501" not in log


def test_a_forgotten_number_is_gone_after_the_next_publication(
    store: Store, tmp_path: Path
) -> None:
    """The table is written anew without it, and the files that held it are deleted."""
    folder = tmp_path / "delta"
    store.publish(str(folder))
    store.forget(phone(3), at=at(40))

    written = store.publish(str(folder))

    assert written["calls"] == 9
    assert call(3)["id"] not in latest(folder / "calls")
    held = bytes_of(folder)
    for path in folder.rglob("*.parquet"):
        held += repr(pq.read_table(path).to_pylist()).encode()
    assert phone(3).encode() not in held
    assert phone(4).encode() in held
    assert store.publish(str(folder)) == dict.fromkeys(TABLES, 0)


def test_a_place_that_refuses_is_named(store: Store, tmp_path: Path) -> None:
    """What the file system or the object store says is one sentence with the place."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match=r"file/calls: "):
        store.publish(str(tmp_path / "file"), tables=[CALLS])
