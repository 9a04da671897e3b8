"""Every column of a file as the fields that it may be, weighed by header and cells; measured on a sample."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from dialframe import arrow_text, opt_outs
from dialframe.leads.cells import is_nothing, tidy
from dialframe.leads.columns.column_map import FIELDS, SINGLE
from dialframe.leads.columns.country_names import read_region
from dialframe.leads.columns.header_match import (
    header_score,
    phone_rank,
)
from dialframe.leads.lead_file import LeadFile
from dialframe.opt_outs import plain
from dialframe.phones import check_region
from dialframe.phones.parse_number import phone_parts
from dialframe.phones.vectorized import are_valid

SAMPLE_ROWS: Final = 1000
_PARSED_VALUES: Final = 200
_SEEN_SHARE: Final = 0.5

_PHONE_LIKE: Final = re.compile(
    r"\s*['=\"]*[+(]*[\d(][\d\s().+/\-.]{5,24}(?:\s*(?:x|ext\.?)\s*\d+)?[\"]?\s*"
)
_EMAIL_LIKE: Final = re.compile(r"\s*[^\s@]+@[^\s@]+\.[^\s@]+\s*")
#: A longer cell may hold several numbers.
_ONE_PHONE_CHARS: Final = 20
_NAME_LIKE: Final = re.compile(r"[^\W\d_][^\d_@/\\:]{0,120}")
_NOT_DIGITS: Final = re.compile(r"\D")
_FIGURE: Final = re.compile(r"\d")
_COUNTED_VALUES: Final = 4
_LARGEST_STEP: Final = 1000
_LONGEST_ID: Final = 18
#: Digits in groups as people write phones: `(212) 555 0142`, `020 7946 0018`, `212-555-0142`.
_IN_GROUPS: Final = re.compile(r"\)\s*\d|^\+|\d[ .-]\d+[ .-]\d")
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
        counting: Whether the values grow in small steps, as ids do and phones do not.
    """

    filled: float
    phone: float
    email: float
    name: float
    spaced: float
    distinct: float
    counting: bool = False


def cells_of(column: pa.ChunkedArray) -> list[str]:
    """The cells of up to 1,000 rows spread over a column."""
    step = max(1, len(column) // SAMPLE_ROWS)
    rows = range(0, len(column), step)[:SAMPLE_ROWS]
    texts: list[str] = (column if step == 1 else column.take(arrow_text.numbers(rows))).to_pylist()
    return texts[:SAMPLE_ROWS]


def examine(column: Sequence[str], region: str | None) -> Evidence:
    """Evidence of one column of text, from the cells that `cells_of` gives."""
    rows, cells = len(column), _sample(column)
    if not cells:
        return Evidence(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    # Most columns of a wide list repeat a few values, of which each is looked at once.
    counts, total = Counter(cells), len(cells)

    def share(holds: Callable[[str], object]) -> float:
        return sum(count for cell, count in counts.items() if holds(cell)) / total

    return Evidence(
        filled=total / rows,
        phone=_phone_share(cells, counts, region),
        email=share(_EMAIL_LIKE.fullmatch),
        name=share(_NAME_LIKE.fullmatch),
        spaced=share(lambda cell: " " in cell),
        distinct=len(counts) / total,
        counting=_is_counting(cells),
    )


def answer_share(column: Sequence[str], read: Callable[[str], str]) -> float:
    """Share of the filled cells that are read as yes or no, on the same sample."""
    counts = Counter(_sample(column))
    kinds = {cell: read(cell) for cell in counts}
    filled = sum(count for cell, count in counts.items() if kinds[cell] != "blank")
    known = sum(count for cell, count in counts.items() if kinds[cell] in ("yes", "no"))
    return known / filled if filled else 1.0


def _sample(column: Sequence[str]) -> list[str]:
    """The filled cells."""
    return [text for text in map(str.strip, column) if text]


def _phone_share(cells: list[str], distinct: Collection[str], region: str | None) -> float:
    # A cell of several numbers is one of phones, too.
    firsts = {
        cell: cell if len(cell) <= _ONE_PHONE_CHARS else phone_parts(cell)[0] for cell in distinct
    }
    is_like = {cell for cell, first in firsts.items() if _PHONE_LIKE.fullmatch(first)}
    like = [firsts[cell] for cell in cells if cell in is_like]
    if len(like) < _SEEN_SHARE * len(cells):
        return 0.0
    step = max(1, len(like) // _PARSED_VALUES)
    parsed = like[::step]
    share = sum(are_valid(parsed, [check_region(region)] * len(parsed))) / len(parsed)
    if region is None:
        # Of which country they are is not known yet; as many digits as phones have is a hint.
        alike = sum(
            _LEAST_DIGITS <= len(_NOT_DIGITS.sub("", cell)) <= _MOST_DIGITS for cell in parsed
        )
        share = max(share, _HINT * alike / len(parsed))
    return share * len(like) / len(cells)


def _is_counting(cells: list[str]) -> bool:
    if len(cells) < _COUNTED_VALUES or not all(map(_FIGURE.search, cells)):
        return False
    if any(_IN_GROUPS.search(cell) for cell in cells):
        return False  # no id is written so
    digits = [_NOT_DIGITS.sub("", cell) for cell in cells]
    # What is longer than any id is no id, and Python refuses to read thousands of digits.
    if max(map(len, digits)) > _LONGEST_ID:
        return False
    numbers = list(map(int, digits))
    growing = all(before < after for before, after in pairwise(numbers))
    return growing and numbers[-1] - numbers[0] < _LARGEST_STEP * len(numbers)


#: How much the header counts, and how much the cells.
HEADER_WEIGHT: Final = 0.6
CONTENT_WEIGHT: Final = 0.4
#: Score from which a column is taken.
REQUIRED: Final = 0.6
_UNKNOWN: Final = 0.5
_MOSTLY: Final = 0.5
_SOME: Final = 0.25
_SURELY: Final = 0.8
_WHOLE_HEADER: Final = 0.9
#: Content without which not even the right header is believed.
_LEAST_CONTENT: Final = {
    "first_name": 0.3,
    "last_name": 0.3,
    "full_name": 0.3,
    "email": 0.1,
    "external_id": 0.5,
    "country": 0.6,
}
#: Names that are the whole name alone and the given name beside a surname.
_GIVEN_BESIDE_LAST: Final = frozenset({"nombre", "nome"})


@dataclass(frozen=True, slots=True)
class Claim:
    """One column as one field."""

    score: float
    field: str
    column: str
    place: int


def claim_columns(
    lead_file: LeadFile, evidence: Mapping[str, Evidence], answered: Collection[str]
) -> list[Claim]:
    """Every column as every field that its header allows, the best first."""
    claims = []
    for index, (column, seen) in enumerate(evidence.items()):
        cells = cells_of(lead_file.table[column])
        for name in (field for field in FIELDS if field not in answered):
            header = header_score(column, name)
            if name in ("opt_out", "consent"):
                header = _flag_score(cells, column, header, seen)
            if not header:
                continue
            content = _content(cells, name, seen)
            if _is_believed(lead_file.table[column], column, cells, name, header, seen, content):
                score = HEADER_WEIGHT * header + CONTENT_WEIGHT * content
                claims.append(Claim(round(score, 4), name, column, index))
    return sorted(
        (claim for claim in claims if claim.score >= REQUIRED - 1e-9),
        key=lambda claim: (-claim.score, claim.place),
    )


#: Share of answers from which a column of the kind is one; a plain prohibition is one whatever stands in it, since
#: an unknown word there forbids the call.
_ANSWERS: Final = {
    "permits": _SOME,
    "call": _SURELY,
    "channels": _SOME,
    "deceased": _MOSTLY,
    "wrong_number": _MOSTLY,
    "right_number": _MOSTLY,
}


def _flag_score(cells: Sequence[str], column: str, header: float, seen: Evidence) -> float:
    """The score of a flag; of a name that may be of something else none, unless it holds answers."""
    flag = opt_outs.flag_of(column)
    if flag is None or not header or seen.phone >= _MOSTLY:
        return 0.0
    least = _ANSWERS.get(flag.kind)
    if least is None or (not seen.filled and flag.kind != "call"):
        return header
    read = partial(opt_outs.read_flag, flag)
    if flag.kind == "call" and {"yes", "no"}.isdisjoint(map(read, set(_sample(cells)))):
        return 0.0  # a column of phones that is empty
    return header if answer_share(cells, read) >= least else 0.0


def _is_believed(
    whole: pa.ChunkedArray,
    column: str,
    cells: Sequence[str],
    name: str,
    header: float,
    seen: Evidence,
    content: float,
) -> bool:
    if not seen.filled:
        return name != "country"
    if content < _LEAST_CONTENT.get(name, 0.0):
        if name != "country" or header < _WHOLE_HEADER:
            return False
        # A column `Country` with other words says of its records that nobody knows of which they
        # are (`EMEA`, `Home`); `Land` with the states of Germany or with acres is none.
        if content > 0 or plain(column) == "land":
            return content > 0
        words = [cell for cell in _sample(cells) if not is_nothing(tidy(cell))]
        return bool(words) and not any(_FIGURE.search(cell) for cell in words)
    if name != "external_id" or header >= _WHOLE_HEADER:
        return True
    # The header is no proof (`provider id`), so every value must be another one.
    values = pc.utf8_trim_whitespace(whole)
    values = values.filter(pc.not_equal(values, arrow_text.text("")))
    return len(values.unique()) == len(values)


def _content(cells: Sequence[str], name: str, seen: Evidence) -> float:
    if name == "country":
        sample = _sample(cells)
        return sum(read_region(cell) is not None for cell in sample) / max(1, len(sample))
    if not seen.filled:
        return _UNKNOWN
    return {
        "phone": seen.phone,
        "email": seen.email,
        "first_name": seen.name,
        "last_name": seen.name,
        "full_name": seen.name,
        "external_id": seen.distinct * (1.0 - seen.spaced),
        "opt_out": 1.0,  # an unknown word in it forbids the call, so the header decides
        "consent": 1.0,
    }.get(name, _UNKNOWN)


def assign(claims: list[Claim]) -> dict[str, list[Claim]]:
    """The best claims that do not contradict each other; each column gives one field."""
    chosen: dict[str, list[Claim]] = {}
    used: set[str] = set()
    for claim in claims:
        if claim.column in used or (claim.field in SINGLE and claim.field in chosen):
            continue
        chosen.setdefault(claim.field, []).append(claim)
        used.add(claim.column)
    phones = chosen.get("phone", [])
    phones.sort(key=lambda claim: (phone_rank(claim.column), claim.place))
    return chosen


def untangle(
    chosen: dict[str, list[Claim]],
    evidence: Mapping[str, Evidence],
    answered: Collection[str],
) -> dict[str, list[Claim]]:
    """Settle names that mean one thing alone and another beside a second name column."""
    full, first, last = (chosen.get(name) for name in ("full_name", "first_name", "last_name"))
    if {"full_name", "first_name", "last_name"} & set(answered):
        return chosen
    if full and last and not first and plain(full[0].column) in _GIVEN_BESIDE_LAST:
        return {**_without(chosen, "full_name"), "first_name": full}
    surname = (
        full and plain(full[0].column) == "name" and evidence[full[0].column].spaced < _MOSTLY
    )
    if full and first and not last and surname:
        return {**_without(chosen, "full_name"), "last_name": full}
    # `Jméno` and `Имя` are the given name beside a surname, and the whole name alone.
    alone = first or last
    if alone and not (full or (first and last)) and evidence[alone[0].column].spaced >= _MOSTLY:
        kept = _without(_without(chosen, "first_name"), "last_name")
        return {**kept, "full_name": alone}
    return chosen


def _without(chosen: dict[str, list[Claim]], name: str) -> dict[str, list[Claim]]:
    return {field: claims for field, claims in chosen.items() if field != name}
