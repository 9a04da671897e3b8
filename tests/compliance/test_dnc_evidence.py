"""What counts as a record of a number, and of what: at the face of `listed_calls` and `coverage`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd

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


#: A disposition, and whether it is a request.
CODES = (
    ("DNC", True), ("dnc", True), ("Do Not Call", True), ("do-not-call", True),
    ("do_not_call", True), ("REMOVE", True), ("Stop", True), ("opt-out", True),
    ("DNCL", False), ("NI", False), ("", False), (None, False),
)  # fmt: skip


def test_requests_are_read_by_their_code() -> None:
    """Spelling does not matter; a number that the dialer held back made no request."""
    phones = [f"+121255501{n:02}" for n in range(len(CODES))]
    asked = [
        hand.call(phone, NOON, disposition=code)
        for phone, (code, _) in zip(phones, CODES, strict=True)
    ]
    later = [hand.call(phone, NOON + 7 * DAY, id=f"later {phone}") for phone in phones]
    found = dnc.listed_calls(
        hand.calls(*asked, *later), hand.leads(), hand.checks(), now=NOW
    ).set_index("call_id")
    assert [
        (code, f"later {phone}" in found.index)
        for phone, (code, _) in zip(phones, CODES, strict=True)
    ] == list(CODES)


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


def test_a_missing_or_impossible_end_falls_back_on_the_start() -> None:
    """The request counts from the end of its call."""
    ends = {hand.NEW_YORK: None, hand.CHICAGO: NOON - DAY, hand.PHOENIX: NOON + DAY / 480}
    rows = [hand.call(phone, NOON, ended_at=end, disposition="DNC") for phone, end in ends.items()]
    rows += [hand.call(phone, NOON + 7 * DAY, id=f"later {phone}") for phone in ends]
    found = dnc.listed_calls(hand.calls(*rows), hand.leads(), hand.checks(), now=NOW)
    asked = found.set_index("call_id").loc[[f"later {phone}" for phone in ends], "requested_at"]
    assert asked.tolist() == [NOON, NOON, NOON + timedelta(minutes=3)]


#: Fields of a lead, and whether it was screened as callable at import.
LEADS: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"status": "dnc", "updated_at": NOON}, True),
    ({"status": "dnc"}, False),
    ({"status": "DNC", "updated_at": None}, False),
    ({"created_at": None}, False),
]


def test_a_lead_that_was_dnc_from_the_start_was_not_screened_clean() -> None:
    """Only a lead that came in as callable was screened at import."""
    phones = [f"+121255501{n:02}" for n in range(len(LEADS))]
    leads = [hand.lead(phone, **fields) for phone, (fields, _) in zip(phones, LEADS, strict=True)]
    calls = [hand.call(phone, NOON) for phone in phones]
    found = dnc.coverage(hand.leads(*leads), hand.calls(*calls), hand.checks(), now=NOW)
    source = found.numbers.set_index("phone").loc[phones, "source"]
    assert (source == "import screen").tolist() == [counts for _, counts in LEADS]


def test_a_request_explains_a_flag_that_was_set_with_it_or_later() -> None:
    """A flag from before the request has another reason."""
    basis = {
        NOON - DAY: "request + lead status", NOON: "request", NOON + DAY: "request",
        None: "request",
    }  # fmt: skip
    phones = [f"+121255501{n:02}" for n in range(len(basis))]
    rows = [hand.call(phone, NOON, disposition="DNC") for phone in phones]
    rows += [hand.call(phone, NOON + 7 * DAY, id=f"later {phone}") for phone in phones]
    leads = [
        hand.lead(phone, status="dnc", updated_at=at)
        for phone, at in zip(phones, basis, strict=True)
    ]
    found = dnc.listed_calls(hand.calls(*rows), hand.leads(*leads), hand.checks(), now=NOW)
    later = found.set_index("call_id").loc[[f"later {phone}" for phone in phones], "basis"]
    assert later.tolist() == list(basis.values())


def test_of_two_answers_at_one_instant_the_listed_one_counts() -> None:
    """Whatever their order."""
    orders = {hand.NEW_YORK: (True, False), hand.CHICAGO: (False, True)}
    told = [
        hand.check(NOON, listed=said, phone=phone, request_id=f"r{n}")
        for phone, order in orders.items()
        for n, said in enumerate(order)
    ]
    calls = [hand.call(phone, NOON + DAY) for phone in orders]
    found = dnc.listed_calls(hand.calls(*calls), hand.leads(), hand.checks(*told), now=NOW)
    assert found["grade"].tolist() == ["proven", "proven"]
