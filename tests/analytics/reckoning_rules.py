"""Metrics of caller IDs, rules, promises and trust, counted anew in plain loops over what happened."""

from __future__ import annotations

import statistics

from analytics.books import Books, Counted
from analytics.truth import HOUR, MINUTE, SECOND


def in_window(b: Books, at: int) -> bool:
    """Whether an instant, milliseconds, is in the window that is looked at."""
    return (b.ask.since or 0) <= at < (b.ask.until or 2**60)


def _waits(b: Books) -> tuple[list[float], int, int]:
    """Milliseconds to the first dial of each lead, how many had none, and how many too early a one."""
    waits, none, early = [], 0, 0
    for i in b.leads:
        calls = b.by_lead.get(i)
        if not calls:
            none += 1
            continue
        wait = (calls[0].created or 0) - b.world.leads[i]["created_at"] // 1_000
        if wait < 0:
            early += 1
        else:
            waits.append(wait)
    return waits, none, early


def speed_to_lead(b: Books) -> Counted:
    """Median seconds from arrival to first attempt."""
    waits, none, early = _waits(b)
    value = statistics.median(waits) / SECOND if waits else None
    more = {"not_dialed": none, "dialed_before_arrival": early}
    return Counted(None, len(waits), value, b.excluded(**more))


def quick_first_dial(b: Books) -> Counted:
    """Leads dialed within minutes, of leads."""
    waits, _, early = _waits(b)
    quick = sum(w < b.choice("quick_min", 5) * MINUTE for w in waits)
    return b.share(quick, len(b.leads) - early, dialed_before_arrival=early)


def missing_disposition(b: Books) -> Counted:
    """Conversations without an outcome after an hour, of conversations."""
    due = [
        c
        for c in b.calls
        if c.talk is not None and c.talk >= 30 * SECOND and (c.ended or 0) < b.as_of - HOUR
    ]
    return b.share(sum(not c.logged for c in due), len(due))
