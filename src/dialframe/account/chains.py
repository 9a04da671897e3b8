"""Further chains of pages that run ahead of a first walk where answers are slow; knows lists, not limits.

One chain of cursors gives one page per round trip, however many the service allows. So where a first walk
stays below the limit, the same list is also read campaign by campaign (and by direction or status, where
there are few campaigns), several at once, in the lane that only gets what the walk leaves over. They bring
rows early and prove nothing: a campaign may be archived and unlisted, a row may have none, a lead may change
its status. The walk over the whole list remains the authority, reads everything itself, and alone says what
is covered; when it has come to its end the chains are given up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from types import TracebackType
from typing import Final, Self

from dialframe.account.lists import Tally, Work, aside
from dialframe.account.ports import Listing, Page, Source
from dialframe.account.threads import THREADS, rest
from dialframe.account.walk import State, Walk
from dialframe.contract.limits import BUCKETS
from dialframe.errors import ApiError, DialframeError
from dialframe.frames.columns import CAMPAIGNS, Table
from dialframe.store import Checkpoint

#: A page that took so long is news enough that answers are slow...
SLOW_S: Final = 0.25
#: ... and so are so many pages that each took longer than a walk may take that fills the limit.
PAGES: Final = 3
PAGE_S: Final = 1.25 / BUCKETS[0].rate_per_s

#: A part of a list: a campaign's, and of it a direction's or status's, or all (an empty text).
Part = tuple[str, str]


class Chains:
    """Chains beside one walk: begun when it proves slow, given up when the block ends."""

    def __init__(
        self,
        table: Table,
        source: Source,
        listing: Callable[[Part], Listing],
        kinds: Sequence[str],
        work: Work,
        tally: Tally,
    ) -> None:
        """Prepare for a table whose list can be asked for by campaign, and by kinds below that."""
        self._table = table
        self._source = source
        self._listing = listing
        self._kinds = kinds
        self._work = work
        self._tally = tally
        self._first = State.from_json(work.store.state(table.name)).mark.reconciled_at is None
        self._pages_seen = 0
        self._fastest_s = float("inf")
        self._enough = threading.Event()
        self._taken: set[Part] = set()
        self._taking = threading.Lock()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._enough.set()
        rest(self._threads)
        if kind is None and self._first:
            for name in self._work.store.states(self._name("")[:-1]):
                self._work.store.save(Checkpoint(name, None))

    def look(self, walk: Walk) -> None:
        """Look at the walk after one of its pages, and begin where it is long and slow."""
        if not self._first or self._taken or any(one.is_alive() for one in self._threads):
            return
        if walk.observed_at is not None:
            took_s = (self._work.now() - walk.observed_at).total_seconds()
            self._fastest_s = min(self._fastest_s, took_s)
            self._pages_seen += 1
        slow_s = SLOW_S if self._pages_seen < PAGES else PAGE_S
        if walk.reached or self._fastest_s < slow_s:
            return
        self._threads = [
            threading.Thread(target=copy_context().run, args=(self._run,), daemon=True)
            for _ in range(THREADS)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self) -> None:
        with self._source.lane("spare"):
            while (part := self._next()) is not None:
                try:
                    self._chain(part)
                except DialframeError:
                    # The walk meets the same trouble, and says so.
                    continue

    def _next(self) -> Part | None:
        """A part that no chain has been begun for."""
        with self._taking:
            if self._over():
                return None
            campaigns = self._work.store.campaign_ids(CAMPAIGNS)
            kinds = self._kinds if len(campaigns) < THREADS - 2 else ("",)
            left = {(campaign, kind) for campaign in campaigns for kind in kinds} - self._taken
            part = min(left, default=None)
            if part is not None:
                self._taken.add(part)
            return part

    def _chain(self, part: Part) -> None:
        name = self._name("/".join(part))
        saved = self._work.store.state(name) or {"cursor": None, "ended": False}
        if saved["ended"]:
            return
        try:
            self._pages(name, part, saved["cursor"])
        except ApiError as error:
            if error.code != "invalid_cursor" or self._over():
                raise
            self._pages(name, part, None)

    def _pages(self, name: str, part: Part, cursor: str | None) -> None:
        for page in self._listing(part).pages(cursor=cursor):
            self._store(name, page)
            if self._over():
                return

    def _store(self, name: str, page: Page) -> None:
        state = {"cursor": page.next_cursor, "ended": page.next_cursor is None}
        records = [record.model_dump(warnings=False) for record in page.records]
        added = self._work.store.append(
            self._table,
            records,
            observed_at=page.observed_at,
            request_id=page.request_id,
            checkpoint=Checkpoint(name, state),
            quarantined=[aside(row) for row in page.quarantined],
        )
        self._tally.page(len(records), added.versions, added.quarantined)

    def _over(self) -> bool:
        return self._enough.is_set() or self._work.stopped.is_set()

    def _name(self, part: str) -> str:
        return f"chain.{self._table.name}/{part}"
