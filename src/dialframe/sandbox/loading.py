"""Puts a synthetic account into the tables of one client; knows column names, draws nothing."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dialframe.sandbox.seed import SyntheticAccount, Table

EMPTY: Final = "empty"

#: What a size draws for a further client differs from the first client's, and is the same each time.
_SEED_STEP: Final = 1_000_003


def account_of(*, seed: int, size: str, as_of: dt.date, client: int) -> SyntheticAccount | None:
    """The synthetic account of a client, or None for an empty one.

    Raises:
        ConfigError: The size is unknown or the seed negative.
    """
    if size == EMPTY:
        return None
    # numpy and the generator are only loaded where an account is drawn.
    from dialframe.sandbox.seed import generate

    return generate(seed=seed + _SEED_STEP * (client - 1), size=size, as_of=as_of)


def load(db: sqlite3.Connection, account: SyntheticAccount, client: int) -> int:
    """Insert every table for one client; returns the number of rows."""
    return sum(_insert(db, name, table, client) for name, table in account.tables.items())


def insert(db: sqlite3.Connection, table: str, client: int, values: Mapping[str, object]) -> None:
    """Insert one row of a client."""
    columns = ("client", *values)
    marks = ", ".join("?" * len(columns))
    db.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", (client, *values.values())
    )


def _insert(db: sqlite3.Connection, name: str, table: Table, client: int) -> int:
    columns = ("client", *table.columns)
    marks = ", ".join("?" * len(columns))
    db.executemany(
        f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})", _owned(table.rows, client)
    )
    return len(table)


def _owned(rows: Iterable[tuple[object, ...]], client: int) -> Iterator[tuple[object, ...]]:
    owner = (client,)
    return (tuple(chain(owner, row)) for row in rows)
