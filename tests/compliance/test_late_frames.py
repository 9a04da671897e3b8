"""Frames of an audit are made when they are read, from the rows as they were audited."""

from __future__ import annotations

import copy
import pickle
from datetime import timedelta

import pandas as pd

from compliance import hand
from dialframe import compliance

START = hand.utc("2026-01-01T00:30")
FEDERAL = compliance.rulebook.load().select(["us"])


def audited(calls: pd.DataFrame) -> compliance.Audit:
    """The calls by the federal rules, a day later."""
    return compliance.audit(
        hand.leads(), calls, hand.checks(), now=START + timedelta(days=1), rulebook=FEDERAL
    )


def test_a_later_change_of_the_frames_changes_no_answer() -> None:
    """Frames are made when they are read, from the rows as they were audited."""
    calls = hand.calls(hand.call(at=START, id="c1"), hand.call(at=START, id="c2"))
    before = copy.deepcopy(calls)
    audit = audited(calls)
    calls.loc[0, "to_number"] = hand.PHOENIX
    calls["id"] = "changed"
    assert audit.hours["to_number"].tolist() == before["to_number"].tolist()
    assert audit.findings["call_id"].dropna().isin(["c1", "c2"]).all()


def test_an_audit_that_nobody_read_is_pickled_whole() -> None:
    """Frames are made first, since what they are made from does not travel."""
    audit = audited(hand.calls(hand.call(at=START)))
    again = pickle.loads(pickle.dumps(audit))  # noqa: S301 - it is our own
    pd.testing.assert_frame_equal(again.hours, audit.hours)
    assert list(again.parts) == list(audit.parts)
    assert again.calls == 1


def test_further_parts_leave_the_rest_as_it_is() -> None:
    """A part more, and nothing else changed."""
    audit = audited(hand.calls(hand.call(at=START)))
    more = audit.joined({"extra": pd.DataFrame({"a": [1]})})
    assert set(more.parts) == {*audit.parts, "extra"}
    assert len(more.parts["extra"]) == 1
    assert str(more) == str(audit)
    pd.testing.assert_frame_equal(more.findings, audit.findings)
