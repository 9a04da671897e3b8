"""One SQLite file with the sandbox's tables: who may read, who writes, a transaction each.

WAL keeps readers and the one writer apart: a reader sees the last commit, whole. `synchronous =
NORMAL` loses nothing when the process is killed, which is what is promised.

Rule 1: everything that a client owns carries its number in `client`, first in every index: what one
client creates is never found by another.
Rule 2: instants are whole microseconds of UTC, documents JSON text, flags 0 or 1. A lead's `due_at`
is its place in the dialing order; its `slot_at` the instant that it was given in it.
Rule 3: a list's index is (client, filter..., created_at, id), in the order that its pages are read.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from dialframe.errors import ConfigError
from dialframe.files import exclusive
from dialframe.sqlite import connect

VERSION: Final = 2

#: Table to its columns as SQLite takes them.
TABLES: Final[dict[str, str]] = {
    "meta": "name TEXT PRIMARY KEY, value TEXT NOT NULL",
    "clients": """number INTEGER PRIMARY KEY, client_id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
        scopes TEXT NOT NULL, ip_allow TEXT NOT NULL, enabled INTEGER NOT NULL,
        created_at INTEGER NOT NULL""",
    "credentials": """credential_id TEXT PRIMARY KEY, client INTEGER NOT NULL,
        secret_hash TEXT NOT NULL, sending INTEGER NOT NULL, revoked INTEGER NOT NULL,
        created_at INTEGER NOT NULL""",
    # Contract, Idempotency 2: by client and key, kept 24 hours; 7: `unconfirmed` holds the open request.
    "idempotency": """client INTEGER NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL,
        status INTEGER NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL,
        created_at INTEGER NOT NULL, unconfirmed TEXT, PRIMARY KEY (client, key)""",
    "faults": "number INTEGER PRIMARY KEY, rule TEXT NOT NULL, after INTEGER, times INTEGER",
    "campaigns": """client INTEGER NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
        status TEXT NOT NULL, dialer_mode TEXT NOT NULL, created_at INTEGER NOT NULL,
        updated_at INTEGER, started_at INTEGER, completed_at INTEGER, max_attempts INTEGER,
        retry_gap_minutes REAL, calls_per_minute REAL""",
    # Resources, Lead; `slot_at` and `due_at` are the dialer's.
    "leads": """client INTEGER NOT NULL, id TEXT NOT NULL, campaign_id TEXT, external_id TEXT,
        phone TEXT NOT NULL, full_name TEXT, email TEXT, status TEXT NOT NULL,
        attempts INTEGER NOT NULL, custom_fields TEXT, last_attempt_at INTEGER,
        next_attempt_at INTEGER, disposition_code TEXT, hangup_cause TEXT,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, slot_at INTEGER,
        due_at INTEGER GENERATED ALWAYS AS (CASE WHEN slot_at IS NOT NULL THEN NULL
            WHEN status = 'new' THEN coalesce(next_attempt_at, created_at)
            WHEN status = 'contacted' THEN next_attempt_at END) VIRTUAL""",
    # Resources, Call record; lead and agent are in no answer.
    "calls": """client INTEGER NOT NULL, id TEXT NOT NULL, direction TEXT NOT NULL,
        from_number TEXT NOT NULL, to_number TEXT NOT NULL, status TEXT NOT NULL,
        created_at INTEGER NOT NULL, answered_at INTEGER, ended_at INTEGER, duration_seconds,
        campaign_id TEXT, disposition TEXT, hangup_cause TEXT, lead_id TEXT, agent_extension TEXT""",
    # Steps of calls under way, leads that go first: what the clock has still to play.
    "agenda": """number INTEGER PRIMARY KEY, client INTEGER NOT NULL, at INTEGER NOT NULL,
        step TEXT NOT NULL, about TEXT NOT NULL, plan TEXT NOT NULL""",
    "ticks": "client INTEGER PRIMARY KEY, at INTEGER NOT NULL",
    "holds": "client INTEGER PRIMARY KEY, until INTEGER NOT NULL",
    "counters": """client INTEGER NOT NULL, kind TEXT NOT NULL, next INTEGER NOT NULL,
        PRIMARY KEY (client, kind)""",
    # Resources, Callback; `call_at` is when it is tried, `asked_by` whether a request or a call promised it.
    "callbacks": """client INTEGER NOT NULL, id TEXT NOT NULL, lead_id TEXT,
        campaign_id TEXT NOT NULL, scheduled_at INTEGER NOT NULL, status TEXT NOT NULL, notes TEXT,
        created_at INTEGER NOT NULL, call_at INTEGER, asked_by TEXT""",
    "appointments": """client INTEGER NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL,
        scheduled_at INTEGER NOT NULL, timezone TEXT, duration_minutes INTEGER NOT NULL,
        service_type TEXT, contact_name TEXT, phone TEXT NOT NULL, email TEXT, notes TEXT,
        source TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
        lead_id TEXT""",
    # Do-Not-Call, consent and what the console alone can make: agents, caller IDs, sources, field rules.
    "dnc": """client INTEGER NOT NULL, phone TEXT NOT NULL, listed_at INTEGER NOT NULL,
        source TEXT NOT NULL, reason TEXT, PRIMARY KEY (client, phone)""",
    "consents": """client INTEGER NOT NULL, id TEXT NOT NULL, phone TEXT NOT NULL,
        channel TEXT NOT NULL, source TEXT NOT NULL, obtained_at INTEGER NOT NULL, evidence TEXT,
        created_at INTEGER NOT NULL""",
    "agents": """client INTEGER NOT NULL, extension TEXT NOT NULL, email TEXT NOT NULL,
        state TEXT NOT NULL, PRIMARY KEY (client, extension)""",
    "caller_ids": "client INTEGER NOT NULL, number TEXT NOT NULL, PRIMARY KEY (client, number)",
    "lead_sources": "client INTEGER NOT NULL, code TEXT NOT NULL, PRIMARY KEY (client, code)",
    "field_rules": """number INTEGER PRIMARY KEY, client INTEGER NOT NULL, field TEXT NOT NULL,
        required INTEGER NOT NULL, pattern TEXT""",
    "messages": """client INTEGER NOT NULL, id TEXT NOT NULL, recipient TEXT NOT NULL,
        body TEXT NOT NULL, status TEXT NOT NULL, client_reference TEXT NOT NULL,
        created_at INTEGER NOT NULL""",
    # What would have been sent, what a check refused, and what was spent of the caps.
    "outbox": """number INTEGER PRIMARY KEY, client INTEGER NOT NULL, kind TEXT NOT NULL,
        recipient TEXT NOT NULL, at INTEGER NOT NULL, about TEXT NOT NULL, detail TEXT NOT NULL""",
    "refusals": """number INTEGER PRIMARY KEY, client INTEGER NOT NULL, kind TEXT NOT NULL,
        recipient TEXT NOT NULL, at INTEGER NOT NULL, code TEXT NOT NULL, about TEXT NOT NULL,
        reason TEXT""",
    "spent": """client INTEGER NOT NULL, credential_id TEXT NOT NULL, kind TEXT NOT NULL,
        at INTEGER NOT NULL, cost REAL NOT NULL""",
    # Resources, Webhook endpoint, event and delivery; Limits: five replays of an event per UTC day.
    "webhooks": """client INTEGER NOT NULL, id TEXT NOT NULL, url TEXT NOT NULL,
        description TEXT NOT NULL, events TEXT NOT NULL, enabled INTEGER NOT NULL,
        secret TEXT NOT NULL, previous_secret TEXT, previous_until INTEGER,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL""",
    "events": """client INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,
        created_at INTEGER NOT NULL, data TEXT NOT NULL""",
    "deliveries": """number INTEGER PRIMARY KEY, client INTEGER NOT NULL, id TEXT NOT NULL,
        webhook_id TEXT NOT NULL, event_id TEXT NOT NULL, status TEXT NOT NULL,
        attempts INTEGER NOT NULL, replay_of TEXT, last_status_code INTEGER,
        last_attempt_at INTEGER, next_attempt_at INTEGER, delivered_at INTEGER,
        failure_reason TEXT, created_at INTEGER NOT NULL""",
    "replays": "client INTEGER NOT NULL, event_id TEXT NOT NULL, at INTEGER NOT NULL",
    # The answer sheet of a synthetic account, which no request reaches.
    "ground_truth": """client INTEGER NOT NULL, fault TEXT NOT NULL, resource TEXT NOT NULL,
        id TEXT NOT NULL, expected TEXT, detail TEXT""",
}

#: Indexes, made after the first account is loaded: building them over finished tables is faster.
INDEXES: Final[tuple[str, ...]] = (
    "idempotency_age ON idempotency (created_at)",
    "campaigns_page ON campaigns (client, created_at, id)",
    "leads_page ON leads (client, created_at, id)",
    "leads_campaign ON leads (client, campaign_id, created_at, id)",
    "leads_status ON leads (client, status, created_at, id)",
    "leads_external ON leads (client, external_id)",
    "leads_phone ON leads (client, phone)",
    "calls_page ON calls (client, created_at, id)",
    "calls_campaign ON calls (client, campaign_id, created_at, id)",
    "calls_number ON calls (client, to_number, created_at)",
    "calls_lead ON calls (client, lead_id, created_at, id)",
    "leads_due ON leads (client, campaign_id, due_at, id) WHERE due_at IS NOT NULL",
    "leads_slot ON leads (slot_at) WHERE slot_at IS NOT NULL",
    "agenda_at ON agenda (at)",
    "callbacks_due ON callbacks (coalesce(call_at, scheduled_at)) WHERE status = 'pending'",
    "callbacks_campaign ON callbacks (client, campaign_id, created_at, id)",
    "appointments_page ON appointments (client, created_at, id)",
    "consents_phone ON consents (client, phone)",
    "messages_page ON messages (client, created_at, id)",
    "messages_reference ON messages (client, client_reference)",
    "outbox_client ON outbox (client, at)",
    "refusals_client ON refusals (client, at)",
    "spent_at ON spent (at)",
    "webhooks_page ON webhooks (client, created_at, id)",
    "events_page ON events (client, created_at, id)",
    "deliveries_event ON deliveries (client, event_id)",
    "deliveries_webhook ON deliveries (client, webhook_id)",
    "deliveries_due ON deliveries (next_attempt_at) WHERE next_attempt_at IS NOT NULL",
    "replays_event ON replays (client, event_id, at)",
)

#: Tables whose rows are found by (client, id).
IDENTIFIED: Final[tuple[str, ...]] = (
    "campaigns", "leads", "calls", "callbacks", "appointments", "consents", "messages",
    "webhooks", "events", "deliveries",
)  # fmt: skip


def read_meta(db: sqlite3.Connection, name: str) -> str:
    """What is kept of the sandbox as a whole under a name."""
    (value,) = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return str(value)


def write_meta(db: sqlite3.Connection, name: str, value: object) -> None:
    """Keep a text or a number for the sandbox as a whole, in the place of an older one."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, str(value)))


def records(cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
    """Rows by the names of their columns."""
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


FILE = "sandbox.sqlite"
LOCK = "in-use.lock"

# What a start that was broken off may have left.
_OURS = {LOCK, FILE.replace(".sqlite", ".new")}

_PRAGMAS = (
    # Readers and the writer do not wait for each other.
    "PRAGMA journal_mode = WAL",
    # A commit survives the process, though perhaps not a power cut.
    "PRAGMA synchronous = NORMAL",
    # Nothing here is a person's: deleted pages need no overwriting.
    "PRAGMA secure_delete = OFF",
    "PRAGMA busy_timeout = 10000",
    # Negative: in KiB, so 64 MiB for each connection.
    "PRAGMA cache_size = -65536",
    "PRAGMA temp_store = MEMORY",
)


class Database:
    """Connections to one file, which nobody else may have open.

    A folder without the file gets one: `fill` writes it, and it gets its name when it is whole, so
    that a start that was broken off leaves nothing behind.
    """

    def __init__(self, folder: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True)
        elif not folder.is_dir():
            raise ConfigError(f"the sandbox's data folder {folder} is a file: name a folder")
        elif (
            not {path.name for path in folder.iterdir()} <= _OURS and not (folder / FILE).exists()
        ):
            raise ConfigError(
                f"the folder {folder} holds other files: name an empty folder or one of a sandbox"
            )
        folder.chmod(0o700)
        self._folder_lock = _alone_in(folder)
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
            self._folder_lock.close()
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
            # Takes the write lock at once instead of failing in the middle.
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
            self._folder_lock.close()

    def _open(self) -> sqlite3.Connection:
        connection = connect(self._path, across_threads=True)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        with self._guard:
            self._all.append(connection)
        return connection


def _create(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    connection = connect(unfinished)
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


def _alone_in(folder: Path) -> ExitStack:
    """Hold the folder until this is closed or the process ends."""
    held = ExitStack()
    if not held.enter_context(exclusive(folder / LOCK, wait=False)):
        held.close()
        raise ConfigError(
            f"another sandbox is using the folder {folder}: stop it, or name another folder"
        )
    return held
