"""What happens to rows inside one write transaction: appended, set aside, missed, put where they belong in time.

An answer of the service is one page: its new versions under one digest, and one sighting that says which
versions it showed. Nothing is written once for each row but the small head by which a row's next content is compared.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import StoreError
from dialframe.store.catalog import (
    add_patches,
    count_on,
    last_seq,
    live_parts,
    read_patches,
)
from dialframe.store.layouts import FROM_FILE, SERVED_ID, Layout
from dialframe.store.parts import Shelf, flags
from dialframe.store.records import Bad, Row, decoded, encoded, hash_of, rows_of

#: Content of "no longer listed", which is the hash of none.
GONE: Final = 0
#: Sightings of a table that are packed into one when there are so many.
SIGHTINGS: Final = 4_096

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a request was sent (microseconds since 1970 UTC), and the service's id of its answer."""

    observed_at: int
    request_id: str | None


@dataclass(frozen=True, slots=True)
class Head:
    """The latest version of a row: its number, and the hash of its content."""

    seq: int
    content: int


# Pages


def add_page(
    connection: sqlite3.Connection,
    layout: Layout,
    rows: Sequence[Row],
    stamp: Stamp,
    *,
    gone: bool = False,
) -> int:
    """Put new versions down as one page; gives the number of the first."""
    first = last_seq(connection, layout) + 1
    content = encoded(layout, rows)
    facts = (first, len(rows), stamp.observed_at, stamp.request_id, int(gone))
    connection.execute(
        "INSERT INTO page (table_name, first_seq, rows, observed_at, request_id, gone, digest, content) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (layout.name, *facts, _digest(content, *facts), content),
    )
    count_on(connection, layout, first + len(rows) - 1, stamp.observed_at)
    return first


def _digest(content: str, *facts: object) -> bytes:
    """Digest of a content and what stands beside it."""
    return hashlib.blake2b(f"{facts!r}{content}".encode(), digest_size=16).digest()


def read_pages(connection: sqlite3.Connection, layout: Layout) -> tuple[pa.Table, list[int]]:
    """The versions that are in no part yet, as they are in one, and the ids of their pages.

    Raises:
        StoreError: A page is not what was written.
    """
    pages = connection.execute(
        "SELECT id, first_seq, rows, observed_at, request_id, gone, digest, content FROM page "
        "WHERE table_name = ? ORDER BY first_seq",
        (layout.name,),
    ).fetchall()
    for number, first, rows, *beside, digest, content in pages:
        if _digest(content, first, rows, *beside) != digest:
            (_, _, file) = connection.execute("PRAGMA database_list").fetchone()
            raise StoreError(
                f"{file}: page {number} of {layout.name} ({rows} rows) is not what was written; bring a backup back "
                "with dialframe store restore"
            )
    young = decoded(layout, (page[-1] for page in pages))
    counts = [page[2] for page in pages]
    facts: dict[str, pa.Array] = {
        "seq": pa.array(
            np.concatenate([[], *(np.arange(p[1], p[1] + p[2]) for p in pages)]), pa.int64()
        ),
        "_observed_at": pa.array(np.repeat([page[3] for page in pages], counts), pa.int64()),
        "_request_id": pa.array(
            [page[4] for page in pages for _ in range(page[2])], pa.large_string()
        ),
        "_until": pa.nulls(sum(counts), pa.int64()),
        "_gone": pa.array(np.repeat([page[5] for page in pages], counts), pa.int8()),
    }
    columns = [facts[name] if name in facts else young[name] for name in layout.schema.names]
    return pa.table(columns, names=layout.schema.names).cast(layout.schema), [p[0] for p in pages]


def versions_with(
    connection: sqlite3.Connection,
    shelf: Shelf,
    layout: Layout,
    column: str,
    values: pa.Array,
    wanted: Sequence[str] | None = None,
) -> pa.Table:
    """Every version of which a column has one of some values, with `_until` as it is known."""
    names = list(layout.schema.names if wanted is None else wanted)
    young, _ = read_pages(connection, layout)
    tables = [young.filter(pc.is_in(young[column], values)).select(names)]
    for part in live_parts(connection, layout):
        hit = pc.is_in(shelf.load(part, layout, [column])[column], values)
        # One column tells; the others are loaded of parts that have a hit.
        if pc.any(hit).as_py():
            tables.append(shelf.load(part, layout, names).filter(hit))
    table = pa.concat_tables(tables)
    return read_patches(connection, layout).taken_in(table) if "_until" in names else table


# Heads


def heads_of(
    connection: sqlite3.Connection, layout: Layout, keys: Sequence[int]
) -> dict[int, Head]:
    """The latest versions of the keys (hashes) that are known."""
    # One value however many keys: SQLite takes a limited number of them (sqlite.org/limits.html).
    given = (layout.name, json.dumps(keys))
    heads: dict[int, Head] = {}
    for table in ("head", "young_head"):
        rows = connection.execute(
            f"SELECT key, seq, content FROM {table} WHERE table_name = ? "
            "AND key IN (SELECT value FROM json_each(?))",
            given,
        )
        heads.update({key: Head(seq, content) for key, seq, content in rows})
    return heads


def put_heads(
    connection: sqlite3.Connection, layout: Layout, heads: Iterable[tuple[int, int, int]]
) -> None:
    """Point keys (hashes) to versions, by number and content, that are their latest from now on."""
    connection.executemany(
        "INSERT OR REPLACE INTO young_head VALUES (?, ?, ?, ?)",
        [(layout.name, *head) for head in heads],
    )


def fold_heads(connection: sqlite3.Connection, layout: Layout) -> None:
    """Bring new heads into the large table, in the order of its keys, so that each of its pages is written once."""
    connection.execute(
        "INSERT OR REPLACE INTO head SELECT * FROM young_head WHERE table_name = ? ORDER BY key",
        (layout.name,),
    )
    connection.execute("DELETE FROM young_head WHERE table_name = ?", (layout.name,))


def drop_heads(connection: sqlite3.Connection, layout: Layout, keys: Iterable[str]) -> None:
    """Forget the latest versions of keys."""
    hashes = [(layout.name, hash_of(key)) for key in keys]
    for table in ("head", "young_head"):
        connection.executemany(f"DELETE FROM {table} WHERE table_name = ? AND key = ?", hashes)


#: All heads of a table: those of `young_head` in the place of older ones.
_HEADS: Final = (
    "(SELECT key, seq, content FROM young_head WHERE table_name = :name UNION ALL "
    "SELECT key, seq, content FROM head WHERE table_name = :name "
    "AND key NOT IN (SELECT key FROM young_head WHERE table_name = :name))"
)


def all_heads(connection: sqlite3.Connection, layout: Layout) -> tuple[Numbers, Numbers]:
    """Keys (hashes) and versions of all rows that are listed."""
    cursor = connection.execute(
        f"SELECT key, seq FROM {_HEADS} WHERE content <> {GONE}", {"name": layout.name}
    )
    pairs = np.fromiter(cursor, dtype=[("key", np.int64), ("seq", np.int64)])
    return pairs["key"], pairs["seq"]


def count_heads(connection: sqlite3.Connection, layout: Layout) -> tuple[int, int]:
    """How many rows are listed, and how many are no longer."""
    listed, gone = connection.execute(
        f"SELECT coalesce(sum(content <> {GONE}), 0), coalesce(sum(content = {GONE}), 0) "
        f"FROM {_HEADS}",
        {"name": layout.name},
    ).fetchone()
    return listed, gone


# Sightings


def _see(
    connection: sqlite3.Connection, layout: Layout, seqs: Sequence[int], seen_at: int
) -> None:
    """Note that these versions were what the service showed at an instant."""
    if not seqs:
        return
    connection.execute(
        "INSERT INTO sighting (table_name, seen_at, seqs) VALUES (?, ?, ?)",
        (layout.name, seen_at, np.array(seqs, np.int64).tobytes()),
    )
    # Whoever is seen again is not missing any more; most often nobody is.
    if connection.execute("SELECT 1 FROM missed WHERE table_name = ?", (layout.name,)).fetchone():
        connection.executemany(
            "DELETE FROM missed WHERE table_name = ? AND seq = ?",
            [(layout.name, seq) for seq in seqs],
        )


def _sightings(
    connection: sqlite3.Connection, layout: Layout, since: int
) -> tuple[Numbers, Numbers]:
    """Which versions were seen from an instant on, and when; one may be among them several times."""
    rows = connection.execute(
        "SELECT seen_at, seqs, instants FROM sighting WHERE table_name = ? AND seen_at >= ?",
        (layout.name, since),
    )
    seqs, instants = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for seen_at, packed, times in rows:
        seqs.append(np.frombuffer(packed, np.int64))
        instants.append(
            np.full(len(seqs[-1]), seen_at) if times is None else np.frombuffer(times, np.int64)
        )
    all_seqs, all_instants = np.concatenate(seqs), np.concatenate(instants)
    late = all_instants >= since
    return all_seqs[late], all_instants[late]


def pack_sightings(connection: sqlite3.Connection, layout: Layout, most: int = SIGHTINGS) -> None:
    """Keep one record of when each version was seen last, where there are many sightings."""
    (count,) = connection.execute(
        "SELECT count(*) FROM sighting WHERE table_name = ?", (layout.name,)
    ).fetchone()
    if count <= most:
        return
    seqs, instants = _sightings(connection, layout, 0)
    order = np.lexsort((instants, seqs))
    seqs, instants = seqs[order], instants[order]
    # The last of each number is the latest; versions that were followed are not asked for any more.
    _, current = all_heads(connection, layout)
    keep = np.append(seqs[1:] != seqs[:-1], [True]) & np.isin(seqs, current)
    connection.execute("DELETE FROM sighting WHERE table_name = ?", (layout.name,))
    if keep.any():
        connection.execute(
            "INSERT INTO sighting (table_name, seen_at, seqs, instants) VALUES (?, ?, ?, ?)",
            (layout.name, int(instants[keep].max()), seqs[keep].tobytes(), instants[keep].tobytes()),
        )  # fmt: skip


# Answers


def append_rows(
    connection: sqlite3.Connection, shelf: Shelf, layout: Layout, rows: Sequence[Row], stamp: Stamp
) -> int:
    """Add a version of each row whose content is not that of its latest version; gives how many."""
    if not rows:
        return 0
    if layout.ledger:
        return _append_checks(connection, layout, rows, stamp)
    keys = [hash_of(row.key) for row in rows]
    heads = heads_of(connection, layout, keys)
    late: dict[int, int] = {}
    (seen_at,) = connection.execute(
        "SELECT seen_at FROM tally WHERE table_name = ?", (layout.name,)
    ).fetchone()
    known = [row for row, key in zip(rows, keys, strict=True) if key in heads]
    if known and seen_at is not None and stamp.observed_at < seen_at and not layout.once:
        late = _put_late_rows(connection, shelf, layout, known, heads, stamp)
    fresh: list[Row] = []
    followed: list[tuple[int, int]] = []
    new_heads: list[tuple[int, int]] = []
    seen: list[int] = []
    for row, key in zip(rows, keys, strict=True):
        head = heads.get(key)
        if head is None:
            fresh.append(row)
            new_heads.append((key, row.content))
        # Contract, Events: retries and replays keep the event's id and its data as delivered.
        elif layout.once or key in late:
            continue
        elif head.content == (content := row.content):
            seen.append(head.seq)
        else:
            fresh.append(row)
            new_heads.append((key, content))
            # The version before counts until this one was observed.
            followed.append((head.seq, stamp.observed_at))
    if fresh:
        first = add_page(connection, layout, fresh, stamp)
        add_patches(connection, layout, followed)
        _name_campaigns(connection, layout, fresh)
        put_heads(
            connection,
            layout,
            [(key, seq, content) for seq, (key, content) in enumerate(new_heads, start=first)],
        )
        seen += range(first, first + len(fresh))
    else:
        count_on(connection, layout, 0, stamp.observed_at)
    _see(connection, layout, seen, stamp.observed_at)
    return len(fresh) + sum(late.values())


def _append_checks(
    connection: sqlite3.Connection, layout: Layout, rows: Sequence[Row], stamp: Stamp
) -> int:
    add_page(connection, layout, rows, stamp)
    places = [layout.place(name) for name in ("phone", "listed", "checked_at", "request_id")]
    connection.executemany(
        "INSERT INTO last_check VALUES (?, ?, ?, ?) "
        # A check that arrives late is kept, and does not replace the later answer.
        "ON CONFLICT (phone) DO UPDATE SET listed = excluded.listed, "
        "checked_at = excluded.checked_at, request_id = excluded.request_id "
        "WHERE excluded.checked_at >= checked_at",
        [[row.values[place] for place in places] for row in rows],
    )
    return len(rows)


def _name_campaigns(connection: sqlite3.Connection, layout: Layout, rows: Iterable[Row]) -> None:
    if layout.campaign_column is None:
        return
    place = layout.place(layout.campaign_column)
    named = {row.values[place] for row in rows} - {None}
    connection.executemany(
        "INSERT OR IGNORE INTO campaign VALUES (?, ?)",
        [(layout.name, campaign) for campaign in named],
    )


def _put_late_rows(
    connection: sqlite3.Connection,
    shelf: Shelf,
    layout: Layout,
    rows: Sequence[Row],
    heads: dict[int, Head],
    stamp: Stamp,
) -> dict[int, int]:
    """Put rows where they belong in time whose latest versions were seen after this answer was asked for.

    Gives the keys (hashes) of those rows, and how many versions each added. Late answers are rare, so parts are read
    for them alone.
    """
    column = layout.table.key[0]
    table = versions_with(
        connection, shelf, layout, column,
        pa.array([row.values[layout.key_places[0]] for row in rows], layout.schema.field(column).type),
    )  # fmt: skip
    table = table.sort_by([("_observed_at", "ascending"), ("seq", "ascending")])
    versions: dict[str, list[tuple[int, int, bool, str | None, Row]]] = {}
    facts = zip(
        rows_of(layout, table),
        table["_observed_at"].cast(pa.int64()).to_pylist(),
        table["_gone"].to_pylist(),
        table["_request_id"].to_pylist(),
        strict=True,
    )
    for (seq, version), observed_at, gone, request_id in facts:
        versions.setdefault(version.key, []).append((seq, observed_at, gone, request_id, version))
    seqs, instants = _sightings(connection, layout, stamp.observed_at + 1)
    seen = dict[int, int]()
    for seq, seen_at in zip(seqs.tolist(), instants.tolist(), strict=True):
        seen[seq] = max(seen_at, seen.get(seq, seen_at))
    added: dict[int, int] = {}
    for row in rows:
        key, known = hash_of(row.key), versions.get(row.key)
        if not known:
            continue  # they are lost with a damaged file: it is as a new one
        latest = heads[key].seq
        seen_at = max(known[-1][1], seen.get(latest, 0))
        if stamp.observed_at >= seen_at:
            continue
        added[key] = 0
        earlier = [version for version in known if version[1] <= stamp.observed_at]
        later = known[len(earlier) :]
        if earlier and not earlier[-1][2] and earlier[-1][4].content == row.content:
            continue  # the version of that time says the same
        if earlier:
            # It counted until this one was observed, and not until the next one known so far.
            add_patches(connection, layout, [(earlier[-1][0], stamp.observed_at)])
        number = add_page(connection, layout, [row], stamp)
        _name_campaigns(connection, layout, [row])
        # It counted until the next one that is known, or until the latest was seen again.
        add_patches(connection, layout, [(number, later[0][1] if later else seen_at)])
        added[key] = 1
        if not later:
            # The latest content was seen again after this one: say so, or the older would be on top.
            _, _, gone, request_id, version = earlier[-1]
            again = Stamp(seen_at, request_id)
            number = add_page(connection, layout, [version], again, gone=gone)
            put_heads(connection, layout, [(key, number, heads[key].content)])
            connection.execute(
                "UPDATE missed SET seq = ? WHERE table_name = ? AND seq = ?",
                (number, layout.name, latest),
            )
            added[key] = 2
    return added


def set_aside(
    connection: sqlite3.Connection, layout: Layout, bad: Sequence[Bad], stamp: Stamp
) -> None:
    """Keep records that do not validate, each content once, and count them as seen."""
    for record in bad:
        connection.execute(
            # Kept once: the hash of its JSON is unique in its table.
            "INSERT OR IGNORE INTO quarantine "
            "(table_name, raw, reason, observed_at, request_id, digest) VALUES (?, ?, ?, ?, ?, ?)",
            (
                layout.name, record.raw, record.reason, stamp.observed_at, stamp.request_id,
                _digest(record.raw),
            ),
        )  # fmt: skip
    # Its content is unreadable, but the row exists: a full walk must not call it gone.
    keys = [] if layout.ledger else [hash_of(record.key) for record in bad if record.key]
    if keys:
        heads = heads_of(connection, layout, keys)
        seqs = [head.seq for head in heads.values() if head.content != GONE]
        _see(connection, layout, seqs, stamp.observed_at)


def _not_the_service_s(
    connection: sqlite3.Connection, shelf: Shelf, layout: Layout, seqs: Numbers
) -> Numbers:
    """Those of some versions that a file brought, under an id that the service never made: its lists lack them."""
    if not len(seqs):
        return seqs
    key = layout.table.key[0]
    rows = versions_with(
        connection, shelf, layout, "seq", pa.array(seqs), ["seq", key, "_request_id"]
    )
    loaded = flags(pc.starts_with(rows["_request_id"], FROM_FILE))
    typed = flags(pc.match_substring_regex(rows[key], SERVED_ID))
    return np.asarray(rows["seq"].to_numpy()[loaded & ~typed])


def mark_missing(
    connection: sqlite3.Connection,
    shelf: Shelf,
    layout: Layout,
    among: Numbers | None,
    seen_before: int,
    at: int,
    walks: int,
) -> int:
    """Count a miss for each listed row not seen since a moment; those with enough are gone, and counted.

    Args:
        connection: Inside a write transaction.
        shelf: The parts.
        layout: The table.
        among: Versions of the rows that were walked; None for all.
        seen_before: Rows last seen before this were not in the walk.
        at: When the walk ended: from then on such a row is no longer listed.
        walks: Walks that a row must be missing from.
    """
    _, listed = all_heads(connection, layout)
    # What was seen since the walk began was returned by it, or by somebody else meanwhile.
    seen, _ = _sightings(connection, layout, seen_before)
    missing = np.setdiff1d(listed if among is None else np.intersect1d(listed, among), seen)
    missing = np.setdiff1d(missing, _not_the_service_s(connection, shelf, layout, missing))
    connection.executemany(
        "INSERT INTO missed VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET walks = walks + 1",
        [(layout.name, seq) for seq in missing.tolist()],
    )
    cursor = connection.execute(
        "SELECT seq FROM missed WHERE table_name = ? AND walks >= ?", (layout.name, walks)
    )
    gone = np.intersect1d(np.fromiter((seq for (seq,) in cursor), np.int64), missing)
    pack_sightings(connection, layout)
    if not len(gone):
        return 0
    # A clock that was set back in the middle of the walk must not end a row before it was seen.
    at = max(at, seen_before)
    table = versions_with(connection, shelf, layout, "seq", pa.array(gone))
    # A version with its key alone: what was known of the row stays in the versions before.
    blank: list[Any] = [None] * len(layout.names)
    rows = []
    for _, row in rows_of(layout, table):
        values = blank.copy()
        for place in layout.key_places:
            values[place] = row.values[place]
        rows.append(Row.of(layout, tuple(values)))
    first = add_page(connection, layout, rows, Stamp(at, None), gone=True)
    add_patches(connection, layout, [(seq, at) for seq in table["seq"].to_pylist()])
    heads = [(hash_of(row.key), seq, GONE) for seq, row in enumerate(rows, start=first)]
    put_heads(connection, layout, heads)
    _see(connection, layout, [seq for _, seq, _ in heads], at)
    connection.executemany(
        "DELETE FROM missed WHERE table_name = ? AND seq = ?",
        [(layout.name, seq) for seq in gone.tolist()],
    )
    return len(rows)
