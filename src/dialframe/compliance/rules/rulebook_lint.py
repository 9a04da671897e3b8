"""Says what is wrong with a file of rules, by line: faults of its form, and rules that contradict one another."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from dialframe.compliance.rules.calendars import day_of, is_known, statutory_calendars
from dialframe.compliance.rules.rule_model import (
    KINDS,
    FreshnessRule,
    HolidayRule,
    HonorRule,
    HoursRule,
    Rule,
    nowhere,
)
from dialframe.config import read_toml
from dialframe.errors import ConfigError

__all__ = ["contradiction", "evidence_problems", "form_problems", "of_rule", "read_form"]

_Form = TypeVar("_Form")
_LEAST_GRADES: Final = 2
#: Faults of one file that are named by their lines; nobody reads more before mending these.
_MOST_FAULTS: Final = 50
_ID: Final = re.compile(r'\s*id\s*=\s*"([^"]*)"')
_TABLES: Final = re.compile(r"\s*\[\[([\w.]+)\]\]")
_KEY: Final = re.compile(r"\s*(?:\[(?P<table>[\w.]+)\]|\"?(?P<key>[\w-]+)\"?\s*=)")


def contradiction(rules: Sequence[Rule]) -> tuple[str, str] | None:
    """A rule and why it cannot stand beside the others; None where all can."""
    seen: dict[str, Rule] = {}
    for rule in rules:
        if rule.id in seen:
            return rule.id, f"rule ids occur twice: {rule.id}"
        seen[rule.id] = rule
    alike: dict[tuple[object, ...], list[Rule]] = {}
    for rule in rules:
        alike.setdefault(_reach(rule), []).append(rule)
    for rule in rules:
        if isinstance(rule, HoursRule):
            linked = rule.parameters.holiday_rule
            if linked is not None and not isinstance(seen.get(linked), HolidayRule):
                return rule.id, f"holiday_rule {linked!r} is no holiday rule of the file"
        found = (
            nowhere(rule.jurisdiction)
            or _replaced(rule, seen)
            or _same_twice(rule, alike[_reach(rule)])
            or _uncharted(rule)
            or _reaches_nothing(rule)
        )
        if found is not None:
            return rule.id, found
    return None


def _uncharted(rule: Rule) -> str | None:
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
    if all(rule.dialing in _NEVER.get(term, frozenset()) for term in rule.applies_to):
        return (
            f"the rule reaches no call: it applies to {', '.join(rule.applies_to)} and its dialing is "
            f"{rule.dialing!r}; correct one of the two"
        )
    return None


def _replaced(rule: Rule, seen: dict[str, Rule]) -> str | None:
    if rule.replaces is None:
        return None
    old = seen.get(rule.replaces)
    if old is None:
        return f"replaces {rule.replaces!r}, which is no rule of the file"
    if old.effective_to is None or rule.effective_from is None:
        return f"{rule.id} replaces {old.id}, but one of them has no day between them"
    if rule.effective_from <= old.effective_to:
        return (
            f"{rule.id} begins on {rule.effective_from} and overlaps {old.id}, "
            f"which ends on {old.effective_to}"
        )
    return None


def _same_twice(rule: Rule, alike: Sequence[Rule]) -> str | None:
    """Two rules of one kind, place, reach and citation whose days overlap are one rule twice."""
    for other in alike:
        if other.id >= rule.id:
            continue
        ends = [each.effective_to for each in (rule, other)]
        begins = [each.effective_from for each in (rule, other)]
        if ends[1] is not None and begins[0] is not None and begins[0] > ends[1]:
            continue
        if ends[0] is not None and begins[1] is not None and begins[1] > ends[0]:
            continue
        return f"{rule.id} overlaps {other.id}: same citation and reach on the same days"
    return None


def _reach(rule: Rule) -> tuple[object, ...]:
    check = rule.parameters.check if isinstance(rule, FreshnessRule) else ""
    return (
        rule.kind, rule.jurisdiction, rule.citation, rule.applies_to, rule.line_types,
        rule.dialing, check,
    )  # fmt: skip


def read_form(form: TypeAdapter[_Form], text: str, name: str) -> _Form:
    """What a TOML text says, by its schema.

    Args:
        form: The schema.
        text: The text.
        name: What errors call it.

    Raises:
        ConfigError: The text is no TOML or does not fit the schema: the first fault, with its line.
    """
    try:
        return form.validate_python(read_toml(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML ({error}); correct the text") from error
    except ValidationError as error:
        (line, words), *others = form_problems(error, text)
        count = error.error_count() - 1 if len(others) >= _MOST_FAULTS else len(others)
        more = f", and {count:,} more" if others else ""
        raise ConfigError(f"{name}, line {line}: {words}{more}; correct the text") from error


def form_problems(error: ValidationError, text: str) -> list[tuple[int, str]]:
    """Faults that the schema finds in a file, the first fifty: line and what is wrong, misspelled fields first."""
    problems = error.errors(include_url=False)
    # A misspelled field is also a missing one: the misspelling is what there is to correct.
    problems.sort(key=lambda problem: problem["type"] != "extra_forbidden")
    found: list[tuple[int, str]] = []
    reported: set[tuple[int | str, ...]] = set()
    for place, problem in enumerate(problems):
        if len(found) == _MOST_FAULTS:
            lines = text.count("\n") + 1
            found.append((lines, f"{len(problems) - place:,} faults more; correct these first"))
            break
        location = problem["loc"]
        # A part that is wrong leaves its whole short: the part is what there is to correct.
        if problem["type"] == "too_short" and any(
            each[: len(location)] == location for each in reported
        ):
            continue
        reported.add(location)
        # The schema writes the kind of a rule into the path; the file does not.
        steps = [
            step
            for before, step in zip((None, *location), location, strict=False)
            if not (step in KINDS and (not isinstance(before, str) or before == "rule"))
        ]
        where = ".".join(str(step) for step in steps) or "the whole"
        found.append((_line_of(text, steps), f"{where}: {_plain(problem)}"))
    return found


#: Bounds of a number: where the fault names the limit, and the words for it.
_BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "greater_than": ("gt", "more than"), "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"), "less_than_equal": ("le", "at most"),
}  # fmt: skip


def _plain(problem: ErrorDetails) -> str:
    """A fault in words for who wrote the file."""
    given, context = problem["input"], problem.get("ctx", {})
    shown = repr(given) if isinstance(given, str) else ""
    if problem["type"] in ("string_too_short", "too_short"):
        return "is empty; fill it in"
    if problem["type"] == "missing":
        return "is missing; add it"
    if problem["type"] == "extra_forbidden":
        return "is no field of it; see `dialframe rules new` for those that there are"
    if problem["type"] == "literal_error":
        return f"{shown} is none of {context.get('expected', '')}"
    if problem["type"] == "union_tag_invalid":
        return (
            f"{context.get('tag', '')!r} is no kind; use one of {context.get('expected_tags', '')}"
        )
    if problem["type"] in _BOUNDS:
        limit, words = _BOUNDS[problem["type"]]
        return f"is {given!r}; it has to be {words} {context.get(limit, '')}"
    if problem["type"] == "value_error":
        return str(context.get("error", problem["msg"]))
    if problem["type"] == "string_pattern_mismatch":
        return f"{shown} is not of the form {context.get('pattern', '')}"
    return problem["msg"] + (f", not {shown}" if shown else "")


def evidence_problems(rules: Sequence[Rule], text: str) -> list[tuple[int, str]]:
    """What a rule lacks that makes it worth believing: a sentence, an address, a first day, examples."""
    problems = []
    for rule in rules:
        line = of_rule(text, rule.id)
        lacks = []
        if not rule.quotation:
            lacks.append(
                "a quotation of the sentence that it rests on, with quoted_from and read_on"
            )
        if rule.effective_from is None and rule.since is None:
            lacks.append('effective_from, or since = "always" with since_reason')
        if not rule.confidence_reason:
            lacks.append("confidence_reason")
        if len({example.grade for example in rule.examples}) < _LEAST_GRADES:
            lacks.append("an example inside and one outside of it")
        linked = any("://" in source for source in (*rule.sources, rule.quoted_from))
        if not linked and rule.confidence != "low":
            lacks.append('a source with an address, or confidence = "low"')
        problems += [(line, f"{rule.id}: {lack} is missing") for lack in lacks]
        problems += [
            (line, f"{rule.id}: the example at {example.at} lies outside the days of the rule")
            for example in rule.examples
            if not rule.holds_on(example.at.date())
        ]
    return problems


def of_rule(text: str, rule_id: str) -> int:
    """Line on which a rule's id stands, 1 where it is not found."""
    return _rule_lines(text).get(rule_id, 1)


@lru_cache(maxsize=4)
def _rule_lines(text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _ID.match(line):
            lines.setdefault(found[1], number)
    return lines


@lru_cache(maxsize=4)
def _outline(text: str) -> tuple[list[str], dict[str, list[int]]]:
    """Lines of a text, and by the name of an array of tables the lines where its tables begin."""
    lines = text.splitlines()
    tables: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if match := _TABLES.match(line):
            tables.setdefault(match[1], []).append(number)
    return lines, tables


def _line_of(text: str, steps: Sequence[int | str]) -> int:
    """Line of the deepest part of a path that can be found in the text."""
    lines, tables = _outline(text)
    first, last = 0, len(lines)
    if len(steps) > 1 and isinstance(steps[1], int):
        starts = tables.get(str(steps[0]), [])
        if steps[1] < len(starts):
            first = starts[steps[1]]
            later = bisect_right(starts, first)
            last = starts[later] if later < len(starts) else len(lines)
    names = [str(step) for step in steps if isinstance(step, str)]
    for name in reversed(names):
        for number in range(first, last):
            match = _KEY.match(lines[number])
            if match and (match["key"] == name or (match["table"] or "").split(".")[-1] == name):
                return number + 1
    return first + 1
