"""A damaged part: found, named, set aside, its rows forgotten so that a sync brings them again.

Its file goes to the folder `damaged`. Keys whose latest version it held lose their heads, and the table its
checkpoints, also those that a walk under way would write: the next sync walks the whole list and stores them anew. What only this disk knew (older versions,
Do-Not-Call checks) is lost, so a question about that time is refused rather than answered short.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

import numpy as np

from dialframe.errors import StoreError
from dialframe.store.catalogue import drop_parts, live_parts
from dialframe.store.database import Database
from dialframe.store.encode import instant, microseconds
from dialframe.store.layout import BY_NAME, Layout
from dialframe.store.lock import exclusive, shared
from dialframe.store.parts import FOLDER_MODE, Damaged, Part, Shelf, Vanished, integers
from dialframe.store.sealing import LEASE, PARTS_LOCK

FOLDER: Final = "damaged"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Damage:
    """A part that was set aside.

    Attributes:
        file: Name of its file, now in the folder `damaged`.
        table: The table.
        rows: Versions that were in it.
        first_observed_at: When the earliest of them was observed, UTC.
        found_at: The last instant at which the table is known to have been whole, UTC.
        reason: How it is known.
    """

    file: str
    table: str
    rows: int
    first_observed_at: datetime
    found_at: datetime
    reason: str


def read_steadily(
    database: Database, shelf: Shelf, read: Callable[[sqlite3.Connection], Callable[[], T]]
) -> T:
    """Read a snapshot and then its parts, again where a part was replaced in between.

    Args:
        database: The catalogue.
        shelf: The parts.
        read: Takes the snapshot, and gives what reads its parts.

    Raises:
        StoreError: A part is damaged; it is named, and set aside where the folder may be written to.
    """
    missing: str | None = None
    while True:
        try:
            with shared(database.folder / LEASE):
                with database.reading() as connection:
                    use = read(connection)
                return use()
        except Damaged as found:
            raise refused(database, shelf, found.part, str(found)) from None
        except Vanished as found:
            # Who replaces a part says so before the file goes: named again, it is missing.
            if missing == found.part.name:
                raise refused(database, shelf, found.part, "its file is missing") from None
            missing = found.part.name


def without_damaged(database: Database, shelf: Shelf, work: Callable[[], T]) -> T:
    """Do something that writes; where it meets a damaged part, set that aside and do it again."""
    while True:
        try:
            return work()
        except Damaged as found:
            set_aside(database, shelf, found.part, str(found))
        except Vanished as found:
            set_aside(database, shelf, found.part, "its file is missing")


def refused(database: Database, shelf: Shelf, part: Part, why: str) -> StoreError:
    """Set a damaged part aside, and say so."""
    path = shelf.folder / part.name
    if database.read_only:
        return StoreError(
            f"{path}: {why}, so the table {part.table} cannot be read; the folder may not be written to: "
            "open the store where it may be, and sync again"
        )
    set_aside(database, shelf, part, why)
    return StoreError(
        f"{path}: {why}; it was set aside in the folder {FOLDER!r} with {part.rows} versions, and the table "
        f"{part.table} is incomplete until the next sync has read it whole again"
    )


def set_aside(database: Database, shelf: Shelf, part: Part, why: str) -> None:
    """Take a damaged part, and every other one of its table, out of the store."""
    layout = BY_NAME[part.table]
    with exclusive(database.folder / PARTS_LOCK, wait=True), database.writing() as connection:
        alive = {one.name: one for one in live_parts(connection, layout)}
        bad = {part.name: why} if part.name in alive else {}
        seqs = [_tail_seqs(connection, layout)]
        for one in alive.values():
            if one.name in bad:
                continue
            try:
                shelf.verify(one)
                seqs.append(integers(shelf.load(one, layout, ["seq"])["seq"]))
            except Vanished:
                bad[one.name] = "its file is missing"
            except Damaged as found:
                bad[one.name] = str(found)
        if bad:
            _note(connection, [(alive[name], reason) for name, reason in bad.items()])
            _unlearn(connection, layout, np.concatenate(seqs))
    _move(shelf, sorted(bad))


def damages(connection: sqlite3.Connection) -> tuple[Damage, ...]:
    """Every part that was ever set aside."""
    found = connection.execute(
        "SELECT name, table_name, rows, first_observed, found_at, reason FROM damage ORDER BY name"
    )
    return tuple(
        Damage(name, table, rows, instant(first), instant(at), reason)
        for name, table, rows, first, at, reason in found
    )


def refuse_lost(connection: sqlite3.Connection, layout: Layout, as_of: datetime | None) -> None:
    """Refuse a question about a time of which versions are lost.

    Raises:
        StoreError: It names the time from which on there is an answer.
    """
    if as_of is None:
        return
    at = microseconds(as_of)
    (until,) = connection.execute(
        "SELECT max(found_at) FROM damage WHERE table_name = ? "
        "AND first_observed <= ? AND found_at > ?",
        (layout.table.name, at, at),
    ).fetchone()
    if until is not None:
        raise StoreError(
            f"{layout.table.name}: versions of that time were lost with a damaged file; ask for an instant "
            f"from {instant(until).isoformat()} on"
        )


def _tail_seqs(connection: sqlite3.Connection, layout: Layout) -> np.ndarray:
    found = connection.execute(f"SELECT seq FROM {layout.versions}").fetchall()
    return np.array([seq for (seq,) in found], dtype=np.int64)


def _note(connection: sqlite3.Connection, lost: list[tuple[Part, str]]) -> None:
    for part, why in lost:
        (seen_at,) = connection.execute(
            "SELECT seen_at FROM tally WHERE table_name = ?", (part.table,)
        ).fetchone()
        connection.execute(
            "INSERT OR REPLACE INTO damage VALUES (?, ?, ?, ?, ?, ?)",
            (part.name, part.table, part.rows, part.observed[0], seen_at + 1, why),
        )
    drop_parts(connection, [part.name for part, _ in lost])


def _unlearn(connection: sqlite3.Connection, layout: Layout, seqs: np.ndarray) -> None:
    """Forget heads whose version is lost, and where the table's walks stand."""
    name = layout.table.name
    if not layout.ledger:
        known = np.sort(seqs)
        heads = connection.execute(f"SELECT _key, seq FROM {layout.heads}").fetchall()
        held = np.isin(np.array([seq for _, seq in heads], dtype=np.int64), known)
        lost = [(key,) for (key, _), there in zip(heads, held.tolist(), strict=True) if not there]
        connection.executemany(f"DELETE FROM {layout.heads} WHERE _key = ?", lost)
    connection.execute("UPDATE tally SET epoch = epoch + 1 WHERE table_name = ?", (name,))
    connection.execute(
        "DELETE FROM checkpoint WHERE name = ? OR substr(name, 1, ?) = ?",
        (name, len(name) + 1, f"{name}/"),
    )


def _move(shelf: Shelf, names: list[str]) -> None:
    folder = shelf.folder.parent / FOLDER
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    for name in names:
        path = shelf.folder / name
        if path.exists():
            path.replace(folder / name)
