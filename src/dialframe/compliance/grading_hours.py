"""The pass of calling hours and holidays: every call as one byte by the clock of its places; puts nothing into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance import (
    hours,
    sums,
    tables,
)
from dialframe.compliance.cases import Case, spared
from dialframe.compliance.clock import Ints
from dialframe.compliance.facts import (
    HolidayRule,
    HoursRule,
)
from dialframe.compliance.graded import (
    Bytes,
    Graded,
    Tables,
    Words,
)
from dialframe.compliance.grades import CREATED_AT, DIRECTION
from dialframe.compliance.intake import UNKNOWN
from dialframe.compliance.judging import (
    NOT_ASKED,
    OPEN,
    PASSED,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.ledger import NOBODY
from dialframe.compliance.rulebook import Rule

_PIECE: Final = 1_000_000


def of_hours(ground: Tables) -> tuple[Graded, pd.DataFrame]:
    """Calling hours and holidays, and the counts of each rule."""
    asked = hours.asked_rules(ground.asks.book)
    known = (ground.at_us != UNKNOWN) & ground.directed
    cases = ground.cases
    first, last = hours.utc_span(ground.at_us)
    layout = tables.lay_out(
        cases.kinds, asked, first=first, last=last, declared=ground.asks.declared
    )
    words = Words()
    unruled = np.array([_unruled(case, asked, words) for case in cases.kinds], dtype=np.uint8)
    counts = np.zeros((max(len(asked), 1), 5), dtype=np.int64)
    told = np.array([NOT_ASKED, PASSED, NOT_ASKED, UNCERTAIN, VIOLATION], dtype=np.uint8)
    codes = np.empty(len(ground.at_us), dtype=np.uint8)
    for start in range(0, len(codes), _PIECE):
        piece = slice(start, start + _PIECE)
        able = known[piece]
        kinds = np.where(able, cases.codes[piece], -1).astype(np.int32)
        level, *_ = sums.grade(ground.at_us[piece], kinds, *layout.arguments, counts, False)  # noqa: FBT003
        codes[piece] = told[level]
        rows = start + np.flatnonzero(level == sums.NO_RULE)
        codes[rows] = unruled[cases.codes[rows]]
        rows = start + np.flatnonzero(level == sums.OPEN)
        if len(rows):
            codes[rows] = _doubted(ground, rows, layout, words)
    for lacking, name in (
        ((ground.phones == NOBODY) & known & (codes >= OPEN), "to_number"),
        (ground.at_us == UNKNOWN, CREATED_AT),
        (~ground.directed, DIRECTION),
    ):
        codes[lacking] = words.of(name)
    rules: list[Rule] = list(hours.shown_rules(ground.asks.book))
    return Graded("calling_hours", "call", rules, codes, words.told()), hours.counted(
        asked, counts
    )


def _unruled(case: Case, asked: Sequence[HoursRule | HolidayRule], words: Words) -> int:
    """The answer to a call that no rule on hours was in force for."""
    if spared(case, asked):
        return PASSED
    return words.of(hours.RULE if case.zones.names else case.zones.missing)


def _doubted(ground: Tables, rows: Ints, layout: tables.Layout, words: Words) -> Bytes:
    """What is missing of calls outside the hours of a rule of which nobody knows whether it reaches them."""
    spare = np.zeros((max(len(layout.rules), 1), 5), dtype=np.int64)
    codes = ground.cases.codes[rows]
    _, worst, *_ = sums.grade(ground.at_us[rows], codes, *layout.arguments, spare, True)  # noqa: FBT003
    bits_of, bits = pd.factorize(worst)
    which, pairs = pd.factorize(codes.astype(np.int64) * len(bits) + bits_of)
    said = []
    for code, place in (divmod(pair, len(bits)) for pair in pairs.tolist()):
        first = next(
            e for bit, e in enumerate(layout.reached[code]) if int(bits[place]) >> bit & 1
        )
        said.append(words.of(first.missing))
    found: Bytes = np.array(said, dtype=np.uint8)[which]
    return found
