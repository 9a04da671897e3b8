"""What every rule rests on: a sentence, an address, a day, how sure the reading is, and since when it is law."""

from __future__ import annotations

import re
from datetime import date

import pytest

from dialframe.compliance import rulebook
from dialframe.compliance.rules import custody
from dialframe.compliance.rules.rule_model import KINDS, HolidayRule, Rule
from rows import every_row

BOOK = rulebook.load()
EACH = every_row("rule", BOOK.rules)


@EACH
def test_each_rule_has_a_first_day_or_says_why_none(rule: Rule) -> None:
    """`since = "always"` needs a reason in words."""
    assert (rule.effective_from is None) == (rule.since == "always")
    assert rule.effective_from is not None or len(rule.since_reason) > 20


@EACH
def test_each_rule_says_where_it_is_written_and_where_it_was_read(rule: Rule) -> None:
    """An official address for all; a sentence with the place and the day above low; nobody's code is cited as law."""
    assert (
        custody.printed_by(rule.source) == "official"
        or rule.source == "https://www.marketing.org.nz"
    )
    assert "github" not in " ".join((rule.citation, rule.source, *rule.also))
    assert "github" not in rule.text_from or "not official" in rule.text_from
    assert bool(rule.quotation) == bool(rule.text_from) == (rule.read_on is not None)
    assert len(rule.quotation) < 500
    assert len(rule.confidence_reason) > 10


@EACH
def test_no_rule_is_surer_than_what_was_read_of_it(rule: Rule) -> None:
    """A quotation without the value is medium at most, one source that is not official low."""
    most, why = custody.most_confidence(rule)
    order = ("low", "medium", "high")
    assert order.index(rule.confidence) <= order.index(most), why


@pytest.mark.parametrize(
    ("change", "most"),
    [
        ({}, "high"),
        ({"quotation": "calls may be made at decent hours"}, "medium"),
        ({"text_from": "https://blog.example/tcpa"}, "low"),
        (
            {"text_from": "https://blog.example/tcpa", "also": ("https://press.example/tcpa",)},
            "medium",
        ),
        ({"text_from": "https://github.com/a/b", "also": ("https://blog.example/tcpa",)}, "low"),
        ({"quotation": "", "text_from": "", "read_on": None}, "low"),
        ({"quotation": "between eight in the morning and 9 p.m."}, "high"),
        ({"quotation": "between 18:00 and 19:00"}, "medium"),
    ],
)
def test_confidence_follows_what_was_read(change: dict[str, object], most: str) -> None:
    """Official text that carries the values, and less of it step by step."""
    rule = BOOK.rule("us-dc-hours").model_copy(update=change)
    assert custody.most_confidence(rule)[0] == most


@EACH
def test_what_contradicts_a_grade_stands_in_conflicts(rule: Rule) -> None:
    """A note that says contested beside a certain grade is a grade that nobody can stand by."""
    contested = re.search(
        r"contest|dispute|not settled|one reading", f"{rule.notes} {rule.confidence_reason}"
    )
    assert not contested or rule.ceiling_reason
    assert not rule.conflicts or rule.capped("violation") == "uncertain"


@pytest.mark.parametrize(
    "rule_id",
    ["us-tcpa-wireless-autodialer", "us-fl-consent-autodialed", "us-mi-hours", "us-al-hours"],
)
def test_a_contested_rule_is_no_certain_violation(rule_id: str) -> None:
    """Facebook v. Duguid, Florida's Act of 2023, a statute that asks for intent, a rule for utilities."""
    assert BOOK.rule(rule_id).capped("violation") == "uncertain"


def test_a_calendar_that_nobody_read_accuses_nobody() -> None:
    """Days of the library alone are uncertain, those of a statute that was read are not."""
    library = [
        r for r in BOOK.rules if isinstance(r, HolidayRule) and r.parameters.calendar is not None
    ]
    assert {rule.id for rule in library} >= {"au-holiday", "za-holiday", "es-holiday"}
    assert all(rule.capped("violation") == "uncertain" for rule in library)
    assert BOOK.rule("us-pa-holiday").capped("violation") == "violation"


def test_a_rule_without_a_source_that_was_read_is_uncertain_at_best() -> None:
    """It says so; a rule on which sources disagree names them."""
    low = BOOK.rule("us-la-mobile")
    assert low.grade_ceiling == "uncertain"
    assert low.ceiling_reason.startswith("confidence in the rule is low (an open file")
    assert {low.capped(grade) for grade in ("pass", "violation")} == {"uncertain"}
    assert low.capped("not evaluable") == "not evaluable"
    doubted = BOOK.rule("us-nv-hours")
    assert "a reading of Nevada law for business calls found no hours" in doubted.ceiling_reason
    sure = BOOK.rule("us-fl-hours")
    assert (sure.grade_ceiling, sure.ceiling_reason, sure.capped("violation")) == (
        "definite", "", "violation",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("older", "newer", "first_day"),
    [
        ("us-ct-hours-pre2023", "us-ct-hours", "2023-10-01"),
        ("us-fl-hours-pre2021", "us-fl-hours", "2021-07-01"),
        ("us-ok-hours-pre2022", "us-ok-hours", "2022-11-01"),
        ("us-wa-hours-pre2022", "us-wa-hours", "2022-06-09"),
        ("us-pa-hours-pre2026", "us-pa-hours", "2026-10-18"),
        ("us-or-hours-adad-pre2026", "us-or-hours-adad", "2026-01-01"),
        ("us-tcpa-internal-dnc-pre2025", "us-tcpa-internal-dnc", "2025-04-11"),
        ("us-tsr-retention-pre2024", "us-tsr-retention", "2024-05-16"),
        ("fr-refusal-60d", "fr-objection-2026", "2026-08-11"),
        ("at-consent-2003", "at-consent", "2021-11-01"),
        ("it-rpo-2010", "it-rpo-15", "2022-07-27"),
        ("us-fl-consent-2021", "us-fl-consent", "2023-05-25"),
        ("us-fdcpa-hours", "us-regf-hours", "2021-11-30"),
        ("nl-bel-me-niet", "nl-consent", "2021-07-01"),
        ("sg-dnc-30", "sg-dnc-21", "2021-02-01"),
        ("es-objection-pre2023", "es-consent", "2023-06-29"),
    ],
)
def test_a_rule_that_changed_since_2021_has_its_predecessor(
    older: str, newer: str, first_day: str
) -> None:
    """One ends on the day before the other begins."""
    day = date.fromisoformat(first_day)
    assert BOOK.rule(newer).effective_from == day
    ends = BOOK.rule(older).effective_to
    assert ends is not None
    assert (day - ends).days == 1


def test_each_state_with_a_list_of_its_own_has_a_rule() -> None:
    """Eleven states, https://www.compliancepoint.com/marketing-compliance/state-do-not-call-lists/."""
    states = {
        rule.jurisdiction[3:]
        for rule in BOOK.rules
        if rule.kind == "dnc_freshness"
        and rule.jurisdiction.startswith("US-")
        and rule.status != "superseded"
    }
    assert states == {"CO", "FL", "IN", "LA", "MA", "MO", "OK", "PA", "TN", "TX", "WY"}


@pytest.mark.parametrize(
    ("rule_id", "renewed"),
    [
        ("us-co-dnc", "register and pay each year, from January 1 to December 31"),
        ("us-mo-dnc", "paid for by the quarter"),
        ("us-in-dnc", "in the quarter following the deadline"),
        ("us-tx-dnc", "on January 1, April 1, July 1, and October 1 of each year"),
        ("us-la-dnc", "listing monthly"),
        ("us-pa-dnc", "a quarterly do-not-call list"),
        ("us-ma-dnc", "quarterly"),
        ("us-wy-dnc", "for more than sixty (60) days"),
    ],
)
def test_a_list_of_a_state_says_when_it_is_renewed(rule_id: str, renewed: str) -> None:
    """By a page of the state or its own words, each with its address."""
    rule = BOOK.rule(rule_id)
    assert renewed in f"{rule.quotation} {rule.notes}"
    assert rule.text_from.startswith("http")


def test_every_kind_and_the_newer_countries_have_rules() -> None:
    """Recordings, caller ID, artificial voices and banned subjects among them."""
    assert {rule.kind for rule in BOOK.rules} == set(KINDS)
    assert {rule.jurisdiction for rule in BOOK.rules} >= {"AT", "BE", "CH", "JP", "KR", "AE"}
