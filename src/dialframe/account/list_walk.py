"""Walks over a descending, mutable list as values: begin, step, restart, finish; pure, no I/O and no clock.

The list is read newest first. It cannot be asked for what changed, rows may enter behind a cursor (contract,
Endpoints: Calls) or vanish, and a walk may be killed at any moment. So:

* A *full* walk goes from the head to the end. It alone finds old rows that changed, rows that were moved in
  and rows that are gone.
* A *head* walk goes from the head until rows are older than the watermark minus an overlap. It finds every
  row created since, and changes of rows inside the overlap. The overlap is learned: it is as long as rows
  were seen to change after their creation, and at least two days. Right after another walk a head walk
  that has read three pages stops as soon as nothing new can follow.
* A full walk is due after a day, and sooner where the last one found changes that no head walk could have
  found: reading such a list whole may take a tenth of the limit.
* The watermark moves at the end of a walk only: whatever was begun and not finished is still open, is saved
  with each page, and goes on from its cursor. So no gap can hide behind the watermark.
* Early stopping trusts the order: where rows are not in descending `created_at`, a walk goes to the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any, Final, Literal

from pydantic import TypeAdapter

#: Counts of lags, how long after its creation a row was seen to change: of up to 1, 2, 4, ... hours; the
#: last one is of 3.7 years and more. A row's exact lag is not known, only that a page of old rows had so
#: many new versions when it was read again: each counts with the age of the page's oldest row.
NONE: Final[tuple[int, ...]] = (0,) * 16
#: The share of changes that an overlap has to find.
SHARE: Final = 0.999
_HOUR: Final = timedelta(hours=1)
#: Rows this much older than the watermark are read again: outcomes are logged after the call.
OVERLAP = timedelta(hours=48)
#: A learned overlap costs at most so many rows: a minute of the rate limit.
OVERLAP_ROWS = 60_000
#: A row may be listed this long after the instant that it says it was created at.
LISTED_LATE = timedelta(minutes=15)
#: A head walk that comes this soon after the last one need not read more than so many pages of the overlap.
SOON, SOON_PAGES = timedelta(seconds=60), 3
#: A restless list of at most so many rows is read whole each time...
RESTLESS_ROWS = 20_000
#: ... and a longer one when so much time has passed for each row: a tenth of the rate limit.
RESTLESS_PER_ROW = timedelta(milliseconds=10)


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
        synced_from: Creation back to which that walk went; None for the list's beginning.
        reread_at: Start of the last walk that went back over the whole overlap.
        reread_from: Creation back to which that one went; None for the list's beginning.
        reconciled_at: Start of the last finished full walk.
        finished_at: When the last page of the last finished walk was asked for.
        oldest_at: Creation of the oldest row that the last full walk returned.
        rows: Rows that the last full walk returned.
        descending: Whether that walk found `created_at` in descending order.
        restless: Whether that walk found what no head walk could have, or was interrupted.
        lags: How long after their creation rows were seen to change, as counts (see `NONE`).
    """

    watermark_at: datetime | None = None
    synced_at: datetime | None = None
    synced_from: datetime | None = None
    reread_at: datetime | None = None
    reread_from: datetime | None = None
    reconciled_at: datetime | None = None
    finished_at: datetime | None = None
    oldest_at: datetime | None = None
    rows: int = 0
    descending: bool = True
    restless: bool = False
    lags: tuple[int, ...] = NONE


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk that is under way.

    Attributes:
        stop_at: Rows created before this need not be read; None for a full walk.
        enough_at: Nor rows created before this once three pages are read; None for no such stop.
        cursor: Where it goes on; None for the head.
        started_at: When its first page was asked for.
        observed_at: When its latest page was asked for.
        head_at: Creation of the newest row at its start.
        oldest_at: Creation of the last row read.
        rows: Rows read.
        aside: Rows read that did not validate.
        pages: Pages read.
        descending: Whether every row was created at or before the one ahead of it.
        restless: Whether it found what no head walk could have, or was interrupted.
        lags: How long after their creation rows were seen to change.
        reached: `end` of the list, the `stop`, or nothing yet.
    """

    stop_at: datetime | None = None
    enough_at: datetime | None = None
    cursor: str | None = None
    started_at: datetime | None = None
    observed_at: datetime | None = None
    head_at: datetime | None = None
    oldest_at: datetime | None = None
    rows: int = 0
    aside: int = 0
    pages: int = 0
    descending: bool = True
    restless: bool = False
    lags: tuple[int, ...] = NONE
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
        values: dict[str, Any] = _state().dump_python(self, mode="json")
        return values

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> State:
        """The state from what `as_json` gave, also an older one; nothing is a list never walked."""
        # A state of another version: what is missing has its default, what is unknown is left out.
        return cls() if value is None else _state().validate_python(value)


@cache
def _state() -> TypeAdapter[State]:
    return TypeAdapter(State)


def learned_overlap(mark: Mark) -> timedelta:
    """How far behind the watermark rows still change: as long as nearly all changes took."""
    wanted = nearly_all(mark.lags) or OVERLAP
    # Rows are taken to lie evenly in time: no list says how many it has of a day.
    if mark.watermark_at is not None and mark.oldest_at is not None and mark.rows:
        span = max(mark.watermark_at - mark.oldest_at, timedelta(0))
        wanted = min(wanted, span * (OVERLAP_ROWS / mark.rows))
    return max(OVERLAP, wanted)


def begin(mark: Mark, rule: Rule, now: datetime) -> Walk:
    """The walk that is due: a full one, or a head walk where that is enough."""
    if mark.watermark_at is None or _full_is_due(mark, rule, now):
        return Walk()
    # After the other bound: a clock that was set back makes no walk short.
    soon = mark.finished_at is not None and timedelta(0) <= now - mark.finished_at < SOON
    return Walk(
        stop_at=mark.watermark_at - max(rule.overlap, LISTED_LATE),
        enough_at=mark.watermark_at - LISTED_LATE if soon else None,
    )


def _full_is_due(mark: Mark, rule: Rule, now: datetime) -> bool:
    if mark.reconciled_at is None or not mark.descending or mark.rows <= rule.small:
        return True
    # A walk of the future was dated by a clock that was wrong: it says nothing about its age.
    if not timedelta(0) <= now - mark.reconciled_at < rule.reconcile_after:
        return True
    if not mark.restless:
        return False
    rested = now - (mark.finished_at or mark.reconciled_at)
    return mark.rows <= RESTLESS_ROWS or rested >= mark.rows * RESTLESS_PER_ROW


def step(
    walk: Walk, created: Sequence[object], next_cursor: str | None, observed_at: datetime
) -> Walk:
    """The walk after one page."""
    instants = [value for value in created if isinstance(value, datetime)]
    ahead = ([] if walk.oldest_at is None else [walk.oldest_at]) + instants
    descending = (
        walk.descending
        and len(instants) == len(created)
        and all(newer >= older for newer, older in pairwise(ahead))
    )
    head_at = walk.head_at
    # The head is read first, and again after a restart: the older of the two leaves no gap.
    if walk.cursor is None and instants:
        head_at = instants[0] if head_at is None else min(head_at, instants[0])
    further = replace(
        walk,
        cursor=next_cursor,
        started_at=walk.started_at or observed_at,
        observed_at=observed_at,
        head_at=head_at,
        oldest_at=instants[-1] if instants else walk.oldest_at,
        rows=walk.rows + len(created),
        pages=walk.pages + 1,
        descending=descending,
        reached="",
    )
    # Null on the last page, and there alone (contract, Lists and pagination).
    if next_cursor is None:
        return replace(further, reached="end")
    enough = further.pages >= SOON_PAGES and _behind(further.oldest_at, walk.enough_at)
    if descending and (enough or _behind(further.oldest_at, walk.stop_at)):
        return replace(further, reached="stop")
    return further


def changed(walk: Walk, mark: Mark, rule: Rule, created: Sequence[object], versions: int) -> Walk:
    """The walk after so many rows of its last page were new or changed."""
    instants = [value for value in created if isinstance(value, datetime)]
    if not versions or not instants or mark.watermark_at is None or walk.observed_at is None:
        return walk
    if instants[0] < mark.watermark_at:
        # All of the page had been read before: these are changes, or were moved in.
        walk = replace(walk, lags=noted(walk.lags, walk.observed_at - instants[-1], versions))
    surprised = instants[-1] < mark.watermark_at - rule.overlap
    return replace(walk, restless=walk.restless or surprised)


def restart(walk: Walk) -> Walk:
    """The same walk from the head again; it keeps its start, as rows seen before were seen by it."""
    return replace(walk, cursor=None, oldest_at=None, rows=0, aside=0, pages=0, descending=True)


def finish(mark: Mark, walk: Walk) -> Mark:
    """What is covered once a walk has reached its end or its stop."""
    watermark = walk.head_at
    if watermark is not None and walk.started_at is not None:
        # A service whose clock is ahead of ours must not move the watermark into the future.
        watermark = min(watermark, walk.started_at)
    whole = walk.reached == "end"
    # It ended at `enough_at`, so that the overlap behind that was not read.
    shallow = not whole and not _behind(walk.oldest_at, walk.stop_at)
    depth = None if whole else walk.enough_at if shallow else walk.stop_at
    covered = replace(
        mark,
        watermark_at=watermark,
        synced_at=walk.started_at,
        synced_from=depth,
        finished_at=walk.observed_at,
        restless=walk.restless or (mark.restless and not whole),
        lags=joined(mark.lags, walk.lags) if whole else mark.lags,
    )
    if not shallow:
        covered = replace(covered, reread_at=walk.started_at, reread_from=depth)
    if not whole:
        return covered
    return replace(
        covered,
        reconciled_at=walk.started_at,
        oldest_at=walk.oldest_at,
        rows=walk.rows,
        descending=walk.descending,
    )


def noted(lags: Sequence[int], lag: timedelta, changes: int) -> tuple[int, ...]:
    """The counts with so many changes more that came that long after a creation."""
    # Powers of two of an hour, the last bin open.
    bin_ = next((i for i in range(len(lags) - 1) if lag <= _HOUR * (1 << i)), len(lags) - 1)
    return tuple(count + changes * (i == bin_) for i, count in enumerate(lags))


def joined(old: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
    """New counts on top of half of the old ones, so that what is long past is forgotten."""
    return tuple(before // 2 + after for before, after in zip(old, new, strict=True))


def nearly_all(lags: Sequence[int]) -> timedelta | None:
    """The lag that 999 of 1,000 changes kept to, as the power of two above it; None without changes."""
    wanted, passed = SHARE * sum(lags), 0
    if wanted == 0:
        return None
    for bin_, count in enumerate(lags):
        passed += count
        if passed >= wanted:
            return _HOUR * (1 << bin_)
    return None


def _behind(earlier: datetime | None, later: datetime | None) -> bool:
    return earlier is not None and later is not None and earlier < later
