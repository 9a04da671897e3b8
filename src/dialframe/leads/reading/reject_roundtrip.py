"""Damaged records of a reject file that nobody has corrected.

A record with a cell too many stands in the reject file with its cells where they fell: phone
number perhaps under the name. Cleaned again as it is it would look whole, so it keeps its reason
for as long as its cells are those that its own text (`_raw`) gives. Who finds them right as they
are empties `_reason`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from dialframe.leads.lines_and_records import Dialect, Shape, split_lines
from dialframe.leads.reading.dialect import EXPECTED
from dialframe.leads.reading.parser import parse, scan

#: Damage that the cells do not show.
DAMAGE: Final = ("unclosed_quote", "too_many_cells")
_QUOTES: Final = ('"', "'", None)


def damage(cells: Sequence[str], reason: str, all_reasons: str, raw: str) -> str | None:
    """The damage that a record of a reject file still has, or None.

    Args:
        cells: Its cells, without the columns that were added.
        reason: Its `_reason`.
        all_reasons: Its `_all_reasons`.
        raw: Its `_raw`.
    """
    codes = {reason, *all_reasons.split(";")}
    found = next((code for code in DAMAGE if code in codes), None)
    if found is None or not reason.strip() or not raw:
        return None
    own = [cell.strip() for cell in cells]
    return (
        found if any(_wide(read, len(own)) == own for read in _readings(raw, len(own))) else None
    )


def _readings(raw: str, width: int) -> Iterator[list[str]]:
    """Cells that the text may have been read as."""
    lines = split_lines(raw)
    for delimiter, quote, skip_space in product(EXPECTED, _QUOTES, (False, True)):
        if delimiter in raw:
            dialect = Dialect(delimiter, quote, skip_space=skip_space)
            yield scan(raw, dialect).cells
            yield from parse(lines, dialect, Shape(width)).cells[:1]


def _wide(cells: Sequence[str], width: int) -> list[str]:
    return [cell.strip() for cell in [*cells, *[""] * width][:width]]
