"""Finding phone numbers that are split over columns, by headers and by trying; joins as `phone_parts` does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import pandas as pd

from dialframe.leads import headers
from dialframe.leads.columns.country_names import read_region
from dialframe.leads.columns.header_match import header_score
from dialframe.leads.columns.phone_parts import join_parts
from dialframe.opt_outs import plain
from dialframe.phones import normalize

_SAMPLE_ROWS: Final = 200
_AREA_DIGITS: Final = 5
_WHOLE_DIGITS: Final = 15
_PIECE_DIGITS: Final = 8
#: A column of which more is valid by itself is a column of numbers, not of pieces.
_ALONE: Final = 0.3
_MOSTLY: Final = 0.6
_VALID: Final = 0.5
_SURELY_VALID: Final = 0.8
_NEAR: Final = 4


def find_joined(
    frame: pd.DataFrame, free: Collection[str], region: str | None, country: str | None
) -> list[tuple[tuple[str, ...], float]]:
    """Groups of columns that make one phone number together, with the share that is valid.

    Args:
        frame: The file's columns.
        free: Columns that no field but the phone has.
        region: Region of national numbers.
        country: Column that gives the region row by row, or None.
    """
    step = max(1, len(frame) // _SAMPLE_ROWS)
    sample = frame.iloc[::step].head(_SAMPLE_ROWS)
    regions = _regions(sample, region, country)
    columns = [str(name) for name in frame.columns]
    found: list[tuple[tuple[str, ...], float]] = []
    used: set[str] = set()
    for area in (name for name in columns if name in free and _is_area(sample, name)):
        tried = [
            (share, group)
            for group in _groups(sample, columns, area, set(free) - used)
            if (share := _valid_share(sample, group, regions)) >= _VALID
        ]
        if area not in used and tried:
            share, group = max(tried, key=lambda one: (one[0], -len(one[1])))
            found.append((group, share))
            used.update(group)
    for group in _runs(sample, columns, set(free) - used):
        share = _valid_share(sample, group, regions)
        if (
            share >= _SURELY_VALID
            and not used.intersection(group)
            and max(_whole_share(sample[name], regions) for name in group) < _ALONE
        ):
            found.append((group, share))
            used.update(group)
    return found


def _regions(
    sample: pd.DataFrame, region: str | None, country: str | None
) -> list[str | None] | str | None:
    if country is None:
        return region
    return [read_region(str(cell)) or region for cell in sample[country]]


def _is_area(sample: pd.DataFrame, column: str) -> bool:
    words = plain(column)
    tokens = set(words.split())
    named = words in headers.AREA_NAMES or bool(tokens & headers.AREA_WORDS)
    if not named and not ({"area"} <= tokens and tokens & ({"code"} | headers.PHONE_WORDS)):
        return False
    return _share_of_digits(sample[column], 1, _AREA_DIGITS) >= _MOSTLY


def _groups(
    sample: pd.DataFrame, columns: Sequence[str], area: str, free: set[str]
) -> Iterator[tuple[str, ...]]:
    """The area with the local columns to its right, or else to its left, one or two of them."""
    place = columns.index(area)
    behind = [name for name in columns[place + 1 : place + 1 + _NEAR] if name in free]
    before = [name for name in columns[max(0, place - _NEAR) : place] if name in free]
    for near in (behind, before[::-1]):
        local = [name for name in near if _is_local(sample, name)]
        for at, name in enumerate(local):
            yield (area, name)
            if at + 1 < len(local):
                yield (area, name, local[at + 1])


def _is_local(sample: pd.DataFrame, column: str) -> bool:
    words = plain(column)
    if words not in headers.LOCAL_NAMES and not header_score(column, "phone"):
        return False
    return _share_of_digits(sample[column], 2, _WHOLE_DIGITS) >= _MOSTLY


def _runs(
    sample: pd.DataFrame, columns: Sequence[str], free: set[str]
) -> Iterator[tuple[str, ...]]:
    """Neighboring phone columns of a few digits each: `Phone 1`, `Phone 2`, `Phone 3`."""
    short = [
        name in free
        and (header_score(name, "phone") > 0 or plain(name) in headers.LOCAL_NAMES)
        and _share_of_digits(sample[name], 1, _PIECE_DIGITS) >= _MOSTLY
        for name in columns
    ]
    for length in (3, 2):
        for place in range(len(columns) - length + 1):
            if all(short[place : place + length]):
                yield tuple(columns[place : place + length])


def _share_of_digits(column: pd.Series, least: int, most: int) -> float:
    """Share of the filled cells that are no words and have so many digits."""
    cells = [str(cell).strip().removesuffix(".0") for cell in column]
    filled = [cell for cell in cells if cell]
    fitting = sum(
        least <= sum(char.isdecimal() for char in cell) <= most
        and not any(char.isalpha() for char in cell)
        for cell in filled
    )
    return fitting / len(filled) if filled else 0.0


def _whole_share(column: pd.Series, regions: list[str | None] | str | None) -> float:
    """Share of the rows that are a valid number by themselves."""
    cells = [str(cell) for cell in column]
    return float(normalize(cells, region=regions)["valid"].fillna(value=False).mean())


def _valid_share(
    sample: pd.DataFrame, group: Sequence[str], regions: list[str | None] | str | None
) -> float:
    """Share that is valid of the numbers that joining changes; whole numbers stay as they are."""
    rows = list(zip(*(sample[name].tolist() for name in group), strict=True))
    joined = [join_parts(row) for row in rows]
    changed = [at for at, text in enumerate(joined) if text and text != str(rows[at][-1]).strip()]
    if not changed:
        return 0.0
    # What begins with `?` lacks digits, and phonenumbers would read it without them.
    texts = ["" if joined[at].startswith("?") else joined[at] for at in changed]
    own = regions if isinstance(regions, str | None) else [regions[at] for at in changed]
    return float(normalize(texts, region=own)["valid"].fillna(value=False).mean())
