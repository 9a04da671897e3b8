"""What every rule rests on: a sentence, an address, a day, how sure the reading is, and since when it is law."""

from __future__ import annotations

from datetime import date

import pytest

from dialframe.compliance import rulebook
from dialframe.compliance.rules.rule_model import KINDS, Rule
from rows import every_row

BOOK = rulebook.load()
EACH = every_row("rule", BOOK.rules)


@EACH
def test_each_rule_has_a_first_day_or_says_why_none(rule: Rule) -> None:
    """`since = "always"` needs a reason in words."""
    assert (rule.effective_from is None) == (rule.since == "always")
    assert rule.effective_from is not None or len(rule.since_reason) > 20


@EACH
def test_each_rule_says_how_sure_it_is_and_why(rule: Rule) -> None:
    """A reason for each; above low a sentence that was read, with its address and the day."""
    assert not rule.quoted_from or "http" in rule.quoted_from or rule.citation in rule.quoted_from
    assert len(rule.confidence_reason) > 10
    assert bool(rule.quotation) == bool(rule.quoted_from) == (rule.read_on is not None)
    assert rule.quotation or rule.confidence == "low", "read the source, or grade it low"
    assert len(rule.quotation) < 500


@EACH
def test_what_rests_on_an_unlinked_table_alone_is_low(rule: Rule) -> None:
    """A source with an address, or no confidence above low."""
    linked = any("https://" in s or "http://" in s for s in (*rule.sources, rule.quoted_from))
    assert linked or rule.confidence == "low"


def test_a_rule_without_a_source_that_was_read_is_uncertain_at_best() -> None:
    """It says so; a rule on which sources disagree names them."""
    low = BOOK.rule("us-nj-mobile")
    assert low.grade_ceiling == "uncertain"
    assert low.ceiling_reason.startswith("confidence in the rule is low (one table")
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
    assert rule.quoted_from.startswith("http")


def test_every_kind_and_the_newer_countries_have_rules() -> None:
    """Recordings, caller ID, artificial voices and banned subjects among them."""
    assert {rule.kind for rule in BOOK.rules} == set(KINDS)
    assert {rule.jurisdiction for rule in BOOK.rules} >= {"AT", "BE", "CH", "JP", "KR", "AE"}
