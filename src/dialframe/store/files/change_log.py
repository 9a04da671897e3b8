"""Notes every change to the SQLite file: digests that its tables are held to, and a log to make it anew from.

SQLite checks the form of its pages, not their content: a flipped bit in a number, or a row that is no longer
pointed to, is read as if it had been written so. So each row has a hash, and each table the sum of its rows'
hashes, which is kept up to date by triggers (a sum, because it does not depend on the order of rows). A bulk
read adds the hashes up again and compares.

The same changes are written a second time: to a chained log that is on the disk before the transaction is
committed. It begins with the whole content of the file (but for the heads, which follow from the versions) and
goes on with one record for each transaction. What can be deleted (a person, an old row) must not stay in older
records: where versions are deleted, the log begins anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from dialframe.chained_log import ChainedLog, Mark, encoded
from dialframe.sqlite import counted, row_hash
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
        # Of an update the trigger gives the row before and after it.
        width = len(values) // 2
        if act == "~":
            old, new = values[:width], values[width:]
            if old == new:
                return
            self._add(table, 0, row_hash(new) - row_hash(old))
            # What follows a version stands in its last two columns; any other change is an erasure.
            self.erased = self.erased or (table in TAILS and old[:-2] != new[:-2])
            self.rows.append((table, act, new))
            return
        sign = 1 if act == "+" else -1
        self._add(table, sign, sign * row_hash(values))
        self.erased = self.erased or (act == "-" and table in PERSONAL)
        self.rows.append((table, act, values))

    def clear(self) -> None:
        """Forget a transaction that is over."""
        self.rows.clear()
        self.sums.clear()
        self.erased = False

    def _add(self, table: str, rows: int, digest: int) -> None:
        # Of this transaction; `settle` adds them to what the file holds.
        known = self.sums.get(table, (0, 0))
        self.sums[table] = (known[0] + rows, known[1] + digest)


def watch(connection: sqlite3.Connection) -> Changes:
    """Take note of every row that this connection changes from now on; to be cleared after each transaction."""
    changes = Changes()
    connection.create_function(_NOTE, -1, changes.note)
    # Without this a row that REPLACE deletes would leave its table unnoticed.
    connection.execute("PRAGMA recursive_triggers = ON")
    for table in TABLES:
        # Of the connection alone: another program that opens the file finds no trigger of ours.
        # Of the file as it is: one of an older layout has other columns.
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
    """Names of those tables whose rows are not those that were written."""
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
    return counted(connection.execute(f"SELECT * FROM {table}"), _LIMIT)


FOLDER: Final = "copy"
LOG: Final = "changes.log"
PARTS: Final = "parts"
#: From this size on the log begins anew.
LOG_BYTES: Final = 32 << 20


def log_of(store: Path) -> ChainedLog:
    """The log beside a store's SQLite file; nothing is made yet."""
    return ChainedLog(store / FOLDER / LOG)


def begin_anew(log: ChainedLog, connection: sqlite3.Connection, before: Mark) -> tuple[Mark, Path]:
    """Write a log that begins with everything as this transaction leaves it; see `ChainedLog.stage`."""
    pieces = _snapshot(connection, before)
    return log.stage((text.encode("utf-8", "surrogatepass") for text in pieces), before)


def apply(connection: sqlite3.Connection, content: dict[str, Any]) -> None:
    """Bring a record's content into a file, inside a write transaction."""
    for table, rows in content.get("begin", {}).items():
        # A whole table: what was there before came from an older record.
        connection.execute(f"DELETE FROM {_known(table)}")
        for row in rows:
            _put(connection, table, row)
    for table, act, row in content.get("changes", ()):
        if act == "-":
            columns = connection.execute(f"PRAGMA table_info({_known(table)})").fetchall()
            key = [(name, position) for position, name, *_, is_key in columns if is_key]
            # `IS`, for a key may be null.
            where = " AND ".join(f"{name} IS ?" for name, _ in key)
            connection.execute(f"DELETE FROM {table} WHERE {where}", [row[at] for _, at in key])
        else:
            _put(connection, table, row)


def _put(connection: sqlite3.Connection, table: str, row: Sequence[Any]) -> None:
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT OR REPLACE INTO {_known(table)} VALUES ({marks})", tuple(row))


def _known(table: str) -> str:
    if table not in (*SMALL, *TAILS, *HEADS):
        raise ValueError(f"the second copy names a table {table!r} that there is not")
    return table


def _snapshot(connection: sqlite3.Connection, before: Mark) -> Iterator[str]:
    """JSON of every table but the heads, piece by piece."""
    # Piece by piece: a large store would not fit into memory twice.
    yield f'{{"before":"{before.digest}","begin":{{'
    for position, table in enumerate((*SMALL, *TAILS)):
        yield ("," if position else "") + f'"{table}":['
        separator = ""
        for row in connection.execute(f"SELECT * FROM {table}"):
            yield separator + encoded(row).decode("utf-8", "surrogatepass")
            separator = ","
        yield "]"
    yield "}}"
