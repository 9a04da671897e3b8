"""Walks over a descending, mutable list as values: begin, step, restart, finish; pure, no I/O and no clock.

The list is read newest first. It cannot be asked for what changed, rows may enter behind a cursor (contract,
Endpoints: Calls) or vanish, and a walk may be killed at any moment. So:

* A *whole* walk goes from the head to the end. The first walk is one, and every walk of a short list.
* A *head* walk goes from the head until rows are older than the watermark minus two days. It finds every row
  created since, and changes of rows of the last two days. Within a minute of another it stops where nothing new
  can follow.
* A *sweep* goes on behind a head walk, a few pages in each sync, until it comes to the end of the list. It alone
  finds old rows that changed, rows that were moved in and rows that are gone. Pages for it are saved up from day to
  day. Where the service does not accept its cursor any more, sweeps of this list are made in one go from then on,
  each once enough pages for it are saved up.
* What was looked at when is kept as *looks*: rows created from one instant to another, and when they were read.
* The watermark moves at the end of a walk only: whatever was begun and not finished is still open, is saved
  with each page, and goes on from its cursor. So no gap can hide behind the watermark.
* Early stopping trusts the order: where rows are not in descending `created_at`, a walk goes to the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any, Final, Literal

from pydantic import TypeAdapter

#: Rows this much older than the watermark are read again: outcomes are logged after the call.
OVERLAP: Final = timedelta(hours=48)
#: A row may be listed this long after the instant that it says it was created at.
LISTED_LATE: Final = timedelta(minutes=15)
#: A head walk that comes this soon after the last one need not read the overlap again.
SOON: Final = timedelta(seconds=60)
#: Looks that are remembered of a list; beyond it the oldest ones count as one.
MOST_LOOKS: Final = 60
#: Rows on a page.
PAGE: Final = 100
_STEP: Final = timedelta(microseconds=1)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Rule:
    """How a list is read.

    Attributes:
        small: A list of at most so many rows is read whole each time: it costs little.
        overlap: How far behind the watermark a head walk goes.
        every: A list without sweeps is read whole when the last whole reading is this old; None for one with sweeps.
    """

    small: int = 0
    overlap: timedelta = OVERLAP
    every: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """Rows created at or after an instant, up to where the look before begins, were read then.

    Attributes:
        created_from: The earliest creation; None for the list's beginning.
        at: When they were read, or later.
    """

    created_from: datetime | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Mark:
    """What finished walks of one list have covered.

    Attributes:
        watermark_at: Rows created before this, and present when they were walked, are stored.
        synced_at: Start of the last finished walk.
        reconciled_at: Start of the last walk or sweep that came to the list's end.
        finished_at: When the last page of the last finished walk was asked for.
        oldest_at: Creation of the oldest row that the last whole walk returned.
        rows: Rows that the last whole walk returned.
        pages: Pages that it took.
        descending: Whether that walk found `created_at` in descending order.
        looks: Which rows were read when, newest rows first.
        saved_pages: Pages of sweeps that are saved up.
        saved_at: When they were counted.
        in_one_go: Whether the list's cursors do not last from one sync to the next.
        loaded: Whether the rows came from files, and no walk of the service's list was ever finished.
    """

    watermark_at: datetime | None = None
    synced_at: datetime | None = None
    reconciled_at: datetime | None = None
    finished_at: datetime | None = None
    oldest_at: datetime | None = None
    rows: int = 0
    pages: int = 0
    descending: bool = True
    looks: tuple[Look, ...] = ()
    saved_pages: float = 0.0
    saved_at: datetime | None = None
    in_one_go: bool = False
    loaded: bool = False

    @property
    def length(self) -> int:
        """Pages of the whole list, as far as is known."""
        return self.pages or -(-self.rows // PAGE)


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk or a sweep that is under way.

    Attributes:
        stop_at: Rows created before this need not be read; None for a walk to the end.
        cursor: Where it goes on; None for the head.
        started_at: When its first page was asked for.
        observed_at: When its latest page was asked for.
        head_at: Creation of the newest row at its start.
        oldest_at: Creation of the last row read.
        rows: Rows read.
        pages: Pages read.
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
    pages: int = 0
    descending: bool = True
    reached: Literal["", "stop", "end"] = ""


@dataclass(frozen=True, slots=True)
class State:
    """Where one list stands: what is covered, the walk that is open, and the sweep."""

    mark: Mark = field(default_factory=Mark)
    walk: Walk | None = None
    sweep: Walk | None = None

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


def begin(mark: Mark, rule: Rule, now: datetime, *, whole: bool = False) -> Walk:
    """The walk that is due: a whole one, or a head walk where that is enough."""
    small = mark.rows <= rule.small
    due = rule.every is not None and not _within(mark.reconciled_at, now, rule.every)
    if whole or mark.watermark_at is None or not mark.descending or small or due:
        return Walk()
    recent = mark.watermark_at - max(rule.overlap, LISTED_LATE)
    # Read a moment ago: what is new comes before what is read again.
    if _within(looked_at(mark.looks, recent), now, SOON):
        return Walk(stop_at=mark.watermark_at - LISTED_LATE)
    return Walk(stop_at=recent)


def _within(earlier: datetime | None, now: datetime, span: timedelta) -> bool:
    # A walk of the future was dated by a clock that was wrong: it says nothing about its age.
    return earlier is not None and timedelta(0) <= now - earlier < span


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
    past = further.oldest_at is not None and walk.stop_at is not None
    if descending and past and further.oldest_at < walk.stop_at:  # type: ignore[operator]  # see `past`
        return replace(further, reached="stop")
    return further


def restart(walk: Walk) -> Walk:
    """The same walk from the head again; it keeps its start, as rows seen before were seen by it."""
    return replace(walk, cursor=None, oldest_at=None, rows=0, pages=0, descending=True)


def finish(mark: Mark, walk: Walk) -> Mark:
    """What is covered once a walk has reached its end or its stop."""
    watermark = walk.head_at
    if watermark is not None and walk.started_at is not None:
        # A service whose clock is ahead of ours must not move the watermark into the future.
        watermark = min(watermark, walk.started_at)
    mark = replace(
        mark, watermark_at=watermark, synced_at=walk.started_at, finished_at=walk.observed_at, loaded=False
    )  # fmt: skip
    if walk.reached != "end":
        return _note_look(mark, None, walk, walk.started_at)
    return replace(
        mark,
        reconciled_at=walk.started_at,
        oldest_at=walk.oldest_at,
        rows=walk.rows,
        pages=walk.pages,
        descending=walk.descending,
        looks=() if walk.started_at is None else (Look(None, walk.started_at),),
        # Whatever was saved up was for rows that are read now.
        saved_pages=0.0,
        saved_at=walk.observed_at,
    )


def save_pages(mark: Mark, per_day: float, now: datetime) -> Mark:
    """The mark with the pages that were saved up since, at most those of one whole list."""
    since = mark.saved_at or now
    days = max((now - since) / _DAY, 0.0)
    saved = min(mark.saved_pages + per_day * days, float(max(mark.length, 1)))
    return replace(mark, saved_pages=saved, saved_at=now)


def swept(state: State, before: Walk, after: Walk, began_at: datetime) -> State:
    """The state once a sweep came so much further, with pages that were asked for from an instant on."""
    used = float(after.pages - before.pages)
    mark = replace(state.mark, saved_pages=max(state.mark.saved_pages - used, 0.0))
    mark = _note_look(mark, before.oldest_at, after, began_at)
    if after.reached != "end" or after.started_at is None:
        return State(mark, state.walk, after)
    started_at = after.started_at
    # Rows that are not in descending order are read at some time of the sweep.
    looks = [Look(look.created_from, max(look.at, started_at)) for look in mark.looks]
    mark = replace(
        mark,
        reconciled_at=started_at,
        # What is left over is for no other day.
        saved_pages=0.0,
        looks=_tidy(looks) if after.descending else (Look(None, started_at),),
        descending=mark.descending and after.descending,
        oldest_at=after.oldest_at,
        rows=after.rows,
        pages=after.pages,
    )
    return State(mark, state.walk, None)


def looked_at(looks: Sequence[Look], created_at: datetime) -> datetime | None:
    """When rows created at an instant were last read, or later; None where that is not known."""
    for look in looks:
        if look.created_from is None or created_at >= look.created_from:
            return look.at
    return None


def _note_look(mark: Mark, until: datetime | None, walk: Walk, at: datetime | None) -> Mark:
    """The mark once the rows were read that a walk has behind it, those created before `until` (None: all)."""
    if at is None or (walk.oldest_at is None and walk.reached != "end"):
        return mark
    begin_at = None
    if walk.reached != "end" and walk.oldest_at is not None:
        # Rows created in the same instant as the last one read may be on the next page.
        begin_at = walk.oldest_at + _STEP

    if until is not None and begin_at is not None and until <= begin_at:
        return mark
    looks = [Look(begin_at, at)]
    upper: datetime | None = None  # where the look before begins; None for no end
    for look in mark.looks:
        lower = look.created_from
        # What of this look is newer than the rows read now, and what is older.
        if until is not None and (upper is None or upper > until):
            looks.append(replace(look, created_from=_later(lower, until)))
        if begin_at is not None and (lower is None or lower < begin_at):
            looks.append(look)
        upper = lower
    return replace(mark, looks=_tidy(looks))


def _later(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else max(one, other)


def _tidy(looks: Sequence[Look]) -> tuple[Look, ...]:
    """Looks from the newest rows to the oldest, those of one instant as one, and not too many."""
    earliest = datetime.min.replace(tzinfo=UTC)
    tidy: list[Look] = []
    for look in sorted(looks, key=lambda look: look.created_from or earliest, reverse=True):
        if tidy and tidy[-1].at == look.at:
            tidy[-1] = look  # one look that goes further back
        else:
            tidy.append(look)
    while len(tidy) > MOST_LOOKS:
        older, oldest = tidy[-2:]
        tidy[-2:] = [Look(oldest.created_from, min(older.at, oldest.at))]
    return tuple(tidy)
