"""Questions about a store that need no frame: sizes, campaigns named, latest checks; writes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dialframe.store.encode import instant
from dialframe.store.layout import BY_NAME, LAYOUTS, Layout


@dataclass(frozen=True, slots=True)
class Check:
    """The latest answer about one number: listed or not, when it was asked, by which request."""

    phone: str
    listed: bool
    checked_at: datetime
    request_id: str | None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One table in numbers.

    Attributes:
        name: The table.
        rows: Rows of the current table.
        versions: Row versions kept, current ones among them.
        gone: Rows that are no longer listed, kept in the history.
        quarantined: Records that did not validate, kept as they came.
        seen_at: When any row was last seen, UTC, or None.
    """

    name: str
    rows: int
    versions: int
    gone: int
    quarantined: int
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Info:
    """A store in numbers.

    Attributes:
        folder: Where it is.
        base_url: The service, or None where it was never said.
        environment: `live` or `test`, or None.
        schema_version: Layout of the file.
        size_bytes: Size of the file and its log.
        forgotten: Marks of forgotten numbers and of their leads.
        tables: One entry per table.
    """

    folder: Path
    base_url: str | None
    environment: str | None
    schema_version: int
    size_bytes: int
    forgotten: int
    tables: tuple[TableFacts, ...]

    def table(self, name: str) -> TableFacts:
        """The numbers of one table.

        Raises:
            KeyError: There is no such table.
        """
        return {facts.name: facts for facts in self.tables}[name]


def read_info(connection: sqlite3.Connection, path: Path) -> Info:
    """The numbers of the store behind a connection."""
    owner = connection.execute("SELECT value FROM meta WHERE name = 'owner'").fetchone()
    facts = {} if owner is None else json.loads(owner[0])
    quarantined = dict(
        connection.execute("SELECT table_name, count(*) FROM quarantine GROUP BY table_name")
    )
    log = path.with_name(path.name + "-wal")
    return Info(
        folder=path.parent,
        base_url=facts.get("base_url"),
        environment=facts.get("environment"),
        schema_version=connection.execute("PRAGMA user_version").fetchone()[0],
        size_bytes=path.stat().st_size + (log.stat().st_size if log.exists() else 0),
        forgotten=connection.execute("SELECT count(*) FROM forgotten").fetchone()[0],
        tables=tuple(
            _of_table(connection, layout, quarantined.get(layout.table.name, 0))
            for layout in LAYOUTS
        ),
    )


def campaign_ids(connection: sqlite3.Connection, layouts: Sequence[Layout]) -> set[str]:
    """Every campaign id that versions of these tables ever named."""
    found: set[str] = set()
    for layout in layouts:
        column = layout.expression(layout.campaign_column or "NULL")
        named = connection.execute(f"SELECT DISTINCT {column} FROM {layout.versions}")
        found.update(value for (value,) in named if value is not None)
    return found


def oldest(connection: sqlite3.Connection, layout: Layout) -> datetime | None:
    """The earliest instant of a table's time column, over all versions."""
    (first,) = connection.execute(
        f"SELECT min({layout.time_column}) FROM {layout.versions}"
    ).fetchone()
    return instant(first) if isinstance(first, int) else None


def last_seen(connection: sqlite3.Connection, layout: Layout) -> datetime | None:
    """The latest instant at which any row of a table was observed."""
    source = layout.versions if layout.ledger else layout.heads
    column = "_observed_at" if layout.ledger else "seen_at"
    (last,) = connection.execute(f"SELECT max({column}) FROM {source}").fetchone()
    return None if last is None else instant(last)


def last_checks(connection: sqlite3.Connection, phones: Sequence[str]) -> dict[str, Check]:
    """The latest Do-Not-Call answer about each number that was ever asked about."""
    # SQLite takes the other columns from the row that has the maximum.
    found = connection.execute(
        f"SELECT phone, listed, max(checked_at), request_id FROM {BY_NAME['dnc_checks'].versions} "
        "WHERE phone IN (SELECT value FROM json_each(?)) GROUP BY phone",
        (json.dumps(list(phones)),),
    )
    return {
        phone: Check(phone, bool(listed), instant(checked_at), request_id)
        for phone, listed, checked_at, request_id in found
    }


def _of_table(connection: sqlite3.Connection, layout: Layout, quarantined: int) -> TableFacts:
    if layout.ledger:
        (rows,) = connection.execute(f"SELECT count(*) FROM {layout.versions}").fetchone()
        versions, gone = rows, 0
    else:
        (versions,) = connection.execute(f"SELECT count(*) FROM {layout.versions}").fetchone()
        heads, gone = connection.execute(
            "SELECT count(*), coalesce(sum(v._gone), 0) "
            f"FROM {layout.heads} h JOIN {layout.versions} v ON v.seq = h.seq"
        ).fetchone()
        rows = heads - gone
    return TableFacts(
        name=layout.table.name,
        rows=rows,
        versions=versions,
        gone=gone,
        quarantined=quarantined,
        seen_at=last_seen(connection, layout),
    )
