"""Best time: what a test of hour and weekday may say, and what it must leave unsaid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analytics.made import call, calls, lead, leads
from dialframe import analytics, frames

ACCOUNTS = 40


def _calls(rng: np.random.Generator, numbers: int) -> pd.DataFrame:
    """Calls of people who differ from each other, at hours and days that make no difference."""
    tries = rng.integers(1, 7, numbers)
    who = np.repeat(np.arange(numbers), tries)
    size = len(who)
    human = rng.random(size) < rng.beta(0.4, 1.6, numbers)[who]
    minutes = rng.integers(0, 21, size) * 1440 + rng.integers(8, 17, size) * 60 + 360
    at = pd.Timestamp("2026-06-01", tz="UTC") + pd.to_timedelta(minutes, unit="min")
    rows: dict[str, Any] = {
        "id": [f"call_{i}" for i in range(size)], "direction": "outbound", "from_number": "+12125550190",
        "to_number": [f"+1312555{1000 + i:04d}" for i in who], "status": "completed", "created_at": at,
        "answered_at": pd.Series(at).where(human), "ended_at": at, "duration_seconds": 0,
        "campaign_id": "cmp_a", "disposition": np.where(human, "NI", "NA"), "hangup_cause": None,
    }  # fmt: skip
    empty = frames.empty(frames.CALLS)
    return pd.DataFrame(
        {name: pd.Series(rows[name], index=range(size)).astype(empty[name].dtype) for name in rows}
    )


def test_a_best_time_is_seldom_found_where_there_is_none() -> None:
    """Hour and weekday are two questions, and share one chance of a false alarm."""
    rng = np.random.default_rng(11)
    found = [
        analytics.hours(_calls(rng, 300)).tables["tests"]["differs"].any() for _ in range(ACCOUNTS)
    ]
    # Two tests at 5% each would be wrong in 10%: of 40 accounts more than 6 once in 1,000.
    assert sum(found) <= 6


def test_calls_that_go_by_the_clock_are_no_fault() -> None:
    """Attempt, hour and lead in step, and each lead always with the same end: no crash, no warning."""
    made = [call(1 + i % 30, i * 7 / 60, disposition=("NA", "ZZTOP", "NI")[i % 3],
                 answered=i % 3 > 0) for i in range(150)]  # fmt: skip
    found = analytics.hours(calls(*made), leads(*(lead(n) for n in range(1, 31))))
    assert found.answer
