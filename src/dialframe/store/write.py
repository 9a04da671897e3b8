"""What happens to rows inside one write transaction: appended, set aside, missed; opens nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dialframe.store.catalogue import add_patches, count_on, counted, scope_numbers
from dialframe.store.encode import Bad, Row, Value, digest_of
from dialframe.store.late import Late, append_late
from dialframe.store.layout import FOREVER, Layout
from dialframe.store.parts import Shelf
from dialframe.store.versions import GONE, Head, Version, heads_of, insert_versions, put_heads


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a request was sent (microseconds since 1970 UTC), and the service's id of its answer."""

    observed_at: int
    request_id: str | None


def append_rows(
    connection: sqlite3.Connection, shelf: Shelf, layout: Layout, rows: Sequence[Row], stamp: Stamp
) -> int:
    """Add a version of each row whose content is not that of its latest version.

    Returns:
        How many versions were added.
    """
    if not rows:
        return 0
    if layout.ledger:
        return _append_ledger(connection, layout, rows, stamp)
    heads = heads_of(connection, layout, [row.key for row in rows])
    if layout.once:
        rows = [row for row in rows if row.key not in heads]
    fresh: list[Row] = []
    late: list[Late] = []
    seen: list[tuple[int, str]] = []
    for row in rows:
        head = heads.get(row.key)
        if head is not None and stamp.observed_at < head.seen_at:
            if head.since <= stamp.observed_at and head.digest == row.digest:
                continue  # seen before, seen since, and here in between: nothing new
            late.append(Late(row, head, stamp.observed_at, stamp.request_id))
        elif head is not None and head.digest == row.digest:
            seen.append((stamp.observed_at, row.key))
        else:
            fresh.append(row)
    _append_fresh(connection, layout, fresh, heads, stamp)
    connection.executemany(
        f"UPDATE {layout.heads} SET seen_at = ?, misses = 0 WHERE _key = ?", seen
    )
    return len(fresh) + append_late(connection, shelf, layout, late)


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
        where: SQL condition over the table of heads and its values.
        seen_before: Rows last seen before this were not in the walk.
        at: When the walk ended: from then on such a row is no longer listed.
        after: Misses that make a row gone.

    Returns:
        How many rows are gone by this.
    """
    condition, values = where
    missed = connection.execute(
        f"SELECT _key, misses + 1, seq, scope FROM {layout.heads} "
        f"WHERE seen_at < ? AND gone = 0 AND ({condition})",
        (seen_before, *values),
    ).fetchall()
    connection.executemany(
        f"UPDATE {layout.heads} SET misses = misses + 1 WHERE _key = ?",
        [(key,) for key, *_ in missed],
    )
    gone = [(key, seq, scope) for key, misses, seq, scope in missed if misses >= after]
    if not gone:
        return 0
    # A clock that was set back in the middle of the walk must not end a row before it was seen.
    at = max(at, seen_before)
    follow(connection, layout, [(seq, at) for _, seq, _ in gone])
    nothing: tuple[Value, ...] = (None,) * len(layout.names)
    last, _ = counted(connection, layout)
    versions = [
        Version(seq, key, nothing, at, None, FOREVER, gone=True)
        for seq, (key, _, _) in enumerate(gone, start=last + 1)
    ]
    insert_versions(connection, layout, versions)
    scopes = {key: scope for key, _, scope in gone}
    put_heads(connection, layout, [(v, GONE, scopes[v.key]) for v in versions])
    count_on(connection, layout, last + len(gone), at)
    return len(gone)


def follow(
    connection: sqlite3.Connection, layout: Layout, pairs: Sequence[tuple[int, int]]
) -> None:
    """Write down from when on versions (by `seq`) are followed by others, in the tail or beside a part."""
    _, sealed = counted(connection, layout)
    connection.executemany(
        f"UPDATE {layout.versions} SET _until = ? WHERE seq = ?",
        [(until, seq) for seq, until in pairs if seq > sealed],
    )
    add_patches(connection, layout, [(seq, until) for seq, until in pairs if seq <= sealed])


def _append_fresh(
    connection: sqlite3.Connection,
    layout: Layout,
    rows: Sequence[Row],
    heads: dict[str, Head],
    stamp: Stamp,
) -> None:
    last, _ = counted(connection, layout)
    followed = [heads[row.key].seq for row in rows if row.key in heads]
    follow(connection, layout, [(seq, stamp.observed_at) for seq in followed])
    versions = [
        Version(seq, row.key, row.values, stamp.observed_at, stamp.request_id, FOREVER)
        for seq, row in enumerate(rows, start=last + 1)
    ]
    insert_versions(connection, layout, versions)
    campaigns = [_campaign(layout, row) for row in rows]
    named = (value for value in campaigns if isinstance(value, str))
    scopes = scope_numbers(connection, layout, named)
    put_heads(
        connection,
        layout,
        [
            (version, row.digest, scopes.get(campaign) if isinstance(campaign, str) else None)
            for version, row, campaign in zip(versions, rows, campaigns, strict=True)
        ],
    )
    count_on(connection, layout, last + len(rows), stamp.observed_at)


def _campaign(layout: Layout, row: Row) -> Value:
    if layout.campaign_column is None or not layout.scoped:
        return None
    return row.values[layout.place(layout.campaign_column)]


def _append_ledger(
    connection: sqlite3.Connection, layout: Layout, rows: Sequence[Row], stamp: Stamp
) -> int:
    last, _ = counted(connection, layout)
    names = ("seq", *layout.names, "_observed_at", "_request_id")
    connection.executemany(
        f"INSERT INTO {layout.versions} ({', '.join(names)}) "
        f"VALUES ({', '.join('?' * len(names))})",
        [
            (seq, *row.values, stamp.observed_at, stamp.request_id)
            for seq, row in enumerate(rows, start=last + 1)
        ],
    )
    connection.executemany(
        f"INSERT INTO {layout.heads} (_key, listed, checked_at, request_id) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (_key) DO UPDATE SET listed = excluded.listed, "
        "checked_at = excluded.checked_at, request_id = excluded.request_id "
        "WHERE excluded.checked_at >= checked_at",
        [row.values for row in rows],
    )
    count_on(connection, layout, last + len(rows), stamp.observed_at)
    return len(rows)
