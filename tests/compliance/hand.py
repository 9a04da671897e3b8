"""Frames made by hand for the audit: calls, leads, checks and callbacks with as few words as possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from dialframe import frames

NEW_YORK = "+12125550142"
CHICAGO = "+13125550142"
FLORIDA_PANHANDLE = "+18505550142"
PHOENIX = "+16025550142"
HONOLULU = "+18085550142"
TOLL_FREE = "+18005550142"
TORONTO = "+14165550142"
LONDON = "+442079460142"


def utc(text: str) -> datetime:
    """An instant from ISO 8601 text in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def moments(first: str, last: str) -> st.SearchStrategy[datetime]:
    """Instants to the microsecond between two days."""
    start = utc(first)
    return st.integers(0, (utc(last) - start) // timedelta(microseconds=1)).map(
        lambda shift: start + timedelta(microseconds=shift)
    )


def call(to: str | None = NEW_YORK, at: datetime | None = None, **fields: Any) -> dict[str, Any]:
    """An outbound call."""
    made = {
        "id": f"call_{to}_{at}",
        "direction": "outbound",
        "from_number": "+16465550180",
        "to_number": to,
        "created_at": at,
        "ended_at": at,
        "campaign_id": "cmp_1",
    }
    return made | fields


def lead(phone: str | None = NEW_YORK, **fields: Any) -> dict[str, Any]:
    """A lead that came long ago."""
    came = utc("2026-01-01")
    made = {
        "id": f"lead_{phone}",
        "campaign_id": "cmp_1",
        "phone": phone,
        "status": "new",
        "created_at": came,
        "updated_at": came,
    }
    return made | fields


def check(at: datetime, *, listed: bool | None = False, **fields: Any) -> dict[str, Any]:
    """An answer of the ledger."""
    made = {"phone": NEW_YORK, "listed": listed, "checked_at": at, "request_id": f"req_{at:%d%H}"}
    return made | fields


def calls(*rows: Mapping[str, Any]) -> pd.DataFrame:
    """Frame of the calls table."""
    return frames.from_records(frames.CALLS, rows)


def leads(*rows: Mapping[str, Any]) -> pd.DataFrame:
    """Frame of the leads table."""
    return frames.from_records(frames.LEADS, rows)


def checks(*rows: Mapping[str, Any]) -> pd.DataFrame:
    """Frame of the ledger."""
    return frames.from_records(frames.DNC_CHECKS, rows)


def callbacks(*rows: Mapping[str, Any]) -> pd.DataFrame:
    """Frame of the callbacks table."""
    return frames.from_records(frames.CALLBACKS, rows)


def missing(values: Iterable[object]) -> list[object]:
    """Values with None for every null."""
    return [None if pd.isna(value) else value for value in values]
