"""A list from page to page: when it goes on, when it ends, when it is stuck; and as a DataFrame.

Only `page.next_cursor` ends a list. A page may be empty and the list go on; a list that hands out the
same cursor twice, or nothing but empty pages, is broken and says so: never a short result in silence.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from dialframe.client.answers import ListPage
from dialframe.client.shapes import Quarantined
from dialframe.client.steps import Async, Steps, Sync
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract.models.shape import Answer
from dialframe.errors import ContractError

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.client.list_frame import FrameBuilder

Row = TypeVar("Row")

logger: Final = logging.getLogger("dialframe.client")

#: Empty pages in a row, each with a cursor, after which a list counts as stuck.
EMPTY_PAGES: Final = 20
#: Rows whose ids a walk remembers at least, to notice one that comes again.
ROWS_REMEMBERED: Final = 500_000


@dataclass(frozen=True, slots=True)
class ListPlan(Generic[Row]):
    """A list that nobody walks yet.

    Attributes:
        operation: Name of the operation.
        model: The shape of its rows.
        fetch: How the page at a cursor (None for the head) is fetched.
        cursor: Where to begin.
    """

    operation: str
    model: type[Answer]
    fetch: Callable[[str | None], Steps[ListPage[Row]]]
    cursor: str | None


class Walk:
    """Where a walk over a list stands."""

    def __init__(self, operation: str, cursor: str | None) -> None:
        """Begin at a cursor, None for the head."""
        self._operation = operation
        self._seen = {cursor}
        self._empty = 0
        self._rows: set[int] = set()
        self._older_rows: set[int] = set()
        self.cursor = cursor
        self.ended = False

    def distinct(self, page: ListPage[Row]) -> ListPage[Row]:
        """A page without rows whose id a page before it had: those are set aside."""
        ids = [hash(row.id) if hasattr(row, "id") else None for row in page.records]
        known = [row for row in ids if row in self._rows or row in self._older_rows]
        self._rows.update(row for row in ids if row is not None)
        if len(self._rows) > ROWS_REMEMBERED:
            self._rows, self._older_rows = set(), self._rows
        return _without(page, ids, frozenset(known)) if known else page

    def pass_page(self, page: ListPage[Any]) -> None:
        """Go on behind a page.

        Raises:
            ContractError: A cursor came twice, or 20 pages in a row were empty.
        """
        self.cursor = page.next_cursor
        self.ended = page.next_cursor is None
        if self.ended:
            return
        self._empty = 0 if page.rows else self._empty + 1
        if self._empty == EMPTY_PAGES:
            raise self._stuck(f"{EMPTY_PAGES} pages in a row were empty, each with a cursor")
        if self.cursor in self._seen:
            raise self._stuck("a cursor came a second time")
        self._seen.add(self.cursor)

    def _stuck(self, reason: str) -> ContractError:
        return ContractError(
            f"{self._operation}: the list does not end: {reason}; read it again from its head, and "
            "tell the operator if it stays",
            operation=self._operation,
            where="page.next_cursor",
        )


class Listing(Generic[Row]):
    """A list of the service; nothing is asked for until it is walked, and each walk starts anew.

    Iterating gives every record, page after page. Rows that are not what the contract says are
    left out of it, with a warning in the log; so are rows whose id a page before had. `pages()` has
    them.
    """

    def __init__(self, plan: ListPlan[Row], shell: Sync) -> None:
        """Join a plan with who runs it."""
        self._plan = plan
        self._shell = shell

    def __repr__(self) -> str:
        return f"<Listing of {self._plan.operation}>"

    def __iter__(self) -> Iterator[Row]:
        for page in self.pages():
            yield from page.records

    def pages(self, *, cursor: str | None = None) -> Iterator[ListPage[Row]]:
        """The pages, each with its request id, cursor and rows in quarantine.

        Args:
            cursor: Where to start: `next_cursor` of a page of the same list and filters.

        Returns:
            The pages, each asked for when it is its turn.

        Raises:
            ContractError: The list is stuck, or an answer is no page.
            InvalidRequest: The cursor is no longer valid (`invalid_cursor`): start at the head.
        """
        walk = Walk(self._plan.operation, cursor or self._plan.cursor)
        while not walk.ended:
            page = walk.distinct(self._shell.run(self._plan.fetch(walk.cursor)))
            _tell(self._plan.operation, page)
            yield page
            walk.pass_page(page)

    def first(self) -> Row | None:
        """The first record of the list; fetches no more than it needs.

        Returns:
            The record, or None where the list is empty.
        """
        return next(iter(self), None)

    def to_frame(self, on_progress: OnProgress | None = None) -> pd.DataFrame:
        """The whole list as a DataFrame.

        Columns and dtypes are those of the frames table of this list, or follow from the
        contract's fields where there is none; they never depend on the rows. Fields that the
        contract does not name are in `_extra`. `.attrs["dialframe"]` says when it was read and
        how many rows are in quarantine.

        Args:
            on_progress: Called after each page with the number of records; the total is unknown
                until the end.

        Returns:
            One row per record, in the list's order.
        """
        builder, tell = _builder(self._plan), on_progress or silent
        for page in self.pages():
            builder.add(page)
            tell(Progress(self._plan.operation, builder.rows))
        tell(Progress(self._plan.operation, builder.rows, builder.rows))
        return builder.frame()


class AsyncListing(Generic[Row]):
    """A list of the service in an event loop: `async for` gives every record; else like `Listing`."""

    def __init__(self, plan: ListPlan[Row], shell: Async) -> None:
        """Join a plan with who runs it."""
        self._plan = plan
        self._shell = shell

    def __repr__(self) -> str:
        return f"<AsyncListing of {self._plan.operation}>"

    async def __aiter__(self) -> AsyncIterator[Row]:
        async for page in self.pages():
            for record in page.records:
                yield record

    async def pages(self, *, cursor: str | None = None) -> AsyncIterator[ListPage[Row]]:
        """The pages, each with its request id, cursor and rows in quarantine.

        Args:
            cursor: Where to start: `next_cursor` of a page of the same list and filters.

        Yields:
            The pages, each asked for when it is its turn.

        Raises:
            ContractError: The list is stuck, or an answer is no page.
            InvalidRequest: The cursor is no longer valid (`invalid_cursor`): start at the head.
        """
        walk = Walk(self._plan.operation, cursor or self._plan.cursor)
        while not walk.ended:
            page = walk.distinct(await self._shell.run(self._plan.fetch(walk.cursor)))
            _tell(self._plan.operation, page)
            yield page
            walk.pass_page(page)

    async def first(self) -> Row | None:
        """The first record of the list; fetches no more than it needs.

        Returns:
            The record, or None where the list is empty.
        """
        async for record in self:
            return record
        return None

    async def to_frame(self, on_progress: OnProgress | None = None) -> pd.DataFrame:
        """The whole list as a DataFrame, as `Listing.to_frame` gives it.

        Args:
            on_progress: Called after each page with the number of records.

        Returns:
            One row per record, in the list's order.
        """
        builder, tell = _builder(self._plan), on_progress or silent
        async for page in self.pages():
            builder.add(page)
            tell(Progress(self._plan.operation, builder.rows))
        tell(Progress(self._plan.operation, builder.rows, builder.rows))
        return builder.frame()


def _without(
    page: ListPage[Row], ids: Sequence[int | None], known: frozenset[int | None]
) -> ListPage[Row]:
    set_aside = {row.index for row in page.quarantined}
    places = [index for index in range(page.rows) if index not in set_aside]
    again = tuple(
        Quarantined(index, page.raw[index], "id", "a row of an earlier page has it")
        for index, row in zip(places, ids, strict=True)
        if row in known
    )
    records = [record for record, row in zip(page.records, ids, strict=True) if row not in known]
    quarantined = sorted((*page.quarantined, *again), key=lambda row: row.index)
    return replace(page, records=records, quarantined=tuple(quarantined))


def _builder(plan: ListPlan[Any]) -> FrameBuilder:
    from dialframe.client.list_frame import FrameBuilder

    return FrameBuilder(plan.operation, plan.model)


def _tell(operation: str, page: ListPage[Any]) -> None:
    if not page.quarantined:
        return
    first = page.quarantined[0]
    logger.warning(
        "%s: %d of %d rows are not what the contract says (first: row %d, %s: %s); "
        "they are in the page's quarantine",
        operation,
        len(page.quarantined),
        page.rows,
        first.index,
        first.where,
        first.reason,
    )
