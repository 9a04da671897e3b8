"""Which parts are alive, which versions are followed, how far counting and walks came: rows of SQLite."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from dialframe.chained_log import ORIGIN
from dialframe.store.files.parts import Part, integers
from dialframe.store.files.sqlite_rows import instant
from dialframe.store.files.table_layouts import FOREVER, Layout

_COLUMNS: Final = (
    "name, table_name, history, rows, size_bytes, digest, first_seq, last_seq, first_time, "
    "last_time, blank_times, first_observed, last_observed, last_until"
)


@dataclass(frozen=True, slots=True)
class Patches:
    """From when on sealed versions are followed by others, where their parts do not say so yet.

    Attributes:
        seqs: Places of the versions, ascending.
        untils: The instants, microseconds since 1970 UTC.
    """

    seqs: Any
    untils: Any

    def within(self, part: Part) -> bool:
        """Whether the part may hold one of them."""
        low, high = np.searchsorted(self.seqs, [part.seqs[0], part.seqs[1] + 1])
        return bool(high > low)

    def untils_of(self, seqs: Any) -> Any:
        """The instants of versions, the largest integer where a version is not among them."""
        untils = np.full(len(seqs), np.iinfo(np.int64).max)
        if len(self.seqs):
            # Two sorted lists: a search instead of a dictionary of every row.
            places = np.minimum(np.searchsorted(self.seqs, seqs), len(self.seqs) - 1)
            hit = self.seqs[places] == seqs
            untils[hit] = self.untils[places[hit]]
        return untils

    def ends(self, table: pa.Table) -> Any:
        """From when on each version of a part or the tail is followed, by its own `_until` or a patch."""
        until = table["_until"].combine_chunks().fill_null(FOREVER).to_numpy(zero_copy_only=False)
        return np.minimum(until, self.untils_of(integers(table["seq"])))

    def taken_in(self, table: pa.Table) -> pa.Table:
        """The versions with the patches in their `_until`."""
        ends = self.ends(table)
        # Null in a part is what `FOREVER` is in SQLite: nothing follows.
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
        (layout.table.name,),
    )
    return [_part(row) for row in rows]


def dead_parts(connection: sqlite3.Connection) -> list[str]:
    """Names of parts that were replaced and whose files are to be deleted."""
    return [name for (name,) in connection.execute("SELECT name FROM part WHERE dead = 1")]


def known_parts(connection: sqlite3.Connection) -> set[str]:
    """Names of all parts, replaced ones among them."""
    return {name for (name,) in connection.execute("SELECT name FROM part")}


def add_parts(connection: sqlite3.Connection, parts: Iterable[Part]) -> None:
    """Make parts known: from the commit on they are part of their table."""
    marks = ", ".join("?" * 14)
    connection.executemany(
        f"INSERT INTO part ({_COLUMNS}) VALUES ({marks})",
        [
            (
                part.name, part.table, part.history, part.rows, part.size_bytes, part.digest,
                *part.seqs, *part.times, part.blank_times, *part.observed, part.until,
            )
            for part in parts
        ],
    )  # fmt: skip


def bury(connection: sqlite3.Connection, parts: Sequence[Part]) -> bool:
    """Mark parts as replaced; False, and none is, where another process has replaced one of them before."""
    marks = ", ".join("?" * len(parts))
    names = [part.name for part in parts]
    (alive,) = connection.execute(
        f"SELECT count(*) FROM part WHERE dead = 0 AND name IN ({marks})", names
    ).fetchone()
    if alive != len(names):
        return False
    connection.execute(f"UPDATE part SET dead = 1 WHERE name IN ({marks})", names)
    return True


def drop_parts(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Forget parts whose files are gone."""
    connection.executemany("DELETE FROM part WHERE name = ?", [(name,) for name in names])


def read_patches(connection: sqlite3.Connection, layout: Layout) -> Patches:
    """The patches of a table."""
    rows = connection.execute(
        "SELECT seq, until FROM patch WHERE table_name = ? ORDER BY seq", (layout.table.name,)
    ).fetchall()
    # So that none has two columns as well.
    pairs = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return Patches(pairs[:, 0].copy(), pairs[:, 1].copy())


def add_patches(
    connection: sqlite3.Connection, layout: Layout, pairs: Iterable[tuple[int, int]]
) -> None:
    """Note from when on sealed versions (by `seq`) are followed by others."""
    connection.executemany(
        "INSERT OR REPLACE INTO patch VALUES (?, ?, ?)",
        [(layout.table.name, seq, until) for seq, until in pairs],
    )


def drop_patches(
    connection: sqlite3.Connection, layout: Layout, pairs: Iterable[tuple[int, int]]
) -> None:
    """Forget patches that a new part has taken in; one that changed since stays."""
    connection.executemany(
        "DELETE FROM patch WHERE table_name = ? AND seq = ? AND until = ?",
        [(layout.table.name, seq, until) for seq, until in pairs],
    )


def counted(connection: sqlite3.Connection, layout: Layout) -> tuple[int, int]:
    """The highest `seq` given so far, and the highest one that is sealed."""
    (seq, sealed) = connection.execute(
        "SELECT seq, sealed FROM tally WHERE table_name = ?", (layout.table.name,)
    ).fetchone()
    return seq, sealed


def epoch_of(connection: sqlite3.Connection, table: str) -> int | None:
    """How often a table's walks had to begin anew; None where there is no such table."""
    row = connection.execute("SELECT epoch FROM tally WHERE table_name = ?", (table,)).fetchone()
    return None if row is None else int(row[0])


def count_on(connection: sqlite3.Connection, layout: Layout, seq: int, seen_at: int) -> None:
    """Write down the highest `seq` given, and that a row was seen."""
    connection.execute(
        "UPDATE tally SET seq = ?, seen_at = max(coalesce(seen_at, ?), ?) WHERE table_name = ?",
        (seq, seen_at, seen_at, layout.table.name),
    )


def sealed_to(connection: sqlite3.Connection, layout: Layout, seq: int) -> None:
    """Write down that all versions up to a `seq` are in parts."""
    connection.execute(
        "UPDATE tally SET sealed = ? WHERE table_name = ?", (seq, layout.table.name)
    )


def scope_numbers(
    connection: sqlite3.Connection, layout: Layout, values: Iterable[str]
) -> dict[str, int]:
    """Numbers of campaigns in a table's heads, given on first sight."""
    # In order, so that numbers do not depend on how a set is walked.
    wanted = sorted(set(values))
    known = "SELECT value, number FROM scope WHERE table_name = ? AND value IN (SELECT value FROM json_each(?))"  # fmt: skip
    pair = (layout.table.name, json.dumps(wanted))
    numbers = dict(connection.execute(known, pair).fetchall())
    if len(numbers) < len(wanted):
        connection.executemany(
            "INSERT OR IGNORE INTO scope (table_name, value) VALUES (?, ?)",
            [(layout.table.name, value) for value in wanted],
        )
        numbers = dict(connection.execute(known, pair).fetchall())
    return numbers


def _part(row: tuple[Any, ...]) -> Part:
    name, table, history, rows, size, digest, *rest = row
    first_seq, last_seq, first_time, last_time, blank, first_seen, last_seen, until = rest
    seqs, times, seen = (first_seq, last_seq), (first_time, last_time), (first_seen, last_seen)
    # In the order of the columns, which is that of its fields.
    return Part(name, table, bool(history), rows, size, digest, seqs, times, blank, seen, until)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a walk stands.

    Attributes:
        name: The walk's name; its parts are `name/...`.
        state: Its state, as values that JSON can hold; None deletes it.
    """

    name: str
    state: Mapping[str, Any] | None


class Epochs:
    """What a store has read of tables' epochs, so that a walk of before a damage is not taken for whole."""

    def __init__(self) -> None:
        self._read: dict[str, int | None] = {}

    def read(self, connection: sqlite3.Connection, name: str) -> None:
        """Remember the epoch in which a checkpoint was read."""
        table = name.partition("/")[0]
        self._read[table] = epoch_of(connection, table)

    def save(self, connection: sqlite3.Connection, checkpoint: Checkpoint) -> None:
        """Write a checkpoint down, unless its walk began before versions of its table were lost."""
        table = checkpoint.name.partition("/")[0]
        now = epoch_of(connection, table)
        # Versions were lost since the walk began, and it has passed them.
        if self._read.get(table, now) != now:
            return
        if checkpoint.state is None:
            connection.execute("DELETE FROM checkpoint WHERE name = ?", (checkpoint.name,))
            return
        text = json.dumps(checkpoint.state, sort_keys=True)
        connection.execute(
            "INSERT OR REPLACE INTO checkpoint VALUES (?, ?)", (checkpoint.name, text)
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one audit said, as it was kept.

    Attributes:
        number: Its place in the chain, from 1.
        made_at: When the audit was made, UTC.
        content: What it said, and over which versions, rules and inputs; no number of a person.
        digest: SHA-256 over the digest before it, the instant and the content.
        whole: Whether the digest is that of its content and of the verdict before.
    """

    number: int
    made_at: datetime
    content: Mapping[str, Any]
    digest: str
    whole: bool


def add_verdict(connection: sqlite3.Connection, content: Mapping[str, Any], at: int) -> bool:
    """Put what an audit said at the end of the chain; False where the last one said the same of the same."""
    # One spelling for one content: the digest is over these very characters.
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    last = connection.execute(
        "SELECT number, content, digest FROM verdict ORDER BY number DESC LIMIT 1"
    ).fetchone()
    number, before, digest = last or (0, "", ORIGIN)
    if before == text:
        return False
    row = (number + 1, at, text, _verdict_digest(digest, at, text))
    connection.execute("INSERT INTO verdict VALUES (?, ?, ?, ?)", row)
    return True


def read_verdicts(connection: sqlite3.Connection) -> list[Verdict]:
    """What every audit said, oldest first."""
    verdicts: list[Verdict] = []
    before = ORIGIN
    for number, at, text, digest in connection.execute(
        "SELECT number, at, content, digest FROM verdict ORDER BY number"
    ):
        # The number too: a verdict that was taken out leaves a gap.
        whole = digest == _verdict_digest(before, at, text) and number == len(verdicts) + 1
        verdicts.append(Verdict(number, instant(at), json.loads(text), digest, whole))
        before = digest
    return verdicts


def _verdict_digest(before: str, at: int, text: str) -> str:
    return hashlib.sha256(f"{before}{at} {text}".encode()).hexdigest()


def read_checkpoints(connection: sqlite3.Connection, name: str) -> dict[str, dict[str, Any]]:
    """The checkpoint of that name and those of its parts (`name/...`)."""
    rows = connection.execute(
        # `substr` and not LIKE: a name may hold `%` or `_`.
        "SELECT name, state FROM checkpoint WHERE name = ? OR substr(name, 1, ?) = ?",
        (name, len(name) + 1, f"{name}/"),
    )
    return {row[0]: dict(json.loads(row[1])) for row in rows}
