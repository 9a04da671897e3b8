"""Numbers by the age of their newest Do-Not-Call record, in words."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_reasons import reasons
from dialframe.compliance.checks.check_results import Check, View, shaped
from dialframe.compliance.checks.scrub_at_call import record_words
from dialframe.compliance.tables import FRAMES

NUMBERS: Final = FRAMES["scrub_coverage"]
_DAY: Final = pd.Timedelta(days=1)


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """How old the newest record of each number is."""
    worded = records(rows).assign(limit=rows["max_age"] / _DAY)
    # A screen of which nobody said which lists it covers is no evidence of any.
    is_open = (rows["state"] == "screened at import") & (rows["severity"] <= 2)
    answers = rows["state"].mask(is_open, "screened at import, list not declared")
    reason = reasons(CHECK.name, worded, view.law, answers, lambda *_: {"doubts": ""})
    return worded.assign(reason=reason, evidence=record_words(worded))


def records(rows: pd.DataFrame) -> pd.DataFrame:
    """The newest record of each number: `checked_at`, `source`, `ref`, `listed`."""
    screen = (rows["newest"] == "import screen").to_numpy()
    at = rows["check_at"].where(~screen, rows["screen_at"])
    return rows.assign(
        checked_at=at,
        source=rows["newest"].where(at.notna(), None),
        ref=rows["check_ref"].where(~screen, rows["screen_ref"]),
        listed=[None if pd.isna(a) else False if s else bool(v) for a, s, v in zip(at, screen, rows["listed"], strict=True)],
    )  # fmt: skip


def numbers(view: View) -> pd.DataFrame:
    """Every number that is callable or was called, columns `NUMBERS`."""
    numbers_read = view.frame("select * from coverage order by lead_place nulls last, call_place")
    # A check and a screen are told apart: the screen keeps no answer.
    newest = records(numbers_read)
    return shaped(
        newest.assign(
            phone=numbers_read["number"], age_days=(numbers_read["as_of"] - newest["checked_at"]) / _DAY,
            max_age_days=numbers_read["max_age"] // _DAY,
        ),
        NUMBERS,
    )  # fmt: skip


CHECK: Final = Check("scrub_coverage", "number", words, by_call=False)
