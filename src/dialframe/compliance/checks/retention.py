"""How far back records go, in words."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View, choose, graded, shaped
from dialframe.compliance.rules.rule_model import RetentionRule
from dialframe.frames import Column

COLUMNS: Final = (
    Column("rule_id", "text", "the rule"),
    Column("citation", "text", "its citation"),
    Column("years", "integer", "years that records are kept"),
    Column("wanted_from", "instant", "records are wanted from here on, UTC"),
    Column("oldest_at", "instant", "oldest call that is stored, UTC"),
    Column("grade", "text", "pass, uncertain or not evaluable"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)
_UNCERTAIN: Final = 3


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """How far back stored calls go, and what is to be kept."""
    far = (rows["oldest_at"] <= rows["wanted_from"]).fillna(value=False)
    sentence = choose(rows, [
        (far, "stored calls reach back as far as records are to be kept"),
        (rows["severity"] == 0, "stored calls reach back to the day on which the account began"),
        (rows["severity"] == _UNCERTAIN, "stored calls begin later than the account did; older ones may be kept elsewhere"),
    ], "stored calls begin later than records are wanted from")  # fmt: skip
    kept = [
        ", ".join(law.parameters.records)
        for law in (view.law.by_number[int(n)] for n in rows["rule"])
        if isinstance(law, RetentionRule)
    ]
    return rows.assign(
        reason=sentence + "; to be kept: " + pd.Series(kept, index=rows.index),
        evidence="the oldest stored call",
    )


def table(view: View) -> pd.DataFrame:
    """Every rule on keeping records, columns `COLUMNS`."""
    rows = view.frame("select * from retention order by rule")
    return shaped(graded(rows, view, words), COLUMNS)


CHECK: Final = Check("retention", "rule", words, COLUMNS, by_call=False)
