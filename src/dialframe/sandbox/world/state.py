"""Everything that one sandbox remembers, and the few things it keeps in memory."""

from __future__ import annotations

import datetime as dt
import math
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialframe.contract.limits import Bucket
from dialframe.contract.scopes import SCOPES
from dialframe.errors import ConfigError
from dialframe.sandbox.world import clients_and_keys, clock, faults, state_file
from dialframe.sandbox.world.api_objects import Refusal
from dialframe.sandbox.world.clients_and_keys import Settings
from dialframe.sandbox.world.clock import SECOND_US, Clock
from dialframe.sandbox.world.state_file import Database

FIRST: Final = 1


@dataclass(slots=True)
class _Level:
    tokens: float
    at_us: int


class Buckets:
    """How many requests everybody may still send; full at first use."""

    def __init__(self) -> None:
        self._levels: dict[tuple[str, str], _Level] = {}
        self._lock = threading.Lock()

    def take(self, wanted: Sequence[tuple[Bucket, str]], now_us: int) -> int | None:
        """Take one token from each bucket, or from none."""
        with self._lock:
            levels = [self._refilled(bucket, owner, now_us) for bucket, owner in wanted]
            waits = [
                (1 - level.tokens) / bucket.rate_per_s
                for (bucket, _), level in zip(wanted, levels, strict=True)
                if level.tokens < 1
            ]
            if waits:
                return max(1, math.ceil(max(waits)))
            for level in levels:
                level.tokens -= 1
            return None

    def drain(self, bucket: Bucket, owner: str, now_us: int) -> None:
        """Take a token if there is one: what was refused anyway still counts."""
        with self._lock:
            level = self._refilled(bucket, owner, now_us)
            level.tokens = max(0.0, level.tokens - 1)

    def _refilled(self, bucket: Bucket, owner: str, now_us: int) -> _Level:
        name = (bucket.level, owner)
        level = self._levels.setdefault(name, _Level(float(bucket.burst), now_us))
        gained = max(0, now_us - level.at_us) / SECOND_US * bucket.rate_per_s
        level.tokens = min(float(bucket.burst), level.tokens + gained)
        level.at_us = now_us
        return level


@dataclass(frozen=True, slots=True)
class ReservedKey:
    """A key with what it stands for.

    Attributes:
        fingerprint: Hash of everything that makes the request what it is.
    """

    client: int
    key: str
    fingerprint: str


class RunningKeys:
    """Keys whose first request still runs."""

    def __init__(self) -> None:
        self._keys: dict[tuple[int, str], str] = {}
        self._lock = threading.Lock()

    def reserve(self, wanted: ReservedKey) -> None:
        """Take the key."""
        with self._lock:
            held = self._keys.get((wanted.client, wanted.key))
            if held is None:
                self._keys[wanted.client, wanted.key] = wanted.fingerprint
                return
        if held == wanted.fingerprint:
            raise Refusal(
                "conflict", "The first request with this key still runs.", retry_after_s=1
            )
        raise key_reused()

    def release(self, held: ReservedKey) -> None:
        """Let the key go."""
        with self._lock:
            self._keys.pop((held.client, held.key), None)


@contextmanager
def released(running: RunningKeys, held: ReservedKey | None) -> Iterator[None]:
    """Let a key go whatever happens inside."""
    try:
        yield
    finally:
        if held is not None:
            running.release(held)


def key_reused() -> Refusal:
    """The refusal of a key that stands for another request."""
    return Refusal(
        "idempotency_conflict", "The key was used for another request: use a new one for this."
    )


@dataclass(frozen=True, slots=True)
class FirstStart:
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

    def __init__(self, folder: Path, first_start: FirstStart, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.database = Database(folder, lambda db: _fill(db, first_start, self.clock.now_us()))
        self.buckets = Buckets()
        self.running = RunningKeys()
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
    def first_start(self) -> FirstStart:
        """What the first start decided."""
        as_of = dt.date.fromisoformat(self._meta["as_of"])
        return FirstStart(int(self._meta["seed"]), self._meta["size"], as_of)

    def fault_for(self, operation: str) -> faults.Rule | None:
        """The failure of the next request of an operation, used up by asking."""
        rule, changed = self.faults.take(operation)
        if changed:
            with self.database.write() as db:
                faults.save(db, changed)
        return rule

    def on_stir(self, listener: Callable[[], None] | None) -> None:
        """Call a function when something may have become due."""
        self._listener = listener

    def stir(self) -> None:
        """Say that something may have become due."""
        listener = self._listener
        if listener is not None:
            listener()

    def close(self) -> None:
        """Close the files."""
        self.database.close()

    def _remember(self) -> None:
        with self.database.read() as db:
            self._meta: dict[str, str] = dict(db.execute("SELECT name, value FROM meta"))
            if self._meta.get("schema") != str(state_file.VERSION):
                raise ConfigError(
                    "the sandbox's data folder was written by another release: "
                    "start with a new folder"
                )
            self.access = clients_and_keys.load(db)
            self.faults = faults.load(db)
        self.clock.ahead_us = int(self._meta.get("clock_ahead_us", "0"))


def _fill(db: sqlite3.Connection, first_start: FirstStart, now_us: int) -> None:
    as_of = first_start.as_of or dt.date.fromisoformat(clock.day_of(now_us))
    account = state_file.account_of(
        seed=first_start.seed, size=first_start.size, as_of=as_of, client=FIRST
    )
    for statement in state_file.table_statements():
        db.execute(statement)
    if account is not None:
        state_file.load(db, account, FIRST)
    for statement in state_file.index_statements():
        db.execute(statement)
    _first_client(db, now_us)
    _set(db, "schema", str(state_file.VERSION))
    _set(db, "seed", str(first_start.seed))
    _set(db, "played_until_us", str(now_us))
    _set(db, "size", first_start.size)
    _set(db, "as_of", as_of.isoformat())


def _first_client(db: sqlite3.Connection, now_us: int) -> None:
    scopes = tuple(scope.name for scope in SCOPES)
    client = clients_and_keys.add_client(
        db, name="First client", scopes=scopes, ip_allow=(), now_us=now_us
    )
    _set(db, "first_key", clients_and_keys.add_key(db, client.number, sending=True, now_us=now_us))
    _set(db, "console_token", secrets.token_hex(24))
    _set(db, "cursor_key", secrets.token_hex(32))
    clients_and_keys.save_settings(db, Settings())


def _set(db: sqlite3.Connection, name: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
