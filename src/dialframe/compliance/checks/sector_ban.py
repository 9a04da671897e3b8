"""Calls on forbidden subjects in words."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import (
    NOT_EVALUABLE,
    UNCERTAIN,
    VIOLATION,
    Check,
    View,
    call_columns,
)
from dialframe.compliance.rules.rule_model import Rule, SectorBanRule


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """On which subject nobody may be called."""
    reasons = [
        _reason(view.rules(numbers), grade, missing)
        for numbers, grade, missing in zip(
            rows["rules"], rows["grade"], rows["missing"], strict=True
        )
    ]
    return rows.assign(reason=pd.Series(reasons, index=rows.index, dtype="object"))


def _reason(laws: list[Rule], grade: str, missing: object) -> str:
    subjects = " and ".join(r.parameters.subject for r in laws if isinstance(r, SectorBanRule))
    if grade == VIOLATION:
        return f"nobody may be called about {subjects}, and the practice file says that this is what the call is about"
    if grade == UNCERTAIN:
        doubts = " ".join(dict.fromkeys(law.ceiling_reason for law in laws if law.ceiling_reason))
        sentence = f"whether the ban on calls about {subjects} reaches this call is not certain"
        return f"{sentence}: {doubts}" if doubts else sentence
    if grade == NOT_EVALUABLE:
        return f"whether the ban on calls about {subjects} reaches this call depends on {missing}"
    return f"a record lifts the ban on calls about {subjects}"


CHECK: Final = Check("sector_ban", "call", words, call_columns())
