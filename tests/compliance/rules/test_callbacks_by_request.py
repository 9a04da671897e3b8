"""A request to be called lifts a rule within its window, from the request on, and no later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache

import pandas as pd
import pytest

from compliance import hand
from dialframe.compliance import rulebook
from dialframe.compliance.practice import Practice
from dialframe.compliance.rule_examples import phone_of, run
from dialframe.compliance.rules.rule_model import Example, Exemption, Rule
from dialframe.compliance.rules.rulebook import RuleBook

BOOK = rulebook.load()
#: A Saturday night in the East, at which the federal hours let nobody call without a request.
REQUESTED_AT = hand.utc("2026-07-05T01:30")
#: Days from the request to each call.
DAYS = (-1, 0, 14, 15)
WINDOW = Exemption(code="requested", within_days=14)
#: Of each state's copy of the federal hours: exemptions, and whether the record says when it was made.
CASES: dict[str, tuple[tuple[Exemption, ...], bool]] = {
    "US-GA": ((WINDOW,), True),
    "US-SC": ((WINDOW,), False),
    "US-NC": ((Exemption(code="requested"),), False),
    "US-OH": ((Exemption(code="consent"), Exemption(code="requested", within_days=1)), True),
    "US-NJ": ((Exemption(code="consent"),), False),
}
EXPECTED = {
    "US-GA": ["violation", "pass", "pass", "violation"],
    "US-SC": ["violation"] * 4,
    "US-NC": ["pass"] * 4,
    "US-OH": ["violation", "pass", "violation", "violation"],
    "US-NJ": ["pass"] * 4,
}


def copied(place: str, exemptions: tuple[Exemption, ...]) -> Rule:
    """The federal hours as a rule of one state, with exemptions of its own."""
    own = {"id": f"own-{place.lower()}-hours", "jurisdiction": place, "exemptions": exemptions}
    return BOOK.rule("us-tcpa-hours").model_copy(update=own)


def book() -> RuleBook:
    """A book of those copies alone."""
    return replace(BOOK, rules=tuple(copied(place, given) for place, (given, _) in CASES.items()))


@cache
def audited() -> pd.DataFrame:
    """Hours of four calls to each state, with one record of a request for each number."""
    phones = {place: phone_of(place) for place in CASES}
    calls = [
        hand.call(phone, REQUESTED_AT + timedelta(days=days), id=f"{place} {days}")
        for place, phone in phones.items()
        for days in DAYS
    ]
    records = pd.DataFrame({
        "code": "requested", "phone": list(phones.values()), "record": "web form 17",
        "from_at": [REQUESTED_AT if dated else None for _, dated in CASES.values()],
    })  # fmt: skip
    audit = hand.audit(
        hand.leads(), hand.calls(*calls), hand.checks(), book=book(), now=hand.utc("2026-10-01"),
        practice=Practice(dialing="manual", line_types=dict.fromkeys(phones.values(), "residential")),
        exemptions=records,
    )  # fmt: skip
    return audit.hours.set_index("call_id")


@pytest.mark.parametrize("place", CASES)
def test_a_request_lifts_a_rule_within_its_window_alone(place: str) -> None:
    """Not before the request nor a day after the window, nor where the record does not say when.

    Consent makes a request one without end only where the rule sets no window of its own.
    """
    assert [audited().loc[f"{place} {days}", "grade"] for days in DAYS] == EXPECTED[place]


def test_words_name_the_record_as_the_firm_wrote_it() -> None:
    """Without the window of the rule in its code."""
    assert "exempt by record: requested" in audited().loc["US-GA 14", "reason"]
    assert not audited()["reason"].str.contains("@").any()


def examples() -> Iterator[tuple[int, Example]]:
    """A call by night, days after the request."""
    asked_at = REQUESTED_AT.replace(tzinfo=None) - timedelta(hours=4)
    for days in DAYS:
        at = asked_at + timedelta(days=days)
        grade = EXPECTED["US-GA"][DAYS.index(days)]
        yield days, Example(at=at, grade=grade, requested_at=asked_at)  # type: ignore[arg-type]


def test_an_example_of_a_rule_can_say_when_the_call_was_asked_for() -> None:
    """So that a lawyer's own rule shows its window inside and outside."""
    rule = copied("US-GA", (WINDOW,)).model_copy(
        update={"examples": tuple(e for _, e in examples())}
    )
    assert [r.actual for r in run(replace(BOOK, rules=(rule,)))] == EXPECTED["US-GA"]
