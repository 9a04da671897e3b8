"""Consent, revocation and reassigned numbers, by call and rule."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import (
    GRADES,
    PASSED,
    UNCERTAIN,
    VIOLATION,
    Check,
    View,
    shaped,
)

CHECK: Final = Check("consent", values=lambda row, _: {"presumed": row.kind_asked == "presumed"})


def table(view: View) -> pd.DataFrame:
    """Every call that a rule on consent reaches, once per rule, columns `FRAMES["consent"]`."""
    requests = view.frame("from consent_rows order by rule, call_id")
    # A rule that rests on no source that was read decides nothing: it passes nobody, and condemns nobody.
    weak = [view.law.by_number[int(rule)].confidence == "low" for rule in requests["rule"]]
    decided = requests["severity"].isin([GRADES.index(PASSED), GRADES.index(VIOLATION)])
    doubted = decided & pd.Series(weak, index=requests.index, dtype="bool")
    requests["by_query"] = requests["severity"]
    requests["severity"] = requests["severity"].mask(doubted, GRADES.index(UNCERTAIN))
    return shaped(CHECK.worded(requests, view), CHECK.columns)
