"""A call finds its lead by campaign and number, by number alone if that is clear, or not at all."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.made import CAMPAIGN, call, calls, lead, leads, phone
from dialframe import frames
from dialframe.analytics import match

LEAD, TWIN = lead(1), lead(1, id="lead_x")
#: The same number in another campaign.
ELSEWHERE = lead(1, id="lead_x", campaign_id="cmp_autumn")
INBOUND = call(9, direction="inbound", from_number=phone(1), to_number="+13125550199")

#: A call, the leads, the lead that is given and how.
MATCHES: dict[str, tuple[dict[str, Any], list[dict[str, Any]], str | None, str]] = {
    "campaign and number name the lead, though other campaigns have the number too":
        (call(1), [ELSEWHERE, LEAD], "lead_1", "campaign_and_number"),
    "without a campaign the number decides, if one lead only has it":
        (call(1, campaign_id=None), [LEAD, lead(2)], "lead_1", "number_only"),
    "in a campaign that has not the number, it decides too":
        (call(1, campaign_id="cmp_winter"), [LEAD, lead(2)], "lead_1", "number_only"),
    "several leads with the number, none in the call's campaign: no lead is given":
        (call(1, campaign_id="cmp_winter"), [LEAD, ELSEWHERE], None, "ambiguous"),
    "two leads with the number in the call's own campaign cannot be told apart":
        (call(1), [LEAD, TWIN], None, "ambiguous"),
    "a number that no lead has": (call(1, to_number=phone(9)), [LEAD], None, "none"),
    "no number": (call(1, to_number=None), [LEAD], None, "none"),
    "no number is not a number that two rows share":
        (call(1, to_number=None), [lead(1, phone=None)], None, "none"),
    "a call outside any campaign matches a lead outside any by its number alone":
        (call(1, campaign_id=None), [lead(1, campaign_id=None)], "lead_1", "number_only"),
    "the customer's number is where an inbound call comes from":
        (INBOUND, [LEAD], "lead_1", "campaign_and_number"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "people", "lead_id", "quality"), MATCHES.values(), ids=MATCHES)
def test_a_call_finds_its_lead_or_none(
    made: dict[str, Any], people: list[dict[str, Any]], lead_id: str | None, quality: str
) -> None:
    """By campaign and number, by number alone if that is clear, or not at all."""
    row = match(calls(made), leads(*people)).table.iloc[0]
    assert row["match_quality"] == quality
    assert (None if pd.isna(row["lead_id"]) else row["lead_id"]) == lead_id


def test_counts_and_index() -> None:
    """The result stands on the calls' index and counts each quality."""
    frame = calls(call(1), call(2, campaign_id=None), call(9), call(1, 5))
    frame.index = pd.Index(list("abcd"))
    result = match(frame, leads(lead(1), lead(2)))
    found, qualities = result.table, result.tables["qualities"]
    assert found.index.tolist() == list("abcd")
    assert dict(zip(qualities["match_quality"], qualities["calls"], strict=True)) == {
        "event": 0,
        "click_to_call": 0,
        "campaign_and_number": 2,
        "number_only": 1,
        "ambiguous": 0,
        "none": 1,
    }
    assert found.dtypes.astype(str).tolist() == ["str", "str"]


@pytest.mark.parametrize("empty", ["calls", "leads", "both"])
def test_nothing_to_match(empty: str) -> None:
    """Without calls there is no row, without leads there is no match."""
    frame = frames.empty(frames.CALLS) if empty != "leads" else calls(call(1))
    people = frames.empty(frames.LEADS) if empty != "calls" else leads(lead(1))
    found = match(frame, people).table
    assert found["match_quality"].tolist() == ["none"] * len(frame)


numbers = st.none() | st.integers(0, 3)
campaigns = st.sampled_from([None, CAMPAIGN, "cmp_autumn"])
rows = st.lists(st.tuples(numbers, campaigns), max_size=8)


@given(made=rows, people=rows)
def test_agrees_with_looking_through_every_lead(
    made: list[tuple[int | None, str | None]], people: list[tuple[int | None, str | None]]
) -> None:
    """The fast way gives what reading the whole list of leads for each call gives."""
    frame = calls(
        *(call(0, to_number=n if n is None else phone(n), campaign_id=c) for n, c in made)
    )
    table = leads(
        *(
            lead(i, phone=n if n is None else phone(n), campaign_id=c)
            for i, (n, c) in enumerate(people)
        )
    )
    found = match(frame, table).table
    for (number, campaign), (_, row) in zip(made, found.iterrows(), strict=True):
        named = [i for i, (n, _) in enumerate(people) if n is not None and n == number]
        exact = [i for i in named if campaign is not None and people[i][1] == campaign]
        if len(exact) == 1:
            expected = (f"lead_{exact[0]}", "campaign_and_number")
        elif len(exact) > 1 or len(named) > 1:
            expected = (None, "ambiguous")
        elif named:
            expected = (f"lead_{named[0]}", "number_only")
        else:
            expected = (None, "none")
        lead_id = None if pd.isna(row["lead_id"]) else row["lead_id"]
        assert (lead_id, row["match_quality"]) == expected


@pytest.mark.parametrize("odd", ["", "+01", "+-1", "12125550101", "+1 212", "+" + "9" * 20, None])
def test_numbers_of_another_kind_match_as_they_are_written(odd: str | None) -> None:
    """A number that is no plain E.164 changes the match of no other, and is not taken for one."""
    made = calls(call(1), call(2), call(3, to_number=odd), call(4, to_number="+1"))
    found = match(made, leads(lead(1), lead(3, phone=odd))).table["lead_id"]
    assert [None if pd.isna(one) else one for one in found] == [
        "lead_1", None, None if odd is None else "lead_3", None,
    ]  # fmt: skip
