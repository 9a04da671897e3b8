"""Everything that one sandbox remembers, what it keeps in memory, and the failures that are asked for."""

from __future__ import annotations

import datetime as dt
import math
import secrets
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dialframe.contract import operations
from dialframe.contract.error_codes import ALL, BY_CODE
from dialframe.contract.limits import Bucket
from dialframe.contract.scopes import SCOPES
from dialframe.errors import ConfigError
from dialframe.sandbox import clock
from dialframe.sandbox.clock import SECOND_US, Clock
from dialframe.sandbox.world import clients_and_keys, sandbox_database
from dialframe.sandbox.world.api_objects import Refusal
from dialframe.sandbox.world.clients_and_keys import Access, Settings
from dialframe.sandbox.world.sandbox_database import Database

ANY: Final = "*"

Drop = Literal["before", "during", "after-commit"]

#: The code that a status stands for when a fault names the status alone.
CODE_BY_STATUS: Final[dict[int, str]] = {
    400: "validation_failed",
    403: "insufficient_scope",
    404: "not_found",
    409: "conflict",
    422: "validation_failed",
    429: "rate_limit_exceeded",
    500: "internal_error",
    503: "temporarily_unavailable",
}


class Rule(BaseModel):
    """One failure, for the next `times` matching requests after the first `after` of them.

    Attributes:
        operation: Name of an operation, or `*` for any.
        status: HTTP status of an error, or of the answer with `body`.
        code: Code of an error; with a status, also one that the contract does not know.
        delay_seconds: Real seconds that the operation takes longer, its key already reserved.
        drop: Where the connection is cut: before anything happens; during the operation (half of a
            read's answer arrives, a write is undone); or after the commit, the answer lost.
        body: What is answered instead of JSON.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    operation: str = ANY
    times: Annotated[int, Field(ge=1)] = 1
    after: Annotated[int, Field(ge=0)] = 0
    status: Annotated[int, Field(ge=200, le=599)] | None = None
    code: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    # The delay falls inside the operation, after its key is reserved: that is when retries meet.
    delay_seconds: Annotated[float, Field(ge=0, le=3600)] | None = None
    drop: Drop | None = None
    body: str | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.operation != ANY and self.operation not in operations.BY_NAME:
            raise ValueError(f"no operation is called {self.operation!r}")
        if self.code is not None and self.status is None and self.code not in BY_CODE:
            raise ValueError(f"the code {self.code!r} is not of the contract: give a status too")
        effects = (self.status, self.code, self.delay_seconds, self.drop, self.body)
        if all(effect is None for effect in effects):
            raise ValueError("name a status, code, delay_seconds, drop or body")
        # A status below 400 only makes sense for an answer with a body of its own.
        if self.body is None and self.code is None and (self.status or 400) < 400:
            raise ValueError("an error has a status of 400 or more")
        return self

    @property
    def refusal(self) -> Refusal | None:
        """The error that it answers with, if it does."""
        if self.body is not None or (self.status is None and self.code is None):
            return None
        detail = "A failure that was asked for at the console."
        of_status = (row.code for row in ALL if self.status in row.statuses)
        code = (
            self.code or CODE_BY_STATUS.get(self.status or 0) or next(of_status, "unknown_error")
        )
        return Refusal(code, detail, status=self.status)

    @property
    def leaves_unknown(self) -> bool:
        """Whether the outcome of a write is not known: until it is reconciled."""
        return self.refusal is not None and self.refusal.code == "outcome_unknown"


#: What befalls most requests; a failure that is asked for has some effect.
NO_FAULT: Final = Rule.model_construct()

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

    # Contract, Limits: token buckets of key, client, account and address; a request passes all or none.
    def take(self, wanted: Sequence[tuple[Bucket, str]], now_us: int) -> int | None:
        """Take one token from each bucket, or from none."""
        with self._lock:
            # Looked at first and taken afterwards: a refused request uses up nothing of what others share.
            levels = [self._refill(bucket, owner, now_us) for bucket, owner in wanted]
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
            level = self._refill(bucket, owner, now_us)
            level.tokens = max(0.0, level.tokens - 1)

    def _refill(self, bucket: Bucket, owner: str, now_us: int) -> _Level:
        name = (bucket.level, owner)
        level = self._levels.setdefault(name, _Level(float(bucket.burst), now_us))
        # Two requests may read the clock in one order and come here in the other.
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
        # Idempotency 6: `conflict` with `Retry-After` while the first request runs; 5: another request.
        if held == wanted.fingerprint:
            raise Refusal("conflict")
        raise key_reused()

    def release(self, held: ReservedKey) -> None:
        """Let the key go."""
        with self._lock:
            self._keys.pop((held.client, held.key), None)


def key_reused() -> Refusal:
    """The refusal of a key that stands for another request."""
    return Refusal("idempotency_conflict")


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
        first_key: The first client's key in plain text, which is printed at every start.
        console_token: What the console is opened with.
        first_start: What the first start decided.
    """

    access: Access

    def __init__(self, folder: Path, first_start: FirstStart, clock: Clock) -> None:
        self.clock = clock
        self.database = Database(folder, lambda db: _fill(db, first_start, self.clock.now_us()))
        self.buckets = Buckets()
        self.running = RunningKeys()
        self.docs_base = ""
        #: How long a change of access takes to act (contract, Authentication 7).
        self.lag_us = 0
        #: What held before a change, and until when it holds.
        self._earlier: list[tuple[int, Access]] = []
        # The loop that delivers webhooks; none while no app runs.
        self._listener: Callable[[], None] | None = None
        try:
            self._remember()
        except BaseException:
            self.database.close()
            raise

    # Kept in the table alone: what is armed outlives a restart, and two requests never share one failure.
    def fault_for(self, operation: str) -> Rule:
        """The failure of the next request of an operation; every matching rule counts it until one takes it."""
        matching = "FROM faults WHERE rule ->> 'operation' IN (?, ?) ORDER BY number"
        # Most requests meet none, and need not wait for their turn to write.
        with self.database.read() as db:
            if db.execute(f"SELECT 1 {matching}", (ANY, operation)).fetchone() is None:
                return NO_FAULT
        with self.database.write() as db:
            rules = db.execute(f"SELECT number, rule, after {matching}", (ANY, operation))
            for number, rule, after in rules.fetchall():
                # It lets so many matching requests pass before it makes one fail.
                counter = "after" if after else "times"
                db.execute(
                    f"UPDATE faults SET {counter} = {counter} - 1 WHERE number = ?", (number,)
                )
                if not after:
                    db.execute("DELETE FROM faults WHERE times = 0")
                    return Rule.model_validate_json(rule)
        return NO_FAULT

    def change_access(self, access: Access) -> None:
        """Take other clients, credentials or settings; what they withdraw holds for requests until the lag is over."""
        if self.lag_us:
            self._earlier.append((self.clock.now_us() + self.lag_us, self.access))
        self.access = access

    def access_of_requests(self, now_us: int) -> Access:
        """What holds for a request that comes at an instant."""
        self._earlier = [
            (until_us, access) for until_us, access in self._earlier if until_us > now_us
        ]
        held = self.access
        # The oldest that still holds says what a client may do; a key that was made since is known at once.
        for _, earlier in reversed(self._earlier):
            held = replace(
                earlier,
                clients=held.clients | earlier.clients,
                credentials=held.credentials | earlier.credentials,
            )
        return held

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
            meta: dict[str, str] = dict(db.execute("SELECT name, value FROM meta"))
            if meta.get("schema") != str(sandbox_database.VERSION):
                # Tables of another release would be misread in silence.
                raise ConfigError(
                    "the sandbox's data folder was written by another release: "
                    "start with a new folder"
                )
            self.access = clients_and_keys.load(db)
        self.first_key, self.console_token = meta["first_key"], meta["console_token"]
        as_of = dt.date.fromisoformat(meta["as_of"])
        self.first_start = FirstStart(int(meta["seed"]), meta["size"], as_of)
        # The clock goes on where it stood, plus the real time since.
        self.clock.ahead_us = int(meta.get("clock_ahead_us", "0"))


def _fill(db: sqlite3.Connection, first_start: FirstStart, now_us: int) -> None:
    as_of = first_start.as_of or dt.date.fromisoformat(clock.day_of(now_us))
    for name, columns in sandbox_database.TABLES.items():
        db.execute(f"CREATE TABLE {name} ({columns})")
    load_account(db, replace(first_start, as_of=as_of), FIRST)
    # Indexes last: building them over tables that are filled already is faster.
    for index in sandbox_database.INDEXES:
        db.execute(f"CREATE INDEX {index}")
    for name in sandbox_database.IDENTIFIED:
        db.execute(f"CREATE UNIQUE INDEX {name}_id ON {name} (client, id)")
    # The first client may do everything, so that its key reaches every operation out of the box.
    scopes = tuple(scope.name for scope in SCOPES)
    client = clients_and_keys.add_client(
        db, name="First client", scopes=scopes, ip_allow=(), now_us=now_us
    )
    meta = {
        "schema": sandbox_database.VERSION,
        "seed": first_start.seed,
        "size": first_start.size,
        "as_of": as_of,
        "played_until_us": now_us,
        "settings": Settings().model_dump_json(),
        "first_key": clients_and_keys.add_key(db, client.number, sending=True, now_us=now_us),
        "console_token": secrets.token_hex(24),
        "cursor_key": secrets.token_hex(32),
    }
    for name, value in meta.items():
        sandbox_database.write_meta(db, name, value)


#: What a size draws for a further client differs from the first client's, and is the same each time.
_SEED_STEP: Final = 1_000_003


def load_account(db: sqlite3.Connection, first_start: FirstStart, client: int) -> None:
    """Insert the synthetic account of a client, if its size has one."""
    # numpy and the generator are only loaded where an account is drawn.
    if first_start.size == "empty" or first_start.as_of is None:
        return
    from dialframe.sandbox.seed import generate

    seed = first_start.seed + _SEED_STEP * (client - 1)
    account = generate(seed=seed, size=first_start.size, as_of=first_start.as_of)
    for name, table in account.tables.items():
        columns = ("client", *table.columns)
        marks = ", ".join("?" * len(columns))
        db.executemany(
            f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})",
            ((client, *row) for row in table.rows),
        )
