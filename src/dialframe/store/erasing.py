"""Erasing from the whole folder, and the proof: rows, files, log and what was set aside; knows no rows' meaning."""

from __future__ import annotations

import mmap
import os
import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from dialframe.errors import ConfigError, StoreError
from dialframe.store.catalogue import dead_parts, drop_parts, live_parts
from dialframe.store.damage import FOLDER as DAMAGED
from dialframe.store.damage import without_damaged
from dialframe.store.database import Database
from dialframe.store.erasure import digits_of, national_digits
from dialframe.store.forgetting import Person, forget, forgotten, traces
from dialframe.store.layout import BY_NAME, LAYOUTS
from dialframe.store.lock import exclusive
from dialframe.store.parts import Shelf
from dialframe.store.retention import PERSONAL, prune, prune_quarantine
from dialframe.store.sealing import PARTS_LOCK, writing_parts
from dialframe.store.tail import rows_of

T = TypeVar("T")


def erase(database: Database, shelf: Shelf, phone: str, at: int) -> int:
    """Erase a number from rows, files and log, and prove it.

    Returns:
        How many versions, and records set aside, were erased or had the number replaced.

    Raises:
        StoreError: Another process is reading, so that old bytes may remain.
    """

    def work() -> int:
        with writing_parts(database, shelf) as (connection, made):
            erased = forget(connection, shelf, made, phone, at)
            _count_erasure(connection)
        _delete_files(database, shelf)
        database.compact()
        prove(database, shelf, phone)
        return erased

    return _alone(database, shelf, work)


def discard(
    database: Database, shelf: Shelf, tables: Sequence[str], before: int
) -> dict[str, int]:
    """Delete rows created before an instant (microseconds since 1970 UTC) from rows, files and log.

    Returns:
        How many versions, and records set aside, were deleted of each table.

    Raises:
        ConfigError: A table is not about persons.
        StoreError: Another process is reading, so that old bytes may remain.
    """
    for name in tables:
        if name not in PERSONAL:
            raise ConfigError(
                f"{name} is not about persons; what can be pruned is {', '.join(PERSONAL)}"
            )

    def work() -> dict[str, int]:
        with writing_parts(database, shelf) as (connection, made):
            deleted = {
                name: prune(connection, shelf, made, BY_NAME[name], before)
                + prune_quarantine(connection, BY_NAME[name], before)
                for name in tables
            }
            _count_erasure(connection)
        _delete_files(database, shelf)
        database.compact()
        return deleted

    return _alone(database, shelf, work)


def prove(database: Database, shelf: Shelf, phone: str) -> None:
    """Look for a number in every byte and, as parts are compressed, in every row of every part.

    Raises:
        StoreError: It is still somewhere; the file is named.
    """
    digits = digits_of(phone)
    person = Person(digits, national_digits(phone) or digits)
    pattern = re.compile(rb"\+" + digits.encode() + rb"(?![0-9])")
    for path in sorted(database.folder.rglob("*")):
        if path.is_file() and _holds(path, pattern):
            raise _left(path)
    with database.reading() as connection:
        known = forgotten(connection)
        parts = [(layout, part) for layout in LAYOUTS for part in live_parts(connection, layout)]
    for layout, part in parts:
        table = shelf.load(part, layout)
        suspects = rows_of(layout, table.filter(traces(table, layout, person)))
        if any(
            known.owns(layout, row) or known.without(layout, row) is not row for _, row in suspects
        ):
            raise _left(shelf.folder / part.name)


def erasures(connection: sqlite3.Connection) -> int:
    """How often something was erased from the store; from 1, so that none is known from never asked."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'erasures'").fetchone()
    return 1 if row is None else int(row[0])


def _count_erasure(connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO meta VALUES ('erasures', ?)", (str(erasures(connection) + 1),)
    )


def _holds(path: Path, pattern: re.Pattern[bytes]) -> bool:
    """Whether a file's bytes match, however large it is."""
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return pattern.search(content) is not None


def _left(path: Path) -> StoreError:
    return StoreError(f"{path}: it still holds the number; run it again, or delete the store")


def _alone(database: Database, shelf: Shelf, work: Callable[[], T]) -> T:
    """Do something while nobody else writes files; a damaged one is set aside, and deleted, first."""

    def alone() -> T:
        with exclusive(database.folder / PARTS_LOCK, wait=True):
            return work()

    return without_damaged(database, shelf, alone)


def _delete_files(database: Database, shelf: Shelf) -> None:
    """Delete replaced parts whoever reads them, and damaged ones, of which nobody knows what they hold."""
    with database.reading() as connection:
        dead = dead_parts(connection)
    shelf.remove(dead)
    left = shelf.names()
    with database.writing() as connection:
        drop_parts(connection, sorted(set(dead) - left))
    damaged = shelf.folder.parent / DAMAGED
    for path in damaged.iterdir() if damaged.is_dir() else ():
        path.unlink(missing_ok=True)
