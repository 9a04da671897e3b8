"""The tables of one audit: a DuckDB database of its own, the scripts run in it, and the columns of its frames."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import starmap
from tempfile import gettempdir
from typing import Any, Final

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
_TYPES: Final[Mapping[str, Any]] = {
    "int": pa.int64(), "text": pa.string(), "flag": pa.bool_(), "instant": pa.timestamp("us"),
    "day": pa.date32(), "time": pa.string(), "span": pa.duration("us"), "number": pa.float64(),
    "texts": pa.list_(pa.string()), "instants": pa.list_(pa.timestamp("us")),
}  # fmt: skip
#: Kinds that Arrow has no type for, or another one, as DuckDB makes them of Arrow's.
_CASTS: Final[Mapping[str, str]] = {"time": "time", "span": "interval"}
_MEMORY: Final = "1500MB"
#: A step of a query: a named part whose name stands at the beginning of a line.
_STEP: Final = re.compile(r"(?m)^(?:with |\), )(\w+) as \($")


class Database:
    """The tables of an audit.

    Args:
        threads: How many threads share the work.
    """

    def __init__(self, *, threads: int) -> None:
        self.con = open_database(threads)
        # Half the memory of an audit for a fiftieth more CPU.
        self.con.execute("attach ':memory:' as facts (compress); use facts")
        self.con.execute(
            "create type grade as enum ('pass', 'not asked', 'not evaluable', 'uncertain', 'violation')"
        )

    def run(self, script: str) -> None:
        """Run a script whose text is the same in every audit: it is parsed once."""
        for statement in statements(script):
            self.con.execute(statement)

    def load(self, name: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """A table from rows.

        Args:
            name: Name of the table.
            columns: Column to kind: int, text, flag, instant (UTC), day, time, span, number, texts, instants.
            rows: Tuples in the order of the columns.
        """
        data = list(zip(*rows, strict=True)) or [()] * len(columns)
        # Types are those of the queries and not guessed from the first rows.
        arrays = [
            pa.array(list(values), type=_TYPES[kind])
            for values, kind in zip(data, columns.values(), strict=True)
        ]
        casts = {name: _CASTS[kind] for name, kind in columns.items() if kind in _CASTS}
        replaced = ", ".join(f"{column}::{kind} as {column}" for column, kind in casts.items())
        self.put(
            name,
            pa.table(arrays, names=list(columns)),
            f"* replace ({replaced})" if casts else "*",
        )

    def put(self, name: str, table: pa.Table, columns: str = "*") -> None:
        """A table from one of Arrow: all of its columns, or what SQL makes of them."""
        self.con.register("given", table)
        self.con.execute(f"create or replace table {name} as select {columns} from given")
        self.con.unregister("given")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.con.execute(query).fetchall()


@cache
def statements(script: str) -> tuple[duckdb.Statement, ...]:
    """The statements of a script, parsed."""
    return tuple(duckdb.extract_statements(script))


@cache
def query(name: str, of: str = "tables") -> str:
    """Text of a query file of the tables, or of the checks."""
    return (resources.files("dialframe.compliance") / of / f"{name}.sql").read_text("utf-8")


#: The file of the records that a check looks at.
_RECORDS: Final = {
    "listed_number": "listing", "consent": "consent_records", "abandonment": "abandoned_calls",
}  # fmt: skip


@cache
def law_of(check: str) -> tuple[str, str]:
    """What is made before a check is run, and its law: the query of its file."""
    text = query(check, "checks")
    law = text[text.rindex("\nwith ") + 1 :].rstrip().removesuffix(";")
    # Which calls it grades alike, and the records that it looks at together with other checks.
    alike = next(
        (
            part
            for part in query("alike").split("\n-- check: ")[1:]
            if part.split("\n", 1)[0] == check
        ),
        "\n",
    )
    before = (query(_RECORDS[check]) if check in _RECORDS else "") + alike.split("\n", 1)[1]
    return before, law


def steps(law: str) -> list[tuple[str, str]]:
    """The named steps of a law, each with a query of its rows, and the last that gives the answers (`answer`)."""
    named = list(_STEP.finditer(law))
    ends = [each.start() for each in named[1:]] + [law.rindex("\n)\n") + 1]
    parts = [
        (each[1], f"{law[:end].rstrip()}\n) select * from {each[1]}")
        for each, end in zip(named, ends, strict=True)
    ]
    return [*parts, ("answer", law)]


def quoted(text: object) -> str:
    """A text, or a path, as SQL writes it."""
    return "'" + str(text).replace("'", "''") + "'"


def open_database(threads: int, memory: str = _MEMORY) -> duckdb.DuckDBPyConnection:
    """An empty database in so much memory."""
    con = duckdb.connect(config={"threads": threads})
    # What does not fit spills to the disk of the machine, never to the folder of the caller.
    con.execute(f"set temp_directory = '{gettempdir()}'; set memory_limit = '{memory}'")
    return con
