"""Rules that contradict one another, or name what does not exist, and faults of a file by line; knows no calls."""

from __future__ import annotations

from collections.abc import Sequence

from dialframe.compliance.calendars import is_known
from dialframe.compliance.facts import FreshnessRule, HolidayRule, HonourRule, HoursRule, Rule
from dialframe.compliance.places import first_problem, of_rule

__all__ = ["contradiction", "first_problem", "of_rule"]


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
        found = _replaced(rule, seen) or _same_twice(rule, rules) or _uncharted(rule)
        if found is not None:
            return rule.id, found
    return None


def _uncharted(rule: Rule) -> str | None:
    """A calendar of holidays that nobody has."""
    wanted: list[tuple[str, str]] = []
    if isinstance(rule, HolidayRule) and rule.parameters.calendar is not None:
        wanted.append((rule.parameters.calendar, rule.parameters.subdiv))
        wanted += [(local.calendar, local.subdiv) for local in rule.parameters.local_only]
    elif isinstance(rule, HoursRule):
        p = rule.parameters
        special = (each for each in (p.before_holiday, p.sunday_and_holiday) if each is not None)
        wanted += [(each.calendar, each.subdiv) for each in special]
    elif isinstance(rule, HonourRule) and rule.parameters.holiday_calendar is not None:
        wanted.append((rule.parameters.holiday_calendar, ""))
    for country, subdiv in wanted:
        if not is_known(country, subdiv):
            name = f"{country}-{subdiv}" if subdiv else country
            return f"{rule.id}: there is no calendar of holidays of {name!r}"
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
