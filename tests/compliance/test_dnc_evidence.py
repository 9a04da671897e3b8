"""What counts as a record of a number, and of what: at the face of `listed_calls` and `coverage`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd
import pytest

from compliance import hand
from dialframe.compliance import dnc

DAY = timedelta(days=1)
NOON = hand.utc("2026-06-15T12:00")
NOW = hand.utc("2026-07-01")


def _after(*rows: dict[str, Any], phone: str = hand.NEW_YORK, **further: Any) -> pd.DataFrame:
    """A call a week later to the number, graded by what is on record."""
    later = hand.call(phone, NOON + 7 * DAY, id="later")
    found = dnc.listed_calls(
        hand.calls(*rows, later), hand.leads(), hand.checks(), now=NOW, **further
    )
    return found[found["call_id"] == "later"]


@pytest.mark.parametrize(
    ("code", "counts"),
    [
        ("DNC", True), ("dnc", True), ("Do Not Call", True), ("do-not-call", True),
        ("do_not_call", True), ("REMOVE", True), ("Stop", True), ("opt-out", True),
        ("DNCL", False), ("NI", False), ("", False), (None, False),
    ],
)  # fmt: skip
def test_requests_are_read_by_their_code(code: str | None, counts: bool) -> None:
    """Spelling does not matter; a number that the dialer held back made no request."""
    assert len(_after(hand.call(at=NOON, disposition=code))) == counts


def test_the_account_names_its_own_codes() -> None:
    """What is not named is not taken."""
    row = hand.call(at=NOON, disposition="Bitte nicht mehr anrufen")
    assert len(_after(row)) == 0
    assert len(_after(row, dnc_codes=("bitte_nicht_mehr_anrufen",))) == 1


def test_a_request_belongs_to_the_customer_on_either_direction() -> None:
    """Who calls in to be left alone is the caller."""
    inbound = hand.call(
        "+16465550180", NOON, direction="inbound", from_number=hand.PHOENIX, disposition="DNC"
    )
    assert _after(inbound, phone=hand.PHOENIX)["grade"].tolist() == ["proven"]
    assert len(_after(inbound, phone=hand.CHICAGO)) == 0


@pytest.mark.parametrize("ended_at", [None, NOON - DAY])
def test_a_missing_or_impossible_end_falls_back_on_the_start(ended_at: Any) -> None:
    """The request counts from the end of its call."""
    found = _after(hand.call(at=NOON, ended_at=ended_at, disposition="DNC"))
    assert found["requested_at"].tolist() == [NOON]
    end = NOON + timedelta(minutes=3)
    assert _after(hand.call(at=NOON, ended_at=end, disposition="DNC"))[
        "requested_at"
    ].tolist() == [end]


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({}, True),
        ({"status": "dnc", "updated_at": NOON}, True),
        ({"status": "dnc"}, False),
        ({"status": "DNC", "updated_at": None}, False),
        ({"created_at": None}, False),
    ],
)
def test_a_lead_that_was_dnc_from_the_start_was_not_screened_clean(
    fields: dict[str, Any], counts: bool
) -> None:
    """Only a lead that came in as callable was screened at import."""
    lead = hand.lead(**fields)
    found = dnc.coverage(hand.leads(lead), hand.calls(hand.call(at=NOON)), hand.checks(), now=NOW)
    assert (found.numbers["source"] == "import screen").tolist() == [counts]


@pytest.mark.parametrize(
    ("updated_at", "basis"),
    [
        (NOON - DAY, "request + lead status"),
        (NOON, "request"),
        (NOON + DAY, "request"),
        (None, "request"),
    ],
)
def test_a_request_explains_a_flag_that_was_set_with_it_or_later(
    updated_at: Any, basis: str
) -> None:
    """A flag from before the request has another reason."""
    rows = [hand.call(at=NOON, disposition="DNC"), hand.call(at=NOON + 7 * DAY, id="later")]
    lead = hand.lead(status="dnc", updated_at=updated_at)
    found = dnc.listed_calls(hand.calls(*rows), hand.leads(lead), hand.checks(), now=NOW)
    assert found.set_index("call_id").loc["later", "basis"] == basis


def test_of_two_answers_at_one_instant_the_listed_one_counts() -> None:
    """Whatever their order."""
    for order in ((True, False), (False, True)):
        told = [hand.check(NOON, listed=said, request_id=f"r{n}") for n, said in enumerate(order)]
        found = dnc.listed_calls(
            hand.calls(hand.call(at=NOON + DAY)), hand.leads(), hand.checks(*told), now=NOW
        )
        assert found["grade"].tolist() == ["proven"]
