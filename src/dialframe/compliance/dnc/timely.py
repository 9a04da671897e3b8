"""Which calls had a Do-Not-Call check that was recent enough when they were made; knows no list itself.

A check too old does not make a call wrong: the safe harbour is a defence and not a duty, and what
the service itself screened before it dialled is not in this data. So it is uncertain, and a call
without any check before it is not evaluable.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.clock import Texts
from dialframe.compliance.dnc.evidence import nearest
from dialframe.compliance.grades import (
    CREATED_AT,
    DIRECTION,
    NOT_EVALUABLE,
    PASSED,
    UNCERTAIN,
)
from dialframe.compliance.intake import Intake, shaped
from dialframe.compliance.zones import NO_NUMBER
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
    Column("next_at", "instant", "oldest record after the call, UTC"),
    Column("next_listed", "boolean", "what that one said"),
    Column("state", "text", "checked in time, stale, only after or never"),
    Column("grade", "text", "pass, uncertain or not evaluable"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

NO_CHECK: Final = "a Do-Not-Call check at or before the call"
IN_TIME, STALE, AFTER, NEVER = "checked in time", "stale", "only after", "never"

_GRADES: Final = {
    IN_TIME: PASSED,
    STALE: UNCERTAIN,
    AFTER: NOT_EVALUABLE,
    NEVER: NOT_EVALUABLE,
}
_DAY: Final = pd.Timedelta(days=1)


def grade_calls(taken: Intake, table: pd.DataFrame, *, max_age_days: int) -> pd.DataFrame:
    """Each outbound call held against the records of its number; the index of `taken.outbound`."""
    calls = taken.outbound
    before = nearest(calls, table, "backward", exact=True)
    after = nearest(calls, table, "forward", exact=False)
    age = (calls["created_at"] - before["at"]) / _DAY
    found, later = before["at"].notna(), after["at"].notna()
    state = np.select(
        [(age <= max_age_days).to_numpy(), found.to_numpy(), later.to_numpy()],
        [IN_TIME, STALE, AFTER],
        NEVER,
    ).astype(object)
    missing, reason = _why(calls, state, before["source"], age, max_age_days)
    grades = pd.Series(state).map(_GRADES).to_numpy(dtype=object)
    values = {
        "call_id": calls["id"],
        "to_number": calls["to_number"],
        "campaign_id": calls["campaign_id"],
        "created_at": calls["created_at"],
        "checked_at": before["at"],
        "source": before["source"],
        "ref": before["ref"],
        "listed": before["listed"],
        "age_days": age,
        "next_at": after["at"],
        "next_listed": after["listed"],
        "state": state,
        "grade": np.where(missing == "", grades, NOT_EVALUABLE),
        "missing": pd.Series(missing, dtype=object).replace("", None),
        "reason": reason,
    }
    return shaped(values, COLUMNS)


def _why(
    calls: pd.DataFrame, state: Texts, source: pd.Series, age: pd.Series, max_age_days: int
) -> tuple[Texts, Texts]:
    """The missing input and the reason of each call; no input is missing where there is a grade."""
    words = {
        AFTER: "the first check on record came after the call",
        NEVER: "no check of the number is on record",
    }
    missing = np.array([NO_CHECK if each in words else "" for each in state], dtype=object)
    reason = np.array([words.get(each) for each in state], dtype=object)
    known = np.flatnonzero(missing == "")
    for row, kind, old in zip(known, source.iloc[known], age.iloc[known], strict=True):
        limit = "within" if state[row] == IN_TIME else "more than"
        reason[row] = f"{kind} {old:.2f} days before the call, {limit} {max_age_days} days"
    for rows, name, words_of in (
        (calls["to_number"].isna(), NO_NUMBER, "to_number is missing"),
        (calls["created_at"].isna(), CREATED_AT, "created_at is missing"),
        (~calls["direction_known"], DIRECTION, "direction is neither inbound nor outbound"),
    ):
        missing[rows.to_numpy(dtype=bool)] = name
        reason[rows.to_numpy(dtype=bool)] = words_of
    return missing, reason
