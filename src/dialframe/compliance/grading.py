"""Every check of every call as one byte, in compiled passes over integers; puts nothing into words.

The same grades as `wording` gives row for row: a byte says passed, uncertain, violation, or not
evaluable with the input that is missing; 0 stands for a call that the check does not ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance import attempts, consent, further, recordkeeping, wording
from dialframe.compliance.cases import Cases, reached
from dialframe.compliance.checking import unlisted
from dialframe.compliance.clock import Flags, Ints
from dialframe.compliance.consent import NO_CONSENTS
from dialframe.compliance.exempt import candidates
from dialframe.compliance.facts import CapRule
from dialframe.compliance.graded import (
    Graded,
    Tables,
    Words,
    first_of,
    once,
    opened,
    placed,
    weights_of,
)
from dialframe.compliance.grades import CREATED_AT, DIRECTION
from dialframe.compliance.grading_hours import of_hours
from dialframe.compliance.grading_records import in_words, of_records, unusual
from dialframe.compliance.ground import Ground
from dialframe.compliance.intake import UNKNOWN
from dialframe.compliance.judging import (
    NOT_ASKED,
    OPEN,
    PASSED,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.ledger import NOBODY, look_up, positions
from dialframe.compliance.rulebook import Rule
from dialframe.phones.zones import NO_NUMBER

_PIECE: Final = 1_000_000
_CODES: Final = 256


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grades:
    """All checks of calls, the counts of each rule, and what the notes tell.

    Attributes:
        checks: Name to check.
        by_rule: Counts of the rules of each check that has some.
        silent: Calls whose newest record is an import screen.
        candidates: Calls outside the hours near a callback that was due.
    """

    checks: Mapping[str, Graded]
    by_rule: Sequence[pd.DataFrame]
    silent: int
    candidates: int


def grade(ground: Ground) -> Grades:
    """Grade every call."""
    ground.spells, ground.records, ground.persons  # noqa: B018 - both passes read the keys
    with ThreadPoolExecutor(1) as beside:  # compiled passes and numpy leave the interpreter free
        by_clock, by_window = beside.submit(of_hours, ground), beside.submit(of_attempts, ground)
        scrubbed, listed, silent = of_records(ground)
        listed = in_words(ground, listed, np.flatnonzero(unusual(ground, scrubbed)))
        (timed, by_hours), (capped, by_cap) = by_clock.result(), by_window.result()
    agreed, by_consent = _agreed(ground)
    made = (timed, scrubbed, listed, capped, _declared(ground), agreed, _kept(ground))
    return Grades(
        {check.name: check for check in made}, (by_hours, by_cap, by_consent), silent,
        _candidates(ground, timed),
    )  # fmt: skip


def of_attempts(ground: Tables) -> tuple[Graded, pd.DataFrame]:
    """Caps: graded are the calls of cases that a cap reaches, all of their numbers' attempts."""
    book, cases = ground.asks.book, ground.history_cases
    rules = book.of_kind(CapRule)
    rows = _reached_rows(cases, rules, ground.reached)
    following = [rule for rule in rules if attempts.follows(rule)]
    after = _reached_rows(cases, following, ground.reached)
    if len(after):  # all calls of their numbers, on which what is followed may have happened
        same = positions(pd.unique(cases.phones[after]))
        rows = np.union1d(rows, np.flatnonzero(look_up(same, cases.phones) >= 0))
    board, by_rule = attempts.measure(
        ground.attempts(rows), cases.some(rows), book,
        ground.history_days.take(rows), ground.reached[rows], lambda: ground.before(rows),
    )  # fmt: skip
    words = Words()
    levels = np.array([NOT_ASKED, PASSED, OPEN, UNCERTAIN, VIOLATION], dtype=np.uint8)
    own = np.where(board.asked, levels[board.level], NOT_ASKED).astype(np.uint8)
    lacking = np.flatnonzero(own == OPEN)
    which, names = pd.factorize(board.missing[lacking], sort=True)
    own[lacking] = np.array([words.of(str(name)) for name in names], dtype=np.uint8)[which]
    codes = np.zeros(len(cases.codes), dtype=np.uint8)
    codes[rows] = own
    basic = ((cases.phones < 0, NO_NUMBER), (ground.earlier_us == UNKNOWN, CREATED_AT),
             (~ground.history_directed, DIRECTION))  # fmt: skip
    for missing, name in basic:
        codes[missing] = words.of(name)
    own_rules = board.rules
    if len(ground.at_us) != len(codes):
        inside = np.zeros(len(codes), dtype=bool)
        inside[ground.graded_places] = True
        codes, own_rules = codes[ground.graded_places], board.rules[inside[rows]]
    sets = np.flatnonzero(np.bincount(own_rules, minlength=len(board.sets)))
    named = {rule.id for place in sets for rule in board.sets[place]}
    behind: list[Rule] = [rule for rule in book.of_kind(CapRule) if rule.id in named]
    return Graded("attempt_caps", "call", behind, codes, words.told()), by_rule


def _reached_rows(cases: Cases, rules: Sequence[Rule], usable: Flags) -> Ints:
    """Usable calls of cases that some rule reaches."""
    able = np.array([bool(reached(case, rules)) for case in cases.kinds], dtype=bool)
    if not able.any():
        return np.zeros(0, dtype=np.int64)
    found: Ints = np.flatnonzero(able[cases.codes] & usable)
    return found


def of_emergency(ground: Tables) -> Graded:
    """Calls in the places of rules on emergencies, where nobody says whether there was one."""
    rules = further.bans(ground.asks.book)
    usable = (ground.at_us != UNKNOWN) & ground.directed
    graded, _ = opened("emergency", ground, rules, usable, [further.NO_DECLARED] * len(rules))
    return graded


def _declared(ground: Ground) -> Graded:
    """Calls in those places, held against the days that were declared."""
    book, declared = ground.asks.book, ground.asks.declared
    rules = further.bans(book)
    if not any(declared.has(rule.id) for rule in rules):
        return of_emergency(ground)
    able = np.array([bool(reached(c, rules)) for c in ground.cases.kinds] or [False])
    usable = (ground.at_us != UNKNOWN) & ground.directed
    rows = np.flatnonzero(able[ground.cases.codes] & usable)
    part = ground.part(rows)
    worst = further.emergencies(part.outbound, part.cases, part.days, book, declared)
    return placed("emergency", rules, worst, rows, len(ground.at_us))


def of_consent(ground: Tables, usable: Flags | None = None) -> tuple[Graded, pd.DataFrame]:
    """Calls that a rule on consent reaches, where the tables that the rules ask for are not given."""
    rules = consent.asked_rules(ground.asks.book)
    able = (ground.at_us != UNKNOWN) & ground.directed & (ground.cases.phones >= 0)
    absent = [consent.absent(rule, ground.asks.given) or NO_CONSENTS for rule in rules]
    usable = able if usable is None else able & usable
    graded, counts = opened("consent", ground, rules, usable, absent)
    by_rule = pd.DataFrame(
        [(r.id, 0, 0, 0, int(n)) for r, n in zip(rules, counts, strict=True) if n >= 0],
        columns=["rule_id", "pass", "violation", "uncertain", "not_evaluable"],
    )
    by_rule = by_rule.groupby("rule_id", sort=False, as_index=False).sum()
    return graded, by_rule


def _agreed(ground: Ground) -> tuple[Graded, pd.DataFrame]:
    """Calls by their worst answer of the rules on consent.

    Calls of cases that some rule can be held against are graded through their words.
    """
    rules = consent.asked_rules(ground.asks.book)
    given = [rule for rule in rules if consent.absent(rule, ground.asks.given) is None]
    told = np.array([bool(reached(case, given)) for case in ground.cases.kinds] or [False])
    spoken = told[ground.cases.codes] if given else np.zeros(len(ground.at_us), dtype=bool)
    silent, by_rule = of_consent(ground, ~spoken)
    rows = np.flatnonzero(spoken)
    if not len(rows):
        return silent, by_rule
    codes, words, named = silent.codes.copy(), Words(silent.missing), {r.id for r in silent.rules}
    counts = [by_rule]
    for start in range(0, len(rows), _PIECE // 4):
        part = ground.part(rows[start : start + _PIECE // 4])
        table = ground.records_of(np.unique(ground.phones[part.rows]))
        clean = unlisted(wording.in_time(ground, part, table))
        graded, by_part = consent.grade(
            part.outbound, part.cases, part.days, ground.asks.book, ground.asks.given, clean
        )
        worst = further.worst_of(graded)
        one = placed("consent", rules, worst, part.rows, len(codes))
        table_of = np.arange(_CODES, dtype=np.uint8)
        table_of[OPEN : OPEN + len(one.missing)] = [words.of(name) for name in one.missing]
        codes[part.rows] = table_of[one.codes[part.rows]]
        named |= {rule.id for rule in one.rules}
        counts.append(by_part)
    summed = pd.concat(counts).groupby("rule_id", sort=False, as_index=False).sum()
    return Graded("consent", "call", once(rules, named), codes, words.told()), summed


def _kept(ground: Ground) -> Graded:
    """Calls whose record a rule asks for."""
    rules = recordkeeping.asked_rules(ground.asks.book)
    first, _ = first_of(ground, rules, weights_of(ground.spells))
    gaps = np.zeros(len(ground.taken.rows), dtype=bool)
    for _, empty in recordkeeping.gaps(ground.taken.rows):
        gaps |= empty
    asked = (first >= 0)[ground.spells.codes]
    codes = np.where(asked, np.where(gaps[ground.taken.graded], UNCERTAIN, PASSED), NOT_ASKED)
    behind = rules[:1] if asked.any() else []
    return Graded("records", "call", behind, codes.astype(np.uint8), ())


def _candidates(ground: Ground, timed: Graded) -> int:
    """Calls outside the hours, in some zone at least, near a callback that was due."""
    if ground.callbacks.empty or ground.people.empty:
        return 0
    leads = ground.people["id"].isin(ground.callbacks["lead_id"]).to_numpy(dtype=bool)
    due = look_up(positions(np.unique(ground.lead_phones[leads])), ground.phones) >= 0
    outside = (timed.codes == UNCERTAIN) | (timed.codes == VIOLATION)
    rows = np.flatnonzero(due & outside & (ground.phones != NOBODY))
    calls = ground.taken.chosen(ground.taken.graded[rows])
    return int(candidates(calls, ground.callbacks, ground.people).notna().sum())
