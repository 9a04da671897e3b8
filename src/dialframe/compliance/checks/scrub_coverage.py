"""Numbers by the age of their newest Do-Not-Call record, in words."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View, choose, shaped
from dialframe.compliance.checks.scrub_at_call import record_words
from dialframe.frames import Column

NUMBERS: Final = (
    Column("phone", "text", "number, E.164"),
    Column("lead_id", "text", "its lead, null when it has none or several"),
    Column("callable", "boolean", "a lead of it is neither dnc nor completed"),
    Column("called", "boolean", "an outbound call went to it"),
    Column("checked_at", "instant", "newest record, UTC"),
    Column("source", "text", "check or import screen"),
    Column("ref", "text", "request id of the check, or lead id of the import screen"),
    Column("listed", "boolean", "what that record said"),
    Column("age_days", "number", "from the record to now, days of 24 hours"),
    Column("max_age_days", "integer", "how old a record of this number may be"),
    Column("state", "text", "fresh, screened at import, stale or never checked"),
)
_DAY: Final = pd.Timedelta(days=1)


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """How old the newest record of each number is."""
    del view
    worded = records(rows)
    days = (rows["max_age"] / _DAY).map("{:.0f}".format).astype("object")
    worded["reason"] = choose(rows, [
        (rows["state"] == "never checked", "no check of the number is on record"),
        (rows["state"] == "stale", "the newest check on record is more than " + days + " days old"),
        ((rows["state"] == "screened at import") & (rows["severity"] > 2), "screened at import and not checked since"),
        (rows["state"] == "screened at import", "screened at import; which lists the screen covers nobody declared"),
    ], "checked within " + days + " days; which lists the check covers nobody declared")  # fmt: skip
    worded["evidence"] = record_words(worded)
    return worded


def records(rows: pd.DataFrame) -> pd.DataFrame:
    """The newest record of each number: `checked_at`, `source`, `ref`, `listed`."""
    screen = (rows["newest"] == "import screen").to_numpy()
    at = rows["check_at"].where(~screen, rows["screen_at"])
    return rows.assign(
        checked_at=at,
        source=choose(rows, [(at.isna(), None)], rows["newest"]) if at.isna().any() else rows["newest"],
        ref=rows["check_ref"].where(~screen, rows["screen_ref"]),
        listed=[None if pd.isna(a) else False if s else bool(v) for a, s, v in zip(at, screen, rows["listed"], strict=True)],
    )  # fmt: skip


def numbers(view: View) -> pd.DataFrame:
    """Every number that is callable or was called, columns `NUMBERS`."""
    numbers_read = view.frame("select * from coverage order by lead_place nulls last, call_place")
    newest = records(numbers_read)
    return shaped(
        newest.assign(
            phone=numbers_read["number"], age_days=(numbers_read["as_of"] - newest["checked_at"]) / _DAY,
            max_age_days=numbers_read["max_age"] // _DAY,
        ),
        NUMBERS,
    )  # fmt: skip


CHECK: Final = Check("scrub_coverage", "number", words, NUMBERS, by_call=False)
