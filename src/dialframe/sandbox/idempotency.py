"""Idempotency (contract, Conventions): which requests run now, and the answers kept for 24 hours.

A key is reserved in memory before its operation runs and let go when that ended. The answer is kept
by the same transaction that holds the write. So a process that is killed leaves one of two things:
write and answer, which the next request is answered with, or neither, and the next request runs.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from dialframe.contract import limits
from dialframe.contract.codes import NOT_STORED_STATUSES
from dialframe.sandbox.exchange import Reply
from dialframe.sandbox.instants import SECOND_US
from dialframe.sandbox.problems import Refusal

RETENTION_US: Final = limits.IDEMPOTENCY_RETENTION_HOURS * 3600 * SECOND_US
REPLAYED: Final = ("Idempotency-Replayed", "true")


@dataclass(frozen=True, slots=True)
class Reserved:
    """A key with what it stands for.

    Attributes:
        fingerprint: Hash of everything that makes the request what it is.
    """

    client: int
    key: str
    fingerprint: str


class Running:
    """Keys whose first request still runs."""

    def __init__(self) -> None:
        self._keys: dict[tuple[int, str], str] = {}
        self._lock = threading.Lock()

    def reserve(self, wanted: Reserved) -> None:
        """Take the key.

        Raises:
            Refusal: `conflict` while the same request runs, `idempotency_conflict` for another.
        """
        with self._lock:
            held = self._keys.get((wanted.client, wanted.key))
            if held is None:
                self._keys[wanted.client, wanted.key] = wanted.fingerprint
                return
        if held == wanted.fingerprint:
            raise Refusal(
                "conflict", "The first request with this key still runs.", retry_after_s=1
            )
        raise _reused()

    def release(self, held: Reserved) -> None:
        """Let the key go."""
        with self._lock:
            self._keys.pop((held.client, held.key), None)


@contextmanager
def released(running: Running, held: Reserved | None) -> Iterator[None]:
    """Let a key go whatever happens inside."""
    try:
        yield
    finally:
        if held is not None:
            running.release(held)


def fingerprint(method: str, path: str, query: list[tuple[str, str]], rest: Any) -> str:
    """What two requests have in common that are the same one: `rest` is the body and `If-Match`."""
    whole = json.dumps([method, path, sorted(query), rest], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def stored(db: sqlite3.Connection, wanted: Reserved, now_us: int) -> Reply | None:
    """The answer that was kept for this request, marked as replayed, or None.

    Raises:
        Refusal: `idempotency_conflict`: the key was used for another request.
    """
    row = db.execute(
        "SELECT fingerprint, status, headers, body FROM idempotency"
        " WHERE client = ? AND key = ? AND created_at > ?",
        (wanted.client, wanted.key, now_us - RETENTION_US),
    ).fetchone()
    if row is None:
        return None
    if row[0] != wanted.fingerprint:
        raise _reused()
    headers = tuple((name, value) for name, value in json.loads(row[2]))
    return Reply(row[1], row[3], (*headers, REPLAYED))


def keep(db: sqlite3.Connection, held: Reserved, reply: Reply, now_us: int) -> None:
    """Keep an answer under its key, unless it says to try again; forget those that are too old."""
    if reply.status in NOT_STORED_STATUSES:
        return
    db.execute("DELETE FROM idempotency WHERE created_at <= ?", (now_us - RETENTION_US,))
    body = reply.body if reply.stored_body is None else reply.stored_body
    db.execute(
        "INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            held.client,
            held.key,
            held.fingerprint,
            reply.status,
            json.dumps(reply.headers),
            body,
            now_us,
        ),
    )


def _reused() -> Refusal:
    return Refusal(
        "idempotency_conflict", "The key was used for another request: use a new one for this."
    )
