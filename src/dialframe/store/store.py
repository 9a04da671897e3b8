"""The local store: one client's tables of row versions in one folder.

A version of a row is added only when its content differs from the latest one of that id. The *current* table
is the last version of each id by the instant it was observed; *as of T*, the last one observed by T. Rows and
the walk's checkpoint are written in one transaction, so a process killed at any moment leaves both consistent.
New versions wait in SQLite until there are enough of them for a Parquet file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from dialframe.config import OnProgress, silent
from dialframe.errors import ConfigError, StoreError
from dialframe.evidence import EvidenceLog, Record
from dialframe.evidence.service_words import learn
from dialframe.files import exclusive
from dialframe.frames.frame_schemas import Table
from dialframe.privacy import E164
from dialframe.store import compaction as sealing
from dialframe.store import versions as row_versions
from dialframe.store.account_folders import Identity, Owner, admit, claim, read_owner, write_owner
from dialframe.store.catalog import (
    Checkpoint,
    read_checkpoints,
    read_meta,
    save_checkpoint,
)
from dialframe.store.database import PARTS_LOCK, Database
from dialframe.store.forget import (
    PERSONAL,
    catch_up,
    discard,
    erase,
    floor_of,
    forgotten,
    young_enough,
)
from dialframe.store.layouts import BY_NAME
from dialframe.store.reader import Reader
from dialframe.store.records import Bad, microseconds, rows
from dialframe.store.snapshot import Selection, pieces, snapshot

# Contract, Endpoints, Calls: a call may appear behind a cursor already returned, so one walk proves no absence.
#: Full walks that a row must be missing from before it counts as gone: pages may shift under a walk.
MISSES = 2

_SIZES = sealing.Sizes()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one audit said.

    Attributes:
        number: Its place among those of this store, from 1.
        made_at: When the audit was made, UTC.
        content: What it said, and over which versions, rules and inputs; no number of a person.
    """

    number: int
    made_at: datetime
    content: Mapping[str, Any]


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


class Store(Reader):
    """One client's tables in one folder (mode 0700, files 0600): read, and written."""

    def __init__(self, database: Database, sizes: sealing.Sizes = _SIZES) -> None:
        """The store of an open file; `sizes` says when versions move from it into parts."""
        super().__init__(database)
        self._sizes = sizes
        #: Versions that were erased as it was opened, of whom the evidence log has erased since.
        self.erased_at_open = 0
        self._tidy()

    @classmethod
    def open(
        cls,
        folder: Path | str,
        identity: Identity | None = None,
        *,
        evidence: EvidenceLog | None = None,
    ) -> Store:
        """Open the store of a folder, making it where there is none.

        Args:
            folder: The partition's own folder.
            identity: Whose data it must be; a new store is marked with it.
            evidence: The evidence log, which says who was erased; None for the one beside the store. Whom
                it has erased since this store was open last is erased here now.

        Returns:
            The store; a context manager that closes it.

        Raises:
            StoreError: It cannot be opened, is damaged, newer than this dialframe, or somebody else's.
        """
        database = Database(Path(folder), evidence=evidence)
        try:
            if identity is not None:
                claim(database, identity)
            return cls(database)
        except BaseException:
            database.close()
            raise

    def published(self) -> list[str]:
        """Where tables of this store were published.

        Returns:
            The URLs.
        """
        with self._database.reading() as connection:
            return list(read_meta(connection, "published", []))

    @property
    def owner(self) -> Owner | None:
        """Whose data it is, or None where that was never said."""
        return read_owner(self._database)

    def admit(self, identity: Identity) -> None:
        """Accept a further key of the same client.

        Args:
            identity: The identity of that key.

        Raises:
            StoreError: The store is of another service or environment.
        """
        admit(self._database, identity)

    def name_client(self, client_id: str) -> None:
        """Write down the client's id, by which a further key of it is recognized.

        Args:
            client_id: The id, as `GET /v1/me` gives it.
        """
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
            observed_at: When the request was sent, with a zone.
            request_id: The service's id of the answer.
            checkpoint: Where the walk stands after these rows.
            quarantined: Records of the same answer that did not validate.

        Returns:
            How many rows came, and what became of them.

        Raises:
            StoreError: The disk is full or refuses; nothing of this answer is stored then.
        """
        layout = BY_NAME[table.name]
        records = list(records)
        # Before the rows: a number that must not be called is held even if the next step is killed.
        learn(self._database.evidence, table.name, records, observed_at)
        # Outside of the transaction: other processes need not wait while records are read.
        good, bad = rows(layout, records)
        bad = [*quarantined, *bad]
        stamp = row_versions.Stamp(microseconds(observed_at), request_id)
        with self._database.writing() as connection:
            # Inside of it: a number may be forgotten, or old rows pruned, between two answers.
            young = young_enough(layout, good, floor_of(connection, layout))
            known = forgotten(connection, self._database)
            kept = known.keep(layout, young)
            versions = row_versions.append_rows(
                connection, self._database.shelf, layout, kept, stamp
            )
            # A record that mentions a forgotten number is not even set aside.
            safe = [record for record in bad if known.text(record.raw) == record.raw]
            row_versions.set_aside(connection, layout, safe, stamp)
            if checkpoint is not None:
                save_checkpoint(connection, checkpoint)
        sealing.seal_if_due(self._database, layout, self._sizes)
        return Appended(
            rows=len(good),
            versions=versions,
            quarantined=len(bad),
            forgotten=len(young) - len(kept),
            pruned=len(good) - len(young),
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
        with self._database.writing() as connection:
            among = None
            if campaign is not None or days is not None:
                taken = snapshot(
                    connection, layout, Selection(campaign=campaign), ["seq", *layout.order]
                )
                tables = list(pieces(self._database.shelf, taken))
                if days is not None:
                    # Days of dispositions are text, which is ordered as they are.
                    tables = [
                        one.filter(
                            pc.and_(
                                pc.greater_equal(one["date"], days[0]),
                                pc.less_equal(one["date"], days[1]),
                            )
                        )
                        for one in tables
                    ]
                among = np.concatenate([one["seq"].to_numpy() for one in tables])
            gone = row_versions.mark_missing(
                connection,
                self._database.shelf,
                layout,
                among,
                microseconds(seen_before),
                microseconds(at),
                misses,
            )
            if checkpoint is not None:
                save_checkpoint(connection, checkpoint)
        return gone

    def save(self, checkpoint: Checkpoint) -> None:
        """Write down where a walk stands, without any rows.

        Args:
            checkpoint: The walk's name and state.

        Raises:
            StoreError: The store cannot be written.
        """
        with self._database.writing() as connection:
            save_checkpoint(connection, checkpoint)

    def state(self, name: str) -> dict[str, Any] | None:
        """Where a walk stands.

        Args:
            name: The walk's name.

        Returns:
            Its state, or None where there is none.

        Raises:
            StoreError: The store cannot be read.
        """
        return self.states(name).get(name)

    def states(self, name: str) -> dict[str, dict[str, Any]]:
        """Where a walk and its parts stand.

        Args:
            name: The walk's name; its parts are `name/...`.

        Returns:
            States by name.

        Raises:
            StoreError: The store cannot be read.
        """
        with self._database.reading() as connection:
            return read_checkpoints(connection, name)

    def keep_verdict(self, content: Mapping[str, Any], *, at: datetime) -> bool:
        """Keep what an audit said, as a record of the evidence log.

        Args:
            content: What it said, over which versions and rules; values that JSON can hold, and no
                number of a person.
            at: When it was made.

        Returns:
            False where the last one said the same of the same, or nothing can be written here.

        Raises:
            StoreError: The disk is full or refuses.
        """
        if self._database.read_only:
            return False  # an audit of a copy on a read-only disk is as good, and is not kept
        last = self.verdicts()[-1:]
        if last and last[0].content == json.loads(json.dumps(content)):
            return False
        self._database.evidence.append(
            [Record("audit", at, source=self.folder.name, detail=content)]
        )
        return True

    def verdicts(self) -> list[Verdict]:
        """What every audit of this store said, oldest first.

        Returns:
            One each.

        Raises:
            StoreError: The evidence log is not what was written.

        Example:
            for verdict in account.store.verdicts():
                print(verdict.made_at, verdict.content["verdict"])
        """
        audits = self._database.evidence.records(["audit"])
        mine = [record for record in audits if record.source == self.folder.name]
        return [
            Verdict(number, record.at, record.detail)
            for number, record in enumerate(mine, start=1)
        ]

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
        return erase(self._database, phone, at)

    def prune(
        self, before: datetime, tables: Sequence[Table] | None = None, *, at: datetime
    ) -> dict[str, int]:
        """Delete rows created before an instant, in all their versions, and keep them out from then on.

        The evidence log says what was deleted, and when.

        Args:
            before: The instant; of a check, the one at which it was made.
            tables: The tables; None for all that are about persons.
            at: The present, with a zone.

        Returns:
            How many versions, and records set aside, were deleted of each table.

        Raises:
            ConfigError: A table is not about persons.
            StoreError: Another process is reading, so that old bytes may remain.
        """
        # Campaigns and counts of dispositions name nobody.
        names = PERSONAL if tables is None else tuple(table.name for table in tables)
        deleted = discard(self._database, names, microseconds(before))
        detail = {"before": before.isoformat(), "deleted": deleted}
        self._database.evidence.append(
            [Record("pruned", at, source=self.folder.name, detail=detail)]
        )
        return deleted

    def prune_again(self) -> int:
        """Delete what the evidence log says was pruned of this store: a backup of before brings it back.

        Returns:
            How many versions, and records set aside, were deleted.

        Raises:
            StoreError: Another process is reading, so that old bytes may remain, or the log is damaged.
        """
        deleted = 0
        for record in self._database.evidence.records(["pruned"]):
            if record.source == self.folder.name:
                before = microseconds(datetime.fromisoformat(record.detail["before"]))
                deleted += sum(
                    discard(self._database, tuple(record.detail["deleted"]), before).values()
                )
        return deleted

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
            on_progress: Called with the versions written of each table.

        Returns:
            How many versions were written of each table.

        Raises:
            ConfigError: The extra `delta` is not installed.
            StoreError: The object store refuses, or a file is damaged.
        """
        from dialframe.store.delta_tables import publish

        names = tuple(BY_NAME) if tables is None else tuple(table.name for table in tables)
        tell = on_progress or silent
        return publish(self._database, url, names, options or {}, tell)

    def compact(self) -> None:
        """Seal what is not sealed yet, merge small files, delete replaced ones."""
        sealing.compact(self._database, self._sizes)

    def vacuum(self) -> None:
        """Compact, and give back the space of what was erased; `StoreError` while another process reads."""
        self.compact()
        self._database.compact()

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        """Try to take a lock among all processes that use this store.

        Args:
            name: The lock's name, a plain word.

        Yields:
            True while the lock is held; False when another process has it.

        Raises:
            StoreError: The name is no plain word.
        """
        # It becomes the name of a file.
        if not name.isidentifier():
            raise StoreError(f"a lock's name must be a plain word, not {name!r}")
        with exclusive(self.folder / f"lock.{name}", wait=False) as held:
            yield held

    def close(self) -> None:
        """Close the file; using the store opens it again."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _tidy(self) -> None:
        """Erase whom the evidence log has erased meanwhile, and put away what a killed process left."""
        if self._database.read_only:
            return
        # A log that cannot be read is its own readers' to say, and old bytes go when nobody reads any more.
        with suppress(StoreError):
            self.erased_at_open = catch_up(self._database)
        with exclusive(self.folder / PARTS_LOCK, wait=False) as held:
            # What no transaction names may be another process's, which holds the lock while it writes.
            if held:
                sealing.sweep(self._database)
