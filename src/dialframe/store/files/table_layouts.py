"""How each table lies on disk: SQL names and types made from the column tables.

Rule 1: a row version is never changed, only followed by another (erasing a person is the exception).
Rule 2: a version holds the payload in the frames table's columns, `_observed_at` (the instant its request
was sent, microseconds since 1970 UTC), `_until` (the instant from which another version counts), its
`_request_id`, and `_gone` for "no longer listed". So each version says by itself at which instants it is the
row: what is current and what was known at T are plain conditions, and any filter may be applied beside them.
Rule 3: new versions go to the tail `row_<table>`; sealed parts (Parquet files named in `part`) hold the rest.
A sealed version that is followed has its `_until` in `patch` until its part is written anew.
Rule 4: `head_<table>` holds of each key the latest version's place, content hash and when it was last seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dialframe.frames.frame_schemas import (
    APPOINTMENTS,
    CALLBACKS,
    CALLS,
    CAMPAIGNS,
    DISPOSITIONS,
    DNC_CHECKS,
    EVENTS,
    LEADS,
    SMS_REPORTS,
    WEBHOOKS,
    Column,
    Kind,
    Table,
)

#: `PRAGMA user_version` of the files that this code writes and reads.
SCHEMA_VERSION: Final = 5
#: `PRAGMA application_id`: tells a store from any other SQLite file.
APPLICATION_ID: Final = 0x64666D65

#: `_until` of a version that no other follows.
FOREVER: Final = 2**63 - 1

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
#: Columns of text with few different values, which are read as places in a list of those.
FEW: Final = frozenset(
    {
        "api_version", "campaign_id", "dialer_mode", "direction", "disposition",
        "disposition_code", "from_number", "hangup_cause", "service_type", "source", "status",
        "timezone", "type", "request_id", "_request_id",
    }
)  # fmt: skip


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
        """SQL name of the tail: versions that are not in a part yet."""
        return f"row_{self.table.name}"

    @property
    def heads(self) -> str:
        """SQL name of the table of latest versions; of a ledger, the latest check of each number."""
        return f"head_{self.table.name}"

    @cached_property
    def by_id(self) -> bool:
        """Whether the key is the service's id, which is then kept once, as the key."""
        return self.table.key == ("id",)

    @cached_property
    def payload(self) -> tuple[Column, ...]:
        """Columns stored beside the key, in the table's order."""
        # The id is the key already, and is not kept twice.
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
    def tail_key(self) -> str:
        """Name in the tail of the key of a row, which also orders rows of one time."""
        return "seq" if self.ledger else "_key"

    @property
    def part_key(self) -> str:
        """Name of the same in parts, where a service's id is a column like any other."""
        return "id" if self.by_id else self.tail_key

    @property
    def scoped(self) -> bool:
        """Whether its rows belong to a campaign that is not their own key."""
        return self.campaign_column not in (None, "id")

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
    # Contract, Webhook event: retries and replays keep the id and the data as delivered.
    Layout(EVENTS, once=True, about="data"),
    Layout(SMS_REPORTS),
    Layout(WEBHOOKS),
    # Contract, Do-Not-Call: a check answers listed or not at its moment alone, so each is kept.
    Layout(DNC_CHECKS, time_column="checked_at", ledger=True),
)

BY_NAME: Final[dict[str, Layout]] = {layout.table.name: layout for layout in LAYOUTS}

#: What each audit said, chained by hash, since no sync can say it again.
_VERDICTS: Final = (
    "CREATE TABLE verdict (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, content TEXT NOT NULL, "
    "digest TEXT NOT NULL)"
)

#: Name in SQL of each layout's old tables while they are copied.
_OLD: Final = "old_"


def statements() -> list[str]:
    """The SQL that makes an empty store."""
    made = [
        *_of_checksums(),
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE checkpoint (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE forgotten (mark BLOB PRIMARY KEY, digits INTEGER NOT NULL, "
        "forgotten_at INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE quarantine (seq INTEGER PRIMARY KEY, table_name TEXT NOT NULL, "
        "raw TEXT NOT NULL, reason TEXT NOT NULL, _observed_at INTEGER NOT NULL, "
        "_request_id TEXT, _hash BLOB NOT NULL, UNIQUE (table_name, _hash))",
        *_of_parts(),
        _VERDICTS,
    ]
    for layout in LAYOUTS:
        made += _of_table(layout)
    return made


def additions(version: int, present: frozenset[str]) -> list[str]:
    """The SQL that makes a store of an older layout one of this.

    Args:
        version: The layout that the store has.
        present: Names of the tables that the store has.
    """
    # Layout 5 keeps what audits said.
    if version == 4:
        return [_VERDICTS]
    # Layout 4 holds rows by digests and keeps a second copy.
    if version == 3:
        return [
            *_of_checksums(),
            "ALTER TABLE damage ADD COLUMN last_observed INTEGER",
            "ALTER TABLE damage ADD COLUMN acknowledged_at INTEGER",
            _VERDICTS,
        ]
    made = [*_of_checksums(), *_of_parts(), _VERDICTS]
    for layout in LAYOUTS:
        # Layouts 1 and 2 had all versions in SQLite; layout 1 had no events.
        old = layout.versions in present
        made += [*_moved_away(layout)] if old else []
        made += _of_table(layout)
        made += _copied(layout) if old else []
    return made


def _of_parts() -> list[str]:
    return [
        "CREATE TABLE part (name TEXT PRIMARY KEY, table_name TEXT NOT NULL, "
        "history INTEGER NOT NULL, rows INTEGER NOT NULL, size_bytes INTEGER NOT NULL, "
        "digest BLOB NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL, "
        "first_time, last_time, blank_times INTEGER NOT NULL, first_observed INTEGER NOT NULL, "
        "last_observed INTEGER NOT NULL, last_until INTEGER NOT NULL, "
        "dead INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID",
        "CREATE TABLE patch (table_name TEXT NOT NULL, seq INTEGER NOT NULL, "
        "until INTEGER NOT NULL, PRIMARY KEY (table_name, seq)) WITHOUT ROWID",
        "CREATE TABLE tally (table_name TEXT PRIMARY KEY, seq INTEGER NOT NULL, "
        "sealed INTEGER NOT NULL, seen_at INTEGER, epoch INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE scope (number INTEGER PRIMARY KEY, table_name TEXT NOT NULL, "
        "value TEXT NOT NULL, UNIQUE (table_name, value))",
        "CREATE TABLE damage (name TEXT PRIMARY KEY, table_name TEXT NOT NULL, "
        "rows INTEGER NOT NULL, first_observed INTEGER NOT NULL, found_at INTEGER NOT NULL, "
        "reason TEXT NOT NULL, last_observed INTEGER, acknowledged_at INTEGER) WITHOUT ROWID",
    ]


def _of_checksums() -> list[str]:
    """Count and digest of each table's rows, and how far the second copy has come with this file."""
    return [
        "CREATE TABLE checksum (name TEXT PRIMARY KEY, rows INTEGER NOT NULL, "
        "digest INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE chain (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL, "
        "digest TEXT NOT NULL)",
        f"INSERT INTO chain VALUES (1, 0, '{'0' * 64}')",
    ]


def _of_table(layout: Layout) -> list[str]:
    payload = ", ".join(f"{c.name} {SQL_TYPES[c.kind]}" for c in layout.payload)
    observed = "_observed_at INTEGER NOT NULL, _request_id TEXT"
    tally = f"INSERT INTO tally VALUES ('{layout.table.name}', 0, 0, NULL, 0)"
    if layout.ledger:
        return [
            tally,
            f"CREATE TABLE {layout.versions} (seq INTEGER PRIMARY KEY, {payload}, {observed})",
            f"CREATE TABLE {layout.heads} (_key TEXT PRIMARY KEY, listed INTEGER, "
            "checked_at INTEGER, request_id TEXT) WITHOUT ROWID",
        ]
    return [
        tally,
        f"CREATE TABLE {layout.versions} (seq INTEGER PRIMARY KEY, _key TEXT NOT NULL, {payload}, "
        f"{observed}, _until INTEGER NOT NULL, _gone INTEGER NOT NULL)",
        f"CREATE INDEX {layout.versions}_key ON {layout.versions} (_key)",
        f"CREATE TABLE {layout.heads} (_key TEXT PRIMARY KEY, seq INTEGER NOT NULL, "
        "since INTEGER NOT NULL, seen_at INTEGER NOT NULL, misses INTEGER NOT NULL, "
        "gone INTEGER NOT NULL, scope INTEGER, digest BLOB NOT NULL) WITHOUT ROWID",
    ]


def _moved_away(layout: Layout) -> list[str]:
    # An index keeps its name when its table is renamed.
    index = f"{layout.versions}_phone" if layout.ledger else f"{layout.versions}_key"
    # Their own names are needed for the new ones.
    moved = [
        f"DROP INDEX {index}",
        f"ALTER TABLE {layout.versions} RENAME TO {_OLD}{layout.versions}",
    ]
    if not layout.ledger:
        moved.append(f"ALTER TABLE {layout.heads} RENAME TO {_OLD}{layout.heads}")
    return moved


def _copied(layout: Layout) -> list[str]:
    """The SQL that brings the rows of layouts 1 and 2, all in SQLite, into this one's tail."""
    old, name = f"{_OLD}{layout.versions}", layout.table.name
    columns = ", ".join(("seq", *layout.names, "_observed_at", "_request_id"))
    if layout.ledger:
        return [
            f"INSERT INTO {layout.versions} ({columns}) SELECT {columns} FROM {old}",
            # SQLite takes the other columns from the row that has the maximum.
            f"INSERT INTO {layout.heads} (_key, listed, checked_at, request_id) "
            f"SELECT phone, listed, max(checked_at), request_id FROM {old} GROUP BY phone",
            f"UPDATE tally SET (seq, seen_at) = (SELECT coalesce(max(seq), 0), max(_observed_at) "
            f"FROM {old}) WHERE table_name = '{name}'",
            f"DROP TABLE {old}",
        ]
    scope = layout.campaign_column if layout.scoped else None
    return [
        f"INSERT INTO {layout.versions} ({columns}, _key, _until, _gone) "
        f"SELECT {columns}, _key, coalesce(lead(_observed_at) OVER "
        f"(PARTITION BY _key ORDER BY _observed_at, seq), {FOREVER}), _gone FROM {old}",
        f"INSERT INTO scope (table_name, value) SELECT DISTINCT '{name}', {scope or 'NULL'} "
        f"FROM {old} WHERE {scope or 'NULL'} IS NOT NULL",
        f"INSERT INTO {layout.heads} (_key, seq, since, seen_at, misses, gone, scope, digest) "
        f"SELECT h._key, h.seq, v._observed_at, h.seen_at, h.misses, v._gone, s.number, v._hash "
        f"FROM {_OLD}{layout.heads} h JOIN {old} v ON v.seq = h.seq LEFT JOIN scope s "
        f"ON s.table_name = '{name}' AND s.value = v.{scope or '_key'}",
        f"UPDATE tally SET seq = (SELECT coalesce(max(seq), 0) FROM {old}), "
        f"seen_at = (SELECT max(seen_at) FROM {layout.heads}) WHERE table_name = '{name}'",
        f"DROP TABLE {_OLD}{layout.heads}",
        f"DROP TABLE {old}",
    ]
