"""What can be asked of a store's tables; each question reads one snapshot and writes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import StoreError
from dialframe.files import shared
from dialframe.frames.frame_schemas import Table
from dialframe.store.catalog import live_parts, read_meta, read_patches
from dialframe.store.database import LEASE, Database
from dialframe.store.layouts import BY_NAME, HISTORY, LAYOUTS, Layout
from dialframe.store.parts import Vanished, ordered
from dialframe.store.records import instant
from dialframe.store.snapshot import Selection, as_frame, pieces, snapshot, whole
from dialframe.store.sql import answer_sql, duckdb_over
from dialframe.store.versions import count_heads, read_pages

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

T = TypeVar("T")
#: How often a question is asked again whose files were replaced while it was read.
_TRIES: Final = 5


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
    """

    folder: Path
    base_url: str | None
    environment: str | None
    schema_version: int
    size_bytes: int
    forgotten: int
    tables: tuple[TableFacts, ...]

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
            taken = snapshot(connection, layout, selection, columns)
            return lambda: whole(self._database.shelf, taken)

        return self._steadily(read)

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
                taken = snapshot(connection, layout, selection, columns)
            shown = layout.fields(taken.columns)
            try:
                for piece in pieces(self._database.shelf, taken):
                    for start in range(0, piece.num_rows, rows):
                        batch = piece.slice(start, rows).select(taken.columns)
                        yield from batch.cast(shown).combine_chunks().to_batches()
            except Vanished as error:
                # Rows of it may be with the caller already, so nothing is begun again here.
                raise self._missing_file_error(error) from None

    def history(self, table: Table, keys: Sequence[str] | None = None) -> pd.DataFrame:
        """Every version that a table's rows ever had here: what the service itself does not keep.

        Args:
            table: The column table.
            keys: Only these ids; None for all.

        Returns:
            The table's columns, then `_observed_at`, `_request_id`, `_until` (null for the latest) and
            `_missing_file_error`; ordered by key and time.
        """
        layout = BY_NAME[table.name]
        # All of them, in memory: whoever wants a few rows names their keys.
        key, names = layout.table.key[0], [*layout.names, *(column.name for column in HISTORY)]
        wanted = None if keys is None else pa.array(list(keys), layout.schema.field(key).type)

        def read(connection: sqlite3.Connection) -> Callable[[], pa.Table]:
            young, _ = read_pages(connection, layout)
            parts, patches = live_parts(connection, layout), read_patches(connection, layout)

            def versions() -> pa.Table:
                tables = []
                for table in (*(self._database.shelf.load(part, layout) for part in parts), young):
                    kept = table if wanted is None else table.filter(pc.is_in(table[key], wanted))
                    # A version that is followed may say so in a patch alone.
                    tables.append(patches.taken_in(kept))
                order = (*layout.table.key, "_observed_at", "seq")
                return ordered(pa.concat_tables(tables), list(dict.fromkeys(order)))

            return versions

        history = self._steadily(read)
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
        names = json.dumps([table.name for table in tables])
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT id FROM campaign WHERE table_name IN (SELECT value FROM json_each(?))",
                (names,),
            )
            return {campaign for (campaign,) in rows}

    def last_checks(self, phones: Sequence[str]) -> dict[str, Check]:
        """The latest Do-Not-Call answer about each number that was asked about."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT phone, listed, checked_at, request_id FROM last_check "
                "WHERE phone IN (SELECT value FROM json_each(?))",
                (json.dumps(list(phones)),),
            )
            return {
                phone: Check(phone, bool(listed), instant(checked_at), request_id)
                for phone, listed, checked_at, request_id in rows
            }

    def oldest(self, table: Table) -> datetime | None:
        """Creation of the oldest row that a table ever had, or None."""
        layout = BY_NAME[table.name]
        with self._database.reading() as connection:
            young, _ = read_pages(connection, layout)
            # Of a part the catalog knows its first time, so that none is opened.
            known = [part.first_time for part in live_parts(connection, layout)]
        firsts = [instant(value) for value in known if isinstance(value, int)]
        first = pc.min(young[layout.time_column]).as_py()
        # Days are text, and no table of days is asked for its first one.
        return min([*firsts, first] if isinstance(first, datetime) else firsts, default=None)

    def last_seen(self, table: Table) -> datetime | None:
        """When any row of a table was last observed, or None."""
        with self._database.reading() as connection:
            return last_seen(connection, BY_NAME[table.name])

    def missing(self, *tables: Table) -> tuple[str, ...]:
        """What is lost with damaged files of some tables, or of all, in sentences."""
        names = {table.name for table in tables} or BY_NAME.keys()
        with self._database.reading() as connection:
            said = read_meta(connection, "lost", [])
        return tuple(line for line in said if line.partition(":")[0] in names)

    def info(self) -> Info:
        """What the store holds: rows, versions, sizes; numbers of rows only, no content."""
        path = self._database.path
        log = path.with_name(f"{path.name}-wal")
        with self._database.reading() as connection:
            owner = read_meta(connection, "owner", {})
            quarantined = dict(
                connection.execute(
                    "SELECT table_name, count(*) FROM quarantine GROUP BY table_name"
                )
            )
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
                    _facts(connection, layout, quarantined.get(layout.name, 0))
                    for layout in LAYOUTS
                ),
            )

    def _steadily(self, read: Callable[[sqlite3.Connection], Callable[[], T]]) -> T:
        """Read a snapshot and then its parts (what `read` gives), again where a part was replaced in between."""
        for _ in range(_TRIES):
            try:
                with shared(self.folder / LEASE):
                    with self._database.reading() as connection:
                        work = read(connection)
                    return work()
            except Vanished as error:
                gone = error
        raise self._missing_file_error(gone)

    def _missing_file_error(self, error: Vanished) -> StoreError:
        """What there is to say of a file that is not there: whether the catalog still names it decides."""
        with self._database.reading() as connection:
            named = connection.execute(
                "SELECT 1 FROM part WHERE name = ? AND dead = 0", (error.path.name,)
            ).fetchone()
        if named:
            return error
        return StoreError(f"{error.path}: it was replaced while it was read; read again")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"


def _refuse_unknown(layout: Layout, columns: Sequence[str] | None) -> None:
    shown = [column.name for column in layout.columns]
    unknown = [name for name in columns or () if name not in shown]
    if unknown:
        raise StoreError(f"{layout.name} has no column {unknown[0]!r}; it has {', '.join(shown)}")


def last_seen(connection: sqlite3.Connection, layout: Layout) -> datetime | None:
    """The latest instant at which any row of a table was observed."""
    (last,) = connection.execute(
        "SELECT seen_at FROM tally WHERE table_name = ?", (layout.name,)
    ).fetchone()
    return None if last is None else instant(last)


def _facts(connection: sqlite3.Connection, layout: Layout, quarantined: int) -> TableFacts:
    parts = live_parts(connection, layout)
    (young,) = connection.execute(
        "SELECT coalesce(sum(rows), 0) FROM page WHERE table_name = ?", (layout.name,)
    ).fetchone()
    # The catalog counts rows of parts.
    versions = young + sum(part.rows for part in parts)
    # Every check is a row of its own, so a ledger has as many rows as versions.
    rows, gone = (versions, 0) if layout.ledger else count_heads(connection, layout)
    return TableFacts(
        name=layout.name,
        rows=rows,
        versions=versions,
        gone=gone,
        quarantined=quarantined,
        seen_at=last_seen(connection, layout),
        parts=len(parts),
    )
