"""The synthetic account as frames, with its answer sheet; made once per size and seed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from dialframe import frames
from dialframe.sandbox.seed import generate

AS_OF = dt.date(2026, 6, 1)


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Frames by name; `truth` is the answer sheet."""

    tables: dict[str, pd.DataFrame]

    def __getattr__(self, name: str) -> pd.DataFrame:
        return self.tables[name]

    @property
    def truth(self) -> pd.DataFrame:
        """What was planted."""
        return self.tables["ground_truth"]

    def planted(self, fault: str) -> set[str]:
        """Ids of one fault."""
        return set(self.truth.loc[self.truth["fault"] == fault, "id"])


@cache
def account(size: str = "small", seed: int = 7) -> Synthetic:
    """One account."""
    made = generate(seed=seed, size=size, as_of=AS_OF)
    tables = {}
    for name, table in made.tables.items():
        rows = pd.DataFrame(list(table.rows), columns=list(table.columns))
        tables[name] = framed(name, rows)
    return Synthetic(tables)


def framed(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """A table of the generator as the frame that an account gives; instants are microseconds."""
    if name not in frames.TABLES:
        return rows
    spec = frames.TABLES[name]
    values: dict[str, Any] = {}
    for column in spec.columns:
        if column.name in rows:
            given = rows[column.name]
            if column.kind == "instant":
                at = pd.to_datetime(given.astype("Int64"), unit="us", utc=True)
                values[column.name] = list(at.astype(object).where(at.notna(), None))
            else:
                values[column.name] = list(given.astype(object).where(given.notna(), None))
    return frames.from_columns(spec, values)
