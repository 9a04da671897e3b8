"""Calls on subjects on which nobody may be called: the practice file's purpose decides."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import pytest

from compliance import hand
from dialframe import frames
from dialframe.compliance import Question, audit
from dialframe.compliance.practice import (
    PURPOSES,
    SELLING,
    Practice,
    read_practice,
)
from dialframe.compliance.result import Audit
from dialframe.compliance.rules import rulebook

BOOK = rulebook.load()
NOW = datetime(2026, 11, 1, tzinfo=UTC)
PARIS = "+33123456789"


def asked(purpose: str, at: datetime, records: pd.DataFrame | None = None) -> Audit:
    """The audit of one call to a French home."""
    practice = Practice(purpose, dialing="manual", line_types={PARIS: "residential"})
    return hand.audited(
        frames.from_records(frames.LEADS, ()), hand.calls(hand.call(PARIS, at, id="c1")),
        frames.from_records(frames.DNC_CHECKS, ()), now=NOW, rules=["fr"], practice=practice,
        exemptions=records,
    )  # fmt: skip


def sectors(found: Audit) -> pd.DataFrame:
    """Rows of the check on banned subjects."""
    return found.parts["sectors"]


def test_a_banned_subject_is_a_violation_at_any_hour() -> None:
    """Energy works in homes: at eleven on a Wednesday, when calls of other purposes may be made."""
    found = asked("energy_renovation_sales", datetime(2026, 7, 8, 9, tzinfo=UTC))
    row = sectors(found).iloc[0]
    assert (row["grade"], row["call_id"]) == ("violation", "c1")
    assert "energy" in row["reason"]
    assert row["rule_id"] == "fr-energy-ban"
    assert found.hours.iloc[0]["grade"] == "pass"
    assert "sector_ban" in set(found.findings["check"])
    counted = found.checks.set_index("check").loc["sector_ban"]
    assert (counted["checked"], counted["violation"]) == (1, 1)


def test_other_sales_are_not_asked_about_it() -> None:
    """No rule reaches them, so that the check is not in the report at all."""
    found = asked("telemarketing_sales", datetime(2026, 7, 8, 9, tzinfo=UTC))
    assert sectors(found).empty
    assert "sector_ban" not in set(found.checks["check"])


@pytest.mark.parametrize(
    ("day", "grade"),
    [(datetime(2026, 8, 10, 9, tzinfo=UTC), None), (datetime(2026, 8, 12, 9, tzinfo=UTC), "uncertain")],
    ids=["the day before", "in force"],
)  # fmt: skip
def test_the_ban_begins_on_its_day(day: datetime, grade: str | None) -> None:
    """Adapting homes to age or disability: from 11 August 2026; its one source is not official, so it accuses nobody."""
    rows = sectors(asked("home_adaptation_sales", day))
    assert (rows.iloc[0]["grade"] if len(rows) else None) == grade


def test_a_sale_of_one_branch_is_a_sale() -> None:
    """The hours of telemarketing reach it too, of every purpose that a firm may name as a sale."""
    night = datetime(2026, 7, 8, 3, tzinfo=UTC)
    calls = hand.calls(*(hand.call(PARIS, night, id=p, campaign_id=p) for p in PURPOSES))
    practice = Practice(purposes={p: p for p in PURPOSES}, line_types={PARIS: "residential"})
    found = audit({"calls": calls}, Question(now=NOW, rules=["fr-hours"], practice=practice)).hours
    assert set(found.loc[found["grade"] == "violation", "call_id"]) == set(SELLING)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_practice_file_may_name_each_purpose(purpose: str) -> None:
    """As the rules name it."""
    assert read_practice(f'purpose = "{purpose}"', ()).purpose == purpose
