"""Rows page by page, with a sentence that says which of how many are shown; knows no widget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pandas as pd

#: Rows of a page.
PER_PAGE: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Some rows of many.

    Attributes:
        rows: The rows that are shown.
        number: Which page, from 0.
        total: Rows that the filter lets through.
        whole: Rows without the filter.
        noun: What a row is, in the plural.
    """

    rows: pd.DataFrame
    number: int
    total: int
    whole: int
    noun: str

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // PER_PAGE))

    @property
    def words(self) -> str:
        """Which of how many are shown."""
        if not self.total:
            return f"0 of {self.whole:,} {self.noun}"
        first = self.number * PER_PAGE + 1
        shown = f"{first:,} to {first + len(self.rows) - 1:,} of {self.total:,} {self.noun}"
        return shown if self.total == self.whole else f"{shown}, filtered from {self.whole:,}"


def page_of(frame: pd.DataFrame, number: int, *, noun: str, whole: int | None = None) -> Page:
    """One page of a frame; a number beyond the last page gives the last.

    Args:
        frame: Rows that the filter lets through.
        number: Which page, from 0.
        noun: What a row is, in the plural.
        whole: Rows without the filter; by default there is none.
    """
    last = max(0, -(-len(frame) // PER_PAGE) - 1)
    place = min(max(number, 0), last)
    rows = frame.iloc[place * PER_PAGE : (place + 1) * PER_PAGE]
    return Page(rows, place, len(frame), len(frame) if whole is None else whole, noun)
