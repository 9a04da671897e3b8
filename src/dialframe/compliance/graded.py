"""Checks of calls as one byte for each, and what all passes over them share; asks no rule by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance import further
from dialframe.compliance.calendars import ordinal
from dialframe.compliance.cases import Cases, reached
from dialframe.compliance.checking import counted_row
from dialframe.compliance.clock import Flags, Ints
from dialframe.compliance.following import Earlier
from dialframe.compliance.grades import NOT_EVALUABLE
from dialframe.compliance.grades import PASSED as PASS
from dialframe.compliance.grades import UNCERTAIN as MAYBE
from dialframe.compliance.grades import VIOLATION as BAD
from dialframe.compliance.ground import Question
from dialframe.compliance.judging import (
    NEVER,
    NOT_ASKED,
    OPEN,
    PASSED,
    UNCERTAIN,
    VIOLATION,
    first_reached,
    spread,
    tally,
    weigh,
)
from dialframe.compliance.ledger import Ledger
from dialframe.compliance.rulebook import Rule
from dialframe.compliance.spans import Days, Spells

Bytes = npt.NDArray[np.uint8]
_ALL: Final = 2**40
_CODES: Final = 256
GRADES: Final = {NOT_EVALUABLE: OPEN, PASS: PASSED, MAYBE: UNCERTAIN, BAD: VIOLATION}
_R = TypeVar("_R", bound=Rule)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graded:
    """One check of every call, or of every number.

    Attributes:
        name: Key of `checking.TITLES`.
        unit: What was checked, in the singular.
        rules: Rules that it rests on.
        codes: The answers, one byte each.
        missing: What is missing behind each answer from `OPEN` on.
    """

    name: str
    unit: str
    rules: Sequence[Rule]
    codes: Bytes
    missing: tuple[str, ...]

    def row(self) -> dict[str, object]:
        """The counts, by the columns of `result.CHECKS`."""
        counts, first = np.zeros(_CODES, dtype=np.int64), np.full(_CODES, NEVER, dtype=np.int64)
        tally(self.codes, counts, first)
        told = {PASS: int(counts[PASSED]), MAYBE: int(counts[UNCERTAIN])}
        told |= {BAD: int(counts[VIOLATION]), NOT_EVALUABLE: int(counts[OPEN:].sum())}
        inputs = range(OPEN, OPEN + len(self.missing))
        found = sorted((i for i in inputs if counts[i]), key=lambda i: (-counts[i], first[i]))
        missing = pd.Series(
            [int(counts[i]) for i in found],
            index=pd.Index([self.missing[i - OPEN] for i in found], dtype="str"), dtype="int64",
        )  # fmt: skip
        return counted_row(self.name, self.unit, self.rules, told, missing)

    def flagged(self) -> Flags:
        """Which calls are findings: those that did not pass, and lack no whole input."""
        shown = np.zeros(_CODES, dtype=bool)
        shown[[UNCERTAIN, VIOLATION]] = True
        for place, name in enumerate(self.missing):
            shown[OPEN + place] = self.name not in _WHOLE_CHECKS or name not in further.WHOLE
        found: Flags = shown[self.codes]
        return found


#: Checks whose calls are counted and not listed where a whole input was not given.
_WHOLE_CHECKS: Final = ("attempt_caps", "emergency", "consent", "records")


class Tables(Protocol):
    """What is read of the tables; `Ground` is one, and so are integers without any frame."""

    @property
    def asks(self) -> Question:
        """What is asked."""

    @property
    def at_us(self) -> Ints:
        """Starts of the graded calls."""

    @property
    def phones(self) -> Ints:
        """Keys of their numbers."""

    @property
    def directed(self) -> Flags:
        """Whether their direction is known."""

    @property
    def cases(self) -> Cases:
        """Their cases."""

    @property
    def days(self) -> Days:
        """Their local days."""

    @property
    def spells(self) -> Spells:
        """Their cases and what was in force on those days."""

    @property
    def earlier_us(self) -> Ints:
        """Starts of the calls that count in windows."""

    @property
    def history_directed(self) -> Flags:
        """Whether their direction is known."""

    @property
    def history_cases(self) -> Cases:
        """Their cases."""

    @property
    def history_days(self) -> Days:
        """Their local days."""

    @property
    def reached(self) -> Flags:
        """Whether they are attempts."""

    @property
    def graded_places(self) -> Ints:
        """Places of the graded calls among them."""

    @property
    def records(self) -> Ledger:
        """Checks and import screens."""

    @property
    def persons(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Numbers that asked not to be called or are marked, and when."""

    def attempts(self, rows: Ints) -> pd.DataFrame:
        """Some of the calls that count in windows, with `created_at` and `campaign_id`."""

    def before(self, rows: Ints) -> Earlier:
        """Calls before some of those that count in windows."""


class Words:
    """Missing inputs of one check as bytes, in order of use."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self._known = {name: place for place, name in enumerate(known)}

    def of(self, name: str) -> int:
        """The byte of an input."""
        return OPEN + self._known.setdefault(name, len(self._known))

    def told(self) -> tuple[str, ...]:
        """The inputs, in the order of their bytes."""
        return tuple(self._known)


def weights_of(spells: Spells, usable: Flags | None = None) -> Ints:
    """Calls of each spell, those that are usable."""
    if usable is None:
        return np.bincount(spells.codes, minlength=len(spells.cases)).astype(np.int64)
    weights = np.zeros(len(spells.cases), dtype=np.int64)
    weigh(spells.codes, usable, weights)
    return weights


def bounds_of(
    of_case: Sequence[Sequence[_R]], more: Callable[[_R], tuple[int, ...]]
) -> tuple[Ints, Ints]:
    """Rules of each case as rows of first day, last day and further facts, and where each case ends."""
    ends = np.cumsum([0, *(len(each) for each in of_case)]).astype(np.int64)
    rows = [
        (
            -_ALL if rule.effective_from is None else ordinal(rule.effective_from),
            _ALL if rule.effective_to is None else ordinal(rule.effective_to),
            *more(rule),
        )
        for each in of_case
        for rule in each
    ]
    return ends, np.array(rows, dtype=np.int64).reshape(len(rows), -1 if rows else 4)


def first_of(ground: Tables, rules: Sequence[Rule], weights: Ints) -> tuple[Ints, Ints]:
    """For each spell the first of some rules that reaches it, and how many calls each reaches, -1 for none of any day."""
    order = {id(rule): place for place, rule in enumerate(rules)}
    of_case = [[each.rule for each in reached(case, rules)] for case in ground.cases.kinds]
    ends, bounds = bounds_of(of_case, lambda rule: (order[id(rule)],))
    counts = np.zeros(len(rules), dtype=np.int64)
    cases, days = ground.spells.cases, ground.spells.days
    first: Ints = first_reached(cases, days.low, days.high, weights, ends, bounds, counts)
    anywhere = {id(rule) for each in of_case for rule in each}
    counts[[id(rule) not in anywhere for rule in rules]] = -1
    return first, counts


def opened(
    name: str, ground: Tables, rules: Sequence[Rule], usable: Flags, missing: Sequence[str]
) -> tuple[Graded, Ints]:
    """A check without its whole input, and how many calls each rule reaches.

    Each usable call lacks what its first rule asks for.
    """
    words, spells = Words(), ground.spells
    table = np.array([words.of(each) for each in missing] + [NOT_ASKED], dtype=np.uint8)
    first, counts = first_of(ground, rules, weights_of(spells, usable))
    used = np.bincount(first[first >= 0], minlength=len(rules)) > 0
    behind = once(rules, {rule.id for rule, one in zip(rules, used, strict=True) if one})
    codes = spread(spells.codes, usable, table[first])
    return Graded(name, "call", behind, codes, words.told()), counts


def placed(name: str, rules: Sequence[Rule], worst: pd.DataFrame, rows: Ints, size: int) -> Graded:
    """A check from one row per call that it asks."""
    words = Words()
    codes = np.zeros(size, dtype=np.uint8)
    at = rows[worst.index.to_numpy(dtype=np.int64)]
    codes[at] = worst["grade"].map(GRADES).to_numpy(dtype=np.uint8)
    lacking = (worst["grade"] == NOT_EVALUABLE).to_numpy(dtype=bool)
    which, names = pd.factorize(worst["missing"][lacking])
    codes[at[lacking]] = np.array([words.of(str(each)) for each in names], dtype=np.uint8)[which]
    named = set(worst["rule_id"].dropna().unique())
    return Graded(name, "call", once(rules, named), codes, words.told())


def once(rules: Sequence[Rule], named: Collection[str]) -> list[Rule]:
    """The named rules, each once."""
    return list({rule.id: rule for rule in rules if rule.id in named}.values())
