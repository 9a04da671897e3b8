"""Brings a stored list up to date by walking it: pages fetched ahead, stored with where the walk stands.

Every loop here ends: a walk by its own measure (see `dialframe.client.pagination`), a refused cursor after
`RESTARTS_IN_ALL` attempts, a page that cannot be read after the second, a sweep with its pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import inf
from queue import Full, Queue
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dialframe.account.list_walk import (
    Mark,
    Rule,
    State,
    Walk,
    begin,
    finish,
    restart,
    save_pages,
    step,
    swept,
)
from dialframe.account.sync_report import NAMED, ListProgress, TableSync
from dialframe.background import in_thread, join
from dialframe.client import pagination
from dialframe.config import OnProgress
from dialframe.errors import ApiError, ContractError
from dialframe.frames.frame_schemas import Table
from dialframe.store import Bad, Checkpoint, Store, bad_record

if TYPE_CHECKING:
    from dialframe.client import Listing, ListPage, Quarantined

    Page: TypeAlias = ListPage[Any]

#: Times that a walk goes back to the head without coming further than before, until it is left open.
RESTARTS: Final = 3
#: Times that a walk goes back to the head in one sync, however far it comes.
RESTARTS_IN_ALL: Final = 12
#: A clock that was set back by less than this is outwaited: see `Context.after`.
STEP_BACK: Final = timedelta(days=1)
#: Seconds until a page that could not be read is asked for once more.
SECOND_LOOK_S: Final = 1.0
#: Pages of a list that are fetched while the store is busy, such as with sealing.
PAGES_AHEAD: Final = 4


@dataclass(frozen=True, slots=True)
class Source:
    """One list of the service that feeds a table: a whole table, or one campaign's share of it.

    Attributes:
        name: Name of its checkpoint.
        table: The table that it feeds.
        listing: Gives the list, to be walked from the head or a cursor.
        rule: How it is read.
        campaign: The campaign whose share it is, or None.
        records: What is stored of a page; None for its rows as they are.
        lasting: Whether rows that are no longer listed stay what they are: the list forgets, we do not.
    """

    name: str
    table: Table
    listing: Callable[[], Listing[Any]]
    rule: Rule
    campaign: str | None = None
    records: Callable[[Page], list[dict[str, Any]]] | None = None
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What the sync of a list needs besides the list.

    Attributes:
        store: Where rows and checkpoints go.
        began_at: When the sync began.
        now: The clock.
        report: Listener of progress.
        stopped: Set when the work is to be left where it is.
        details: How many rows may be asked for singly to complete them.
        pages_per_day: Pages of sweeps a day, by table.
        whole: Whether every list is read to its end now.
    """

    store: Store
    began_at: datetime
    now: Callable[[], datetime]
    report: OnProgress
    stopped: Event
    details: int | None = None
    pages_per_day: Mapping[str, float] = field(default_factory=dict)
    whole: bool = False

    def after(self, table: Table) -> datetime | None:
        """The instant that answers have to be dated after, where the clock was set back; else None.

        The latest answer about a row is the one with the latest date. A clock that was set back would
        date new answers before old ones and so hide them: they are dated just after those instead.
        """
        seen_at = self.store.last_seen(table)
        if seen_at is None or not self.now() <= seen_at < self.now() + STEP_BACK:
            return None
        return seen_at + timedelta(microseconds=1)


class LeftOpen(Exception):
    """A walk was left open on purpose; the message says why."""


class LeftOut(LeftOpen):
    """Rows that nobody asked for by name were left out on purpose."""


@dataclass(slots=True)
class Counts:
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

    def set_aside(self, rows: Sequence[str]) -> None:
        """Name rows that could not be read, the first of them."""
        with self._lock:
            named = (*self.entry.set_aside, *rows)[:NAMED]
            self.entry = replace(self.entry, set_aside=named)

    def gone(self, rows: int) -> None:
        """Count rows that are no longer listed."""
        with self._lock:
            self.entry = replace(self.entry, gone=self.entry.gone + rows)


def sync_list(source: Source, context: Context, counts: Counts) -> None:
    """Bring a list up to now: finish an open walk, make the one that is due, sweep as far as the pages go."""
    state = State.from_json(context.store.state(source.name))
    if state.walk is not None:
        state, _ = _walk_to_end(source, state, context, counts)
    walk = begin(state.mark, source.rule, context.now(), whole=context.whole)
    state = replace(state, walk=walk)
    _save(source, state, context)
    state, walk = _walk_to_end(source, state, context, counts)
    if source.rule.every is None and walk.reached == "stop":
        _sweep(source, state, walk, context, counts)


def is_due(source: Source, state: State, now: datetime) -> bool:
    """Whether a list has an open walk, or was not read whole for as long as its rule allows."""
    every, reconciled_at = source.rule.every, state.mark.reconciled_at
    if not state.complete or reconciled_at is None or every is None:
        return True
    # Before now: a walk that a wrong clock dated in the future says nothing of its age.
    return not timedelta(0) <= now - reconciled_at < every


def _save(source: Source, state: State, context: Context) -> None:
    context.store.save(Checkpoint(source.name, state.as_json()))


def _walk_to_end(
    source: Source, state: State, context: Context, counts: Counts
) -> tuple[State, Walk]:
    """The state behind the open walk, which is brought to its end, and that walk."""
    walk, refusals, unreadable = state.walk or Walk(), _Refusals(), 0
    while not walk.reached:
        try:
            walk = _pages(source, replace(state, walk=walk), context, counts)
        except ApiError as error:
            # A cursor that expired answers so (contract, Lists and pagination).
            if error.code != "invalid_cursor":
                raise
            walk = _resume_after_refusal(source, context, refusals)
            # A walk that goes on where it was counts its pages anew; together they are those of one list.
            if walk.pages >= pagination.MOST_PAGES:
                raise ContractError(
                    f"{source.table.operation}: the list does not end: it has {walk.pages:,} pages already; "
                    "tell the operator",
                    operation=source.table.operation,
                    where="page.next_cursor",
                ) from None
        except ContractError:
            # Something in between may have answered: once more, from where the walk stands.
            unreadable += 1
            if unreadable > 1 or context.stopped.wait(SECOND_LOOK_S):
                raise
            walk = State.from_json(context.store.state(source.name)).walk or walk
    whole = walk.reached == "end"
    # Whoever read everything needs no sweep any more.
    state = State(finish(state.mark, walk), sweep=None if whole else state.sweep)
    _close(source, state, walk if whole else None, context, counts)
    return state, walk


def _close(
    source: Source, state: State, walk: Walk | None, context: Context, counts: Counts
) -> None:
    """Write down that a walk is over; rows that one to the list's end did not find are missed."""
    if source.lasting or walk is None or not (walk.started_at and walk.observed_at):
        _save(source, state, context)
        return
    gone = context.store.reconcile(
        source.table,
        seen_before=walk.started_at,
        at=walk.observed_at,
        checkpoint=Checkpoint(source.name, state.as_json()),
        campaign=source.campaign,
    )
    counts.gone(gone)


def _sweep(source: Source, state: State, head: Walk, context: Context, counts: Counts) -> None:
    """Read old rows again, as many pages as are saved up."""
    mark = save_pages(state.mark, context.pages_per_day.get(source.name, 0.0), context.now())
    new = replace(head, stop_at=None, reached="")
    state = State(mark, sweep=None if mark.in_one_go else state.sweep)
    sweep = state.sweep or new
    # Cursors that do not last: all of it, once that is saved up.
    wanted = max(mark.length - new.pages, 1) if mark.in_one_go else 1
    if mark.saved_pages < wanted:
        _save(source, state, context)
        return
    began_at = context.now()
    try:
        after = _pages(
            source,
            replace(state, sweep=sweep),
            context,
            counts,
            most=inf if mark.in_one_go else int(mark.saved_pages),
        )
    except ApiError as error:
        if error.code != "invalid_cursor":
            raise
        # What it had read stays read; the next one begins behind the head.
        lasting = not mark.in_one_go and state.sweep is None
        _save(source, State(replace(mark, in_one_go=not lasting)), context)
        return
    state = swept(state, sweep, after, began_at)
    _close(source, state, after if after.reached else None, context, counts)


def _pages(
    source: Source, state: State, context: Context, counts: Counts, *, most: float = inf
) -> Walk:
    """Read pages from where the sweep, else the walk stands, each stored together with where it goes on."""
    walk = state.walk if state.walk is not None else state.sweep
    walk, sweeping, read = walk or Walk(), state.walk is None, 0
    with _Fetcher(source, walk, context, most) as arriving:
        while (arrival := arriving.get()) is not None:
            page, walk = arrival
            open_state = replace(state, sweep=walk) if sweeping else replace(state, walk=walk)
            _store(source, open_state, page, walk, context, counts)
            context.report(_progress(source, state.mark, walk, counts))
            read += 1
            if walk.reached or read >= most:
                return walk
            # Looked at between two pages, where everything is stored.
            if context.stopped.is_set():
                raise LeftOpen("it was stopped; the next sync goes on from here")
    raise ContractError(
        f"{source.table.operation}: the list ended although its last page has a cursor; sync again",
        operation=source.table.operation,
        where="page.next_cursor",
    )


class _Fetcher:
    """Fetches pages in a thread of its own while others are stored, but none that the walk does not need."""

    def __init__(self, source: Source, walk: Walk, context: Context, most: float) -> None:
        """Begin where a walk stands, and fetch so many pages at most."""
        self._source = source
        self._walk = walk
        self._context = context
        self._left = most
        self._arrivals: Queue[tuple[Page, Walk] | BaseException | None] = Queue(
            maxsize=PAGES_AHEAD
        )
        self._given_up = Event()
        # In the caller's context: bulk work, its correlation id.
        self._thread = in_thread(self._run, "dialframe-pages")

    def __enter__(self) -> _Fetcher:
        return self

    def __exit__(self, *failure: object) -> None:
        self._given_up.set()
        join([self._thread], within_s=0.1)

    def get(self) -> tuple[Page, Walk] | None:
        """The next page with the walk behind it, or None at the list's end."""
        arrival = self._arrivals.get()
        if isinstance(arrival, BaseException):
            raise arrival
        return arrival

    def _run(self) -> None:
        try:
            after = self._context.after(self._source.table)
            for page in self._source.listing().pages(cursor=self._walk.cursor):
                created = [getattr(record, "created_at", None) for record in page.records]
                # Time goes on from page to page, also where the clock was set back.
                times = (page.observed_at, self._walk.observed_at, after)
                observed_at = max(instant for instant in times if instant is not None)
                self._walk = step(self._walk, created, page.next_cursor, observed_at)
                self._left -= 1
                self._hand_over((page, self._walk))
                ended = self._given_up.is_set() or self._context.stopped.is_set()
                if self._walk.reached or ended or self._left < 1:
                    return
            self._hand_over(None)
        except BaseException as error:
            self._hand_over(error)

    # In steps of a tenth of a second: whoever gave up does not take it any more.
    def _hand_over(self, arrival: tuple[Page, Walk] | BaseException | None) -> None:
        while not self._given_up.is_set():
            try:
                return self._arrivals.put(arrival, timeout=0.1)
            except Full:
                continue
        return None


def _progress(source: Source, mark: Mark, walk: Walk, counts: Counts) -> ListProgress:
    # Of a head walk nobody can say how many rows lie above its stop.
    whole = walk.stop_at is None and source.campaign is None
    return ListProgress(
        source.table.name,
        counts.entry.rows,
        max(mark.rows, counts.entry.rows) if whole and mark.rows else None,
        requests=counts.entry.requests,
        oldest_at=walk.oldest_at,
    )


def _store(
    source: Source, state: State, page: Page, walk: Walk, context: Context, counts: Counts
) -> None:
    """Store one page, with the walk as it stands behind it."""
    if source.records is None:
        records = [record.model_dump(warnings=False) for record in page.records]
    else:
        records = source.records(page)
    added = context.store.append(
        source.table,
        records,
        observed_at=walk.observed_at or page.observed_at,
        request_id=page.request_id,
        checkpoint=Checkpoint(source.name, state.as_json()),
        quarantined=[as_bad(row) for row in page.quarantined],
    )
    counts.page(len(page.records), added.versions, added.quarantined)
    counts.set_aside([named(row) for row in page.quarantined])


@dataclass(slots=True)
class _Refusals:
    """Refused cursors of one walk in one sync."""

    restarts: int = 0
    in_all: int = 0
    deepest: int = 0
    cursor: str | None = None


def _resume_after_refusal(source: Source, context: Context, refusals: _Refusals) -> Walk:
    """Where a walk goes on whose cursor was refused: there once more, then from the head."""
    # The store knows how far the walk came; the value in hand is that of before the pages.
    state = State.from_json(context.store.state(source.name))
    walk = state.walk or Walk()
    # It may have been altered on the way: a second refusal of the same cursor is meant.
    if walk.cursor is not None and walk.cursor != refusals.cursor:
        refusals.cursor = walk.cursor
        return walk
    deeper = walk.rows > refusals.deepest
    refusals.deepest = max(refusals.deepest, walk.rows)
    refusals.restarts = 0 if deeper else refusals.restarts + 1
    refusals.in_all += 1
    begun = restart(walk)
    _save(source, replace(state, walk=begun), context)
    if refusals.restarts == RESTARTS or refusals.in_all == RESTARTS_IN_ALL:
        raise LeftOpen(
            f"the service refused the list's cursor {refusals.in_all} times, at most "
            f"{refusals.deepest:,} rows down; what was read is kept, and the next sync begins at the head"
        )
    return begun


def as_bad(row: Quarantined) -> Bad:
    """A row that did not validate, as the store keeps it."""
    raw = row.raw if isinstance(row.raw, dict) else {"value": row.raw}  # a record is an object
    return bad_record(raw, f"{row.where}: {row.reason}" if row.where else row.reason)


def named(row: Quarantined) -> str:
    """A row that did not validate, by its id or place, with the field and what is wrong there."""
    identifier = row.raw.get("id") if isinstance(row.raw, dict) else None
    name = identifier if isinstance(identifier, str) else f"row {row.index} of its page"
    return f"{name}: {row.where}: {row.reason}" if row.where else f"{name}: {row.reason}"
