"""Which parts are alive, which versions are followed, how far counting and walks came: rows of SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from dialframe.store.layouts import FOREVER, Layout
from dialframe.store.records import Value


@dataclass(frozen=True, slots=True)
class Part:
    """A sealed part, as the catalog describes it; instants are microseconds since 1970 UTC.

    Attributes:
        name: Its file.
        table: The table.
        history: Whether it holds versions that are followed by others, or none that are.
        rows: Number of versions.
        size_bytes: Size of the file.
        digest: SHA-256 of the file.
        first_seq: Lowest `seq`.
        last_seq: Highest `seq`.
        first_time: First value of the table's time column, None where all are null.
        last_time: Last value of it.
        first_observed: First `_observed_at`.
        last_observed: Last `_observed_at`.
        last_until: Last `_until`, `FOREVER` where one is open.
    """

    name: str
    table: str
    history: bool
    rows: int
    size_bytes: int
    digest: str
    first_seq: int
    last_seq: int
    first_time: Value
    last_time: Value
    first_observed: int
    last_observed: int
    last_until: int

    def may_hold(self, first: Value, end: Value) -> bool:
        """Whether a row of it may lie in a range of the time column."""
        if self.first_time is None or self.last_time is None:
            # Rows without a time are in no range.
            return first is None and end is None
        before = end is None or self.first_time < end  # type: ignore[operator] # both of the column's kind
        return before and (first is None or self.last_time >= first)  # type: ignore[operator]


_COLUMNS: Final = (
    "name, table_name, history, rows, size_bytes, digest, first_seq, last_seq, first_time, last_time, "
    "first_observed, last_observed, last_until"
)


@dataclass(frozen=True, slots=True)
class Patches:
    """From when on versions are followed by others, where their pages and parts do not say so yet.

    Attributes:
        seqs: Numbers of the versions, ascending.
        untils: The instants, microseconds since 1970 UTC.
    """

    seqs: Any
    untils: Any

    def within(self, first_seq: int, last_seq: int) -> bool:
        """Whether one of them is of a version of this range."""
        low, high = np.searchsorted(self.seqs, [first_seq, last_seq + 1])
        return bool(high > low)

    def untils_of(self, seqs: Any) -> Any:
        """The instants of versions, `FOREVER` where a version is not among them."""
        untils = np.full(len(seqs), FOREVER)
        if len(self.seqs):
            # Two sorted lists: a search instead of a dictionary of every row.
            places = np.minimum(np.searchsorted(self.seqs, seqs), len(self.seqs) - 1)
            hit = self.seqs[places] == seqs
            untils[hit] = self.untils[places[hit]]
        return untils

    def ends(self, table: pa.Table) -> Any:
        """From when on each version of a table is followed, by its own `_until` or a patch."""
        until = table["_until"].combine_chunks().fill_null(FOREVER).to_numpy(zero_copy_only=False)
        return np.minimum(until, self.untils_of(table["seq"].to_numpy()))

    def taken_in(self, table: pa.Table) -> pa.Table:
        """The versions with the patches in their `_until`."""
        if not len(self.seqs):
            return table
        ends = self.ends(table)
        column = pa.array(ends, pa.int64(), mask=ends == FOREVER)
        index = table.schema.get_field_index("_until")
        return table.set_column(index, table.schema.field(index), column)


def read_meta(connection: sqlite3.Connection, name: str, default: Any = None) -> Any:
    """What is kept of the store as a whole under a name, else the default."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return default if row is None else json.loads(row[0])


def write_meta(connection: sqlite3.Connection, name: str, value: Any) -> None:
    """Keep a value that JSON can hold for the store as a whole, in the place of an older one."""
    text = json.dumps(value, sort_keys=True)
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, text))


def live_parts(connection: sqlite3.Connection, layout: Layout) -> list[Part]:
    """The parts of a table that count, in the order of their first rows."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM part WHERE table_name = ? AND dead = 0 "
        "ORDER BY first_time, first_seq, name",
        (layout.name,),
    )
    return [Part(name, table, bool(history), *rest) for name, table, history, *rest in rows]


def part_names(connection: sqlite3.Connection, *, dead: bool) -> list[str]:
    """Names of the parts that count, or of those that were replaced and whose files are to be deleted."""
    rows = connection.execute("SELECT name FROM part WHERE dead = ?", (dead,))
    return [name for (name,) in rows]


def add_parts(connection: sqlite3.Connection, parts: Iterable[Part]) -> None:
    """Make parts known: from the commit on they are part of their table."""
    marks = ", ".join("?" * len(_COLUMNS.split(",")))
    connection.executemany(
        f"INSERT INTO part ({_COLUMNS}) VALUES ({marks})", [astuple(part) for part in parts]
    )


def bury(connection: sqlite3.Connection, parts: Sequence[Part]) -> bool:
    """Mark parts as replaced; False, and none is, where another process has replaced one of them before."""
    names = json.dumps([part.name for part in parts])
    where = "dead = 0 AND name IN (SELECT value FROM json_each(?))"
    (alive,) = connection.execute(f"SELECT count(*) FROM part WHERE {where}", (names,)).fetchone()
    if alive != len(parts):
        return False
    connection.execute(f"UPDATE part SET dead = 1 WHERE {where}", (names,))
    return True


def drop_parts(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Forget parts whose files are gone."""
    connection.executemany("DELETE FROM part WHERE name = ?", [(name,) for name in names])


def read_patches(connection: sqlite3.Connection, layout: Layout) -> Patches:
    """The patches of a table."""
    rows = connection.execute(
        "SELECT seq, until FROM patch WHERE table_name = ? ORDER BY seq", (layout.name,)
    ).fetchall()
    # So that none has two columns as well.
    pairs = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return Patches(pairs[:, 0].copy(), pairs[:, 1].copy())


def add_patches(
    connection: sqlite3.Connection, layout: Layout, pairs: Iterable[tuple[int, int]]
) -> None:
    """Note from when on versions (by `seq`) are followed by others."""
    connection.executemany(
        "INSERT INTO patch VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET until = min(until, excluded.until)",
        [(layout.name, seq, until) for seq, until in pairs],
    )


def drop_patches(connection: sqlite3.Connection, layout: Layout, taken: pa.Table) -> None:
    """Forget patches that versions of a new part have in their `_until`; one that changed since stays."""
    followed = taken.filter(taken["_until"].is_valid()).select(["seq", "_until"])
    pairs = zip(followed["seq"].to_pylist(), followed["_until"].to_pylist(), strict=True)
    connection.executemany(
        "DELETE FROM patch WHERE table_name = ? AND seq = ? AND until = ?",
        [(layout.name, seq, until) for seq, until in pairs],
    )


def last_seq(connection: sqlite3.Connection, layout: Layout) -> int:
    """The highest `seq` given so far."""
    (seq,) = connection.execute(
        "SELECT seq FROM tally WHERE table_name = ?", (layout.name,)
    ).fetchone()
    return int(seq)


def count_on(
    connection: sqlite3.Connection, layout: Layout, seq: int, seen_at: int | None
) -> None:
    """Write down the highest `seq` given, and that a row was seen."""
    connection.execute(
        "UPDATE tally SET seq = max(seq, ?), seen_at = max(coalesce(seen_at, ?), ?) "
        "WHERE table_name = ?",
        (seq, seen_at, seen_at, layout.name),
    )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a walk stands.

    Attributes:
        name: The walk's name; its parts are `name/...`.
        state: Its state, as values that JSON can hold; None deletes it.
    """

    name: str
    state: Mapping[str, Any] | None


def save_checkpoint(connection: sqlite3.Connection, checkpoint: Checkpoint) -> None:
    """Write down where a walk stands."""
    if checkpoint.state is None:
        connection.execute("DELETE FROM checkpoint WHERE name = ?", (checkpoint.name,))
        return
    text = json.dumps(checkpoint.state, sort_keys=True)
    connection.execute("INSERT OR REPLACE INTO checkpoint VALUES (?, ?)", (checkpoint.name, text))


def read_checkpoints(connection: sqlite3.Connection, name: str) -> dict[str, dict[str, Any]]:
    """The checkpoint of that name and those of its parts (`name/...`)."""
    rows = connection.execute(
        # `substr` and not LIKE: a name may hold `%` or `_`.
        "SELECT name, state FROM checkpoint WHERE name = ? OR substr(name, 1, ?) = ?",
        (name, len(name) + 1, f"{name}/"),
    )
    return {row[0]: dict(json.loads(row[1])) for row in rows}
