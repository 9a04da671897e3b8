"""Other ways to the tables: Arrow, batches, history, SQL, polars; all of them agree with the frame."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

from dialframe import frames
from dialframe.errors import StoreError
from dialframe.frames import CALLS, DISPOSITIONS, DNC_CHECKS, LEADS, TABLES
from dialframe.store import Store
from dialframe.store.compaction import Sizes
from dialframe.store.database import Database
from dialframe.store.layouts import HISTORY, OBSERVED
from dialframe.store.snapshot import as_frame
from store.made import CAMPAIGN, OTHER_CAMPAIGN, at, call, check, lead, phone, put

TINY = Sizes(seal_rows=7, part_rows=8, small_parts=3, patches=99)
QUESTIONS: list[dict[str, Any]] = [
    {},
    {"as_of": at(65)},
    {"as_of": at(10)},
    {"since": at(3), "until": at(14)},
    {"campaign": OTHER_CAMPAIGN},
    {"campaign": CAMPAIGN, "as_of": at(65), "since": at(8)},
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store with calls in parts and tail, closed without sealing more of them."""
    folder = tmp_path_factory.mktemp("filled")
    database = Database(folder / "part")
    fill(Store(database, TINY))
    database.close()
    return folder


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Iterator[Store]:
    """Calls in parts and tail, some changed since, one without a time, one no longer listed."""
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    with Store(Database(tmp_path / "part"), TINY) as opened:
        yield opened


def fill(store: Store) -> None:
    """Pages at minutes 60 to 66, and changes at 70."""
    for page in range(3):
        records = [call(number) for number in range(7 * page, 7 * page + 7)]
        put(store, records, 60 + 3 * page)
    put(store, [call(3, disposition="sale"), call(9, campaign_id=OTHER_CAMPAIGN)], 70)
    put(store, [call(30, created_at=None), call(31, new_field=1)], 71)
    for minute in (80, 90):
        put(store, [call(n) for n in (*range(20), 30, 31)], minute)
        store.reconcile(CALLS, seen_before=at(minute), at=at(minute))


def test_the_same_rows_sealed_or_not(store: Store, tmp_path: Path) -> None:
    """Where the versions lie makes no difference to any question."""
    with Store.open(tmp_path / "whole") as plain:
        fill(plain)
        assert plain.info().table("calls").parts == 0
        assert store.info().table("calls").parts > 2
        for question in QUESTIONS:
            assert_frame_equal(store.frame(CALLS, **question), plain.frame(CALLS, **question))
        assert_frame_equal(store.history(CALLS), plain.history(CALLS))
        store.compact()
        for question in QUESTIONS:
            assert_frame_equal(store.frame(CALLS, **question), plain.frame(CALLS, **question))
        assert_frame_equal(store.history(CALLS), plain.history(CALLS))


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_batches_hold_the_rows_of_the_frame(store: Store, question: dict[str, Any]) -> None:
    """A few rows at a time, every one of them once, in the frame's columns."""
    frame = store.frame(CALLS, **question)
    batches = list(store.batches(CALLS, rows=3, **question))

    assert all(0 < batch.num_rows <= 3 for batch in batches)
    table = pa.Table.from_batches(batches, schema=store.arrow(CALLS).schema)
    shown = as_frame(table).sort_values("id", ignore_index=True)
    assert_frame_equal(shown, frame.sort_values("id", ignore_index=True))


def test_batches_are_of_one_moment(store: Store) -> None:
    """What is stored, and merged, while they are read does not show; what is erased is refused."""
    batches = store.batches(CALLS, rows=3)
    first = next(batches)
    put(store, [call(50), call(1, status="other")], 100)
    store.compact()
    rest = list(batches)

    statuses = {value for batch in (first, *rest) for value in batch["status"].to_pylist()}
    assert sum(batch.num_rows for batch in (first, *rest)) == 22
    assert statuses == {"completed"}

    batches = store.batches(CALLS, rows=3)
    next(batches)
    store.forget(phone(19), at=at(101))
    with pytest.raises(StoreError, match="it was replaced while it was read; read again"):
        list(batches)


def test_columns_can_be_chosen(store: Store) -> None:
    """Only the columns asked for are read, in the order asked; another is refused in words."""
    assert store.arrow(CALLS, columns=["status", "id"]).column_names == ["status", "id"]
    (batch,) = store.batches(CALLS, columns=["id"], campaign=OTHER_CAMPAIGN, as_of=at(75))
    assert batch.schema.names == ["id"]
    with pytest.raises(StoreError, match=r"calls has no column 'phone'; it has id, direction"):
        store.arrow(CALLS, columns=["phone"])


def test_history_keeps_what_the_service_does_not(store: Store) -> None:
    """Each status that a lead ever had, from when until when, and that it was no longer listed."""
    for minute, status in ((1, "new"), (5, "contacted"), (9, "dnc")):
        put(store, [lead(1, status=status), lead(2)], minute, LEADS)
    for minute in (20, 30):
        put(store, [lead(2)], minute, LEADS)
        store.reconcile(LEADS, seen_before=at(minute), at=at(minute))

    history = store.history(LEADS, [lead(1)["id"]])

    assert history["status"].fillna("-").tolist() == ["new", "contacted", "dnc", "-"]
    assert history["_observed_at"].tolist() == [pd.Timestamp(at(n)) for n in (1, 5, 9, 30)]
    assert history["_until"].tolist()[:3] == [pd.Timestamp(at(n)) for n in (5, 9, 30)]
    assert history["_until"].isna().tolist() == [False] * 3 + [True]
    assert history["_gone"].tolist() == [False] * 3 + [True]
    assert history["_request_id"].tolist()[:3] == ["req_1", "req_5", "req_9"]
    assert set(store.history(LEADS)["id"]) == {lead(1)["id"], lead(2)["id"]}


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_an_empty_history_has_its_dtypes(store: Store, table: frames.Table) -> None:
    """No version, no surprise: the columns and dtypes are those of a full one."""
    empty = store.history(table, [])

    assert empty.dtypes.equals(frames.empty(table, HISTORY).dtypes)
    assert store.arrow(table).schema.names == [*table.names, *(c.name for c in OBSERVED)]


@pytest.mark.parametrize("as_of", [None, at(65), at(85)])
def test_sql_sees_the_tables_as_the_frame_does(store: Store, as_of: Any) -> None:
    """DuckDB counts the very rows, over parts and tail, now and as of an instant."""
    frame = store.frame(CALLS, as_of=as_of)
    answer = store.query("SELECT * FROM calls ORDER BY created_at NULLS FIRST, id", as_of=as_of)

    assert_frame_equal(as_frame(answer.cast(store.arrow(CALLS).schema)), frame)
    with store.duckdb(as_of=as_of) as connection:
        names = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    assert set(TABLES) <= names


def test_sql_takes_values_and_sees_nothing_else(store: Store, tmp_path: Path) -> None:
    """Values are bound by name; other files are out of reach; a mistake is one sentence."""
    sql = "SELECT count(*) AS n FROM calls WHERE campaign_id = $campaign"
    assert store.query(sql, {"campaign": CAMPAIGN})["n"].to_pylist() == [22]
    (tmp_path / "other.csv").write_text("a\n1\n")
    for sql in (
        f"SELECT * FROM '{tmp_path}/other.csv'",
        "SELECT * FROM nowhere",
        "SET enable_external_access = true",
        f"COPY calls TO '{tmp_path}/out.csv'",
    ):
        with pytest.raises(StoreError, match="the query cannot be answered"):
            store.query(sql)


def test_polars_reads_the_arrow_table(store: Store) -> None:
    """Other programs take the table as it is, through the Arrow interface."""
    frame = pl.DataFrame(store.arrow(CALLS))

    assert frame.height == 22
    assert frame.schema["created_at"] == pl.Datetime("us", "UTC")
    assert frame.filter(pl.col("id") == call(3)["id"])["disposition"].to_list() == [None]


def test_rows_of_one_time_keep_their_order(store: Store) -> None:
    """Counts without a time of day and checks of one request come in one order, sealed or not."""
    rows = [
        {"date": f"2026-03-0{day}", "campaign_id": campaign, "disposition": None, "calls": day}
        for day in (3, 1, 2)
        for campaign in (CAMPAIGN, None, OTHER_CAMPAIGN)
    ]
    for minute, page in enumerate((rows[:5], rows[5:])):
        put(store, page, minute, DISPOSITIONS)
    checks = [check(n) for n in (4, 2, 9, 1, 7, 3, 5, 8, 6)]
    put(store, checks[:4], 1, DNC_CHECKS)
    before = store.frame(DISPOSITIONS)
    put(store, checks[4:], 1, DNC_CHECKS)

    assert store.frame(DNC_CHECKS)["phone"].tolist() == [made["phone"] for made in checks]
    store.compact()
    assert store.frame(DNC_CHECKS)["phone"].tolist() == [made["phone"] for made in checks]
    assert_frame_equal(store.frame(DISPOSITIONS), before)


def test_the_last_check_of_a_number_is_the_latest_and_not_the_last_to_arrive(store: Store) -> None:
    """A late answer is kept, and does not take the place of a newer one."""
    for minute in range(12):
        put(store, [check(1, minute, listed=minute >= 6), check(2, minute)], minute, DNC_CHECKS)
    put(store, [check(1, 2.5, request_id="late")], 50, DNC_CHECKS)

    last = store.last_checks([phone(1), phone(2), phone(3)])
    assert (last[phone(1)].request_id, last[phone(1)].listed) == ("req_11", True)
    assert set(last) == {phone(1), phone(2)}
    assert len(store.frame(DNC_CHECKS, as_of=at(2.6))) == 6


#: Whatever would write or read a file, reach the network, or open the way to one of these.
REACHING = """
COPY (SELECT 1) TO '{part}'
COPY calls TO '{folder}/parts/new.parquet' (FORMAT parquet)
COPY calls TO '{folder}/calls.csv'
COPY _young_calls FROM '{folder}/store.sqlite'
EXPORT DATABASE '{folder}/export'
IMPORT DATABASE '{folder}'
ATTACH '{folder}/store.sqlite' AS stolen
ATTACH '{folder}/new.db' AS made
ATTACH 'https://example.com/x.db' AS fetched
INSTALL httpfs
INSTALL httpfs FROM 'https://example.com'
LOAD httpfs
LOAD sqlite_scanner
LOAD '{folder}/x.duckdb_extension'
UPDATE EXTENSIONS
CREATE SECRET s (TYPE s3)
CREATE TABLE stolen AS SELECT * FROM read_text('{passwords}')
PRAGMA enable_external_access=true
PRAGMA enable_profiling
PRAGMA import_database('{folder}')
SET enable_external_access = true
SET allowed_directories = ['{folder}']
SET allowed_paths = ['{part}']
SET allow_unsigned_extensions = true
SET autoinstall_known_extensions = true
SET temp_directory = '{folder}'
SET lock_configuration = false
SET profiling_output = '{folder}/profile.json'
SET log_query_path = '{folder}/queries'
SET memory_limit = '100GB'
RESET enable_external_access
CALL enable_logging(storage='file', storage_config={{'path': '{folder}/log'}})
SELECT * FROM enable_logging(storage='file', storage_path='{folder}/log')
SELECT * FROM '{part}'
SELECT * FROM '{folder}/store.sqlite'
SELECT * FROM read_parquet('{part}')
SELECT * FROM read_parquet('s3://bucket/x.parquet')
SELECT * FROM parquet_metadata('{part}')
SELECT * FROM read_text('{folder}/store.sqlite')
SELECT * FROM read_text('{passwords}')
SELECT * FROM read_blob('{passwords}')
SELECT * FROM read_csv('{passwords}')
SELECT * FROM read_csv('https://example.com/x.csv')
SELECT * FROM read_json('{passwords}')
SELECT * FROM sniff_csv('{passwords}')
SELECT * FROM glob('{folder}/*')
SELECT * FROM sqlite_scan('{folder}/store.sqlite', 'part')
SELECT * FROM query('COPY calls TO x')
SELECT getenv('HOME')
""".strip().splitlines()


def test_no_statement_reaches_a_file(store: Store) -> None:
    """The engine itself refuses whatever would read or write a file, or open the way to one."""
    files = {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()}
    part = next((store.folder / "parts").iterdir())

    with store.duckdb() as connection:
        for statement in REACHING:
            sql = statement.format(folder=store.folder, part=part, passwords=__file__)
            with pytest.raises(duckdb.Error):
                connection.execute(sql).fetchall()

    files_after = {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()}
    assert files_after.keys() - files.keys() <= {store.folder / "lock.reading"}
    assert files == {path: files_after[path] for path in files}
    with pytest.raises(StoreError, match="the query cannot be answered: Permission"):
        store.query(f"SELECT * FROM read_text('{__file__}')")
    assert store.query("SELECT count(*) AS n FROM calls").to_pylist()[0]["n"] > 0


def test_a_query_is_one_that_reads(store: Store) -> None:
    """No statement before it can put a table of its own in the place of one of ours."""
    for sql in (
        "CREATE OR REPLACE VIEW calls AS SELECT 1 AS id; SELECT * FROM calls",
        "DELETE FROM _young_calls; SELECT count(*) FROM calls",
        "SELECT 1; SELECT 2",
        "INSERT INTO _young_calls SELECT * FROM _young_calls",
        "PRAGMA database_list",
        "ATTACH ':memory:' AS other",
        "",
    ):
        with pytest.raises(StoreError, match="it must be one SELECT"):
            store.query(sql)
    for sql in (
        "FROM calls",
        "WITH a AS (SELECT 1 AS x) SELECT * FROM a",
        "DESCRIBE calls",
        "SUMMARIZE calls",
        "PIVOT calls ON status USING count(*)",
        "EXPLAIN SELECT 1",
        "SELECT count(*) AS n FROM calls; -- all of them",
    ):
        assert store.query(sql).num_rows, sql
