"""Versions and heads in SQL: looked up, inserted, pointed to; opens nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from dialframe.store.encode import Value
from dialframe.store.layout import Layout

#: Content hash of "no longer listed", which no content has.
GONE: Final = b"gone"


@dataclass(frozen=True, slots=True)
class Version:
    """One observed content of a row.

    Attributes:
        seq: Its place in the order of arrival.
        key: The row's key.
        values: Payload in the layout's order.
        observed_at: When it was observed, microseconds since 1970 UTC.
        request_id: The service's id of the answer that brought it.
        until: From when on another version counts.
        gone: Whether it says that the row is no longer listed.
    """

    seq: int
    key: str
    values: tuple[Value, ...]
    observed_at: int
    request_id: str | None
    until: int
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """The latest version of a row: where it is, since when, when seen last, its hash and campaign."""

    seq: int
    since: int
    seen_at: int
    digest: bytes
    scope: int | None


def heads_of(
    connection: sqlite3.Connection, layout: Layout, keys: Sequence[str]
) -> dict[str, Head]:
    """The latest versions of the keys that are known."""
    found = connection.execute(
        f"SELECT _key, seq, since, seen_at, digest, scope FROM {layout.heads} "
        "WHERE _key IN (SELECT value FROM json_each(?))",
        (json.dumps(keys),),
    )
    return {key: Head(*facts) for key, *facts in found}


def insert_versions(
    connection: sqlite3.Connection, layout: Layout, versions: Iterable[Version]
) -> None:
    """Put versions into the tail."""
    names = ("seq", "_key", *layout.names, "_observed_at", "_request_id", "_until", "_gone")
    connection.executemany(
        f"INSERT INTO {layout.versions} ({', '.join(names)}) "
        f"VALUES ({', '.join('?' * len(names))})",
        [
            (v.seq, v.key, *v.values, v.observed_at, v.request_id, v.until, v.gone)
            for v in versions
        ],
    )


def put_heads(
    connection: sqlite3.Connection,
    layout: Layout,
    heads: Iterable[tuple[Version, bytes, int | None]],
) -> None:
    """Point keys to versions that are their latest from now on, with their hashes and campaigns."""
    connection.executemany(
        f"INSERT OR REPLACE INTO {layout.heads} "
        "(_key, seq, since, seen_at, misses, gone, scope, digest) VALUES (?, ?, ?, ?, 0, ?, ?, ?)",
        [
            (v.key, v.seq, v.observed_at, v.observed_at, v.gone, scope, digest)
            for v, digest, scope in heads
        ],
    )
