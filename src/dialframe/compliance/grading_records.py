"""The pass of what is on record about a number: age of checks, calls to listed numbers, requests; one byte each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance import (
    hours,
    sums,
    wording,
)
from dialframe.compliance.cases import Case, reached, spared
from dialframe.compliance.checking import NO_NUMBER_CHECK
from dialframe.compliance.clock import Flags, Ints
from dialframe.compliance.dnc import scrub, timely
from dialframe.compliance.dnc.honouring import spans_of
from dialframe.compliance.dnc.listed import free_days
from dialframe.compliance.facts import (
    FreshnessRule,
    HonourRule,
)
from dialframe.compliance.graded import (
    GRADES,
    Graded,
    Tables,
    Words,
    bounds_of,
    first_of,
    weights_of,
)
from dialframe.compliance.grades import CREATED_AT, DIRECTION, NOT_EVALUABLE
from dialframe.compliance.ground import Ground
from dialframe.compliance.intake import UNKNOWN, instants
from dialframe.compliance.judging import (
    NEVER,
    NO_LAW,
    OPEN,
    PASSED,
    UNCERTAIN,
    judge,
    limits,
    newest,
)
from dialframe.compliance.ledger import look_up
from dialframe.compliance.listing import NO_RECORD, asked_rules
from dialframe.phones.zones import NO_NUMBER

_PIECE: Final = 1_000_000
_DAY_US: Final = 86_400_000_000
_BASIC: Final = (NO_NUMBER, CREATED_AT, DIRECTION)


def of_records(ground: Tables) -> tuple[Graded, Graded, int]:
    """Age of the newest record, and what the records around a call say."""
    book, day, cases = ground.asks.book, ground.asks.day, ground.cases
    rules = timely.asked_rules(book)
    of_case = [
        [each.rule for each in reached(case, rules) if isinstance(each.rule, FreshnessRule)]
        for case in cases.kinds
    ]
    ends, bounds = bounds_of(of_case, _age)
    spells = ground.spells
    limit, by_quarter = limits(spells.cases, spells.days.low, spells.days.high, ends, bounds)
    lifted = np.array([bool(spared(case, rules)) for case in cases.kinds], dtype=bool)
    free = np.array(free_days(cases.kinds, book.listed(day)), dtype=np.int64) * _DAY_US
    persons, began, asked, marked = ground.persons
    ledger = ground.records
    timed = ground.at_us != UNKNOWN
    places = look_up(persons, ground.phones)
    late = _late(ground, places, asked, timed)
    scrubbed, listed = (np.empty(len(ground.at_us), dtype=np.uint8) for _ in range(2))
    silent = judge(
        ground.phones, ground.at_us, timed, ground.directed, spells.codes, limit, by_quarter,
        lifted[spells.cases], free[spells.cases], ledger.table, ledger.told, places, began, asked,
        marked, late, scrubbed, listed,
    )  # fmt: skip
    words = (timely.NO_CHECK, timely.NO_LAW, *_BASIC)
    _, counts = first_of(ground, rules, weights_of(spells))
    used = [rule for rule, count in zip(rules, counts, strict=True) if count > 0]
    every = asked_rules(book, _ends_of(ground))
    return (
        Graded("scrub_at_call", "call", used or book.freshness(day), scrubbed, words),
        Graded("listed_number", "call", every, listed, (NO_RECORD, *_BASIC)),
        int(silent),
    )


def callable_numbers(ground: Ground) -> Graded:
    """Callable numbers by the age of their newest record."""
    open_ = scrub.callable_leads(ground.people)
    phones = ground.people.loc[open_, "phone"].drop_duplicates()
    keys = ground.lead_phones[phones.index.to_numpy()]
    limit = ground.limit_of(phones)
    limit = np.where(limit > 0, limit, ground.max_age_days)
    ledger = ground.records
    at = newest(keys, ledger.table, ledger.told)
    now = instants(pd.Series([ground.asks.at]))[0]
    fresh = (at != NEVER) & (now - np.where(at == NEVER, 0, at) <= limit * _DAY_US)
    codes = np.select([fresh, at != NEVER], [PASSED, UNCERTAIN], OPEN).astype(np.uint8)
    rules = ground.asks.book.freshness(ground.asks.day)
    return Graded("scrub_coverage", "number", rules, codes, (NO_NUMBER_CHECK,))


def unusual(ground: Ground, scrubbed: Graded) -> Flags:
    """Calls whose listed number is not judged by the records alone: lifted, lawless, or under a law that changed."""
    book, kinds = ground.asks.book, ground.cases.kinds
    days = _ends_of(ground)
    turns = {*days, ground.asks.day}
    turns |= {d for r in book.rules for d in (r.effective_from, r.effective_to) if d is not None}
    free = {tuple(free_days(kinds, book.listed(day))) for day in turns}
    differs = [len({each[place] for each in free}) > 1 for place in range(len(kinds))]
    odd = np.array(
        [bool(case.setting.lifted) or changed for case, changed in zip(kinds, differs, strict=True)],
        dtype=bool,
    )  # fmt: skip
    found: Flags = scrubbed.codes == NO_LAW
    if len(odd):
        found |= odd[ground.cases.codes]
    return found


def in_words(ground: Ground, graded: Graded, rows: Ints) -> Graded:
    """The same check with some of its calls graded through their words, some at a time."""
    if not len(rows):
        return graded
    words = Words(graded.missing)
    codes = graded.codes.copy()
    for start in range(0, len(rows), _PIECE // 4):
        piece = rows[start : start + _PIECE // 4]
        check = wording.tell(ground, ground.part(piece)).checks[graded.name]
        codes[piece] = check.grades.map(GRADES).to_numpy(dtype=np.uint8)
        lacking = (check.grades == NOT_EVALUABLE).to_numpy(dtype=bool)
        which, names = pd.factorize(check.missing[lacking])
        table = np.array([words.of(str(each)) for each in names], dtype=np.uint8)
        codes[piece[lacking]] = table[which]
    return replace(graded, codes=codes, missing=words.told())


def _ends_of(ground: Tables) -> list[date]:
    """First and last day of the calls, and that of the audit where a call has none."""
    first, last, known = sums.ends(ground.at_us, UNKNOWN)
    ends = [first, last] if known else []
    days = [(hours.EPOCH + timedelta(microseconds=int(end))).date() for end in ends]
    return [*days, ground.asks.day] if known < len(ground.at_us) else days


def _age(rule: FreshnessRule) -> tuple[int, int]:
    """How old a record may be by a rule, and whether it has to be of the call's own quarter."""
    p = rule.parameters
    return p.max_age_days * _DAY_US, int(p.basis == "quarter_of_call")


def _late(ground: Tables, place: Ints, asked: Ints, timed: Flags) -> Flags:
    """Whether each call comes after a request, and breaks a rule on requests of its place."""
    late = np.zeros(len(ground.at_us), dtype=bool)
    rows = np.flatnonzero((place >= 0) & timed)
    rows = rows[ground.at_us[rows] > asked[place[rows]]]
    if not len(rows):
        return late
    rules = ground.asks.book.of_kind(HonourRule)
    of_case = [[each.rule for each in reached(case, rules)] for case in ground.cases.kinds]
    codes = ground.cases.codes[rows].astype(np.int64)
    which, pairs = pd.factorize(codes * (len(asked) + 1) + place[rows])
    bounds = []
    for code, place_of in (divmod(pair, len(asked) + 1) for pair in pairs.tolist()):
        case, moment = ground.cases.kinds[code], int(asked[place_of])
        bounds.append(_broken(case, of_case[code], moment, ground.asks.grace))
    widest = max(len(each) for each in bounds)
    table = np.array([each + [(NEVER, NEVER)] * (widest - len(each)) for each in bounds])
    at = ground.at_us[rows]
    for turn in range(widest):
        late[rows] |= (at > table[which, turn, 0]) & (at <= table[which, turn, 1])
    return late


def _broken(
    case: Case, rules: Sequence[HonourRule], asked_us: int, grace: timedelta
) -> list[tuple[int, int]]:
    """Spans of microseconds in which a call after a request breaks a rule."""
    asked = hours.EPOCH + timedelta(microseconds=asked_us)
    found = [
        (_us(span.starts_at), NEVER if span.ends_at is None else _us(span.ends_at))
        for span in spans_of(case, rules, asked)
    ]
    return found or [(_us(asked + grace), NEVER)]


def _us(at: datetime) -> int:
    return (at - hours.EPOCH) // timedelta(microseconds=1)
