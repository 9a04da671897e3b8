"""SQL over the store: DuckDB reads the parts where they lie, reaches nothing else, and can write nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from dialframe.errors import StoreError
from dialframe.files import shared
from dialframe.store.database import LEASE, Database
from dialframe.store.layouts import FOREVER, LAYOUTS
from dialframe.store.parts import Shelf, damaged
from dialframe.store.records import microseconds
from dialframe.store.snapshot import Selection, Snapshot, pieces, snapshot

if TYPE_CHECKING:
    from datetime import datetime

    import duckdb

MEMORY: Final = "1GB"
#: What a statement may be; a pivot is said to be several, for it asks for its columns first.
_READING: Final = frozenset({"SELECT", "EXPLAIN", "MULTI"})


@contextmanager
def duckdb_over(
    database: Database,
    as_of: datetime | None,
    views: Mapping[str, pa.Table] | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection in which each table of the store is a view, all of one moment.

    It reaches nothing of this machine, neither files nor the network: what does not fit into memory is an error.
    `views` are further tables by name.
    """
    import duckdb

    with shared(database.folder / LEASE):
        with database.reading() as reading:
            tables = [snapshot(reading, layout, Selection(as_of)) for layout in LAYOUTS]
        connection = duckdb.connect()
        try:
            # Else DuckDB shows instants in the zone of this machine.
            connection.execute("SET TimeZone = 'UTC'")
            # Else DuckDB takes four fifths of the machine's memory (duckdb.org, Configuration).
            connection.execute(f"SET memory_limit = '{MEMORY}'")
            for table in tables:
                _make_view(connection, database.shelf, table)
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

    with duckdb_over(database, as_of, views) as connection:
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


def _make_view(connection: duckdb.DuckDBPyConnection, shelf: Shelf, table: Snapshot) -> None:
    from pyarrow import dataset

    name, layout = table.layout.name, table.layout
    columns = ", ".join(f'"{column.name}"' for column in layout.columns)
    # Without parts, what is left of the pieces is what is young.
    (young,) = pieces(
        shelf, Snapshot(layout, table.selection, table.columns, (), table.patches, table.young)
    )
    _register(
        connection,
        f"_young_{name}",
        young.select(table.columns).cast(layout.fields(table.columns)),
    )
    sources = [f"SELECT {columns} FROM _young_{name}"]
    if table.parts:
        # As a table of its own: a list of a hundred thousand numbers is no SQL.
        _register(
            connection,
            f"_patch_{name}",
            pa.table({"seq": table.patches.seqs, "until": table.patches.untils}),
        )
        # A dataset of ours, not DuckDB's reader: a folder that it may read it may also write to.
        files = [shelf.folder / part.name for part in table.parts]
        try:
            parts = dataset.dataset(
                [str(file) for file in files],
                schema=layout.schema,
                format=dataset.ParquetFileFormat(
                    default_fragment_scan_options=dataset.ParquetFragmentScanOptions(
                        page_checksum_verification=True
                    )
                ),
            )
        except (OSError, pa.ArrowException) as error:
            raise damaged(shelf.folder) from error
        connection.register(f"_part_{name}", parts)
        sources.append(f"SELECT {columns} FROM _part_{name} WHERE {_condition(table)}")
    connection.execute(f"CREATE VIEW {name} AS {' UNION ALL '.join(sources)}")


def _register(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    connection.register("arriving", table)
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arriving")
    connection.unregister("arriving")


def _condition(table: Snapshot) -> str:
    """Which versions of the parts count."""
    followed = f"SELECT seq FROM _patch_{table.layout.name}"
    at = table.selection.as_of
    if at is None:
        # Parts without history hold what counted when they were sealed, patches what does not any more.
        return f"seq NOT IN ({followed})"
    moment = microseconds(at)
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
