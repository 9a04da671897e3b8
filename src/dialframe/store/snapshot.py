"""Reads tables from their tails and parts as of one moment, through Arrow or with SQL.

Each version says from when until when it counts, so whether it is wanted is a condition on the version alone:
a filter on campaign or time may be applied beside it without ever meeting an older version. SQL is answered by
DuckDB, which reads the parts where they lie and can write nowhere.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import StoreError
from dialframe.files import shared
from dialframe.store.files.catalog import Patches, live_parts, read_patches
from dialframe.store.files.damaged_files import refuse_lost, refusing
from dialframe.store.files.database import LEASE, Database
from dialframe.store.files.parts import Part, Shelf, comparable, flags, integers, order_of
from dialframe.store.files.sqlite_rows import Value, coded, microseconds, plain, read_tail, schema
from dialframe.store.files.table_layouts import FOREVER, LAYOUTS, Layout

if TYPE_CHECKING:
    import duckdb
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
    """A table at one moment: its tail, the parts that may hold what is wanted, and their patches.

    Attributes:
        layout: The table.
        selection: The rows wanted.
        columns: The columns wanted.
        loaded: Those, and what the rows are ordered by.
        parts: Parts that may hold rows wanted.
        patches: Which of their versions are followed.
        tail: The tail's rows that are wanted.
    """

    layout: Layout
    selection: Selection
    columns: tuple[str, ...]
    loaded: tuple[str, ...]
    parts: tuple[Part, ...]
    patches: Patches
    tail: pa.Table

    @property
    def at(self) -> int | None:
        """The instant that is asked for, microseconds since 1970 UTC; None for now."""
        return None if self.selection.as_of is None else microseconds(self.selection.as_of)

    @property
    def range(self) -> tuple[Value, Value]:
        """First value of the time column that is wanted, and the first that is not."""
        return bounds(self.layout, self.selection)


def snapshot(
    connection: sqlite3.Connection,
    layout: Layout,
    selection: Selection,
    columns: Sequence[str] | None = None,
) -> Snapshot:
    """What a read needs from the database, taken in one transaction; without columns all of a frame's."""
    names = tuple(column.name for column in layout.columns) if columns is None else tuple(columns)
    where, values = _conditions(layout, selection)
    moment = None if selection.as_of is None else microseconds(selection.as_of)
    first, end = bounds(layout, selection)
    parts = tuple(
        part
        for part in live_parts(connection, layout)
        if (not part.history if moment is None else part.observed[0] <= moment < part.until)
        and part.may_hold(first, end)
    )
    loaded = tuple(dict.fromkeys((*names, layout.time_column, layout.part_key)))
    tail = read_tail(connection, layout, where, values).select(loaded)
    # As parts are read, so that both can be put together.
    tail = tail.cast(coded(layout, loaded))
    patches = read_patches(connection, layout)
    return Snapshot(layout, selection, names, loaded, parts, patches, tail)


def pieces(shelf: Shelf, taken: Snapshot) -> Iterator[pa.Table]:
    """The rows wanted in the columns loaded, part by part in the order of their first rows, then the tail.

    Each piece is sorted by time.
    """
    for part in taken.parts:
        yield _rows(shelf, taken, part)
    yield taken.tail


def whole(shelf: Shelf, taken: Snapshot) -> pa.Table:
    """The rows wanted, oldest first."""
    # Empty ones have no span, and would come before or after nothing.
    tables = [table for table in pieces(shelf, taken) if table.num_rows]
    if not tables:
        return empty(taken.layout, taken.columns)
    shown = plain(taken.layout, taken.columns)
    groups = _overlapping(taken.layout, tables)
    del tables
    ordered_tables = []
    while groups:
        group = groups.pop(0)
        ordered_tables.append(
            group[0].select(taken.columns).cast(shown)
            if len(group) == 1
            else _merged(taken.layout, group, shown)
        )
    return pa.concat_tables(ordered_tables)


def empty(layout: Layout, columns: Sequence[str]) -> pa.Table:
    """No rows, in one empty chunk: some of pandas cannot join a column that has none at all."""
    wanted = plain(layout, columns)
    arrays = [pa.array([], field.type) for field in wanted]
    return pa.Table.from_batches([pa.record_batch(arrays, schema=wanted)])


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


def _conditions(layout: Layout, selection: Selection) -> tuple[str, list[Value]]:
    conditions, values = ["1"], list[Value]()
    moment = None if selection.as_of is None else microseconds(selection.as_of)
    if not layout.ledger:
        # A version counts from when it was observed until another one follows: two bounds say it all.
        conditions += ["_gone = 0", f"_until = {FOREVER}" if moment is None else "_until > ?"]
        values += [] if moment is None else [moment]
    if moment is not None:
        conditions.append("_observed_at <= ?")
        values.append(moment)
    for sign, bound in zip((">=", "<"), bounds(layout, selection), strict=True):
        if bound is not None:
            conditions.append(f"{layout.time_column} {sign} ?")
            values.append(bound)
    if selection.campaign is not None and layout.campaign_column is not None:
        # Beside the condition on time, never before it: an older version may have been of this campaign.
        conditions.append(f"{layout.expression(layout.campaign_column)} = ?")
        values.append(selection.campaign)
    return " AND ".join(conditions), values


def _rows(shelf: Shelf, taken: Snapshot, part: Part) -> pa.Table:
    """The rows of one part that are wanted, in the columns wanted."""
    layout, moment = taken.layout, taken.at
    patched = not layout.ledger and taken.patches.within(part)
    # What the mask asks of this part, and no more: columns of a part are read one by one.
    needed = dict.fromkeys(taken.loaded)
    needed |= dict.fromkeys(["seq"] if patched else [])
    needed |= dict.fromkeys(["_observed_at"] if moment is not None else [])
    needed |= dict.fromkeys(["_until", "_gone"] if part.history else [])
    if taken.selection.campaign is not None and layout.campaign_column is not None:
        needed[layout.campaign_column] = None
    table = shelf.load(part, layout, list(needed), taken.range, few=True)
    mask = _mask(taken, part, table, patched=patched)
    table = table.select(taken.loaded)
    return table if mask is None else table.filter(pa.array(mask))


def _mask(taken: Snapshot, part: Part, table: pa.Table, *, patched: bool) -> Any | None:
    """Which rows are wanted, as a numpy array; None for all of them."""
    moment = taken.at
    masks = []
    if patched:
        untils = taken.patches.untils_of(integers(table["seq"]))
        masks.append(untils == FOREVER if moment is None else untils > moment)
    # A part that ends before the moment has nothing that was observed after it.
    if moment is not None and part.observed[1] > moment:
        masks.append(integers(table["_observed_at"]) <= moment)
    if moment is not None and part.history:
        untils = table["_until"].combine_chunks().fill_null(FOREVER)
        masks.append(untils.to_numpy(zero_copy_only=False) > moment)
        masks.append(~table["_gone"].to_numpy())
    first, end = taken.range
    for bound, keeps in ((first, pc.greater_equal), (end, pc.less)):
        if bound is not None:
            masks.append(flags(keeps(comparable(table[taken.layout.time_column]), bound)))
    if taken.selection.campaign is not None and taken.layout.campaign_column is not None:
        named = table[taken.layout.campaign_column].cast(pa.large_string())
        masks.append(flags(pc.equal(named, taken.selection.campaign)))
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


def _merged(layout: Layout, tables: list[pa.Table], shown: pa.Schema) -> pa.Table:
    """Rows of tables that overlap in time, in order; column by column, so that little is held twice."""
    table = pa.concat_tables(tables)
    # The parts' own tables may go now, so that each row is held twice for one column alone.
    tables.clear()
    order = order_of(table, [layout.time_column, layout.part_key])
    columns = []
    for field in shown:
        column = table.schema.get_field_index(field.name)
        columns.append(table.column(column).combine_chunks().take(order).cast(field.type))
        table = table.remove_column(column)
    return pa.table(columns, schema=shown)


MEMORY: Final = "1GB"
#: What a statement may be; a pivot is said to be several, for it asks for its columns first.
_READING: Final = frozenset({"SELECT", "EXPLAIN", "MULTI"})


@contextmanager
def duckdb_over(
    database: Database,
    as_of: datetime | None,
    memory: str = MEMORY,
    views: Mapping[str, pa.Table] | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection in which each table of the store is a view, all of one moment.

    It reaches nothing of this machine, neither files nor the network, and can write nowhere: what does not fit
    into memory is an error. `views` are further tables by name.

    Raises:
        StoreError: A part is damaged.
    """
    import duckdb

    with shared(database.folder / LEASE):
        tables = _tables(database, as_of)
        connection = duckdb.connect()
        try:
            # Else DuckDB shows instants in the zone of this machine.
            connection.execute("SET TimeZone = 'UTC'")
            # Else DuckDB takes four fifths of the machine's memory (duckdb.org, Configuration).
            connection.execute(f"SET memory_limit = '{memory}'")
            for table in tables:
                _make_view(connection, database.shelf, table, as_of)
            for name, rows in (views or {}).items():
                connection.register(name, rows)
            _shut_in(connection)
            yield connection
        finally:
            connection.close()


def answer_sql(
    database: Database,
    sql: str,
    parameters: Mapping[str, Any] | None,
    as_of: datetime | None,
    views: Mapping[str, pa.Table] | None = None,
) -> pa.Table:
    """The answer to one SELECT.

    Raises:
        StoreError: The statement is wrong, several, or none that reads; or a part is damaged.
    """
    import duckdb

    with duckdb_over(database, as_of, views=views) as connection:
        try:
            statements = connection.extract_statements(sql)
            # DuckDB parses it: comments and blanks behind a `;` are no second statement.
            if len(statements) != 1 or statements[0].type.name not in _READING:
                # A statement before it could put a table of its own in the place of ours.
                raise StoreError("the query cannot be answered: it must be one SELECT")
            # Values are bound and never put into the text.
            relation = connection.sql(sql, params=dict(parameters or {}))
            if relation is not None:
                return relation.to_arrow_table()
        except duckdb.Error as error:
            raise StoreError(f"the query cannot be answered: {error}") from None
    raise StoreError("the query cannot be answered: only a SELECT has rows")


def _tables(database: Database, as_of: datetime | None) -> list[Snapshot]:
    """Every table as of one moment; no part of them is damaged."""
    tables = []
    with database.reading() as connection:
        for layout in LAYOUTS:
            refuse_lost(connection, layout, as_of)
            tables.append(snapshot(connection, layout, Selection(as_of=as_of)))
    with refusing(database, "ask again"):
        for table in tables:
            for part in table.parts:
                database.shelf.check(part)
    return tables


def _make_view(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf, table: Snapshot, as_of: datetime | None
) -> None:
    from pyarrow import dataset

    name = table.layout.table.name
    columns = ", ".join(f'"{column.name}"' for column in table.layout.columns)
    connection.register("arriving", table.tail.select(table.columns))
    connection.execute(f"CREATE TABLE _tail_{name} AS SELECT {columns} FROM arriving")
    connection.unregister("arriving")
    sources = [f"SELECT {columns} FROM _tail_{name}"]
    if table.parts:
        # As a table of its own: a list of a hundred thousand numbers is no SQL.
        followed = pa.table({"seq": table.patches.seqs, "until": table.patches.untils})
        connection.register("arriving", followed)
        connection.execute(f"CREATE TABLE _patch_{name} AS SELECT * FROM arriving")
        connection.unregister("arriving")
        # A dataset of ours, not DuckDB's reader: a folder that it may read it may also write to.
        files = [str(shelf.place(part)) for part in table.parts]
        connection.register(f"_part_{name}", dataset.dataset(files, schema=schema(table.layout)))
        condition = _condition(table.layout, as_of)
        sources.append(f"SELECT {columns} FROM _part_{name} WHERE {condition}")
    connection.execute(f"CREATE VIEW {name} AS {' UNION ALL '.join(sources)}")


def _condition(layout: Layout, as_of: datetime | None) -> str:
    """Which versions of the parts count."""
    followed = f"SELECT seq FROM _patch_{layout.table.name}"
    if as_of is None:
        # Parts without history hold what counted when they were sealed, patches what does not any more.
        return f"seq NOT IN ({followed})"
    moment = microseconds(as_of)
    return (
        f"epoch_us(_observed_at) <= {moment} AND coalesce(_until, {FOREVER}) > {moment} AND NOT _gone "
        f"AND seq NOT IN ({followed} WHERE until <= {moment})"
    )


def _shut_in(connection: duckdb.DuckDBPyConnection) -> None:
    """Let no statement reach a file, the network, or these settings."""
    for statement in (
        "SET temp_directory = ''",
        "SET python_enable_replacements = false",
        "SET autoinstall_known_extensions = false",
        "SET autoload_known_extensions = false",
        "SET enable_external_access = false",
        # Last, for it locks these settings too.
        "SET lock_configuration = true",
    ):
        connection.execute(statement)
