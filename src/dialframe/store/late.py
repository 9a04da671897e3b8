"""Answers that arrive after newer ones: each takes its place in time, never the top; opens nothing.

They are rare (two syncs that cross, a clock that was set back), so the versions around them may be searched
for in every part.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from dialframe.store.catalogue import (
    add_patches,
    count_on,
    counted,
    live_parts,
    read_patches,
)
from dialframe.store.encode import Row
from dialframe.store.layout import FOREVER, Layout
from dialframe.store.parts import Shelf, integers
from dialframe.store.tail import read_tail, rows_of
from dialframe.store.versions import GONE, Head, Version, insert_versions


@dataclass(frozen=True, slots=True)
class Late:
    """A row observed before its latest version was last seen."""

    row: Row
    head: Head
    observed_at: int
    request_id: str | None


def append_late(
    connection: sqlite3.Connection, shelf: Shelf, layout: Layout, late: Sequence[Late]
) -> int:
    """Put observations where they belong in time, although newer ones are already stored.

    Returns:
        How many versions were added.
    """
    if not late:
        return 0
    known = _all_versions(connection, shelf, layout, [one.row.key for one in late])
    seq, sealed = counted(connection, layout)
    made: list[Version] = []
    for one in late:
        added, followed = _placed(one, known[one.row.key], seq)
        seq += len(added)
        made += added
        for version in followed:
            _follow(connection, layout, version, sealed)
        if len(added) > 1:
            connection.execute(
                f"UPDATE {layout.heads} SET seq = ?, since = ? WHERE _key = ?",
                (added[-1].seq, added[-1].observed_at, one.row.key),
            )
    insert_versions(connection, layout, made)
    count_on(connection, layout, seq, max(one.observed_at for one in late))
    return len(made)


def _placed(one: Late, known: list[Version], last: int) -> tuple[list[Version], list[Version]]:
    """What a late row adds to the versions of its key, and which of them end earlier by it."""
    earlier = [version for version in known if version.observed_at <= one.observed_at]
    if earlier and _digest(earlier[-1]) == one.row.digest:
        return [], []
    later = known[len(earlier) :]
    followed = [replace(earlier[-1], until=one.observed_at)] if earlier else []
    until = later[0].observed_at if later else one.head.seen_at
    added = Version(last + 1, one.row.key, one.row.values, one.observed_at, one.request_id, until)
    if later:
        return [added], followed
    # The latest content was seen again after this one: say so, or the older would be on top.
    again = replace(earlier[-1], seq=last + 2, observed_at=one.head.seen_at, until=FOREVER)
    return [added, again], followed


def _digest(version: Version) -> bytes:
    return GONE if version.gone else Row(version.key, version.values).digest


def _follow(connection: sqlite3.Connection, layout: Layout, version: Version, sealed: int) -> None:
    if version.seq <= sealed:
        add_patches(connection, layout, [(version.seq, version.until)])
        return
    connection.execute(
        f"UPDATE {layout.versions} SET _until = ? WHERE seq = ?", (version.until, version.seq)
    )


def _all_versions(
    connection: sqlite3.Connection, shelf: Shelf, layout: Layout, keys: Sequence[str]
) -> dict[str, list[Version]]:
    """Every version of some keys, in the order of time."""
    marks = ", ".join("?" * len(keys))
    tables = [read_tail(connection, layout, f"_key IN ({marks})", keys)]
    wanted = pa.array(keys, pa.large_string())
    name = "id" if layout.by_id else "_key"
    for part in live_parts(connection, layout):
        hit = pc.is_in(shelf.load(part, layout, [name])[name], wanted)
        if pc.any(hit).as_py():
            tables.append(shelf.load(part, layout).filter(hit))
    table = pa.concat_tables(tables)
    untils = read_patches(connection, layout).untils_of(integers(table["seq"]))
    found: dict[str, list[Version]] = {key: [] for key in keys}
    for version in _versions(layout, table, untils.tolist()):
        found[version.key].append(version)
    return {
        key: sorted(versions, key=lambda version: (version.observed_at, version.seq))
        for key, versions in found.items()
    }


def _versions(layout: Layout, table: pa.Table, patched: Iterable[int]) -> Iterable[Version]:
    observed = table["_observed_at"].cast(pa.int64()).to_pylist()
    facts = zip(
        rows_of(layout, table),
        observed,
        table["_request_id"].to_pylist(),
        table["_until"].to_pylist(),
        table["_gone"].to_pylist(),
        patched,
        strict=True,
    )
    for (seq, row), observed_at, request_id, until, gone, patch in facts:
        ends = min(patch, FOREVER if until is None else until)
        yield Version(seq, row.key, row.values, observed_at, request_id, ends, bool(gone))
