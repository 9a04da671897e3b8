"""Synthetic accounts as tables that queries ask, and the claims of `account_claims.sql` about them."""

from __future__ import annotations

import atexit
import datetime as dt
import functools
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from phonenumbers import PhoneNumber
from phonenumbers.timezone import time_zones_for_number
from phonenumbers.tzdata import TIMEZONE_DATA

from dialframe.sandbox.seed import REGISTRY_BLOCKS, SyntheticAccount, generate

AUTUMN, SPRING = dt.date(2026, 11, 21), dt.date(2026, 5, 20)
#: Size, seed and day of an account.
Case = tuple[str, int, dt.date]
CASES: list[Case] = [
    ("small", 7, AUTUMN),
    ("small", 8, SPRING),
    ("tiny", 1, AUTUMN),
    ("tiny", 3, dt.date(2026, 10, 20)),  # no change of the clocks in its history
    ("tiny", 4, dt.date(2026, 11, 3)),  # just after one
    ("medium", 7, AUTUMN),
]
#: The accounts that a claim names.
NAMED: dict[str, list[Case]] = {
    "every": CASES, "smaller": CASES[:-1], "changed": CASES[:3],
    "larger": [CASES[0], CASES[-1]], "small": CASES[:1], "tiny": CASES[2:3], "medium": CASES[-1:],
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """What its queries find in some accounts."""

    expected: str
    cases: list[Case]
    queries: list[str]
    says: str

    def holds(self, case: Case) -> None:
        """Demand it of an account."""
        found = [ask(query, case) for query in self.queries]
        if self.expected == "none":
            assert found[0][:3] == []
        elif self.expected == "some":
            assert found[0]
        elif self.expected == "same":
            assert {*found[0]} == {*found[1]} != set()
        else:
            low, high = map(float, self.expected.split(" to "))
            ((value,),) = found[0]
            assert low <= value <= high


_PRELUDE, *_parts = re.split(
    r"^-- (none|some|same|\S+ to \S+) in (\w+): (.+)\n",
    (Path(__file__).parent / "account_claims.sql").read_text(),
    flags=re.MULTILINE,
)
CLAIMS = [
    Claim(expected, NAMED[where], re.findall("[^;]+(?=;)", queries), says)
    for expected, where, says, queries in zip(*(iter(_parts),) * 4, strict=True)
]


@functools.cache
def exchanges_apart() -> dict[str, set[str]]:
    """By area code, the beginnings of exchanges that the package tells apart."""
    apart: dict[str, set[str]] = defaultdict(set)
    for prefix in map(str, TIMEZONE_DATA):
        if prefix.startswith("1") and len(prefix) > 4:
            apart[prefix[1:4]].add(prefix[4:7])
    return apart


def exchanges_of(code: str) -> list[str]:
    """Exchanges of an area code that the package tells apart, and one that stands for all others."""
    named = exchanges_apart().get(code, set())
    exchanges = [str(number) for number in range(200, 1_000)]
    apart = [each for each in exchanges if {each, each[:2], each[:1]} & named]
    return apart + [each for each in exchanges if each not in apart][:1]


def zones_of(code: str) -> set[str]:
    """Every zone that the package gives for any exchange of an area code."""
    found: set[str] = set()
    for exchange in exchanges_of(code):
        number = PhoneNumber(country_code=1, national_number=int(f"{code}{exchange}0142"))
        found.update(time_zones_for_number(number))
    return found


@functools.cache
def account(size: str = "small", seed: int = 7, as_of: dt.date = AUTUMN) -> SyntheticAccount:
    """An account, made once."""
    return generate(seed=seed, size=size, as_of=as_of)


@functools.cache
def _tables(case: Case) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name, table in account(*case).tables.items():
        columns = dict(zip(table.columns, map(list, zip(*table.rows, strict=True)), strict=True))
        connection.register("rows", pa.table({**columns, "place": list(range(len(table)))}))
        connection.execute(f"CREATE TABLE {name} AS FROM rows")
    codes = connection.execute(
        "SELECT substr(phone, 3, 3) FROM leads UNION SELECT substr(number, 3, 3) FROM caller_ids"
    ).fetchall()
    zones = [(code, zone) for (code,) in codes for zone in sorted(zones_of(code))]
    several = {
        code for code, zone in zones if (code, zone) != zones[[c for c, _ in zones].index(code)]
    }
    for table, columns, rows in (
        # Codes whose clock is known: a straddling one has several.
        ("places", ["code", "zone"], [pair for pair in zones if pair[0] not in several]),
        ("blocks", ["phone"], [(phone,) for phone in REGISTRY_BLOCKS]),
        ("zones", ["code", "zone"], zones),
    ):
        connection.register("rows", pa.table(list(zip(*rows, strict=True)), names=columns))
        connection.execute(f"CREATE TABLE {table} AS FROM rows")
    end_us = int(dt.datetime.combine(case[2], dt.time(), dt.UTC).timestamp()) * 1_000_000
    connection.execute(f"CREATE MACRO ending() AS {end_us}; {_PRELUDE}")
    return connection


# Connections that are open as the process ends are called leaked by DuckDB.
atexit.register(_tables.cache_clear)


def ask(query: str, case: Case = CASES[0]) -> list[tuple[Any, ...]]:
    """What a query finds in an account."""
    return _tables(case).execute(query).fetchall()
