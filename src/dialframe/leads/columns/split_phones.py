"""Phone numbers that are split over columns: found by headers and by trying, put together row by row.

`Area Code` 212 and `Phone` 555-0142 are one number. What is missing is not made up: a local part
whose area is blank stays a number with missing digits, also where it would be valid by itself in
some other town, and a local part that is a whole number already is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from dialframe.leads.cells import is_nothing, tidy
from dialframe.leads.columns.country_names import Regions, read_region, regions_of
from dialframe.leads.columns.header_match import header_score
from dialframe.leads.header_vocabulary import PHONE_WORDS, word_set
from dialframe.leads.lead_file import LeadFile
from dialframe.opt_outs import plain
from dialframe.phones.vectorized import are_valid

#: Between the columns of a joined phone column, in its name.
JOINED: Final = " + "
#: What stands before a number whose first digits are missing; `read_phone` refuses it.
_MISSING: Final = "? "
_FLOAT: Final = re.compile(r"(\d+)\.0+")
_LEAST_WHOLE: Final = 10
_NATIONAL_DIGITS: Final = 9


def joined_name(columns: Sequence[str]) -> str:
    """Name of the phone column that the columns make together: `Area Code + Phone`."""
    return JOINED.join(columns)


def join_parts(cells: Sequence[str]) -> str:
    """The number that stands in the cells from left to right, as text for `read_phone`.

    Empty where no cell behind the first holds anything; begins with `?` where the first digits
    are missing.
    """
    texts = []
    for cell in cells:
        text = tidy(cell).strip("'\"=")
        whole = _FLOAT.fullmatch(text)
        texts.append("" if is_nothing(text) else whole[1] if whole else text)
    first, rest = texts[0], [text for text in texts[1:] if text]
    last = " ".join(rest)
    # A blank, or words: they are judged as the cell that they are.
    if not last or not _digits(last):
        return last
    area = _digits(first)
    if _is_whole(last, area):
        return last
    # Of `212`, blank, `0142` nobody knows what stood between.
    if not area or len(rest) < len(texts) - 1:
        return _MISSING + last
    return f"{first} {last}"


def phone_columns(
    file: LeadFile, phone: Sequence[str], joined: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """The text of each phone column, in order; joined ones are put together.

    Args:
        file: The file.
        phone: Phone columns, as `ColumnMap.phone`.
        joined: Columns of those that are joined, as `ColumnMap.joined`.
    """
    return {
        name: join_columns([file.cells(part) for part in joined[name]])
        if name in joined
        else file.cells(name)
        for name in phone
    }


def join_columns(columns: Sequence[Sequence[str]]) -> list[str]:
    """`join_parts` of each row; areas and exchanges repeat, and a list has a few hundred of each."""
    join = lru_cache(maxsize=None)(join_parts)
    return list(map(join, zip(*columns, strict=True)))


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdecimal())


def _is_whole(text: str, area: str) -> bool:
    """Whether the local part is a whole number by itself, with its area or its country."""
    digits = _digits(text)
    if text.startswith(("+", "(", "00")) or len(digits) >= _LEAST_WHOLE:
        return True
    if digits.startswith("0") and len(digits) >= _NATIONAL_DIGITS:
        return True
    # A trunk zero makes it plain that the area stands in it a second time.
    return area.startswith("0") and len(area) > 1 and digits.startswith(area)


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
    file: LeadFile, free: Collection[str], region: str | None, country: str | None
) -> list[tuple[tuple[str, ...], float]]:
    """Groups of columns that make one phone number together, with the share that is valid.

    Args:
        file: The file.
        free: Columns that no field but the phone has.
        region: Region of national numbers.
        country: Column that gives the region row by row, or None.
    """
    rows = file.sample(_SAMPLE_ROWS)
    sample = {name: rows.cells(name) for name in rows.names}
    regions: Regions = region
    if country is not None:
        regions = [read_region(cell) or region for cell in sample[country]]
    columns = file.names
    groups: list[tuple[tuple[str, ...], float]] = []
    used: set[str] = set()
    # Named areas first: what they take is no piece of a run of short columns.
    for area in (name for name in columns if name in free and _is_area(sample, name)):
        tried = [
            (share, group)
            for group in _groups(sample, columns, area, set(free) - used)
            if (share := _valid_share(sample, group, regions)) >= _VALID
        ]
        if area not in used and tried:
            # Of groups that fit alike the shorter: a column more has to earn its place.
            share, group = max(tried, key=lambda each: (each[0], -len(each[1])))
            groups.append((group, share))
            used.update(group)
    for group in _runs(sample, columns, set(free) - used):
        share = _valid_share(sample, group, regions)
        if (
            share >= _SURELY_VALID
            and not used.intersection(group)
            and max(_share_of_numbers(sample[name], regions) for name in group) < _ALONE
        ):
            groups.append((group, share))
            used.update(group)
    return groups


def _is_area(sample: Mapping[str, Sequence[str]], column: str) -> bool:
    """Whether a column has the areas of numbers, by its header and its cells."""
    words = plain(column)
    tokens = set(words.split())
    named = words in word_set("area_names") or bool(tokens & word_set("area_words"))
    if not named and not ({"area"} <= tokens and tokens & ({"code"} | PHONE_WORDS)):
        return False
    return _share_of_digits(sample[column], 1, _AREA_DIGITS) >= _MOSTLY


def _groups(
    sample: Mapping[str, Sequence[str]], columns: Sequence[str], area: str, free: set[str]
) -> Iterator[tuple[str, ...]]:
    """The area with the local columns to its right, or else to its left, one or two of them."""
    index = columns.index(area)
    behind = [name for name in columns[index + 1 : index + 1 + _NEAR] if name in free]
    before = [name for name in columns[max(0, index - _NEAR) : index] if name in free]
    # People write the area to the left of its number.
    for near in (behind, before[::-1]):
        local = [name for name in near if _is_local(sample, name, 2, _WHOLE_DIGITS)]
        for at, name in enumerate(local):
            yield (area, name)
            if at + 1 < len(local):
                yield (area, name, local[at + 1])


def _is_local(sample: Mapping[str, Sequence[str]], column: str, least: int, most: int) -> bool:
    """Whether a column has pieces of numbers with so many digits, by its header and its cells."""
    if plain(column) not in word_set("local_names") and not header_score(column, "phone"):
        return False
    return _share_of_digits(sample[column], least, most) >= _MOSTLY


def _runs(
    sample: Mapping[str, Sequence[str]], columns: Sequence[str], free: set[str]
) -> Iterator[tuple[str, ...]]:
    """Neighboring phone columns of a few digits each: `Phone 1`, `Phone 2`, `Phone 3`."""
    short = [name in free and _is_local(sample, name, 1, _PIECE_DIGITS) for name in columns]
    for length in (3, 2):
        for start in range(len(columns) - length + 1):
            if all(short[start : start + length]):
                yield tuple(columns[start : start + length])


def _share_of_digits(column: Sequence[str], least: int, most: int) -> float:
    """Share of the filled cells that are no words and have so many digits."""
    # A spreadsheet writes `212.0` where some cells of the column are blank.
    cells = [cell.strip().removesuffix(".0") for cell in column]
    filled = [cell for cell in cells if cell]
    fitting = sum(
        least <= sum(char.isdecimal() for char in cell) <= most
        and not any(char.isalpha() for char in cell)
        for cell in filled
    )
    return fitting / len(filled) if filled else 0.0


def _share_of_numbers(texts: Sequence[str], regions: Regions) -> float:
    """Share that is a valid number."""
    homes = [regions] * len(texts) if isinstance(regions, str | None) else list(regions)
    return sum(are_valid(texts, homes)) / len(texts) if texts else 0.0


def _valid_share(
    sample: Mapping[str, Sequence[str]], group: Sequence[str], regions: Regions
) -> float:
    """Share that is valid of the numbers that joining changes; whole numbers stay as they are."""
    rows = list(zip(*(sample[name] for name in group), strict=True))
    joined = [join_parts(row) for row in rows]
    changed = [at for at, text in enumerate(joined) if text and text != str(rows[at][-1]).strip()]
    if not changed:
        return 0.0
    # What begins with `?` lacks digits, and phonenumbers would read it without them.
    texts = ["" if joined[at].startswith("?") else joined[at] for at in changed]
    return _share_of_numbers(texts, regions_of(regions, np.array(changed)))
