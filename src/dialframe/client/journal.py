"""The write journal: every write on disk before its first byte leaves, and what it does to people.

A write whose answer never came may have happened. Its idempotency key shows whether it did, sent again with
the same bytes within 24 hours; so both are on disk, synced, before anything is sent, and survive the
process. The bytes go as soon as the write is settled, and after 24 hours in any case: they hold
personal data. Answers are not kept: they may hold signing secrets. What a wish not to be called
(`dnc.add`) or a consent (`consents.record`) said stays, as evidence of who and when, until it is forgotten.

States: `pending` (sent or about to be, no answer that stays), `answered`, `outcome_unknown` (the
service itself does not know), `failed` (refused, or never sent: it did not happen).
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import unquote

import platformdirs

from dialframe.client.request_plan import PlannedRequest
from dialframe.contract import limits
from dialframe.contract.operations import BY_NAME
from dialframe.errors import ConfigError, StoreError
from dialframe.privacy import mask
from dialframe.sqlite import connect

State = Literal["pending", "answered", "outcome_unknown", "failed"]

FILE_NAME: Final = "writes.sqlite3"
#: How long a key is asked with again. The service forgets keys after 24 hours; the minute is for the way.
KEY_LIFE: Final = timedelta(hours=limits.IDEMPOTENCY_RETENTION_HOURS) - timedelta(minutes=1)
#: How long a settled write stays listed, without its bytes.
KEPT: Final = timedelta(days=30)
#: A write that reaches people is sent again only so long after it was meant, where it says nothing else.
WINDOW: Final = timedelta(minutes=5)
_BUSY_S: Final = 10.0

#: What an operation does to people when it happens, and the field that says to whom.
REACHES: Final[Mapping[str, tuple[str, str]]] = {
    "calls.start": ("calls", "to"),
    "leads.create": ("calls", "phone"),
    "campaigns.resume": ("starts the calls of", "campaign_id"),
    "sms.send": ("texts", "to"),
    "whatsapp.send": ("texts", "to"),
    "callbacks.create": ("has the platform call", "lead_id"),
    "callbacks.reschedule": ("has the platform call the lead of", "callback_id"),
    "appointments.create": ("may text", "phone"),
    "appointments.cancel": ("may text the customer of", "appointment_id"),
    "appointments.reschedule": ("may text the customer of", "appointment_id"),
}

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
#: Enough for tidying and for the list of open writes, so that neither reads the table through.
_INDEX: Final = "CREATE INDEX IF NOT EXISTS writes_by_state ON writes (state, created_at, query)"


@dataclass(frozen=True, slots=True)
class Reach:
    """What a request does to people.

    Attributes:
        what: In words, numbers masked.
        to: Whom, masked, or the id of what leads to them.
        late_at: When doing it begins to be late; None for what reaches nobody by itself.
    """

    what: str
    to: str | None
    late_at: datetime | None


def reach_of(request: PlannedRequest | None, meant_at: datetime) -> Reach | None:
    """What a request does to people, meant at an instant; None without its bytes.

    A lead that is dialed first has a window of its own (`dial_within_seconds`), a callback is due
    at its `scheduled_at`; everything else that calls or texts has five minutes.
    """
    if request is None:
        return None
    fields = _fields(request)
    verb, name = REACHES.get(request.operation, ("", ""))
    if not verb or (request.operation == "leads.create" and not fields.get("dial_now")):
        to = fields.get("phone") or fields.get("to")
        whom = mask(to) if isinstance(to, str) else _id_in(request.path)
        return Reach(f"{request.operation} {whom or ''}".strip(), whom, None)
    value = str(fields.get(name) or _id_in(request.path) or "somebody")
    whom = mask(value) if value.startswith("+") else value
    window = WINDOW
    if request.operation == "leads.create":
        window = timedelta(
            seconds=fields.get("dial_within_seconds") or limits.DIAL_WITHIN_DEFAULT_S
        )
    late_at, due = meant_at + window, ""
    if "scheduled_at" in fields and request.operation.startswith("callbacks."):
        scheduled_at = datetime.fromisoformat(fields["scheduled_at"])
        late_at, due = max(late_at, scheduled_at), f" at {scheduled_at:%Y-%m-%d %H:%M} UTC"
    return Reach(f"{verb} {whom}{due}", whom, late_at)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Evidence:
    """A wish or a consent that was given to the service.

    Attributes:
        operation: `dnc.add` or `consents.record`.
        key: Idempotency key of the write.
        at: When it was first about to be sent, UTC.
        fields: What the request said.
    """

    operation: str
    key: str
    at: datetime
    fields: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Evidence({self.operation} of {self.at:%Y-%m-%d %H:%M} UTC, {mask(str(self.fields.get('phone')))})"


def _fields(request: PlannedRequest) -> dict[str, Any]:
    try:
        body = json.loads(request.body or b"{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _id_in(path: str) -> str | None:
    """The id in a path such as `/v1/campaigns/cmp_.../resume`, or None."""
    return next((unquote(part) for part in path.split("/") if "_" in part and "-" in part), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write as the journal has it.

    Attributes:
        key: Its idempotency key.
        operation: Name of the operation.
        created_at: When it was first about to be sent, UTC.
        state: What is known of it.
        status: HTTP status of the last answer, or None.
        code: Code of the last refusal, or None.
        request_id: `X-Request-ID` of the last answer, or None.
        what: What it does, in words, numbers masked; the operation's name once its bytes are gone.
        to: Whom it reaches, masked, or the id of what it changes; None where it names nobody.
        tier: 1 for what is safe or reduces contact, 2 for what can reach people (contract, Tiers).
        late_at: When sending it again begins to be late; None for what reaches nobody by itself.
        digest: SHA-256 of method, path, query and body.
        request: The request with its bytes; None once it is settled, or older than 24 hours.
    """

    key: str
    operation: str
    created_at: datetime
    state: State
    status: int | None
    code: str | None
    request_id: str | None
    what: str
    to: str | None
    tier: int
    late_at: datetime | None
    digest: str = field(repr=False)
    request: PlannedRequest | None = field(repr=False)

    def expired(self, now: datetime) -> bool:
        """Whether the service may have forgotten the key.

        Args:
            now: An instant with a zone.

        Returns:
            True from 24 hours after it was first about to be sent.
        """
        return now - self.created_at >= KEY_LIFE

    def late(self, now: datetime) -> bool:
        """Whether sending it again would reach people later than it was meant.

        Args:
            now: An instant with a zone.

        Returns:
            True after `late_at`; false for a write that reaches nobody, and for one whose outcome the
            service itself does not know.
        """
        # The service itself keeps a key whose outcome it does not know, and never acts on it again.
        return self.late_at is not None and now > self.late_at and self.state != "outcome_unknown"

    def __str__(self) -> str:
        return (
            f"{self.operation} of {self.created_at:%Y-%m-%d %H:%M} UTC ({self.state}): {self.what}"
        )


def write_of(row: Mapping[str, Any]) -> Write:
    """A row of the journal as a value."""
    request = None
    if row["query"] is not None:
        request = PlannedRequest(
            operation=row["operation"],
            method=row["method"],
            path=row["path"],
            query=row["query"],
            headers=json.loads(row["headers"]),
            body=row["body"],
        )
    operation, created_at = row["operation"], datetime.fromisoformat(row["created_at"])
    reach = reach_of(request, created_at)
    known = BY_NAME.get(operation)
    return Write(
        key=row["key"],
        operation=operation,
        created_at=created_at,
        what=operation if reach is None else reach.what,
        to=None if reach is None else reach.to,
        tier=1 if known is None else known.tier,
        late_at=None if reach is None else reach.late_at,
        state=row["state"],
        status=row["status"],
        code=row["code"],
        request_id=row["request_id"],
        digest=row["digest"],
        request=request,
    )


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
        key = _key_of(request)
        with self._transaction() as database:
            self._tidy(database, now)
            known = self._find(database, key)
            if known is None:
                self._put(database, request, now)
                return None
            refuse_reuse(known, request, now, late=late)
            if known.state == "failed":
                # It did not happen then; a key that the service never had, or forgot, begins anew.
                anew = known.status is None or known.expired(now)
                self._put(database, request, now if anew else known.created_at)
            elif known.request is None:
                # Its bytes were let go; the digest says that these are the same.
                self._put(database, request, known.created_at, state=known.state)
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
            self._set(database, key, state, status, code, request_id)

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
        if not self.file.exists():
            return 0
        digits = phone.lstrip("+")
        with self._transaction() as database:
            database.execute("DELETE FROM evidence WHERE instr(fields, ?)", (digits,))
            return database.execute(
                "UPDATE writes SET body = NULL, query = NULL WHERE query IS NOT NULL "
                "AND (instr(CAST(body AS TEXT), ?) OR instr(query, ?))",
                (digits, digits),
            ).rowcount

    def find(self, key: str) -> Write | None:
        """Look a write up.

        Args:
            key: Its idempotency key.

        Returns:
            The write, or None where this account has none of that key.

        Raises:
            StoreError: The journal cannot be read.
        """
        if not self.file.exists():
            return None
        with self._transaction() as database:
            return self._find(database, key)

    def unsettled(self) -> list[Write]:
        """Writes of this account whose outcome is open.

        Returns:
            Those that are pending or unknown, oldest first.

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

    def evidence(self) -> list[Evidence]:
        """Wishes not to be called and consents that were given to the service, oldest first.

        Raises:
            StoreError: The journal cannot be read.
        """
        if not self.file.exists():
            return []
        with self._transaction() as database:
            rows = database.execute(
                "SELECT * FROM evidence WHERE account = ? ORDER BY at, key", (self._account,)
            )
            return [
                Evidence(
                    operation=row["operation"], key=row["key"],
                    at=datetime.fromisoformat(row["at"]), fields=json.loads(row["fields"]),
                )
                for row in rows
            ]  # fmt: skip

    def _find(self, database: sqlite3.Connection, key: str) -> Write | None:
        row = database.execute(
            "SELECT * FROM writes WHERE account = ? AND key = ?", (self._account, key)
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
        database.execute(
            "INSERT OR REPLACE INTO writes "
            "VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL, ?, ?, ?, ?, ?)",
            (self._account, request.key, request.operation, request.digest, stamp(created_at),
             state, request.method, request.path, request.query, json.dumps(dict(request.headers)),
             request.body),
        )  # fmt: skip
        if request.operation in _EVIDENCE:
            database.execute(
                "INSERT OR IGNORE INTO evidence VALUES (?, ?, ?, ?, ?)",
                (self._account, request.key, request.operation, stamp(created_at),
                 json.dumps(_fields(request))),
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
        if state in ("answered", "failed"):
            database.execute(
                "UPDATE writes SET body = NULL, query = NULL WHERE account = ? AND key = ?",
                (self._account, key),
            )

    def _tidy(self, database: sqlite3.Connection, now: datetime) -> None:
        # The bytes hold personal data: they go once their key can no longer be asked with.
        database.execute(
            "UPDATE writes SET body = NULL, query = NULL WHERE query IS NOT NULL AND created_at < ?",
            (stamp(now - KEY_LIFE),),
        )
        database.execute(
            "DELETE FROM writes WHERE state IN ('answered', 'failed') AND created_at < ?",
            (stamp(now - KEPT),),
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(connect(self.file, busy_s=_BUSY_S)) as database:
                database.row_factory = sqlite3.Row
                database.execute("BEGIN IMMEDIATE")
                with database:
                    database.execute(_SCHEMA)
                    database.execute(_INDEX)
                    database.execute(_KEPT)
                    yield database
        except (OSError, sqlite3.Error) as error:
            if is_full(error):
                raise StoreError(
                    f"the disk of the write journal {self.file} is full: make room there, or pass "
                    "journal=... on another disk; without the journal no write is sent"
                ) from None
            raise StoreError(
                f"the write journal {self.file} cannot be used ({error}): make its folder "
                "writable, or pass journal=... another one; without it no write is sent"
            ) from None


def is_full(error: Exception) -> bool:
    """Whether an error of a file or of SQLite says that there is no room left."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def default_folder() -> Path:
    """Where the platform keeps a program's state."""
    return platformdirs.user_state_path("dialframe") / "journal"


def _key_of(request: PlannedRequest) -> str:
    if request.key is None:
        raise ConfigError(f"{request.operation}: a write without an idempotency key has no entry")
    return request.key


def refuse_reuse(known: Write, request: PlannedRequest, now: datetime, *, late: bool) -> None:
    """Refuse to send a key again that stands for something else, is too old, or would reach people late.

    Raises:
        ConfigError: The key belongs to another request, the service may have forgotten it, or what it
            does was meant long ago and `late` does not say that it may be done now.
    """
    if known.digest != request.digest:
        raise ConfigError(
            f"{request.operation}: the idempotency key {known.key!r} belongs to another request "
            f"({known.operation}): use a new key for a new request"
        )
    if known.expired(now) and known.state != "failed":
        raise too_old(known)
    if known.state == "pending" and known.late(now) and not late:
        raise too_late(known, "options=Options(late=True)")


def too_late(write: Write, unless: str) -> ConfigError:
    """The refusal to reach people later than it was meant."""
    return ConfigError(
        f"{write.operation}: the write {write.key!r} was meant at {write.created_at:%Y-%m-%d %H:%M} UTC "
        f"and has no answer; sent again, it {write.what} now if the service never had it, which is "
        f"late: look at the resource first, then client.writes.dismiss({write.key!r}), which sends "
        f"nothing, or give {unless}"
    )


def too_old(write: Write) -> ConfigError:
    """The refusal to ask with a key that the service may have forgotten."""
    return ConfigError(
        f"{write.operation}: the idempotency key {write.key!r} is from "
        f"{write.created_at.isoformat()} and the service keeps keys "
        f"{limits.IDEMPOTENCY_RETENTION_HOURS} hours, so sending it again may do it twice: look at "
        "the resource first, then either make the write anew with a new key, or take this one off "
        f"the list with client.writes.dismiss({write.key!r})"
    )


def stamp(moment: datetime) -> str:
    """A moment as text that compares as time does."""
    # One zone and one width.
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
