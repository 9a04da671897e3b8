"""The journal of one import on disk: what was meant, sent and answered.

One line of JSON per fact, appended and flushed to the disk before the next step is taken, so that a
process killed at any moment leaves a file that says how far it came:

    import    whose import: source and campaign
    batch     the leads of one batch, with their source lines: the plan, kept so that a later run
              sends the same bytes whatever has changed meanwhile
    planned   the plan is whole; without this line the file is begun anew
    aside     leads of a batch that is not sent yet are left out of it, and why
    send      a batch is about to be sent under this key
    answer    the service's results for the batch
    refused   the service refused the whole batch: nothing was written
    unknown   the service cannot say, or the key is too old to ask with
    found     what a look at the campaign showed of a batch whose outcome was unknown

A batch whose last line is `send` may have reached the service: it is sent again with the same key and the
same bytes, never with a new one. Batches and answers stay on the disk; only where they stand is held.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from dialframe.errors import StoreError

Outcome = Literal["answer", "refused", "unknown", "found"]
Entry = dict[str, Any]

_CLOSED: Final = ("answer", "refused", "unknown", "found")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a line stands in the file."""

    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one batch came.

    Attributes:
        key: The idempotency key that it was last sent under, or None if it never was.
        sent_at: When that key was first used.
        outcome: `answer`, `refused`, `unknown`, `found`, or None while the key is open.
        facts: The last closing line.
        aside: Place in the batch of each lead that is left out, and why.
    """

    key: str | None = None
    sent_at: datetime | None = None
    outcome: Outcome | None = None
    facts: Span | None = None
    aside: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Journal:
    """The journal file of one import.

    Attributes:
        path: The file.
        head: The first line, or None in a file without one.
        planned: Whether the plan is whole.
        sizes: Leads of each batch, by its number.
    """

    path: Path
    head: Entry | None = None
    planned: bool = False
    sizes: dict[int, int] = field(default_factory=dict)
    _batches: dict[int, Span] = field(default_factory=dict, repr=False)
    _standings: dict[int, Standing] = field(default_factory=dict, repr=False)
    _end: int = 0

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Read a journal; a last line that a crash cut off is taken away.

        Raises:
            StoreError: A line in the middle cannot be read.
        """
        book = cls(path)
        if not path.exists():
            return book
        with path.open("r+b") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    file.truncate(book._end)
                    break
                try:
                    book._note(json.loads(line), len(line))
                except (ValueError, TypeError, KeyError, AttributeError):
                    raise _damaged(path, number) from None
        return book

    def batch(self, number: int) -> list[Entry]:
        """The leads of a batch as they were planned: `file`, `line`, `row`, `body`."""
        leads: list[Entry] = self._read(self._batches[number])["leads"]
        return leads

    def sent(self, number: int) -> list[Entry]:
        """The leads of a batch that are sent: those that are not left out."""
        aside = self.standing(number).aside
        return [lead for at, lead in enumerate(self.batch(number)) if at not in aside]

    def standing(self, number: int) -> Standing:
        """How far a batch came."""
        return self._standings.get(number, Standing())

    def facts(self, number: int) -> Entry:
        """The last closing line of a batch, or nothing."""
        span = self.standing(number).facts
        return {} if span is None else self._read(span)

    def begin(
        self, at: datetime, facts: Mapping[str, Any], plan: Iterable[Mapping[str, Any]]
    ) -> None:
        """Write a plan into an empty or unfinished file, flushed once.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        self.head, self.planned, self._end = None, False, 0
        self.sizes.clear()
        self._batches.clear()
        self._standings.clear()
        with self._opened(os.O_TRUNC) as file:
            self._put(file, {"kind": "import", "at": at.isoformat(), **facts})
            for batch in plan:
                self._put(file, {"kind": "batch", **batch})
            self._put(file, {"kind": "planned"})
            _flush(file)

    def append(self, kind: str, at: datetime, facts: Mapping[str, Any]) -> None:
        """Add one fact and flush it to the disk.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        with self._opened(os.O_APPEND) as file:
            self._put(file, {"kind": kind, "at": at.isoformat(), **facts})
            _flush(file)

    def _opened(self, how: int) -> BinaryIO:
        return os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | how, 0o600), "wb")

    def _put(self, file: BinaryIO, entry: Entry) -> None:
        line = json.dumps(entry).encode() + b"\n"
        file.write(line)
        self._note(entry, len(line))

    def _read(self, span: Span) -> Entry:
        with self.path.open("rb") as file:
            file.seek(span.start)
            entry: Entry = json.loads(file.read(span.size))
        return entry

    def _note(self, entry: Entry, size: int) -> None:
        """Remember what a line says, and where it stands."""
        span = Span(self._end, size)
        self._end += size
        match entry["kind"]:
            case "import":
                self.head = entry
            case "planned":
                self.planned = True
            case "batch":
                self._batches[entry["batch"]] = span
                self.sizes[entry["batch"]] = len(entry["leads"])
            case _:
                number = entry["batch"]
                self._standings[number] = _after(self.standing(number), entry, span)


def _after(before: Standing, entry: Entry, span: Span) -> Standing:
    kind = entry["kind"]
    if kind == "aside":
        return replace(before, aside={int(at): why for at, why in entry["leads"].items()})
    if kind == "send":
        at = datetime.fromisoformat(entry["at"])
        first = before.sent_at if before.key == entry["key"] else at
        return replace(before, key=entry["key"], sent_at=first, outcome=None, facts=None)
    if kind not in _CLOSED:
        return before
    # A look that did not show all of a batch leaves it unknown, with what it showed.
    outcome: Outcome = "unknown" if kind == "found" and not entry["complete"] else kind
    return replace(before, outcome=outcome, facts=span)


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _damaged(path: Path, number: int) -> StoreError:
    return StoreError(
        f"{path}, line {number}: the import journal is damaged; keep it, look with `leads.list` what "
        "was imported, and import into another folder"
    )
