"""A list from page to page: when it goes on, when it ends, when it is stuck; and as a DataFrame.

Only `page.next_cursor` ends a list. A page may be empty and the list go on; a list that hands out the
same cursor twice, or nothing but empty pages, is broken and says so: never a short result in silence.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, TypeVar, get_args, get_origin

from pydantic import AwareDatetime

from dialframe.client.client_settings import Options
from dialframe.client.response_reading import ListPage, Quarantined, row_model
from dialframe.client.send_operation import Async, Sender, Sync
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract.models.base_models import Answer, ListQuery, Page
from dialframe.contract.operations import Operation
from dialframe.errors import ContractError

if TYPE_CHECKING:
    import pandas as pd

    from dialframe import frames
    from dialframe.frames.frame_schemas import Kind

Row = TypeVar("Row", bound=Answer)

logger: Final = logging.getLogger("dialframe.client")

#: Pages in a row without a row that the walk had not seen, after which a list counts as stuck.
PAGES_WITHOUT_NEWS: Final = 20
#: Pages of one walk: a hundred million rows, and more than a day at the rate limit.
MOST_PAGES: Final = 1_000_000
#: Rows whose ids a walk remembers at least, to notice one that comes again.
ROWS_REMEMBERED: Final = 500_000


class Walk:
    """Where a walk over a list stands.

    A walk makes progress while rows come that it has not seen. It ends with the list, or with an error: after
    `PAGES_WITHOUT_NEWS` pages without such a row, where a cursor comes a second time, after `MOST_PAGES` pages.
    """

    def __init__(self, operation: str, cursor: str | None) -> None:
        """Begin at a cursor, None for the head."""
        self._operation = operation
        self._cursors = {hash(cursor)}
        self._pages = 0
        self._without_news = 0
        self._rows: set[int] = set()
        self._older_rows: set[int] = set()
        self._quarantined: set[int] = set()
        self._warned = False
        self.cursor = cursor
        self.ended = False

    # Endpoints, Calls: a call moved into the account may appear behind a cursor already returned.
    def distinct(self, page: ListPage[Row]) -> ListPage[Row]:
        """A page without rows whose id a page before it had; the log says the first time that rows are set aside."""
        ids = [
            # Eight bytes of a hash instead of an id of forty: half a million of them are remembered.
            hash(row_id) if (row_id := getattr(row, "id", None)) else None
            for row in page.records
        ]
        named = {row_id for row_id in ids if row_id is not None}
        known_ids = (named & self._rows) | (named & self._older_rows)
        # Rows without an id cannot be told from those before; a cursor that comes again can.
        unnamed = len(named) < len(ids) and None in ids
        unread = {hash(repr(row.raw)) for row in page.quarantined} - self._quarantined
        news = unnamed or bool(unread) or len(known_ids) < len(named)
        self._without_news = 0 if news else self._without_news + 1
        self._rows |= named
        self._quarantined |= unread
        # Two halves, so that what is forgotten is old: a row that moves does so by a page or two.
        if len(self._rows) > ROWS_REMEMBERED:
            self._rows, self._older_rows, self._quarantined = set(), self._rows, set()
        if known_ids:
            page = _without(page, ids, known_ids)
        if page.quarantined and not self._warned:
            self._warned = True
            first = page.quarantined[0]
            logger.warning(
                # No value of a row: it may hold a number or a name.
                "%s: %d of %d rows of a page are set aside (first: row %d, %s: %s); every page has its own in "
                "`.quarantined`",
                self._operation,
                len(page.quarantined),
                page.rows,
                first.index,
                first.where,
                first.reason,
            )
        return page

    def pass_page(self, page: ListPage[Any]) -> None:
        """Go on behind a page."""
        # Contract, Lists and pagination: next_cursor is null on the last page.
        self.cursor = page.next_cursor
        self.ended = page.next_cursor is None
        self._pages += 1
        if self.ended:
            return
        if self._without_news >= PAGES_WITHOUT_NEWS:
            raise self._stuck(f"{PAGES_WITHOUT_NEWS} pages in a row had no row that is new")
        if hash(self.cursor) in self._cursors:
            raise self._stuck("a cursor came a second time")
        if self._pages >= MOST_PAGES:
            raise self._stuck(f"it has {MOST_PAGES:,} pages already")
        # Every cursor of the walk: a loop may be longer than one page.
        self._cursors.add(hash(self.cursor))

    def _stuck(self, reason: str) -> ContractError:
        return ContractError(
            f"{self._operation}: the list does not end: {reason}; read it again from its head, and "
            "tell the operator if it stays",
            operation=self._operation,
            where="page.next_cursor",
        )


@dataclass(frozen=True, repr=False, eq=False)
class Listing(Generic[Row]):
    """A list of the service; nothing is asked for until it is walked, and each walk starts anew.

    Iterating gives every record, page after page. Rows that are not what the contract says are
    left out of it, with a warning in the log; so are rows whose id a page before had. `pages()` has
    them.
    """

    _sender: Sender
    _runner: Sync
    _operation: Operation[Any, Page[Row]]
    _query: ListQuery
    _options: Options | None

    def __repr__(self) -> str:
        return f"<Listing of {self._operation.name}>"

    # A new walk each time, so that a list may be walked twice.
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
        walk = Walk(self._operation.name, cursor or self._query.cursor)
        while not walk.ended:
            call = self._sender.page(self._operation, self._query, walk.cursor, self._options)
            # The walk sees every page, so that a row which comes again is set aside.
            page = walk.distinct(self._runner.run(call))
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
        builder = FrameBuilder(self._operation.name, row_model(self._operation.response))
        tell = on_progress or silent
        for page in self.pages():
            builder.add(page)
            tell(Progress(self._operation.name, builder.rows))
        tell(Progress(self._operation.name, builder.rows, builder.rows))
        return builder.frame()


@dataclass(frozen=True, repr=False, eq=False)
class AsyncListing(Generic[Row]):
    """A list of the service in an event loop: `async for` gives every record; else like `Listing`."""

    _sender: Sender
    _runner: Async
    _operation: Operation[Any, Page[Row]]
    _query: ListQuery
    _options: Options | None

    def __repr__(self) -> str:
        return f"<AsyncListing of {self._operation.name}>"

    async def __aiter__(self) -> AsyncIterator[Row]:
        async for page in self.pages():
            for record in page.records:
                yield record

    async def pages(self, *, cursor: str | None = None) -> AsyncIterator[ListPage[Row]]:
        """The pages, each with its request id, cursor and rows in quarantine, as `Listing.pages` gives them."""
        walk = Walk(self._operation.name, cursor or self._query.cursor)
        while not walk.ended:
            call = self._sender.page(self._operation, self._query, walk.cursor, self._options)
            page = walk.distinct(await call)
            yield page
            walk.pass_page(page)

    async def first(self) -> Row | None:
        """The first record of the list, or None; fetches no more than it needs."""
        async for record in self:
            return record
        return None

    async def to_frame(self, on_progress: OnProgress | None = None) -> pd.DataFrame:
        """The whole list as a DataFrame, as `Listing.to_frame` gives it."""
        builder = FrameBuilder(self._operation.name, row_model(self._operation.response))
        tell = on_progress or silent
        async for page in self.pages():
            builder.add(page)
            tell(Progress(self._operation.name, builder.rows))
        tell(Progress(self._operation.name, builder.rows, builder.rows))
        return builder.frame()


def _without(page: ListPage[Row], ids: Sequence[int | None], known_ids: set[int]) -> ListPage[Row]:
    # `records` has no gaps where rows were set aside; their places on the page do.
    set_aside = {row.index for row in page.quarantined}
    places = [index for index in range(page.rows) if index not in set_aside]
    again = tuple(
        Quarantined(index, page.raw[index], "id", "a row of an earlier page has it")
        for index, row in zip(places, ids, strict=True)
        if row in known_ids
    )
    records = [
        record for record, row in zip(page.records, ids, strict=True) if row not in known_ids
    ]
    quarantined = sorted((*page.quarantined, *again), key=lambda row: row.index)
    return replace(page, records=records, quarantined=tuple(quarantined))


#: Records that are held as Python values before they become a frame.
ROWS_AT_ONCE: Final = 5_000

_KINDS: Final[tuple[tuple[Any, Kind], ...]] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (AwareDatetime, "instant"),
    (datetime, "instant"),
    (str, "text"),
)

#: Whether a value can stand in a column; what cannot, of a shape that we only assumed, goes to `_extra`.
_FITS: Final[Mapping[Kind, Callable[[Any], bool]]] = {
    "text": lambda value: isinstance(value, str),
    "day": lambda value: isinstance(value, str | date),
    "instant": lambda value: isinstance(value, datetime),
    "integer": lambda value: type(value) is int and -(2**63) <= value < 2**63,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "json": lambda _: True,
}


class FrameBuilder:
    """Grows a frame page by page, holding few records as Python values."""

    def __init__(self, operation: str, model: type[Answer]) -> None:
        """Choose the table of an operation's rows."""
        self._table = table_of(operation, model)
        self._operation = operation
        self._parts: list[pd.DataFrame] = []
        self._records: list[dict[str, Any]] = []
        self._observed: list[datetime] = []
        self._pages = 0
        self._quarantined = 0
        self.rows = 0

    def add(self, page: ListPage[Any]) -> None:
        """Put the records of a page behind the others."""
        self._records.extend(record_of(self._table, row) for row in page.records)
        self.rows += len(page.records)
        self._pages += 1
        self._quarantined += len(page.quarantined)
        # The first page and the last: the rows are as of some time between the two.
        self._observed = [*self._observed[:1], page.observed_at]
        if len(self._records) >= ROWS_AT_ONCE:
            self._flush()

    def frame(self) -> pd.DataFrame:
        """The frame of all pages, with what is known of them in `.attrs["dialframe"]`."""
        import pandas as pd

        if self._records or not self._parts:
            self._flush()
        whole = (
            self._parts[0] if len(self._parts) == 1 else pd.concat(self._parts, ignore_index=True)
        )
        whole.attrs["dialframe"] = {
            "operation": self._operation,
            "rows": self.rows,
            "pages": self._pages,
            "quarantined": self._quarantined,
            "observed_from": self._observed[0].isoformat() if self._observed else None,
            "observed_until": self._observed[-1].isoformat() if self._observed else None,
        }
        return whole

    def _flush(self) -> None:
        from dialframe import frames

        self._parts.append(frames.from_records(self._table, self._records))
        self._records = []


def table_of(operation: str, model: type[Answer]) -> frames.Table:
    """The column table of a list's rows: the one of `frames`, or one made from the model's fields."""
    # pandas is loaded for a frame alone.
    from dialframe import frames

    # A list that the store keeps too has one table, whoever asks.
    for table in frames.TABLES.values():
        if table.operation == operation:
            return table
    columns = [
        frames.Column(name, _kind(field.annotation), "as the service names it")
        for name, field in model.model_fields.items()
    ]
    columns.append(frames.Column("_extra", "json", "fields that the contract does not name"))
    return frames.Table(operation, operation, ("id",), tuple(columns))


def record_of(table: frames.Table, row: Answer) -> dict[str, Any]:
    """A row as values that fit the table's columns; everything else goes to `_extra`."""
    from dialframe.frames.frame_schemas import as_json

    record: dict[str, Any] = {}
    extra: dict[str, Any] = dict(row.model_extra or {})
    for column in table.columns:
        value = getattr(row, column.name, None)
        # Values inside a list are models still; the table wants what JSON has.
        if column.kind == "json" and isinstance(value, list):
            value = [
                item.model_dump(mode="json") if isinstance(item, Answer) else item
                for item in value
            ]
        if value is None or _FITS[column.kind](value):
            record[column.name] = value
        else:
            extra[column.name] = value
    # A field of the model that the table has no column for is not lost either.
    named = set(table.names)
    extra.update(
        {name: getattr(row, name) for name in type(row).model_fields if name not in named}
    )
    record["_extra"] = as_json(extra) if extra else None
    return record


def _kind(annotation: Any) -> Kind:
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    for marker, kind in _KINDS:
        if annotation is marker:
            return kind
    # `CallStatus | str | None` is text: null is in every column, and known values are text too.
    options = {_kind(option) for option in get_args(annotation) if option is not type(None)}
    scalar = options - {"json"}
    if get_origin(annotation) in (list, dict) or len(scalar) != 1:
        return "json"
    return scalar.pop()
