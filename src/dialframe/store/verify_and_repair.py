"""Checks a store through, and rebuilds its catalog from what is whole.

Everything is held twice: rows in the SQLite file and in the second copy's log, parts in two folders. What is
whole in one place mends the other. Where the SQLite file cannot be believed, a new one is made from the log,
and from what each part says of itself where the log is damaged too; the old one is set aside.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dialframe.chained_log import ORIGIN, Record, Witness
from dialframe.files import exclusive, folder
from dialframe.store.compaction import DRAFTS, sweep
from dialframe.store.files.catalog import (
    add_parts,
    add_patches,
    bury,
    live_parts,
    read_patches,
    read_verdicts,
)
from dialframe.store.files.change_log import FOLDER as COPY
from dialframe.store.files.change_log import (
    HEADS,
    LOG,
    TABLES,
    apply,
    differing,
    log_of,
    recount,
)
from dialframe.store.files.damaged_files import acknowledge as acknowledged
from dialframe.store.files.damaged_files import damages, held_seqs, set_aside
from dialframe.store.files.database import (
    FILE,
    PARTS_LOCK,
    Database,
    Lost,
    Unusable,
    changed_tables,
    mark_of,
    refuse_vanished,
)
from dialframe.store.files.parts import (
    About,
    Damaged,
    Part,
    Shelf,
    describe_file,
    integers,
)
from dialframe.store.files.sqlite_rows import read_tail, rows_of, schema
from dialframe.store.files.table_layouts import BY_NAME, FOREVER, LAYOUTS, Layout
from dialframe.store.row_versions import put_heads, scopes_of, versions_of

#: Latest versions that are held as Python values at once.
_ROWS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a store that is not as it was written.

    Attributes:
        file: The file, from the store's folder on.
        what: What is wrong with it.
        lost: Whether rows are missing by it, rather than held in one place only.
    """

    file: str
    what: str
    lost: bool = False


#: The note beside the folder of one client's store: how far it has come.
_NOTE: Final = re.compile(r"((?:live|test)-[0-9a-f]{16})\.head")


def stores(root: Path) -> list[Path]:
    """Folders of stores below a folder, also of those that lost their SQLite file, or are gone."""
    marks = (FILE, f"{COPY}/{LOG}", "parts")
    there = {path for mark in marks for path in root.glob("*") if (path / mark).exists()}
    noted = map(_NOTE.fullmatch, (path.name for path in root.glob("*.head")))
    return sorted(there | {root / note[1] for note in noted if note})


def verify(store: Path) -> list[Problem]:
    """Compare everything in one client's store with its digests; gives what is not as it was written."""
    problems: list[Problem] = []
    try:
        refuse_vanished(store)
    except Lost as error:
        return [Problem(FILE, _reason(error), lost=True)]
    copy = log_of(store)
    transactions = list(copy.records())
    broken = [record.mark.number for record in transactions if not record.whole]
    if broken:
        # Five tell where to look; a disk that fails may have broken thousands.
        numbers = ", ".join(map(str, broken[:5]))
        problems.append(Problem(f"{COPY}/{LOG}", f"transactions {numbers} are not those written"))
    if not transactions or copy.last() is None:
        problems.append(Problem(f"{COPY}/{LOG}", "it is missing, or its end is"))
    try:
        database = Database(store)
    except Unusable as error:
        return [*problems, Problem(FILE, _reason(error))]
    try:
        problems += _verify_file(database, transactions)
        # A catalog that cannot be believed says nothing of the parts either.
        if not problems or problems[-1].file != FILE:
            problems += _verify_parts(database)
    finally:
        database.close()
    return problems


def repair(store: Path, now: datetime, *, acknowledge: bool = False) -> list[str]:
    """Mend what can be mended from the other copy; rebuild the SQLite file where it cannot be believed.

    No other process may have the store open. To `acknowledge` is to take note of what is missing, so that faces
    stop saying it. Gives what was done, one sentence each.

    Raises:
        StoreError: The disk refuses; everything is as it was.
    """
    done: list[str] = []
    try:
        refuse_vanished(store)
    except Lost as error:
        if acknowledge:
            Witness(store).path.unlink()
            return ["the store is gone; the next command begins one anew"]
        return [f"nothing is left to mend: {_reason(error)}"]
    with exclusive(store / PARTS_LOCK, wait=True):
        if not _believable(store):
            done += _rebuild(store, now)
        database = Database(store)
        try:
            if any(not record.whole for record in database.copy.records()):
                database.renew_copy()
                done.append(f"{COPY}/{LOG}: written anew from {FILE}")
            done += _mend_parts(database)
            sweep(database)
            done += _adopt(database)
            if acknowledge:
                with database.writing() as connection:
                    noted = acknowledged(connection, now)
                done += [f"{noted} losses acknowledged"] if noted else []
        finally:
            database.close()
    return done


def _reason(error: Exception) -> str:
    return str(error).partition(": ")[2].partition("; run")[0] or str(error)


def _verify_file(database: Database, transactions: Sequence[Record]) -> list[Problem]:
    try:
        with database.reading(HEADS) as connection:
            # Pages, not content: for that there are the digests.
            (words,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            last = mark_of(connection)
            # What was acknowledged is no news, until something else is lost.
            lost = [damage for damage in damages(connection) if damage.acknowledged_at is None]
            changed = changed_tables(connection)
            forged = [
                str(damage.number) for damage in read_verdicts(connection) if not damage.whole
            ]
    except Unusable as error:
        return [Problem(FILE, _reason(error))]
    problems = [Problem(damage.file, damage.sentence, lost=True) for damage in lost]
    if changed:
        problems.append(Problem(FILE, f"the columns of {', '.join(changed)} were changed"))
    if forged:
        problems.append(Problem(FILE, f"audits {', '.join(forged[:5])} are not those kept"))
    if words != "ok":
        problems.append(Problem(FILE, f"SQLite says: {words}"))
    if transactions and transactions[-1].mark != last:
        problems.append(Problem(f"{COPY}/{LOG}", f"it ends at another transaction than {FILE}"))
    return problems


def _verify_parts(database: Database) -> list[Problem]:
    problems = []
    with database.reading() as connection:
        named = {part.name: part for layout in LAYOUTS for part in live_parts(connection, layout)}
        dead = {name for (name,) in connection.execute("SELECT name FROM part WHERE dead = 1")}
    for part in named.values():
        # Either copy mends the other, so that one is a warning and two are a loss.
        whole = [
            database.shelf.is_whole(where / part.name, part)
            for where in (database.shelf.folder, database.shelf.copies)
        ]
        names = (f"parts/{part.name}", f"{COPY}/parts/{part.name}")
        for name, good in zip(names, whole, strict=True):
            if not good:
                what = "it is missing or not what was written" + (
                    "" if any(whole) else ", and neither is its copy"
                )
                problems.append(Problem(name, what, lost=not any(whole)))
    # A draft is what a writer is at, or what a killed one left: nothing was ever read from it.
    unlisted = sorted(
        name for name in database.shelf.names() - named.keys() - dead if not name.endswith(DRAFTS)
    )
    return problems + [Problem(name, "the catalog does not name it") for name in unlisted]


def _believable(store: Path) -> bool:
    try:
        database = Database(store)
    except Unusable:
        return False
    try:
        with database.reading(HEADS) as connection:
            good = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            return good and not differing(connection, TABLES) and not changed_tables(connection)
    except Unusable:
        return False
    finally:
        database.close()


def _rebuild(store: Path, now: datetime) -> list[str]:
    """Make the SQLite file again, and put the old one aside."""
    shelf, copy = Shelf(store), log_of(store)
    transactions = list(copy.records())
    # A log without its beginning is the end of something that nobody has.
    sound = bool(transactions) and transactions[0].whole and "begin" in transactions[0].content
    # Apart from the store: what is there stays as it is until the new file is whole.
    room = store / "rebuild.tmp"
    _clear(room)
    fresh = Database(room)
    try:
        # Digests and log come at the end, of what was brought in as a whole.
        with fresh.unguarded() as connection:
            words = _fill(connection, store / FILE, transactions if sound else [])
            heads = [change for record in transactions for change in record.content.get("changes", ())
                     if record.whole and change[0] in HEADS] if sound else []  # fmt: skip
            if not sound and (words or not (store / FILE).exists()):
                # Rows are missing that a walk has passed: it has to begin anew.
                connection.execute("DELETE FROM checkpoint")
            words += _find_parts(connection, shelf, trusted=sound)
            for layout in LAYOUTS:
                _derive(connection, shelf, layout, patches=not sound)
            _refresh_heads(connection, heads)
            recount(connection)
            last = max([record.mark.number for record in transactions], default=0)
            # A new beginning, with a number that the old log never had.
            connection.execute("UPDATE chain SET number = ?, digest = ?", (last + 1, ORIGIN))
        fresh.compact()
    finally:
        fresh.close()
    aside = folder(shelf.aside / f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}")
    for name in (FILE, f"{FILE}-wal", f"{COPY}/{LOG}"):
        if (store / name).exists():
            shutil.copyfile(store / name, aside / Path(name).name)
            (aside / Path(name).name).chmod(0o600)
    for name in (f"{FILE}-wal", f"{FILE}-shm"):
        (store / name).unlink(missing_ok=True)
    # Last: until here the old file, bad as it is, is the store.
    (room / FILE).replace(store / FILE)
    _clear(room)
    source = "the second copy" if sound else "the parts; the second copy is damaged too"
    return [f"{FILE}: rebuilt from {source}; the old one is in {aside.relative_to(store)}", *words]


def _clear(room: Path) -> None:
    shutil.rmtree(room, ignore_errors=True)
    Witness(room).path.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, old: Path, transactions: Sequence[Record]) -> list[str]:
    """Bring in what the log has; else what is left of the old file and can be believed."""
    words = []
    if transactions:
        for record in transactions:
            if record.whole:
                content = dict(record.content)
                # Heads follow from the versions, and are made from them below.
                content["changes"] = [c for c in content.get("changes", ()) if c[0] not in HEADS]
                apply(connection, content)
            else:
                words.append(f"{COPY}/{LOG}: transaction {record.mark.number} is lost")
        return words
    if not old.exists():
        return words
    salvaged = sqlite3.connect(f"file:{old}?mode=ro", uri=True)
    try:
        present = {name for (name,) in salvaged.execute("SELECT name FROM sqlite_schema")}
        for table in TABLES:
            if table in HEADS or (table not in present and table == "verdict"):
                continue  # heads follow from versions; older files have no verdicts
            try:
                wrong = differing(salvaged, [table])
                rows = salvaged.execute(f"SELECT * FROM {table}").fetchall()
            except (sqlite3.Error, UnicodeDecodeError):
                wrong, rows = [table], []
            if wrong:
                words.append(f"{FILE}: rows of {table} are lost")
            elif rows:
                connection.execute(f"DELETE FROM {table}")
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    finally:
        salvaged.close()
    return words


def _find_parts(connection: sqlite3.Connection, shelf: Shelf, *, trusted: bool) -> list[str]:
    """Name every part that holds rows which nothing else holds."""
    if trusted:
        return []
    held = {part.name: part for layout in LAYOUTS for part in live_parts(connection, layout)}
    connection.execute("DELETE FROM part WHERE dead = 1")
    described = {part.name: (part, about) for part, about in _described(shelf)}
    # A part that took over others says which: they must not count beside it.
    replaced = {name for _, about in described.values() for name in about.replaced}
    bury_these = [part for part in held.values() if part.name in replaced]
    if bury_these:
        bury(connection, bury_these)
    words = []
    for name, (part, _) in described.items():
        if name not in held and name not in replaced:
            add_parts(connection, [part])
            words.append(f"{name}: brought in with {part.rows} versions")
    for layout in LAYOUTS:
        parts = live_parts(connection, layout)
        last = max([part.seqs[1] for part in parts], default=0)
        seen = max([part.observed[1] for part in parts], default=None)
        connection.execute(
            "UPDATE tally SET seq = max(seq, ?), sealed = max(sealed, ?), "
            "seen_at = max(coalesce(seen_at, ?), ?) WHERE table_name = ?",
            (last, last, seen, seen, layout.table.name),
        )
        # What is sealed is not in the tail as well.
        connection.execute(f"DELETE FROM {layout.versions} WHERE seq <= ?", (last,))
    return words


def _described(shelf: Shelf) -> Iterator[tuple[Part, About]]:
    """Every part that can be read in one of the folders, by what it says of itself."""
    seen = set()
    for where in (shelf.folder, shelf.copies, shelf.aside):
        for path in sorted(where.glob("*.parquet*")) if where.is_dir() else ():
            name = path.name.removesuffix(".copy")
            if name in seen:
                continue
            try:
                part, about = describe_file(path)
            except ValueError:
                continue  # its copy in the next folder may be whole
            seen.add(name)
            if where == shelf.aside:
                shutil.copyfile(path, folder(shelf.folder) / name)
            yield part, about


def _derive(
    connection: sqlite3.Connection, shelf: Shelf, layout: Layout, *, patches: bool
) -> None:
    """Make the heads of a table from its versions, and where asked, which version follows which."""
    tables = [read_tail(connection, layout, "1")]
    for part in live_parts(connection, layout):
        try:
            tables.append(shelf.load(part, layout))
        except Damaged:
            continue
    table = pa.concat_tables(tables)
    connection.execute(f"DELETE FROM {layout.heads}")
    if layout.ledger:
        # The check made last stays; of two of one instant the one that was stored later.
        order = pc.sort_indices(
            table, sort_keys=[("checked_at", "ascending"), ("seq", "ascending")]
        )
        connection.executemany(
            f"INSERT OR REPLACE INTO {layout.heads} (_key, listed, checked_at, request_id) "
            "VALUES (?, ?, ?, ?)",
            (row.values for _, row in rows_of(layout, table.take(order))),
        )
        return
    key = table[layout.part_key].combine_chunks()
    order = pc.sort_indices(
        pa.table({"key": key, "at": table["_observed_at"], "seq": table["seq"]}),
        sort_keys=[("key", "ascending"), ("at", "ascending"), ("seq", "ascending")],
    )
    table = table.take(order)
    keys = np.array(key.take(order).to_pylist(), dtype=object)
    observed, seqs = integers(table["_observed_at"]), integers(table["seq"])
    # In the order of key and time the last of each key is the one before another key.
    last = np.ones(len(keys), dtype=bool)
    last[:-1] = keys[:-1] != keys[1:]
    if patches and len(keys):
        _follow(
            connection, layout, table, seqs, np.where(last, FOREVER, np.append(observed[1:], 0))
        )
    latest = table.filter(pa.array(last))
    for start in range(0, latest.num_rows, _ROWS):
        piece = latest.slice(start, _ROWS)
        versions = list(versions_of(layout, piece, [FOREVER] * piece.num_rows))
        put_heads(connection, layout, versions, scopes_of(connection, layout, versions))


def _follow(
    connection: sqlite3.Connection, layout: Layout, table: pa.Table, seqs: Any, untils: Any
) -> None:
    """Write down from when on each version is followed, where its part does not say so."""
    # Where the part says the same there is nothing to note.
    wrong = read_patches(connection, layout).ends(table) != untils
    pairs = list(zip(seqs[wrong].tolist(), untils[wrong].tolist(), strict=True))
    waiting = {seq for (seq,) in connection.execute(f"SELECT seq FROM {layout.versions}")}
    add_patches(connection, layout, [pair for pair in pairs if pair[0] not in waiting])
    connection.executemany(
        f"UPDATE {layout.versions} SET _until = ? WHERE seq = ?",
        [(until, seq) for seq, until in pairs if seq in waiting],
    )


def _refresh_heads(connection: sqlite3.Connection, changes: Sequence[Sequence[Any]]) -> None:
    """When rows were seen last, from the log, where it speaks of the versions that are the latest."""
    ledgers = {layout.heads for layout in LAYOUTS if layout.ledger}
    for table, act, row in changes:
        if act != "-" and table not in ledgers:
            key, seq, _, seen_at, misses, *_ = row
            connection.execute(
                f"UPDATE {table} SET seen_at = ?, misses = ? WHERE _key = ? AND seq = ?",
                (seen_at, misses, key, seq),
            )


def _mend_parts(database: Database) -> list[str]:
    """Write missing copies of parts again; set aside and note what is damaged in both."""
    with database.reading() as connection:
        parts = [part for layout in LAYOUTS for part in live_parts(connection, layout)]
    words = [f"{name}: written again from its copy" for name in database.shelf.mend_copies(parts)]
    for part in parts:
        try:
            database.shelf.verify(part)
        except Damaged as damaged:
            set_aside(database, damaged)
        else:
            continue
        words.append(f"{part.name}: set aside, {part.rows} versions of {part.table} are missing")
    return words


def _adopt(database: Database) -> list[str]:
    """Bring in rows of files that were set aside because no catalog named them."""
    with database.reading() as connection:
        wanted = {damage.file for damage in damages(connection)}
    words = []
    for name in sorted(wanted):
        copies = (database.shelf.aside / name, database.shelf.aside / f"{name}.copy")
        path = next((copy for copy in copies if copy.exists()), None)
        if path is None:
            continue
        try:
            part, _ = describe_file(path)
        except ValueError:
            continue
        layout = BY_NAME[part.table]
        with database.writing() as connection:
            held = held_seqs(connection, database, layout, part.seqs)
            table = pq.read_table(path).select(schema(layout).names).cast(schema(layout))
            # Rows that were stored anew since, by a walk, are not doubled.
            fresh = table.filter(pa.array(~np.isin(integers(table["seq"]), held)))
            if fresh.num_rows:
                made = database.shelf.put(layout, fresh, history=part.history)
                add_parts(connection, [made])
                connection.execute(
                    "UPDATE tally SET seq = max(seq, ?) WHERE table_name = ?",
                    (part.seqs[1], layout.table.name),
                )
                _derive(connection, database.shelf, layout, patches=True)
            connection.execute("DELETE FROM damage WHERE name = ?", (name,))
        words.append(f"{name}: {fresh.num_rows} versions of {part.table} brought in again")
    return words
