"""Opens the store's SQLite file: connections, transactions, permissions, and its failures in words."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialframe.chained_log import Mark, Record, Witness
from dialframe.errors import StoreError
from dialframe.files import FOLDER_MODE, exclusive, folder, publish, write_text
from dialframe.sqlite import connect, make_private
from dialframe.store.files.catalog import read_meta, write_meta
from dialframe.store.files.change_log import FOLDER as COPY
from dialframe.store.files.change_log import (
    LOG_BYTES,
    SMALL,
    TABLES,
    TAILS,
    Changes,
    apply,
    begin_anew,
    differing,
    log_of,
    recount,
    settle,
    unwatch,
    watch,
)
from dialframe.store.files.parts import Shelf
from dialframe.store.files.table_layouts import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    additions,
    statements,
)

FILE: Final = "store.sqlite"
KEYS: Final = "keys"
BUSY_S: Final = 30.0

#: Held by who writes, merges or deletes parts.
PARTS_LOCK: Final = "lock.parts"
#: Shared by who reads parts, so that none is deleted under them.
LEASE: Final = "lock.reading"
#: Held by whose turn it is to write next.
TURN_LOCK: Final = "lock.turn"

#: The first layout whose rows are held by digests, and which keeps its key elsewhere.
_WITH_DIGESTS: Final = 4

#: What the system says of a folder in which nothing may be written.
_NOT_OURS_TO_WRITE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

#: What to do about a file that cannot be believed.
REPAIR: Final = (
    "run dialframe store repair, which rebuilds it from the sealed files and the second copy"
)

#: SQLite's result codes, primary part, in words that name the next step.
WORDS: Final[dict[int, str]] = {
    sqlite3.SQLITE_FULL: "the disk is full; what was stored before is intact: make room and run it again",
    sqlite3.SQLITE_BUSY: "another process has been writing to it for too long; try again",
    sqlite3.SQLITE_LOCKED: "another connection is using it; try again",
    sqlite3.SQLITE_CORRUPT: f"the file is damaged; {REPAIR}",
    sqlite3.SQLITE_ERROR: f"its tables are not those that were made; {REPAIR}",
    sqlite3.SQLITE_NOTADB: f"this is not a store, or it is damaged; {REPAIR}",
    sqlite3.SQLITE_READONLY: "it may not be written to; check the folder's permissions",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that the folder exists and is yours",
    sqlite3.SQLITE_PERM: "permission is denied; check the folder's permissions",
    sqlite3.SQLITE_IOERR: "the disk refused; check its space and health, then run it again",
}

#: Results that a whole file cannot give; an error in a statement of ours means that its schema was changed.
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})


class Unusable(StoreError):
    """The SQLite file cannot be believed: it is missing, damaged, or older than its second copy."""


class Lost(Unusable):
    """Nothing is left of a store of which a note beside its folder says that it held something."""


@dataclass(slots=True)
class _Link:
    """A connection, and what it has changed in the transaction under way; None before it first writes."""

    connection: sqlite3.Connection
    changes: Changes | None = None


class Database:
    """A pool of connections to one store file; threads and processes may use it at once.

    Attributes:
        folder: The folder that holds everything.
        path: The SQLite file.
        copy: The second copy of what the file holds.
        shelf: The parts that the file names.
        read_only: Whether the folder may not be written to, so that it can only be read.
    """

    def __init__(self, folder: Path, *, keys: Path | None = None, busy_s: float = BUSY_S) -> None:
        """Open the store file of a folder, making both where they are not there yet.

        Args:
            folder: The folder.
            keys: Folder of the keys of forgotten numbers; None for `keys` beside the store's folder.
            busy_s: How long to wait for another process's transaction.

        Raises:
            StoreError: It cannot be opened, is damaged, is something else, or is of a newer dialframe.
        """
        self.folder = folder
        self.path = folder / FILE
        self.copy = log_of(folder)
        self.shelf = Shelf(folder)
        self._keys = keys or folder.parent / KEYS
        self._id = ""
        self.read_only = False
        self._immutable = False
        self._busy_s = busy_s
        self._idle: list[_Link] = []
        self._renew = False
        # Heads are compared once in a process, all other tables whenever another process wrote.
        self._compared: set[str] = set()
        self._compared_at: tuple[tuple[int, int, int], ...] = ()
        self._guard = threading.Lock()
        #: Held from the look at the file's mark until it is kept: a thread's own commit is nobody else's.
        self._marking = threading.Lock()
        self._process = os.getpid()
        with translated(self.path):
            self._make()

    @contextmanager
    def reading(self, heads: Sequence[str] = ()) -> Iterator[sqlite3.Connection]:
        """A connection inside one read transaction: everything read is of one moment, and as it was written.

        Args:
            heads: Tables of latest versions that are read in bulk, so that they are compared too.

        Raises:
            Unusable: Rows are not those that were written.
        """
        with translated(self.path), self._borrowed() as link:
            link.connection.execute("BEGIN")
            try:
                self._compare(link.connection, (*SMALL, *TAILS))
                self._compare_once(link.connection, heads)
                yield link.connection
                link.connection.execute("COMMIT")
            except BaseException:
                _roll_back(link)
                raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one write transaction: all of it happens, or nothing.

        What it changes is on the disk a second time before it is committed.

        Raises:
            StoreError: The disk is full or refuses; everything is as it was.
        """
        if self.read_only:
            raise StoreError(f"{self.path}: {WORDS[sqlite3.SQLITE_READONLY]}")
        with translated(self.path), self._borrowed() as link:
            if link.changes is None:
                link.changes = watch(link.connection)
            with self._turn():
                link.connection.execute("BEGIN IMMEDIATE")
            # So that a record of a transaction that fails can be cut off again.
            size_bytes = self.copy.size_bytes
            undisturbed = self._file_mark() == self._compared_at
            try:
                self._compare_once(link.connection, TABLES)
                yield link.connection
                with self._marking:
                    # A reader may have compared since; nobody else can have written.
                    undisturbed = undisturbed or self._file_mark() == self._compared_at
                    self._commit(link, link.changes)
                    if undisturbed:
                        self._compared_at = self._file_mark()
            except BaseException:
                self.copy.cut(size_bytes)
                _roll_back(link)
                raise

    @contextmanager
    def unguarded(self) -> Iterator[sqlite3.Connection]:
        """A write transaction that keeps neither digests nor second copy: for a file that is being rebuilt."""
        with translated(self.path), self._borrowed() as link:
            link.connection.execute("BEGIN IMMEDIATE")
            yield link.connection
            link.connection.execute("COMMIT")

    def renew_copy(self) -> None:
        """Write the second copy anew from this file, which was compared before.

        Raises:
            StoreError: Rows of this file are not those that were written, or the disk refuses.
        """
        with self.writing():
            self._renew = True

    def compact(self) -> None:
        """Rewrite the file without what was erased, and empty its log.

        Raises:
            StoreError: Somebody is still reading, so that old bytes may remain.
        """
        if self.read_only:
            raise StoreError(f"{self.path}: {WORDS[sqlite3.SQLITE_READONLY]}")
        with translated(self.path), self._borrowed() as link, self._turn():
            # `secure_delete` overwrites what is deleted; this gives back the pages, and their copies in the log.
            link.connection.execute("VACUUM")
            (busy, _, _) = link.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
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
            for link in idle:
                link.connection.close()

    def _turn(self) -> AbstractContextManager[bool]:
        """Wait for the turn to write, which others wait for meanwhile; SQLite's own lock comes after it.

        SQLite only asks for its lock again after pauses of up to 100 ms (sqliteDefaultBusyCallback in its main.c),
        so that one who writes without pause takes it every time in between. Here the one who has just written
        stands behind whoever is waiting, whom the system wakes (flock(2)).
        """
        return exclusive(self.folder / TURN_LOCK, wait=True)

    def _commit(self, link: _Link, changes: Changes) -> None:
        """Write the second copy, then commit; a log that begins anew gets its name last."""
        connection = link.connection
        # A transaction that changed nothing leaves no record.
        if not changes.rows and not self._renew:
            connection.execute("COMMIT")
            return
        settle(connection, changes)
        before, last = mark_of(connection), self.copy.last()
        # The second copy is of this file as it was; one that lags behind begins anew.
        if last is None or last.number < before.number:
            self._renew = True
        elif last != before:
            raise Unusable(f"{self.path}: it is older than its second copy; {REPAIR}")
        staged: Path | None = None
        # What was erased must not stay in older records.
        if self._renew or changes.erased or self.copy.size_bytes > LOG_BYTES or not before.number:
            mark, staged = begin_anew(self.copy, connection, before)
        else:
            mark = self.copy.append({"changes": changes.rows}, before)
        try:
            connection.execute(
                # In the same transaction: file and copy never differ by more than the one under way.
                "UPDATE chain SET number = ?, digest = ?",
                (mark.number, mark.digest),
            )
            connection.execute("COMMIT")
            if staged is not None:
                publish({self.copy.path: staged})
            with suppress(OSError):  # the folder above may be another's
                Witness(self.folder).note(mark.number, mark.digest)
        finally:
            if staged is not None:
                staged.unlink(missing_ok=True)
        self._renew = False
        changes.clear()

    def _compare(self, connection: sqlite3.Connection, tables: Sequence[str]) -> None:
        """Compare tables with their digests, unless nobody else wrote since that was done."""
        with self._marking:
            now = self._file_mark()
            if now == self._compared_at:
                return
            self._refuse_differing(connection, tables)
            self._compared_at = now

    def _compare_once(self, connection: sqlite3.Connection, tables: Sequence[str]) -> None:
        """Compare tables that this process has not compared before: the large ones, and before writing."""
        wanted = [table for table in tables if table not in self._compared]
        self._refuse_differing(connection, wanted)
        self._compared |= set(wanted)

    def _refuse_differing(self, connection: sqlite3.Connection, tables: Sequence[str]) -> None:
        wrong = differing(connection, tables)
        if wrong:
            raise Unusable(
                f"{self.path}: rows of {', '.join(wrong)} are not those that were written; {REPAIR}"
            )

    def _file_mark(self) -> tuple[tuple[int, int, int], ...]:
        """A mark that changes with the file and its log."""
        # Another process's commit changes the log, a checkpoint both.
        marks = []
        for path in (self.path, self.path.with_name(f"{FILE}-wal")):
            if path.exists():
                stat = path.stat()
                marks.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return tuple(marks)

    @contextmanager
    def _borrowed(self) -> Iterator[_Link]:
        with self._guard:
            if self._process != os.getpid():
                # A connection must not cross a fork: the child leaves the parent's alone.
                self._idle, self._process = [], os.getpid()
            link = self._idle.pop() if self._idle else None
        if link is None:
            connection = connect(
                self.path,
                read_only=self.read_only,
                immutable=self._immutable,
                busy_s=self._busy_s,
                across_threads=True,
            )
            link = _Link(connection)
        try:
            yield link
        except BaseException:
            # Whatever state it is in, the next one gets another.
            link.connection.close()
            raise
        with self._guard:
            self._idle.append(link)

    def _make(self) -> None:
        refuse_vanished(self.folder)
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
            if not self.path.exists() or not self.path.stat().st_size:
                self._refuse_lost()
            make_private(self.path)
            with self._borrowed() as link:
                self._make_schema(link.connection)
                # Killed between the copy and the commit, or between the commit and a new log's name.
                behind = mark_of(link.connection) != self.copy.last()
            if behind:
                self._catch_up()

    def _refuse_lost(self) -> None:
        """Refuse to make a new file where an older one was lost: it would name none of what is here."""
        # What lies here shows that there was a file.
        parts = self.folder / "parts"
        if self.copy.path.exists() or (parts.is_dir() and any(parts.glob("*.parquet"))):
            raise Unusable(
                f"{self.path}: it is missing or empty, and what it named is still here; {REPAIR}"
            )

    @property
    def key_file(self) -> Path:
        """The file of the key of forgotten numbers; with it, their marks here would show whose they are."""
        if not self._id:
            with self.reading() as connection:
                self._id = self._named(connection, "store_id")
        return self._keys / f"{self._id}.forget"

    def _named(self, connection: sqlite3.Connection, name: str) -> str:
        value = read_meta(connection, name)
        if value is None:
            raise Unusable(f"{self.path}: it does not say its {name}; {REPAIR}")
        return str(value)

    def _move_key(self, connection: sqlite3.Connection) -> None:
        """Take the key out of a store of layout 3, and give the store the id that it had by it."""
        key = self._named(connection, "forget_key")
        # The id that published tables of this store have had from before.
        self._id = hashlib.sha256(f"publish:{key}".encode()).hexdigest()[:16]
        write_text(f"{key}\n", self._keys / f"{self._id}.forget")
        connection.execute("DELETE FROM meta WHERE name = 'forget_key'")
        write_meta(connection, "store_id", self._id)

    def _catch_up(self) -> None:
        """Bring file and second copy to the same transaction: a process was killed between the two."""
        with self._borrowed() as link:
            connection = link.connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                # A record that was not whole when its writer was killed was never answered for.
                self.copy.cut_torn_end()
                mark, last = mark_of(connection), self.copy.last()
                if last is None or last.number < mark.number:
                    self._compare_once(connection, TABLES)
                    self._renew = True
                elif last != mark:
                    self._replay(connection, mark)
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(link)
                raise
        if self._renew:
            self.renew_copy()

    def _replay(self, connection: sqlite3.Connection, mark: Mark) -> None:
        """Bring in the transactions that the second copy has and the file has not."""
        missing: list[Record] | None = None
        for record in self.copy.records():
            if record.mark == mark:
                missing = []
            elif missing is not None:
                # Behind the record that the file has: these were answered for, and not committed.
                missing.append(record)
        # The file is not where the log says it was: one of them is an older one.
        if missing is None or not all(
            entry.whole and "changes" in entry.content for entry in missing
        ):
            raise Unusable(f"{self.path}: it is older than its second copy; {REPAIR}")
        changes = watch(connection)
        for record in missing:
            apply(connection, record.content)
        settle(connection, changes)
        last = missing[-1].mark
        connection.execute("UPDATE chain SET number = ?, digest = ?", (last.number, last.digest))
        unwatch(connection)

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
        with self._borrowed() as link:
            version = link.connection.execute("PRAGMA user_version").fetchone()[0]
            application = link.connection.execute("PRAGMA application_id").fetchone()[0]
            last = self.copy.last()
            ahead = (
                version == SCHEMA_VERSION
                and last
                # One ahead is a writer at work; more is a file of before.
                and last.number > mark_of(link.connection).number + 1
            )
        self._refuse_foreign(version, application)
        if version < SCHEMA_VERSION:
            raise StoreError(
                f"{self.path}: it was written by an older dialframe (layout {version}) and the folder "
                "may not be written to; open it once where it may be"
            )
        if ahead:
            raise Unusable(f"{self.path}: it is older than its second copy; {REPAIR}")

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
            self._refuse_lost()
            # Readers see one moment while another process writes (sqlite.org/wal.html).
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in statements():
                connection.execute(statement)
            # Names its key and its publications; drawn, so that it says nothing of whose it is.
            write_meta(connection, "store_id", secrets.token_hex(8))
            recount(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
            return
        self._refuse_foreign(version, application)
        if version < SCHEMA_VERSION:
            present = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            names = frozenset(name for (name,) in present)
            connection.execute("BEGIN IMMEDIATE")
            if version >= _WITH_DIGESTS:
                # Counting anew would take a damaged row for right.
                self._refuse_differing(connection, [name for name in TABLES if name in names])
            for statement in additions(version, names):
                connection.execute(statement)
            if version < _WITH_DIGESTS:
                self._move_key(connection)
            recount(connection)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")


def refuse_vanished(store: Path) -> None:
    """Refuse a store whose folder is gone or empty, though it is noted beside it that it held something.

    Raises:
        Lost: It says so, and what to do.
    """
    witness, file = Witness(store), store / FILE
    begun = file.exists() and file.stat().st_size > 0
    if (
        begun
        or not witness.path.exists()
        or any((store / name).exists() for name in (COPY, "parts"))
    ):
        return
    raise Lost(
        f"{store}: it is missing, and what only it knew (Do-Not-Call checks, events, history) with it; "
        "run dialframe store restore to bring a backup back, or dialframe store repair --acknowledge to "
        f"begin anew without (known by {witness.path.name})"
    )


def mark_of(connection: sqlite3.Connection) -> Mark:
    """The last transaction that the file has."""
    return Mark(*connection.execute("SELECT number, digest FROM chain").fetchone())


def _roll_back(link: _Link) -> None:
    if link.connection.in_transaction:
        link.connection.execute("ROLLBACK")
    if link.changes is not None:
        link.changes.clear()


def changed_tables(connection: sqlite3.Connection) -> list[str]:
    """Names of tables whose columns are not those that were made: damage that no digest of rows shows."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        for statement in statements():
            fresh.execute(statement)
        return [
            table
            for table in (*TABLES, "checksum", "chain")
            if _columns(connection, table) != _columns(fresh, table)
        ]


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[str, bool]]:
    columns = connection.execute(f"PRAGMA table_info({table})")
    return sorted((name, bool(key)) for _, name, _, _, _, key in columns)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say of a file into one `StoreError`."""
    try:
        yield
    except sqlite3.Error as error:
        # Python 3.11 gives the extended code, whose low byte is the primary one.
        code = getattr(error, "sqlite_errorcode", None)
        known = WORDS.get(code & 0xFF) if isinstance(code, int) else None
        kind = Unusable if isinstance(code, int) and code & 0xFF in _DAMAGED else StoreError
        raise kind(f"{path}: {known or error}") from error
    except OSError as error:
        # The log and the parts are files of our own, and the disk is the same.
        words = WORDS[sqlite3.SQLITE_FULL] if error.errno == errno.ENOSPC else error.strerror
        raise StoreError(f"{path}: {words or error}; choose another folder") from error
