"""Keeps what the SQLite file holds a second time: a log of every change, each record chained to the one before.

The log is on the disk before the transaction is committed. It begins with the whole content of the file (but
for the heads, which follow from the versions) and goes on with one record for each transaction. A record is a
line of JSON and a short line `#<number> <hash>`; its hash is SHA-256 over the hash before it and the JSON, so
that no record can be changed, left out or put elsewhere unnoticed. What can be deleted (a person, an old row)
must not stay in older records: where versions are deleted, the log begins anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from dialframe import files
from dialframe.store.files.checksums import HEADS, SMALL, TAILS, Change

FOLDER: Final = "copy"
LOG: Final = "changes.log"
PARTS: Final = "parts"
#: From this size on the log begins anew.
LOG_BYTES: Final = 32 << 20
#: What the first record of a new store is chained to.
ORIGIN: Final = "0" * 64

_ENDS: Final = re.compile(rb"\n#(\d{1,18}) ([0-9a-f]{64})\n")
_END: Final = re.compile(_ENDS.pattern + rb"\Z")
_END_BYTES: Final = 128


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a log or a file has come: the number of its last transaction, and the chain's hash there."""

    number: int
    digest: str


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


class SecondCopy:
    """The log beside one store's SQLite file."""

    def __init__(self, folder: Path) -> None:
        """The copy of the store in a folder; nothing is made yet."""
        self.folder = folder / FOLDER
        self.path = self.folder / LOG

    def last(self) -> Mark | None:
        """The last record's mark; None where there is no log, or none that ends with one."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _END_BYTES))
                end = _END.search(file.read())
        except FileNotFoundError:
            return None
        return None if end is None else Mark(int(end[1]), end[2].decode())

    @property
    def size_bytes(self) -> int:
        """Size of the log."""
        return self.path.stat().st_size if self.path.exists() else 0

    def append(self, changes: Sequence[Change], before: Mark) -> Mark:
        """Write one transaction to the disk, behind the last record.

        Raises:
            OSError: The disk is full or refuses; the log is as it was.
        """
        text = _encoded({"changes": changes})
        mark = Mark(before.number + 1, _chained(before.digest, text))
        size = self.size_bytes
        try:
            with self.path.open("ab") as file:
                file.write(_lines(text, mark))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self.cut(size)
            raise
        return mark

    def cut(self, size_bytes: int) -> None:
        """Take back what was appended by a transaction that failed."""
        if self.size_bytes > size_bytes:
            os.truncate(self.path, size_bytes)

    def stage(self, connection: sqlite3.Connection, before: Mark) -> tuple[Mark, Path]:
        """Write a log that begins with everything as it is now, under a name of its own.

        Args:
            connection: Inside the transaction whose outcome is to be written.
            before: The mark to chain it to.

        Returns:
            The mark of its one record, and where it is until `files.publish` gives it its name.

        Raises:
            OSError: The disk is full or refuses.
        """
        files.folder(self.folder)
        digest = hashlib.sha256(before.digest.encode())

        def fill(file: BinaryIO) -> None:
            for text in _snapshot(connection, before):
                data = text.encode("utf-8", "surrogatepass")
                digest.update(data)
                file.write(data)
            file.write(f"\n#{before.number + 1} {digest.hexdigest()}\n".encode())

        staged = files.stage(self.path, fill)
        return Mark(before.number + 1, digest.hexdigest()), staged

    def records(self) -> Iterator[Record]:
        """Every record, oldest first, damaged ones among them."""
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        previous: str | None = None
        start = 0
        for end in _ENDS.finditer(data):
            text, start = data[start : end.start()], end.end()
            mark = Mark(int(end[1]), end[2].decode())
            content = _decoded(text)
            before = previous or str(content.get("before", ORIGIN))
            # A hash that was changed itself breaks two records, never more.
            yield Record(mark, _chained(before, text) == mark.digest, content)
            previous = mark.digest

    def cut_torn_end(self) -> None:
        """Take back the beginning of a record whose writer was killed."""
        if self.path.exists() and self.last() is None:
            ends = [end.end() for end in _ENDS.finditer(self.path.read_bytes())]
            self.cut(ends[-1] if ends else 0)


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
    return [(name, place) for place, name, *_, key in columns if key]


def _known(table: str) -> str:
    if table not in (*SMALL, *TAILS, *HEADS):
        raise ValueError(f"the second copy names a table {table!r} that there is not")
    return table


def _snapshot(connection: sqlite3.Connection, before: Mark) -> Iterator[str]:
    """JSON of every table but the heads, piece by piece."""
    yield f'{{"before":"{before.digest}","begin":{{'
    for place, table in enumerate((*SMALL, *TAILS)):
        yield ("," if place else "") + f'"{table}":['
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


def _chained(before: str, text: bytes) -> str:
    return hashlib.sha256(before.encode() + text).hexdigest()


def _lines(text: bytes, mark: Mark) -> bytes:
    return text + f"\n#{mark.number} {mark.digest}\n".encode()
