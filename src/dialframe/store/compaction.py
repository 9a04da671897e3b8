"""Moves versions from pages into sealed parts, merges small parts, and rewrites parts without some rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import StoreError
from dialframe.files import exclusive
from dialframe.store.catalog import (
    Part,
    Patches,
    add_parts,
    bury,
    drop_parts,
    drop_patches,
    live_parts,
    part_names,
    read_patches,
)
from dialframe.store.database import LEASE, PARTS_LOCK, Database
from dialframe.store.layouts import FOREVER, LAYOUTS, Layout
from dialframe.store.parts import Shelf, ordered
from dialframe.store.versions import fold_heads, pack_sightings, read_pages

#: Rows of a full part.
PART_ROWS: Final = 65_536
#: Followed versions in a part, from which it is written anew: one in so many.
PATCHED_SHARE: Final = 10


@dataclass(frozen=True, slots=True)
class Sizes:
    """When versions are moved, and how much at once.

    Attributes:
        seal_rows: Versions in pages from which an append seals them.
        seal_pages: Pages from which it does.
        part_rows: Rows of a full part; a merge holds at most twice as many in memory.
        small_parts: Parts of less than half a full one are merged when there are so many.
        patches: Followed versions in all parts from which one of them may be written anew.
    """

    seal_rows: int = 6_000
    seal_pages: int = 1_000
    part_rows: int = PART_ROWS
    small_parts: int = 8
    patches: int = 1_000


def seal_if_due(database: Database, layout: Layout, sizes: Sizes) -> None:
    """Seal a table's pages where there are enough, unless another process is at it; then tidy its parts once.

    A disk that is full leaves everything where it is.
    """
    with database.reading() as connection:
        pages, rows = connection.execute(
            "SELECT count(*), coalesce(sum(rows), 0) FROM page WHERE table_name = ?",
            (layout.name,),
        ).fetchone()
    if rows < sizes.seal_rows and pages < sizes.seal_pages:
        return
    try:
        with exclusive(database.folder / PARTS_LOCK, wait=False) as held:
            if held:
                seal(database, layout, sizes)
                merge(database, layout, sizes)
                sweep(database)
    except (StoreError, OSError):
        return  # everything is where it was, and the next append tries again


def compact(database: Database, sizes: Sizes) -> None:
    """Seal every page, merge parts until nothing is left to merge, delete what was replaced.

    Raises:
        StoreError: The disk is full or refuses; everything is as it was.
    """
    # A single patch is enough, and two small parts are one too many.
    thorough = replace(sizes, patches=1, small_parts=2)
    with exclusive(database.folder / PARTS_LOCK, wait=True):
        for layout in LAYOUTS:
            # Pages first: what is sealed here is merged with the rest.
            seal(database, layout, sizes)
            with database.reading() as connection:
                standing = {part.name for part in live_parts(connection, layout)}
            while merge(database, layout, thorough, standing):
                pass
        sweep(database)


def seal(database: Database, layout: Layout, sizes: Sizes) -> None:
    """Move a table's pages into parts; the caller holds `lock.parts`."""
    with database.reading() as connection:
        table, ids = read_pages(connection, layout)
        patches = read_patches(connection, layout)
    if not ids:
        return
    table = patches.taken_in(ordered(table, layout.order))
    new_parts: list[Part] = []
    try:
        _write_parts(database.shelf, layout, table, sizes.part_rows, new_parts)
        with database.writing() as connection:
            # In the transaction that names the parts: a version is in one of the two, never in both. Nobody else
            # deletes pages, which takes the lock that is held here.
            connection.executemany("DELETE FROM page WHERE id = ?", [(number,) for number in ids])
            add_parts(connection, new_parts)
            drop_patches(connection, layout, table)
            fold_heads(connection, layout)
            pack_sightings(connection, layout)
    except BaseException:
        database.shelf.remove([part.name for part in new_parts])
        raise


def merge(
    database: Database, layout: Layout, sizes: Sizes, standing: Container[str] | None = None
) -> bool:
    """Write one group of parts anew, as fewer and fuller ones; the caller holds `lock.parts`.

    Versions that are followed by others go to the history, with the instant at which they were. Of parts that
    are full, only those named in `standing` are written anew for that. False where there is no such group.
    """
    with database.reading() as connection:
        parts, patches = live_parts(connection, layout), read_patches(connection, layout)
    # Whoever writes meanwhile brings patches, and never parts: those made here would be due again and again.
    due = [part for part in parts if standing is None or part.name in standing]
    # Small parts first: merging them takes in their patches as well.
    chosen = _small(parts, sizes) or _find_patched(
        database.shelf, layout, due, patches, sizes.patches
    )
    if not chosen:
        return False
    table = pa.concat_tables(
        # Beside whatever the program does: a screening of a long list takes answers in meanwhile.
        database.shelf.load(part, layout, use_threads=False)
        for part in chosen
    )
    table = patches.taken_in(ordered(table, layout.order))
    new_parts: list[Part] = []
    swapped = False
    try:
        _write_parts(database.shelf, layout, table, sizes.part_rows, new_parts)
        with database.writing() as connection:
            # In one transaction with the burial: no reader sees both, or neither.
            swapped = bury(connection, chosen)
            add_parts(connection, new_parts if swapped else [])
            drop_patches(connection, layout, table if swapped else table[:0])
    finally:
        if not swapped:
            database.shelf.remove([part.name for part in new_parts])
    return swapped


def sweep(database: Database) -> None:
    """Delete parts that were replaced and that nobody reads; set aside what no transaction names.

    The caller holds `lock.parts`, so no file is still to be named. A file without a name in the catalog
    may be what a killed writer left, or all that is left of rows that an older catalog does not list.
    """
    with database.reading() as connection:
        dead = part_names(connection, dead=True)
        known = {*dead, *part_names(connection, dead=False)}
    unlisted = sorted(database.shelf.names() - known)
    # Drafts begin with a dot: they never had their names.
    database.shelf.remove([name for name in unlisted if name.startswith(".")])
    database.shelf.set_aside([name for name in unlisted if not name.startswith(".")])
    if not dead:
        return
    # Readers hold it together. Who has it alone is sure that no snapshot names these files.
    with exclusive(database.folder / LEASE, wait=False) as alone:
        if alone:
            delete_dead(database)


def delete_dead(database: Database) -> None:
    """Delete the files of parts that were replaced."""
    with database.reading() as connection:
        dead = part_names(connection, dead=True)
    database.shelf.remove(dead)
    # A system that keeps open files leaves some for the next time.
    gone = sorted(set(dead) - database.shelf.names())
    with database.writing() as connection:
        drop_parts(connection, gone)


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A write transaction in which parts are replaced; the caller holds `lock.parts`.

    Attributes:
        connection: The transaction.
        shelf: The parts.
        made: Parts made in it, whose files are deleted if it fails.
    """

    connection: sqlite3.Connection
    shelf: Shelf
    made: list[Part] = field(default_factory=list)

    def seal(self, layout: Layout) -> None:
        """Move a table's pages into parts, so that every version is in one."""
        table, ids = read_pages(self.connection, layout)
        if not ids:
            return
        before = len(self.made)
        _write_parts(self.shelf, layout, ordered(table, layout.order), PART_ROWS, self.made)
        add_parts(self.connection, self.made[before:])
        self.connection.execute("DELETE FROM page WHERE table_name = ?", (layout.name,))
        fold_heads(self.connection, layout)

    def rewrite(self, layout: Layout, change: Callable[[pa.Table], pa.Table | None]) -> None:
        """Replace every live part of a table of which `change` gives other versions; its pages have to be sealed."""
        for part in live_parts(self.connection, layout):
            before = self.shelf.load(part, layout)
            table = change(before)
            if table is None:
                continue
            bury(self.connection, [part])
            gone = np.setdiff1d(before["seq"].to_numpy(), table["seq"].to_numpy())
            self.connection.executemany(
                "DELETE FROM patch WHERE table_name = ? AND seq = ?",
                [(layout.name, seq) for seq in gone.tolist()],
            )
            # A part of which nothing is left has no successor.
            if table.num_rows:
                self.made.append(self.shelf.put(layout, table, history=part.history))
                add_parts(self.connection, self.made[-1:])


@contextmanager
def rewriting(database: Database) -> Iterator[Rewriting]:
    """A write transaction in which parts are replaced; their files are deleted if it fails."""
    made: list[Part] = []
    try:
        with database.writing() as connection:
            yield Rewriting(connection, database.shelf, made)
    except BaseException:
        database.shelf.remove([part.name for part in made])
        raise


def _write_parts(
    shelf: Shelf, layout: Layout, table: pa.Table, most: int, new_parts: list[Part]
) -> None:
    """Write versions as parts: those that count now apart from those that are followed or gone."""
    if layout.ledger:
        kinds = [(False, table)]
    else:
        # Most questions are about now: parts of the past are not even opened for them.
        past = pc.or_(pc.is_valid(table["_until"]), table["_gone"])
        kinds = [(False, table.filter(pc.invert(past))), (True, table.filter(past))]
    for history, rows in kinds:
        new_parts.extend(
            shelf.put(layout, rows.slice(start, most), history=history)
            for start in range(0, rows.num_rows, most)
        )


def _small(parts: Sequence[Part], sizes: Sizes) -> list[Part]:
    """Small parts of one kind that lie next to each other in time, if there are many."""
    for history in (False, True):
        small = [
            part for part in parts if part.history is history and part.rows < sizes.part_rows // 2
        ]
        # Rewriting costs as much as reading, so few small ones are left as they are.
        if len(small) < sizes.small_parts:
            continue
        chosen: list[Part] = []
        for part in small:
            if sum(before.rows for before in chosen) + part.rows > 2 * sizes.part_rows:
                break
            chosen.append(part)
        return chosen
    return []


def _find_patched(
    shelf: Shelf, layout: Layout, parts: Sequence[Part], patches: Patches, least: int
) -> list[Part]:
    """A part of which many versions are followed by others, if there is one."""
    if len(patches.seqs) < least:
        return []
    for part in parts:
        if not patches.within(part.first_seq, part.last_seq):
            continue
        seqs = shelf.load(part, layout, ["seq"])["seq"].to_numpy()
        # One column is read to decide; the part as a whole only if it is written anew.
        hits = int((patches.untils_of(seqs) < FOREVER).sum())
        if hits and (least == 1 or hits * PATCHED_SHARE >= part.rows):
            return [part]
    return []
