"""Lays a firm's own rules over the book: changes and additions, with who decided them and why; reads declared days.

The file is TOML. `[[change]]` names a rule of the book and gives new values of its `parameters`,
other days, `drop = true`, or `adopt = true` for a voluntary code that the firm joined; `[[add]]`
with `[add.rule]` brings a rule of the firm. Both say `by`, `why` and `on`. A change that asks less
than the book does is refused unless it says `loosens = true`. The book's own files stay as they
are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from importlib import resources
from string import Template
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from dialframe.compliance.rules import toml_validation
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rule_model import (
    AnyRule,
    Change,
    HoursRule,
    OwnRules,
    Rule,
    nowhere,
)
from dialframe.compliance.rules.rulebook import Origin, RuleBook, adopted, contradiction
from dialframe.config import read_toml
from dialframe.errors import ConfigError

_FILE: Final = TypeAdapter(OwnRules)
_RULE: Final[TypeAdapter[Rule]] = TypeAdapter(AnyRule)


def apply(book: RuleBook, text: str, *, name: str = "own rules") -> RuleBook:
    """The book with a firm's changes and rules.

    Args:
        book: The book.
        text: TOML text of the firm's file.
        name: What errors call it.

    Raises:
        ConfigError: The text is not TOML, does not fit its schema, changes a rule that is not in
            the book, adds one whose id is taken, or asks less than the book does without saying
            so; the line is named.
    """
    changes = toml_validation.read_form(_FILE, text, name)
    rules = {rule.id: rule for rule in book.rules}
    origins = list(book.origins)
    for change in changes.change:
        where = f"{name}, line {toml_validation.of_rule(text, change.id)}"
        if change.id not in rules:
            raise ConfigError(f"{where}: there is no rule {change.id!r} in the book")
        old = rules[change.id]
        new = None if change.drop else _apply_change(old, change, where)
        # A firm may hold itself to more than the law, and to less only with its own word for it.
        looser = loosened(old, new)
        if looser and not change.loosens:
            raise ConfigError(
                f"{where}: this asks less than the book does ({looser}); a firm that means it "
                "writes loosens = true, and the audit says so on its first page"
            )
        what = "dropped" if change.drop else "adopted" if change.adopt else "changed"
        what = "loosened" if looser else what
        origins.append((change.id, Origin(change.by, change.why, change.on, what)))
        if change.adopt and old.status != "voluntary_code":
            raise ConfigError(
                f"{where}: {old.id} is no voluntary code, so there is nothing to adopt"
            )
        if new is None:
            del rules[change.id]
        else:
            rules[change.id] = adopted(new) if change.adopt else new
    for added in changes.add:
        where = f"{name}, line {toml_validation.of_rule(text, added.rule.id)}"
        if added.rule.id in rules:
            raise ConfigError(f"{where}: the id {added.rule.id!r} is taken; choose another")
        rules[added.rule.id] = added.rule
        origins.append((added.rule.id, Origin(added.by, added.why, added.on, "added")))
    problem = contradiction(tuple(rules.values()))
    if problem is not None:
        raise ConfigError(
            f"{name}, line {toml_validation.of_rule(text, problem[0])}: {problem[1]}"
        )
    # The hash of a pack names the book and the firm's own file together.
    both = hashlib.sha256(f"{book.sha256}\n{text}".encode()).hexdigest()
    return RuleBook(
        f"{book.version}+own",
        book.generated_on,
        both,
        book.scope,
        tuple(rules.values()),
        tuple(origins),
    )


def confirm(book: RuleBook, ids: Sequence[str], *, by: str, on: date) -> RuleBook:
    """The book with rules whose text the firm's counsel read, where the book's own reading is of low confidence.

    Such a rule counts as one of medium confidence: calls may pass by it. Where sources contradict it none breaks it
    for certain, as before.

    Args:
        book: The book.
        ids: Ids of the rules.
        by: Who read them.
        on: The day.

    Raises:
        ConfigError: There is no such rule, or what the book says of it rests on more than one voice already.
    """
    rules, origins = {rule.id: rule for rule in book.rules}, list(book.origins)
    for name in ids:
        rule = rules.get(name)
        if rule is None:
            raise ConfigError(
                f"confirmed: there is no rule {name!r} in the book; dialframe rules list"
            )
        if rule.confidence != "low":
            raise ConfigError(
                f"confirmed: {name} needs no word of the firm; its text was read; take it out"
            )
        reason = f"{by} read the text for the firm on {on}; in the book: {rule.confidence_reason}"
        rules[name] = rule.model_copy(update={"confidence": "medium", "confidence_reason": reason})
        origins.append((name, Origin(by, "the text was read for the firm", on, "confirmed")))
    text = f"{book.sha256}\nconfirmed {' '.join(ids)} {by} {on}"
    version = book.version if book.version.endswith("+own") else f"{book.version}+own"
    return replace(
        book, version=version, sha256=hashlib.sha256(text.encode()).hexdigest(),
        rules=tuple(rules.values()), origins=tuple(origins),
    )  # fmt: skip


#: Which way a parameter asks less: `more` where a greater value does, `less` where a smaller one does.
_LOOSER: Final[Mapping[str, str]] = {
    "max_attempts": "more", "max_age_days": "more", "max_days": "more", "max_rate": "more",
    "listed_grace_days": "more", "grace_days": "more", "refresh_days": "more",
    "grace_days_after_publication": "more", "max_consent_age_years": "more",
    "ebr_purchase_months": "more", "ebr_inquiry_months": "more", "seconds_to_answer": "more",
    "hipaa_max_per_day": "more", "hipaa_max_per_week": "more", "window_hours": "less",
    "window_days": "less", "years": "less", "honor_years": "less", "honor_days": "less",
    "cooldown_days": "less", "cooldown_after_conversation_days": "less", "min_rings": "less",
    "min_ring_seconds": "less", "aging_days": "less",
}  # fmt: skip
_HOURS: Final = frozenset({"windows", "closed_days", "before_holiday", "sunday_and_holiday"})


def loosened(old: Rule, new: Rule | None) -> str:
    """What a change of a rule makes it ask less of the firm, in words; empty where it asks as much or more.

    A change whose direction nobody can tell counts as one that asks less.
    """
    # A code binds nobody who did not join it: no change of it asks less.
    if old.status == "voluntary_code":
        return ""
    if new is None:
        return "the rule is dropped"
    # A day less is a day on which nothing is asked.
    if new.first_day > old.first_day or new.last_day < old.last_day:
        return "the rule holds on fewer days"
    before, after = old.parameters.model_dump(), new.parameters.model_dump()
    # Parameters alone say what a rule asks; words and sources may be another's.
    changed = {name for name in after if after[name] != before[name]}
    if isinstance(old, HoursRule) and isinstance(new, HoursRule) and changed & _HOURS:
        if _open_minutes(new) - _open_minutes(old) or changed & (
            _HOURS - {"windows", "closed_days"}
        ):
            return "calls may start at more hours"
        changed -= _HOURS
    for name in sorted(changed):
        direction = _LOOSER.get(name)
        # Nobody can tell which way such a change goes: it counts as one that asks less.
        if direction is None or before[name] is None or after[name] is None:
            return f"{name} is another"
        if (after[name] > before[name]) == (direction == "more"):
            return f"{name} is {after[name]} instead of {before[name]}"
    return ""


def _open_minutes(rule: HoursRule) -> set[tuple[str, int]]:
    """Minutes of the week at which calls may start."""
    windows = rule.parameters.windows
    return {(day, minute) for w in windows for day in w.days for minute in w.minutes}


def _apply_change(rule: Rule, change: Change, where: str) -> Rule:
    values = rule.model_dump()
    # The whole is read by the schema again: a change cannot make what no file may say.
    values["parameters"] |= change.parameters
    for field in ("effective_from", "effective_to"):
        day = getattr(change, field)
        if day is not None:
            values[field] = day
    if change.effective_from is not None:
        values |= {"since": None, "since_reason": ""}
    try:
        return _RULE.validate_python(values)
    except ValidationError as error:
        (_, words), *_ = toml_validation.form_problems(error, "")
        raise ConfigError(f"{where}: {words}; correct the text") from error


def skeleton(jurisdiction: str, kind: str) -> str:
    """Text of a firm's file with one rule of its own, to be filled in.

    Args:
        jurisdiction: Where the rule holds, `US-FL` or `GB`.
        kind: What it is about, one of `rule_parameters.KINDS`.

    Raises:
        ConfigError: There is no such place or kind.
    """
    form = read_toml(
        resources.files(__package__).joinpath("rule_skeleton.toml").read_text("utf-8")
    )
    kinds = form["parameters"]
    if kind not in kinds:
        raise ConfigError(f"there is no kind {kind!r}; choose from {', '.join(kinds)}")
    # A rule for a place that there is not would never be asked.
    problem = nowhere(jurisdiction)
    if problem is not None:
        raise ConfigError(problem)
    return Template(form["skeleton"]).substitute(
        code=jurisdiction.lower(), dashed=kind.replace("_", "-"), jurisdiction=jurisdiction, kind=kind,
        # The first two letters are the country's (ISO 3166-1), whichever part of it is meant.
        parameters=Template(kinds[kind]).substitute(country=jurisdiction[:2]),
    )  # fmt: skip


class _Spell(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    rule: str
    first: date | None = Field(default=None)
    last: date | None = Field(default=None)
    what: str = ""
    never: bool = False

    @model_validator(mode="after")
    def _forward(self) -> _Spell:
        if self.last is not None and (self.first is None or self.last < self.first):
            raise ValueError("a spell ends on or after its first day")
        # Whoever forgot the day would be taken to say that nothing ever was declared.
        if self.never == (self.first is not None):
            raise ValueError(
                "a spell has a first day, or `never = true` where nothing was declared"
            )
        return self


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    declared: tuple[_Spell, ...] = Field(strict=False)


_DECLARED: Final = TypeAdapter(_File)
#: Days of all declared spells together; a file that means every day for ever is mistaken.
_MOST_DAYS: Final = 100_000


def read_declared(text: str, *, name: str = "file of declared days") -> Declared:
    """Declared days from TOML text: `[[declared]]` with `rule`, and `first`, `last`, `what` or `never = true`.

    Raises:
        ConfigError: The text is not TOML, misses a field, has an unknown one, ends a spell
            before it begins, or declares more days than any emergency has; the line is named.
    """
    spells = toml_validation.read_form(_DECLARED, text, name).declared
    declared: dict[str, dict[date, str]] = {}
    count = 0
    for spell in spells:
        days = declared.setdefault(spell.rule, {})
        if spell.first is None:
            continue
        last = spell.last or spell.first
        count += (last - spell.first).days + 1
        if count > _MOST_DAYS:
            where = f"{name}, line {toml_validation.of_rule(text, spell.rule)}"
            raise ConfigError(
                f"{where}: more than {_MOST_DAYS:,} days are declared; correct the text"
            )
        for shift in range((last - spell.first).days + 1):
            days[spell.first + timedelta(days=shift)] = spell.what
    return Declared(declared)
