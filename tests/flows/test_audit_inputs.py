"""What an account's own tables say to an audit."""

from __future__ import annotations

import pandas as pd

from dialframe import frames
from dialframe.analytics import DEFAULT
from dialframe.flows.audit_inputs import outcomes

AT = "2026-10-05T15:00:00Z"


def _calls(*rows: tuple[str, str | None, str | None]) -> pd.DataFrame:
    named = ("id", "disposition", "answered_at")
    return frames.from_records(frames.CALLS, [dict(zip(named, row, strict=True)) for row in rows])


def test_outcomes_are_told_of_answered_calls_and_of_every_dropped_one() -> None:
    """DROP is a dropped call whether or not an answer is on record; NI is a person, A a machine."""
    calls = _calls(
        ("call_1", "DROP", None), ("call_2", "NI", AT), ("call_3", "A", AT), ("call_4", "NI", None),
        ("call_5", None, AT), ("call_2", "NI", AT),
    )  # fmt: skip

    said = outcomes(calls, DEFAULT)

    assert said is not None
    assert said.to_dict() == {"call_1": "dropped", "call_2": "live", "call_3": "machine"}


def test_outcomes_are_told_where_none_says_that_a_call_was_dropped() -> None:
    """Caps that follow a machine or a conversation need them as well."""
    said = outcomes(_calls(("call_1", "NI", AT), ("call_2", "A", AT)), DEFAULT)

    assert said is not None
    assert said.to_dict() == {"call_1": "live", "call_2": "machine"}


def test_codes_that_mean_none_of_the_three_tell_nothing() -> None:
    """No answer and busy are outcomes of calls that nobody took."""
    assert outcomes(_calls(("call_1", "NA", None), ("call_2", None, AT)), DEFAULT) is None
