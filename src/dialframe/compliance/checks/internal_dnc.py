"""Requests not to be called, and whether they were honored, in words."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View, graded, shaped
from dialframe.compliance.rules.rule_model import HonorRule, allowed
from dialframe.frames import Column

COLUMNS: Final = (
    Column("phone", "text", "the number that asked, E.164"),
    Column("requested_at", "instant", "the request was made, UTC"),
    Column("request", "text", "the call, event or entry that it was made on, and its code"),
    Column("due_at", "instant", "end of the last day on which it is honored in time, UTC"),
    Column("unlisted_at", "instant", "newest record after the request that said not listed, UTC"),
    Column("honored_at", "instant", "oldest record after the request that shows it honored, UTC"),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("rule_id", "text", "rules that the grade rests on"),
    Column("citation", "text", "their citations"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """When each request was due, and what shows that it was honored."""
    reasons = []
    for row in rows.itertuples(index=False):
        law = None if pd.isna(row.first_rule) else view.law.by_number[int(row.first_rule)]
        reasons.append(_sentence(row, law))
    return rows.assign(
        reason=pd.Series(reasons, index=rows.index, dtype="object"),
        evidence=rows["code"].astype("object") + " on " + rows["ref"].astype("object"),
    )


def _sentence(row: Any, law: Any) -> str:
    if not isinstance(law, HonorRule):
        return "the rules asked have none on requests that held there on that day"
    day = f"{row.due_at:%Y-%m-%dT%H:%M:%SZ}"
    if not pd.isna(row.denied_at) and not pd.isna(row.honored_at) and row.honored_at <= row.due_at:
        sentence = (
            f"given to the service before {day}, whose check of {row.denied_at:%Y-%m-%dT%H:%M:%SZ} "
            "says not listed"
        )
    elif not pd.isna(row.honored_at) and row.honored_at <= row.due_at:
        sentence = f"shown as honored before {day}"
    elif not pd.isna(row.unlisted_at) and row.unlisted_at > row.due_at:
        sentence = f"still not listed after {day}, when it was due"
    elif not pd.isna(row.honored_at):
        sentence = f"first shown as honored after {day}, when it was due"
    elif row.missing == "the end of the time allowed":
        sentence = f"the time allowed runs until {day}"
    else:
        sentence = "no record after the request shows whether it was honored"
    return f"{sentence} ({allowed(law)})"


def requests(view: View) -> pd.DataFrame:
    """Every request of the period, columns `COLUMNS`."""
    rows = graded(view.frame("select * from internal_dnc order by request"), view, words)
    return shaped(
        rows.assign(
            phone="+" + rows["phone"].astype("str"), requested_at=rows["at_utc"], request=rows["evidence"],
        ),
        COLUMNS,
    )  # fmt: skip


CHECK: Final = Check("internal_dnc", "request", words, COLUMNS, by_call=False)
