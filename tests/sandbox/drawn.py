"""Synthetic accounts as tables that queries ask; local times come from DuckDB's zones, not from the generator's."""

from __future__ import annotations

import atexit
import datetime as dt
import functools
from typing import Any

import duckdb
import pyarrow as pa

from dialframe.sandbox.seed import SyntheticAccount, generate
from dialframe.sandbox.seed.people_and_calendar import ONE_ZONE, REGISTRY_BLOCKS, SEVERAL_ZONES
from sandbox.test_seed_places import zones_of

AS_OF = dt.date(2026, 11, 21)

#: What the tables do not say by themselves; `place` is a row's place in its table.
VIEWS = """
CREATE MACRO local(us, zone) AS timezone(zone, timezone('UTC', make_timestamp(us)));
CREATE VIEW outbound AS SELECT *, substr(to_number, 3, 3) AS code FROM calls
    WHERE direction = 'outbound';
CREATE VIEW dialed AS SELECT *, row_number() OVER (PARTITION BY lead_id ORDER BY place) AS attempt,
    count(*) OVER (PARTITION BY lead_id) AS attempts FROM outbound WHERE lead_id IS NOT NULL;
CREATE VIEW clocks AS SELECT outbound.*, zone, local(created_at, zone) AS clock
    FROM outbound JOIN zones USING (code);
"""


@functools.cache
def account(size: str = "small", seed: int = 7, as_of: dt.date = AS_OF) -> SyntheticAccount:
    """An account, made once."""
    return generate(seed=seed, size=size, as_of=as_of)


@functools.cache
def _tables(size: str, seed: int, as_of: dt.date) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name, table in account(size, seed, as_of).tables.items():
        columns = dict(zip(table.columns, map(list, zip(*table.rows, strict=True)), strict=True))
        connection.register("rows", pa.table({**columns, "place": list(range(len(table)))}))
        connection.execute(f"CREATE TABLE {name} AS FROM rows")
    places = [(place.code, place.state, place.zones[0]) for place in (*ONE_ZONE, *SEVERAL_ZONES)]
    connection.execute("CREATE TABLE places (code TEXT, state TEXT, zone TEXT)")
    connection.executemany("INSERT INTO places VALUES (?, ?, ?)", places)
    connection.execute("CREATE TABLE blocks (phone TEXT)")
    connection.executemany("INSERT INTO blocks VALUES (?)", [[phone] for phone in REGISTRY_BLOCKS])
    codes = connection.execute("SELECT DISTINCT substr(phone, 3, 3) FROM leads").fetchall()
    connection.execute("CREATE TABLE zones (code TEXT, zone TEXT)")
    zones = [(code, zone) for (code,) in codes for zone in sorted(zones_of(code))]
    connection.executemany("INSERT INTO zones VALUES (?, ?)", zones)
    connection.execute(VIEWS)
    return connection


# Connections that are open as the process ends are called leaked by DuckDB.
atexit.register(_tables.cache_clear)


def ask(
    query: str, size: str = "small", seed: int = 7, as_of: dt.date = AS_OF
) -> list[tuple[Any, ...]]:
    """What a query finds in an account."""
    return _tables(size, seed, as_of).execute(query).fetchall()
