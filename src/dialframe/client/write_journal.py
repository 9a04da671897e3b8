"""The write journal: every write on disk before its first byte leaves.

A write whose answer never came may have happened. Its idempotency key shows whether it did, sent again with
the same bytes within 24 hours; so both are on disk, synced, before anything is sent, and survive the
process. The bytes go as soon as the write is settled, and after 24 hours in any case: they hold
personal data. Answers are not kept: they may hold signing secrets. What a wish not to be called
(`dnc.add`) or a consent (`consents.record`) said stays, as evidence of who and when, until it is forgotten;
it is kept twice, the second time in a chained log. Rows are held by the sum of their hashes, which reads of many
compare, and two files have that sum (`.head`, one in the folder and one beside it), so that no lost, old or
changed file or folder is taken for right.

States: `pending` (sent or about to be, no answer that stays), `answered`, `outcome_unknown` (the
service itself does not know), `failed` (refused, or never sent: it did not happen).
"""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, get_args

import platformdirs

from dialframe import files
from dialframe.chained_log import ORIGIN, ChainedLog, Heads, Mark, encoded
from dialframe.client.request_building import (
    KEY_LIFE,
    Evidence,
    PlannedRequest,
    State,
    Write,
    fields_of,
    refuse_reuse,
    write_of,
)
from dialframe.errors import ConfigError, StoreError
from dialframe.sqlite import connect, counted, is_damage, is_full, make_private, row_hash, salvaged

FILE_NAME: Final = "writes.sqlite3"
#: The second copy of wishes and consents.
EVIDENCE: Final = "evidence.log"
#: How long a settled write stays listed, without its bytes.
KEPT: Final = timedelta(days=30)
_BUSY_S: Final = 10.0

# The body comes last: whatever is asked of the columns before it does not read it.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS writes (
    account TEXT NOT NULL, key TEXT NOT NULL, operation TEXT NOT NULL, digest TEXT NOT NULL,
    created_at TEXT NOT NULL, state TEXT NOT NULL, status INTEGER, code TEXT, request_id TEXT,
    method TEXT NOT NULL, path TEXT NOT NULL, query TEXT, headers TEXT NOT NULL, body BLOB,
    PRIMARY KEY (account, key)
)
"""
#: What somebody wished or permitted is evidence, and outlives the write that carried it.
_EVIDENCE: Final = ("dnc.add", "consents.record")
_KEPT: Final = """
CREATE TABLE IF NOT EXISTS evidence (
    account TEXT NOT NULL, key TEXT NOT NULL, operation TEXT NOT NULL, at TEXT NOT NULL,
    fields TEXT NOT NULL, PRIMARY KEY (account, key)
)
"""
#: How often rows changed, their number, the sum of their hashes, and how far the second copy had come with them.
_HELD: Final = """
CREATE TABLE IF NOT EXISTS held (
    id INTEGER PRIMARY KEY CHECK (id = 1), changes INTEGER NOT NULL, rows INTEGER NOT NULL,
    sum INTEGER NOT NULL, logged INTEGER NOT NULL
)
"""
_COLUMNS: Final = {
    "writes": (
        "account", "key", "operation", "digest", "created_at", "state", "status", "code", "request_id",
        "method", "path", "query", "headers", "body",
    ),
    "evidence": ("account", "key", "operation", "at", "fields"),
}  # fmt: skip
_LAYOUT: Final = 1
#: Beyond every hash and sum; twice as much is still an integer of SQLite.
_LIMIT: Final = 1 << 60
#: Enough for tidying and for the list of open writes, so that neither reads the table through.
_INDEX: Final = "CREATE INDEX IF NOT EXISTS writes_by_state ON writes (state, created_at, query)"


class _InUse(StoreError):
    """Another process keeps the journal to itself."""


class Journal:
    """The writes of one account's key in a folder; any number of processes may share the folder.

    The file is opened for each entry, so that neither threads nor forks share a connection.
    """

    def __init__(self, folder: Path | None, account: str) -> None:
        """Name the folder; nothing is made yet.

        Args:
            folder: Folder of the journal; None for the platform's state folder.
            account: Hash of service and credential id whose writes these are.
        """
        self._folder = folder
        self._account = account
        self._looked: tuple[list[object], list[str]] | None = None

    @property
    def file(self) -> Path:
        """Where the journal is."""
        return (self._folder or default_folder()) / FILE_NAME

    def begin(self, request: PlannedRequest, now: datetime, *, late: bool = False) -> State | None:
        """Put a write down, synced to disk, before it is sent.

        Args:
            request: The write, with its key.
            now: The present.
            late: Whether it may reach people later than it was meant.

        Returns:
            What was known of the key before, or None for a new one, which is pending now.

        Raises:
            ConfigError: Its key stands for another request, or is too old to be asked with again.
            StoreError: The journal cannot be written; nothing may be sent then.
        """
        if request.key is None:
            raise ConfigError(
                f"{request.operation}: a write without an idempotency key has no entry"
            )
        key = request.key
        with self._transaction() as database:
            # The bytes hold personal data: they go once their key can no longer be asked with.
            database.execute(
                "UPDATE writes SET body = NULL, query = NULL WHERE query IS NOT NULL AND created_at < ?",
                (stamp(now - KEY_LIFE),),
            )
            database.execute(
                "DELETE FROM writes WHERE state IN ('answered', 'failed') AND created_at < ?",
                (stamp(now - KEPT),),
            )
            earlier = self._find(database, key)
            if earlier is None:
                self._put(database, request, now)
                return None
            refuse_reuse(earlier, request, now, late=late)
            if earlier.state == "failed":
                # It did not happen then; a key that the service never had, or forgot, begins anew.
                anew = earlier.status is None or earlier.expired(now)
                self._put(database, request, now if anew else earlier.created_at)
            elif earlier.request is None:
                # Its bytes were let go; the digest says that these are the same.
                self._put(database, request, earlier.created_at, state=earlier.state)
            return earlier.state

    def finish(
        self,
        key: str,
        state: State,
        *,
        status: int | None,
        code: str | None,
        request_id: str | None,
    ) -> None:
        """Write down what became of a write.

        Args:
            key: Its idempotency key.
            state: What is known now.
            status: HTTP status of the last answer, or None where none came.
            code: Code of the refusal, or None.
            request_id: `X-Request-ID` of the answer, or None.

        Raises:
            StoreError: The journal cannot be written.
        """
        with self._transaction() as database:
            database.execute(
                "UPDATE writes SET state = ?, status = ?, code = ?, request_id = ? "
                "WHERE account = ? AND key = ?",
                (state, status, code, request_id, self._account, key),
            )
            # Nothing is left to be asked, so nobody needs the bytes.
            if state in ("answered", "failed"):
                database.execute(
                    "UPDATE writes SET body = NULL, query = NULL WHERE account = ? AND key = ?",
                    (self._account, key),
                )

    def forget(self, phone: str) -> int:
        """Erase the bytes of every write, of any account, that a number is in.

        An open write among them can no longer be settled, only dismissed.

        Args:
            phone: E.164.

        Returns:
            How many writes lost their bytes.

        Raises:
            StoreError: The journal cannot be written.
        """
        if not self.begun:
            return 0
        # In a query the `+` is `%2B`.
        digits = phone.lstrip("+")
        with self._transaction() as database:
            gone = database.execute(
                "DELETE FROM evidence WHERE instr(fields, ?)", (digits,)
            ).rowcount
            changed = database.execute(
                "UPDATE writes SET body = NULL, query = NULL WHERE query IS NOT NULL "
                "AND (instr(CAST(body AS TEXT), ?) OR instr(query, ?))",
                (digits, digits),
            ).rowcount
            if gone:
                self._log_anew(database)
        # What repair put aside holds the number too.
        self.file.with_name(f"{FILE_NAME}.aside").unlink(missing_ok=True)
        return changed

    def find(self, key: str) -> Write | None:
        """Look a write up.

        Args:
            key: Its idempotency key.

        Returns:
            The write, or None where this account has none of that key.

        Raises:
            StoreError: The journal cannot be read.
        """
        if not self.begun:
            return None
        with self._transaction(whole=True) as database:
            return self._find(database, key, "NOT INDEXED")

    def unsettled(self) -> list[Write]:
        """Writes of this account whose outcome is open.

        Returns:
            Those that are pending or unknown, oldest first.

        Raises:
            StoreError: The journal cannot be read.
        """
        if not self.begun:
            return []
        # Past every index: one that is damaged would leave an open write out.
        with self._transaction(whole=True) as database:
            rows = database.execute(
                "SELECT * FROM writes NOT INDEXED WHERE account = ? AND state IN ('pending', 'outcome_unknown') "
                "ORDER BY created_at, key",
                (self._account,),
            )
            return [write_of(row) for row in rows]

    def evidence(self) -> list[Evidence]:
        """Wishes not to be called and consents that were given to the service, oldest first.

        Raises:
            StoreError: The journal cannot be read.
        """
        if not self.begun:
            return []
        try:
            with self._transaction(whole=True) as database:
                rows = _evidence(database)
        except StoreError:
            rows, whole = self._logged()
            if not whole:
                raise
        return [
            Evidence(operation=operation, key=key, at=datetime.fromisoformat(at), fields=json.loads(fields))
            for account, key, operation, at, fields in sorted(rows, key=lambda row: (row[3], row[1]))
            if account == self._account
        ]  # fmt: skip

    def problems(self) -> list[str]:
        """What is not as it was written, in words; read through again only where a file changed."""
        # Reading everything again for each face that asks would cost more than the answer.
        files_now: list[object] = [files.signature(path) for path in self._files]
        if self._looked is None or self._looked[0] != files_now:
            self._looked = files_now, self._look()
        return list(self._looked[1])

    def _look(self) -> list[str]:
        if not self.begun:
            return []
        try:
            with self._transaction(whole=True) as database:
                rows, logged = _evidence(database), _held(database)[3]
        except StoreError as error:
            return [f"{FILE_NAME}: {error}"]
        if not rows and not logged and not self._log.path.exists():
            return []
        # Two copies of one number of records and the same content, in any order.
        in_log, whole = self._logged()
        if whole and (self._log.last() or _NOWHERE).number == logged and set(in_log) == set(rows):
            return []
        return [f"{EVIDENCE}: it is not what was written"]

    def mend(self) -> list[str]:
        """Make the file anew from what of it can be read and from the second copy, or the copy from the file.

        Returns:
            What was done, in words.

        Raises:
            StoreError: The disk refuses, or another process keeps the journal to itself.
        """
        problems = self.problems()
        if not problems:
            return []
        try:
            with self._transaction():
                pass
        except _InUse:
            # What another process holds is whole as far as anybody knows: it is not to be replaced.
            raise
        except StoreError:
            pass
        if problems[0].startswith(EVIDENCE):
            with self._transaction(whole=True) as database:
                rows, whole = self._logged()
                # A log that is ahead has what an older file lacks; one that is behind may have what was forgotten.
                if whole and (self._log.last() or _NOWHERE).number > _held(database)[3]:
                    _bring(database, "evidence", rows)
                self._log_anew(database)
            return [f"{EVIDENCE}: written anew from {FILE_NAME}"]
        evidence, whole = self._logged()
        # A row without a state that we know is bytes that only look like one.
        writes = [row for row in salvaged(self.file, "writes") if row[5] in get_args(State)]
        # Account and key: what the log has is believed before what a damaged file says.
        held = {row[:2] for row in evidence}
        if not whole:
            evidence += [row for row in salvaged(self.file, "evidence") if row[:2] not in held]
        if self.file.exists():
            self.file.replace(self.file.with_name(f"{FILE_NAME}.aside"))
        for left in (self.file.with_name(f"{FILE_NAME}-journal"), *self._heads.paths):
            left.unlink(missing_ok=True)
        make_private(self.file)
        with self._transaction() as database:
            for name, rows in (("writes", writes), ("evidence", evidence)):
                _bring(database, name, rows)
            self._log_anew(database)
        writes_in_words = (
            f"{FILE_NAME}: made anew with the {len(writes)} writes of it that can be read"
        )
        return [f"{writes_in_words}, and {len(evidence)} wishes and consents"]

    @property
    def begun(self) -> bool:
        """Whether anything was ever written."""
        return any(path.exists() for path in self._files)

    @property
    def _files(self) -> tuple[Path, ...]:
        return (self.file, self._log.path, *self._heads.paths)

    @property
    def _heads(self) -> Heads:
        return Heads(self.file)

    @property
    def _log(self) -> ChainedLog:
        return ChainedLog(self.file.with_name(EVIDENCE))

    def _logged(self) -> tuple[list[Sequence[Any]], bool]:
        """Wishes and consents of the second copy, and whether it is what was written."""
        records = list(self._log.records())
        rows: list[Sequence[Any]] = [
            tuple(row)
            for record in records
            if record.whole
            for row in record.content.get("rows", ())
        ]
        return rows, self._log.last() is not None and all(record.whole for record in records)

    def _log_anew(self, database: sqlite3.Connection) -> None:
        """Begin the second copy anew with what the file has; it gets its name before the commit."""
        # Numbers only grow, so that an older log is never taken for the newer one.
        before = Mark(max(_held(database)[3], (self._log.last() or _NOWHERE).number), ORIGIN)
        text = encoded({"before": ORIGIN, "rows": _evidence(database)})
        mark, staged = self._log.stage([text], before)
        files.publish({self._log.path: staged})
        database.execute("UPDATE held SET logged = ?", (mark.number,))

    def _find(self, database: sqlite3.Connection, key: str, how: str = "") -> Write | None:
        row = database.execute(
            f"SELECT * FROM writes {how} WHERE account = ? AND key = ?", (self._account, key)
        ).fetchone()
        return None if row is None else write_of(row)

    def _put(
        self,
        database: sqlite3.Connection,
        request: PlannedRequest,
        created_at: datetime,
        *,
        state: State = "pending",
    ) -> None:
        # Replacing in one statement would not ask the trigger of what goes.
        database.execute(
            "DELETE FROM writes WHERE account = ? AND key = ?", (self._account, request.key)
        )
        database.execute(
            "INSERT INTO writes "
            "VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL, ?, ?, ?, ?, ?)",
            (self._account, request.key, request.operation, request.digest, stamp(created_at),
             state, request.method, request.path, request.query, json.dumps(dict(request.headers)),
             request.body),
        )  # fmt: skip
        if request.operation in _EVIDENCE:
            # Of the request and not of its answer: a wish counts from when it was said.
            row = (self._account, request.key, request.operation, stamp(created_at),
                   json.dumps(fields_of(request)))  # fmt: skip
            insert = "INSERT OR IGNORE INTO evidence VALUES (?, ?, ?, ?, ?)"
            if not database.execute(insert, row).rowcount:
                return
            last = self._log.last()
            if last is None or last.number != _held(database)[3]:
                self._log_anew(database)
            else:
                mark = self._log.append({"rows": [row]}, last)
                database.execute("UPDATE held SET logged = ?", (mark.number,))

    @contextmanager
    def _transaction(self, *, whole: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction; where all is read, all is compared with its hashes first."""
        try:
            noted, problems = self._heads.read()
            for problem in problems:
                raise problem if isinstance(problem, OSError) else self._damaged(str(problem))
            # The file was there before either of them.
            if (noted is not None or self._log.path.exists()) and not self.file.exists():
                raise self._damaged("it is missing")
            with closing(connect(self.file, busy_s=_BUSY_S)) as database:
                # The triggers call it, so that a program without it can change no row.
                database.row_factory = sqlite3.Row
                database.create_function("row_hash", -1, _hash, deterministic=True)
                database.execute("BEGIN IMMEDIATE")
                with database:
                    if _prepare(database) and _evidence(database):
                        self._log_anew(database)
                    before = _held(database)
                    # Another process may have noted more since the first look, and never less.
                    # It is the one that was noted, or a later one.
                    later = noted is None or before[0] > noted[0]
                    if not later and (before[0], f"{before[2]:064x}") != noted:
                        raise self._damaged("it is not the one that was written last")
                    if whole and not _is_guarded(database):
                        raise self._damaged("its tables are not those that were made")
                    if whole and before[1:3] != _counted(database):
                        raise self._damaged("rows of it were changed or are missing")
                    yield database
                    after = _held(database)
            if after != before or noted is None:
                # After the commit: a note may lag behind its file, and never run ahead of it.
                self._heads.note(after[0], f"{after[2]:064x}")
        except UnicodeDecodeError:
            # SQLite's own words of a damaged schema quote it.
            raise self._damaged("its tables are not those that were made") from None
        except (OSError, sqlite3.Error) as error:
            raise (
                self._damaged(str(error)) if is_damage(error) else self._unusable(error)
            ) from None

    def _damaged(self, why: str) -> StoreError:
        which = "" if self._folder is None else f" --journal {shlex.quote(str(self._folder))}"
        return StoreError(
            f"the write journal {self.file} is not what was written ({why}), so no write is sent: look at "
            f"the service what became of the last writes, then run dialframe store repair{which}, which keeps "
            "what of it can be read"
        )

    def _unusable(self, error: Exception) -> StoreError:
        # The low byte is the primary result code (sqlite.org/rescode.html).
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (
            sqlite3.SQLITE_BUSY,
            sqlite3.SQLITE_LOCKED,
        ):
            return _InUse(
                f"another process has kept the write journal {self.file} to itself for {_BUSY_S:g} seconds: "
                "let it end, then try again; without the journal no write is sent"
            )
        if is_full(error):
            return StoreError(
                f"the disk of the write journal {self.file} is full: make room there, or pass "
                "journal=... on another disk; without the journal no write is sent"
            )
        return StoreError(
            f"the write journal {self.file} cannot be used ({error}): make its folder "
            "writable, or pass journal=... another one; without it no write is sent"
        )


_NOWHERE: Final = Mark(0, ORIGIN)


def _prepare(database: sqlite3.Connection) -> bool:
    """Make what is missing, and say whether; rows of a journal from before they had hashes are counted once."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version >= _LAYOUT:
        return False
    for statement in (_SCHEMA, _INDEX, _KEPT, _HELD):
        database.execute(statement)
    for trigger in _triggers():
        database.execute(trigger)
    if database.execute("SELECT 1 FROM held").fetchone() is None:
        database.execute("INSERT INTO held VALUES (1, 0, ?, ?, 0)", _counted(database))
    database.execute(f"PRAGMA user_version = {_LAYOUT}")
    return True


def _triggers() -> Iterator[str]:
    """What keeps the sum of the rows' hashes with each change."""
    for table, columns in _COLUMNS.items():
        for event, signs in (("INSERT", "+"), ("DELETE", "-"), ("UPDATE", "-+")):
            total = "sum" + "".join(
                f" {sign} row_hash({', '.join(f'{row}.{name}' for name in columns)})"
                for sign, row in (("-", "OLD"), ("+", "NEW")) if sign in signs
            )  # fmt: skip
            more = {"+": 1, "-": -1, "-+": 0}[signs]
            yield (
                f"CREATE TRIGGER {table}_{event.lower()} AFTER {event} ON {table} BEGIN "
                f"UPDATE held SET changes = changes + 1, rows = rows + {more}, "
                f"sum = ({total} + {_LIMIT}) % {_LIMIT}; END"
            )


def _is_guarded(database: sqlite3.Connection) -> bool:
    """Whether the triggers, as bytes, are those that were made: a damaged one is met by the next write alone."""
    sql = database.execute("SELECT CAST(sql AS BLOB) FROM sqlite_schema WHERE type = 'trigger'")
    return {row[0] for row in sql} == {text.encode() for text in _triggers()}


def _held(database: sqlite3.Connection) -> tuple[int, int, int, int]:
    row = database.execute("SELECT changes, rows, sum, logged FROM held").fetchone()
    if list(map(type, row)) != [int] * 4:
        raise sqlite3.DatabaseError("its sums are not what was written")
    return tuple(row)


def _evidence(database: sqlite3.Connection) -> list[Sequence[Any]]:
    return [tuple(row) for row in database.execute("SELECT * FROM evidence NOT INDEXED")]


def _bring(database: sqlite3.Connection, table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Put rows in that are not there yet; one of another width is none."""
    width = len(_COLUMNS[table])
    database.executemany(
        f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * width)})",
        [row for row in rows if len(row) == width],
    )


def _counted(database: sqlite3.Connection) -> tuple[int, int]:
    """How many rows there are, and the sum of their hashes."""
    tables = (f"SELECT * FROM {table} NOT INDEXED" for table in _COLUMNS)
    return counted((row for table in tables for row in database.execute(table)), _LIMIT)


def _hash(*values: Any) -> int:
    return row_hash(values) % _LIMIT


def default_folder() -> Path:
    """Where the platform keeps a program's state."""
    return platformdirs.user_state_path("dialframe") / "journal"


def stamp(moment: datetime) -> str:
    """A moment as text that compares as time does."""
    # One zone and one width.
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
