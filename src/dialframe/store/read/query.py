"""Answers SQL over a store's tables: DuckDB reads the parts where they lie, and can write nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyarrow import dataset

from dialframe.errors import StoreError
from dialframe.files import shared
from dialframe.store.files.catalog import Patches
from dialframe.store.files.damaged_files import refuse_lost, refused
from dialframe.store.files.database import LEASE, Database
from dialframe.store.files.parts import Damaged, Part, Shelf, Vanished
from dialframe.store.files.rows import microseconds, schema
from dialframe.store.files.table_layouts import FOREVER, LAYOUTS, Layout
from dialframe.store.read.snapshot import Selection, snapshot

if TYPE_CHECKING:
    import duckdb


MEMORY: Final = "1GB"
#: What a statement may be; a pivot is said to be several, for it asks for its columns first.
_READING: Final = frozenset({"SELECT", "EXPLAIN", "MULTI"})


@dataclass(frozen=True, slots=True)
class _Table:
    layout: Layout
    parts: tuple[Part, ...]
    patches: Patches
    tail: pa.Table


@contextmanager
def connected(
    database: Database,
    shelf: Shelf,
    as_of: datetime | None,
    memory: str = MEMORY,
    views: Mapping[str, pa.Table] | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection in which each table of the store is a view, all of one moment.

    It reaches nothing of this machine, neither files nor the network, and can write nowhere: what does not fit
    into memory is an error.

    Args:
        database: The catalog.
        shelf: The parts.
        as_of: Rows as last observed by this instant; None for the latest.
        memory: How much DuckDB may use.
        views: Further tables by name, made of these by the caller.

    Raises:
        StoreError: A part is damaged.
    """
    import duckdb

    with shared(database.folder / LEASE):
        tables = _tables(database, shelf, as_of)
        connection = duckdb.connect()
        try:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute(f"SET memory_limit = '{memory}'")
            for table in tables:
                _make_view(connection, shelf, table, as_of)
            for name, rows in (views or {}).items():
                connection.register(name, rows)
            _shut_in(connection)
            yield connection
        finally:
            connection.close()


def run(
    database: Database,
    shelf: Shelf,
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

    with connected(database, shelf, as_of, views=views) as connection:
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type.name not in _READING:
                # A statement before it could put a table of its own in the place of ours.
                raise StoreError("the query cannot be answered: it must be one SELECT")
            relation = connection.sql(sql, params=dict(parameters or {}))
            if relation is not None:
                return relation.to_arrow_table()
        except duckdb.Error as error:
            raise StoreError(f"the query cannot be answered: {error}") from None
    raise StoreError("the query cannot be answered: only a SELECT has rows")


def _tables(database: Database, shelf: Shelf, as_of: datetime | None) -> list[_Table]:
    selection = Selection(as_of=as_of)
    tables = []
    with database.reading() as connection:
        for layout in LAYOUTS:
            refuse_lost(connection, layout, as_of)
            taken = snapshot(connection, layout, selection)
            tail = taken.tail.select(taken.columns)
            tables.append(_Table(layout, taken.parts, taken.patches, tail))
    for table in tables:
        for part in table.parts:
            try:
                shelf.check(part)
            except Damaged as damaged:
                raise refused(database, shelf, part, str(damaged)) from None
            except Vanished:
                raise StoreError(
                    f"{shelf.folder / part.name}: it was replaced while it was read; ask again"
                ) from None
    return tables


def _make_view(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf, table: _Table, as_of: datetime | None
) -> None:
    name = table.layout.table.name
    columns = ", ".join(f'"{column.name}"' for column in table.layout.columns)
    connection.register("arriving", table.tail)
    connection.execute(f"CREATE TABLE _tail_{name} AS SELECT {columns} FROM arriving")
    connection.unregister("arriving")
    sources = [f"SELECT {columns} FROM _tail_{name}"]
    if table.parts:
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
        "SET lock_configuration = true",
    ):
        connection.execute(statement)
