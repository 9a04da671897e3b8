"""The journal of one import on disk: what was meant, sent and answered; knows no HTTP and no leads' rules.

One line of JSON per fact, appended and flushed to the disk before the next step is taken, so that a
process killed at any moment leaves a file that says how far it came:

    import    the plan: campaign, hash of all batches, how many there are
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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from dialframe.errors import StoreError

CLOSED = ("answer", "refused", "unknown")


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal file of one import."""

    path: Path

    def entries(self) -> list[dict[str, Any]]:
        """Every whole line; a last line that was cut off by a crash is left out.

        Raises:
            StoreError: A line in the middle cannot be read.
        """
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")
        return list(self._parsed(lines))

    def append(self, kind: str, at: datetime, facts: Mapping[str, Any]) -> None:
        """Add one fact and flush it to the disk.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        line = json.dumps({"kind": kind, "at": at.isoformat(), **facts}, ensure_ascii=False)
        self._mend()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, line.encode() + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _mend(self) -> None:
        """Cut off a line that a crash left unfinished, so that the next one starts afresh."""
        if not self.path.exists():
            return
        whole = self.path.read_bytes()
        if whole and not whole.endswith(b"\n"):
            with self.path.open("r+b") as file:
                file.truncate(whole.rfind(b"\n") + 1)

    def _parsed(self, lines: list[bytes]) -> Iterator[dict[str, Any]]:
        for number, line in enumerate(lines[:-1], start=1):
            try:
                yield json.loads(line)
            except ValueError:
                raise StoreError(
                    f"{self.path}, line {number}: the import journal is damaged; keep it, and ask the service "
                    "with `leads.list` what was imported before you import again into another folder"
                ) from None


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
    facts: Mapping[str, Any] | None = None


def standings(entries: list[dict[str, Any]]) -> dict[int, Standing]:
    """The standing of every batch that a journal speaks of, by its number."""
    found: dict[int, Standing] = {}
    for entry in entries:
        if entry["kind"] == "send":
            at = datetime.fromisoformat(entry["at"])
            found[entry["batch"]] = Standing(key=entry["key"], sent_at=at)
        elif entry["kind"] in CLOSED:
            before = found.get(entry["batch"], Standing())
            found[entry["batch"]] = Standing(before.key, before.sent_at, entry["kind"], entry)
    return found
