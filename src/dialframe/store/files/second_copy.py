"""Keeps what the SQLite file holds a second time: a chained log of every change.

The log is on the disk before the transaction is committed. It begins with the whole content of the file (but
for the heads, which follow from the versions) and goes on with one record for each transaction. What can be
deleted (a person, an old row) must not stay in older records: where versions are deleted, the log begins anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dialframe.chained_log import ChainedLog, Mark
from dialframe.store.files.checksums import HEADS, SMALL, TAILS, Change

FOLDER: Final = "copy"
LOG: Final = "changes.log"
PARTS: Final = "parts"
#: From this size on the log begins anew.
LOG_BYTES: Final = 32 << 20


@dataclass(frozen=True, slots=True)
class Record:
    """One transaction of the log.

    Attributes:
        mark: Its number and hash, as written.
        whole: Whether the hash is that of its content and of the record before.
        content: Its JSON: `begin` (whole tables by name) or `changes`; empty where it cannot be read.
    """

    mark: Mark
    whole: bool
    content: dict[str, Any]


def log_of(store: Path) -> ChainedLog:
    """The log beside a store's SQLite file; nothing is made yet."""
    return ChainedLog(store / FOLDER / LOG)


def note(log: ChainedLog, changes: Sequence[Change], before: Mark) -> Mark:
    """Write one transaction to the disk, behind the last record.

    Raises:
        OSError: The disk is full or refuses; the log is as it was.
    """
    return log.append(_encoded({"changes": changes}), before)


def begin_anew(log: ChainedLog, connection: sqlite3.Connection, before: Mark) -> tuple[Mark, Path]:
    """Write a log that begins with everything as it is now, under a name of its own.

    Args:
        log: The log whose place it is to take.
        connection: Inside the transaction whose outcome is to be written.
        before: The mark to chain it to.

    Returns:
        The mark of its one record, and where it is until `files.publish` gives it its name.

    Raises:
        OSError: The disk is full or refuses.
    """
    pieces = _snapshot(connection, before)
    return log.stage((text.encode("utf-8", "surrogatepass") for text in pieces), before)


def records(log: ChainedLog) -> Iterator[Record]:
    """Every record, oldest first, damaged ones among them."""
    for line in log.lines():
        yield Record(line.mark, line.whole, _decoded(line.text))


def apply(connection: sqlite3.Connection, content: dict[str, Any]) -> None:
    """Bring a record's content into a file, inside a write transaction."""
    for table, rows in content.get("begin", {}).items():
        connection.execute(f"DELETE FROM {_known(table)}")
        for row in rows:
            _put(connection, table, row)
    for table, act, row in content.get("changes", ()):
        if act == "-":
            key = _key(connection, _known(table))
            where = " AND ".join(f"{name} IS ?" for name, _ in key)
            connection.execute(f"DELETE FROM {table} WHERE {where}", [row[at] for _, at in key])
        else:
            _put(connection, table, row)


def _put(connection: sqlite3.Connection, table: str, row: Sequence[Any]) -> None:
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT OR REPLACE INTO {_known(table)} VALUES ({marks})", tuple(row))


def _key(connection: sqlite3.Connection, table: str) -> list[tuple[str, int]]:
    """Names and places of a table's key columns."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [(name, position) for position, name, *_, key in columns if key]


def _known(table: str) -> str:
    if table not in (*SMALL, *TAILS, *HEADS):
        raise ValueError(f"the second copy names a table {table!r} that there is not")
    return table


def _snapshot(connection: sqlite3.Connection, before: Mark) -> Iterator[str]:
    """JSON of every table but the heads, piece by piece."""
    yield f'{{"before":"{before.digest}","begin":{{'
    for position, table in enumerate((*SMALL, *TAILS)):
        yield ("," if position else "") + f'"{table}":['
        separator = ""
        for row in connection.execute(f"SELECT * FROM {table}"):
            yield separator + _encoded(row).decode("utf-8", "surrogatepass")
            separator = ","
        yield "]"
    yield "}}"


def _encoded(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_bytes_as_json)
    return text.encode("utf-8", "surrogatepass")


def _bytes_as_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    raise TypeError(f"{type(value).__name__} is no value of SQLite")


def _decoded(text: bytes) -> dict[str, Any]:
    def bytes_again(value: dict[str, Any]) -> Any:
        return bytes.fromhex(value["bytes"]) if list(value) == ["bytes"] else value

    try:
        content = json.loads(text.decode("utf-8", "surrogatepass"), object_hook=bytes_again)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
