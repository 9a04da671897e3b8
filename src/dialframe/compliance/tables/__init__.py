"""The tables of one audit: a DuckDB database of its own, the scripts run in it, and the columns of its frames."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import count, starmap
from tempfile import gettempdir
from typing import Any, Final
from weakref import finalize

import duckdb
import pyarrow as pa

from dialframe.frames import Column


def _frames() -> dict[str, tuple[Column, ...]]:
    text = resources.files(__name__).joinpath("frames.toml").read_text("utf-8")
    # Frames, pages and documentation take columns from one table, so that none says another name or kind.
    layouts = tomllib.loads(text)
    columns = {name: tuple(starmap(Column, each["columns"])) for name, each in layouts.items()}
    return {
        name: (*columns["call"], *own, *columns["grade"]) if "of_calls" in layouts[name] else own
        for name, own in columns.items()
    }


#: Columns of every frame of an audit, by the name of the check or of the part.
FRAMES: Final[Mapping[str, tuple[Column, ...]]] = _frames()
_SPANS: Final = pa.list_(pa.struct([("opens", pa.int64()), ("closes", pa.int64())]))
_TYPES: Final[Mapping[str, Any]] = {
    "int": pa.int64(), "text": pa.string(), "flag": pa.bool_(), "instant": pa.timestamp("us"),
    "day": pa.date32(), "span": pa.duration("us"), "number": pa.float64(), "spans": _SPANS,
    "texts": pa.list_(pa.string()),
}  # fmt: skip
_NAMES: Final[Mapping[str, str]] = {
    "int": "bigint", "text": "varchar", "flag": "boolean", "instant": "timestamp", "day": "date",
    "span": "interval", "number": "double", "texts": "varchar[]",
    "spans": "struct(opens bigint, closes bigint)[]",
}  # fmt: skip
_MEMORY: Final = "1500MB"
_MAKES: Final = re.compile(
    r"(?is)\s*(create\s+or\s+replace\s+(?:table|view)|insert\s+into)\s+(\w+)"
)
#: Tables without which a statement gives no row: all of a list, or all of another after "or".
_NEEDS: Final = re.compile(r"--\s*Empty without ([\w, ]+?)\.?\s*$", re.MULTILINE)
#: A view that many statements read: binding it again costs more than the rows where there is a handful.
_OFTEN: Final = "-- Read often."
_numbers: Final = count(1)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement of a script.

    Attributes:
        statement: The statement, parsed.
        table: Table or view that it makes or adds to; empty where it does neither.
        makes: Whether it makes the table.
        is_view: Whether that is a view: it is made always, and counts as one row where it may have any.
        needs: Tables without whose rows it gives none, each set for itself; none: always run.
        as_table: The same as a table, for a view that is read often; None for another.
    """

    statement: duckdb.Statement
    table: str
    makes: bool
    is_view: bool
    needs: tuple[frozenset[str], ...]
    as_table: Step | None


class Database:
    """The tables of an audit.

    A statement whose script says that it gives no row without those of another table is left out
    where that table is empty: its own is made empty at once, which is what it would come to.

    Args:
        threads: How many threads share the work.
        small: Whether there is a handful of rows. Then the order of joins does not matter, and
            looking for it costs most; and the database lives in an instance that others share.
    """

    def __init__(self, *, threads: int, small: bool = False) -> None:
        self._small = small
        if small:
            name = f"audit_{next(_numbers)}"
            self.con = _shared(os.getpid()).cursor()
            self.con.execute(f"attach ':memory:' as {name}; use {name}; pragma disable_optimizer")
            finalize(self, _leave, self.con, name).atexit = False
        else:
            self.con = open_database(threads)
        #: Rows of each table that was made here.
        self.rows: dict[str, int] = {}

    def run(self, script: str) -> None:
        """Run a script whose text is the same in every audit: it is parsed once."""
        for each in steps(script):
            step = each.as_table if self._small and each.as_table is not None else each
            is_empty = bool(step.needs) and not any(
                all(self.rows[name] for name in names) for names in step.needs
            )
            if is_empty and not step.is_view:
                self._skip(step)
                continue
            result = self.con.execute(step.statement)
            if step.is_view:
                self.rows[step.table] = int(not is_empty)
            if step.is_view or not step.table:
                continue
            ((rows,),) = result.fetchall()
            self.rows[step.table] = rows + (0 if step.makes else self.rows.get(step.table, 0))

    def load(self, name: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """A table from rows.

        Args:
            name: Name of the table.
            columns: Column to kind: int, text, flag, instant (UTC), day, span, number, spans, texts.
            rows: Tuples in the order of the columns.
        """
        data = list(zip(*rows, strict=True))
        if not data:
            self.con.execute(_empty(name, tuple((c, _NAMES[k]) for c, k in columns.items())))
            self.rows[name] = 0
            return
        # Types are those of the queries and not guessed from the first rows.
        arrays = [
            pa.array(list(values), type=_TYPES[kind])
            for values, kind in zip(data, columns.values(), strict=True)
        ]
        self.put(name, pa.table(arrays, names=list(columns)))

    def put(self, name: str, table: pa.Table, columns: str = "*") -> None:
        """A table from one of Arrow: all of its columns, or what SQL makes of them."""
        self.con.register("given", table)
        self.con.execute(f"create or replace table {name} as select {columns} from given")
        self.con.unregister("given")
        self.rows[name] = table.num_rows

    def read(self, name: str, query: str, rows: int) -> None:
        """A table that is read where it lies.

        Args:
            name: Name of the table.
            query: The query of its rows.
            rows: How many there are.
        """
        self.con.execute(f"create or replace view {name} as {query}")
        self.rows[name] = rows

    def _skip(self, step: Step) -> None:
        if not step.makes:
            return
        columns = _COLUMNS.get(step.statement.query)
        if columns is None:
            self.con.execute(step.statement)
            made = self.con.execute(f"describe {step.table}").fetchall()
            _COLUMNS[step.statement.query] = tuple((row[0], row[1]) for row in made)
        else:
            self.con.execute(_empty(step.table, columns))
        self.rows[step.table] = 0


#: Columns and types of the table that a statement makes, by its text.
_COLUMNS: Final[dict[str, tuple[tuple[str, str], ...]]] = {}


@cache
def steps(script: str) -> tuple[Step, ...]:
    """The statements of a script, parsed."""
    parsed = []
    for statement in duckdb.extract_statements(script):
        text = re.sub(r"--[^\n]*", "", statement.query)
        made, needed = _MAKES.match(text), _NEEDS.search(statement.query)
        needs = () if needed is None else tuple(
            frozenset(re.split(r"\s*,\s*", names)) for names in needed[1].split(" or ")
        )  # fmt: skip
        table, how = ("", "") if made is None else (made[2], made[1].lower())
        is_view = how.endswith("view")
        as_table = None
        if is_view and _OFTEN in statement.query:
            (as_table,) = steps(re.sub(r"(?i)\bview\b", "table", statement.query, count=1))
        parsed.append(Step(statement, table, how[:1] == "c", is_view, needs, as_table))
    return tuple(parsed)


@cache
def _empty(name: str, columns: tuple[tuple[str, str], ...]) -> duckdb.Statement:
    of = ", ".join(f'"{column}" {kind}' for column, kind in columns)
    (statement,) = duckdb.extract_statements(f"create or replace table {name} ({of})")
    return statement


@cache
def query(name: str, of: str = "tables") -> str:
    """Text of a query file of the tables, or of the checks."""
    return (resources.files("dialframe.compliance") / of / f"{name}.sql").read_text("utf-8")


def quoted(text: object) -> str:
    """A text, or a path, as SQL writes it."""
    return "'" + str(text).replace("'", "''") + "'"


def open_database(threads: int, memory: str = _MEMORY) -> duckdb.DuckDBPyConnection:
    """An empty database in so much memory."""
    con = duckdb.connect(config={"threads": threads})
    # What does not fit spills to the disk of the machine, never to the folder of the caller.
    con.execute(f"set temp_directory = '{gettempdir()}'; set memory_limit = '{memory}'")
    return con


@cache
def _shared(process: int) -> duckdb.DuckDBPyConnection:  # noqa: ARG001 - a fork has one of its own
    """The instance in which the small audits of a process live: opening one costs more than they do."""
    return open_database(1)


def _leave(con: duckdb.DuckDBPyConnection, name: str) -> None:
    con.execute(f"use memory; detach {name}")
    con.close()
