"""Compares everything that a store holds with what was written.

Parts and pages are compared with their digests, SQLite checks its own file, and heads must name the very versions that
are current. What a read meets first, it says first: a page of a part has a checksum, a page of SQLite a digest. A
changed byte elsewhere (the end of a part, another row of SQLite) is found here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from dialframe.errors import StoreError
from dialframe.files import digest, exclusive
from dialframe.store.catalog import (
    Part,
    drop_parts,
    live_parts,
    read_meta,
    read_patches,
    write_meta,
)
from dialframe.store.database import FILE, PARTS_LOCK, Database
from dialframe.store.layouts import FOREVER, LAYOUTS, Layout
from dialframe.store.parts import FOLDER, Vanished
from dialframe.store.records import hash_of, instant
from dialframe.store.versions import all_heads, read_pages


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was written.

    Attributes:
        file: The file, below the store.
        what: What is wrong with it.
        part: Whether it is a part, which a backup may have.
    """

    file: str
    what: str
    part: bool = False


def stores(root: Path) -> list[Path]:
    """Folders of the stores below a folder, by name, damaged ones among them."""
    return sorted({path.parent for name in (FILE, FOLDER) for path in root.glob(f"*/{name}")})


def verify(store: Path) -> list[Problem]:
    """What of a store is not as it was written; empty where it is whole."""
    try:
        database = Database(store)
    except StoreError as error:
        return [Problem(FILE, _words(error, store / FILE))]
    try:
        return problems(database)
    finally:
        database.close()


def problems(database: Database) -> list[Problem]:
    """What of an open store is not as it was written."""
    try:
        with database.reading() as connection:
            said = [line for (line,) in connection.execute("PRAGMA integrity_check")]
            parts = [(one, part) for one in LAYOUTS for part in live_parts(connection, one)]
        if said != ["ok"]:
            return [Problem(FILE, f"it is damaged: {line}") for line in said]
        wrong = [
            Problem(f"{FOLDER}/{part.name}", fault, part=True)
            for layout, part in parts
            if (fault := _fault(database, layout, part)) is not None
        ]
        # Versions can be counted against their heads only where all of them can be read.
        faults = [] if wrong else [_head_fault(database, layout) for layout in LAYOUTS]
        wrong += [Problem(FILE, fault) for fault in faults if fault is not None]
    except StoreError as error:
        return [Problem(FILE, _words(error, database.path))]
    return wrong


def _words(error: StoreError, path: Path) -> str:
    return str(error).removeprefix(f"{path}: ")


def _fault(database: Database, layout: Layout, part: Part) -> str | None:
    path = database.shelf.folder / part.name
    if not path.exists():
        return "it is missing"
    if digest(path) != part.digest:
        return "it is not what was written"
    try:
        table = database.shelf.load(part, layout)
    except StoreError as error:
        return str(error)
    described = database.shelf.describe(layout, table, part.name, history=part.history)
    return None if described == part else "it is not what its line in the catalog says"


def _head_fault(database: Database, layout: Layout) -> str | None:
    """What is wrong with pages, patches and heads of a table, all of one moment."""
    with database.reading() as connection:
        young, _ = read_pages(connection, layout)
        patches = read_patches(connection, layout)
        keys, seqs = all_heads(connection, layout)
        last_checks = dict(
            connection.execute(
                "SELECT phone, coalesce(checked_at, 0) * 2 + (coalesce(listed, 0) <> 0) FROM last_check"
            )
        )
        tables = [young]
        names = [*layout.table.key, "seq", "_until", "_gone"]
        if layout.ledger:
            names += ["listed"]
        try:
            tables += [
                database.shelf.load(part, layout, names) for part in live_parts(connection, layout)
            ]
        except Vanished:
            return None  # replaced since it was compared
    table = pa.concat_tables([one.select(names) for one in tables])
    if layout.ledger:
        return _last_check_fault(table, last_checks)
    current = table.filter(pa.array((patches.ends(table) == FOREVER) & ~table["_gone"].to_numpy()))
    columns = [current[name].to_pylist() for name in layout.table.key]
    shown = np.array([hash_of(key) for key in _keys(columns)], dtype=np.int64)
    order, other = np.lexsort((seqs, keys)), np.lexsort((current["seq"].to_numpy(), shown))
    if np.array_equal(keys[order], shown[other]) and np.array_equal(
        seqs[order], current["seq"].to_numpy()[other]
    ):
        return None
    return f"the latest versions of {layout.name} are not those that it names"


def _last_check_fault(checks: pa.Table, said: Mapping[str, int]) -> str | None:
    """Whether the latest answer about each number is the one that is kept of it."""
    checks = checks.sort_by([("checked_at", "ascending"), ("seq", "ascending")])
    columns = (checks["phone"], checks["checked_at"].cast(pa.int64()), checks["listed"])
    latest = {
        phone: (checked_at or 0) * 2 + bool(listed)
        for phone, checked_at, listed in zip(*(c.to_pylist() for c in columns), strict=True)
    }
    if latest.items() <= said.items():
        return None
    return "the latest Do-Not-Call answers are not those of the checks"


def _keys(columns: list[list[object]]) -> list[str]:
    from dialframe.frames.frame_schemas import as_json

    if len(columns) == 1:
        return [str(cell) for cell in columns[0]]
    return [as_json(list(cells)) for cells in zip(*columns, strict=True)]


def give_up(store: Path) -> list[str]:
    """Set damaged and missing parts aside, so that the rest can be used and the next sync reads anew what it can.

    What only this disk had (older versions, events, Do-Not-Call checks) is lost with them; what was lost is said with
    every frame of the table from then on.

    Returns:
        A sentence for each part.

    Raises:
        StoreError: Something else is wrong, which a backup alone can mend.
    """
    wrong = verify(store)
    if other := [fault for fault in wrong if not fault.part]:
        raise StoreError(
            f"{store / other[0].file}: {other[0].what}; only a backup can mend that: dialframe store restore"
        )
    names = {Path(fault.file).name for fault in wrong}
    said: list[str] = []
    if not names:
        return said
    database = Database(store)
    try:
        with exclusive(store / PARTS_LOCK, wait=True):
            database.shelf.set_aside(sorted(names))
            with database.writing() as connection:
                for layout in LAYOUTS:
                    lost = [part for part in live_parts(connection, layout) if part.name in names]
                    if not lost:
                        continue
                    said += [_loss_sentence(part) for part in lost]
                    drop_parts(connection, [part.name for part in lost])
                    young, _ = read_pages(connection, layout)
                    left = [
                        database.shelf.load(part, layout, ["seq"])["seq"].to_numpy()
                        for part in live_parts(connection, layout)
                    ]
                    _, listed = all_heads(connection, layout)
                    gone = np.setdiff1d(listed, np.concatenate([young["seq"].to_numpy(), *left]))
                    # Their keys are unknown from now on, so that the next sync stores them anew.
                    for table in ("head", "young_head"):
                        connection.executemany(
                            f"DELETE FROM {table} WHERE table_name = ? AND seq = ?",
                            [(layout.name, seq) for seq in gone.tolist()],
                        )
                    connection.execute(
                        "DELETE FROM checkpoint WHERE name = ? OR substr(name, 1, ?) = ?",
                        (layout.name, len(layout.name) + 1, f"{layout.name}/"),
                    )
                write_meta(connection, "lost", [*read_meta(connection, "lost", []), *said])
    finally:
        database.close()
    return said


def _loss_sentence(part: Part) -> str:
    first, last = instant(part.first_observed), instant(part.last_observed)
    return (
        f"{part.table}: {part.rows:,} versions observed from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC are "
        f"lost with {part.name}"
    )
