"""The journal of one import on disk: what was meant, sent and answered; knows no HTTP and no leads' rules.

One line of JSON per fact, appended and flushed to the disk before the next step is taken, so that a
process killed at any moment leaves a file that says how far it came:

    import    whose import: source and campaign
    batch     the leads of one batch, with their source lines: the plan, kept so that a later run
              sends the same bytes whatever has changed meanwhile
    planned   the plan is whole; without this line the file is begun anew
    send      a batch is about to be sent under this key
    answer    the service's results for the batch
    refused   the service refused the whole batch: nothing was written, the key is closed
    unknown   the service cannot say, or the key is too old to ask with

A batch whose last line is `send` may have reached the service: it is sent again with the same key and the
same bytes, never with a new one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from dialframe.errors import StoreError

CLOSED = ("answer", "refused", "unknown")


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal file of one import; `entries` holds every whole line, appended ones included."""

    path: Path
    entries: list[dict[str, Any]] = field(default_factory=list, repr=False)

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Read a journal; a last line that a crash cut off is taken away.

        Raises:
            StoreError: A line in the middle cannot be read.
        """
        if not path.exists():
            return cls(path)
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with path.open("r+b") as file:
                file.truncate(len(whole))
        return cls(path, [_parsed(path, n, line) for n, line in enumerate(whole.splitlines(), 1)])

    @property
    def planned(self) -> bool:
        """Whether the plan is whole."""
        return any(entry["kind"] == "planned" for entry in self.entries)

    def begin(
        self, at: datetime, facts: Mapping[str, Any], plan: Iterable[Mapping[str, Any]]
    ) -> None:
        """Write a plan into an empty or unfinished file, flushed once.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        self.path.unlink(missing_ok=True)
        self.entries.clear()
        stamp = at.isoformat()
        batches = ({"kind": "batch", "at": stamp, **batch} for batch in plan)
        lines = [
            {"kind": "import", "at": stamp, **facts},
            *batches,
            {"kind": "planned", "at": stamp},
        ]
        self._write(lines)

    def append(self, kind: str, at: datetime, facts: Mapping[str, Any]) -> None:
        """Add one fact and flush it to the disk.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        self._write([{"kind": kind, "at": at.isoformat(), **facts}])

    def _write(self, lines: list[dict[str, Any]]) -> None:
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self.entries.extend(json.loads(json.dumps(lines)))


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one batch came.

    Attributes:
        key: The idempotency key that it was last sent under, or None if it never was.
        sent_at: When that key was first used.
        outcome: `answer`, `refused`, `unknown`, or None while the key is open.
        facts: The last line's facts.
    """

    key: str | None = None
    sent_at: datetime | None = None
    outcome: str | None = None
    facts: Mapping[str, Any] | None = field(default=None, repr=False)


def standings(entries: Iterable[Mapping[str, Any]]) -> dict[int, Standing]:
    """The standing of every batch that was sent, by its number."""
    found: dict[int, Standing] = {}
    for entry in entries:
        if entry["kind"] == "send":
            at = datetime.fromisoformat(entry["at"])
            found[entry["batch"]] = Standing(key=entry["key"], sent_at=at)
        elif entry["kind"] in CLOSED:
            before = found.get(entry["batch"], Standing())
            found[entry["batch"]] = Standing(before.key, before.sent_at, entry["kind"], entry)
    return found


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
        return {"kind": entry["kind"], **entry}
    except (ValueError, TypeError, KeyError):
        raise StoreError(
            f"{path}, line {number}: the import journal is damaged; keep it, look with `leads.list` what "
            "was imported, and import into another folder"
        ) from None
