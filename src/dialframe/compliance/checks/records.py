"""Empty fields of the records of calls in words."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View, call_columns
from dialframe.frames import Column

COLUMNS: Final = call_columns(
    Column("absent", "text", "fields of the call's record that are empty"),
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


CHECK: Final = Check("records", "call", words, COLUMNS)
