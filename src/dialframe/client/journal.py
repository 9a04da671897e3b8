"""The write journal: every write on disk before its first byte leaves; knows rows and bytes, not HTTP.

A write whose answer never came may have happened. What tells is its idempotency key, asked again with
the same bytes within 24 hours; so both are on disk, synced, before anything is sent, and survive the
process. Answers are not kept: they may hold signing secrets.

States: `pending` (sent or about to be, no answer that stays), `answered`, `outcome_unknown` (the
service itself does not know), `failed` (refused, or never sent: it did not happen).
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import platformdirs

from dialframe.client.entries import KEY_LIFE, State, Write, refuse_reuse, stamp, write_of
from dialframe.client.wire import PlannedRequest
from dialframe.errors import ConfigError, StoreError

FILE_NAME: Final = "writes.sqlite3"
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
#: Enough for tidying and for the list of open writes, so that neither reads the table through.
_INDEX: Final = "CREATE INDEX IF NOT EXISTS writes_by_state ON writes (state, created_at, query)"


class Journal:
    """The writes of one account's key in a folder; any number of processes may share the folder.

    The file is opened for each entry, so that neither threads nor forks share a connection.
    """

    def __init__(self, folder: Path | None, account: str) -> None:
        """Name the folder (None for the platform's state folder); nothing is made yet."""
        self._folder = folder
        self._account = account

    @property
    def file(self) -> Path:
        """Where the journal is."""
        return (self._folder or default_folder()) / FILE_NAME

    def begin(self, request: PlannedRequest, now: datetime) -> State | None:
        """Put a write down, synced to disk, before it is sent.

        Returns:
            What was known of the key before, or None for a new one, which is pending now.

        Raises:
            ConfigError: Its key stands for another request, or is too old to be asked with again.
            StoreError: The journal cannot be written; nothing may be sent then.
        """
        key = _key_of(request)
        with self._transaction() as database:
            self._tidy(database, now)
            known = self._find(database, key)
            if known is None:
                self._put(database, request, now)
                return None
            refuse_reuse(known, request, now)
            if known.state == "failed":
                # It did not happen then, so a key that the service forgot begins its life anew.
                self._put(database, request, now if known.expired(now) else known.created_at)
            return known.state

    def finish(
        self,
        key: str,
        state: State,
        *,
        status: int | None,
        code: str | None,
        request_id: str | None,
    ) -> None:
        """Put down what became of a write.

        Raises:
            StoreError: The journal cannot be written.
        """
        with self._transaction() as database:
            self._set(database, key, state, status, code, request_id)

    def restart(self, key: str, now: datetime) -> None:
        """Let a key's 24 hours begin anew, for one that is sent as if for the first time.

        Raises:
            StoreError: The journal cannot be written.
        """
        with self._transaction() as database:
            database.execute(
                "UPDATE writes SET created_at = ? WHERE account = ? AND key = ?",
                (stamp(now), self._account, key),
            )

    def find(self, key: str) -> Write | None:
        """The write of a key, or None.

        Raises:
            StoreError: The journal cannot be read.
        """
        if not self.file.exists():
            return None
        with self._transaction() as database:
            return self._find(database, key)

    def unsettled(self) -> list[Write]:
        """Writes that are pending or whose outcome is unknown, oldest first.

        Raises:
            StoreError: The journal cannot be read.
        """
        if not self.file.exists():
            return []
        with self._transaction() as database:
            rows = database.execute(
                "SELECT * FROM writes WHERE account = ? AND state IN ('pending', 'outcome_unknown') "
                "ORDER BY created_at, key",
                (self._account,),
            )
            return [write_of(row) for row in rows]

    def _find(self, database: sqlite3.Connection, key: str) -> Write | None:
        row = database.execute(
            "SELECT * FROM writes WHERE account = ? AND key = ?", (self._account, key)
        ).fetchone()
        return None if row is None else write_of(row)

    def _put(
        self, database: sqlite3.Connection, request: PlannedRequest, created_at: datetime
    ) -> None:
        database.execute(
            "INSERT OR REPLACE INTO writes "
            "VALUES (?, ?, ?, ?, ?, 'pending', NULL, NULL, NULL, ?, ?, ?, ?, ?)",
            (self._account, request.key, request.operation, request.digest, stamp(created_at),
             request.method, request.path, request.query, json.dumps(dict(request.headers)),
             request.body),
        )  # fmt: skip

    def _set(
        self,
        database: sqlite3.Connection,
        key: str,
        state: State,
        status: int | None,
        code: str | None,
        request_id: str | None,
    ) -> None:
        database.execute(
            "UPDATE writes SET state = ?, status = ?, code = ?, request_id = ? "
            "WHERE account = ? AND key = ?",
            (state, status, code, request_id, self._account, key),
        )

    def _tidy(self, database: sqlite3.Connection, now: datetime) -> None:
        # The bytes hold personal data: they go as soon as their key can no longer be asked with.
        settled = "state IN ('answered', 'failed') AND created_at < ?"
        database.execute(
            f"UPDATE writes SET body = NULL, query = NULL WHERE query IS NOT NULL AND {settled}",
            (stamp(now - KEY_LIFE),),
        )
        database.execute(f"DELETE FROM writes WHERE {settled}", (stamp(now - KEPT),))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            _prepare(self.file)
            with closing(
                sqlite3.connect(self.file, timeout=_BUSY_S, isolation_level=None)
            ) as database:
                database.row_factory = sqlite3.Row
                database.execute("PRAGMA synchronous = FULL")
                # Freed pages are overwritten, so that deleted bytes are gone.
                database.execute("PRAGMA secure_delete = ON")
                database.execute("BEGIN IMMEDIATE")
                with database:
                    database.execute(_SCHEMA)
                    database.execute(_INDEX)
                    yield database
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"the write journal {self.file} cannot be used ({error}): make its folder "
                "writable, or pass journal=... another one; without it no write is sent"
            ) from None


def default_folder() -> Path:
    """Where the platform keeps a program's state."""
    return platformdirs.user_state_path("dialframe") / "journal"


def _prepare(file: Path) -> None:
    if file.exists():
        return
    if not file.parent.exists():
        file.parent.mkdir(parents=True, mode=0o700)
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))


def _key_of(request: PlannedRequest) -> str:
    if request.key is None:
        raise ConfigError(f"{request.operation}: a write without an idempotency key has no entry")
    return request.key
