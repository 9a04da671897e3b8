"""Rows of the service that say a person must not be called are evidence, once each."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dialframe.evidence import EvidenceLog
from dialframe.evidence.service_words import learn

NOW = datetime(2026, 10, 3, 12, tzinfo=UTC)
ADA, BOB = "+12025550142", "+12025550143"


def call(direction: str, disposition: str | None) -> dict[str, Any]:
    """A call between us (BOB) and a person (ADA)."""
    ends = (BOB, ADA) if direction == "outbound" else (ADA, BOB)
    return {"id": "call_1", "direction": direction, "disposition": disposition, "created_at": NOW,
            "from_number": ends[0], "to_number": ends[1]}  # fmt: skip


def event(kind: str, code: str) -> dict[str, Any]:
    """An event about ADA."""
    return {"id": "evt_1", "type": kind, "created_at": NOW.isoformat(),
            "data": json.dumps({"disposition_code": code, "phone": ADA})}  # fmt: skip


#: Table, row, and the number that it holds.
ROWS = [
    ("leads", {"id": "lead_1", "phone": ADA, "status": "dnc", "updated_at": NOW}, ADA),
    ("leads", {"id": "lead_1", "phone": ADA, "status": "new", "updated_at": NOW}, None),
    ("leads", {"id": "lead_1", "phone": "anonymous", "status": "dnc"}, None),
    ("calls", call("outbound", "do-not_call"), ADA),
    ("calls", call("inbound", "DNC"), ADA),
    ("calls", call("outbound", "DNCL"), None),
    ("calls", call("outbound", None), None),
    ("events", event("disposition.logged", "opt out"), ADA),
    ("events", event("call.completed", "DNC"), None),
    ("events", {"id": "evt_1", "type": "disposition.logged", "data": "{"}, None),
    ("campaigns", {"id": "cmp_1", "phone": ADA, "status": "dnc"}, None),
]


@pytest.mark.parametrize(("table", "row", "number"), ROWS)
def test_a_row_that_refuses_holds_its_person(
    table: str, row: dict[str, Any], number: str | None, tmp_path: Path
) -> None:
    log = EvidenceLog.open(tmp_path)
    assert learn(log, table, [row, row], NOW) == bool(number)
    assert learn(log, table, [row], NOW) == 0
    assert [each.number for each in log.records()] == [number] * bool(number)
    assert all(each.at <= NOW for each in log.records())
