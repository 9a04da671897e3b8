"""What happens to rows inside one write transaction: appended, set aside, missed, put where they belong in time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from dialframe.store.files.catalog import (
    add_patches,
    count_on,
    counted,
    live_parts,
    read_patches,
    scope_numbers,
)
from dialframe.store.files.parts import Shelf
from dialframe.store.files.sqlite_rows import Bad, Row, Value, digest_of, read_tail, rows_of
from dialframe.store.files.table_layouts import FOREVER, Layout

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

    @property
    def digest(self) -> bytes:
        """Hash of its content."""
        return GONE if self.gone else Row(self.key, self.values).digest


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
    rows = connection.execute(
        f"SELECT _key, seq, since, seen_at, digest, scope FROM {layout.heads} "
        "WHERE _key IN (SELECT value FROM json_each(?))",
        # One value however many keys: SQLite takes a limited number of them (sqlite.org/limits.html).
        (json.dumps(keys),),
    )
    return {key: Head(*facts) for key, *facts in rows}


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


def scopes_of(
    connection: sqlite3.Connection, layout: Layout, versions: Iterable[Version]
) -> dict[str, int]:
    """Numbers of the campaigns that versions name, by the keys of their rows."""
    if layout.campaign_column is None or not layout.scoped:
        return {}
    column = layout.place(layout.campaign_column)
    campaigns = {
        version.key: campaign
        for version in versions
        if isinstance(campaign := version.values[column], str)
    }
    numbers = scope_numbers(connection, layout, campaigns.values())
    return {key: numbers[campaign] for key, campaign in campaigns.items()}


def put_heads(
    connection: sqlite3.Connection,
    layout: Layout,
    versions: Iterable[Version],
    scopes: Mapping[str, int | None],
) -> None:
    """Point keys to versions that are their latest from now on, with the numbers of their campaigns."""
    connection.executemany(
        f"INSERT OR REPLACE INTO {layout.heads} "
        "(_key, seq, since, seen_at, misses, gone, scope, digest) VALUES (?, ?, ?, ?, 0, ?, ?, ?)",
        [
            (v.key, v.seq, v.observed_at, v.observed_at, v.gone, scopes.get(v.key), v.digest)
            for v in versions
        ],
    )


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a request was sent (microseconds since 1970 UTC), and the service's id of its answer."""

    observed_at: int
    request_id: str | None


def append_late(
    connection: sqlite3.Connection,
    shelf: Shelf,
    layout: Layout,
    late: Sequence[tuple[Row, Head]],
    stamp: Stamp,
) -> int:
    """Put rows where they belong in time that were observed before their latest versions were last seen.

    How many versions that adds is the result, as of `append_rows`.
    """
    if not late:
        return 0
    # Late answers are rare, so parts are read for them alone.
    known = _all_versions(connection, shelf, layout, [row.key for row, _ in late])
    seq, _ = counted(connection, layout)
    made: list[Version] = []
    followed: list[tuple[int, int]] = []
    for row, head in late:
        earlier = [v for v in known[row.key] if v.observed_at <= stamp.observed_at]
        later = known[row.key][len(earlier) :]
        if earlier and earlier[-1].digest == row.digest:
            continue  # the version of that time says the same
        if earlier:
            # It counted until this one was observed, and not until the next one known so far.
            followed.append((earlier[-1].seq, stamp.observed_at))
        # It counted until the next one that is known, or until the latest was seen again.
        until = later[0].observed_at if later else head.seen_at
        seq += 1
        made.append(Version(seq, row.key, row.values, stamp.observed_at, stamp.request_id, until))
        if not later:
            # The latest content was seen again after this one: say so, or the older would be on top.
            seq += 1
            made.append(replace(earlier[-1], seq=seq, observed_at=head.seen_at, until=FOREVER))
            connection.execute(
                f"UPDATE {layout.heads} SET seq = ?, since = ? WHERE _key = ?",
                (seq, head.seen_at, row.key),
            )
    follow(connection, layout, followed)
    insert_versions(connection, layout, made)
    count_on(connection, layout, seq, stamp.observed_at)
    return len(made)


def _all_versions(
    connection: sqlite3.Connection, shelf: Shelf, layout: Layout, keys: Sequence[str]
) -> dict[str, list[Version]]:
    """Every version of some keys, in the order of time."""
    marks = ", ".join("?" * len(keys))
    tables = [read_tail(connection, layout, f"_key IN ({marks})", keys)]
    wanted = pa.array(keys, pa.large_string())
    for part in live_parts(connection, layout):
        hit = pc.is_in(shelf.load(part, layout, [layout.part_key])[layout.part_key], wanted)
        # One column tells; the others are loaded of parts that have a hit.
        if pc.any(hit).as_py():
            tables.append(shelf.load(part, layout).filter(hit))
    table = pa.concat_tables(tables)
    # Parts are never changed: a patch says what has followed since.
    ends = read_patches(connection, layout).ends(table)
    # Also keys of which every version is lost with a damaged file.
    by_key: dict[str, list[Version]] = {key: [] for key in keys}
    for version in versions_of(layout, table, ends.tolist()):
        by_key[version.key].append(version)
    return {
        key: sorted(versions, key=lambda version: (version.observed_at, version.seq))
        for key, versions in by_key.items()
    }


def versions_of(layout: Layout, table: pa.Table, ends: Iterable[int]) -> Iterator[Version]:
    """The versions of a part or the tail, each with from when on another counts."""
    observed = table["_observed_at"].cast(pa.int64()).to_pylist()
    facts = zip(
        rows_of(layout, table),
        observed,
        table["_request_id"].to_pylist(),
        table["_gone"].to_pylist(),
        ends,
        strict=True,
    )
    for (seq, row), observed_at, request_id, gone, until in facts:
        yield Version(seq, row.key, row.values, observed_at, request_id, until, bool(gone))


def append_rows(
    connection: sqlite3.Connection, shelf: Shelf, layout: Layout, rows: Sequence[Row], stamp: Stamp
) -> int:
    """Add a version of each row whose content is not that of its latest version; gives how many."""
    if not rows:
        return 0
    if layout.ledger:
        return _append_ledger(connection, layout, rows, stamp)
    heads = heads_of(connection, layout, [row.key for row in rows])
    # Contract, Events: retries and replays keep the event's id and its data as delivered.
    if layout.once:
        rows = [row for row in rows if row.key not in heads]
    fresh: list[Row] = []
    late: list[tuple[Row, Head]] = []
    # The same content again: no version, only the time at which it was seen last.
    seen: list[tuple[int, str]] = []
    for row in rows:
        head = heads.get(row.key)
        if head is not None and stamp.observed_at < head.seen_at:
            if head.since <= stamp.observed_at and head.digest == row.digest:
                continue  # seen before, seen since, and here in between: nothing new
            late.append((row, head))
        elif head is not None and head.digest == row.digest:
            seen.append((stamp.observed_at, row.key))
        else:
            fresh.append(row)
    _append_fresh(connection, layout, fresh, heads, stamp)
    connection.executemany(
        # Seen in a walk or in a page: either way it is still listed.
        f"UPDATE {layout.heads} SET seen_at = ?, misses = 0 WHERE _key = ?",
        seen,
    )
    return len(fresh) + append_late(connection, shelf, layout, late, stamp)


def set_aside(
    connection: sqlite3.Connection, layout: Layout, bad: Iterable[Bad], stamp: Stamp
) -> None:
    """Keep records that do not validate, each content once, and count them as seen."""
    for record in bad:
        digest = digest_of(record.raw)
        row = (layout.table.name, record.raw, record.reason, stamp.observed_at)
        connection.execute(
            # Kept once: the hash of its JSON is unique in its table.
            "INSERT OR IGNORE INTO quarantine "
            "(table_name, raw, reason, _observed_at, _request_id, _hash) VALUES (?, ?, ?, ?, ?, ?)",
            (*row, stamp.request_id, digest),
        )
        if record.key is not None and not layout.ledger:
            # Its content is unreadable, but it exists: a full walk must not call it gone.
            connection.execute(
                f"UPDATE {layout.heads} SET seen_at = max(seen_at, ?), misses = 0 WHERE _key = ?",
                (stamp.observed_at, record.key),
            )


def mark_missing(
    connection: sqlite3.Connection,
    layout: Layout,
    where: tuple[str, Sequence[Value]],
    seen_before: int,
    at: int,
    after: int,
) -> int:
    """Count a miss for each present row not seen since a moment; those with enough are gone, and counted.

    Args:
        connection: Inside a write transaction.
        layout: The table.
        where: SQL condition over the table of heads and its values.
        seen_before: Rows last seen before this were not in the walk.
        at: When the walk ended: from then on such a row is no longer listed.
        after: Misses that make a row gone.
    """
    condition, values = where
    missed = connection.execute(
        f"SELECT _key, misses + 1, seq, scope FROM {layout.heads} "
        # What was seen since the walk began was returned by it, or by somebody else meanwhile.
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
    # A version without content: what was known of it stays in the versions before.
    nothing: tuple[Value, ...] = (None,) * len(layout.names)
    last, _ = counted(connection, layout)
    versions = [
        Version(seq, key, nothing, at, None, FOREVER, gone=True)
        for seq, (key, _, _) in enumerate(gone, start=last + 1)
    ]
    insert_versions(connection, layout, versions)
    # It is of its campaign still, though its content says nothing any more.
    put_heads(connection, layout, versions, {key: scope for key, _, scope in gone})
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
    # The version before counts until this one was observed.
    followed = [heads[row.key].seq for row in rows if row.key in heads]
    follow(connection, layout, [(seq, stamp.observed_at) for seq in followed])
    versions = [
        Version(seq, row.key, row.values, stamp.observed_at, stamp.request_id, FOREVER)
        for seq, row in enumerate(rows, start=last + 1)
    ]
    insert_versions(connection, layout, versions)
    put_heads(connection, layout, versions, scopes_of(connection, layout, versions))
    count_on(connection, layout, last + len(rows), stamp.observed_at)


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
        # A check that arrives late is kept, and does not replace the later answer.
        "ON CONFLICT (_key) DO UPDATE SET listed = excluded.listed, "
        "checked_at = excluded.checked_at, request_id = excluded.request_id "
        "WHERE excluded.checked_at >= checked_at",
        [row.values for row in rows],
    )
    count_on(connection, layout, last + len(rows), stamp.observed_at)
    return len(rows)
