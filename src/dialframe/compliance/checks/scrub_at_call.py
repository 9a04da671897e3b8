"""The age of Do-Not-Call checks in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_reasons import reasons
from dialframe.compliance.checks.check_results import (
    Check,
    View,
    basic_words,
    stamps,
)
from dialframe.compliance.rules.rule_model import FreshnessRule, Rule
from dialframe.compliance.tables import FRAMES

COLUMNS: Final = FRAMES["scrub_at_call"]
_DAY: Final = pd.Timedelta(days=1)


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """How old the record was, by which list, and what is not known of it."""
    screened = rows["state"].isin(["screened at import", "screened at import, list not declared"])
    screened |= rows["check_at"].isna() & rows["screen_at"].notna()
    screened |= (rows["state"] == "stale") & (rows["screen_at"] > rows["check_at"])
    at = rows["check_at"].where(~screened, rows["screen_at"])
    worded = rows.assign(
        checked_at=at,
        source=pd.Series("check", index=rows.index, dtype="object")
        .mask(screened, "import screen")
        .where(at.notna(), None),
        ref=rows["ref"].where(~screened, rows["screen_ref"]),
        listed=rows["listed"]
        .astype("object")
        .where(~screened & rows["check_at"].notna(), other=None),
        age_days=(rows["created_at"] - at) / _DAY,
        limit=rows["max_age"] / _DAY,
        copy=rows["refreshed"] / _DAY,
    )
    # A lead that the screen at import had found listed would not have been taken in.
    worded.loc[screened, "listed"] = False
    # 16 CFR 310.4(b)(3)(iv) counts days; some states count calendar quarters, so that a young check may be stale.
    is_young = (rows["state"] == "stale") & (worded["age_days"] <= worded["limit"])
    answers = rows["state"].mask(is_young, "in another quarter")
    # An old check is uncertain by itself, however sure the rule is.
    plain = reasons(
        CHECK.name, worded, view.law, answers,
        lambda row, _: {"records": ", ".join(sorted(row.lifted)), "doubts": ""},
    )  # fmt: skip
    lists = [lists_of(view.law.named(numbers)) for numbers in rows["rules"]]
    worded = worded.assign(
        plain_reason=plain, reason=plain + pd.Series(lists, index=rows.index, dtype="object"),
        detail=rows["state"].where(rows["state"] == "screened at import"),
        evidence=record_words(worded),
    )  # fmt: skip
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


CHECK: Final = Check("scrub_at_call", words=words, grouped=True)
