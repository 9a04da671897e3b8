"""Erases a number inside one write transaction, and leaves the mark that keeps it out; opens nothing.

In parts the rows in question are found by column: digits compared, text stripped to its digits and searched.
What is found that way is then judged row by row, as a row that arrives would be.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.store.catalogue import live_parts
from dialframe.store.encode import Row
from dialframe.store.erasure import Forgotten, digits_of, national_digits
from dialframe.store.layout import LAYOUTS, Layout
from dialframe.store.parts import Part, Shelf
from dialframe.store.rewriting import rewrite
from dialframe.store.tail import rows_of


@dataclass(frozen=True, slots=True)
class Person:
    """Who is being forgotten: the number's digits, the shortest digits to search for, their leads' ids."""

    digits: str
    needle: str
    leads: frozenset[str] = frozenset()


def forgotten(connection: sqlite3.Connection) -> Forgotten:
    """The store's marks of forgotten numbers."""
    (key,) = connection.execute("SELECT value FROM meta WHERE name = 'forget_key'").fetchone()
    found = connection.execute("SELECT mark, digits FROM forgotten").fetchall()
    return Forgotten(
        key=bytes.fromhex(json.loads(key)),
        marks=frozenset(mark for mark, _ in found),
        lengths=frozenset(digits for _, digits in found if digits),
    )


def forget(
    connection: sqlite3.Connection, shelf: Shelf, made: list[Part], phone: str, at: int
) -> int:
    """Erase a number everywhere and leave its mark.

    Args:
        connection: Inside a write transaction; the caller holds `lock.parts`.
        shelf: The parts.
        made: Gets the parts that are written in place of others.
        phone: E.164.
        at: When this was asked for, microseconds since 1970 UTC.

    Returns:
        How many versions, and records set aside, were erased or had the number replaced.
    """
    known = forgotten(connection)
    digits, national = digits_of(phone), national_digits(phone)
    _mark(connection, known.mark("phone", digits), len(digits), at)
    if national is not None:
        _mark(connection, known.mark("national", national), len(national), at)
    known = forgotten(connection)
    person = Person(digits, national or digits)
    erased = 0
    for layout in LAYOUTS:  # leads come before the callbacks that name them
        owned = _owned(connection, layout, known) | _owned_in_parts(
            connection, shelf, layout, known, person
        )
        if layout.table.name == "leads":
            for key in owned:
                _mark(connection, known.mark("id", key), 0, at)
            known = forgotten(connection)
            person = Person(person.digits, person.needle, frozenset(owned))
        erased += _erase(connection, layout, owned, known)
        erased += _replace_mentions(connection, layout, known)
        erased += _rewrite_parts(connection, shelf, made, layout, owned, known, person)
    return erased + _erase_quarantined(connection, known)


def traces(table: pa.Table, layout: Layout, person: Person) -> Any:
    """Which rows may be about a person or mention them, as a numpy array: too many, never too few."""
    phones = (table[layout.names[place]] for place in layout.phone_places)
    texts = (table[layout.names[place]] for place, _ in layout.prose_places)
    masks = [
        np.zeros(table.num_rows, dtype=bool),
        *(_true(pc.equal(_digits(column), person.digits)) for column in phones),
        *(_true(pc.match_substring(_digits(column), person.needle)) for column in texts),
    ]
    if "lead_id" in layout.names:
        ids = pa.array(sorted(person.leads), pa.large_string())
        masks.append(_true(pc.is_in(table["lead_id"], ids)))
    if layout.about is not None:
        masks += [_true(pc.match_substring(table[layout.about], one)) for one in person.leads]
    return np.logical_or.reduce(masks)


def _mark(connection: sqlite3.Connection, mark: bytes, digits: int, at: int) -> None:
    connection.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?)", (mark, digits, at))


def _owned(connection: sqlite3.Connection, layout: Layout, known: Forgotten) -> set[str]:
    key = "CAST(seq AS TEXT)" if layout.ledger else "_key"
    names = ", ".join((key, *layout.names))
    found = connection.execute(f"SELECT {names} FROM {layout.versions}")
    return {key for key, *values in found if known.owns(layout, Row(key, tuple(values)))}


def _owned_in_parts(
    connection: sqlite3.Connection, shelf: Shelf, layout: Layout, known: Forgotten, person: Person
) -> set[str]:
    owned: set[str] = set()
    for part in live_parts(connection, layout):
        table = shelf.load(part, layout)
        suspects = table.filter(pa.array(traces(table, layout, person)))
        owned.update(row.key for _, row in rows_of(layout, suspects) if known.owns(layout, row))
    return owned


def _erase(
    connection: sqlite3.Connection, layout: Layout, keys: set[str], known: Forgotten
) -> int:
    column = "seq" if layout.ledger else "_key"
    erased = 0
    for key in sorted(keys):
        erased += connection.execute(
            f"DELETE FROM {layout.versions} WHERE {column} = ?", (key,)
        ).rowcount
        if not layout.ledger:
            connection.execute(f"DELETE FROM {layout.heads} WHERE _key = ?", (key,))
    if layout.ledger:
        phones = connection.execute(f"SELECT _key FROM {layout.heads}").fetchall()
        hit = [row for row in phones if known.has_phone(row[0])]
        connection.executemany(f"DELETE FROM {layout.heads} WHERE _key = ?", hit)
    return erased


def _replace_mentions(connection: sqlite3.Connection, layout: Layout, known: Forgotten) -> int:
    if layout.ledger:
        return 0
    found = connection.execute(
        f"SELECT seq, _key, {', '.join(layout.names)} FROM {layout.versions} WHERE _gone = 0"
    )
    changed = []
    for seq, key, *values in found:
        row = Row(key, tuple(values))
        cleaned = known.without(layout, row)
        if cleaned is not row:
            changed.append((seq, cleaned))
    assignments = ", ".join(f"{name} = ?" for name in layout.names)
    connection.executemany(
        f"UPDATE {layout.versions} SET {assignments} WHERE seq = ?",
        [(*row.values, seq) for seq, row in changed],
    )
    _rehash(connection, layout, changed)
    return len(changed)


def _rehash(
    connection: sqlite3.Connection, layout: Layout, changed: Sequence[tuple[int, Row]]
) -> None:
    """Give heads the hash of what their latest version says now."""
    connection.executemany(
        f"UPDATE {layout.heads} SET digest = ? WHERE _key = ? AND seq = ?",
        [(row.digest, row.key, seq) for seq, row in changed],
    )


def _rewrite_parts(
    connection: sqlite3.Connection,
    shelf: Shelf,
    made: list[Part],
    layout: Layout,
    owned: set[str],
    known: Forgotten,
    person: Person,
) -> int:
    """Write parts anew that hold rows of the person, or mention them."""
    column = "seq" if layout.ledger else "id" if layout.by_id else "_key"
    type_ = pa.int64() if layout.ledger else pa.large_string()
    keys = pa.array([int(key) if layout.ledger else key for key in sorted(owned)], type_)
    count = 0

    def cleaned(table: pa.Table) -> pa.Table | None:
        nonlocal count
        drop = _true(pc.is_in(table[column], keys))
        changed = _cleaned_rows(table, layout, known, traces(table, layout, person) & ~drop)
        if not drop.any() and not changed:
            return None
        count += int(drop.sum()) + len(changed)
        if not layout.ledger:
            _rehash(connection, layout, list(changed.values()))
        table = _with_rows(table, layout, {place: row for place, (_, row) in changed.items()})
        return table.filter(pa.array(~drop))

    rewrite(connection, shelf, made, layout, cleaned)
    return count


def _cleaned_rows(
    table: pa.Table, layout: Layout, known: Forgotten, suspects: Any
) -> dict[int, tuple[int, Row]]:
    """Rows whose text mentions the person, without that, by their place in the table."""
    if layout.ledger:
        return {}
    places = np.flatnonzero(suspects)
    found = rows_of(layout, table.take(pa.array(places)))
    cleaned: dict[int, tuple[int, Row]] = {}
    for place, (seq, row) in zip(places.tolist(), found, strict=True):
        clean = known.without(layout, row)
        if clean is not row:
            cleaned[place] = (seq, clean)
    return cleaned


def _with_rows(table: pa.Table, layout: Layout, rows: dict[int, Row]) -> pa.Table:
    if not rows:
        return table
    mask = np.zeros(table.num_rows, dtype=bool)
    mask[list(rows)] = True
    for place, _ in layout.prose_places:
        name = layout.names[place]
        column = table.schema.get_field_index(name)
        values = pa.array([row.values[place] for row in rows.values()], pa.large_string())
        replaced = pc.replace_with_mask(table[name].combine_chunks(), pa.array(mask), values)
        table = table.set_column(column, table.schema.field(column), replaced)
    return table


def _erase_quarantined(connection: sqlite3.Connection, known: Forgotten) -> int:
    found = connection.execute("SELECT seq, raw, reason FROM quarantine").fetchall()
    hit = [
        (seq,)
        for seq, raw, reason in found
        if known.text(raw) != raw or known.text(reason) != reason
    ]
    connection.executemany("DELETE FROM quarantine WHERE seq = ?", hit)
    return len(hit)


def _digits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(column, pattern="[^0-9]+", replacement="")


def _true(mask: pa.ChunkedArray) -> Any:
    return pc.fill_null(mask, False).combine_chunks().to_numpy(zero_copy_only=False)  # noqa: FBT003 - the value that fills
