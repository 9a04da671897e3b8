"""Every analysis as one call on an account of frames, so that one test can ask all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dialframe import analytics, frames


@dataclass(frozen=True)
class Account:
    """The frames of an account."""

    calls: pd.DataFrame
    leads: pd.DataFrame
    callbacks: pd.DataFrame = field(default_factory=lambda: frames.empty(frames.CALLBACKS))
    appointments: pd.DataFrame = field(default_factory=lambda: frames.empty(frames.APPOINTMENTS))
    events: pd.DataFrame = field(default_factory=lambda: frames.empty(frames.EVENTS))
    report: pd.DataFrame = field(default_factory=lambda: frames.empty(frames.DISPOSITIONS))
    imports: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame({"status": pd.array([], dtype="str")})
    )
    campaigns: pd.DataFrame = field(
        default_factory=lambda: frames.empty(frames.CAMPAIGNS).assign(
            _observed_at=pd.array([], dtype="datetime64[us, UTC]")
        )
    )


def beside(calls: pd.DataFrame, leads: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Callbacks, appointments, imports and a report that fit some calls and leads, a seventh of it off by one."""
    some = leads.iloc[:90].reset_index(drop=True)
    due = (some["created_at"] + pd.Timedelta(days=3)).dt.to_pydatetime()
    days = calls["created_at"].dt.strftime("%Y-%m-%d")
    keys = ["date", "campaign_id", "disposition"]
    report = calls.assign(date=days).groupby(keys, dropna=False).size().reset_index(name="calls")
    report["calls"] += np.arange(len(report)) % 7 == 0
    states = ["completed", "no-show", "cancelled"] * 30
    rows = [
        {"id": f"row_{i}", "lead_id": row.id, "campaign_id": row.campaign_id, "phone": row.phone,
         "scheduled_at": due[i], "created_at": row.created_at.to_pydatetime()}
        for i, row in enumerate(some.itertuples())
    ]  # fmt: skip
    return {
        "callbacks": frames.from_records(frames.CALLBACKS, [row | {"status": "pending"} for row in rows]),
        "appointments": frames.from_records(
            frames.APPOINTMENTS, [row | {"status": s} for row, s in zip(rows, states, strict=False)]
        ),
        "imports": pd.DataFrame({
            "campaign_id": leads["campaign_id"], "created_at": leads["created_at"],
            "status": np.where(np.arange(len(leads)) % 5 == 0, "duplicate", "accepted"),
        }),
        "report": frames.from_columns(
            frames.DISPOSITIONS, {n: list(report[n].astype(object).where(report[n].notna(), None)) for n in report}
        ),
    }  # fmt: skip


Ask = Callable[[Account], Any]


def as_table(found: Any) -> pd.DataFrame:
    """The frame of what an analysis gave; some give a frame alone."""
    table = found if isinstance(found, pd.DataFrame) else found.table
    assert isinstance(table, pd.DataFrame)
    return table


def _two(a: Account) -> list[str]:
    """Two campaigns; made-up ones where there are none."""
    known = pd.concat([a.calls["campaign_id"], a.leads["campaign_id"]]).dropna().unique()
    return [*sorted(str(name) for name in known), "cmp_a", "cmp_b"][:2]


#: Name to analysis; every public function that gives a result.
EVERYTHING: dict[str, Ask] = {
    "attempts": lambda a: analytics.attempts(a.calls, a.leads),
    "attempts_frame": lambda a: analytics.attempts_frame(
        a.calls, a.leads, campaigns=a.campaigns, events=a.events
    ),
    "caller_ids": lambda a: analytics.caller_ids(a.calls, a.leads),
    "carriers": lambda a: analytics.carriers(a.calls),
    "changes": lambda a: analytics.changes(a.calls, a.leads),
    "classify": lambda a: analytics.classify(a.calls),
    "cohorts": lambda a: analytics.cohorts(a.calls, a.leads),
    "compare": lambda a: analytics.compare(a.calls, a.leads, **dict(zip("ab", _two(a), strict=True))),
    "completeness": lambda a: analytics.completeness(a.calls, a.leads, events=a.events),
    "dispositions": lambda a: analytics.dispositions(a.calls),
    "duplicates": lambda a: analytics.duplicates(a.calls, a.leads),
    "forecast": lambda a: analytics.forecast(a.calls, a.leads),
    "funnel": lambda a: analytics.funnel(a.calls, a.leads, appointments=a.appointments),
    "hours": lambda a: analytics.hours(a.calls, a.leads),
    "machines": lambda a: analytics.machines(a.calls),
    "match": lambda a: analytics.match(a.calls, a.leads, events=a.events),
    "metrics": lambda a: analytics.metrics(a.calls, a.leads),
    "rank": lambda a: analytics.rank(a.calls, a.leads),
    "reconcile": lambda a: analytics.reconcile(a.calls, report=a.report),
    "recycle": lambda a: analytics.recycle(a.calls, a.leads),
    "scorecard": lambda a: analytics.scorecard(a.calls, a.leads, by="campaign_id"),
    "speed_to_lead": lambda a: analytics.speed_to_lead(a.calls, a.leads),
    "summary": lambda a: analytics.summary(a.calls),
    "time_to_contact": lambda a: analytics.time_to_contact(a.calls, a.leads),
}  # fmt: skip
