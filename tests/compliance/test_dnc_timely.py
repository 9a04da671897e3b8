"""Calls against the age of the newest check before them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd
import pytest

from compliance import hand
from dialframe.compliance import dnc

DAY, TICK = timedelta(days=1), timedelta(microseconds=1)
AT = hand.utc("2026-06-15T15:00")
NOW = hand.utc("2026-07-01")


def _calls(
    *checks: dict[str, Any], row: dict[str, Any] | None = None, **further: Any
) -> pd.DataFrame:
    given = hand.call(at=AT) if row is None else row
    leads = further.pop("leads", hand.leads())
    further = {"max_age_days": 31, **further}
    return dnc.coverage(leads, hand.calls(given), hand.checks(*checks), now=NOW, **further).calls


@pytest.mark.parametrize(
    ("ages", "state", "grade"),
    [
        ([timedelta(0)], "checked in time", "pass"),
        ([31 * DAY], "checked in time", "pass"),
        ([31 * DAY + TICK], "stale", "uncertain"),
        ([90 * DAY, 2 * DAY], "checked in time", "pass"),
        ([90 * DAY, -DAY], "stale", "uncertain"),
        ([-TICK], "only after", "not evaluable"),
        ([], "never", "not evaluable"),
    ],
)
def test_the_newest_check_at_or_before_the_call_decides(
    ages: list[timedelta], state: str, grade: str
) -> None:
    """31 days of 24 hours to the instant; a later check helps nobody."""
    found = _calls(*(hand.check(AT - age) for age in ages))
    assert (found["state"].item(), found["grade"].item()) == (state, grade)
    told = found["missing"].item() == "a Do-Not-Call check at or before the call"
    assert told == (grade == "not evaluable")


def test_a_check_of_another_number_does_not_count() -> None:
    """Numbers are compared whole."""
    assert _calls(hand.check(AT, phone=hand.CHICAGO))["state"].item() == "never"


def test_a_check_without_an_answer_does_not_count() -> None:
    """Only an answer is evidence."""
    assert _calls(hand.check(AT, listed=None))["state"].item() == "never"


def test_an_import_screen_is_a_grade_of_its_own_and_no_check() -> None:
    """Screened at import never passes; a newer check takes its place."""
    leads = hand.leads(hand.lead(created_at=AT - 5 * DAY))
    found = _calls(leads=leads)
    assert found[["state", "grade", "source", "ref"]].iloc[0].tolist() == [
        "screened at import", "uncertain", "import screen", f"lead_{hand.NEW_YORK}",
    ]  # fmt: skip
    assert found["reason"].item() == (
        "screened at import 5.00 days before the call, not checked; within 31 days"
    )
    checked = _calls(hand.check(AT - DAY), leads=leads)
    assert checked[["source", "grade"]].iloc[0].tolist() == ["check", "pass"]


def test_another_age_may_be_asked_for() -> None:
    """Some registries allow less."""
    assert _calls(hand.check(AT - 28 * DAY), max_age_days=28)["grade"].item() == "pass"
    assert _calls(hand.check(AT - 28 * DAY - TICK), max_age_days=28)["grade"].item() == "uncertain"


@pytest.mark.parametrize(
    ("row", "missing"),
    [
        (hand.call(None, AT), "to_number"),
        (hand.call(), "created_at"),
        (hand.call(at=AT, direction=None), "direction"),
    ],
)
def test_a_call_without_its_inputs_never_passes(row: dict[str, Any], missing: str) -> None:
    """A check of the number does not help a call that cannot be placed."""
    found = _calls(hand.check(AT), row=row)
    assert found["grade"].item() == "not evaluable"
    assert found["missing"].item() == missing
