"""Calls, leads and appointments made by hand, in the service's own words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd

from dialframe import frames

START = datetime(2026, 3, 2, 15, tzinfo=UTC)
CAMPAIGN = "cmp_spring"


def phone(number: int) -> str:
    """A reserved fictional number."""
    return f"+1{212 + number // 100}55501{number % 100:02d}"


def lead(number: int, **fields: Any) -> dict[str, Any]:
    """A lead of the spring campaign, imported the day before the calls."""
    made = {
        "id": f"lead_{number}",
        "campaign_id": CAMPAIGN,
        "phone": phone(number),
        "created_at": START - timedelta(days=1),
    }
    return made | fields


def call(
    number: int, at_h: float = 0.0, *, answered: bool = False, **fields: Any
) -> dict[str, Any]:
    """An outbound call to the number of that lead, `at_h` hours after the start."""
    made_at = START + timedelta(hours=at_h)
    made = {
        "id": f"call_{number}_{at_h}",
        "direction": "outbound",
        "from_number": "+13125550199",
        "to_number": phone(number),
        "status": "completed",
        "created_at": made_at,
        "answered_at": made_at + timedelta(seconds=9) if answered else None,
        "ended_at": made_at + timedelta(seconds=40),
        "campaign_id": CAMPAIGN,
        "hangup_cause": "NORMAL_CLEARING" if answered else "NO_ANSWER",
    }
    return made | fields


def appointment(number: int, at_h: float, **fields: Any) -> dict[str, Any]:
    """An appointment booked for that lead's number, `at_h` hours after the start."""
    made = {
        "id": f"appt_{number}",
        "status": "scheduled",
        "phone": phone(number),
        "created_at": START + timedelta(hours=at_h),
        "scheduled_at": START + timedelta(days=3),
    }
    return made | fields


def calls(*records: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of the calls table."""
    return frames.from_records(frames.CALLS, records)


def leads(*records: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of the leads table."""
    return frames.from_records(frames.LEADS, records)


def appointments(*records: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of the appointments table."""
    return frames.from_records(frames.APPOINTMENTS, records)
