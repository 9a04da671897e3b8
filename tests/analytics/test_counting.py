"""Each call is counted or has one reason, and the reasons sum to the calls."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.made import START, call, calls
from dialframe.analytics.attempt.call_scope import balance, latest, scope
from dialframe.analytics.attempt.classify import classes

WINDOW = {"since": START, "until": START + timedelta(days=1)}

CASES = [
    ({}, None),
    ({"created_at": START - timedelta(seconds=1)}, "outside_window"),
    ({"created_at": START + timedelta(days=1)}, "outside_window"),
    ({"direction": "inbound"}, "inbound"),
    ({"direction": "Outbound"}, None),
    ({"direction": None}, "direction_unknown"),
    ({"direction": "sideways"}, "direction_unknown"),
    ({"disposition": "DNCL", "hangup_cause": None}, "dnc_screened"),
    ({"status": "ringing", "hangup_cause": None}, "in_progress"),
    ({"disposition": "QUEUE", "hangup_cause": None}, "system_noise"),
    ({"campaign_id": None}, "no_campaign"),
    # The first reason that applies is the one.
    ({"campaign_id": None, "direction": "inbound"}, "inbound"),
    ({"direction": "inbound", "created_at": START + timedelta(days=9)}, "outside_window"),
]


@pytest.mark.parametrize(("fields", "reason"), CASES)
def test_reasons(fields: dict[str, Any], reason: str | None) -> None:
    """A call is set aside for the first reason that applies, or counted."""
    frame = calls(call(1, **fields))
    found = scope(frame, classes(frame).outcome, **WINDOW, include_no_campaign=False)
    assert found.counted.tolist() == [reason is None]
    assert [name for name, count in found.set_aside.items() if count] == [reason] * bool(reason)


def test_calls_outside_campaigns_can_be_counted() -> None:
    """Click-to-call counts when it is asked for."""
    frame = calls(call(1, campaign_id=None))
    found = scope(frame, classes(frame).outcome, **WINDOW, include_no_campaign=True)
    assert found.counted.tolist() == [True]


@given(picked=st.lists(st.sampled_from([fields for fields, _ in CASES]), max_size=10))
def test_reasons_sum_to_the_calls(picked: list[dict[str, Any]]) -> None:
    """Counted and set aside are all the calls, each once."""
    frame = calls(*(call(i, **fields) for i, fields in enumerate(picked)))
    found = scope(frame, classes(frame).outcome, **WINDOW, include_no_campaign=False)
    table = balance(found, {}, {})
    assert table["count"].sum() == len(picked)
    assert table["count"].iloc[0] == found.counted.sum()


def test_the_latest_instant_has_happened() -> None:
    """What is planned for the future does not say when the data was read."""
    frame = calls(call(1), call(2, 5)).assign(scheduled_at=START + timedelta(days=99))
    assert latest(frame, None) == START + timedelta(hours=5, seconds=40)
    assert latest(frame[:0]) is None
