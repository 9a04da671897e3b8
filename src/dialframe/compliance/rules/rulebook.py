"""The rule book: telemarketing rules as facts with citation and source.

The facts live in `book/*.toml`. A rule says what a regulation says, where it is written, how
sure the reading is and from which day to which day it holds. It decides nothing: the grading is
elsewhere in this room. A firm's own changes and rules come from a file of their own (`overrides.py`).
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from importlib import resources
from typing import Final, TypeVar, cast

from pydantic import TypeAdapter

from dialframe.compliance.rules import toml_validation
from dialframe.compliance.rules.calendars import day_of, is_known, statutory_calendars
from dialframe.compliance.rules.rule_model import (
    DAYS,
    AbandonmentRule,
    Book,
    CapRule,
    ConsentRule,
    Day,
    FreshnessRule,
    HolidayRule,
    HonorRule,
    HoursRule,
    RetentionRule,
    Rule,
    Window,
    nowhere,
)
from dialframe.errors import ConfigError

__all__ = [
    "DAYS", "STALE_AFTER_DAYS", "AbandonmentRule", "CapRule", "ConsentRule", "Day",
    "FreshnessRule", "HolidayRule", "HonorRule", "HoursRule", "RetentionRule", "Rule",
    "RuleBook", "Window", "adopted", "load", "parse",
]  # fmt: skip

#: A rule book older than this is likely to have missed a change of the rules.
STALE_AFTER_DAYS: Final = 180

#: Files of the book, in the order in which they are read; the first says what the book is.
FILES: Final = (
    "meta", "us_federal", "us_states", "americas", "europe", "asia_pacific", "middle_east_africa",
)  # fmt: skip

_LEAST_GRADES: Final = 2
_BOOK: Final = TypeAdapter(Book)
_R = TypeVar("_R", bound=Rule)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who changed or added a rule for a firm, why and on which day."""

    by: str
    why: str
    on: date
    what: str


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Every rule of one version.

    Attributes:
        version: Version of the facts, a date with dots; `+own` behind it with a firm's file.
        generated_on: Day on which the facts were gathered.
        sha256: Hash of the text that was read, a firm's file included, for an evidence pack.
        scope: Which rules the book has; what is not named there is not audited.
        rules: The rules, in the order of the text.
        origins: Rule id and who changed or added it, for rules of a firm's file.
    """

    version: str
    generated_on: date
    sha256: str
    scope: str
    rules: tuple[Rule, ...]
    origins: tuple[tuple[str, Origin], ...] = ()

    @property
    def jurisdictions(self) -> tuple[str, ...]:
        """Jurisdictions that have a rule, in the order of the text."""
        return tuple(dict.fromkeys(rule.jurisdiction for rule in self.rules))

    def rule(self, rule_id: str) -> Rule:
        """The rule of an id.

        Args:
            rule_id: For instance `us-tsr-hours`.

        Raises:
            ConfigError: There is none.
        """
        for rule in self.rules:
            if rule.id == rule_id:
                return rule
        raise ConfigError(
            f"rule book: there is no rule {rule_id!r}; `dialframe rules list` shows them"
        )

    def select(self, names: Sequence[str] | None) -> RuleBook:
        """The same book with the rules of some jurisdictions alone.

        A rule on hours that is named by its id brings the holidays that it names. A voluntary code
        is advice as long as its place is asked; who names the rule by its id holds his calls to it,
        so that from then on it counts like a law (`adopted_code`).

        Args:
            names: `us` (federal), `us-fl`, `us-*` (all states), `gb`, `all`, in either case, or ids
                of rules; None keeps everything.

        Raises:
            ConfigError: A name is neither a jurisdiction of the book nor a rule.
        """
        if names is None:
            return self
        # A state's law comes on top of the federal one, so that places are asked one by one.
        wanted: set[str] = set()
        for name in names:
            wanted |= self._select_names(name.strip())
        # Who names a code by its id holds his calls to it.
        ids = {name.strip().lower() for name in names}
        named = [rule for rule in self.rules if rule.id in ids]
        # Louisiana's hours are closed on the holidays of the same order (La. PSC General Order R-29617 (V)(A)(2)).
        holidays = (r.parameters.holiday_rule for r in named if isinstance(r, HoursRule))
        by_id = {rule.id for rule in named} | {linked for linked in holidays if linked is not None}
        chosen = (rule for rule in self.rules if rule.id in wanted | by_id)
        return replace(self, rules=tuple(adopted(r) if r.id in by_id else r for r in chosen))

    def codes(self) -> RuleBook:
        """The voluntary codes of the book alone, as a firm that adopted them would hold itself to them."""
        adopted_rules = tuple(adopted(r) for r in self.rules if r.status == "voluntary_code")
        return replace(self, rules=adopted_rules)

    def _select_names(self, name: str) -> set[str]:
        upper = name.upper()
        if upper == "ALL":
            return {rule.id for rule in self.rules}
        if upper.endswith("-*"):
            ids = {r.id for r in self.rules if r.jurisdiction.startswith(upper[:-1])}
        else:
            ids = {r.id for r in self.rules if r.jurisdiction == upper or r.id == name.lower()}
        if not ids:
            known = [each.lower() for each in self.jurisdictions] + [
                rule.id for rule in self.rules
            ]
            near = difflib.get_close_matches(name.lower(), known, n=3)
            hint = f"did you mean {', '.join(near)}? " if near else ""
            raise ConfigError(
                f"rule book: {name!r} is neither a jurisdiction of the book nor a rule; {hint}"
                "`dialframe rules list` shows both"
            )
        return ids

    def of_kind(self, kind: type[_R]) -> tuple[_R, ...]:
        """Rules of one kind, of every time; voluntary codes are among them.

        Args:
            kind: Class of the rules.
        """
        return tuple(rule for rule in self.rules if isinstance(rule, kind))

    def in_force(self, day: date) -> tuple[Rule, ...]:
        """Rules that held on a day; voluntary codes, which bind nobody by themselves, are left out.

        Args:
            day: Day of the call.
        """
        return tuple(r for r in self.rules if r.status != "voluntary_code" and r.holds_on(day))

    def freshness(self, day: date) -> tuple[FreshnessRule, ...]:
        """Rules in force on a day about the age of a check.

        Args:
            day: Day of the call.
        """
        # 47 CFR 64.1200(c)(2) forbids the call to a listed number; how old a check may be is another sentence, (c)(2)(i)(D).
        rules = (r for r in self.in_force(day) if isinstance(r, FreshnessRule))
        return tuple(r for r in rules if r.parameters.check == "age")

    def age_days(self, today: date) -> int:
        """Days since the facts were gathered.

        Args:
            today: Day to count to.
        """
        return (today - self.generated_on).days

    def age_note(self, today: date) -> str | None:
        """A sentence of warning when the book is older than 180 days, else None.

        Args:
            today: Day to count to.
        """
        age = self.age_days(today)
        if age <= STALE_AFTER_DAYS:
            return None
        return (
            f"the rule book {self.version} is {age} days old, more than {STALE_AFTER_DAYS}: "
            "rules may have changed since"
        )


@cache
def load() -> RuleBook:
    """The rule book that comes with the package, read once.

    Raises:
        ConfigError: The packaged text does not fit its schema.
    """
    return parse(packaged_text())


def packaged_text() -> str:
    """Text of the rule book that comes with the package: the files of `book/` one after the other."""
    folder = resources.files("dialframe.compliance.rules") / "book"
    texts = [(folder / f"{name}.toml").read_text(encoding="utf-8") for name in FILES]
    return "\n".join(texts)


def parse(text: str, *, name: str = "rule book") -> RuleBook:
    """A rule book from TOML text of the packaged form.

    Args:
        text: The text.
        name: What errors call it, a file name for instance.

    Raises:
        ConfigError: The text is not TOML, misses a field, has an unknown one, names a rule twice
            or lets a rule overlap the one that it replaces; the line is named.
    """
    # The schema first: what it refuses cannot be compared.
    book = toml_validation.read_form(_BOOK, text, name)
    problem = contradiction(book.rule)
    if problem is not None:
        rule_id, fault = problem
        raise ConfigError(
            f"{name}, line {toml_validation.of_rule(text, rule_id)}: {fault}; correct the text"
        )
    return RuleBook(
        version=book.meta.version,
        generated_on=book.meta.generated,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        scope=book.meta.scope,
        rules=book.rule,
    )


def adopted(rule: _R) -> _R:
    """A rule as it stands for a firm that holds itself to it: a voluntary code then counts like a law."""
    if rule.status != "voluntary_code":
        return rule
    return cast("_R", rule.model_copy(update={"status": "adopted_code"}))


def contradiction(rules: Sequence[Rule]) -> tuple[str, str] | None:
    """A rule and why it cannot stand beside the others; None where all can."""
    seen: dict[str, Rule] = {}
    for rule in rules:
        if rule.id in seen:
            return rule.id, f"rule ids occur twice: {rule.id}"
        seen[rule.id] = rule
    # Rules are compared within their like, and not each with each.
    alike: dict[tuple[object, ...], list[Rule]] = {}
    for rule in rules:
        alike.setdefault(_reach(rule), []).append(rule)
    for rule in rules:
        if isinstance(rule, HoursRule):
            linked = rule.parameters.holiday_rule
            if linked is not None and not isinstance(seen.get(linked), HolidayRule):
                return rule.id, f"holiday_rule {linked!r} is no holiday rule of the file"
        fault = (
            nowhere(rule.jurisdiction)
            or _replacement_fault(rule, seen)
            or _same_twice(rule, alike[_reach(rule)])
            or _missing_calendar(rule)
            or _reaches_nothing(rule)
        )
        if fault is not None:
            return rule.id, fault
    return None


def _missing_calendar(rule: Rule) -> str | None:
    """A calendar of holidays that nobody has."""
    wanted: list[tuple[str, str]] = []
    if isinstance(rule, HolidayRule):
        days = rule.parameters
        if days.statutory is not None and days.statutory not in statutory_calendars():
            known = ", ".join(statutory_calendars())
            return (
                f"{rule.id}: there is no statutory calendar {days.statutory!r}; there are {known}"
            )
        for local in days.local_only:
            if local.on and day_of(local.on, 2024) is None:
                return f"{rule.id}: {local.on!r} is no day of a year, such as 01-01 or easter -2"
        wanted += [(days.calendar, days.subdiv)] if days.calendar is not None else []
        wanted += [(local.calendar, local.subdiv) for local in days.local_only if local.calendar]
    elif isinstance(rule, HoursRule):
        p = rule.parameters
        special = (each for each in (p.before_holiday, p.sunday_and_holiday) if each is not None)
        wanted += [(each.calendar, each.subdiv) for each in special]
    elif isinstance(rule, HonorRule) and rule.parameters.holiday_calendar is not None:
        wanted.append((rule.parameters.holiday_calendar, ""))
    for country, subdiv in wanted:
        if not is_known(country, subdiv):
            name = f"{country}-{subdiv}" if subdiv else country
            return f"{rule.id}: there is no calendar of holidays of {name!r}"
    return None


#: How a call is dialed that a term of `applies_to` speaks of, and the `dialing` that leaves none of them.
_NEVER: Final[Mapping[str, frozenset[str]]] = {
    "prerecorded": frozenset({"autodialer", "predictive"}),
    "informational_prerecorded": frozenset({"autodialer", "predictive"}),
    "autodialed": frozenset({"prerecorded"}),
}


def _reaches_nothing(rule: Rule) -> str | None:
    """A rule whose terms leave no call that it could reach."""
    # 47 U.S.C. 227(b)(1)(A) names autodialers and recorded voices apart, and so does `dialing`.
    if all(rule.dialing in _NEVER.get(term, frozenset()) for term in rule.applies_to):
        return (
            f"the rule reaches no call: it applies to {', '.join(rule.applies_to)} and its dialing is "
            f"{rule.dialing!r}; correct one of the two"
        )
    return None


def _replacement_fault(rule: Rule, seen: dict[str, Rule]) -> str | None:
    # Regulation F's hours (12 CFR 1006.6(b)(1)(i)) follow those of 15 U.S.C. 1692c(a)(1) alone, which end the day before.
    if rule.replaces is None:
        return None
    old = seen.get(rule.replaces)
    if old is None:
        return f"replaces {rule.replaces!r}, which is no rule of the file"
    if old.effective_to is None or rule.effective_from is None:
        return f"{rule.id} replaces {old.id}, but one of them has no day between them"
    # On a day of both a call would be held against two versions of one law.
    if rule.effective_from <= old.effective_to:
        return (
            f"{rule.id} begins on {rule.effective_from} and overlaps {old.id}, "
            f"which ends on {old.effective_to}"
        )
    return None


def _same_twice(rule: Rule, alike: Sequence[Rule]) -> str | None:
    """Two rules of one kind, place, reach and citation whose days overlap are one rule twice."""
    for other in alike:
        # Each pair is looked at once.
        if other.id >= rule.id:
            continue
        if rule.first_day > other.last_day or other.first_day > rule.last_day:
            continue
        return f"{rule.id} overlaps {other.id}: same citation and reach on the same days"
    return None


def _reach(rule: Rule) -> tuple[object, ...]:
    check = rule.parameters.check if isinstance(rule, FreshnessRule) else ""
    return (
        rule.kind, rule.jurisdiction, rule.citation, rule.applies_to, rule.line_types,
        rule.dialing, check,
    )  # fmt: skip


def evidence_problems(rules: Sequence[Rule], text: str) -> list[tuple[int, str]]:
    """What a rule lacks that makes it worth believing: a sentence, an address, a first day, examples."""
    problems = []
    for rule in rules:
        line = toml_validation.of_rule(text, rule.id)
        # What a lawyer needs to believe a rule, item by item.
        lacks = []
        # A citation may be of the wrong section; the sentence itself can be compared with its source.
        if not rule.quotation:
            lacks.append(
                "a quotation of the sentence that it rests on, with text_from and read_on"
            )
        if rule.effective_from is None and rule.since is None:
            lacks.append('effective_from, or since = "always" with since_reason')
        if not rule.confidence_reason:
            lacks.append("confidence_reason")
        if len({example.grade for example in rule.examples}) < _LEAST_GRADES:
            lacks.append("an example inside and one outside of it")
        # Whoever reads a rule has to be able to look it up.
        linked = any("://" in each for each in (rule.source, rule.text_from, *rule.also))
        if not linked and rule.confidence != "low":
            lacks.append('a source with an address, or confidence = "low"')
        problems += [(line, f"{rule.id}: {lack} is missing") for lack in lacks]
        problems += [
            (line, f"{rule.id}: the example at {example.at} lies outside the days of the rule")
            for example in rule.examples
            if not rule.holds_on(example.at.date())
        ]
    return problems
