"""One SQLite file: connections, transactions, permissions, and its failures in words; knows no rows."""

from __future__ import annotations

import errno
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from dialframe.errors import StoreError
from dialframe.store.layout import APPLICATION_ID, SCHEMA_VERSION, additions, statements
from dialframe.store.lock import exclusive

FILE: Final = "store.sqlite"
BUSY_S: Final = 30.0

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600

#: What the system says of a folder in which nothing may be written.
_NOT_OURS_TO_WRITE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

#: SQLite's result codes, primary part, in words that name the next step.
WORDS: Final[dict[int, str]] = {
    sqlite3.SQLITE_FULL: "the disk is full; what was stored before is intact: make room and run it again",
    sqlite3.SQLITE_BUSY: "another process has been writing to it for too long; try again",
    sqlite3.SQLITE_LOCKED: "another connection is using it; try again",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; move it away and sync again, or restore a copy",
    sqlite3.SQLITE_NOTADB: "this is not a store, or it is damaged; move it away and sync again",
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
        read_only: Whether the folder may not be written to, so that it can only be read.
    """

    def __init__(self, folder: Path, *, busy_s: float = BUSY_S) -> None:
        """Open the store file of a folder, making both where they are not there yet.

        Args:
            folder: The folder.
            busy_s: How long to wait for another process's transaction.

        Raises:
            StoreError: It cannot be opened, is damaged, is something else, or is of a newer dialframe.
        """
        self.folder = folder
        self.path = folder / FILE
        self.read_only = False
        self._immutable = False
        self._busy_s = busy_s
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._process = os.getpid()
        with translated(self.path):
            self._make()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one read transaction: everything read is of one moment."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one write transaction: all of it happens, or nothing."""
        if self.read_only:
            raise StoreError(f"{self.path}: {WORDS[sqlite3.SQLITE_READONLY]}")
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def compact(self) -> None:
        """Rewrite the file without what was erased, and empty its log.

        Raises:
            StoreError: Somebody is still reading, so that old bytes may remain.
        """
        if self.read_only:
            raise StoreError(f"{self.path}: {WORDS[sqlite3.SQLITE_READONLY]}")
        with translated(self.path), self._borrowed() as connection:
            connection.execute("VACUUM")
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
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

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with translated(self.path), self._borrowed() as connection:
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        connection = self._taken() or self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._guard:
            self._idle.append(connection)

    def _taken(self) -> sqlite3.Connection | None:
        with self._guard:
            if self._process != os.getpid():
                # A connection must not cross a fork: the child leaves the parent's alone.
                self._idle, self._process = [], os.getpid()
            return self._idle.pop() if self._idle else None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._address(),
            uri=True,
            timeout=self._busy_s,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            if not self.read_only:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _address(self) -> str:
        mode = "immutable=1" if self._immutable else "mode=ro" if self.read_only else "mode=rw"
        return f"file:{quote(str(self.path.absolute()))}?{mode}"

    def _make(self) -> None:
        try:
            self._make_folder()
        except OSError as error:
            if error.errno not in _NOT_OURS_TO_WRITE or not self.path.is_file():
                raise
            self._open_to_read()
            return
        # One at a time: two processes that both find no schema would both make it.
        with exclusive(self.folder / "lock.schema", wait=True), self._borrowed() as connection:
            self._make_schema(connection)

    def _make_folder(self) -> None:
        for folder in (*reversed(self.folder.parents), self.folder):
            # One by one: the parents that `parents=True` makes would be open to all.
            if not folder.exists():
                folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.folder))
        self.folder.chmod(FOLDER_MODE)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, FILE_MODE))
        self.path.chmod(FILE_MODE)

    def _open_to_read(self) -> None:
        self.read_only = True
        try:
            self._check_version()
        except sqlite3.OperationalError:
            log = self.path.with_name(self.path.name + "-wal")
            if log.exists() and log.stat().st_size:
                raise StoreError(
                    f"{self.path}: its log holds changes that only a writer can bring in, and the "
                    "folder may not be written to; open it once where it may be"
                ) from None
            # Nobody can write here and no log is left: the file alone is the whole state.
            self._immutable = True
            self._check_version()

    def _check_version(self) -> None:
        with self._borrowed() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            application = connection.execute("PRAGMA application_id").fetchone()[0]
        self._refuse_foreign(version, application)
        if version < SCHEMA_VERSION:
            raise StoreError(
                f"{self.path}: it was written by an older dialframe (layout {version}) and the folder "
                "may not be written to; open it once where it may be"
            )

    def _refuse_foreign(self, version: int, application: int) -> None:
        if application != APPLICATION_ID:
            raise StoreError(f"{self.path}: this is another program's file; choose another folder")
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path}: it was written by a newer dialframe (layout {version}, this one reads "
                f"{SCHEMA_VERSION}); update dialframe"
            )

    def _make_schema(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        empty = connection.execute("SELECT count(*) = 0 FROM sqlite_schema").fetchone()[0]
        if version == 0 and empty:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in statements():
                connection.execute(statement)
            key = json.dumps(secrets.token_hex(32))
            connection.execute("INSERT INTO meta VALUES ('forget_key', ?)", (key,))
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
            return
        self._refuse_foreign(version, application)
        if version < SCHEMA_VERSION:
            present = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            names = frozenset(name for (name,) in present)
            connection.execute("BEGIN IMMEDIATE")
            for statement in additions(names):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say of a file into one `StoreError`."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        known = WORDS.get(code & 0xFF) if isinstance(code, int) else None
        raise StoreError(f"{path}: {known or error}") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}; choose another folder") from error
