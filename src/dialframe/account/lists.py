"""Brings stored lists up to date by walking them; knows the client's pages and the store, not frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Event

from dialframe.account.ports import Listing, SetAside
from dialframe.account.report import TableSync
from dialframe.account.walk import Rule, State, Walk, begin, finish, restart, step
from dialframe.config import OnProgress, Progress
from dialframe.errors import ApiError, ContractError
from dialframe.frames.columns import Table
from dialframe.store import Bad, Checkpoint, Store, bad_record

#: Times that a walk goes back to the head because its cursor is refused, before it is left open.
RESTARTS = 3


@dataclass(frozen=True, slots=True)
class Part:
    """One list of the service that feeds a table: a whole table, or one campaign's share of it.

    Attributes:
        name: Name of its checkpoint.
        table: The table that it feeds.
        listing: Gives the list, to be walked from the head or a cursor.
        rule: How often it is read whole.
        campaign: The campaign whose share it is, or None.
    """

    name: str
    table: Table
    listing: Callable[[], Listing]
    rule: Rule
    campaign: str | None = None


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


class LeftOpen(Exception):
    """A walk was left open on purpose; the message says why."""


@dataclass(slots=True)
class Tally:
    """Counts of one table's sync, kept also when it fails halfway."""

    entry: TableSync

    def page(self, rows: int, versions: int, quarantined: int) -> None:
        """Count one answer."""
        self.entry = replace(
            self.entry,
            requests=self.entry.requests + 1,
            rows=self.entry.rows + rows,
            versions=self.entry.versions + versions,
            quarantined=self.entry.quarantined + quarantined,
        )

    def gone(self, rows: int) -> None:
        """Count rows that are no longer listed."""
        self.entry = replace(self.entry, gone=self.entry.gone + rows)


def bring_up(part: Part, work: Work, tally: Tally) -> None:
    """Walk a list until it is covered up to now: finish an open walk first, then begin the one due.

    Raises:
        LeftOpen: The walk was stopped, or its cursor was refused again and again.
        DialframeError: The service or the store failed; the walk stays open and goes on next time.
    """
    state = State.from_json(work.store.state(part.name))
    resumed = state.walk is not None
    state = _finished(part, state, work, tally)
    if resumed:
        _finished(part, state, work, tally)


def is_due(part: Part, store: Store, now: datetime) -> bool:
    """Whether a list has an open walk, or was not read whole for as long as its rule allows."""
    state = State.from_json(store.state(part.name))
    reconciled_at = state.mark.reconciled_at
    if not state.complete or reconciled_at is None:
        return True
    return now - reconciled_at >= part.rule.reconcile_after


def _finished(part: Part, state: State, work: Work, tally: Tally) -> State:
    walk = state.walk or begin(state.mark, part.rule, work.now())
    restarts = 0
    while not walk.reached:
        try:
            walk = _pages(part, replace(state, walk=walk), work, tally)
        except ApiError as error:
            if error.code != "invalid_cursor":
                raise
            walk = _from_head(part, replace(state, walk=walk), work, restarts)
            restarts += 1
    mark = finish(state.mark, walk)
    done = State(mark=mark)
    checkpoint = Checkpoint(part.name, done.as_json())
    if walk.reached == "stop" or walk.started_at is None or walk.observed_at is None:
        work.store.save(checkpoint)
        return done
    tally.gone(
        work.store.reconcile(
            part.table,
            seen_before=walk.started_at,
            at=walk.observed_at,
            checkpoint=checkpoint,
            campaign=part.campaign,
        )
    )
    return done


def _pages(part: Part, state: State, work: Work, tally: Tally) -> Walk:
    """Read pages from where the walk stands, each stored together with where it goes on."""
    walk = state.walk or Walk()
    for page in part.listing().pages(cursor=walk.cursor):
        records = [record.model_dump(warnings=False) for record in page.records]
        walk = step(
            walk,
            [record.get("created_at") for record in records],
            page.next_cursor,
            page.observed_at,
        )
        added = work.store.append(
            part.table,
            records,
            observed_at=page.observed_at,
            request_id=page.request_id,
            checkpoint=Checkpoint(part.name, replace(state, walk=walk).as_json()),
            quarantined=[_bad(row) for row in page.quarantined],
        )
        tally.page(len(records), added.versions, added.quarantined)
        work.tell(Progress(part.table.name, tally.entry.rows))
        if walk.reached:
            return walk
        if work.stopped.is_set():
            raise LeftOpen("it was stopped; the next sync goes on from here")
    raise ContractError(
        f"{part.table.operation}: the list ended although its last page has a cursor; sync again",
        operation=part.table.operation,
        where="page.next_cursor",
    )


def _from_head(part: Part, state: State, work: Work, restarts: int) -> Walk:
    # The store knows how far the walk came; the value in hand is that of before the pages.
    saved = State.from_json(work.store.state(part.name))
    walk = restart(saved.walk or state.walk or Walk())
    work.store.save(Checkpoint(part.name, replace(state, walk=walk).as_json()))
    if restarts == RESTARTS:
        raise LeftOpen(
            f"the service refused the list's cursor {RESTARTS + 1} times; what was read is kept, and "
            "the next sync begins at the head"
        )
    return walk


def _bad(row: SetAside) -> Bad:
    raw = row.raw if isinstance(row.raw, dict) else {"value": row.raw}
    return bad_record(raw, f"{row.where}: {row.reason}" if row.where else row.reason)
