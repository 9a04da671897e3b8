"""Rates divide what they say they divide, and the mix sums to the attempts."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.made import START, call, calls
from dialframe.analytics import dispositions, summary

CALLS = calls(
    *(call(i) for i in range(4)),
    *(call(i, 1, answered=True, disposition="AM") for i in range(3)),
    call(4, answered=True, disposition="NI"),
    call(5, answered=True, disposition="WN"),
    call(6, answered=True, disposition="ZZTOP"),
    call(7, direction="inbound", answered=True, disposition="NI"),
    call(8, campaign_id=None),
)

RATES = [
    ("connection_rate", 6, 10, 0),
    ("human_contact_rate", 2, 10, 1),
    ("right_party_rate", 1, 10, 1),
    ("right_party_per_human", 1, 2, 0),
    ("machine_share", 3, 10, 1),
    ("machine_share_of_answered", 3, 6, 1),
]


@pytest.mark.parametrize(("metric", "numerator", "denominator", "unknown"), RATES)
def test_rates(metric: str, numerator: int, denominator: int, unknown: int) -> None:
    """Each rate is its two counts, with the calls of which nobody knows."""
    row = summary(CALLS).table.set_index("metric").loc[metric]
    assert (row["numerator"], row["denominator"], row["unknown"]) == (
        numerator,
        denominator,
        unknown,
    )
    assert row["low"] < numerator / denominator < row["high"]
    # One of ten calls of which nobody knows may be half of the people: no rate, only its bounds.
    if unknown:
        assert pd.isna(row["rate"])
        assert row["high"] > (numerator + unknown) / denominator
        assert "nothing says" in row["why_null"]
    else:
        assert row["rate"] == pytest.approx(numerator / denominator)


def test_what_a_summary_leaves_out() -> None:
    """Set aside and noted calls are counted by reason."""
    excluded = summary(CALLS).excluded.set_index("reason")["count"]
    assert excluded[["counted", "inbound", "no_campaign", "unmapped"]].tolist() == [10, 1, 1, 1]


def test_mix() -> None:
    """Raw code and class stand side by side, the most frequent first, unmapped among them."""
    mix = dispositions(CALLS).table
    rows = mix[["disposition", "outcome", "calls", "unmapped"]].astype(object)
    assert rows.where(rows.notna(), None).to_numpy().tolist() == [
        [None, "no_answer", 4, 0],
        ["AM", "machine", 3, 0],
        ["NI", "not_interested", 1, 0],
        ["WN", "wrong_number", 1, 0],
        ["ZZTOP", "connected_unknown", 1, 1],
    ]
    assert mix["share"].tolist() == pytest.approx([0.4, 0.3, 0.1, 0.1, 0.1])
    assert mix["denominator"].tolist() == [10] * 5
    excluded = dispositions(CALLS).excluded.set_index("reason")["count"]
    assert excluded["inbound"] == 1


def test_window_and_click_to_call() -> None:
    """The window and the wish for click-to-call reach both."""
    since = START + timedelta(minutes=30)
    assert dispositions(CALLS, since=since).table["calls"].tolist() == [3]
    assert summary(CALLS, until=since).table["denominator"].iloc[0] == 7
    assert dispositions(CALLS, include_no_campaign=True).table["calls"].sum() == 11


_made = st.lists(
    st.tuples(
        st.booleans(),
        st.sampled_from([None, "NI", "AM", "ZZTOP", "DNCL", "Sale", "SALE"]),
        st.sampled_from(["outbound", "inbound"]),
    ),
    max_size=12,
)


@given(rows=_made)
def test_the_mix_sums_to_the_attempts(rows: list[tuple[bool, str | None, str]]) -> None:
    """Every attempt is in the mix once, and mix and rates agree on how many there are."""
    frame = calls(
        *(call(i, answered=a, disposition=d, direction=w) for i, (a, d, w) in enumerate(rows))
    )
    mix = dispositions(frame).table
    attempts = int(summary(frame).table["denominator"].iloc[0])
    assert mix["calls"].sum() == attempts
    assert not mix.duplicated(["disposition", "outcome"]).any()
    if attempts:
        assert mix["share"].sum() == pytest.approx(1)


def test_frames_keep_their_order() -> None:
    """Equal counts are in the order of their names, so the same calls give the same table."""
    mixed = calls(call(1, disposition="ZB"), call(2, disposition="ZA"))
    assert dispositions(mixed).table["disposition"].tolist() == ["ZA", "ZB"]
    assert isinstance(dispositions(mixed).table.index, pd.RangeIndex)
