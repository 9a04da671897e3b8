"""Phone numbers split over columns, put together row by row; reads no number and guesses no digit.

`Area Code` 212 and `Phone` 555-0142 are one number. What is missing is not made up: a local part
whose area is blank stays a number with missing digits, also where it would be valid by itself in
some other town, and a local part that is a whole number already is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from dialframe.leads.cells import is_nothing, tidy

#: Between the columns of a joined phone column, in its name.
JOINED: Final = " + "
#: What stands before a number whose first digits are missing; `read_phone` refuses it.
_MISSING: Final = "? "
_FLOAT: Final = re.compile(r"(\d+)\.0+")
_WHOLE_DIGITS: Final = 10
_NATIONAL_DIGITS: Final = 9


def joined_name(columns: Sequence[str]) -> str:
    """Name of the phone column that the columns make together: `Area Code + Phone`."""
    return JOINED.join(columns)


def join_parts(cells: Sequence[str]) -> str:
    """The number that stands in the cells from left to right, as text for `read_phone`.

    Empty where no cell behind the first holds anything; begins with `?` where the first digits
    are missing.
    """
    texts = [_part(cell) for cell in cells]
    first, rest = texts[0], [text for text in texts[1:] if text]
    last = " ".join(rest)
    if not last or not _digits(last):
        return last
    area = _digits(first)
    if _is_whole(last, area):
        return last
    if not area or len(rest) < len(texts) - 1:
        return _MISSING + last
    return f"{first} {last}"


def phone_columns(
    frame: pd.DataFrame, phone: Sequence[str], joined: Mapping[str, Sequence[str]]
) -> dict[str, pd.Series]:
    """The text of each phone column, in order; joined ones are put together.

    Args:
        frame: The file's columns.
        phone: Phone columns, as `ColumnMap.phone`.
        joined: Columns of those that are joined, as `ColumnMap.joined`.
    """
    return {
        name: join_columns(frame, joined[name]) if name in joined else frame[name]
        for name in phone
    }


def join_columns(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """`join_parts` of each row."""
    cells = zip(*(frame[name].tolist() for name in columns), strict=True)
    known: dict[tuple[str, ...], str] = {}
    texts = []
    for row in cells:
        text = known.get(row)
        if text is None:
            text = known[row] = join_parts(row)
        texts.append(text)
    return pd.Series(texts, index=frame.index, dtype="str")


def _part(cell: str) -> str:
    text = tidy(cell).strip("'\"=")
    if is_nothing(text):
        return ""
    whole = _FLOAT.fullmatch(text)
    return whole[1] if whole else text


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdecimal())


def _is_whole(text: str, area: str) -> bool:
    """Whether the local part is a whole number by itself, with its area or its country."""
    digits = _digits(text)
    if text.startswith(("+", "(", "00")) or len(digits) >= _WHOLE_DIGITS:
        return True
    if digits.startswith("0") and len(digits) >= _NATIONAL_DIGITS:
        return True
    # A trunk zero makes it plain that the area stands in it a second time.
    return area.startswith("0") and len(area) > 1 and digits.startswith(area)
