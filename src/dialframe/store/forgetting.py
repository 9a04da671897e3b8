"""Erases a number inside one write transaction, and leaves the mark that keeps it out; opens nothing."""

from __future__ import annotations

import json
import sqlite3

from dialframe.store.encode import Row
from dialframe.store.erasure import Forgotten, digits_of, national_digits
from dialframe.store.layout import LAYOUTS, Layout


def forgotten(connection: sqlite3.Connection) -> Forgotten:
    """The store's marks of forgotten numbers."""
    (key,) = connection.execute("SELECT value FROM meta WHERE name = 'forget_key'").fetchone()
    found = connection.execute("SELECT mark, digits FROM forgotten").fetchall()
    return Forgotten(
        key=bytes.fromhex(json.loads(key)),
        marks=frozenset(mark for mark, _ in found),
        lengths=frozenset(digits for _, digits in found if digits),
    )


def forget(connection: sqlite3.Connection, phone: str, at: int) -> int:
    """Erase a number everywhere and leave its mark.

    Returns:
        How many versions, and records set aside, were erased or had the number replaced.
    """
    known = forgotten(connection)
    digits, national = digits_of(phone), national_digits(phone)
    _mark(connection, known.mark("phone", digits), len(digits), at)
    if national is not None:
        _mark(connection, known.mark("national", national), len(national), at)
    known = forgotten(connection)
    erased = 0
    for layout in LAYOUTS:  # leads come before the callbacks that name them
        owned = _owned(connection, layout, known)
        if layout.table.name == "leads":
            for key in owned:
                _mark(connection, known.mark("id", key), 0, at)
            known = forgotten(connection)
        erased += _erase(connection, layout, owned)
        erased += _replace_mentions(connection, layout, known)
    return erased + _erase_quarantined(connection, known)


def _mark(connection: sqlite3.Connection, mark: bytes, digits: int, at: int) -> None:
    connection.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?)", (mark, digits, at))


def _owned(connection: sqlite3.Connection, layout: Layout, known: Forgotten) -> set[str]:
    key = "CAST(seq AS TEXT)" if layout.ledger else "_key"
    names = ", ".join((key, *layout.names))
    found = connection.execute(f"SELECT {names} FROM {layout.versions}")
    return {key for key, *values in found if known.owns(layout, Row(key, tuple(values)))}


def _erase(connection: sqlite3.Connection, layout: Layout, keys: set[str]) -> int:
    column = "seq" if layout.ledger else "_key"
    erased = 0
    for key in sorted(keys):
        erased += connection.execute(
            f"DELETE FROM {layout.versions} WHERE {column} = ?", (key,)
        ).rowcount
        if not layout.ledger:
            connection.execute(f"DELETE FROM {layout.heads} WHERE _key = ?", (key,))
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
            changed.append((*cleaned.values, cleaned.digest, seq))
    assignments = ", ".join(f"{name} = ?" for name in (*layout.names, "_hash"))
    connection.executemany(f"UPDATE {layout.versions} SET {assignments} WHERE seq = ?", changed)
    return len(changed)


def _erase_quarantined(connection: sqlite3.Connection, known: Forgotten) -> int:
    found = connection.execute("SELECT seq, raw, reason FROM quarantine").fetchall()
    hit = [
        (seq,)
        for seq, raw, reason in found
        if known.text(raw) != raw or known.text(reason) != reason
    ]
    connection.executemany("DELETE FROM quarantine WHERE seq = ?", hit)
    return len(hit)
