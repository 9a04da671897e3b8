"""Calls that the customer may have asked for; knows callbacks, decides nothing.

A callback at the customer's wish can lift a limit, and only for that one call. The data does not
say who wished for it, so a match is a candidate: it is written into the reason, never into the grade.
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.intake import look_up

#: A call belongs to a callback from 15 minutes before its time until 60 minutes after.
EARLY: Final = pd.Timedelta(minutes=15)
LATE: Final = pd.Timedelta(minutes=60)

_STANDING: Final = ("pending", "completed")


def candidates(calls: pd.DataFrame, callbacks: pd.DataFrame, leads: pd.DataFrame) -> pd.Series:
    """For each call, what speaks for an exemption.

    Args:
        calls: Calls with `campaign_id`, `to_number` and `created_at` (UTC, no nulls).
        callbacks: Callbacks; a pending or completed one of the same campaign and number counts.
        leads: Leads, for the number behind a callback; a callback whose lead is gone matches none.

    Returns:
        `str` series on the index of `calls`, null where nothing speaks for it.
    """
    none = pd.Series(None, index=calls.index, dtype="str")
    due = _due(callbacks, leads)
    asked = calls[calls["campaign_id"].notna() & calls["to_number"].notna()]
    if due.empty or asked.empty:
        return none
    left = asked[["campaign_id", "to_number", "created_at"]].assign(row=asked.index)
    pairs = pd.merge_asof(
        left.sort_values("created_at"),
        due.sort_values("opens_at"),
        left_on="created_at",
        right_on="opens_at",
        left_by=["campaign_id", "to_number"],
        right_by=["campaign_id", "phone"],
    ).set_index("row")
    # Of one number's callbacks the latest that has opened closes last, so it alone can match.
    pairs = pairs[pairs["created_at"] <= pairs["scheduled_at"] + LATE]
    times = pairs["scheduled_at"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    none.loc[pairs.index] = "exempt candidate: callback " + pairs["id"] + " was due at " + times
    return none


def _due(callbacks: pd.DataFrame, leads: pd.DataFrame) -> pd.DataFrame:
    numbers = leads.drop_duplicates("id").set_index("id")["phone"]
    standing = callbacks[
        callbacks["status"].str.lower().isin(_STANDING)
        & callbacks["scheduled_at"].notna()
        & callbacks["campaign_id"].notna()
    ]
    phone = look_up(standing["lead_id"], numbers)
    due = standing.assign(phone=phone, opens_at=standing["scheduled_at"] - EARLY)
    return due[due["phone"].notna()][["id", "campaign_id", "phone", "scheduled_at", "opens_at"]]
