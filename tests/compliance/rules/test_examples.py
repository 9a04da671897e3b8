"""Every rule's own examples, through the audit: a call by the clock where its number is, and its grade."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import time
from functools import cache

from dialframe.compliance import rulebook
from dialframe.compliance.rule_examples import Result, phone_of, run
from dialframe.compliance.rules.calendars import Declared, closed_days, in_parts
from dialframe.compliance.rules.rule_model import (
    DAYS,
    AbandonmentRule,
    CapRule,
    FreshnessRule,
    HolidayRule,
    HonorRule,
    HoursRule,
    RetentionRule,
    Rule,
    SectorBanRule,
)
from rows import every_row

BOOK = rulebook.load()


@cache
def results() -> dict[str, list[Result]]:
    """Results of all examples by rule."""
    found: dict[str, list[Result]] = {rule.id: [] for rule in BOOK.rules}
    for result in run(BOOK):
        found[result.rule_id].append(result)
    return found


@every_row("rule", BOOK.rules)
def test_the_audit_gives_each_example_its_grade(rule: Rule) -> None:
    """As the file says it, with what went before the call and what is on record."""
    wrong = [
        f"{r.number} at {r.example.at}: {r.expected}, audited as {r.actual}"
        for r in results()[rule.id]
        if not r.holds
    ]
    assert not wrong


@every_row("rule", BOOK.rules)
def test_each_rule_has_an_example_inside_and_one_outside(rule: Rule) -> None:
    """Two at least, of different grades where the rule decides at all."""
    assert len(rule.examples) >= 2
    if rule.confidence != "low":
        assert len({example.grade for example in rule.examples}) >= 2
    assert all(example.why for example in rule.examples)


@every_row("rule", BOOK.rules)
def test_examples_lie_in_the_days_of_their_rule(rule: Rule) -> None:
    """An example of a law that was not in force would show nothing."""
    assert all(rule.holds_on(example.at.date()) for example in rule.examples)


def clock(start: time, end: time) -> str:
    """A stretch of the day in words."""
    return f"{start:%H:%M}-{end:%H:%M}".replace("-00:00", "-24:00")


def days_and_hours(rule: HoursRule | HolidayRule, result: Result) -> Iterator[str]:
    """The hours of the day, all hours on a day without any, the names of a holiday."""
    on = result.example.at.date()
    if isinstance(rule, HoursRule):
        p, day = rule.parameters, DAYS[on.weekday()]
        windows = [w for w in p.windows if day in w.days] or p.windows
        yield from (clock(w.start, w.end) for w in windows)
        if day in p.closed_days:
            yield "Monday to "
    elif result.actual != "pass" and rule.parameters.type == "no_calls":
        days = [closed_days(part, on, on, Declared()) for part in in_parts(rule)]
        # A rule that nobody read lets no call pass for certain, on a day that is no holiday either.
        named = next((found for found in days if found), None)
        assert named or rule.confidence == "low"
        yield from (each.name for each in named or ())


def limits(rule: Rule, result: Result) -> Iterator[str]:
    """The list or the limit of a rule, where the audit holds a call against it."""
    if isinstance(rule, FreshnessRule) and result.reason and rule.parameters.period is None:
        listed = rule.parameters.check == "listed_number_called"
        yield rule.parameters.registry if listed else f"{rule.parameters.max_age_days} days"
    elif isinstance(rule, AbandonmentRule):
        yield f"against {rule.parameters.max_rate:.0%}"
    elif isinstance(rule, RetentionRule):
        yield ", ".join(rule.parameters.records)
    elif result.expected == "violation":
        match rule:
            case HonorRule(parameters=p):
                yield rule.id
                yield f"allows {p.max_days} " if p.max_days else "allows no grace"
            case CapRule(parameters=p):
                yield f"{p.max_attempts} allowed"
            case SectorBanRule(parameters=p):
                yield p.subject
            case _:
                pass


@every_row("rule", BOOK.rules)
def test_the_words_of_the_audit_are_of_the_rule_itself(rule: Rule) -> None:
    """Its hours, days, list and limit, and no hours of another rule."""
    for result in results()[rule.id]:
        wanted = list(limits(rule, result))
        if isinstance(rule, HoursRule | HolidayRule):
            wanted += days_and_hours(rule, result)
        old_check = isinstance(rule, FreshnessRule) and "more than" in result.reason
        if rule.ceiling_reason and result.actual == "uncertain" and not old_check:
            wanted.append(rule.ceiling_reason)
        missing = [text for text in wanted if text not in result.reason]
        assert not missing, f"{result.example.at}: {result.reason}"
        if isinstance(rule, HoursRule):
            p = rule.parameters
            others = (
                each for each in (p.before_holiday, p.sunday_and_holiday) if each is not None
            )
            own = {clock(each.start, each.end) for each in (*p.windows, *others)}
            assert set(re.findall(r"\d\d:\d\d-\d\d:\d\d", result.reason)) <= own


def test_a_day_that_sources_dispute_is_no_holiday_of_a_part_of_the_place() -> None:
    """Juneteenth in Pennsylvania is unsettled throughout; San Isidro is of Madrid alone."""
    chosen = [*results()["us-pa-holiday"], *results()["es-holiday"]]
    said = {(r.rule_id, f"{r.example.at:%m-%d}"): r.reason for r in chosen}
    assert "not settled whether calls are banned" in said["us-pa-holiday", "06-19"]
    assert "in a part of" not in said["us-pa-holiday", "06-19"]
    assert "a holiday in a part of ES alone" in said["es-holiday", "05-15"]


def test_example_numbers_are_fictional() -> None:
    """Of the range 555-0100 to 0199, or the example numbers of libphonenumber."""
    for place in BOOK.jurisdictions:
        phone = phone_of(place)
        assert phone.startswith("+")
        if place.startswith("US"):
            assert phone.endswith("5550142")
