"""Questions about a store that need no frame: sizes, campaigns named, latest checks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from dialframe.store.files.catalog import live_parts
from dialframe.store.files.damaged_files import Damage, damages
from dialframe.store.files.parts import Part, Shelf
from dialframe.store.files.rows import Value, instant, microseconds
from dialframe.store.files.table_layouts import BY_NAME, LAYOUTS, Layout


@dataclass(frozen=True, slots=True)
class Check:
    """The latest answer about one number.

    Attributes:
        phone: The number in E.164.
        listed: Whether it was on the Do-Not-Call list.
        checked_at: When the service was asked, UTC.
        request_id: The service's id of the answer, or None.
    """

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
        parts: Sealed files that hold its versions.
    """

    name: str
    rows: int
    versions: int
    gone: int
    quarantined: int
    seen_at: datetime | None
    parts: int = 0


@dataclass(frozen=True, slots=True)
class Info:
    """A store in numbers.

    Attributes:
        folder: Where it is.
        base_url: The service, or None where it was never said.
        environment: `live` or `test`, or None.
        schema_version: Layout of the file.
        size_bytes: Size of the file, its log and all parts.
        forgotten: Marks of forgotten numbers and of their leads.
        tables: One entry per table.
        damaged: Files that were found damaged and set aside.
    """

    folder: Path
    base_url: str | None
    environment: str | None
    schema_version: int
    size_bytes: int
    forgotten: int
    tables: tuple[TableFacts, ...]
    damaged: tuple[Damage, ...] = ()

    def table(self, name: str) -> TableFacts:
        """The numbers of one table.

        Args:
            name: Name of the table, such as `calls`.

        Returns:
            Its rows, versions and sealed files, and when a row was last seen.

        Raises:
            KeyError: No table has this name.
        """
        return {facts.name: facts for facts in self.tables}[name]


def read_info(connection: sqlite3.Connection, path: Path) -> Info:
    """The numbers of the store behind a connection."""
    owner = connection.execute("SELECT value FROM meta WHERE name = 'owner'").fetchone()
    facts = {} if owner is None else json.loads(owner[0])
    quarantined = dict(
        connection.execute("SELECT table_name, count(*) FROM quarantine GROUP BY table_name")
    )
    (sealed,) = connection.execute("SELECT coalesce(sum(size_bytes), 0) FROM part").fetchone()
    log = path.with_name(path.name + "-wal")
    return Info(
        folder=path.parent,
        base_url=facts.get("base_url"),
        environment=facts.get("environment"),
        schema_version=connection.execute("PRAGMA user_version").fetchone()[0],
        size_bytes=sealed + path.stat().st_size + (log.stat().st_size if log.exists() else 0),
        forgotten=connection.execute("SELECT count(*) FROM forgotten").fetchone()[0],
        tables=tuple(
            _of_table(connection, layout, quarantined.get(layout.table.name, 0))
            for layout in LAYOUTS
        ),
        damaged=damages(connection),
    )


def campaign_ids(connection: sqlite3.Connection, layouts: Sequence[Layout]) -> set[str]:
    """Every campaign id that versions of these tables ever named."""
    ids: set[str] = set()
    for layout in layouts:
        if layout.scoped:
            named = connection.execute(
                "SELECT value FROM scope WHERE table_name = ?", (layout.table.name,)
            )
        elif layout.campaign_column == "id":
            named = connection.execute(f"SELECT _key FROM {layout.heads}")
        else:
            continue
        ids.update(value for (value,) in named)
    return ids


def of_campaign(layout: Layout, campaign: str) -> tuple[str, list[Value]]:
    """SQL condition over a table's heads that picks a campaign's rows, with its values."""
    if not layout.scoped:
        return "_key = ?", [campaign]
    numbers = "SELECT number FROM scope WHERE table_name = ? AND value = ?"
    return f"scope IN ({numbers})", [layout.table.name, campaign]


def oldest(connection: sqlite3.Connection, layout: Layout) -> datetime | None:
    """The earliest instant of a table's time column, over all versions."""
    (first,) = connection.execute(
        f"SELECT min({layout.time_column}) FROM {layout.versions}"
    ).fetchone()
    known = [first, *(part.times[0] for part in live_parts(connection, layout))]
    return min((instant(value) for value in known if isinstance(value, int)), default=None)


def last_seen(connection: sqlite3.Connection, layout: Layout) -> datetime | None:
    """The latest instant at which any row of a table was observed."""
    (last,) = connection.execute(
        "SELECT seen_at FROM tally WHERE table_name = ?", (layout.table.name,)
    ).fetchone()
    return None if last is None else instant(last)


def last_checks(connection: sqlite3.Connection, phones: Sequence[str]) -> dict[str, Check]:
    """The latest Do-Not-Call answer about each number that was ever asked about."""
    rows = connection.execute(
        f"SELECT _key, listed, checked_at, request_id FROM {BY_NAME['dnc_checks'].heads} "
        "WHERE _key IN (SELECT value FROM json_each(?))",
        (json.dumps(list(phones)),),
    )
    return {
        phone: Check(phone, bool(listed), instant(checked_at), request_id)
        for phone, listed, checked_at, request_id in rows
    }


def last_checks_by(
    shelf: Shelf, parts: Sequence[Part], tail: pa.Table, phones: Sequence[str], as_of: datetime
) -> dict[str, Check]:
    """The latest answer about each number by an instant, from all checks ever made.

    Args:
        shelf: The parts.
        parts: The ledger's parts.
        tail: The ledger's tail.
        phones: The numbers asked about.
        as_of: Checks made by this instant.
    """
    layout, moment = BY_NAME["dnc_checks"], microseconds(as_of)
    wanted = pa.array(list(phones), pa.large_string())
    latest: dict[str, Check] = {}
    early = (part for part in parts if isinstance(part.times[0], int) and part.times[0] <= moment)
    tables = (shelf.load(part, layout, layout.table.names) for part in early)
    for table in (*tables, tail.select(layout.table.names)):
        made = pc.less_equal(table["checked_at"].cast(pa.int64()), moment)
        rows = table.filter(pc.and_(made, pc.is_in(table["phone"], wanted)))
        for row in rows.to_pylist():
            check = Check(row["phone"], bool(row["listed"]), row["checked_at"], row["request_id"])
            known = latest.get(check.phone)
            if known is None or known.checked_at <= check.checked_at:
                latest[check.phone] = check
    return latest


def _of_table(connection: sqlite3.Connection, layout: Layout, quarantined: int) -> TableFacts:
    parts = live_parts(connection, layout)
    (tail,) = connection.execute(f"SELECT count(*) FROM {layout.versions}").fetchone()
    versions = tail + sum(part.rows for part in parts)
    rows, gone = versions, 0
    if not layout.ledger:
        rows, gone = connection.execute(
            f"SELECT coalesce(sum(gone = 0), 0), coalesce(sum(gone), 0) FROM {layout.heads}"
        ).fetchone()
    return TableFacts(
        name=layout.table.name,
        rows=rows,
        versions=versions,
        gone=gone,
        quarantined=quarantined,
        seen_at=last_seen(connection, layout),
        parts=len(parts),
    )
