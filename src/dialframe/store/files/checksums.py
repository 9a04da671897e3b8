"""Holds every table of the SQLite file by a count and a digest of its rows, so that no change goes unnoticed.

SQLite checks the form of its pages, not their content: a flipped bit in a number, or a row that is no longer
pointed to, is read as if it had been written so. So each row has a hash, and each table the sum of its rows'
hashes, which is kept up to date by triggers (a sum, because it does not depend on the order of rows). A bulk
read adds the hashes up again and compares.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Literal

from dialframe.store.files.table_layouts import LAYOUTS

#: Tables with few rows, all of which are compared before anything is believed.
SMALL: Final = (
    "meta", "checkpoint", "forgotten", "quarantine", "part", "patch", "tally", "scope", "damage",
    "verdict",
)  # fmt: skip
#: Versions that wait in SQLite, and the latest version of each key.
TAILS: Final = tuple(layout.versions for layout in LAYOUTS)
HEADS: Final = tuple(layout.heads for layout in LAYOUTS)
TABLES: Final = (*SMALL, *TAILS, *HEADS)
PERSONAL: Final = frozenset({"quarantine", *TAILS, *HEADS})

_NOTE: Final = "dialframe_note"
_LIMIT: Final = 1 << 63

Act = Literal["+", "-", "~"]
#: One changed row: the table, what happened (added, deleted, replaced), and its values.
Change = tuple[str, Act, tuple[Any, ...]]


@dataclass(slots=True)
class Changes:
    """What one write transaction has changed so far.

    Attributes:
        rows: Every changed row, in order.
        sums: By table, by how much its count and its digest change.
        erased: Whether rows about persons were deleted or rewritten, so that no older record may keep them.
    """

    rows: list[Change] = field(default_factory=list)
    sums: dict[str, tuple[int, int]] = field(default_factory=dict)
    erased: bool = False

    def note(self, table: str, act: Act, *values: Any) -> None:
        """Take one row's change in: called by the triggers."""
        width = len(values) // 2
        if act == "~":
            old, new = values[:width], values[width:]
            if old == new:
                return
            self._add(table, 0, hash_of(new) - hash_of(old))
            # What follows a version stands in its last two columns; any other change is an erasure.
            self.erased = self.erased or (table in TAILS and old[:-2] != new[:-2])
            self.rows.append((table, act, new))
            return
        sign = 1 if act == "+" else -1
        self._add(table, sign, sign * hash_of(values))
        self.erased = self.erased or (act == "-" and table in PERSONAL)
        self.rows.append((table, act, values))

    def clear(self) -> None:
        """Forget a transaction that is over."""
        self.rows.clear()
        self.sums.clear()
        self.erased = False

    def _add(self, table: str, rows: int, digest: int) -> None:
        known = self.sums.get(table, (0, 0))
        self.sums[table] = (known[0] + rows, known[1] + digest)


def hash_of(values: Sequence[Any]) -> int:
    """Hash of one row's values, 63 bits."""
    return int.from_bytes(blake2b(repr(tuple(values)).encode(), digest_size=8).digest()) % _LIMIT


def watch(connection: sqlite3.Connection) -> Changes:
    """Take note of every row that this connection changes from now on.

    Args:
        connection: A connection for writing, outside of a transaction.

    Returns:
        What has been changed; to be cleared after each transaction.
    """
    changes = Changes()
    connection.create_function(_NOTE, -1, changes.note)
    # Without this a row that REPLACE deletes would leave its table unnoticed.
    connection.execute("PRAGMA recursive_triggers = ON")
    for table in TABLES:
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        new = ", ".join(f'NEW."{name}"' for name in columns)
        old = ", ".join(f'OLD."{name}"' for name in columns)
        for act, event, values in (
            ("+", "INSERT", new), ("-", "DELETE", old), ("~", "UPDATE", f"{old}, {new}"),
        ):  # fmt: skip
            connection.execute(
                f"CREATE TEMP TRIGGER note_{event}_{table} AFTER {event} ON main.{table} "
                f"BEGIN SELECT {_NOTE}('{table}', '{act}', {values}); END"
            )
    return changes


def unwatch(connection: sqlite3.Connection) -> None:
    """Take the triggers off a connection again."""
    for table in TABLES:
        for event in ("INSERT", "DELETE", "UPDATE"):
            connection.execute(f"DROP TRIGGER temp.note_{event}_{table}")


def settle(connection: sqlite3.Connection, changes: Changes) -> None:
    """Bring the tables' counts and digests up to date, inside the transaction that changed them."""
    for table, (rows, digest) in changes.sums.items():
        known = connection.execute(
            "SELECT rows, digest FROM checksum WHERE name = ?", (table,)
        ).fetchone()
        connection.execute(
            "UPDATE checksum SET rows = ?, digest = ? WHERE name = ?",
            (known[0] + rows, (known[1] + digest) % _LIMIT, table),
        )


def recount(connection: sqlite3.Connection) -> None:
    """Take the tables as they are for right: after they were made or rebuilt, inside a transaction."""
    for table in TABLES:
        rows, digest = _counted(connection, table)
        connection.execute(
            "INSERT OR REPLACE INTO checksum VALUES (?, ?, ?)", (table, rows, digest)
        )


def differing(connection: sqlite3.Connection, tables: Iterable[str]) -> list[str]:
    """Names of tables whose rows are not those that were written.

    Args:
        connection: Inside a transaction.
        tables: The tables to compare.
    """
    known = {
        name: (rows, digest)
        for name, rows, digest in connection.execute("SELECT name, rows, digest FROM checksum")
    }
    return [table for table in tables if _counted_or_none(connection, table) != known.get(table)]


def _counted_or_none(connection: sqlite3.Connection, table: str) -> tuple[int, int] | None:
    """The count and digest of a table's rows; None where one of them holds bytes that are no text."""
    try:
        return _counted(connection, table)
    except UnicodeDecodeError:
        return None
    except sqlite3.OperationalError as error:
        # Python says so of text that it cannot decode; what SQLite itself says has a code.
        if getattr(error, "sqlite_errorcode", None) is not None:
            raise
        return None


def _counted(connection: sqlite3.Connection, table: str) -> tuple[int, int]:
    rows = digest = 0
    for values in connection.execute(f"SELECT * FROM {table}"):
        rows += 1
        digest += hash_of(values)
    return rows, digest % _LIMIT
