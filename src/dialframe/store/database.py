"""Opens the store's SQLite file: connections, transactions, permissions, its schema, and its failures in words."""

from __future__ import annotations

import errno
import os
import re
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from dialframe.errors import StoreError
from dialframe.evidence import EvidenceLog
from dialframe.files import FOLDER_MODE, exclusive, folder
from dialframe.sqlite import connect, make_private
from dialframe.store.catalog import read_meta, write_meta
from dialframe.store.layouts import LAYOUTS
from dialframe.store.parts import Shelf

FILE: Final = "store.sqlite"
BUSY_S: Final = 30.0

#: `PRAGMA application_id`: tells a store from any other SQLite file.
APPLICATION_ID: Final = 0x64666D73
#: That of the layouts of before 0.1.0.
_OLD_ID: Final = 0x64666D65

#: Held by who writes, merges or deletes parts.
PARTS_LOCK: Final = "lock.parts"
#: Shared by who reads parts, so that none is deleted under them.
LEASE: Final = "lock.reading"
#: Held by whose turn it is to write next.
TURN_LOCK: Final = "lock.turn"

#: Numbered files of SQL: each brings a store to the layout of its number from that of the number before.
MIGRATIONS: Final = resources.files("dialframe.store").joinpath("migrations")
_NEEDS: Final = re.compile(r"-- needs dialframe (\S+)")

#: What the system says of a folder in which nothing may be written.
_NOT_OURS_TO_WRITE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

_RESTORE: Final = "bring a backup back with dialframe store restore"
#: SQLite's result codes, primary part, in words that name the next step.
WORDS: Final[dict[int, str]] = {
    sqlite3.SQLITE_FULL: "the disk is full; what was stored before is intact: make room and run it again",
    sqlite3.SQLITE_BUSY: "another process has been writing to it for too long; try again",
    sqlite3.SQLITE_LOCKED: "another connection is using it; try again",
    sqlite3.SQLITE_CORRUPT: f"the file is damaged; {_RESTORE}",
    sqlite3.SQLITE_ERROR: f"its tables are not those that were made; {_RESTORE}",
    sqlite3.SQLITE_NOTADB: f"this is not a store, or it is damaged; {_RESTORE}",
    sqlite3.SQLITE_READONLY: "it may not be written to; check the folder's permissions",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that the folder exists and is yours",
    sqlite3.SQLITE_PERM: "permission is denied; check the folder's permissions",
    sqlite3.SQLITE_IOERR: "the disk refused; check its space and health, then run it again",
}


class Database:
    """A pool of connections to one store file; threads and processes may use it at once.

    Attributes:
        folder: The folder that holds everything.
        path: The SQLite file.
        shelf: The parts that the file names.
        evidence: The evidence log, which knows who was erased, and the keys by which they are recognized.
        read_only: Whether the folder may not be written to, so that it can only be read.
    """

    def __init__(
        self,
        folder: Path,
        *,
        evidence: EvidenceLog | None = None,
        busy_s: float = BUSY_S,
        migrations: Traversable = MIGRATIONS,
    ) -> None:
        """Open the store file of a folder, making both where they are not there yet.

        Args:
            folder: The folder.
            evidence: The evidence log; None for the one beside the store's folder.
            busy_s: How long to wait for another process's transaction.
            migrations: The folder of the numbered SQL files.

        Raises:
            StoreError: It cannot be opened, is damaged, is something else, or is of a newer dialframe.
        """
        self.folder = folder
        self.path = folder / FILE
        self.shelf = Shelf(folder)
        self.evidence = evidence or EvidenceLog.beside(folder.parent)
        self.read_only = False
        self._immutable = False
        self._busy_s = busy_s
        self._migrations = _number_migrations(migrations)
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._process = os.getpid()
        with translated(self.path):
            self._make()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one read transaction: everything read is of one moment."""
        with translated(self.path), self._borrow() as connection:
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one write transaction: all of it happens, or nothing.

        Raises:
            StoreError: The disk is full or refuses; everything is as it was.
        """
        self._refuse_read_only()
        with translated(self.path), self._borrow() as connection:
            # SQLite only asks for its lock again after pauses of up to 100 ms (sqliteDefaultBusyCallback in its
            # main.c), so that one who writes without pause takes it every time in between. Here the one who has just
            # written stands behind whoever is waiting, whom the system wakes (flock(2)).
            with exclusive(self.folder / TURN_LOCK, wait=True):
                connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    def compact(self) -> None:
        """Rewrite the file without what was erased, and empty its log.

        Raises:
            StoreError: Somebody is still reading, so that old bytes may remain.
        """
        self._refuse_read_only()
        with (
            translated(self.path),
            self._borrow() as connection,
            exclusive(self.folder / TURN_LOCK, wait=True),
        ):
            # `secure_delete` overwrites what is deleted; this gives back the pages, and their copies in the log.
            connection.execute("VACUUM")
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreError(
                f"{self.path}: another process is still reading, so old bytes may remain in its log; "
                "close the other process and run it again"
            )

    def close(self) -> None:
        """Close every connection that is not in use."""
        with self._guard:
            idle, self._idle = self._idle, []
        if self._process == os.getpid():
            for connection in idle:
                connection.close()

    def _refuse_read_only(self) -> None:
        if self.read_only:
            raise StoreError(f"{self.path}: {WORDS[sqlite3.SQLITE_READONLY]}")

    @contextmanager
    def _borrow(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            if self._process != os.getpid():
                # A connection must not cross a fork: the child leaves the parent's alone.
                self._idle, self._process = [], os.getpid()
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = connect(
                self.path,
                read_only=self.read_only,
                immutable=self._immutable,
                busy_s=self._busy_s,
                across_threads=True,
            )
        try:
            yield connection
        except BaseException:
            # Closing it rolls back; the next one gets another, whatever state this one is in.
            connection.close()
            raise
        with self._guard:
            self._idle.append(connection)

    def _make(self) -> None:
        try:
            folder(self.folder)
            if not os.access(self.folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.folder))
            self.folder.chmod(FOLDER_MODE)
        except OSError as error:
            # A folder that is not ours to write to may still be read.
            if error.errno not in _NOT_OURS_TO_WRITE or not self.path.is_file():
                raise
            self._open_to_read()
            return
        # One at a time: two processes that both find no schema would both make it.
        with exclusive(self.folder / "lock.schema", wait=True):
            empty = not self.path.exists() or not self.path.stat().st_size
            # A new file would name none of the parts, and the first sweep would set them aside.
            if empty and self.shelf.names():
                raise StoreError(
                    f"{self.path}: it is missing or empty, and the files that it named are still here; {_RESTORE}"
                )
            make_private(self.path)
            with self._borrow() as connection:
                self._migrate(connection)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Bring the file to the layout of today, one numbered file of SQL after the other."""
        version = self._version(connection)
        latest = max(self._migrations)
        if version == latest:
            return
        if not version:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        for number in range(version + 1, latest + 1):
            text = self._migrations[number].read_text("utf-8")
            for statement in _statements(text):
                connection.execute(statement)
            needs = _NEEDS.search(text)
            write_meta(connection, "needs", needs[1] if needs else None)
        if not version:
            # Names its publications; drawn, so that it says nothing of whose it is.
            write_meta(connection, "store_id", secrets.token_hex(8))
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.executemany(
            "INSERT OR IGNORE INTO tally VALUES (?, 0, NULL)", [(one.name,) for one in LAYOUTS]
        )
        connection.execute(f"PRAGMA user_version = {latest}")
        connection.execute("COMMIT")

    def _version(self, connection: sqlite3.Connection) -> int:
        """The layout that the file has; 0 for a new one.

        Raises:
            StoreError: It is something else, of before 0.1.0, or of a newer dialframe.
        """
        application, version, tables = (
            connection.execute(sql).fetchone()[0]
            for sql in (
                "PRAGMA application_id",
                "PRAGMA user_version",
                "SELECT count(*) FROM sqlite_schema",
            )
        )
        if application == _OLD_ID:
            raise StoreError(
                f"{self.path}: this store was made by a dialframe of before 0.1.0 and is left as it is; move "
                f"{self.folder} away, or choose another folder with --store, and sync again"
            )
        if not application and not version and not tables:
            return 0
        if application != APPLICATION_ID:
            raise StoreError(f"{self.path}: this is a SQLite file, but not a store")
        if version > max(self._migrations):
            needs = read_meta(connection, "needs")
            raise StoreError(
                f"{self.path}: it was written by a newer dialframe; it needs {needs or 'a later version'} or later: "
                "pip install -U dialframe"
            )
        return int(version)

    def _open_to_read(self) -> None:
        self.read_only = True
        try:
            self._refuse_other()
        except sqlite3.OperationalError:
            log = self.path.with_name(self.path.name + "-wal")
            if log.exists() and log.stat().st_size:
                raise StoreError(
                    f"{self.path}: its log holds changes that only a writer can bring in, and the "
                    "folder may not be written to; open it once where it may be"
                ) from None
            # Nobody can write here and no log is left: the file alone is the whole state.
            self._immutable = True
            self._refuse_other()

    def _refuse_other(self) -> None:
        with self._borrow() as connection:
            if self._version(connection) != max(self._migrations):
                raise StoreError(
                    f"{self.path}: it is of an older dialframe; open it once where it may be written to"
                )


def _number_migrations(migrations: Traversable) -> dict[int, Traversable]:
    return {
        int(file.name.removesuffix(".sql")): file
        for file in migrations.iterdir()
        if file.name.endswith(".sql")
    }


def _statements(text: str) -> Iterator[str]:
    """Statements one by one: `executescript` would commit between them."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say of a file into one `StoreError`."""
    try:
        yield
    except sqlite3.Error as error:
        # Python 3.11 gives the extended code, whose low byte is the primary one.
        code = getattr(error, "sqlite_errorcode", None)
        known = WORDS.get(code & 0xFF) if isinstance(code, int) else None
        raise StoreError(f"{path}: {known or error}") from error
    except OSError as error:
        # The parts are files of our own, and the disk is the same.
        words = WORDS[sqlite3.SQLITE_FULL] if error.errno == errno.ENOSPC else error.strerror
        raise StoreError(f"{path}: {words or error}; choose another folder") from error
