"""Finds damaged and unlisted files, sets them aside, and reports them until somebody acknowledges them.

A part is damaged where neither of its two files is what was written. They go to the folder `set-aside`. Keys
whose latest version it held lose their heads, and the table its checkpoints, also those that a walk under way
would write: the next sync walks the whole list and stores them anew. What only this disk had (older versions,
events, Do-Not-Call checks) is lost, so a question about that time is refused rather than answered short.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

import numpy as np
import pyarrow.parquet as pq

from dialframe.errors import StoreError
from dialframe.files import exclusive, shared
from dialframe.store.files.catalog import drop_parts, live_parts
from dialframe.store.files.database import LEASE, PARTS_LOCK, Database
from dialframe.store.files.parts import (
    ASIDE,
    Damaged,
    Part,
    Vanished,
    describe_file,
    integers,
)
from dialframe.store.files.sqlite_rows import instant, microseconds
from dialframe.store.files.table_layouts import BY_NAME, Layout

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Damage:
    """A part that was set aside.

    Attributes:
        file: Name of its file, now in the folder `set-aside`.
        table: The table.
        rows: Versions that were in it.
        first_observed_at: When the earliest of them was observed, UTC.
        last_observed_at: When the latest of them was observed, UTC; None where that is not known.
        found_at: The last instant at which the table is known to have been whole, UTC.
        reason: How it is known.
        acknowledged_at: When somebody took note of it, UTC; until then every frame says it.
    """

    file: str
    table: str
    rows: int
    first_observed_at: datetime
    found_at: datetime
    reason: str
    last_observed_at: datetime | None = None
    acknowledged_at: datetime | None = None

    @property
    def sentence(self) -> str:
        """What is missing, of which table and period."""
        first = f"{self.first_observed_at:%Y-%m-%d %H:%M}"
        last = self.last_observed_at
        period = f"observed from {first}" + (f" to {last:%Y-%m-%d %H:%M}" if last else "") + " UTC"
        return (
            f"{self.table}: {self.rows:,} versions {period} are missing ({self.file}: {self.reason}; "
            f"{_remedy(BY_NAME[self.table])})"
        )


def read_steadily(database: Database, read: Callable[[sqlite3.Connection], Callable[[], T]]) -> T:
    """Read a snapshot and then its parts (what `read` gives), again where a part was replaced in between.

    Raises:
        StoreError: A part is damaged; it is named, and set aside where the folder may be written to.
    """
    # Names a part that was not there the last time.
    missing: str | None = None
    while True:
        try:
            with shared(database.folder / LEASE):
                with database.reading() as connection:
                    use = read(connection)
                return use()
        except Damaged as damaged:
            # Who replaces a part says so before the file goes: named again, it is missing.
            if not isinstance(damaged, Vanished) or missing == damaged.part.name:
                raise refused(database, damaged) from None
            missing = damaged.part.name


def without_damaged(database: Database, work: Callable[[], T]) -> T:
    """Do something that writes; where it meets a damaged part, set that aside and do it again."""
    while True:
        try:
            return work()
        except Damaged as damaged:
            set_aside(database, damaged)


def refused(database: Database, damaged: Damaged) -> StoreError:
    """Set a damaged part aside, and say so."""
    part, why = damaged.part, str(damaged)
    path = database.shelf.folder / part.name
    if database.read_only:
        return StoreError(
            f"{path}: {why}, so the table {part.table} cannot be read; the folder may not be written to: "
            "open the store where it may be"
        )
    set_aside(database, damaged)
    return StoreError(
        f"{path}: {why}, and neither is its copy what was written; both were set aside in the folder "
        f"{ASIDE!r} with {part.rows} versions, and the table {part.table} is incomplete: "
        f"{_remedy(BY_NAME[part.table])}"
    )


@contextmanager
def refusing(database: Database, next_step: str) -> Iterator[None]:
    """Refuse in words what is read inside the block of a part that is damaged, or was replaced meanwhile."""
    try:
        yield
    except Vanished as vanished:
        raise StoreError(
            f"{database.shelf.folder / vanished.part.name}: it was replaced while it was read; {next_step}"
        ) from None
    except Damaged as damaged:
        raise refused(database, damaged) from None


def _remedy(layout: Layout) -> str:
    if layout.ledger or layout.once:
        return "no sync can bring them back; dialframe store restore brings a backup"
    return "the next sync brings the latest versions again, a backup the older ones"


def set_aside(database: Database, damaged: Damaged) -> None:
    """Take a damaged part, and every other one of its table, out of the store."""
    layout = BY_NAME[damaged.part.table]
    with exclusive(database.folder / PARTS_LOCK, wait=True), database.writing() as connection:
        # Somebody else may have set it aside already.
        alive = {live.name: live for live in live_parts(connection, layout)}
        bad = {damaged.part.name: str(damaged)} if damaged.part.name in alive else {}
        seqs = [_tail_seqs(connection, layout)]
        for live in alive.values():
            if live.name in bad:
                continue
            try:
                # While the lock is held, so that a second damaged part is not met by the next reader.
                database.shelf.verify(live)
                seqs.append(integers(database.shelf.load(live, layout, ["seq"])["seq"]))
            except Damaged as another:
                bad[live.name] = str(another)
        if bad:
            _note(connection, [(alive[name], reason) for name, reason in bad.items()])
            _unlearn(connection, layout, np.concatenate(seqs))
    database.shelf.set_aside(sorted(bad))


def note_unlisted(database: Database, names: Sequence[str]) -> None:
    """Write down what is in files that the catalog does not name, where the store has not got it already."""
    for name in names:
        places = [folder / name for folder in (database.shelf.folder, database.shelf.copies)]
        part = None
        for path in places:
            with suppress(ValueError):
                part = part or describe_file(path)[0]
        if part is None:
            continue
        layout = BY_NAME[part.table]
        with database.writing() as connection:
            file = next(path for path in places if path.exists())
            unlisted = integers(pq.read_table(file, columns=["seq"])["seq"])
            missing = ~np.isin(unlisted, held_seqs(connection, database, layout, part.seqs))
            if missing.any():
                # Its rows are nowhere else, so somebody should decide.
                why = "the catalog does not name it; dialframe store repair brings it in"
                _note(connection, [(replace(part, rows=int(missing.sum())), why)])


def damages(connection: sqlite3.Connection) -> tuple[Damage, ...]:
    """Every file that was ever set aside with rows that are missing."""
    return tuple(
        Damage(
            name,
            table,
            rows,
            instant(first),
            instant(found_at),
            reason,
            None if last is None else instant(last),
            None if acknowledged_at is None else instant(acknowledged_at),
        )
        for name, table, rows, first, found_at, reason, last, acknowledged_at in connection.execute(
            "SELECT name, table_name, rows, first_observed, found_at, reason, last_observed, "
            "acknowledged_at FROM damage ORDER BY name"
        )
    )


def acknowledge(connection: sqlite3.Connection, at: datetime) -> int:
    """Write down that somebody took note of every damage; gives how many were new."""
    return connection.execute(
        "UPDATE damage SET acknowledged_at = ? WHERE acknowledged_at IS NULL", (microseconds(at),)
    ).rowcount


def refuse_lost(connection: sqlite3.Connection, layout: Layout, as_of: datetime | None) -> None:
    """Refuse a question about a time of which versions are lost.

    Raises:
        StoreError: It names the time from which on there is an answer.
    """
    if as_of is None:
        return
    moment = microseconds(as_of)
    (until,) = connection.execute(
        "SELECT max(found_at) FROM damage WHERE table_name = ? "
        "AND first_observed <= ? AND found_at > ?",
        (layout.table.name, moment, moment),
    ).fetchone()
    if until is not None:
        raise StoreError(
            f"{layout.table.name}: versions of that time were lost with a damaged file; ask for an instant "
            f"from {instant(until).isoformat()} on"
        )


def held_seqs(
    connection: sqlite3.Connection, database: Database, layout: Layout, near: tuple[int, int]
) -> np.ndarray:
    """Places of a table's versions, in the tail and in those parts that have any within two of them."""
    sealed = (
        integers(database.shelf.load(live, layout, ["seq"])["seq"])
        for live in live_parts(connection, layout)
        if live.seqs[0] <= near[1] and live.seqs[1] >= near[0]
    )
    return np.concatenate([_tail_seqs(connection, layout), *sealed])


def _tail_seqs(connection: sqlite3.Connection, layout: Layout) -> np.ndarray:
    rows = connection.execute(f"SELECT seq FROM {layout.versions}").fetchall()
    return np.array([seq for (seq,) in rows], dtype=np.int64)


def _note(connection: sqlite3.Connection, lost: list[tuple[Part, str]]) -> None:
    for part, why in lost:
        (seen_at,) = connection.execute(
            "SELECT seen_at FROM tally WHERE table_name = ?", (part.table,)
        ).fetchone()
        connection.execute(
            "INSERT OR REPLACE INTO damage VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
            (
                part.name,
                part.table,
                part.rows,
                part.observed[0],
                # Until then the table was whole as far as anybody knows; from then on it is known not to be.
                max(seen_at or 0, part.observed[1]) + 1,
                why,
                part.observed[1],
            ),
        )
    drop_parts(connection, [part.name for part, _ in lost])


def _unlearn(connection: sqlite3.Connection, layout: Layout, seqs: np.ndarray) -> None:
    """Forget heads whose version is lost, and where the table's walks stand."""
    name = layout.table.name
    if not layout.ledger:
        known = np.sort(seqs)
        heads = connection.execute(f"SELECT _key, seq FROM {layout.heads}").fetchall()
        # By place and not by key: the latest version is what a head stands for.
        held = np.isin(np.array([seq for _, seq in heads], dtype=np.int64), known)
        # The next walk finds these rows unknown, and stores them again.
        lost = [(key,) for (key, _), there in zip(heads, held.tolist(), strict=True) if not there]
        connection.executemany(f"DELETE FROM {layout.heads} WHERE _key = ?", lost)
    # Also what a walk under way would write: it began when the table was whole.
    connection.execute("UPDATE tally SET epoch = epoch + 1 WHERE table_name = ?", (name,))
    connection.execute(
        "DELETE FROM checkpoint WHERE name = ? OR substr(name, 1, ?) = ?",
        (name, len(name) + 1, f"{name}/"),
    )
