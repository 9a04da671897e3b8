"""Brings a stored list up to date by walking it: pages fetched ahead, stored with where the walk stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from queue import Full, Queue
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dialframe.account.list_walk import (
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
from dialframe.account.sync_report import NAMED, ListProgress, TableSync
from dialframe.background import in_thread, join
from dialframe.config import OnProgress
from dialframe.errors import ApiError, ConfigError, ContractError, NotFound
from dialframe.frames.frame_schemas import Table
from dialframe.store import Bad, Checkpoint, Store, bad_record

if TYPE_CHECKING:
    from dialframe.client import Listing, ListPage, Quarantined
    from dialframe.contract.models.base_models import Answer

    Page: TypeAlias = ListPage[Any]

#: Times that a walk goes back to the head without coming further than before, until it is left open.
RESTARTS = 3
#: Times that a walk goes back to the head in one sync, however far it comes.
RESTARTS_IN_ALL = 12
#: A clock that was set back by less than this is outwaited: see `Work.stamp`.
STEP_BACK = timedelta(days=1)
#: Seconds until a page that could not be read is asked for once more.
SECOND_LOOK_S: Final = 1.0
#: Pages of a list that are fetched while the store is busy, such as with sealing.
PAGES_AHEAD: Final = 4


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
        single: Reads one row by its id, where two rows of a page came with the same one.
        lasting: Whether rows that are no longer listed stay what they are: the list forgets, we do not.
    """

    name: str
    table: Table
    listing: Callable[[], Listing[Any]]
    rule: Rule
    campaign: str | None = None
    records: Callable[[Page], list[dict[str, Any]]] | None = None
    single: Callable[[str], Answer] | None = None
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
        details: How many rows may be asked for singly to complete them.
    """

    store: Store
    began_at: datetime
    now: Callable[[], datetime]
    tell: OnProgress
    stopped: Event
    details: int | None = None

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


class LeftOut(LeftOpen):
    """Rows that nobody asked for by name were left out on purpose."""


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

    def set_aside(self, rows: Sequence[str]) -> None:
        """Name rows that could not be read, the first of them."""
        with self._lock:
            named = (*self.entry.set_aside, *rows)[:NAMED]
            self.entry = replace(self.entry, set_aside=named)

    def gone(self, rows: int) -> None:
        """Count rows that are no longer listed."""
        with self._lock:
            self.entry = replace(self.entry, gone=self.entry.gone + rows)


def bring_up(part: Part, work: Work, tally: Tally) -> None:
    """Walk a list until it is covered up to now: finish an open walk first, then begin the one due."""
    state = State.from_json(work.store.state(part.name))
    # Rows of this list were seen to change so long after their creation.
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
    # Before now: a walk that a wrong clock dated in the future says nothing of its age.
    return not timedelta(0) <= now - reconciled_at < part.rule.reconcile_after


def _finished(part: Part, state: State, work: Work, tally: Tally) -> State:
    walk, refusals, unreadable = state.walk or Walk(), _Refusals(), 0
    while not walk.reached:
        try:
            walk = _pages(part, replace(state, walk=walk), work, tally)
        except ApiError as error:
            # A cursor that expired answers so (contract, Lists and pagination).
            if error.code != "invalid_cursor":
                raise
            walk = _refused(part, work, refusals)
        except ContractError:
            # Something in between may have answered: once more, from where the walk stands.
            unreadable += 1
            if unreadable > 1 or work.stopped.wait(SECOND_LOOK_S):
                raise
            walk = State.from_json(work.store.state(part.name)).walk or walk
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
    with _Fetcher(part, walk, work) as arriving:
        while (arrival := arriving.get()) is not None:
            page, behind = arrival
            walk = replace(behind, lags=walk.lags, restless=walk.restless)
            walk = _stored(part, replace(state, walk=walk), page, work, tally)
            work.tell(_progress(part, state.mark, walk, tally))
            if walk.reached:
                return walk
            # Looked at between two pages, where everything is stored.
            if work.stopped.is_set():
                raise LeftOpen("it was stopped; the next sync goes on from here")
    raise ContractError(
        f"{part.table.operation}: the list ended although its last page has a cursor; sync again",
        operation=part.table.operation,
        where="page.next_cursor",
    )


class _Fetcher:
    """Fetches pages in a thread of its own while others are stored, but none that the walk does not need."""

    def __init__(self, part: Part, walk: Walk, work: Work) -> None:
        """Begin where a walk stands."""
        self._part = part
        self._walk = walk
        self._work = work
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
            after = self._work.after(self._part.table)
            for page in self._part.listing().pages(cursor=self._walk.cursor):
                created = [getattr(record, "created_at", None) for record in page.records]
                # Time goes on from page to page, also where the clock was set back.
                times = (page.observed_at, self._walk.observed_at, after)
                observed_at = max(instant for instant in times if instant is not None)
                walk = step(self._walk, created, page.next_cursor, observed_at)
                self._walk = replace(walk, aside=walk.aside + len(page.quarantined))
                self._hand_over((page, self._walk))
                ended = self._given_up.is_set() or self._work.stopped.is_set()
                if self._walk.reached or ended:
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


def _progress(part: Part, mark: Mark, walk: Walk, tally: Tally) -> ListProgress:
    # Of a head walk nobody can say how many rows lie above its stop.
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


def _stored(part: Part, state: State, page: Page, work: Work, tally: Tally) -> Walk:
    """One page in the store, with the walk as it stands behind it."""
    walk = state.walk or Walk()
    if part.records is None:
        records = [record.model_dump(warnings=False) for record in page.records]
    else:
        records = part.records(page)
    records += _read_singly(part, page, tally)
    observed_at = walk.observed_at or page.observed_at
    added = work.store.append(
        part.table,
        records,
        observed_at=observed_at,
        request_id=page.request_id,
        checkpoint=Checkpoint(part.name, state.as_json()),
        quarantined=[aside(row) for row in page.quarantined],
    )
    tally.page(len(page.records), added.versions, added.quarantined)
    tally.set_aside([named(row) for row in page.quarantined])
    created = [getattr(record, "created_at", None) for record in page.records]
    # Saved with the next page or with the walk's end: until then it is only a hint.
    return changed(walk, state.mark, part.rule, created, added.versions)


def _read_singly(part: Part, page: Page, tally: Tally) -> list[dict[str, Any]]:
    """Read the rows one by one whose id two rows of a page came with, to see which is right."""
    if part.single is None or not page.quarantined:
        return []
    ids = [row.raw.get("id") for row in page.quarantined if isinstance(row.raw, dict)]
    rows = []
    for identifier in dict.fromkeys(
        record_id for record_id in ids if isinstance(record_id, str) and ids.count(record_id) > 1
    ):
        try:
            rows.append(part.single(identifier).model_dump(warnings=False))
        except (NotFound, ContractError, ConfigError):
            continue  # both rows stay set aside; an id of another kind is not even asked for
        finally:
            tally.page(0, 0, 0)
    return rows


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
    # It may have been altered on the way: a second refusal of the same cursor is meant.
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


def aside(row: Quarantined) -> Bad:
    """A row that did not validate, as the store keeps it."""
    raw = row.raw if isinstance(row.raw, dict) else {"value": row.raw}  # a record is an object
    return bad_record(raw, f"{row.where}: {row.reason}" if row.where else row.reason)


def named(row: Quarantined) -> str:
    """A row that did not validate, by its id or place, with the field and what is wrong there."""
    identifier = row.raw.get("id") if isinstance(row.raw, dict) else None
    name = identifier if isinstance(identifier, str) else f"row {row.index} of its page"
    return f"{name}: {row.where}: {row.reason}" if row.where else f"{name}: {row.reason}"
