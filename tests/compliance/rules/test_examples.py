"""Every rule's own examples, through the audit: a call by the clock where its number is, and its grade."""

from __future__ import annotations

from functools import cache

import pytest

from dialframe.compliance import rulebook
from dialframe.compliance.example_audit import Result, phone_of, run
from dialframe.compliance.rules.rule_model import Rule

BOOK = rulebook.load()


@cache
def results() -> dict[str, list[Result]]:
    """Results of all examples by rule."""
    found: dict[str, list[Result]] = {rule.id: [] for rule in BOOK.rules}
    for result in run(BOOK):
        found[result.rule_id].append(result)
    return found


@pytest.mark.parametrize("rule", BOOK.rules, ids=lambda rule: rule.id)
def test_the_audit_gives_each_example_its_grade(rule: Rule) -> None:
    """As the file says it, with what went before the call and what is on record."""
    wrong = [
        f"{r.number} at {r.example.at}: {r.expected}, audited as {r.actual}"
        for r in results()[rule.id]
        if not r.holds
    ]
    assert not wrong


@pytest.mark.parametrize("rule", BOOK.rules, ids=lambda rule: rule.id)
def test_each_rule_has_an_example_inside_and_one_outside(rule: Rule) -> None:
    """Two at least, of different grades where the rule decides at all."""
    assert len(rule.examples) >= 2
    if rule.confidence != "low":
        assert len({example.grade for example in rule.examples}) >= 2
    assert all(example.why for example in rule.examples)


@pytest.mark.parametrize("rule", BOOK.rules, ids=lambda rule: rule.id)
def test_examples_lie_in_the_days_of_their_rule(rule: Rule) -> None:
    """An example of a law that was not in force would show nothing."""
    assert all(rule.holds_on(example.at.date()) for example in rule.examples)


def test_example_numbers_are_fictional() -> None:
    """Of the range 555-0100 to 0199, or the example numbers of libphonenumber."""
    for place in BOOK.jurisdictions:
        phone = phone_of(place)
        assert phone.startswith("+")
        if place.startswith("US"):
            assert phone.endswith("5550142")
