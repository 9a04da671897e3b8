"""A list from page to page: when it goes on, when it ends, when it is stuck; knows pages, not HTTP.

Only `page.next_cursor` ends a list. A page may be empty and the list go on; a list that hands out the
same cursor twice, or nothing but empty pages, is broken and says so: never a short result in silence.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, Generic

from dialframe.client.answers import ListPage, Row
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract.models.shape import Answer
from dialframe.errors import ContractError

if TYPE_CHECKING:
    import pandas as pd

logger: Final = logging.getLogger("dialframe.client")

#: Empty pages in a row, each with a cursor, after which a list counts as stuck.
EMPTY_PAGES: Final = 20

Fetch = Callable[[str | None], ListPage[Row]]


def walk(operation: str, fetch: Fetch[Row], cursor: str | None) -> Iterator[ListPage[Row]]:
    """Pages from a cursor (None for the head) to the end of a list.

    Raises:
        ContractError: A cursor came twice, or 20 pages in a row were empty.
    """
    seen = {cursor}
    empty = 0
    while True:
        page = fetch(cursor)
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return
        empty = 0 if page.raw else empty + 1
        if empty == EMPTY_PAGES:
            raise _stuck(operation, f"{EMPTY_PAGES} pages in a row were empty, each with a cursor")
        if cursor in seen:
            raise _stuck(operation, "a cursor came a second time")
        seen.add(cursor)


class Listing(Generic[Row]):
    """A list of the service; nothing is asked for until it is walked, and each walk starts anew.

    Iterating gives every record, page after page. Rows that are not what the contract says are
    left out of it, with a warning in the log; `pages()` has them.
    """

    def __init__(
        self, operation: str, model: type[Answer], fetch: Fetch[Row], cursor: str | None
    ) -> None:
        """Name the operation and the shape of its rows, and how a page is fetched."""
        self._operation = operation
        self._model = model
        self._fetch = fetch
        self._cursor = cursor

    def __repr__(self) -> str:
        return f"<Listing of {self._operation}>"

    def __iter__(self) -> Iterator[Row]:
        for page in self.pages():
            yield from page.records

    def pages(self, *, cursor: str | None = None) -> Iterator[ListPage[Row]]:
        """The pages, each with its request id, cursor and rows in quarantine.

        Args:
            cursor: Where to start: `next_cursor` of a page of the same list and filters.

        Raises:
            ContractError: The list is stuck, or an answer is no page.
            InvalidRequest: The cursor is no longer valid (`invalid_cursor`): start at the head.
        """
        for page in walk(self._operation, self._fetch, cursor or self._cursor):
            if page.quarantined:
                first = page.quarantined[0]
                logger.warning(
                    "%s: %d of %d rows are not what the contract says (first: row %d, %s: %s); "
                    "they are in the page's quarantine",
                    self._operation,
                    len(page.quarantined),
                    len(page.raw),
                    first.index,
                    first.where,
                    first.reason,
                )
            yield page

    def to_frame(self, on_progress: OnProgress | None = None) -> pd.DataFrame:
        """The whole list as a DataFrame.

        Columns and dtypes are those of the frames table of this list, or follow from the
        contract's fields where there is none; they never depend on the rows. Fields that the
        contract does not name are in `_extra`. `.attrs["dialframe"]` says when it was read and
        how many rows are in quarantine.

        Args:
            on_progress: Told after each page how many records there are; the total is unknown
                until the end.
        """
        from dialframe.client.tables import FrameBuilder

        tell = on_progress or silent
        builder = FrameBuilder(self._operation, self._model)
        for page in self.pages():
            builder.add(page)
            tell(Progress(self._operation, builder.rows))
        tell(Progress(self._operation, builder.rows, builder.rows))
        return builder.frame()


def _stuck(operation: str, reason: str) -> ContractError:
    return ContractError(
        f"{operation}: the list does not end: {reason}; read it again from its head, and tell the "
        "operator if it stays",
        operation=operation,
        where="page.next_cursor",
    )
