"""What can be asked of a store's tables; each question reads one snapshot and writes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import StoreError
from dialframe.files import shared
from dialframe.frames.frame_schemas import Column, Table
from dialframe.store.files.catalog import live_parts, read_meta, read_patches
from dialframe.store.files.change_log import HEADS
from dialframe.store.files.damaged_files import (
    Damage,
    damages,
    read_steadily,
    refuse_lost,
    refusing,
)
from dialframe.store.files.database import LEASE, Database
from dialframe.store.files.parts import ordered
from dialframe.store.files.sqlite_rows import Value, instant, microseconds, plain, read_tail
from dialframe.store.files.table_layouts import BY_NAME, LAYOUTS, Layout
from dialframe.store.snapshot import (
    Selection,
    answer_sql,
    as_frame,
    duckdb_over,
    pieces,
    snapshot,
    whole,
)

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Check:
    """The latest answer about one number.

    Attributes:
        phone: The number in E.164.
        listed: Whether it was on the Do-Not-Call list.
        checked_at: When the service was asked, UTC.
        request_id: The service's id of the answer, or None.
    """

    phone: str
    listed: bool
    checked_at: datetime
    request_id: str | None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One table in numbers.

    Attributes:
        name: The table.
        rows: Rows of the current table.
        versions: Row versions kept, current ones among them.
        gone: Rows that are no longer listed, kept in the history.
        quarantined: Records that did not validate, kept as they came.
        seen_at: When any row was last seen, UTC, or None.
        parts: Sealed files that hold its versions.
    """

    name: str
    rows: int
    versions: int
    gone: int
    quarantined: int
    seen_at: datetime | None
    parts: int = 0


@dataclass(frozen=True, slots=True)
class Info:
    """A store in numbers.

    Attributes:
        folder: Where it is.
        base_url: The service, or None where it was never said.
        environment: `live` or `test`, or None.
        schema_version: Layout of the file.
        size_bytes: Size of the file, its log and all parts.
        forgotten: Marks of forgotten numbers and of their leads.
        tables: One entry per table.
        damaged: Files that were found damaged and set aside.
    """

    folder: Path
    base_url: str | None
    environment: str | None
    schema_version: int
    size_bytes: int
    forgotten: int
    tables: tuple[TableFacts, ...]
    damaged: tuple[Damage, ...] = ()

    def table(self, name: str) -> TableFacts:
        """The numbers of one table.

        Args:
            name: Name of the table, such as `calls`.

        Returns:
            Its rows, versions and sealed files, and when a row was last seen.

        Raises:
            KeyError: No table has this name.
        """
        return {facts.name: facts for facts in self.tables}[name]


class Reader:
    """One client's tables in one folder: current, as of an instant, in all versions, by SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def folder(self) -> Path:
        """The folder that holds everything."""
        return self._database.folder

    def written(self) -> tuple[tuple[str, int, int], ...]:
        """What changes whenever anything was written: name, time and size of the catalog's files."""
        # The shared memory of the log changes with every reader; the file and its log with writers alone.
        files = sorted(self.folder.glob("*.sqlite*"))
        stats = [(file.name, file.stat()) for file in files if not file.name.endswith("-shm")]
        return tuple((name, status.st_mtime_ns, status.st_size) for name, status in stats)

    def frame(
        self,
        table: Table,
        *,
        as_of: datetime | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        campaign: str | None = None,
    ) -> pd.DataFrame:
        """A table as it is known now, or as it was known at an instant.

        Args:
            table: The column table.
            as_of: Rows as last observed by this instant.
            since: First instant (of `created_at`, `checked_at` or `date`) wanted.
            until: First instant not wanted any more.
            campaign: Only rows of this campaign id.

        Returns:
            The table's columns, `_observed_at` and `_request_id`; oldest first. Dtypes as in
            `frames.columns.DTYPES`, whatever the rows.

        Raises:
            StoreError: The file cannot be read.
        """
        return as_frame(
            self.arrow(table, as_of=as_of, since=since, until=until, campaign=campaign)
        )

    def arrow(
        self,
        table: Table,
        *,
        columns: Sequence[str] | None = None,
        as_of: datetime | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        campaign: str | None = None,
    ) -> pa.Table:
        """A table as `frame` gives it, for every program that reads Arrow (polars, DuckDB).

        Args:
            table: The column table.
            columns: Names of the columns wanted, None for all.
            as_of: As for `frame`, like the following.
            since: First instant wanted.
            until: First instant not wanted any more.
            campaign: Only rows of this campaign id.
        """
        layout, selection = BY_NAME[table.name], Selection(as_of, since, until, campaign)
        _refuse_unknown(layout, columns)

        def read(connection: sqlite3.Connection) -> Callable[[], pa.Table]:
            refuse_lost(connection, layout, as_of)
            taken = snapshot(connection, layout, selection, columns)
            return lambda: whole(self._database.shelf, taken)

        return read_steadily(self._database, read)

    def batches(
        self,
        table: Table,
        *,
        columns: Sequence[str] | None = None,
        as_of: datetime | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        campaign: str | None = None,
        rows: int = 65_536,
    ) -> Iterator[pa.RecordBatch]:
        """A table as `arrow` gives it, a few rows at a time, all of one moment.

        Memory does not grow with the table. Rows are oldest first within each stored part; parts come
        in the order of their first rows, and rows stored last come last.

        Raises:
            StoreError: A file is damaged, or a number was erased while it was read.
        """
        layout, selection = BY_NAME[table.name], Selection(as_of, since, until, campaign)
        _refuse_unknown(layout, columns)
        # The lease keeps every part until the last row was taken, however slowly that goes.
        with shared(self.folder / LEASE):
            with self._database.reading() as connection:
                refuse_lost(connection, layout, as_of)
                taken = snapshot(connection, layout, selection, columns)
            shown = plain(layout, taken.columns)
            # Rows of a part may be with the caller already, so nothing is begun again here.
            with refusing(self._database, "read again"):
                for piece in pieces(self._database.shelf, taken):
                    for start in range(0, piece.num_rows, rows):
                        batch = piece.slice(start, rows).select(taken.columns)
                        yield from batch.cast(shown).combine_chunks().to_batches()

    def history(self, table: Table, keys: Sequence[str] | None = None) -> pd.DataFrame:
        """Every version that a table's rows ever had here: what the service itself does not keep.

        Args:
            table: The column table.
            keys: Only these ids; None for all.

        Returns:
            The table's columns, then `_observed_at`, `_request_id`, `_until` (null for the latest) and
            `_gone`; ordered by key and time.
        """
        layout = BY_NAME[table.name]
        # All of them, in memory: whoever wants a few rows names their keys.
        key, names = layout.part_key, [*layout.table.names, *(column.name for column in HISTORY)]
        wanted = None if keys is None else pa.array(list(keys), pa.large_string())

        def read(connection: sqlite3.Connection) -> Callable[[], pa.Table]:
            tail = read_tail(connection, layout, "1")
            parts, patches = live_parts(connection, layout), read_patches(connection, layout)

            def versions() -> pa.Table:
                tables = []
                for versions_of_part in (
                    *(self._database.shelf.load(part, layout) for part in parts),
                    tail,
                ):
                    kept = (
                        versions_of_part
                        if wanted is None
                        else versions_of_part.filter(pc.is_in(versions_of_part[key], wanted))
                    )
                    # A sealed version that is followed says so in a patch, not in its part.
                    tables.append(patches.taken_in(kept))
                order = dict.fromkeys((key, "_observed_at", "seq"))
                return ordered(pa.concat_tables(tables), [*order])

            return versions

        history = read_steadily(self._database, read)
        until = history["_until"].cast(pa.timestamp("us", "UTC"))
        index = history.schema.get_field_index("_until")
        shown = history.set_column(index, "_until", until).select(names)
        return as_frame(shown if shown.num_rows else shown.schema.empty_table().combine_chunks())

    def query(
        self,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        as_of: datetime | None = None,
        views: Mapping[str, pa.Table] | None = None,
    ) -> pa.Table:
        """The answer of DuckDB to a SELECT over the tables, all of one moment.

        Args:
            sql: The statement; tables have their names (`calls`, `leads`), values are `$name`.
            parameters: The values by name.
            as_of: Tables as last observed by this instant.
            views: Further tables by name, made of these by the caller.

        Raises:
            StoreError: The statement is wrong, or a file is damaged.
        """
        return answer_sql(self._database, sql, parameters, as_of, views)

    @contextmanager
    def duckdb(self, *, as_of: datetime | None = None) -> Iterator[DuckDBPyConnection]:
        """A DuckDB connection over the tables as of one moment, for as long as the block runs."""
        with duckdb_over(self._database, as_of) as connection:
            yield connection

    def campaign_ids(self, *tables: Table) -> set[str]:
        """Every campaign id that versions of these tables ever named."""
        layouts = [BY_NAME[table.name] for table in tables]
        ids: set[str] = set()
        with self._database.reading([layout.heads for layout in layouts]) as connection:
            for layout in layouts:
                if layout.scoped:
                    named = connection.execute(
                        "SELECT value FROM scope WHERE table_name = ?", (layout.table.name,)
                    )
                # The campaigns themselves.
                elif layout.campaign_column == "id":
                    named = connection.execute(f"SELECT _key FROM {layout.heads}")
                else:
                    continue
                ids.update(value for (value,) in named)
        return ids

    def last_checks(
        self, phones: Sequence[str], *, as_of: datetime | None = None
    ) -> dict[str, Check]:
        """The latest Do-Not-Call answer about each number that was asked about, by an instant or ever."""
        layout = BY_NAME["dnc_checks"]
        if as_of is None:
            # Its heads are the latest check of each number: no part is opened.
            with self._database.reading([layout.heads]) as connection:
                heads = connection.execute(
                    f"SELECT _key, listed, checked_at, request_id FROM {layout.heads} "
                    "WHERE _key IN (SELECT value FROM json_each(?))",
                    (json.dumps(list(phones)),),
                )
                return {
                    phone: Check(phone, bool(listed), instant(checked_at), request_id)
                    for phone, listed, checked_at, request_id in heads
                }
        moment, wanted = microseconds(as_of), pa.array(list(phones), pa.large_string())

        def read(connection: sqlite3.Connection) -> Callable[[], list[dict[str, Any]]]:
            refuse_lost(connection, layout, as_of)
            early = [
                part
                for part in live_parts(connection, layout)
                if isinstance(part.times[0], int) and part.times[0] <= moment
            ]
            tail = read_tail(connection, layout, "1").select(layout.table.names)

            def answers() -> list[dict[str, Any]]:
                sealed = (
                    self._database.shelf.load(part, layout, layout.table.names) for part in early
                )
                rows: list[dict[str, Any]] = []
                for checks in (*sealed, tail):
                    made = pc.less_equal(checks["checked_at"].cast(pa.int64()), moment)
                    asked = pc.is_in(checks["phone"], wanted)
                    rows += checks.filter(pc.and_(made, asked)).to_pylist()
                return rows

            return answers

        latest: dict[str, Check] = {}
        for row in read_steadily(self._database, read):
            check = Check(row["phone"], bool(row["listed"]), row["checked_at"], row["request_id"])
            known = latest.get(check.phone)
            # Of two checks of one instant the one that was stored later counts.
            if known is None or known.checked_at <= check.checked_at:
                latest[check.phone] = check
        return latest

    def oldest(self, table: Table) -> datetime | None:
        """Creation of the oldest row that a table ever had, or None."""
        layout = BY_NAME[table.name]
        with self._database.reading() as connection:
            (first,) = connection.execute(
                f"SELECT min({layout.time_column}) FROM {layout.versions}"
            ).fetchone()
            # Of a part the catalog knows its first time, so that none is opened.
            known = [first, *(part.times[0] for part in live_parts(connection, layout))]
        # Days are text, and no table of days is asked for its first one.
        return min((instant(value) for value in known if isinstance(value, int)), default=None)

    def last_seen(self, table: Table) -> datetime | None:
        """When any row of a table was last observed, or None."""
        with self._database.reading() as connection:
            return last_seen(connection, BY_NAME[table.name])

    def missing(self, *tables: Table) -> tuple[Damage, ...]:
        """Rows that are lost with damaged files, of some tables or of all, until somebody acknowledges it."""
        names = {table.name for table in tables} or BY_NAME.keys()
        with self._database.reading() as connection:
            return tuple(
                damage
                for damage in damages(connection)
                # What somebody took note of is not said again with every frame.
                if damage.acknowledged_at is None and damage.table in names
            )

    def info(self) -> Info:
        """What the store holds: rows, versions, sizes; numbers of rows only, no content."""
        path = self._database.path
        log = path.with_name(f"{path.name}-wal")
        with self._database.reading(HEADS) as connection:
            owner = read_meta(connection, "owner", {})
            quarantined = dict(
                connection.execute(
                    "SELECT table_name, count(*) FROM quarantine GROUP BY table_name"
                )
            )
            # Of the catalog, not of the disk: each part lies there twice.
            (sealed,) = connection.execute(
                "SELECT coalesce(sum(size_bytes), 0) FROM part"
            ).fetchone()
            return Info(
                folder=self.folder,
                base_url=owner.get("base_url"),
                environment=owner.get("environment"),
                schema_version=connection.execute("PRAGMA user_version").fetchone()[0],
                size_bytes=sealed
                + path.stat().st_size
                + (log.stat().st_size if log.exists() else 0),
                forgotten=connection.execute("SELECT count(*) FROM forgotten").fetchone()[0],
                tables=tuple(
                    _of_table(connection, layout, quarantined.get(layout.table.name, 0))
                    for layout in LAYOUTS
                ),
                damaged=damages(connection),
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"


#: What a row of a table's history says beside the table's columns.
HISTORY: Final[tuple[Column, ...]] = (
    Column("_observed_at", "instant", "the request that brought this version was sent, UTC"),
    Column("_request_id", "text", "the service's id of the answer that brought this version"),
    Column("_until", "instant", "from then on another version counts, UTC; null for the latest"),
    Column("_gone", "boolean", "the version says that the row was no longer listed"),
)


def _refuse_unknown(layout: Layout, columns: Sequence[str] | None) -> None:
    shown = [column.name for column in layout.columns]
    unknown = [name for name in columns or () if name not in shown]
    if unknown:
        raise StoreError(
            f"{layout.table.name} has no column {unknown[0]!r}; it has {', '.join(shown)}"
        )


def of_campaign(layout: Layout, campaign: str) -> tuple[str, list[Value]]:
    """SQL condition over a table's heads that picks a campaign's rows, with its values."""
    if not layout.scoped:
        return "_key = ?", [campaign]
    # A campaign's id is kept once, and its rows hold a number of a few bytes.
    numbers = "SELECT number FROM scope WHERE table_name = ? AND value = ?"
    return f"scope IN ({numbers})", [layout.table.name, campaign]


def last_seen(connection: sqlite3.Connection, layout: Layout) -> datetime | None:
    """The latest instant at which any row of a table was observed."""
    (last,) = connection.execute(
        "SELECT seen_at FROM tally WHERE table_name = ?", (layout.table.name,)
    ).fetchone()
    return None if last is None else instant(last)


def _of_table(connection: sqlite3.Connection, layout: Layout, quarantined: int) -> TableFacts:
    parts = live_parts(connection, layout)
    (tail,) = connection.execute(f"SELECT count(*) FROM {layout.versions}").fetchone()
    # The catalog counts rows of parts; only the tail is counted here.
    versions = tail + sum(part.rows for part in parts)
    # Every check is a row of its own, so a ledger has as many rows as versions.
    rows, gone = versions, 0
    if not layout.ledger:
        rows, gone = connection.execute(
            f"SELECT coalesce(sum(gone = 0), 0), coalesce(sum(gone), 0) FROM {layout.heads}"
        ).fetchone()
    return TableFacts(
        name=layout.table.name,
        rows=rows,
        versions=versions,
        gone=gone,
        quarantined=quarantined,
        seen_at=last_seen(connection, layout),
        parts=len(parts),
    )
