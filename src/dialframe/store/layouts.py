"""How each table lies on disk.

Rule 1: a row version is never changed, only followed by another (erasing a person is the exception).
Rule 2: a version holds the columns of its frames table, `_observed_at` (the instant its request was sent),
`_request_id`, `_until` (the instant from which another version counts, microseconds since 1970 UTC, null where none
follows) and `_gone` for "no longer listed". So each version says by itself at which instants it is the row: what is
current and what was known at T are plain conditions, and any filter may be applied beside them.
Rule 3: new versions lie in pages (rows of SQLite, one for each answer); sealed parts (Parquet files) hold the rest.
A version that is followed has its `_until` in `patch` until its part is written anew.
Rule 4: of each key, heads hold the number and content hash of the latest version.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyarrow as pa

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

#: `_until` of a version that no other follows, where there must be a number.
FOREVER: Final = 2**63 - 1

OBSERVED: Final[tuple[Column, ...]] = (
    Column("_observed_at", "instant", "the request that brought this version was sent, UTC"),
    Column("_request_id", "text", "the service's id of the answer that brought this version"),
)
#: What a row of a table's history says beside the table's columns.
HISTORY: Final[tuple[Column, ...]] = (
    *OBSERVED,
    Column("_until", "instant", "from then on another version counts, UTC; null for the latest"),
    Column("_gone", "boolean", "the version says that the row was no longer listed"),
)

#: Arrow type of each kind, in parts and in what is read. Long offsets are what pandas wants.
TYPES: Final[dict[Kind, pa.DataType]] = {
    "text": pa.large_string(),
    "instant": pa.timestamp("us", "UTC"),
    "day": pa.large_string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "json": pa.large_string(),
}
#: Arrow type of a text column with few values while rows are picked and put in order.
CODED: Final = pa.dictionary(pa.int32(), pa.string())

#: How the request id of rows begins that a file brought, and no answer of the service.
FROM_FILE: Final = "sha256:"
#: How the ids begin that the service makes (contract, Conventions: a prefix plus a lower-case UUID), as RE2 reads it.
SERVED_ID: Final = r"^[a-z]+_[0-9a-f]{8}-[0-9a-f]{4}-"
#: Columns that hold a person's number itself: a row with a forgotten one is not kept.
PHONES: Final = frozenset({"phone", "from_number", "to_number"})
#: Columns of ids, codes and closed words, in which nobody writes a number by hand.
_IDS: Final = frozenset(
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
    def name(self) -> str:
        """Name of the table."""
        return self.table.name

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the table's columns."""
        return tuple(self.table.names)

    @cached_property
    def key_places(self) -> tuple[int, ...]:
        """Positions of the key's columns."""
        return tuple(self.place(name) for name in self.table.key)

    @cached_property
    def phone_places(self) -> tuple[int, ...]:
        """Positions of columns that are a person's number."""
        return tuple(i for i, name in enumerate(self.names) if name in PHONES)

    @cached_property
    def prose_places(self) -> tuple[tuple[int, Kind], ...]:
        """Positions (and kinds) of text in which a number may be mentioned."""
        return tuple(
            (i, column.kind)
            for i, column in enumerate(self.table.columns)
            if column.kind in ("text", "json") and column.name not in PHONES | _IDS
        )

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Columns that rows are ordered by."""
        return (self.time_column, *(("seq",) if self.ledger else self.table.key))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the table's parts."""
        return pa.schema(
            [
                pa.field("seq", pa.int64()),
                *(pa.field(column.name, TYPES[column.kind]) for column in self.columns),
                pa.field("_until", pa.int64()),
                pa.field("_gone", pa.bool_()),
            ]
        )

    @cached_property
    def row(self) -> pa.Schema:
        """The columns of the table itself."""
        return self.fields(self.names)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Columns of a frame: the table's own, then when and by which request they were observed."""
        return (*self.table.columns, *OBSERVED)

    def place(self, name: str) -> int:
        """Position of a column in the table."""
        return self.names.index(name)

    def fields(self, names: tuple[str, ...], *, few: bool = False) -> pa.Schema:
        """Some columns of `schema`; with `few`, those of few values as places in a list of them."""
        return pa.schema(
            [pa.field(n, CODED) if few and n in FEW else self.schema.field(n) for n in names]
        )


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

BY_NAME: Final[dict[str, Layout]] = {layout.name: layout for layout in LAYOUTS}
