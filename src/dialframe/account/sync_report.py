"""What a sync did, table by table, as a value that prints itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape
from textwrap import wrap
from typing import Any

_HEAD = (
    "table",
    "requests",
    "rows",
    "new versions",
    "gone",
    "set aside",
    "complete",
    "covers",
    "note",
)


_SHORT_HEAD = (
    "table",
    "requests",
    "rows",
    "versions",
    "gone",
    "aside",
    "complete to (UTC)",
)
#: Characters on a line of text.
WIDTH = 80
#: Rows set aside that a report names; the store has all of them.
NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSync:
    """What a sync did to one table.

    Attributes:
        table: Name of the table.
        requests: Pages or reports asked for.
        rows: Rows seen, those seen before among them.
        versions: Row versions added: rows that are new or changed.
        gone: Rows found to be no longer listed.
        quarantined: Rows that did not validate and were set aside.
        set_aside: The first of them: id, field, what was expected there.
        complete: Whether the table is now whole up to `covers_to`.
        covers_from: Creation of the oldest row that is covered; None for the list's beginning.
        covers_to: Rows created by then, and listed then, are stored; None where nothing is.
        note: What a person should know, or an empty text.
        optional: Whether nobody asked for it by name and the service does not offer it to this key.
    """

    table: str
    requests: int = 0
    rows: int = 0
    versions: int = 0
    gone: int = 0
    quarantined: int = 0
    set_aside: tuple[str, ...] = ()
    complete: bool = False
    covers_from: datetime | None = None
    covers_to: datetime | None = None
    note: str = ""
    optional: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The table's part of the report as a dictionary.

        Returns:
            Values that JSON can hold; instants as ISO 8601 text.
        """
        return {
            "table": self.table,
            "requests": self.requests,
            "rows": self.rows,
            "versions": self.versions,
            "gone": self.gone,
            "quarantined": self.quarantined,
            "set_aside": [*self.set_aside],
            "complete": self.complete,
            "covers_from": None if self.covers_from is None else self.covers_from.isoformat(),
            "covers_to": None if self.covers_to is None else self.covers_to.isoformat(),
            "note": self.note,
            "optional": self.optional,
        }


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did.

    Attributes:
        started_at: When it began, UTC.
        tables: One entry per table that was asked for, or that one of them needs.
    """

    started_at: datetime
    tables: tuple[TableSync, ...]

    @property
    def complete(self) -> bool:
        """Whether every table is whole that the service offers to this key."""
        return all(table.complete or table.optional for table in self.tables)

    @property
    def quarantined(self) -> int:
        """Rows that were set aside, because they are not what the contract says."""
        return sum(table.quarantined for table in self.tables)

    @property
    def requests(self) -> int:
        """Requests that were sent."""
        return sum(table.requests for table in self.tables)

    def __getitem__(self, table: str) -> TableSync:
        """What happened to one table, by name."""
        return {entry.table: entry for entry in self.tables}[table]

    def __iter__(self) -> Iterator[TableSync]:
        return iter(self.tables)

    def as_dict(self) -> dict[str, Any]:
        """The report as a dictionary.

        Returns:
            Values that JSON can hold.
        """
        return {
            "started_at": self.started_at.isoformat(),
            "complete": self.complete,
            "requests": self.requests,
            "quarantined": self.quarantined,
            "tables": {entry.table: entry.as_dict() for entry in self.tables},
        }

    def __str__(self) -> str:
        rows = [_SHORT_HEAD, *(_short(entry) for entry in self.tables)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_SHORT_HEAD))]
        lines = ["  ".join(_set(row, widths)).rstrip() for row in rows]
        for entry in self.tables:
            if explained := _explained(entry):
                lines += wrap(f"{entry.table}: {explained}", WIDTH, subsequent_indent="  ")
            for row in entry.set_aside:
                lines += wrap(f"{entry.table}: set aside {row}", WIDTH, subsequent_indent="  ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in _HEAD)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(entry)) + "</tr>"
            for entry in self.tables
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def day_and_time(instant: datetime) -> str:
    """An instant for people: UTC, to the minute."""
    return f"{instant:%Y-%m-%d %H:%M} UTC"


def _set(row: tuple[str, ...], widths: list[int]) -> Iterator[str]:
    """Cells at their widths: the first and the last to the left, numbers to the right."""
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        text = column in (0, len(widths) - 1)
        yield cell.ljust(width) if text else cell.rjust(width)


def _short(entry: TableSync) -> tuple[str, ...]:
    counts = (entry.requests, entry.rows, entry.versions, entry.gone, entry.quarantined)
    whole = (
        "no" if entry.covers_to is None or not entry.complete else f"{entry.covers_to:%F %H:%M}"
    )
    return entry.table, *(f"{count:,}" for count in counts), "-" if entry.optional else whole


def _explained(entry: TableSync) -> str:
    """What a person should know of a table, and how far an unfinished one came."""
    if entry.complete or entry.optional:
        return entry.note
    reached = "" if entry.covers_to is None else f"covered from {_covers(entry)}"
    return "; ".join(part for part in (entry.note, reached) if part)


def _cells(entry: TableSync) -> tuple[str, ...]:
    counts = (entry.requests, entry.rows, entry.versions, entry.gone, entry.quarantined)
    return (
        entry.table,
        *(f"{count:,}" for count in counts),
        "yes" if entry.complete else "no",
        _covers(entry),
        entry.note,
    )


def _covers(entry: TableSync) -> str:
    if entry.covers_to is None:
        return "nothing yet"
    start = "its beginning" if entry.covers_from is None else day_and_time(entry.covers_from)
    return f"{start} to {day_and_time(entry.covers_to)}"
