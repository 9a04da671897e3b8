"""How each table lies on disk: SQL names and types made from the column tables; opens nothing.

Rule 1: a row version is never changed, only followed by another (erasing a person is the exception).
Rule 2: a version holds the payload in the frames table's columns, `_observed_at` (the instant its request
was sent, microseconds since 1970 UTC), `_request_id`, a content hash, and `_gone` for "no longer listed".
Rule 3: `head_<table>` points from each key to its latest version and says when the row was last seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dialframe.frames.columns import (
    APPOINTMENTS,
    CALLBACKS,
    CALLS,
    CAMPAIGNS,
    DISPOSITIONS,
    DNC_CHECKS,
    EVENTS,
    LEADS,
    Column,
    Kind,
    Table,
)

#: `PRAGMA user_version` of the files that this code writes and reads.
SCHEMA_VERSION: Final = 2
#: `PRAGMA application_id`: tells a store from any other SQLite file.
APPLICATION_ID: Final = 0x64666D65

OBSERVED: Final[tuple[Column, ...]] = (
    Column("_observed_at", "instant", "the request that brought this version was sent, UTC"),
    Column("_request_id", "text", "the service's id of the answer that brought this version"),
)

SQL_TYPES: Final[dict[Kind, str]] = {
    "text": "TEXT",
    "instant": "INTEGER",
    "day": "TEXT",
    "integer": "INTEGER",
    "number": "REAL",
    "boolean": "INTEGER",
    "json": "TEXT",
}

#: Columns that hold a person's number itself: a row with a forgotten one is not kept.
PHONES: Final = frozenset({"phone", "from_number", "to_number"})
#: Columns of ids, codes and closed words, in which nobody writes a number by hand.
CODED: Final = frozenset(
    {"id", "campaign_id", "lead_id", "request_id", "date", "timezone", "delivery_id", "type"}
)


@dataclass(frozen=True)
class Layout:
    """One table on disk.

    Attributes:
        table: The column table.
        time_column: The column that `since` and `until` speak of.
        campaign_column: The column that `campaign` speaks of, or None.
        ledger: Whether every row is kept for itself, without key and without versions.
        once: Whether a row stays as it first came, whatever comes under its key later.
        about: A JSON column whose fields say which numbers and lead the row is about, or None.
    """

    table: Table
    time_column: str = "created_at"
    campaign_column: str | None = None
    ledger: bool = False
    once: bool = False
    about: str | None = None

    @property
    def versions(self) -> str:
        """SQL name of the table of versions."""
        return f"row_{self.table.name}"

    @property
    def heads(self) -> str:
        """SQL name of the table of latest versions."""
        return f"head_{self.table.name}"

    @cached_property
    def by_id(self) -> bool:
        """Whether the key is the service's id, which is then kept once, as the key."""
        return self.table.key == ("id",)

    @cached_property
    def payload(self) -> tuple[Column, ...]:
        """Columns stored beside the key, in the table's order."""
        return tuple(c for c in self.table.columns if not (self.by_id and c.name == "id"))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """SQL names of the payload columns."""
        return tuple(column.name for column in self.payload)

    @cached_property
    def phone_places(self) -> tuple[int, ...]:
        """Positions in the payload of columns that are a person's number."""
        return tuple(i for i, name in enumerate(self.names) if name in PHONES)

    @cached_property
    def prose_places(self) -> tuple[tuple[int, Kind], ...]:
        """Positions (and kinds) in the payload of text in which a number may be mentioned."""
        return tuple(
            (i, column.kind)
            for i, column in enumerate(self.payload)
            if column.kind in ("text", "json") and column.name not in PHONES | CODED
        )

    def place(self, name: str) -> int:
        """Position of a column in the payload."""
        return self.names.index(name)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of a frame: the table's own, then when and by which request they were observed."""
        return (*self.table.columns, *OBSERVED)

    def expression(self, name: str) -> str:
        """SQL expression of a frame's column over the table of versions."""
        return "_key" if self.by_id and name == "id" else name


LAYOUTS: Final[tuple[Layout, ...]] = (
    Layout(CALLS, campaign_column="campaign_id"),
    Layout(LEADS, campaign_column="campaign_id"),
    Layout(CAMPAIGNS, campaign_column="id"),
    Layout(CALLBACKS, campaign_column="campaign_id"),
    Layout(APPOINTMENTS),
    Layout(DISPOSITIONS, time_column="date", campaign_column="campaign_id"),
    Layout(EVENTS, once=True, about="data"),
    Layout(DNC_CHECKS, time_column="checked_at", ledger=True),
)

BY_NAME: Final[dict[str, Layout]] = {layout.table.name: layout for layout in LAYOUTS}

#: Tables that a layout has and the one before it has not.
_ADDED: Final[dict[int, Table]] = {2: EVENTS}


def statements() -> list[str]:
    """The SQL that makes an empty store."""
    made = [
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE checkpoint (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE forgotten (mark BLOB PRIMARY KEY, digits INTEGER NOT NULL, "
        "forgotten_at INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE quarantine (seq INTEGER PRIMARY KEY, table_name TEXT NOT NULL, "
        "raw TEXT NOT NULL, reason TEXT NOT NULL, _observed_at INTEGER NOT NULL, "
        "_request_id TEXT, _hash BLOB NOT NULL, UNIQUE (table_name, _hash))",
    ]
    for layout in LAYOUTS:
        made += _of_table(layout)
    return made


def additions(version: int) -> list[str]:
    """The SQL that makes a store of an older layout one of this layout."""
    return [
        statement
        for since, table in _ADDED.items()
        if since > version
        for statement in _of_table(BY_NAME[table.name])
    ]


def _of_table(layout: Layout) -> list[str]:
    payload = ", ".join(f"{c.name} {SQL_TYPES[c.kind]}" for c in layout.payload)
    observed = "_observed_at INTEGER NOT NULL, _request_id TEXT"
    if layout.ledger:
        return [
            f"CREATE TABLE {layout.versions} (seq INTEGER PRIMARY KEY, {payload}, {observed})",
            f"CREATE INDEX {layout.versions}_phone ON {layout.versions} (phone, checked_at)",
        ]
    return [
        f"CREATE TABLE {layout.versions} (seq INTEGER PRIMARY KEY, _key TEXT NOT NULL, {payload}, "
        f"{observed}, _hash BLOB NOT NULL, _gone INTEGER NOT NULL)",
        f"CREATE INDEX {layout.versions}_key ON {layout.versions} (_key, _observed_at, seq)",
        f"CREATE TABLE {layout.heads} (_key TEXT PRIMARY KEY, seq INTEGER NOT NULL, "
        f"seen_at INTEGER NOT NULL, misses INTEGER NOT NULL) WITHOUT ROWID",
    ]
