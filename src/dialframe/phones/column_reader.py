"""Reads a column of texts as phone numbers, each with the answer that phonenumbers would give.

NumPy reads the usual shapes (`vectorized`). Of odd texts phonenumbers' own front half finds the digits, which the same
tables then judge; what these leave open phonenumbers reads itself. Each odd text is read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from phonenumbers import SUPPORTED_REGIONS, ValidationResult

from dialframe import arrow_text
from dialframe.phones import number_outcomes as outcomes
from dialframe.phones.number_outcomes import NOWHERE, REASONS, WORLD
from dialframe.phones.parse_number import (
    TYPES,
    Reading,
    digits_of,
    is_placeholder,
    judged,
    read_number,
)
from dialframe.phones.vectorized import Usual, plan, read_usual

#: Verdicts on lengths that are in use: everywhere, and next door.
_POSSIBLE: Final = (ValidationResult.IS_POSSIBLE, ValidationResult.IS_POSSIBLE_LOCAL_ONLY)
#: The last digits of every placeholder: all the same, or counting up or down.
_TAIL: Final = 5
_ENDS: Final = arrow_text.column(
    "".join(str((digit + step * at) % 10) for at in range(_TAIL))
    for digit in range(10)
    for step in (-1, 0, 1)
)
_OUTCOMES: Final = {reason: outcome for outcome, reason in REASONS.items()}
#: A plus behind the digits: phonenumbers reads no number there.
_QUANTITY: Final = r"^\s*\+?[0-9]([.,][0-9]+)?[eE]\+[0-9]{1,3}\s*$"
#: Every region, and what calling codes without one are of.
REGIONS: Final = (*sorted(SUPPORTED_REGIONS), WORLD)
_KINDS: Final = {name: kind for kind, name in TYPES.items()} | {None: outcomes.NO_TYPE}


@dataclass(frozen=True, slots=True)
class Column:
    """What a column of texts says; one entry for each text.

    Attributes:
        e164: The numbers, null where they are not valid (large strings).
        extension: The extensions, null where there is none (large strings).
        outcome: Of `outcomes`.
        kind: `PhoneNumberType`, or `NO_TYPE` of what is no number.
        region: Index into `regions`, or `NOWHERE`.
        possible: Whether the length is in use.
        regions: Codes of the regions.
    """

    e164: pa.Array
    extension: pa.Array
    outcome: NDArray[np.uint8]
    kind: NDArray[np.uint8]
    region: NDArray[np.int16]
    possible: NDArray[np.bool_]
    regions: tuple[str, ...]


def read_column(
    texts: pa.Array, regions: list[str | None] | str | None, *, spell: bool = True
) -> Column:
    """Read a column of texts; slices, nulls and both sizes of strings are as good as any.

    Args:
        texts: Strings or large strings.
        regions: The known region at home, one for all or one for each text.
        spell: Whether `e164` and `extension` are wanted; they may be null without, and a placeholder invalid.
    """
    texts = texts.cast(pa.large_string())
    column = _by_tables(texts, regions, spell=spell)
    left, pairs = _remaining_rows(column, texts, regions)
    if not pairs:
        return column
    # A text that is there a thousand times is read once.
    distinct = list(dict.fromkeys(pairs))
    readings = dict(zip(distinct, _read_odd(distinct), strict=True))
    return _merge_readings(column, left, [readings[pair] for pair in pairs])


def _read_odd(pairs: Sequence[tuple[str | None, str | None]]) -> list[Reading]:
    """Texts in unusual shapes with the regions at home, each as `read_number` reads it."""
    readings: list[Reading | None] = [None] * len(pairs)
    rows, plain, homes, extensions = [], [], [], []
    for row, (text, region) in enumerate(pairs):
        digits = None if text is None else digits_of(text, region)
        if isinstance(digits, int):
            readings[row] = Reading(
                valid=False, possible=False, reason=REASONS[judged(text or "", region, digits)]
            )
        elif digits is not None:
            rows.append(row)
            plain.append(digits[0])
            homes.append(region)
            extensions.append(digits[1])
    usual, tables = read_usual(arrow_text.column(plain), homes), plan()
    kinds, regions = tables.kind[usual.state], _regions_of(usual)
    possible = np.isin(usual.verdict, _POSSIBLE)
    answers = zip(
        usual.rows.tolist(), usual.valid.tolist(), usual.e164.to_pylist(), kinds.tolist(),
        regions.tolist(), possible.tolist(), usual.verdict.tolist(), strict=True,
    )  # fmt: skip
    for at, valid, e164, kind, region_at, is_possible, verdict in answers:
        text, home = pairs[rows[at]]
        outcome = outcomes.VALID if valid else judged(text or "", home, outcomes.INVALID + verdict)
        readings[rows[at]] = Reading(
            e164=e164 if valid else None,
            valid=valid,
            possible=is_possible,
            region=REGIONS[region_at] if region_at >= 0 else None,
            type=TYPES.get(kind, "unknown") if valid else "unknown",
            extension=extensions[at] or None,
            reason=REASONS[outcome],
        )
    return [
        read_number(*pair) if reading is None else reading
        for pair, reading in zip(pairs, readings, strict=True)
    ]


def _regions_of(usual: Usual) -> NDArray[np.int16]:
    """Places of the regions of usual numbers; a code that one region has alone says it without a valid number."""
    tables = plan()
    regions: NDArray[np.int16] = np.where(
        usual.state != 0, tables.region[usual.state], tables.lone_region[usual.code]
    )
    return regions


def _remaining_rows(
    column: Column, texts: pa.Array, regions: list[str | None] | str | None
) -> tuple[NDArray[np.intp], list[tuple[str | None, str | None]]]:
    """The rows that are handed over, with their texts and the regions at home."""
    left = np.flatnonzero(column.outcome == outcomes.HANDED_OVER)
    cells = texts.take(arrow_text.numbers(left)).to_pylist()
    if not isinstance(regions, list):
        return left, [(cell, regions) for cell in cells]
    return left, [(cell, regions[row]) for cell, row in zip(cells, left.tolist(), strict=True)]


def _by_tables(
    texts: pa.Array, regions: list[str | None] | str | None, *, spell: bool = True
) -> Column:
    """The column with the rows of usual shapes, the others handed over."""
    count = len(texts)
    column = Column(
        e164=pa.nulls(count, pa.large_string()),
        extension=pa.nulls(count, pa.large_string()),
        outcome=np.full(count, outcomes.HANDED_OVER, np.uint8),
        kind=np.full(count, outcomes.NO_TYPE, np.uint8),
        region=np.full(count, NOWHERE, np.int16),
        possible=np.zeros(count, np.bool_),
        regions=REGIONS,
    )
    usual = read_usual(texts, regions, spell=spell)
    rows, tables = usual.rows, plan()
    column.outcome[rows] = np.where(
        usual.valid, outcomes.VALID, outcomes.INVALID + usual.verdict.astype(np.int16)
    )
    column.kind[rows] = tables.kind[usual.state]
    column.region[rows] = _regions_of(usual)
    # As `is_possible_number` has it: a local number can be dialed from next door.
    column.possible[rows] = np.isin(usual.verdict, _POSSIBLE)
    if not spell:
        return column
    _find_placeholders(column, texts, usual)
    _find_lost_digits(column, texts)
    places = np.zeros(count, np.int64)
    places[rows] = np.arange(len(rows))
    left = np.ones(count, np.bool_)
    left[rows] = False
    return replace(
        column,
        e164=usual.e164.take(arrow_text.numbers(places, missing=column.outcome != outcomes.VALID)),
        extension=usual.extension.take(arrow_text.numbers(places, missing=left)),
    )


def _find_placeholders(column: Column, texts: pa.Array, usual: Usual) -> None:
    wrong = np.flatnonzero(~usual.valid)
    spoken = usual.e164.take(arrow_text.numbers(wrong))
    is_suspect = pc.is_in(pc.utf8_slice_codeunits(spoken, -_TAIL, 100), value_set=_ENDS)
    # Of short ones a repeated digit may stand before others.
    is_short = arrow_text.values_of(pc.binary_length(spoken)) < 2 * _TAIL
    rows = usual.rows[wrong[arrow_text.values_of(is_suspect) | is_short]]
    cells = texts.take(arrow_text.numbers(rows)).to_pylist()
    dummies = [is_placeholder(text, loose=True) for text in cells]
    column.outcome[rows[np.array(dummies, np.bool_)]] = outcomes.PLACEHOLDER


def _find_lost_digits(column: Column, texts: pa.Array) -> None:
    """Quantities such as `2.12555E+9`, which no parse takes for a number."""
    rows = np.flatnonzero(column.outcome == outcomes.HANDED_OVER)
    matched = pc.match_substring_regex(texts.take(arrow_text.numbers(rows)), _QUANTITY)
    column.outcome[rows[arrow_text.values_of(matched)]] = outcomes.PRECISION_LOST


def to_texts(codes: NDArray[Any], words: Sequence[str]) -> pa.Array:
    """The word of each code as large strings, null for codes below zero."""
    missing = codes < 0
    places = np.maximum(codes, 0).astype(np.int16)
    return arrow_text.column(words).take(arrow_text.numbers(places, missing))


def _merge_readings(column: Column, rows: NDArray[np.intp], readings: list[Reading]) -> Column:
    """The column with the readings in their rows."""
    places = {name: index for index, name in enumerate(column.regions)}
    e164, _, possible, region, kind, extension, reason = zip(*readings, strict=True)
    column.outcome[rows] = [_OUTCOMES[each] for each in reason]
    column.kind[rows] = [_KINDS[each] for each in kind]
    column.region[rows] = [places[each] if each else NOWHERE for each in region]
    column.possible[rows] = [bool(each) for each in possible]
    return replace(
        column,
        e164=arrow_text.put(column.e164, rows, e164),
        extension=arrow_text.put(column.extension, rows, extension),
    )
