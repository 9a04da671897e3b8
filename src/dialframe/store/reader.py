"""What can be asked of a store's tables; knows snapshots and columns, and writes nothing of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialframe.frames.columns import Table
from dialframe.store.database import Database
from dialframe.store.facts import Check, Info, campaign_ids, last_seen, oldest, read_info
from dialframe.store.layout import BY_NAME
from dialframe.store.parts import FOLDER as PARTS
from dialframe.store.parts import Shelf

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


class Reader:
    """One client's tables in one folder: current, as of an instant, in all versions, by SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._shelf = Shelf(database.folder / PARTS)

    @property
    def folder(self) -> Path:
        """The folder that holds everything."""
        return self._database.folder

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
        from dialframe.store.read import as_frame

        table_ = self.arrow(table, as_of=as_of, since=since, until=until, campaign=campaign)
        return as_frame(table_)

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
        from dialframe.store.read import Selection
        from dialframe.store.reading import read_table

        selection = Selection(as_of=as_of, since=since, until=until, campaign=campaign)
        return read_table(self._database, self._shelf, BY_NAME[table.name], selection, columns)

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
        from dialframe.store.read import Selection
        from dialframe.store.reading import read_batches

        selection = Selection(as_of=as_of, since=since, until=until, campaign=campaign)
        layout = BY_NAME[table.name]
        return read_batches(self._database, self._shelf, layout, selection, columns, rows)

    def history(self, table: Table, keys: Sequence[str] | None = None) -> pd.DataFrame:
        """Every version that a table's rows ever had here: what the service itself does not keep.

        Args:
            table: The column table.
            keys: Only these ids; None for all.

        Returns:
            The table's columns, then `_observed_at`, `_request_id`, `_until` (null for the latest) and
            `_gone`; ordered by key and time.
        """
        from dialframe.store.read import as_frame
        from dialframe.store.reading import read_history

        layout = BY_NAME[table.name]
        return as_frame(read_history(self._database, self._shelf, layout, keys))

    def query(
        self,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        as_of: datetime | None = None,
    ) -> pa.Table:
        """The answer of DuckDB to a SELECT over the tables, all of one moment.

        Args:
            sql: The statement; tables have their names (`calls`, `leads`), values are `$name`.
            parameters: The values by name.
            as_of: Tables as last observed by this instant.

        Raises:
            StoreError: The statement is wrong, or a file is damaged.
        """
        from dialframe.store.query import run

        return run(self._database, self._shelf, sql, parameters, as_of)

    @contextmanager
    def duckdb(self, *, as_of: datetime | None = None) -> Iterator[DuckDBPyConnection]:
        """A DuckDB connection over the tables as of one moment, for as long as the block runs."""
        from dialframe.store.query import connected

        with connected(self._database, self._shelf, as_of) as connection:
            yield connection

    def campaign_ids(self, *tables: Table) -> set[str]:
        """Every campaign id that versions of these tables ever named."""
        layouts = [BY_NAME[table.name] for table in tables]
        with self._database.reading() as connection:
            return campaign_ids(connection, layouts)

    def last_checks(
        self, phones: Sequence[str], *, as_of: datetime | None = None
    ) -> dict[str, Check]:
        """The latest Do-Not-Call answer about each number that was asked about, by an instant or ever."""
        from dialframe.store.reading import read_last_checks

        return read_last_checks(self._database, self._shelf, phones, as_of)

    def oldest(self, table: Table) -> datetime | None:
        """Creation of the oldest row that a table ever had, or None."""
        with self._database.reading() as connection:
            return oldest(connection, BY_NAME[table.name])

    def last_seen(self, table: Table) -> datetime | None:
        """When any row of a table was last observed, or None."""
        with self._database.reading() as connection:
            return last_seen(connection, BY_NAME[table.name])

    def info(self) -> Info:
        """What the store holds: rows, versions, sizes; numbers of rows only, no content."""
        with self._database.reading() as connection:
            return read_info(connection, self._database.path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"
