"""Empty fields of the records of calls in words."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View
from dialframe.frames import Column

COLUMNS: Final = (
    Column("call_id", "text", "call id"),
    Column("to_number", "text", "called number, E.164"),
    Column("campaign_id", "text", "campaign of the call"),
    Column("created_at", "instant", "the call was started, UTC"),
    Column("absent", "text", "fields of the call's record that are empty"),
    Column("grade", "text", "pass, uncertain, not evaluable or not asked"),
    Column("rule_id", "text", "rules on records that reach the call"),
    Column("citation", "text", "their citations"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)
#: What is said of a record that has them all.
WHOLE: Final = "the stored record has every field"
NO_RULE: Final = "a rule on records for the place of the number"


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """Which fields are empty."""
    del view
    absent = pd.Series([", ".join(n) for n in rows["absent"]], index=rows.index, dtype="object")
    reason = ("the stored record has no " + absent).where(absent != "", WHOLE)
    return rows.assign(absent=absent, evidence=absent, reason=reason)


CHECK: Final = Check(
    "records", "Calls on record with every field that the rules ask for", "call", words
)
