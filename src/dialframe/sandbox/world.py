"""Everything that one sandbox remembers, and the few things it keeps in memory; serves no requests."""

from __future__ import annotations

import datetime as dt
import secrets
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialframe.contract.access import SCOPES
from dialframe.errors import ConfigError
from dialframe.sandbox import access, faults, instants, loading, schema
from dialframe.sandbox.buckets import Buckets
from dialframe.sandbox.clock import Clock
from dialframe.sandbox.database import Database
from dialframe.sandbox.idempotency import Running
from dialframe.sandbox.settings import Settings

FIRST: Final = 1


@dataclass(frozen=True, slots=True)
class Birth:
    """What the first start of a sandbox decides.

    Attributes:
        as_of: Day on which the history of a synthetic account ends, or None for today.
    """

    seed: int
    size: str
    as_of: dt.date | None


class World:
    """State on disk, with the clock and what lives no longer than the process.

    Attributes:
        docs_base: Address that problem types start with; known once the sandbox has a port.
        access: Clients, credentials and settings; replaced as a whole, never changed.
    """

    def __init__(self, folder: Path, birth: Birth, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.database = Database(folder, lambda db: _fill(db, birth, self.clock.now_us()))
        self.buckets = Buckets()
        self.running = Running()
        self.docs_base = ""
        self._listener: Callable[[], None] | None = None
        try:
            self._remember()
        except BaseException:
            self.database.close()
            raise

    @property
    def first_key(self) -> str:
        """The first client's key in plain text, which is printed at every start."""
        return self._meta["first_key"]

    @property
    def console_token(self) -> str:
        """What the console is opened with."""
        return self._meta["console_token"]

    @property
    def cursor_key(self) -> bytes:
        """What cursors are signed with."""
        return self._meta["cursor_key"].encode()

    @property
    def birth(self) -> Birth:
        """What the first start decided."""
        as_of = dt.date.fromisoformat(self._meta["as_of"])
        return Birth(int(self._meta["seed"]), self._meta["size"], as_of)

    def reload_access(self) -> None:
        """Read clients, credentials and settings afresh; what changed holds from now on."""
        with self.database.read() as db:
            self.access = access.load(db)

    def fault_for(self, operation: str) -> faults.Rule | None:
        """The failure that befalls the next request of an operation, used up by asking."""
        rule, changed = self.faults.take(operation)
        if changed:
            with self.database.write() as db:
                faults.save(db, changed)
        return rule

    def advance(self, seconds: float) -> int:
        """Move the clock forward for good and say what it shows now."""
        with self.database.write() as db:
            ahead_us = self.clock.advance(seconds)
            _set(db, "clock_ahead_us", str(ahead_us))
        self.stir()
        return self.clock.now_us()

    def on_stir(self, listener: Callable[[], None] | None) -> None:
        """Have somebody told when something may have become due."""
        self._listener = listener

    def stir(self) -> None:
        """Say that something may have become due."""
        listener = self._listener
        if listener is not None:
            listener()

    def close(self) -> None:
        """Let go of the files."""
        self.database.close()

    def _remember(self) -> None:
        with self.database.read() as db:
            self._meta: dict[str, str] = dict(db.execute("SELECT name, value FROM meta"))
            if self._meta.get("schema") != str(schema.VERSION):
                raise ConfigError(
                    "the sandbox's data folder was written by another release: "
                    "start with a new folder"
                )
            self.access = access.load(db)
            self.faults = faults.load(db)
        self.clock.ahead_us = int(self._meta.get("clock_ahead_us", "0"))


def _fill(db: sqlite3.Connection, birth: Birth, now_us: int) -> None:
    as_of = birth.as_of or dt.date.fromisoformat(instants.day_of(now_us))
    account = loading.account_of(seed=birth.seed, size=birth.size, as_of=as_of, client=FIRST)
    for statement in schema.table_statements():
        db.execute(statement)
    if account is not None:
        loading.load(db, account, FIRST)
    for statement in schema.index_statements():
        db.execute(statement)
    _first_client(db, now_us)
    _set(db, "schema", str(schema.VERSION))
    _set(db, "seed", str(birth.seed))
    _set(db, "size", birth.size)
    _set(db, "as_of", as_of.isoformat())


def _first_client(db: sqlite3.Connection, now_us: int) -> None:
    scopes = tuple(scope.name for scope in SCOPES)
    client = access.add_client(db, name="First client", scopes=scopes, ip_allow=(), now_us=now_us)
    _set(db, "first_key", access.add_key(db, client, sending=True, now_us=now_us))
    _set(db, "console_token", secrets.token_hex(24))
    _set(db, "cursor_key", secrets.token_hex(32))
    access.save_settings(db, Settings())


def _set(db: sqlite3.Connection, name: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
