"""Every check of every call as one byte, in compiled passes over integers; puts nothing into words.

The same grades as `wording` gives row for row: a byte says passed, uncertain, violation, or not
evaluable with the input that is missing; 0 stands for a call that the check does not ask.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance import (
    attempts,
    consent,
    further,
    hours,
    recordkeeping,
    sums,
    tables,
    wording,
)
from dialframe.compliance.calendars import ordinal
from dialframe.compliance.cases import Case, Cases, reached, spared
from dialframe.compliance.checking import NO_NUMBER_CHECK, counted_row, unlisted
from dialframe.compliance.clock import Flags, Ints
from dialframe.compliance.consent import NO_CONSENTS
from dialframe.compliance.dnc import scrub, timely
from dialframe.compliance.dnc.honouring import spans_of
from dialframe.compliance.dnc.listed import free_days
from dialframe.compliance.exempt import candidates
from dialframe.compliance.facts import (
    CapRule,
    FreshnessRule,
    HolidayRule,
    HonourRule,
    HoursRule,
)
from dialframe.compliance.following import Earlier
from dialframe.compliance.grades import CREATED_AT, DIRECTION, NOT_EVALUABLE
from dialframe.compliance.grades import PASSED as PASS
from dialframe.compliance.grades import UNCERTAIN as MAYBE
from dialframe.compliance.grades import VIOLATION as BAD
from dialframe.compliance.ground import Ground, Question
from dialframe.compliance.intake import UNKNOWN, instants
from dialframe.compliance.judging import (
    NEVER,
    NO_LAW,
    NOT_ASKED,
    OPEN,
    PASSED,
    UNCERTAIN,
    VIOLATION,
    first_reached,
    judge,
    limits,
    newest,
    spread,
    tally,
    weigh,
)
from dialframe.compliance.ledger import NOBODY, Ledger, look_up, positions
from dialframe.compliance.listing import NO_RECORD, asked_rules
from dialframe.compliance.rulebook import Rule
from dialframe.compliance.spans import Days, Spells
from dialframe.phones.zones import NO_NUMBER

Bytes = npt.NDArray[np.uint8]

_PIECE: Final = 1_000_000
_DAY_US: Final = 86_400_000_000
_ALL: Final = 2**40
_CODES: Final = 256
_GRADES: Final = {NOT_EVALUABLE: OPEN, PASS: PASSED, MAYBE: UNCERTAIN, BAD: VIOLATION}

_R = TypeVar("_R", bound=Rule)
_BASIC: Final = (NO_NUMBER, CREATED_AT, DIRECTION)


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


def grade(ground: Ground) -> Grades:
    """Grade every call."""
    ground.spells, ground.records, ground.persons  # noqa: B018 - both passes read the keys
    with ThreadPoolExecutor(1) as beside:  # compiled passes and numpy leave the interpreter free
        by_clock = beside.submit(of_hours, ground)
        scrubbed, listed, silent = of_records(ground)
        listed = _in_words(ground, listed, np.flatnonzero(_unusual(ground, scrubbed)))
        capped, by_cap = of_attempts(ground)
        timed, by_hours = by_clock.result()
    agreed, by_consent = _agreed(ground)
    made = (timed, scrubbed, listed, capped, _declared(ground), agreed, _kept(ground))
    return Grades(
        {check.name: check for check in made}, (by_hours, by_cap, by_consent), silent,
        _candidates(ground, timed),
    )  # fmt: skip


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


def of_hours(ground: Tables) -> tuple[Graded, pd.DataFrame]:
    """Calling hours and holidays, and the counts of each rule."""
    asked = hours.asked_rules(ground.asks.book)
    known = (ground.at_us != UNKNOWN) & ground.directed
    cases = ground.cases
    first, last = hours.utc_span(ground.at_us)
    layout = tables.lay_out(
        cases.kinds, asked, first=first, last=last, declared=ground.asks.declared
    )
    words = _Words()
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


def _unruled(case: Case, asked: Sequence[HoursRule | HolidayRule], words: _Words) -> int:
    """The answer to a call that no rule on hours was in force for."""
    if spared(case, asked):
        return PASSED
    return words.of(hours.RULE if case.zones.names else case.zones.missing)


def _doubted(ground: Tables, rows: Ints, layout: tables.Layout, words: _Words) -> Bytes:
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


def of_records(ground: Tables) -> tuple[Graded, Graded, int]:
    """Age of the newest record, and what the records around a call say."""
    book, day, cases = ground.asks.book, ground.asks.day, ground.cases
    rules = timely.asked_rules(book)
    of_case = [
        [each.rule for each in reached(case, rules) if isinstance(each.rule, FreshnessRule)]
        for case in cases.kinds
    ]
    ends, bounds = _bounds(of_case, _age)
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
    _, counts = _first(ground, rules, _weights(spells))
    used = [rule for rule, count in zip(rules, counts, strict=True) if count > 0]
    every = asked_rules(book, _ends(ground))
    return (
        Graded("scrub_at_call", "call", used or book.freshness(day), scrubbed, words),
        Graded("listed_number", "call", every, listed, (NO_RECORD, *_BASIC)),
        int(silent),
    )


def _ends(ground: Tables) -> list[date]:
    """First and last day of the calls, and that of the audit where a call has none."""
    first, last, known = sums.ends(ground.at_us, UNKNOWN)
    ends = [first, last] if known else []
    days = [(hours.EPOCH + timedelta(microseconds=int(end))).date() for end in ends]
    return [*days, ground.asks.day] if known < len(ground.at_us) else days


def _unusual(ground: Ground, scrubbed: Graded) -> Flags:
    """Calls whose listed number is not judged by the records alone: lifted, lawless, or under a law that changed."""
    book, kinds = ground.asks.book, ground.cases.kinds
    days = _ends(ground)
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


def _in_words(ground: Ground, graded: Graded, rows: Ints) -> Graded:
    """The same check with some of its calls graded through their words, some at a time."""
    if not len(rows):
        return graded
    words = _Words(graded.missing)
    codes = graded.codes.copy()
    for start in range(0, len(rows), _PIECE // 4):
        piece = rows[start : start + _PIECE // 4]
        check = wording.tell(ground, ground.part(piece)).checks[graded.name]
        codes[piece] = check.grades.map(_GRADES).to_numpy(dtype=np.uint8)
        lacking = (check.grades == NOT_EVALUABLE).to_numpy(dtype=bool)
        which, names = pd.factorize(check.missing[lacking])
        table = np.array([words.of(str(each)) for each in names], dtype=np.uint8)
        codes[piece[lacking]] = table[which]
    return replace(graded, codes=codes, missing=words.told())


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
    words = _Words()
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
    graded, _ = _open("emergency", ground, rules, usable, [further.NO_DECLARED] * len(rules))
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
    return _placed("emergency", rules, worst, rows, len(ground.at_us))


def of_consent(ground: Tables, usable: Flags | None = None) -> tuple[Graded, pd.DataFrame]:
    """Calls that a rule on consent reaches, where the tables that the rules ask for are not given."""
    rules = consent.asked_rules(ground.asks.book)
    able = (ground.at_us != UNKNOWN) & ground.directed & (ground.cases.phones >= 0)
    absent = [consent.absent(rule, ground.asks.given) or NO_CONSENTS for rule in rules]
    usable = able if usable is None else able & usable
    graded, counts = _open("consent", ground, rules, usable, absent)
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
    codes, words, named = silent.codes.copy(), _Words(silent.missing), {r.id for r in silent.rules}
    counts = [by_rule]
    for start in range(0, len(rows), _PIECE // 4):
        part = ground.part(rows[start : start + _PIECE // 4])
        table = ground.records_of(np.unique(ground.phones[part.rows]))
        clean = unlisted(wording.in_time(ground, part, table))
        graded, by_part = consent.grade(
            part.outbound, part.cases, part.days, ground.asks.book, ground.asks.given, clean
        )
        worst = further.worst_of(graded)
        one = _placed("consent", rules, worst, part.rows, len(codes))
        table_of = np.arange(_CODES, dtype=np.uint8)
        table_of[OPEN : OPEN + len(one.missing)] = [words.of(name) for name in one.missing]
        codes[part.rows] = table_of[one.codes[part.rows]]
        named |= {rule.id for rule in one.rules}
        counts.append(by_part)
    summed = pd.concat(counts).groupby("rule_id", sort=False, as_index=False).sum()
    return Graded("consent", "call", _once(rules, named), codes, words.told()), summed


def _once(rules: Sequence[Rule], named: Collection[str]) -> list[Rule]:
    """The named rules, each once."""
    return list({rule.id: rule for rule in rules if rule.id in named}.values())


def _kept(ground: Ground) -> Graded:
    """Calls whose record a rule asks for."""
    rules = recordkeeping.asked_rules(ground.asks.book)
    first, _ = _first(ground, rules, _weights(ground.spells))
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


class _Words:
    """Missing inputs of one check as bytes, in order of use."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self._known = {name: place for place, name in enumerate(known)}

    def of(self, name: str) -> int:
        """The byte of an input."""
        return OPEN + self._known.setdefault(name, len(self._known))

    def told(self) -> tuple[str, ...]:
        """The inputs, in the order of their bytes."""
        return tuple(self._known)


def _bounds(
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


def _weights(spells: Spells, usable: Flags | None = None) -> Ints:
    """Calls of each spell, those that are usable."""
    if usable is None:
        return np.bincount(spells.codes, minlength=len(spells.cases)).astype(np.int64)
    weights = np.zeros(len(spells.cases), dtype=np.int64)
    weigh(spells.codes, usable, weights)
    return weights


def _first(ground: Tables, rules: Sequence[Rule], weights: Ints) -> tuple[Ints, Ints]:
    """For each spell the first of some rules that reaches it, and how many calls each reaches, -1 for none of any day."""
    order = {id(rule): place for place, rule in enumerate(rules)}
    of_case = [[each.rule for each in reached(case, rules)] for case in ground.cases.kinds]
    ends, bounds = _bounds(of_case, lambda rule: (order[id(rule)],))
    counts = np.zeros(len(rules), dtype=np.int64)
    cases, days = ground.spells.cases, ground.spells.days
    first: Ints = first_reached(cases, days.low, days.high, weights, ends, bounds, counts)
    anywhere = {id(rule) for each in of_case for rule in each}
    counts[[id(rule) not in anywhere for rule in rules]] = -1
    return first, counts


def _open(
    name: str, ground: Tables, rules: Sequence[Rule], usable: Flags, missing: Sequence[str]
) -> tuple[Graded, Ints]:
    """A check without its whole input, and how many calls each rule reaches.

    Each usable call lacks what its first rule asks for.
    """
    words, spells = _Words(), ground.spells
    table = np.array([words.of(each) for each in missing] + [NOT_ASKED], dtype=np.uint8)
    first, counts = _first(ground, rules, _weights(spells, usable))
    used = np.bincount(first[first >= 0], minlength=len(rules)) > 0
    behind = _once(rules, {rule.id for rule, one in zip(rules, used, strict=True) if one})
    codes = spread(spells.codes, usable, table[first])
    return Graded(name, "call", behind, codes, words.told()), counts


def _placed(
    name: str, rules: Sequence[Rule], worst: pd.DataFrame, rows: Ints, size: int
) -> Graded:
    """A check from one row per call that it asks."""
    words = _Words()
    codes = np.zeros(size, dtype=np.uint8)
    at = rows[worst.index.to_numpy(dtype=np.int64)]
    codes[at] = worst["grade"].map(_GRADES).to_numpy(dtype=np.uint8)
    lacking = (worst["grade"] == NOT_EVALUABLE).to_numpy(dtype=bool)
    which, names = pd.factorize(worst["missing"][lacking])
    codes[at[lacking]] = np.array([words.of(str(each)) for each in names], dtype=np.uint8)[which]
    named = set(worst["rule_id"].dropna().unique())
    return Graded(name, "call", _once(rules, named), codes, words.told())
