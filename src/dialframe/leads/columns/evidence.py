"""What the cells of a column look like, measured on a sample."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import pandas as pd

from dialframe import opt_outs
from dialframe.leads.columns.country_names import read_region
from dialframe.phones import normalize

SAMPLE_ROWS: Final = 1000
_PARSED_VALUES: Final = 200
_SEEN_SHARE: Final = 0.5

_PHONE_LIKE: Final = re.compile(
    r"\s*['=\"]*[+(]*[\d(][\d\s().+/\-.]{5,24}(?:\s*(?:x|ext\.?)\s*\d+)?[\"]?\s*"
)
_EMAIL_LIKE: Final = re.compile(r"\s*[^\s@]+@[^\s@]+\.[^\s@]+\s*")
_NAME_LIKE: Final = re.compile(r"[^\W\d_][^\d_@/\\:]{0,120}")
_NOT_DIGITS: Final = re.compile(r"\D")
_COUNTED_VALUES: Final = 4
_LARGEST_STEP: Final = 1000
_LONGEST_ID: Final = 18
_LEAST_DIGITS: Final = 8
_MOST_DIGITS: Final = 15
#: Less than what makes a phone of a column without a telling header.
_HINT: Final = 0.7


@dataclass(frozen=True, slots=True)
class Evidence:
    """Shares, 0 to 1, of the filled cells of one column.

    Attributes:
        filled: Share of the rows that are filled at all.
        phone: Valid phone numbers.
        email: E-mail addresses.
        name: Words without figures.
        spaced: Cells of several words.
        distinct: Distinct values.
        answer: Yes, no and the like.
        counting: Whether the values grow in small steps, as ids do and phones do not.
    """

    filled: float
    phone: float
    email: float
    name: float
    spaced: float
    distinct: float
    answer: float
    counting: bool = False


def examine(column: pd.Series, region: str | None) -> Evidence:
    """Evidence of one column of text, from up to 1,000 rows spread over it."""
    step = max(1, len(column) // SAMPLE_ROWS)
    texts = [str(cell).strip() for cell in column.iloc[::step].head(SAMPLE_ROWS)]
    cells = [text for text in texts if text]
    if not cells:
        return Evidence(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    count = len(cells)
    return Evidence(
        filled=count / len(texts),
        phone=_phone_share(cells, region),
        email=sum(_EMAIL_LIKE.fullmatch(cell) is not None for cell in cells) / count,
        name=sum(_NAME_LIKE.fullmatch(cell) is not None for cell in cells) / count,
        spaced=sum(" " in cell for cell in cells) / count,
        distinct=len(set(cells)) / count,
        answer=sum(own for cell, own in Counter(cells).items() if opt_outs.is_answer(cell))
        / count,
        counting=_is_counting(cells),
    )


def country_share(column: pd.Series) -> float:
    """Share of the filled cells that name a country or its dialing code, on the same sample."""
    cells = _sample(column)
    return sum(read_region(cell) is not None for cell in cells) / len(cells) if cells else 0.0


def answer_share(column: pd.Series, read: Callable[[str], str]) -> float:
    """Share of the filled cells that are read as yes or no, on the same sample."""
    counts = Counter(_sample(column))
    kinds = {cell: read(cell) for cell in counts}
    filled = sum(count for cell, count in counts.items() if kinds[cell] != "blank")
    known = sum(count for cell, count in counts.items() if kinds[cell] in ("yes", "no"))
    return known / filled if filled else 1.0


def _sample(column: pd.Series) -> list[str]:
    step = max(1, len(column) // SAMPLE_ROWS)
    texts = [str(cell).strip() for cell in column.iloc[::step].head(SAMPLE_ROWS)]
    return [text for text in texts if text]


def _phone_share(cells: list[str], region: str | None) -> float:
    like = [cell for cell in cells if _PHONE_LIKE.fullmatch(cell)]
    if len(like) < _SEEN_SHARE * len(cells):
        return 0.0
    step = max(1, len(like) // _PARSED_VALUES)
    parsed = like[::step]
    valid = normalize(parsed, region=region)["valid"].fillna(value=False)
    share = float(valid.mean())
    if region is None:
        # Of which country they are is not known yet; as many digits as phones have is a hint.
        alike = sum(
            _LEAST_DIGITS <= len(_NOT_DIGITS.sub("", cell)) <= _MOST_DIGITS for cell in parsed
        )
        share = max(share, _HINT * alike / len(parsed))
    return share * len(like) / len(cells)


def _is_counting(cells: list[str]) -> bool:
    digits = [_NOT_DIGITS.sub("", cell) for cell in cells]
    # What is longer than any id is no id, and Python refuses to read thousands of digits.
    numbers = [int(each) for each in digits if each and len(each) <= _LONGEST_ID]
    if len(numbers) < _COUNTED_VALUES or len(numbers) < len(cells):
        return False
    growing = all(before < after for before, after in pairwise(numbers))
    return growing and numbers[-1] - numbers[0] < _LARGEST_STEP * len(numbers)
