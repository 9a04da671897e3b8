"""A rule whose source nobody read is uncertain at best, in the engine and not in its examples alone."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from compliance import hand
from dialframe import compliance
from dialframe.compliance.practice import Conduct, Practice
from dialframe.compliance.rules import rulebook
from dialframe.compliance.rules.rulebook import RuleBook

NOON = hand.utc("2026-06-15T16:00")
NOW = hand.utc("2026-12-01")
#: One rule of each check that passes a call at noon with a fresh check, an answer and a full record.
RULES = {
    "calling_hours": "us-tsr-hours", "scrub_at_call": "us-tsr-dnc-31",
    "listed_number": "us-tsr-dnc-31", "scrub_coverage": "us-tsr-dnc-31",
    "attempt_caps": "us-fl-cap", "internal_dnc": "us-tcpa-internal-dnc", "records": "us-tsr-retention",
    "retention": "us-tsr-retention", "abandonment": "us-tsr-abandonment",
}  # fmt: skip


def _weak(names: set[str]) -> RuleBook:
    """The book as if nobody had read the sources of some rules."""
    book = rulebook.load()
    doubt = {"confidence": "low", "confidence_reason": "nobody read it", "conflicts": ()}
    rules = tuple(r.model_copy(update=doubt) if r.id in names else r for r in book.rules)
    return dataclasses.replace(book, rules=rules)


@pytest.fixture(scope="module")
def audits() -> tuple[compliance.Audit, compliance.Audit]:
    """The same calls by the rules as they are, and by rules of which nobody read the source."""
    phone = "+13055550142"
    asked = NOW - timedelta(days=90)
    rows = [
        hand.call(phone, NOON, id="a", answered_at=NOON, disposition="SALE", duration_seconds=60),
        hand.call(hand.NEW_YORK, asked, id="b", answered_at=asked, disposition="DNC"),
    ]
    told = [
        hand.check(NOON - timedelta(days=1), phone=phone),
        hand.check(NOW - timedelta(days=1), phone=phone),
        hand.check(asked + timedelta(days=1), listed=True),
    ]
    names = sorted(set(RULES.values()))
    return tuple(  # type: ignore[return-value]
        hand.audit(
            hand.leads(hand.lead(phone)), hand.calls(*rows), hand.checks(*told), now=NOW, book=book,
            rules=names, outcomes={"a": "live", "b": "dropped"}, since=NOON,
            began_at=NOON,
        )
        for book in (hand.trusted(rulebook.load()), _weak(set(names)))
    )  # fmt: skip


def test_what_passed_is_uncertain(audits: tuple[compliance.Audit, compliance.Audit]) -> None:
    """Each check passes something by the rules as they are, and nothing by rules that nobody read."""
    sure, weak = (each.checks.set_index("check") for each in audits)
    passing = set(sure.index[sure["pass"] > 0])
    assert {"calling_hours", "scrub_at_call", "listed_number"} <= passing
    assert (weak["pass"] == 0).all()
    assert (weak.loc[list(passing), "uncertain"] > 0).all()


def test_a_finding_says_which_rule_nobody_read(
    audits: tuple[compliance.Audit, compliance.Audit],
) -> None:
    """Every uncertain call is listed, with the words of a pass and the doubt behind them."""
    weak = audits[1]
    counts = weak.checks.set_index("check")["uncertain"]
    listed = weak.findings[weak.findings["grade"] == "uncertain"].groupby("check").size()
    assert {name: int(n) for name, n in counts.items() if n} == listed.to_dict()
    hours = weak.findings[weak.findings["check"] == "calling_hours"].iloc[0]
    assert "inside 08:00-21:00" in hours["reason"]
    assert "us-tsr-hours: confidence in the rule is low (nobody read it)" in hours["reason"]
    rules = weak.parts["rules"]
    assert (rules["pass"].fillna(0) == 0).all()


def test_every_call_in_full_says_the_same(
    audits: tuple[compliance.Audit, compliance.Audit],
) -> None:
    """The table of all calls has the grades that were counted."""
    weak = audits[1]
    assert set(weak.hours["grade"]) == {"uncertain"}
    assert set(weak.coverage.calls["grade"]) <= {"uncertain", "not evaluable"}


#: A rule, a number, the instant of a call that breaks it, what the firm says, and the part of the audit that says so.
BROKEN: dict[str, tuple[str, str, Practice, str]] = {
    "us-tsr-hours": (hand.NEW_YORK, "2026-06-16T03:30", Practice(), "hours"),
    "kr-hours": ("+82215550123", "2026-07-08T18:00", Practice(), "hours"),
    "de-recording": (
        "+493023125123", "2026-08-12T17:00",
        Practice(conduct=Conduct(recorded=True, recording_announced=False)), "recordings",
    ),
    "fr-training-ban": (
        "+33123456789", "2026-07-08T09:00",
        Practice("training_account_sales", line_types={"+33123456789": "residential"}), "sectors",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_a_rule_that_nobody_read_is_uncertain_and_says_why(name: str) -> None:
    """A violation by the rule as if it had been read, and the doubt in words by the rule as nobody read it."""
    phone, at, firm, part = BROKEN[name]
    calls = hand.calls(hand.call(phone, hand.utc(at), id="c"))
    rows = []
    for book in (hand.trusted(rulebook.load()), _weak({name})):
        asked = book.select([name])
        audit = hand.audited(
            hand.leads(), calls, hand.checks(), now=NOW, rulebook=asked, practice=firm
        )
        frame = audit.hours if part == "hours" else audit.parts[part]
        rows.append(frame.iloc[0])
    assert [row["grade"] for row in rows] == ["violation", "uncertain"]
    assert "confidence in the rule is low (nobody read it)" in rows[1]["reason"]


def test_a_share_that_breaks_a_rule_that_nobody_read_is_uncertain() -> None:
    """Calls and shares of dropped calls alike; another rule that was read decides by itself."""
    late = hand.utc("2026-06-16T03:30")
    rows = [hand.call(at=late, id=f"c{n}") for n in range(10)]
    said = {row["id"]: "dropped" if n < 5 else "live" for n, row in enumerate(rows)}
    for names, grades in (
        ({"us-tsr-hours", "us-tsr-abandonment"}, {"uncertain"}),
        ({"us-tsr-abandonment"}, {"uncertain", "violation"}),
    ):
        audit = hand.audit(
            hand.leads(), hand.calls(*rows), hand.checks(), now=NOW, book=_weak(names),
            rules=["us-tsr-hours", "us-tsr-abandonment"], outcomes=said,
            practice=Practice(dialing="predictive"),
        )  # fmt: skip
        counts = audit.checks.set_index("check").loc[["calling_hours", "abandonment"]]
        assert {n for n in ("pass", "violation", "uncertain") if counts[n].sum()} == grades
        assert "nobody read it" in " ".join(audit.findings["reason"])


def test_a_story_ends_in_the_grade_that_it_begins_with(
    audits: tuple[compliance.Audit, compliance.Audit],
) -> None:
    """What a law passes and low confidence makes uncertain is said, and the number stands in the call alone."""
    for audit, confident in zip(audits, (True, False), strict=True):
        story = {step.name: step for step in audit.why("a")}
        grades = {row["check"]: row["grade"] for row in story["grades"].facts["rows"]}
        ends = {name: step for name, step in story.items() if name.endswith(".grade")}
        assert {name.removesuffix(".grade") for name in ends} >= {"calling_hours", "attempt_caps"}
        for name, step in ends.items():
            assert step.facts["rows"][0]["grade"] == grades[name.removesuffix(".grade")]
        said = ends["calling_hours.grade"].facts["rows"][0]
        assert said["grade"] == ("pass" if confident else "uncertain")
        assert said.get("rules of low confidence") == (None if confident else "us-tsr-hours")
        others = [step.rows for name, step in story.items() if name not in ("call", "records")]
        assert not [rows for rows in others if "3055550142" in str(rows)]


def test_a_check_that_does_not_reach_a_call_ends_no_law_of_its_story() -> None:
    """A cap of Florida says nothing of a call to New York, nor fails its story."""
    rows = hand.calls(hand.call(at=NOON, id="a"))
    audit = hand.audit(None, rows, None, now=NOW, rules=["us-tsr-hours", "us-fl-cap"])
    names = [step.name for step in audit.why("a")]
    assert "calling_hours.grade" in names
    assert "attempt_caps.grade" not in names
