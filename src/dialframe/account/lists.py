"""Brings stored lists up to date by walking them; knows the client's pages and the store, not frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event, Lock
from typing import Any

from dialframe.account.ports import Listing, Page, SetAside
from dialframe.account.progress import ListProgress
from dialframe.account.report import TableSync
from dialframe.account.walk import (
    Mark,
    Rule,
    State,
    Walk,
    begin,
    changed,
    finish,
    learned_overlap,
    restart,
    step,
)
from dialframe.config import OnProgress
from dialframe.errors import ApiError, ContractError
from dialframe.frames.columns import Table
from dialframe.store import Bad, Checkpoint, Store, bad_record

#: Times that a walk goes back to the head without coming further than before, until it is left open.
RESTARTS = 3
#: Times that a walk goes back to the head in one sync, however far it comes.
RESTARTS_IN_ALL = 12
#: A clock that was set back by less than this is outwaited: see `Work.stamp`.
STEP_BACK = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Part:
    """One list of the service that feeds a table: a whole table, or one campaign's share of it.

    Attributes:
        name: Name of its checkpoint.
        table: The table that it feeds.
        listing: Gives the list, to be walked from the head or a cursor.
        rule: How often it is read whole.
        campaign: The campaign whose share it is, or None.
        records: What is stored of a page; None for its rows as they are.
        each_page: Told the walk after each page that is stored.
        lasting: Whether rows that are no longer listed stay what they are: the list forgets, we do not.
    """

    name: str
    table: Table
    listing: Callable[[], Listing]
    rule: Rule
    campaign: str | None = None
    records: Callable[[Page], list[dict[str, Any]]] | None = None
    each_page: Callable[[Walk], None] | None = None
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """What a walk needs besides its list.

    Attributes:
        store: Where rows and checkpoints go.
        began_at: When the sync began.
        now: The clock.
        tell: Listener of progress.
        stopped: Set when the work is to be left where it is.
    """

    store: Store
    began_at: datetime
    now: Callable[[], datetime]
    tell: OnProgress
    stopped: Event

    def after(self, table: Table) -> datetime | None:
        """The instant that answers have to be dated after, where the clock was set back; else None.

        The latest answer about a row is the one with the latest date. A clock that was set back would
        date new answers before old ones and so hide them: they are dated just after those instead.
        """
        seen_at = self.store.last_seen(table)
        if seen_at is None or not self.now() <= seen_at < self.now() + STEP_BACK:
            return None
        return seen_at + timedelta(microseconds=1)

    def telling(self, tell: OnProgress) -> Work:
        """The same work with another listener."""
        return replace(self, tell=tell)


class LeftOpen(Exception):
    """A walk was left open on purpose; the message says why."""


@dataclass(slots=True)
class Tally:
    """Counts of one table's sync, by any number of threads, kept also when it fails halfway."""

    entry: TableSync
    _lock: Lock = field(default_factory=Lock)

    def page(self, rows: int, versions: int, quarantined: int, *, requests: int = 1) -> None:
        """Count one answer, or several at once."""
        with self._lock:
            self.entry = replace(
                self.entry,
                requests=self.entry.requests + requests,
                rows=self.entry.rows + rows,
                versions=self.entry.versions + versions,
                quarantined=self.entry.quarantined + quarantined,
            )

    def gone(self, rows: int) -> None:
        """Count rows that are no longer listed."""
        with self._lock:
            self.entry = replace(self.entry, gone=self.entry.gone + rows)


def bring_up(part: Part, work: Work, tally: Tally) -> None:
    """Walk a list until it is covered up to now: finish an open walk first, then begin the one due.

    Raises:
        LeftOpen: The walk was stopped, or its cursor was refused again and again.
        DialframeError: The service or the store failed; the walk stays open and goes on next time.
    """
    state = State.from_json(work.store.state(part.name))
    overlap = max(part.rule.overlap, learned_overlap(state.mark))
    part = replace(part, rule=replace(part.rule, overlap=overlap))
    if state.walk is not None:
        # What it read before it was interrupted is older than its end: the next one looks again.
        again = replace(state.walk, restless=True)
        state = _finished(part, replace(state, walk=again), work, tally)
    walk = begin(state.mark, part.rule, work.now())
    opened = replace(state, walk=walk)
    work.store.save(Checkpoint(part.name, opened.as_json()))
    _finished(part, opened, work, tally)


def is_due(part: Part, state: State, now: datetime) -> bool:
    """Whether a list has an open walk, is restless, or was not read whole for as long as its rule allows."""
    reconciled_at = state.mark.reconciled_at
    if not state.complete or reconciled_at is None or state.mark.restless:
        return True
    return not timedelta(0) <= now - reconciled_at < part.rule.reconcile_after


def _finished(part: Part, state: State, work: Work, tally: Tally) -> State:
    walk, refusals = state.walk or Walk(), _Refusals()
    while not walk.reached:
        try:
            walk = _pages(part, replace(state, walk=walk), work, tally)
        except ApiError as error:
            if error.code != "invalid_cursor":
                raise
            walk = _refused(part, work, refusals)
    return _closed(part, State(finish(state.mark, walk)), walk, work, tally)


def _closed(part: Part, done: State, walk: Walk, work: Work, tally: Tally) -> State:
    """Write down that a walk is over; after a full one, what it did not find is missed."""
    if part.lasting or walk.reached == "stop" or not (walk.started_at and walk.observed_at):
        work.store.save(Checkpoint(part.name, done.as_json()))
        return done
    # A short list is read whole next time in any case.
    long = part.campaign is None and walk.rows > part.rule.small
    before = work.store.info().table(part.table.name).rows if long else 0
    gone = work.store.reconcile(
        part.table,
        seen_before=walk.started_at,
        at=walk.observed_at,
        checkpoint=Checkpoint(part.name, done.as_json()),
        campaign=part.campaign,
    )
    tally.gone(gone)
    if before - gone > walk.rows + walk.aside and not done.mark.restless:
        # A row that is missed for the first time is looked for again.
        done = State(replace(done.mark, restless=True))
        work.store.save(Checkpoint(part.name, done.as_json()))
    return done


def _pages(part: Part, state: State, work: Work, tally: Tally) -> Walk:
    """Read pages from where the walk stands, each stored together with where it goes on."""
    walk = state.walk or Walk()
    after = work.after(part.table)
    for page in part.listing().pages(cursor=walk.cursor):
        walk = _stored(part, replace(state, walk=walk), page, after, work, tally)
        work.tell(_progress(part, state.mark, walk, tally))
        if part.each_page is not None:
            part.each_page(walk)
        if walk.reached:
            return walk
        if work.stopped.is_set():
            raise LeftOpen("it was stopped; the next sync goes on from here")
    raise ContractError(
        f"{part.table.operation}: the list ended although its last page has a cursor; sync again",
        operation=part.table.operation,
        where="page.next_cursor",
    )


def _progress(part: Part, mark: Mark, walk: Walk, tally: Tally) -> ListProgress:
    whole = walk.stop_at is None and part.campaign is None
    return ListProgress(
        part.table.name,
        tally.entry.rows,
        max(mark.rows, tally.entry.rows) if whole and mark.rows else None,
        requests=tally.entry.requests,
        oldest_at=walk.oldest_at,
        newest_at=walk.head_at,
        until_at=walk.stop_at if part.campaign is None else None,
    )


def _stored(
    part: Part, state: State, page: Page, after: datetime | None, work: Work, tally: Tally
) -> Walk:
    """One page in the store, with the walk as it stands behind it."""
    walk = state.walk or Walk()
    records = [record.model_dump(warnings=False) for record in page.records]
    created = [record.get("created_at") for record in records]
    if part.records is not None:
        records = part.records(page)
    # Time goes on from page to page, also where the clock was set back.
    observed_at = max(
        instant for instant in (page.observed_at, walk.observed_at, after) if instant is not None
    )
    walk = step(walk, created, page.next_cursor, observed_at)
    walk = replace(walk, aside=walk.aside + len(page.quarantined))
    added = work.store.append(
        part.table,
        records,
        observed_at=observed_at,
        request_id=page.request_id,
        checkpoint=Checkpoint(part.name, replace(state, walk=walk).as_json()),
        quarantined=[aside(row) for row in page.quarantined],
    )
    tally.page(len(created), added.versions, added.quarantined)
    # Saved with the next page or with the walk's end: until then it is only a hint.
    return changed(walk, state.mark, part.rule, created, added.versions)


@dataclass(slots=True)
class _Refusals:
    """Refused cursors of one walk in one sync."""

    restarts: int = 0
    in_all: int = 0
    deepest: int = 0
    cursor: str | None = None


def _refused(part: Part, work: Work, refusals: _Refusals) -> Walk:
    """Where a walk goes on whose cursor was refused: there once more, then from the head."""
    # The store knows how far the walk came; the value in hand is that of before the pages.
    state = State.from_json(work.store.state(part.name))
    walk = state.walk or Walk()
    if walk.cursor is not None and walk.cursor != refusals.cursor:
        refusals.cursor = walk.cursor
        return walk
    deeper = walk.rows > refusals.deepest
    refusals.deepest = max(refusals.deepest, walk.rows)
    refusals.restarts = 0 if deeper else refusals.restarts + 1
    refusals.in_all += 1
    begun = replace(restart(walk), restless=True)
    work.store.save(Checkpoint(part.name, replace(state, walk=begun).as_json()))
    if refusals.restarts == RESTARTS or refusals.in_all == RESTARTS_IN_ALL:
        raise LeftOpen(
            f"the service refused the list's cursor {refusals.in_all} times, at most "
            f"{refusals.deepest:,} rows down; what was read is kept, and the next sync begins at the head"
        )
    return begun


def aside(row: SetAside) -> Bad:
    """A row that did not validate, as the store keeps it."""
    raw = row.raw if isinstance(row.raw, dict) else {"value": row.raw}
    return bad_record(raw, f"{row.where}: {row.reason}" if row.where else row.reason)
