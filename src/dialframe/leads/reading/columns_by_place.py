"""Columns of a fixed width, found by the blanks that stand above each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LEAST_LINES: Final = 4
_FEW_LINES: Final = 40
_GAPPED_SHARE: Final = 0.6
_GAP: Final = re.compile(r"\S {2,}(?=\S)")


def column_starts(lines: Sequence[str]) -> tuple[int, ...]:
    """Where each column begins, or nothing where the lines are not set in columns.

    Args:
        lines: Lines of the table, its header among them.
    """
    rows = [line.rstrip() for line in lines]
    gapped = sum(_GAP.search(line) is not None for line in rows)
    if len(rows) < _LEAST_LINES or gapped < _GAPPED_SHARE * len(rows) or "\t" in "".join(rows):
        return ()
    width = max(map(len, rows))
    filled = [any(at < len(row) and row[at] != " " for row in rows) for at in range(width)]
    starts = _starts(filled, 1)
    if len(rows) < _FEW_LINES and any(len(row.split()) != len(starts) for row in rows):
        starts = _starts(filled, 2)
    return tuple(starts) if len(starts) > 1 else ()


def _starts(filled: Sequence[bool], gap: int) -> list[int]:
    """Places behind so many that are blank in every line."""
    starts = [0]
    blank = 0
    for at, taken in enumerate(filled):
        if taken and blank >= gap and any(filled[:at]):
            starts.append(at)
        blank = 0 if taken else blank + 1
    return starts
