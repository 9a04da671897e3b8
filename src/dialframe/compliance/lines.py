"""Faults of a rule file by line: what the schema refuses, and rules that contradict one another; knows no meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from dialframe.compliance.facts import FreshnessRule, HolidayRule, HoursRule, Rule

_TABLES: Final = re.compile(r"\s*\[\[([\w.]+)\]\]")
_KEY: Final = re.compile(r"\s*(?:\[(?P<table>[\w.]+)\]|\"?(?P<key>[\w-]+)\"?\s*=)")


def first_problem(error: ValidationError, text: str, name: str) -> str:
    """The first fault of a file in one sentence, with its line."""
    problems = error.errors(include_url=False)
    # A misspelt field is also a missing one: the misspelling is what there is to correct.
    problems.sort(key=lambda problem: problem["type"] != "extra_forbidden")
    place = problems[0]["loc"]
    # The schema writes the kind of a rule into the path; the file does not.
    steps = [
        step
        for before, step in zip((None, *place), place, strict=False)
        if not (step in _KINDS and (isinstance(before, int) or before == "rule"))
    ]
    where = ".".join(str(step) for step in steps) or "the whole"
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return (
        f"{name}, line {_line_of(text, steps)}: {where}: {problems[0]['msg']}{more}; "
        "correct the text"
    )


def of_rule(text: str, rule_id: str) -> int:
    """Line on which a rule's id stands, 1 where it is not found."""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(rf'\s*id\s*=\s*"{re.escape(rule_id)}"', line):
            return number
    return 1


def contradiction(rules: Sequence[Rule]) -> tuple[str, str] | None:
    """A rule and why it cannot stand beside the others; None where all can."""
    seen: dict[str, Rule] = {}
    for rule in rules:
        if rule.id in seen:
            return rule.id, f"rule ids occur twice: {rule.id}"
        seen[rule.id] = rule
    for rule in rules:
        if isinstance(rule, HoursRule):
            linked = rule.parameters.holiday_rule
            if linked is not None and not isinstance(seen.get(linked), HolidayRule):
                return rule.id, f"holiday_rule {linked!r} is no holiday rule of the file"
        found = _replaced(rule, seen) or _same_twice(rule, rules)
        if found is not None:
            return rule.id, found
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


def _same_twice(rule: Rule, rules: Sequence[Rule]) -> str | None:
    """Two rules of one kind, place, reach and citation whose days overlap are one rule twice."""
    for other in rules:
        if other.id >= rule.id or _reach(other) != _reach(rule):
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


_KINDS: Final = frozenset(
    {
        "calling_hours", "holiday", "attempt_cap", "dnc_freshness", "internal_dnc",
        "abandonment_rate", "consent", "retention",
    }
)  # fmt: skip


def _line_of(text: str, steps: Sequence[int | str]) -> int:
    """Line of the deepest part of a path that can be found in the text."""
    lines = text.splitlines()
    first, last = 0, len(lines)
    if len(steps) > 1 and isinstance(steps[1], int):
        starts = [
            number
            for number, line in enumerate(lines)
            if (found := _TABLES.match(line)) and found[1] == steps[0]
        ]
        if steps[1] < len(starts):
            first = starts[steps[1]]
            later = [s for s in starts if s > first]
            last = later[0] if later else len(lines)
    names = [str(step) for step in steps if isinstance(step, str)]
    for name in reversed(names):
        for number in range(first, last):
            found = _KEY.match(lines[number])
            if found and (found["key"] == name or (found["table"] or "").split(".")[-1] == name):
                return number + 1
    return first + 1
