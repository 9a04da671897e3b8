"""Moves versions from SQLite into sealed parts, merges small parts, and rewrites parts without some rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import StoreError
from dialframe.files import exclusive
from dialframe.store.files.catalog import (
    Patches,
    add_parts,
    bury,
    counted,
    dead_parts,
    drop_parts,
    drop_patches,
    known_parts,
    live_parts,
    read_patches,
    sealed_to,
)
from dialframe.store.files.damaged_files import note_unlisted
from dialframe.store.files.database import LEASE, PARTS_LOCK, Database
from dialframe.store.files.parts import Part, Shelf, integers, ordered
from dialframe.store.files.sqlite_rows import read_tail
from dialframe.store.files.table_layouts import FOREVER, LAYOUTS, Layout

#: Rows of a full part.
PART_ROWS: Final = 65_536
#: Followed versions in a part, from which it is written anew: one in so many.
PATCHED_SHARE: Final = 10
#: Endings of files that a killed writer left before they were whole.
DRAFTS: Final = (".draft", ".tmp")


@dataclass(frozen=True, slots=True)
class Sizes:
    """When versions are moved, and how much at once.

    Attributes:
        seal_rows: Versions in the tail from which an append seals it.
        close_rows: Versions from which closing the store does.
        part_rows: Rows of a full part; a merge holds at most twice as many in memory.
        small_parts: Parts of less than half a full one are merged when there are so many.
        patches: Followed versions in all parts from which one of them may be written anew.
    """

    seal_rows: int = 6_000
    close_rows: int = 6_000
    part_rows: int = PART_ROWS
    small_parts: int = 8
    patches: int = 1_000


def seal_if_due(database: Database, layout: Layout, rows: int, sizes: Sizes) -> bool:
    """Seal a tail of so many rows, unless another process is at it; then tidy its parts once.

    A disk that is full leaves everything where it is.

    Raises:
        Damaged: A part that was to be merged is not what was written.
        Vanished: It is not there.
    """
    try:
        with database.reading() as connection:
            seq, sealed = counted(connection, layout)
        # Two numbers tell how long the tail is; counting its rows would read it.
        if seq - sealed < rows:
            return False
        with exclusive(database.folder / PARTS_LOCK, wait=False) as held:
            if not held:
                return False
            with writing_parts(database) as writing:
                done = writing.seal(layout, sizes.part_rows)
            merge(database, layout, sizes)
            sweep(database)
    except StoreError:
        return False  # everything is where it was, and the next append tries again
    return done


def compact(database: Database, sizes: Sizes) -> None:
    """Seal every tail, merge parts until nothing is left to merge, delete what was replaced.

    Raises:
        StoreError: The disk is full or refuses; everything is as it was.
    """
    # A single patch is enough, and two small parts are one too many.
    thorough = replace(sizes, patches=1, small_parts=2)
    with exclusive(database.folder / PARTS_LOCK, wait=True):
        for layout in LAYOUTS:
            # Tails first: what is sealed here is merged with the rest. In one transaction, for where others write
            # without pause a tail is never empty.
            with writing_parts(database) as writing:
                while writing.seal(layout, sizes.part_rows):
                    pass
            with database.reading() as connection:
                standing = {part.name for part in live_parts(connection, layout)}
            while merge(database, layout, thorough, standing):
                pass
        sweep(database)


def merge(
    database: Database, layout: Layout, sizes: Sizes, standing: Container[str] | None = None
) -> bool:
    """Write one group of parts anew, as fewer and fuller ones; the caller holds `lock.parts`.

    Versions that are followed by others go to the history, with the instant at which they were. Of parts that
    are full, only those named in `standing` are written anew for that. False where there is no such group, or
    somebody else replaced one of its parts meanwhile.
    """
    with database.reading() as connection:
        parts, patches = live_parts(connection, layout), read_patches(connection, layout)
    # Whoever writes meanwhile brings patches, and never parts: those made here would be due again and again.
    due = [part for part in parts if standing is None or part.name in standing]
    # Small parts first: merging them takes in their patches as well.
    chosen = _small(parts, sizes) or _patched(database.shelf, layout, due, patches, sizes.patches)
    if not chosen:
        return False
    table = pa.concat_tables(
        # Beside whatever the program does: a screening of a long list takes answers in meanwhile.
        database.shelf.load(part, layout, use_threads=False)
        for part in chosen
    )
    table, folded = _patched_in(ordered(table, [layout.time_column, layout.part_key]), patches)
    new_parts: list[Part] = []
    swapped = False
    try:
        names = [part.name for part in chosen]
        _put(database.shelf, layout, table, sizes.part_rows, new_parts, names)
        with database.writing() as connection:
            # Somebody else may have replaced one of them while this one was written.
            swapped = bury(connection, chosen)
            # In one transaction with the burial: no reader sees both, or neither.
            add_parts(connection, new_parts if swapped else [])
            drop_patches(connection, layout, folded if swapped else [])
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
        known, dead = known_parts(connection), dead_parts(connection)
    unlisted = sorted(database.shelf.names() - known)
    database.shelf.remove([name for name in unlisted if name.endswith(DRAFTS)])
    # Not deleted: it may be all that is left of rows that an older catalog does not list.
    lost = [name for name in unlisted if not name.endswith(DRAFTS)]
    if lost:
        note_unlisted(database, lost)
        database.shelf.set_aside(lost)
    if not dead:
        return
    # Readers hold it together. Who has it alone is sure that no snapshot names these files.
    with exclusive(database.folder / LEASE, wait=False) as alone:
        if not alone:
            return
        database.shelf.remove(dead)
    # A system that keeps open files leaves some for the next time.
    gone = sorted(set(dead) - database.shelf.names())
    with database.writing() as connection:
        drop_parts(connection, gone)


@dataclass(frozen=True, slots=True)
class Writing:
    """A write transaction in which parts are made; the caller holds `lock.parts`.

    Attributes:
        connection: The transaction.
        shelf: The parts.
        made: Parts made in it, whose files are deleted if it fails.
    """

    connection: sqlite3.Connection
    shelf: Shelf
    made: list[Part] = field(default_factory=list)

    def seal(self, layout: Layout, rows: int = PART_ROWS) -> bool:
        """Move up to so many versions of the tail into parts; False where there are none."""
        connection = self.connection
        seq, sealed = counted(connection, layout)
        last = connection.execute(
            f"SELECT max(seq) FROM (SELECT seq FROM {layout.versions} ORDER BY seq LIMIT ?)",
            (rows,),
        ).fetchone()[0]
        if last is None:
            # The tail was emptied by an erasure: what comes next is sealed behind it.
            if sealed < seq:
                sealed_to(connection, layout, seq)
            return False
        before = len(self.made)
        _put(
            self.shelf, layout, read_tail(connection, layout, "seq <= ?", [last]), rows, self.made
        )
        add_parts(connection, self.made[before:])
        # In the transaction that names the part: a version is in one of the two, never in both.
        connection.execute(f"DELETE FROM {layout.versions} WHERE seq <= ?", (last,))
        sealed_to(connection, layout, last)
        return True

    def rewrite(self, layout: Layout, change: Callable[[pa.Table], pa.Table | None]) -> None:
        """Replace every live part of a table of which `change` gives other versions; the tail has to be sealed."""
        for part in live_parts(self.connection, layout):
            table = change(self.shelf.load(part, layout))
            if table is None:
                continue
            bury(self.connection, [part])
            # A part of which nothing is left has no successor.
            if table.num_rows:
                self.made.append(
                    self.shelf.put(layout, table, history=part.history, replaced=[part.name])
                )
                add_parts(self.connection, self.made[-1:])


@contextmanager
def writing_parts(database: Database) -> Iterator[Writing]:
    """A write transaction in which parts are made; their files are deleted if it fails."""
    made: list[Part] = []
    try:
        with database.writing() as connection:
            yield Writing(connection, database.shelf, made)
    except BaseException:
        database.shelf.remove([part.name for part in made])
        raise


def _put(
    shelf: Shelf,
    layout: Layout,
    table: pa.Table,
    most: int,
    new_parts: list[Part],
    replaced: Sequence[str] = (),
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
            shelf.put(layout, rows.slice(start, most), history=history, replaced=replaced)
            for start in range(0, rows.num_rows, most)
        )


def _small(parts: Sequence[Part], sizes: Sizes) -> list[Part]:
    """Small parts of one kind that lie next to each other in time, if there are many."""
    for history in (False, True):
        kind = [part for part in parts if part.history is history]
        small = [part for part in kind if part.rows < sizes.part_rows // 2]
        # Rewriting costs as much as reading, so few small ones are left as they are.
        if len(small) < sizes.small_parts:
            continue
        chosen: list[Part] = []
        for part in small:
            if sum(part_before.rows for part_before in chosen) + part.rows > 2 * sizes.part_rows:
                break
            chosen.append(part)
        return chosen
    return []


def _patched(
    shelf: Shelf, layout: Layout, parts: Sequence[Part], patches: Patches, least: int
) -> list[Part]:
    """A part of which many versions are followed by others, if there is one."""
    if len(patches.seqs) < least:
        return []
    for part in parts:
        if not patches.within(part):
            continue
        seqs = integers(shelf.load(part, layout, ["seq"])["seq"])
        # One column is read to decide; the part as a whole only if it is written anew.
        hits = int((patches.untils_of(seqs) < FOREVER).sum())
        if hits and (least == 1 or hits * PATCHED_SHARE >= part.rows):
            return [part]
    return []


def _patched_in(table: pa.Table, patches: Patches) -> tuple[pa.Table, list[tuple[int, int]]]:
    """The versions with `_until` as the patches have it, and the patches that this took in."""
    if not len(patches.seqs):
        return table, []
    seqs = integers(table["seq"])
    untils = patches.untils_of(seqs)
    patched = untils < FOREVER
    folded = list(zip(seqs[patched].tolist(), untils[patched].tolist(), strict=True))
    return patches.taken_in(table), folded
