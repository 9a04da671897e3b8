"""What happens to rows inside one write transaction: appended, set aside, missed; opens nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dialframe.store.encode import Bad, Row, Value, digest_of
from dialframe.store.layout import Layout

#: Content hash of "no longer listed", which no content has.
GONE = b"gone"

Written = tuple[int, str, tuple[Value, ...], int, str | None, bytes, int]


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a request was sent (microseconds since 1970 UTC), and the service's id of its answer."""

    observed_at: int
    request_id: str | None


@dataclass(frozen=True, slots=True)
class Head:
    """The latest version of a row: where it is, since when, when seen last, and its hash."""

    seq: int
    since: int
    seen_at: int
    digest: bytes


def append_rows(
    connection: sqlite3.Connection, layout: Layout, rows: Sequence[Row], stamp: Stamp
) -> int:
    """Add a version of each row whose content is not that of its latest version.

    Returns:
        How many versions were added.
    """
    if layout.ledger:
        return _append_ledger(connection, layout, rows, stamp)
    heads = _heads(connection, layout, [row.key for row in rows])
    if layout.once:
        rows = [row for row in rows if row.key not in heads]
    seq = _last_seq(connection, layout)
    fresh: list[Written] = []
    seen: list[tuple[str]] = []
    late = 0
    for row in rows:
        head, digest = heads.get(row.key), row.digest
        if head is not None and stamp.observed_at < head.seen_at:
            late += 1
        elif head is not None and head.digest == digest:
            seen.append((row.key,))
        else:
            seq += 1
            fresh.append(_written(seq, row, stamp, digest))
    _insert(connection, layout, fresh)
    connection.executemany(
        f"UPDATE {layout.heads} SET seen_at = {stamp.observed_at}, misses = 0 WHERE _key = ?", seen
    )
    if late:
        return len(fresh) + sum(
            _append_late(connection, layout, row, heads[row.key], stamp)
            for row in rows
            if row.key in heads and stamp.observed_at < heads[row.key].seen_at
        )
    return len(fresh)


def set_aside(
    connection: sqlite3.Connection, layout: Layout, bad: Iterable[Bad], stamp: Stamp
) -> int:
    """Keep records that do not validate, each content once, and count them as seen.

    Returns:
        How many were not known yet.
    """
    added = 0
    for record in bad:
        digest = digest_of(record.raw)
        row = (layout.table.name, record.raw, record.reason, stamp.observed_at)
        added += connection.execute(
            "INSERT OR IGNORE INTO quarantine "
            "(table_name, raw, reason, _observed_at, _request_id, _hash) VALUES (?, ?, ?, ?, ?, ?)",
            (*row, stamp.request_id, digest),
        ).rowcount
        if record.key is not None and not layout.ledger:
            # Its content is unreadable, but it exists: a full walk must not call it gone.
            connection.execute(
                f"UPDATE {layout.heads} SET seen_at = max(seen_at, ?), misses = 0 WHERE _key = ?",
                (stamp.observed_at, record.key),
            )
    return added


def mark_missing(
    connection: sqlite3.Connection,
    layout: Layout,
    where: tuple[str, Sequence[Value]],
    seen_before: int,
    at: int,
    after: int,
) -> int:
    """Count a miss for each present row not seen since a moment; those with enough are gone.

    Args:
        connection: Inside a write transaction.
        layout: The table.
        where: SQL condition over the versions table (alias `v`) and its values.
        seen_before: Rows last seen before this were not in the walk.
        at: When the walk ended: from then on such a row is no longer listed.
        after: Misses that make a row gone.

    Returns:
        How many rows are gone by this.
    """
    condition, values = where
    missed = connection.execute(
        f"SELECT h._key, h.misses + 1 FROM {layout.heads} h JOIN {layout.versions} v USING (seq) "
        f"WHERE h.seen_at < ? AND v._gone = 0 AND ({condition})",
        (seen_before, *values),
    ).fetchall()
    connection.executemany(
        f"UPDATE {layout.heads} SET misses = misses + 1 WHERE _key = ?",
        [(key,) for key, _ in missed],
    )
    gone = [key for key, misses in missed if misses >= after]
    seq = _last_seq(connection, layout)
    nothing: tuple[Value, ...] = (None,) * len(layout.names)
    _insert(
        connection,
        layout,
        [(seq + n, key, nothing, at, None, GONE, 1) for n, key in enumerate(gone, start=1)],
    )
    return len(gone)


def _append_ledger(
    connection: sqlite3.Connection, layout: Layout, rows: Sequence[Row], stamp: Stamp
) -> int:
    marks = ", ".join("?" * (len(layout.names) + 2))
    connection.executemany(
        f"INSERT INTO {layout.versions} ({', '.join(layout.names)}, _observed_at, _request_id) "
        f"VALUES ({marks})",
        [(*row.values, stamp.observed_at, stamp.request_id) for row in rows],
    )
    return len(rows)


def _heads(connection: sqlite3.Connection, layout: Layout, keys: Sequence[str]) -> dict[str, Head]:
    found = connection.execute(
        f"SELECT h._key, h.seq, v._observed_at, h.seen_at, v._hash FROM {layout.heads} h "
        f"JOIN {layout.versions} v USING (seq) "
        "WHERE h._key IN (SELECT value FROM json_each(?))",
        (json.dumps(keys),),
    )
    return {key: Head(*facts) for key, *facts in found}


def _last_seq(connection: sqlite3.Connection, layout: Layout) -> int:
    (last,) = connection.execute(f"SELECT coalesce(max(seq), 0) FROM {layout.versions}").fetchone()
    return int(last)


def _written(seq: int, row: Row, stamp: Stamp, digest: bytes) -> Written:
    return (seq, row.key, row.values, stamp.observed_at, stamp.request_id, digest, 0)


def _insert(connection: sqlite3.Connection, layout: Layout, written: Sequence[Written]) -> None:
    _insert_versions(connection, layout, written)
    connection.executemany(
        f"INSERT OR REPLACE INTO {layout.heads} (_key, seq, seen_at, misses) VALUES (?, ?, ?, 0)",
        [(key, seq, observed_at) for seq, key, _, observed_at, _, _, _ in written],
    )


def _insert_versions(
    connection: sqlite3.Connection, layout: Layout, written: Sequence[Written]
) -> None:
    names = ("seq", "_key", *layout.names, "_observed_at", "_request_id", "_hash", "_gone")
    connection.executemany(
        f"INSERT INTO {layout.versions} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
        [
            (seq, key, *values, observed_at, request_id, digest, gone)
            for seq, key, values, observed_at, request_id, digest, gone in written
        ],
    )


def _append_late(
    connection: sqlite3.Connection, layout: Layout, row: Row, head: Head, stamp: Stamp
) -> int:
    """Put an observation where it belongs in time, although a newer one is already stored."""
    before = connection.execute(
        f"SELECT _hash FROM {layout.versions} WHERE _key = ? AND _observed_at <= ? "
        "ORDER BY _observed_at DESC, seq DESC LIMIT 1",
        (row.key, stamp.observed_at),
    ).fetchone()
    digest = row.digest
    if before is not None and before[0] == digest:
        return 0
    seq = _last_seq(connection, layout) + 1
    _insert_versions(connection, layout, [_written(seq, row, stamp, digest)])
    if head.since > stamp.observed_at:
        return 1
    # The latest content was seen again after this one: say so, or the older would be on top.
    names = ", ".join(("_key", *layout.names, "_request_id", "_hash", "_gone"))
    connection.execute(
        f"INSERT INTO {layout.versions} (seq, {names}, _observed_at) "
        f"SELECT ?, {names}, ? FROM {layout.versions} WHERE seq = ?",
        (seq + 1, head.seen_at, head.seq),
    )
    connection.execute(f"UPDATE {layout.heads} SET seq = ? WHERE _key = ?", (seq + 1, row.key))
    return 2
