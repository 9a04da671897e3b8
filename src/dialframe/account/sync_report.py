"""How far a sync has come, and what it did, table by table: values that print themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from html import escape
from textwrap import wrap
from typing import Any

from dialframe.config import Progress


@dataclass(frozen=True, slots=True)
class ListProgress(Progress):
    """How far the reading of a list has come; `done` is rows, `total` the rows it had when last read whole.

    Attributes:
        requests: Pages and reports that were answered.
        oldest_at: Creation of the oldest row reached, or None.
        finished: Whether this table is done, whole or not.
    """

    requests: int = 0
    oldest_at: datetime | None = None
    finished: bool = False

    @property
    def back(self) -> str:
        """How far back it is, for people; empty where that is not known or of no use any more."""
        return "" if self.oldest_at is None or self.finished else f"back to {self.oldest_at:%F}"


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
_SHORT_HEAD = ("table", "requests", "rows", "versions", "gone", "aside", "complete to (UTC)")
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
        last_looked_at: Every row was looked at then or later; None where that is not known.
        older: The same as a sentence, or an empty text.
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
    last_looked_at: datetime | None = None
    older: str = ""
    note: str = ""
    optional: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The table's part of the report as a dictionary.

        Returns:
            Values that JSON can hold; instants as ISO 8601 text.
        """
        facts = asdict(self) | {"set_aside": [*self.set_aside]}
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in facts.items()
        }


@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        open_tables = [t.table for t in self.tables if not (t.complete or t.optional)]
        state = f"not complete: {', '.join(open_tables)}" if open_tables else "complete"
        versions = sum(table.versions for table in self.tables)
        return (
            f"<SyncReport: {len(self.tables)} tables {state}; {self.requests:,} requests, "
            f"{versions:,} new versions>"
        )

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [_SHORT_HEAD]
        for entry in self.tables:
            whole = f"{entry.covers_to:%F %H:%M}" if entry.complete and entry.covers_to else "no"
            rows.append((entry.table, *_counts(entry), "-" if entry.optional else whole))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        last = len(widths) - 1
        lines = [
            "  ".join(
                # Numbers stand to the right.
                cell.rjust(width) if 0 < column < last else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        for entry in self.tables:
            notes = [f"set aside {row}" for row in entry.set_aside]
            unfinished = entry.covers_to and not entry.complete and not entry.optional
            reached = f"covered from {_covers(entry)}" if unfinished else ""
            first = "; ".join(filter(None, (entry.note, reached)))
            if explained := ". ".join(filter(None, (first, entry.older))):
                notes.insert(0, explained)
            for note in notes:
                lines += wrap(f"{entry.table}: {note}", WIDTH, subsequent_indent="  ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in _HEAD)
        body = ""
        for entry in self.tables:
            complete = "yes" if entry.complete else "no"
            notes = ". ".join(filter(None, (entry.note, entry.older)))
            row = (entry.table, *_counts(entry), complete, _covers(entry), notes)
            body += "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def day_and_time(instant: datetime) -> str:
    """An instant for people: UTC, to the minute."""
    return f"{instant:%Y-%m-%d %H:%M} UTC"


def _counts(entry: TableSync) -> list[str]:
    counts = (entry.requests, entry.rows, entry.versions, entry.gone, entry.quarantined)
    return [f"{count:,}" for count in counts]


def _covers(entry: TableSync) -> str:
    if entry.covers_to is None:
        return "nothing yet"
    start = "its beginning" if entry.covers_from is None else day_and_time(entry.covers_from)
    return f"{start} to {day_and_time(entry.covers_to)}"
