"""How much speaks for keeping a record among those with the same number: how full it is, or how new."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.leads import texts
from dialframe.leads.lead_file import LeadFile

#: Headers of the day a record was last changed, then of the day it was made.
_CHANGED: Final = re.compile(
    r"updat|modif|chang|last|geändert|aktual|actualiz|modifi", re.IGNORECASE
)
_MADE: Final = re.compile(
    r"creat|added|date|day|time|datum|erstellt|fecha|creado|data|criado|created|ajout",
    re.IGNORECASE,
)
#: Days that everybody reads alike: year, month, day, perhaps with a time.
_ISO: Final = re.compile(r"\s*\d{4}-\d{2}-\d{2}(?:[T ].*)?\s*")
#: Share of the filled cells that have to be such days.
_MOST: Final = 0.9


def newest_column(file: LeadFile) -> str | None:
    """The column that says when a record was last changed, or made; None where none says so.

    Only days written year first count: of `03/04/2026` nobody knows which of two it is.
    """
    days = [str(name) for name in file.frame.columns if _holds_days(file.frame[name])]
    for pattern in (_CHANGED, _MADE):
        named = [name for name in days if pattern.search(name)]
        if named:
            return named[0]
    return None


def ages(cells: pa.Array | None, first: int, count: int) -> np.ndarray:
    """A score that is higher the newer a record is; a later one is newer where no day says so.

    Args:
        cells: The days, or None where no column has them.
        first: Ordinal of the first record among all.
        count: How many records there are.
    """
    ordinals = np.arange(first, first + count, dtype=np.int64)
    if cells is None:
        return ordinals
    days = pd.to_datetime(
        pd.Series(cells.to_pylist(), dtype="str"), format="ISO8601", errors="coerce", utc=True
    )
    known = days.notna().to_numpy()
    # Seconds since 1970 are fewer than this; a record without a day is older than all with one.
    seconds = np.where(known, days.astype("int64").to_numpy() // 10**6, -(10**10))
    return np.asarray(seconds * 10**8 + ordinals, np.int64)


def filled_cells(columns: Mapping[str, pa.Array], count: int) -> np.ndarray:
    """How many cells of each record hold something."""
    total = np.zeros(count, np.int64)
    for cells in columns.values():
        total += texts.sizes(cells) > 0
    return total


def _holds_days(cells: pd.Series) -> bool:
    filled = cells[cells.str.strip() != ""].head(1000)
    return len(filled) > 0 and bool(filled.str.fullmatch(_ISO.pattern).mean() >= _MOST)
