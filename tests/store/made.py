"""Made records for tests of the store: calls and leads with reserved numbers only."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dialframe.frames import CALLS, Table
from dialframe.store import Appended, Store

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CAMPAIGN = f"cmp_{uuid.UUID(int=1)}"
OTHER_CAMPAIGN = f"cmp_{uuid.UUID(int=2)}"


def at(minutes: float) -> datetime:
    """An instant so many minutes after the start."""
    return START + timedelta(minutes=minutes)


def phone(number: int) -> str:
    """A reserved fictional number, `+1 <area> 555 01xx`."""
    return f"+1{200 + number // 100 % 700:03d}55501{number % 100:02d}"


def call(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A call record as the client's models give it."""
    created_at = at(number)
    return {
        "id": f"call_{uuid.UUID(int=number)}",
        "direction": "outbound",
        "from_number": phone(9999),
        "to_number": phone(number),
        "status": "completed",
        "created_at": created_at,
        "answered_at": created_at + timedelta(seconds=9),
        "ended_at": created_at + timedelta(seconds=70),
        "duration_seconds": 61.0,
        "campaign_id": CAMPAIGN,
        "disposition": None,
        "hangup_cause": "normal_clearing",
    } | changes


def lead(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A lead as the client's models give it."""
    return {
        "id": f"lead_{uuid.UUID(int=number)}",
        "campaign_id": CAMPAIGN,
        "external_id": f"x-{number}",
        "phone": phone(number),
        "full_name": "Ada Example",
        "email": "ada@example.com",
        "status": "new",
        "attempts": 0,
        "custom_fields": {"lead_source": "web"},
        "last_attempt_at": None,
        "next_attempt_at": None,
        "disposition_code": None,
        "hangup_cause": None,
        "created_at": at(number),
        "updated_at": at(number),
    } | changes


def check(number: int = 0, minute: float = 1, **changes: Any) -> dict[str, Any]:
    """A Do-Not-Call check as the store keeps it."""
    return {
        "phone": phone(number),
        "listed": False,
        "checked_at": at(minute),
        "request_id": f"req_{minute}",
    } | changes


def put(
    store: Store, records: Iterable[Any], minute: float, table: Table = CALLS, **more: Any
) -> Appended:
    """Append records observed at a minute, the answer to a request that is named after it."""
    return store.append(table, records, observed_at=at(minute), request_id=f"req_{minute}", **more)


def bytes_of(folder: Path) -> bytes:
    """Every byte of every file below a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
