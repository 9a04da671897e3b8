"""A firm's own rules: what asks less than the book is refused unless it says so, what reaches nothing is refused."""

from __future__ import annotations

import pytest
from tests.growth import assert_steady

from dialframe.compliance import overrides, rulebook
from dialframe.errors import ConfigError

BOOK = rulebook.load()
SIGNED = 'by = "An officer"\nwhy = "counsel"\non = 2026-11-01\n'


def change(rule_id: str, more: str) -> str:
    """A file that changes one rule."""
    return f'[[change]]\nid = "{rule_id}"\n{SIGNED}{more}\n'


LOOSER = [
    ("us-az-mobile", "drop = true", "the rule is dropped"),
    ("us-fl-cap", "parameters = { max_attempts = 4 }", "max_attempts is 4 instead of 3"),
    ("us-fl-cap", "parameters = { window_hours = 12 }", "window_hours is 12 instead of 24"),
    ("us-tsr-dnc-31", "parameters = { max_age_days = 60 }", "max_age_days is 60 instead of 31"),
    ("us-md-hours", "effective_from = 2026-01-01", "holds on fewer days"),
    ("us-tsr-hours", "effective_from = 2026-01-01", "holds on fewer days"),
    ("us-ok-hours", "effective_to = 2026-01-01", "holds on fewer days"),
    (
        "us-ri-hours",
        'parameters = { closed_days = ["sat", "sun"], windows = [{ days = ["mon", "tue", "wed", "thu", "fri"], start = 08:00:00, end = 18:00:00 }] }',
        "more hours",
    ),
    ("us-pa-holiday", 'parameters = { statutory = "US-UT" }', "statutory is another"),
]
STRICTER = [
    ("us-fl-cap", "parameters = { max_attempts = 2 }"),
    ("us-tsr-dnc-31", "parameters = { max_age_days = 15 }"),
    (
        "us-ri-hours",
        'parameters = { closed_days = ["sat", "sun"], windows = [{ days = ["mon", "tue", "wed", "thu", "fri"], start = 10:00:00, end = 18:00:00 }] }',
    ),
    ("br-hours", "adopt = true"),
    ("br-cap", "drop = true"),
]


@pytest.mark.parametrize(("rule_id", "more", "told"), LOOSER)
def test_a_change_that_asks_less_is_refused_unless_it_says_so(
    rule_id: str, more: str, told: str
) -> None:
    """With what it loosens; with `loosens = true` it is taken, and the book says who and why."""
    with pytest.raises(
        ConfigError, match=r"own rules, line 2: this asks less .* loosens = true"
    ) as e:
        overrides.apply(BOOK, change(rule_id, more))
    assert told in str(e.value)
    taken = overrides.apply(BOOK, change(rule_id, more + "\nloosens = true"))
    assert dict(taken.origins)[rule_id].what == "loosened"
    assert dict(taken.origins)[rule_id].by == "An officer"


@pytest.mark.parametrize(("rule_id", "more"), STRICTER)
def test_a_change_that_asks_more_is_taken(rule_id: str, more: str) -> None:
    """A house may be stricter than the law, join a code, or leave one that binds nobody."""
    assert dict(overrides.apply(BOOK, change(rule_id, more)).origins)[rule_id].what != "loosened"


ADDED = f"""
[[add]]
{SIGNED}
[add.rule]
id = "own-vt-hours"
title = "Vermont: ours"
jurisdiction = "US-VT"
kind = "calling_hours"
status = "in_force"
applies_to = ["telemarketing_sales"]
applies_text = "sales calls"
line_types = ["residential", "wireless"]
dialing = "any"
citation = "house rule 7"
source = "the house's manual"
confidence = "high"
exemptions = []
inputs = ["created_at"]
[add.rule.parameters]
timezone_basis = "called_party"
event = "call_start"
windows = [{{ days = ["mon", "tue", "wed", "thu", "fri"], start = 09:00:00, end = 20:00:00 }}]
closed_days = ["sat", "sun"]
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"US-VT"', '"VT"', "there is no country 'VT'; for the state write US-VT"),
        ('"US-VT"', '"US-XX"', "there is no part 'XX' of US"),
        ('"US-VT"', '"ZZ"', "there is no country 'ZZ'"),
        ('["telemarketing_sales"]', '["sales"]', "applies_to.0: 'sales' is none of 'telemarketing_sales'"),
        ("closed_days", "closed", "closed"),
        (
            "exemptions = []", 'exemptions = [{ code = "requested", within_days = 0 }]',
            "exemptions.0.within_days: is 0; it has to be more than 0",
        ),
        ('"called_party"', '"fixed"\ntimezone = "Mars/Olympus"', "there is no time zone 'Mars/Olympus'"),
    ],
)  # fmt: skip
def test_a_rule_that_would_reach_nothing_is_refused(old: str, new: str, told: str) -> None:
    """With its line, and what to write instead."""
    assert "own-vt-hours" in {rule.id for rule in overrides.apply(BOOK, ADDED).rules}
    with pytest.raises(ConfigError, match=r"own rules, line \d+: ") as caught:
        overrides.apply(BOOK, ADDED.replace(old, new))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("read", "unit", "times", "words"),
    [
        (
            overrides.read_declared,
            '[[declared]]\nrule = "r"\nfirst = 0001-01-01\nlast = 9999-12-31\nwhat = "x"\n',
            50,
            "more than 100,000 days are declared",
        ),
        (lambda text: overrides.apply(BOOK, text), "[[add]]\n", 10_000, r"and \d+,\d{3} more"),
    ],
    ids=["days without end", "faults without end"],
)
def test_a_hostile_file_is_refused_steadily(read, unit, times, words):
    """However many faults or days a short file is made to have."""

    def refused(text):
        with pytest.raises(ConfigError, match=words):
            read(text)

    assert_steady(refused, lambda n: unit * n, times)
