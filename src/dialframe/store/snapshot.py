"""Reads tables from their pages and parts as of one moment.

Each version says from when until when it counts, so whether it is wanted is a condition on the version alone:
a filter on campaign or time may be applied beside it without ever meeting an older version.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.store.catalog import Part, Patches, live_parts, read_patches
from dialframe.store.layouts import FOREVER, Layout
from dialframe.store.parts import Shelf, comparable, flags, order_of
from dialframe.store.records import Value, microseconds
from dialframe.store.versions import read_pages

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows of a table are wanted.

    Attributes:
        as_of: Rows as they were last observed by this instant; None for the latest.
        since: First instant of the table's time column that is wanted.
        until: First instant of it that is not wanted any more.
        campaign: One campaign's rows.
    """

    as_of: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    campaign: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A table at one moment: its young versions, the parts that may hold what is wanted, and their patches.

    Attributes:
        layout: The table.
        selection: The rows wanted.
        columns: The columns wanted.
        parts: Parts that may hold rows wanted.
        patches: Which versions are followed.
        young: Versions that are in no part, wanted or not.
    """

    layout: Layout
    selection: Selection
    columns: tuple[str, ...]
    parts: tuple[Part, ...]
    patches: Patches
    young: pa.Table

    @property
    def at(self) -> int | None:
        """The instant that is asked for, microseconds since 1970 UTC; None for now."""
        return None if self.selection.as_of is None else microseconds(self.selection.as_of)

    @property
    def loaded(self) -> tuple[str, ...]:
        """The columns wanted, and those that rows are ordered by."""
        return tuple(dict.fromkeys((*self.columns, *self.layout.order)))


def snapshot(
    connection: sqlite3.Connection,
    layout: Layout,
    selection: Selection,
    columns: Sequence[str] | None = None,
) -> Snapshot:
    """What a read needs from the database, taken in one transaction; without columns all of a frame's."""
    names = tuple(column.name for column in layout.columns) if columns is None else tuple(columns)
    at = None if selection.as_of is None else microseconds(selection.as_of)
    first, end = bounds(layout, selection)
    parts = tuple(
        part
        for part in live_parts(connection, layout)
        if (not part.history if at is None else part.first_observed <= at < part.last_until)
        and part.may_hold(first, end)
    )
    young, _ = read_pages(connection, layout)
    return Snapshot(layout, selection, names, parts, read_patches(connection, layout), young)


def pieces(shelf: Shelf, taken: Snapshot) -> Iterator[pa.Table]:
    """The rows wanted in the columns loaded, part by part in the order of their first rows, then the young ones.

    Each piece is sorted by time. Raises as `Shelf.load`.
    """
    for part in taken.parts:
        yield _rows(shelf, taken, part)
    young = taken.young
    mask = _mask(taken, young, patched=True, mixed=True, late=True)
    young = (young if mask is None else young.filter(pa.array(mask))).select(taken.loaded)
    young = young.take(order_of(young, taken.layout.order))
    # As parts are read, so that both can be put together.
    yield young.cast(taken.layout.fields(taken.loaded, few=True))


def whole(shelf: Shelf, taken: Snapshot) -> pa.Table:
    """The rows wanted, oldest first."""
    # Empty ones have no span, and would come before or after nothing.
    tables = [table for table in pieces(shelf, taken) if table.num_rows]
    shown = taken.layout.fields(taken.columns)
    if not tables:
        # In one empty chunk: some of pandas cannot join a column that has none at all.
        arrays = [pa.array([], field.type) for field in shown]
        return pa.Table.from_batches([pa.record_batch(arrays, schema=shown)])
    groups = _overlapping(taken.layout, tables)
    del tables
    ordered_tables = []
    while groups:
        group = groups.pop(0)
        ordered_tables.append(
            group[0].select(taken.columns).cast(shown)
            if len(group) == 1
            else _merge_tables(taken.layout, group, shown)
        )
    return pa.concat_tables(ordered_tables)


def as_frame(table: pa.Table) -> pd.DataFrame:
    """The frame of an Arrow table, with dtypes that do not depend on its rows."""
    import pandas as pd

    # Nullable, so that integers without a value stay integers.
    dtypes = {
        pa.int64(): pd.Int64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    frame: pd.DataFrame = table.to_pandas(types_mapper=dtypes.get)
    return frame


def bounds(layout: Layout, selection: Selection) -> tuple[Value, Value]:
    """First value of the time column that is wanted, and the first that is not; days as ISO 8601."""
    since, until = selection.since, selection.until
    if layout.time_column != "date":
        return (
            None if since is None else microseconds(since),
            None if until is None else microseconds(until),
        )
    # Contract, Conventions: days of a report are UTC days.
    first = None if since is None else since.astimezone(UTC).date().isoformat()
    if until is None:
        return first, None
    until = until.astimezone(UTC)
    started = until.time() != time(0)  # a day that has begun by then is wanted whole
    return first, (until.date() + timedelta(days=int(started))).isoformat()


def _rows(shelf: Shelf, taken: Snapshot, part: Part) -> pa.Table:
    """The rows of one part that are wanted, in the columns wanted."""
    layout, at = taken.layout, taken.at
    patched = taken.patches.within(part.first_seq, part.last_seq)
    # A part that ends before the moment has nothing that was observed after it.
    late = at is not None and part.last_observed > at
    # What the mask asks of this part, and no more: columns of a part are read one by one.
    needed = dict.fromkeys(taken.loaded)
    needed |= dict.fromkeys(["seq"] if patched else [])
    needed |= dict.fromkeys(["_observed_at"] if late else [])
    needed |= dict.fromkeys(["_until", "_gone"] if part.history else [])
    if taken.selection.campaign is not None and layout.campaign_column is not None:
        needed[layout.campaign_column] = None
    times = bounds(layout, taken.selection)
    table = shelf.load(part, layout, list(needed), times, few=True)
    mask = _mask(taken, table, patched=patched, mixed=part.history, late=late)
    table = table.select(taken.loaded)
    return table if mask is None else table.filter(pa.array(mask))


def _mask(
    taken: Snapshot, table: pa.Table, *, patched: bool, mixed: bool, late: bool
) -> Any | None:
    """Which rows are wanted, as a numpy array; None for all of them.

    Args:
        taken: What is asked for.
        table: Versions.
        patched: Whether some of them may be followed without saying so.
        mixed: Whether some of them may be followed or gone.
        late: Whether some of them may have been observed after the moment asked for.
    """
    at, layout, selection = taken.at, taken.layout, taken.selection
    masks = []
    if patched:
        untils = taken.patches.untils_of(table["seq"].to_numpy())
        masks.append(untils == FOREVER if at is None else untils > at)
    if late and at is not None:
        masks.append(table["_observed_at"].cast(pa.int64()).to_numpy() <= at)
    if mixed:
        untils = table["_until"].combine_chunks().fill_null(FOREVER).to_numpy(zero_copy_only=False)
        masks.append(untils == FOREVER if at is None else untils > at)
        masks.append(~flags(table["_gone"]))
    for bound, keeps in zip(bounds(layout, selection), (pc.greater_equal, pc.less), strict=True):
        if bound is not None:
            masks.append(flags(keeps(comparable(table[layout.time_column]), bound)))
    if selection.campaign is not None and layout.campaign_column is not None:
        named = table[layout.campaign_column].cast(pa.large_string())
        masks.append(flags(pc.equal(named, selection.campaign)))
    mask = np.logical_and.reduce(masks) if masks else None
    # Most parts are wanted whole, and a filter copies every column.
    return None if mask is None or mask.all() else mask


def _overlapping(layout: Layout, tables: Sequence[pa.Table]) -> list[list[pa.Table]]:
    """Tables in groups: one that begins before another has ended is sorted in with it."""
    # By their first rows: what does not overlap with the one before needs no sorting with it.
    spans = sorted(
        ((_span(layout, table), position) for position, table in enumerate(tables)),
        key=lambda positioned: positioned[0],
    )
    groups: list[list[pa.Table]] = []
    end = None
    for (first, last), position in spans:
        if end is not None and first <= end:
            # One that begins at the very instant at which another ends is sorted with it too.
            groups[-1].append(tables[position])
        else:
            groups.append([tables[position]])
        end = last if end is None else max(end, last)
    return groups


def _span(layout: Layout, table: pa.Table) -> tuple[tuple[int, Any], tuple[int, Any]]:
    """First and last of the time column of sorted rows, so that null comes before every value."""
    column = comparable(table[layout.time_column])
    ends = (column[0].as_py(), column[-1].as_py())
    # Python cannot compare None with a number; a flag in front can.
    low, high = ((0, 0) if end is None else (1, end) for end in ends)
    return low, high


def _merge_tables(layout: Layout, tables: list[pa.Table], shown: pa.Schema) -> pa.Table:
    """Rows of tables that overlap in time, in order; column by column, so that little is held twice."""
    table = pa.concat_tables(tables)
    # The parts' own tables may go now, so that each row is held twice for one column alone.
    tables.clear()
    order = order_of(table, layout.order)
    columns = []
    for field in shown:
        column = table.schema.get_field_index(field.name)
        columns.append(table.column(column).combine_chunks().take(order).cast(field.type))
        table = table.remove_column(column)
    return pa.table(columns, schema=shown)
