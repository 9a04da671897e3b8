"""The local store: tables of row versions in one folder; knows disk, neither the service nor walks.

A version of a row is added only when its content differs from the latest one of that id. The *current* table
is the last version of each id by the instant it was observed; *as of T*, the last one observed by T. Rows and
the walk's checkpoint are written in one transaction, so a process killed at any moment leaves both consistent.
New versions wait in SQLite until there are enough of them for a Parquet file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialframe.config import OnProgress, silent
from dialframe.errors import ConfigError, StoreError
from dialframe.frames.columns import Table
from dialframe.store import facts, sealing, write
from dialframe.store.checkpoints import Checkpoint, Epochs, read_checkpoints
from dialframe.store.damage import without_damaged
from dialframe.store.database import Database
from dialframe.store.encode import Bad, Value, microseconds, rows
from dialframe.store.erasing import discard, erase
from dialframe.store.erasure import E164
from dialframe.store.facts import (
    Check,
    Info,
    campaign_ids,
    last_seen,
    oldest,
    read_info,
)
from dialframe.store.forgetting import forgotten
from dialframe.store.layout import BY_NAME, LAYOUTS, Layout
from dialframe.store.lock import exclusive
from dialframe.store.partition import Identity, Owner, admit, claim, read_owner, write_owner
from dialframe.store.parts import FOLDER as PARTS
from dialframe.store.parts import Shelf
from dialframe.store.retention import PERSONAL, floor_of, young_enough

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

#: Full walks that a row must be missing from before it counts as gone: pages may shift under a walk.
MISSES = 2

_SIZES = sealing.Sizes()


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of records.

    Attributes:
        rows: Given.
        versions: Added.
        quarantined: Set aside.
        forgotten: Dropped, for they are of a forgotten number.
        pruned: Dropped, for they are older than what is kept.
    """

    rows: int
    versions: int
    quarantined: int
    forgotten: int
    pruned: int = 0


class Store:
    """One client's tables in one folder (mode 0700, files 0600)."""

    def __init__(self, database: Database, sizes: sealing.Sizes = _SIZES) -> None:
        """The store of an open file; `sizes` says when versions move from it into parts."""
        self._database = database
        self._sizes = sizes
        self._shelf = Shelf(database.folder / PARTS)
        self._epochs = Epochs()
        self._tidy()

    @classmethod
    def open(cls, folder: Path | str, identity: Identity | None = None) -> Store:
        """Open the store of a folder, making it where there is none.

        Args:
            folder: The partition's own folder.
            identity: Whose data it must be; a new store is marked with it.

        Raises:
            StoreError: It cannot be opened, is damaged, newer than this dialframe, or somebody else's.
        """
        database = Database(Path(folder))
        try:
            if identity is not None:
                claim(database, identity)
            return cls(database)
        except BaseException:
            database.close()
            raise

    @property
    def folder(self) -> Path:
        """The folder that holds everything."""
        return self._database.folder

    @property
    def owner(self) -> Owner | None:
        """Whose data it is, or None where that was never said."""
        return read_owner(self._database)

    def admit(self, identity: Identity) -> None:
        """Let a further key of the same client in."""
        admit(self._database, identity)

    def name_client(self, client_id: str) -> None:
        """Write down the client's id, by which a further key of it is recognised."""
        owner = self.owner
        if owner is not None:
            write_owner(self._database, replace(owner, client_id=client_id))

    def append(
        self,
        table: Table,
        records: Iterable[Mapping[str, Any]],
        *,
        observed_at: datetime,
        request_id: str | None,
        checkpoint: Checkpoint | None = None,
        quarantined: Sequence[Bad] = (),
    ) -> Appended:
        """Store one answer of the service, and where its walk stands, in one transaction.

        Args:
            table: The column table of the records.
            records: Rows as mappings; instants are aware datetimes or ISO 8601 text.
            observed_at: When the request was sent.
            request_id: The service's id of the answer.
            checkpoint: Where the walk stands after these rows.
            quarantined: Records of the same answer that did not validate.

        Raises:
            StoreError: The disk is full or refuses; nothing of this answer is stored then.
        """
        layout = BY_NAME[table.name]
        good, bad = rows(layout, records)
        bad = [*quarantined, *bad]
        stamp = write.Stamp(microseconds(observed_at), request_id)

        def work() -> tuple[int, int, int]:
            with self._database.writing() as connection:
                young = young_enough(layout, good, floor_of(connection, layout))
                known = forgotten(connection)
                kept = known.keep(layout, young)
                versions = write.append_rows(connection, self._shelf, layout, kept, stamp)
                safe = [record for record in bad if known.text(record.raw) == record.raw]
                write.set_aside(connection, layout, safe, stamp)
                if checkpoint is not None:
                    self._epochs.save(connection, checkpoint)
                return len(young), len(kept), versions

        young, kept, versions = without_damaged(self._database, self._shelf, work)
        self._seal_if_due(layout, self._sizes.seal_rows)
        return Appended(
            rows=len(good),
            versions=versions,
            quarantined=len(bad),
            forgotten=young - kept,
            pruned=len(good) - young,
        )

    def reconcile(
        self,
        table: Table,
        *,
        seen_before: datetime,
        at: datetime,
        checkpoint: Checkpoint | None = None,
        campaign: str | None = None,
        days: tuple[str, str] | None = None,
        misses: int = MISSES,
    ) -> int:
        """After a full walk: rows it did not return are missed; missed often enough, they are gone.

        A gone row is hidden from the current table and stays in the history.

        Args:
            table: The column table.
            seen_before: When the walk began.
            at: When it ended.
            checkpoint: Where the walk stands now.
            campaign: Only rows of this campaign were walked.
            days: Only these days (first and last, ISO 8601) were read.
            misses: Walks that a row must be missing from.

        Returns:
            How many rows are gone by this walk.
        """
        layout = BY_NAME[table.name]
        condition: tuple[str, list[Value]] = ("1", [])
        if campaign is not None:
            condition = facts.of_campaign(layout, campaign)
        elif days is not None:
            condition = ("json_extract(_key, '$[0]') BETWEEN ? AND ?", [*days])
        with self._database.writing() as connection:
            gone = write.mark_missing(
                connection, layout, condition, microseconds(seen_before), microseconds(at), misses
            )
            if checkpoint is not None:
                self._epochs.save(connection, checkpoint)
        return gone

    def save(self, checkpoint: Checkpoint) -> None:
        """Write down where a walk stands, by itself."""
        with self._database.writing() as connection:
            self._epochs.save(connection, checkpoint)

    def state(self, name: str) -> dict[str, Any] | None:
        """Where a walk stands, or None."""
        return self.states(name).get(name)

    def states(self, name: str) -> dict[str, dict[str, Any]]:
        """Checkpoints by name: the one of that name, and its parts' (`name/...`)."""
        with self._database.reading() as connection:
            self._epochs.read(connection, name)
            return read_checkpoints(connection, name)

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

    def forget(self, phone: str, *, at: datetime) -> int:
        """Erase a number from every version of every table, and from the file's bytes.

        Rows of that number (calls from or to it, its leads, their callbacks, its appointments and
        checks) are deleted; in other rows' text it is replaced. A keyed hash stays, so that a later
        sync does not bring it back.

        Args:
            phone: E.164.
            at: When this was asked for.

        Returns:
            How many versions were erased or rewritten.

        Raises:
            ConfigError: It is no E.164 number.
            StoreError: Another process is reading, so that old bytes may remain.
        """
        if not E164.fullmatch(phone):
            raise ConfigError("the number to forget must be E.164, such as +12125550142")
        return erase(self._database, self._shelf, phone, microseconds(at))

    def prune(self, before: datetime, tables: Sequence[Table] | None = None) -> dict[str, int]:
        """Delete rows created before an instant, in all their versions, and keep them out from then on.

        Args:
            before: The instant; of a check, the one at which it was made.
            tables: The tables; None for all that are about persons.

        Returns:
            How many versions, and records set aside, were deleted of each table.

        Raises:
            ConfigError: A table is not about persons.
            StoreError: Another process is reading, so that old bytes may remain.
        """
        names = PERSONAL if tables is None else tuple(table.name for table in tables)
        return discard(self._database, self._shelf, names, microseconds(before))

    def publish(
        self,
        url: str,
        *,
        tables: Sequence[Table] | None = None,
        options: Mapping[str, str] | None = None,
        on_progress: OnProgress | None = None,
    ) -> dict[str, int]:
        """Write the tables' versions as Delta tables below a URL, those that are not there yet.

        Args:
            url: Folder or object store (`s3://bucket/prefix`).
            tables: The tables; None for all.
            options: Settings of the object store, as delta-rs names them; else the environment's.
            on_progress: Told the versions written of each table.

        Returns:
            How many versions were written of each table.

        Raises:
            ConfigError: The extra `delta` is not installed.
            StoreError: The object store refuses, or a file is damaged.
        """
        from dialframe.store.publish import publish

        names = tuple(BY_NAME) if tables is None else tuple(table.name for table in tables)
        tell = on_progress or silent
        return publish(self._database, self._shelf, url, names, options or {}, tell)

    def compact(self) -> None:
        """Seal what is not sealed yet, merge small files, delete replaced ones."""

        def work() -> None:
            sealing.compact(self._database, self._shelf, self._sizes)

        without_damaged(self._database, self._shelf, work)

    def vacuum(self) -> None:
        """Compact, and give back the space of what was erased; `StoreError` while another process reads."""
        self.compact()
        self._database.compact()

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        """Hold a lock of that name among all processes; yields False when another one has it."""
        if not name.isidentifier():
            raise StoreError(f"a lock's name must be a plain word, not {name!r}")
        with exclusive(self.folder / f"lock.{name}", wait=False) as held:
            yield held

    def close(self) -> None:
        """Close the file, long tails sealed; using the store opens it again."""
        try:
            if not self._database.read_only:
                for layout in LAYOUTS:
                    self._seal_if_due(layout, self._sizes.close_rows)
        finally:
            self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    def _seal_if_due(self, layout: Layout, rows: int) -> None:
        def work() -> bool:
            return sealing.seal_if_due(self._database, self._shelf, layout, rows, self._sizes)

        without_damaged(self._database, self._shelf, work)

    def _tidy(self) -> None:
        """Delete what a killed process left, unless another one is writing files."""
        if self._database.read_only:
            return
        with exclusive(self.folder / sealing.PARTS_LOCK, wait=False) as held:
            if held:
                sealing.sweep(self._database, self._shelf)
