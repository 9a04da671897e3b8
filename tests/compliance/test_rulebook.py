"""The rule book: facts in the packaged text, and texts that are no rule book."""

from __future__ import annotations

import hashlib
from datetime import date, time, timedelta
from importlib import resources

import pytest
from pydantic import ValidationError

from dialframe.compliance import rulebook
from dialframe.errors import ConfigError

TEXT = (resources.files("dialframe.compliance") / "data" / "rules.toml").read_text("utf-8")
BOOK = rulebook.load()


def test_the_packaged_rules_are_the_federal_ones() -> None:
    """Each rule of the audit is there once, with the citation that the regulation has."""
    assert {rule.id: rule.citation for rule in BOOK.rules} == {
        "us-tsr-hours": "16 CFR 310.4(c)",
        "us-tcpa-hours": "47 CFR 64.1200(c)(1)",
        "us-tsr-dnc-31": "16 CFR 310.4(b)(3)(iv)",
        "us-tcpa-dnc-31": "47 CFR 64.1200(c)(2)(i)(D)",
        "us-dnc-listed-call": "47 CFR 64.1200(c)(2); 16 CFR 310.4(b)(1)(iii)(B)",
        "us-tsr-internal-dnc": "16 CFR 310.4(b)(1)(iii)(A)",
        "us-tcpa-internal-dnc": "47 CFR 64.1200(d)(3), (d)(6)",
        "us-tcpa-internal-dnc-pre2025": "47 CFR 64.1200(d)(3) before 2025-04-11",
    }
    assert {rule.jurisdiction for rule in BOOK.rules} == {"US"}


def test_both_hours_rules_say_eight_to_nine_every_day() -> None:
    """08:00 to 21:00 in the called party's time, seven days a week."""
    for rule in BOOK.hours():
        (window,) = rule.parameters.windows
        assert (window.start, window.end) == (time(8), time(21))
        assert window.days == rulebook.DAYS
        assert rule.parameters.closed_days == ()


def test_checks_may_be_31_days_old() -> None:
    """Both safe harbours have the same number of days."""
    assert [rule.parameters.max_age_days for rule in BOOK.freshness(date(2026, 11, 21))] == [
        31,
        31,
    ]


@pytest.mark.parametrize(
    ("day", "days", "kind"),
    [(date(2025, 4, 10), 30, "calendar"), (date(2025, 4, 11), 10, "business")],
)
def test_the_time_to_honour_a_request_changed_in_2025(day: date, days: int, kind: str) -> None:
    """A request is judged by the rule of its day; the trade rule states no days at all."""
    tsr, fcc = BOOK.honour(day)
    assert (tsr.parameters.max_days, tsr.parameters.day_type) == (0, "none_stated")
    assert (fcc.parameters.max_days, fcc.parameters.day_type) == (days, kind)


def test_the_hash_is_that_of_the_text() -> None:
    """Version, day and hash name the text that was read."""
    assert BOOK.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert (BOOK.version, BOOK.generated_on) == ("2026.11.21", date(2026, 11, 21))
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
    assert [rule.id for rule in book.hours()] == ["us-tcpa-hours"]
    assert "us-tsr-hours" not in [rule.id for rule in book.in_force(date(2026, 1, 1))]
    assert len(book.rules) == len(BOOK.rules)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[meta]", "[meta", "not valid TOML"),
        ("schema_version = 1", "schema_version = 2", "schema_version"),
        ("generated = 2026-11-21", 'generated = "2026-11-21"', "generated"),
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
    ],
)
def test_a_wrong_text_is_refused_with_the_place(old: str, new: str, told: str) -> None:
    """Unknown, missing and impossible facts never become a rule book."""
    assert old in TEXT
    with pytest.raises(ConfigError, match="rule book: ") as caught:
        rulebook.parse(TEXT.replace(old, new, 1))
    assert told in str(caught.value)
