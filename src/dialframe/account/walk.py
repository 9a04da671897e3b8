"""Walks over a descending, mutable list as values: begin, step, restart, finish; pure, no I/O and no clock.

The list is read newest first, page by page. It cannot be asked for what changed, rows may enter behind a
cursor, rows may vanish, and a walk may be killed at any moment. So:

* A *full* walk goes from the head to the end. It alone finds old rows that changed, rows that were moved in
  and rows that are gone.
* A *head* walk goes from the head until rows are older than the watermark minus an overlap. It finds every
  row created since, and changes of rows inside the overlap.
* The watermark moves at the end of a walk only: whatever was begun and not finished is still open, is saved
  with each page, and goes on from its cursor. So no gap can hide behind the watermark.
* Early stopping trusts the order. Where rows are not in descending `created_at`, the walk goes to the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Literal

#: Rows this much older than the watermark are read again: outcomes are logged after the call.
OVERLAP = timedelta(hours=48)


@dataclass(frozen=True, slots=True)
class Rule:
    """How often a list is read whole.

    Attributes:
        reconcile_after: A full walk is due when the last one is this old.
        small: A list of at most so many rows is read whole each time: it costs little.
        overlap: How far behind the watermark a head walk goes.
    """

    reconcile_after: timedelta
    small: int = 0
    overlap: timedelta = OVERLAP


@dataclass(frozen=True, slots=True)
class Mark:
    """What finished walks of one list have covered.

    Attributes:
        watermark_at: Rows created before this, and present when they were walked, are stored.
        synced_at: Start of the last finished walk.
        reconciled_at: Start of the last finished full walk.
        rows: Rows that the last full walk returned.
        descending: Whether that walk found `created_at` in descending order.
    """

    watermark_at: datetime | None = None
    synced_at: datetime | None = None
    reconciled_at: datetime | None = None
    rows: int = 0
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk that is under way.

    Attributes:
        stop_at: Rows created before this need not be read; None for a full walk.
        cursor: Where it goes on; None for the head.
        started_at: When its first page was asked for.
        observed_at: When its latest page was asked for.
        head_at: Creation of the newest row at its start.
        oldest_at: Creation of the last row read.
        rows: Rows read.
        descending: Whether every row was created at or before the one ahead of it.
        reached: `end` of the list, the `stop`, or nothing yet.
    """

    stop_at: datetime | None = None
    cursor: str | None = None
    started_at: datetime | None = None
    observed_at: datetime | None = None
    head_at: datetime | None = None
    oldest_at: datetime | None = None
    rows: int = 0
    descending: bool = True
    reached: Literal["", "stop", "end"] = ""


@dataclass(frozen=True, slots=True)
class State:
    """Where one list stands: what is covered, and the walk that is open."""

    mark: Mark = field(default_factory=Mark)
    walk: Walk | None = None

    @property
    def complete(self) -> bool:
        """Whether a walk was finished and none is open."""
        return self.mark.synced_at is not None and self.walk is None

    def as_json(self) -> dict[str, Any]:
        """The state as JSON values."""
        walk = None if self.walk is None else _plain(self.walk)
        return {"mark": _plain(self.mark), "walk": walk}

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> State:
        """The state from what `as_json` gave; nothing is a list never walked."""
        if value is None:
            return cls()
        walk = value["walk"]
        return cls(
            mark=Mark(**_parsed(value["mark"])),
            walk=None if walk is None else Walk(**_parsed(walk)),
        )


def begin(mark: Mark, rule: Rule, now: datetime) -> Walk:
    """The walk that is due: a full one, or a head walk where that is enough."""
    if mark.reconciled_at is None or mark.watermark_at is None or not mark.descending:
        return Walk()
    if now - mark.reconciled_at >= rule.reconcile_after or mark.rows <= rule.small:
        return Walk()
    return Walk(stop_at=mark.watermark_at - rule.overlap)


def step(
    walk: Walk, created: Sequence[object], next_cursor: str | None, observed_at: datetime
) -> Walk:
    """The walk after one page.

    Args:
        walk: The walk before it.
        created: `created_at` of its rows in order, as far as they are instants.
        next_cursor: Where the list goes on.
        observed_at: When the page was asked for.
    """
    instants = [value for value in created if isinstance(value, datetime)]
    ahead = ([] if walk.oldest_at is None else [walk.oldest_at]) + instants
    descending = (
        walk.descending
        and len(instants) == len(created)
        and all(newer >= older for newer, older in pairwise(ahead))
    )
    oldest_at = instants[-1] if instants else walk.oldest_at
    passed = (
        descending
        and walk.stop_at is not None
        and oldest_at is not None
        and oldest_at < walk.stop_at
    )
    head_at = walk.head_at
    if walk.cursor is None and instants:
        head_at = instants[0] if head_at is None else min(head_at, instants[0])
    return replace(
        walk,
        cursor=next_cursor,
        started_at=walk.started_at or observed_at,
        observed_at=observed_at,
        head_at=head_at,
        oldest_at=oldest_at,
        rows=walk.rows + len(created),
        descending=descending,
        reached="end" if next_cursor is None else "stop" if passed else "",
    )


def restart(walk: Walk) -> Walk:
    """The same walk from the head again, after its cursor was refused.

    It keeps its start: a row seen before the restart was seen by this walk.
    """
    return replace(walk, cursor=None, oldest_at=None, rows=0, descending=True)


def finish(mark: Mark, walk: Walk) -> Mark:
    """What is covered once a walk has reached its end or its stop."""
    watermark = walk.head_at
    if watermark is not None and walk.started_at is not None:
        # A service whose clock is ahead of ours must not move the watermark into the future.
        watermark = min(watermark, walk.started_at)
    covered = replace(mark, watermark_at=watermark, synced_at=walk.started_at)
    if walk.reached == "stop":
        return covered
    return replace(
        covered,
        reconciled_at=walk.started_at,
        rows=walk.rows,
        descending=walk.descending,
    )


def _plain(value: Mark | Walk) -> dict[str, Any]:
    found = {part.name: getattr(value, part.name) for part in fields(value)}
    return {
        name: item.isoformat() if isinstance(item, datetime) else item
        for name, item in found.items()
    }


def _parsed(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: datetime.fromisoformat(item) if name.endswith("_at") and item else item
        for name, item in value.items()
    }
