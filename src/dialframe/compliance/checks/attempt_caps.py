"""Caps on attempts in words."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View, basic_words, call_columns
from dialframe.compliance.rules.rule_model import CapRule
from dialframe.frames import Column

COLUMNS: Final = call_columns(
    Column(
        "attempts", "integer", "attempts in the window that the grade rests on, this one included"
    ),
    Column("allowed", "integer", "attempts that the rule allows"),
)
_OPEN, _UNCERTAIN = 2, 3


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """How many attempts there were in which window."""
    reasons = []
    names = ["severity", "rules", "attempts", "allowed", "within", "missing"]
    for row in rows[names].itertuples(index=False):
        law = next(iter(view.rules(row.rules)), None)
        if row.severity <= 1:
            reasons.append("no more attempts than the rules allow")
        elif not isinstance(law, CapRule):
            reasons.append("")
        else:
            reasons.append(_sentence(law, row))
    worded = rows.assign(reason=pd.Series(reasons, index=rows.index, dtype="object"))
    worded["evidence"] = worded["attempts"].astype("Int64").astype("str") + " attempts"
    return basic_words(worded)


def _sentence(law: CapRule, row: object) -> str:
    p = law.parameters
    severity, attempts, allowed, within, missing = (
        getattr(row, name) for name in ("severity", "attempts", "allowed", "within", "missing")
    )
    sentence = f"perhaps within {within}"
    if attempts:
        sentence = f"attempt {int(attempts)} within {within}, {int(allowed)} allowed"
    sentence += f", counted by {', '.join(p.scope).replace('_', ' ')}"
    if severity == _UNCERTAIN and p.subject_proxy:
        sentence += "; over several campaigns, whose subject may be the same"
    if severity == _UNCERTAIN and law.ceiling_reason:
        sentence += f"; {law.ceiling_reason}"
    if p.nature == "rebuttable_presumption":
        sentence += "; a presumption, which can be rebutted"
    return f"{sentence}; {missing} is missing" if severity == _OPEN else sentence


CHECK: Final = Check("attempt_caps", "call", words, COLUMNS, attempts_only=True)
