"""One SQLite file: who may read and who writes, a transaction each; knows no table but its own mark.

WAL keeps readers and the one writer apart: a reader sees the last commit, whole. `synchronous =
NORMAL` loses nothing when the process is killed, which is what is promised.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dialframe.errors import ConfigError

FILE = "sandbox.sqlite"
LOCK = "in-use.sqlite"

# What a start that was broken off may have left.
_OURS = {LOCK, FILE.replace(".sqlite", ".new")}

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA busy_timeout = 10000",
    "PRAGMA cache_size = -65536",
    "PRAGMA temp_store = MEMORY",
)


class Database:
    """Connections to one file, which nobody else may have open.

    A folder without the file gets one: `fill` writes it, and it gets its name when it is whole, so
    that a start that was broken off leaves nothing behind.
    """

    def __init__(self, folder: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
        _own(folder)
        self._lock_file = _exclusive(folder)
        self._path = folder / FILE
        self._idle: list[sqlite3.Connection] = []
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        try:
            if not self._path.exists():
                _create(self._path, fill)
            self._writer = self._open()
        except BaseException:
            self._lock_file.close()
            raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment of the data from the first question to the last."""
        with self._guard:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._open()
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.rollback()
            with self._guard:
                self._idle.append(connection)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """The one writing connection: all that is done with it is kept, or after an error nothing."""
        with self._writing:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.rollback()
                raise
            self._writer.commit()

    def interrupt(self) -> None:
        """Break off every statement that is running: the sandbox is about to end."""
        for connection in list(self._all):
            connection.interrupt()

    def close(self) -> None:
        """Close every connection and let others have the folder."""
        with self._writing, self._guard:
            for connection in self._all:
                connection.close()
            self._all.clear()
            self._idle.clear()
            self._lock_file.close()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        with self._guard:
            self._all.append(connection)
        return connection


def _create(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    _make_private(unfinished)
    connection = sqlite3.connect(unfinished, isolation_level=None)
    try:
        # Nobody reads it before it is finished: it needs neither journal nor order of writes.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -262144")
        connection.execute("BEGIN")
        fill(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        unfinished.unlink()
        raise
    connection.close()
    unfinished.replace(path)


def _own(folder: Path) -> None:
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
    elif not folder.is_dir():
        raise ConfigError(f"the sandbox's data folder {folder} is a file: name a folder")
    elif not {path.name for path in folder.iterdir()} <= _OURS and not (folder / FILE).exists():
        raise ConfigError(
            f"the folder {folder} holds other files: name an empty folder or one of a sandbox"
        )
    folder.chmod(0o700)


def _exclusive(folder: Path) -> sqlite3.Connection:
    path = folder / LOCK
    _make_private(path)
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=0.2)
    try:
        # Held while the process lives; the system lets go of it when the process is killed.
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        connection.close()
        raise ConfigError(
            f"another sandbox is using the folder {folder}: stop it, or name another folder"
        ) from None
    return connection


def _make_private(path: Path) -> None:
    # Made before SQLite opens it; its journal files take their mode from it.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)
