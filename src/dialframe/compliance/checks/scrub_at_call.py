"""The age of Do-Not-Call checks in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View, basic_words, choose, stamps
from dialframe.compliance.rules.rule_model import FreshnessRule, Rule
from dialframe.frames import Column

COLUMNS: Final = (
    Column("call_id", "text", "call id"),
    Column("to_number", "text", "called number, E.164"),
    Column("campaign_id", "text", "campaign of the call"),
    Column("created_at", "instant", "the call was started, UTC"),
    Column("checked_at", "instant", "newest record at or before the call, UTC"),
    Column("source", "text", "check or import screen"),
    Column("ref", "text", "request id of the check, or lead id of the import screen"),
    Column("listed", "boolean", "what that record said"),
    Column("age_days", "number", "from the record to the call, days of 24 hours"),
    Column("next_at", "instant", "oldest check after the call, UTC"),
    Column("next_listed", "boolean", "what that one said"),
    Column(
        "state",
        "text",
        "checked in time, screened at import, stale, only after, never, and what else may be",
    ),
    Column("grade", "text", "pass, uncertain, not evaluable or not asked"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)
_DAY: Final = pd.Timedelta(days=1)


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """How old the record was, by which list, and what is not known of it."""
    screened = rows["state"].isin(["screened at import", "screened at import, list not declared"])
    screened |= rows["check_at"].isna() & rows["screen_at"].notna()
    screened |= (rows["state"] == "stale") & (rows["screen_at"] > rows["check_at"])
    at = rows["check_at"].where(~screened, rows["screen_at"])
    worded = rows.assign(
        checked_at=at,
        source=choose(rows, [(at.isna(), None), (screened, "import screen")], "check"),
        ref=rows["ref"].where(~screened, rows["screen_ref"]),
        listed=rows["listed"]
        .astype("object")
        .where(~screened & rows["check_at"].notna(), other=None),
    )
    worded.loc[screened, "listed"] = False
    worded["age_days"] = (worded["created_at"] - at) / _DAY
    limit = rows["max_age"] / _DAY
    ages = worded["age_days"].map("{:.2f}".format, na_action="ignore").astype("object")
    days = limit.map("{:.0f}".format, na_action="ignore").astype("object")
    old = worded["source"] + " " + ages + " days before the call"
    copy = (rows["refreshed"] / _DAY).map("{:.0f}".format, na_action="ignore").astype("object")
    worded["reason"] = choose(rows, [
        (rows["state"] == "checked in time", old + ", within " + days + " days"),
        (rows["state"] == "list may be older",
         old + "; the service's copy of the list may be " + copy + " days older, more than " + days + " days in all"),
        (rows["state"] == "screened at import", "screened at import " + ages + " days before the call, not checked; within " + days + " days"),
        ((rows["state"] == "stale") & (worded["age_days"] <= limit), old + ", in another calendar quarter"),
        (rows["state"] == "stale", old + ", more than " + days + " days"),
        (rows["state"] == "list not declared", old + ": the service did not list it; which lists its check covers nobody declared"),
        (rows["state"] == "screened at import, list not declared", "screened at import " + ages + " days before the call; which lists the screen covers nobody declared"),
        (rows["state"] == "before the list was covered", old + ", before the day on which the service's check began to cover the list"),
        (rows["state"] == "no rule", "the rules asked have none on Do-Not-Call lists where the number may be"),
        (rows["state"] == "exempt", pd.Series(["exempt by record: " + ", ".join(sorted(c)) for c in rows["lifted"]], index=rows.index)),
        (rows["state"] == "only after", "the first check on record came after the call"),
    ], "no check of the number is on record")  # fmt: skip
    lists = pd.Series(
        [lists_of(view.rules(numbers)) for numbers in rows["rules"]], index=rows.index
    )
    worded["plain_reason"] = worded["reason"]
    worded["reason"] = worded["reason"] + lists
    worded["detail"] = choose(
        rows, [(rows["state"] == "screened at import", "screened at import")]
    )
    worded["evidence"] = record_words(worded)
    worded = basic_words(worded)
    worded.loc[rows["missing_input"].notna(), "plain_reason"] = worded["reason"]
    return worded


def record_words(rows: pd.DataFrame) -> pd.Series:
    """The newest record of each row in words, null where there is none."""
    answer = rows["listed"].map({True: "listed", False: "not listed"}).astype("object")
    return (
        rows["source"].astype("object") + " " + rows["ref"].astype("object").fillna("(no id)") + " said " + answer
        + " at " + stamps(rows["checked_at"])
    )  # fmt: skip


def lists_of(rules: Sequence[Rule]) -> str:
    """The lists that some rules ask about, in words."""
    named = (
        r.parameters.registry + (f", of each {r.parameters.period}" if r.parameters.period else "")
        for r in rules
        if isinstance(r, FreshnessRule)
    )
    whole = "; ".join(dict.fromkeys(name.replace("_", " ") for name in named))
    return f"; list: {whole}" if whole else ""


CHECK: Final = Check("scrub_at_call", "call", words, COLUMNS, grouped=True)
