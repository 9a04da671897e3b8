"""Whatever an account holds, every analysis gives a right answer or a plain refusal, without a warning."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import Any

import pandas as pd
import pytest

from analytics.everything import EVERYTHING, Account
from analytics.made import START, appointment, appointments, call, calls, lead, leads
from dialframe import frames
from dialframe.errors import DialframeError


def _callbacks() -> pd.DataFrame:
    rows = [
        {"id": "cb_1", "lead_id": "lead_1", "campaign_id": "cmp_spring", "status": "pending",
         "scheduled_at": START, "created_at": START - timedelta(days=1)},
        {"id": "cb_2", "lead_id": None, "campaign_id": "cmp_spring", "status": "weird",
         "scheduled_at": None, "created_at": None},
    ]  # fmt: skip
    return frames.from_records(frames.CALLBACKS, rows)


def _mixed_offsets() -> pd.DataFrame:
    frame = calls(call(1), call(2, 3, answered=True))
    for name in ("created_at", "answered_at", "ended_at"):
        frame[name] = frame[name].dt.tz_convert("America/New_York")
    return frame


ACCOUNTS: dict[str, Account] = {
    "empty": Account(calls(), leads()),
    "one call": Account(calls(call(1, answered=True, disposition="NI")), leads(lead(1))),
    "one unanswered call": Account(calls(call(1)), leads(lead(1))),
    "all nulls": Account(
        calls(*({"id": f"call_{i}"} for i in range(3))), leads(*({"id": f"lead_{i}"} for i in range(3)))
    ),
    "no dispositions in one campaign": Account(
        calls(
            *(call(i, i, answered=True, disposition="NI") for i in range(5)),
            *(call(i, i, answered=True, campaign_id="cmp_x") for i in range(5, 10)),
        ),
        leads(*(lead(i, campaign_id="cmp_spring" if i < 5 else "cmp_x") for i in range(10))),
    ),
    "unknown codes only": Account(
        calls(*(call(i, i, answered=True, disposition="QQ", hangup_cause="??", status="!") for i in range(4))),
        leads(*(lead(i) for i in range(4))),
    ),
    "negative durations": Account(
        calls(call(1, answered=True, duration_seconds=-5, ended_at=START - timedelta(hours=1))),
        leads(lead(1)),
    ),
    "answered before created": Account(
        calls(call(1, answered_at=START - timedelta(minutes=5)), call(2)), leads(lead(1), lead(2))
    ),
    "duplicates": Account(
        calls(call(1), call(1), call(1, 2, answered=True), call(1, 2, answered=True)),
        leads(lead(1), lead(1)),
    ),
    "mixed offsets": Account(_mixed_offsets(), leads(lead(1), lead(2))),
    "leads without calls": Account(calls(), leads(*(lead(i) for i in range(5)))),
    "calls without leads": Account(calls(*(call(i, i) for i in range(5))), leads()),
    "only inbound": Account(calls(call(1, direction="inbound")), leads(lead(1))),
    "odd numbers": Account(
        calls(call(1, to_number="anonymous", from_number=None), call(2, to_number="+442079460001"),
              call(3, to_number="")),
        leads(lead(1, phone="anonymous"), lead(2, phone=None)),
    ),
    "broken events": Account(
        calls(call(1, answered=True)), leads(lead(1)), _callbacks(),
        appointments(appointment(1, 1), {"id": "appt_x"}),
        events=frames.from_records(frames.EVENTS, [
            {"id": "evt_1", "type": "disposition.logged", "data": json.dumps({"call_id": None})},
            {"id": "evt_2", "type": "ai_call.completed", "data": "not json"},
            {"id": "evt_3", "type": None, "data": None},
        ]),
        dnc_checks=frames.from_records(frames.DNC_CHECKS, [
            {"phone": None, "listed": None, "checked_at": None},
            {"phone": "+12125550101", "listed": True, "checked_at": START},
        ]),
        report=frames.from_records(frames.DISPOSITIONS, [
            {"date": None, "campaign_id": None, "disposition": None, "calls": None},
            {"date": "2026-03-02", "campaign_id": "cmp_spring", "disposition": "NI", "calls": 3},
        ]),
        imports=pd.DataFrame({"status": ["accepted", None, "unknown"]}),
    ),
}  # fmt: skip


# The hardest accounts are asked everything; of the others a third each, in turn, unless
# DIALFRAME_EVERY_ACCOUNT is set: the whole matrix takes a quarter of a minute.
HARDEST = ("all nulls", "odd numbers", "broken events")


def _pairs() -> list[tuple[str, str]]:
    whole = "DIALFRAME_EVERY_ACCOUNT" in os.environ
    return [
        (kind, name)
        for i, kind in enumerate(ACCOUNTS)
        for j, name in enumerate(EVERYTHING)
        if whole or (i + j) % 3 == 0 or (kind in HARDEST and name != "taxonomy_effect")
    ]


@pytest.mark.parametrize(("kind", "name"), _pairs())
def test_every_analysis_on_every_account(kind: str, name: str) -> None:
    """An answer that can be printed and saved, or one of our errors; a warning would be an error."""
    try:
        found: Any = EVERYTHING[name](ACCOUNTS[kind])
    except DialframeError as error:
        words = str(error)
        if len(words) > 20:
            return
        raise
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert str(found)
    assert isinstance(found.table, pd.DataFrame)


@pytest.mark.parametrize("name", EVERYTHING)
def test_an_empty_account_has_the_columns_of_a_full_one(name: str) -> None:
    """Columns and dtypes do not depend on the data."""
    empty, full = (EVERYTHING[name](ACCOUNTS[k]).table for k in ("empty", "one call"))
    assert empty.dtypes.astype(str).to_dict() == full.dtypes.astype(str).to_dict()
