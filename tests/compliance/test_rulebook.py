"""The rule book: facts in the packaged text, and texts that are no rule book."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta

import pytest
from pydantic import ValidationError

from dialframe.compliance.rules import overrides, rule_changes, rulebook
from dialframe.errors import ConfigError

TEXT = rulebook.packaged_text()
BOOK = rulebook.load()


def test_the_packaged_book_has_every_rule() -> None:
    """Some 200 rules of 66 jurisdictions, each with a citation, a source and a confidence."""
    assert len(BOOK.rules) == len({rule.id for rule in BOOK.rules}) == 229
    assert len(BOOK.jurisdictions) == 66
    assert all(rule.citation and rule.source and rule.confidence for rule in BOOK.rules)
    assert {rule.id: rule.citation for rule in BOOK.rules}["us-tsr-hours"] == "16 CFR 310.4(c)"


def test_jurisdictions_and_rules_are_chosen_by_name() -> None:
    """Federal alone, one state, all states, one rule; what is neither is refused."""
    assert {r.jurisdiction for r in BOOK.select(["us"]).rules} == {"US"}
    assert {r.jurisdiction for r in BOOK.select(["US", "us-fl"]).rules} == {"US", "US-FL"}
    assert len({r.jurisdiction for r in BOOK.select(["us-*"]).rules}) == 43
    assert [r.id for r in BOOK.select(["gb-tps-28"]).rules] == ["gb-tps-28"]
    assert BOOK.select(None) is BOOK
    with pytest.raises(ConfigError, match="'mars' is neither a jurisdiction"):
        BOOK.select(["mars"])


def test_a_fault_is_named_by_its_line() -> None:
    """A misspelled field, a rule that overlaps the one it replaces, windows that overlap."""
    lines = TEXT.splitlines()
    typo = TEXT.replace("max_attempts = 4", "max_atempts = 4", 1)
    at = typo.splitlines().index("max_atempts = 4") + 1
    with pytest.raises(ConfigError, match=f"line {at}: .*max_atempts"):
        rulebook.parse(typo)
    place = lines.index('id = "us-pa-hours"') + 1
    with pytest.raises(ConfigError, match=f"line {place}: us-pa-hours .* overlaps"):
        rulebook.parse(TEXT.replace("effective_from = 2026-10-18", "effective_from = 2026-10-17"))
    with pytest.raises(ConfigError, match=r"line \d+: .*windows overlap on mon"):
        rulebook.parse(TEXT.replace("end = 13:00:00", "end = 14:30:00"))
    twice = TEXT.replace('id = "us-ri-hours"', 'id = "us-sc-hours"')
    with pytest.raises(ConfigError, match=r"line \d+: rule ids occur twice"):
        rulebook.parse(twice)


OWN = """
[[change]]
id = "us-fl-cap"
by = "An officer"
why = "one attempt to spare"
on = 2026-11-01
parameters = { max_attempts = 2 }

[[change]]
id = "us-az-mobile"
by = "An officer"
why = "counsel: does not reach us"
on = 2026-11-01
drop = true
loosens = true
"""


def test_a_firms_own_file_changes_the_book_with_who_and_why() -> None:
    """Values, origins and hash; the packaged book stays as it is; the difference is told."""
    mine = overrides.apply(BOOK, OWN)
    changed = mine.rule("us-fl-cap")
    assert changed.parameters.max_attempts == 2  # type: ignore[union-attr]
    assert dict(mine.origins)["us-fl-cap"].by == "An officer"
    assert len(mine.rules) == len(BOOK.rules) - 1
    assert mine.sha256 != BOOK.sha256
    assert mine.version == "2026.11.25+own"
    assert dict(mine.origins)["us-az-mobile"].what == "loosened"
    told = rule_changes.between(BOOK, mine)
    assert sorted(told["change"]) == ["changed", "dropped"]
    assert len(rule_changes.between(BOOK, BOOK)) == 0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("us-fl-cap", "us-fl-caps", "line 3: there is no rule 'us-fl-caps'"),
        ('by = "An officer"\nwhy = "one', 'why = "one', "by: is missing; add it"),
        ("max_attempts = 2", "max_attempts = -2", "max_attempts"),
        ("max_attempts = 2", "most = 2", "most"),
        ("drop = true", "dropp = true", "dropp"),
    ],
)
def test_a_wrong_file_of_a_firm_is_refused(old: str, new: str, told: str) -> None:
    """Who and why are not optional, and nothing is changed that is not there."""
    with pytest.raises(ConfigError, match="own rules, line") as caught:
        overrides.apply(BOOK, OWN.replace(old, new, 1))
    assert told in str(caught.value)


def test_the_hash_is_that_of_the_text() -> None:
    """Version, day and hash name the text that was read."""
    assert BOOK.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert (BOOK.version, BOOK.generated_on) == ("2026.11.25", date(2026, 11, 25))
    assert rulebook.parse(TEXT + "\n").sha256 != BOOK.sha256


def test_a_book_warns_after_180_days() -> None:
    """180 days are quiet, 181 are not."""
    edge = BOOK.generated_on + timedelta(days=180)
    assert BOOK.age_note(edge) is None
    note = BOOK.age_note(edge + timedelta(days=1))
    assert note is not None
    assert "181 days old" in note


def test_rules_do_not_change() -> None:
    """A fact cannot be overwritten."""
    with pytest.raises(ValidationError):
        BOOK.rules[0].citation = "nothing"  # type: ignore[misc]


def test_an_advisory_code_is_never_in_force() -> None:
    """A voluntary code is carried as a fact and flags nobody."""
    book = rulebook.parse(TEXT.replace('status = "in_force"', 'status = "voluntary_code"', 1))
    assert "us-tsr-hours" not in [rule.id for rule in book.in_force(date(2026, 1, 1))]
    assert len(book.rules) == len(BOOK.rules)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[meta]", "[meta", "not valid TOML"),
        ("schema_version = 2", "schema_version = 1", "schema_version"),
        ("generated = 2026-11-25", 'generated = "2026-11-25"', "generated"),
        ('citation = "16 CFR 310.4(c)"', "", "citation"),
        ('kind = "calling_hours"', 'kind = "curfew"', "curfew"),
        ('confidence = "high"', 'confidence = "sure"', "confidence"),
        ('id = "us-tcpa-hours"', 'id = "us-tsr-hours"', "us-tsr-hours"),
        ("end = 21:00:00", "end = 07:00:00", "a window ends after it starts"),
        ("closed_days = []", 'closed_days = ["sun"]', "never both"),
        ('"sat", "sun"]', '"sat"]', "each weekday"),
        ("max_age_days = 31", "max_age_days = 0", "max_age_days"),
        ("max_age_days = 31", "max_age_days = 31\ngrace = 2", "grace"),
        ('dialing = "any"', 'dialing = "any"\nholiday = true', "holiday"),
        ('calendar = "ES"', 'calendar = "XX"', "no calendar of holidays of 'XX'"),
        ('subdiv = "NE", citation', 'subdiv = "LL", citation', "no calendar of holidays of 'US-LL'"),
        ("observed = true", "observd = true", "observd"),
        ('trigger = "abandoned"', 'trigger = "abandonned"', "trigger"),
        ("max_rate = 0.03", "max_rate = 3", "max_rate"),
        ('92\nbasis = "age_at_call"', '92\nbasis = "quarter_of_call"', "age of a check alone"),
    ],
)  # fmt: skip
def test_a_wrong_text_is_refused_with_the_place(old: str, new: str, told: str) -> None:
    """Unknown, missing, misspelled and impossible facts never become a rule book; the line is named."""
    assert old in TEXT
    place = "rule book: " if told == "not valid TOML" else r"rule book, line \d+: "
    with pytest.raises(ConfigError, match=f"{place}.*{told}"):
        rulebook.parse(TEXT.replace(old, new, 1))
