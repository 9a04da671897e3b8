"""Compares the findings of two audits, as rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

KEYS: Final = ["check", "call_id", "phone", "rule_id", "campaign_id", "at"]


def of_audits(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    reasons: Mapping[str, tuple[object, object]],
) -> pd.DataFrame:
    """Findings that are new, gone or graded otherwise, and what changed between the two audits.

    Args:
        before: Findings of the earlier audit, columns `result.FINDINGS`.
        after: Findings of the later one.
        reasons: Name of an input to its value then and now, such as the hash of the rule book;
            those that differ are named as possible causes.

    Returns:
        Columns of `KEYS`, `change` (new, gone, regraded), `before`, `after` (grades), `reason` of
        the later finding, and `because`: the inputs that differ.
    """
    keys = ["check", "call_id", "phone", "rule_id", "campaign_id", "at"]
    sides = [_keyed(frame, keys) for frame in (before, after)]
    both = sides[0].merge(
        sides[1], on=[*keys, "turn"], how="outer", suffixes=("_before", "_after")
    )
    same = (both["grade_before"] == both["grade_after"]).fillna(value=False).astype(bool)
    same &= (both["reason_before"] == both["reason_after"]).fillna(value=False).astype(bool)
    changed = both[~same]
    change = pd.Series("regraded", index=changed.index, dtype="str")
    change[changed["grade_before"].isna()] = "new"
    change[changed["grade_after"].isna()] = "gone"
    differing = [name for name, (then, now) in reasons.items() if then != now]
    because = ", ".join(differing) or "nothing that is named in the two audits"
    return pd.DataFrame(
        {
            **{key: changed[key] for key in keys},
            "change": change,
            "before": changed["grade_before"],
            "after": changed["grade_after"],
            "reason": changed["reason_after"].fillna(changed["reason_before"]),
            "because": pd.Series(because, index=changed.index, dtype="str"),
        }
    ).reset_index(drop=True)


def _keyed(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Findings by key; equal keys are told apart by their turn."""
    made = frame[[*keys, "grade", "reason"]].copy()
    for key in keys:
        made[key] = made[key].astype("str").fillna("")
    made["turn"] = made.groupby(keys).cumcount()
    return made
