"""What counts as a record, and of what."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd
import pytest

from compliance import hand
from dialframe.compliance.dnc.evidence import REQUEST_CODES, flags, nearest, records, requests
from dialframe.compliance.intake import moment, take_calls, take_checks, take_leads

DAY = timedelta(days=1)
NOON = hand.utc("2026-06-15T12:00")
NOW = moment(hand.utc("2026-07-01"))


def _records(*leads: dict[str, Any], screen: bool = True) -> pd.DataFrame:
    return records(
        take_leads(hand.leads(*leads)),
        take_checks(hand.checks(hand.check(NOON))),
        import_screen_counts=screen,
    )


def test_checks_and_import_screens_are_kept_apart() -> None:
    """Each record says where it is from; the screen can be left out."""
    found = _records(hand.lead())
    assert found[["source", "ref", "listed"]].to_numpy().tolist() == [
        ["import screen", f"lead_{hand.NEW_YORK}", False],
        ["check", "req_1512", False],
    ]
    assert _records(hand.lead(), screen=False)["source"].tolist() == ["check"]


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
    """Only a lead that came in as callable says "not listed"."""
    assert ("import screen" in _records(hand.lead(**fields))["source"].tolist()) == counts


def _requests(*rows: dict[str, Any], codes: tuple[str, ...] = REQUEST_CODES) -> pd.DataFrame:
    return requests(take_calls(hand.calls(*rows)).every, codes)


@pytest.mark.parametrize(
    ("code", "counts"),
    [
        ("DNC", True),
        ("dnc", True),
        ("Do Not Call", True),
        ("do-not-call", True),
        ("do_not_call", True),
        ("REMOVE", True),
        ("Stop", True),
        ("opt-out", True),
        ("DNCL", False),
        ("NI", False),
        ("", False),
        (None, False),
    ],
)
def test_requests_are_read_by_their_code(code: str | None, counts: bool) -> None:
    """Spelling does not matter; a number that the dialer held back made no request."""
    assert len(_requests(hand.call(at=NOON, disposition=code))) == counts


def test_the_account_names_its_own_codes() -> None:
    """What is not named is not taken."""
    row = hand.call(at=NOON, disposition="Bitte nicht mehr anrufen")
    assert len(_requests(row)) == 0
    assert len(_requests(row, codes=("bitte_nicht_mehr_anrufen",))) == 1


def test_a_request_belongs_to_the_customer_on_either_direction() -> None:
    """Who calls in to be left alone is the caller."""
    found = _requests(
        hand.call(hand.CHICAGO, NOON, disposition="DNC"),
        hand.call(
            "+16465550180", NOON, direction="inbound", from_number=hand.PHOENIX, disposition="DNC"
        ),
    )
    assert set(found["phone"]) == {hand.CHICAGO, hand.PHOENIX}


def test_the_first_request_counts_from_the_end_of_its_call() -> None:
    """A missing or impossible end falls back on the start."""
    later, end = NOON + DAY, NOON + timedelta(minutes=3)
    found = _requests(
        hand.call(at=later, id="call_2", disposition="DNC"),
        hand.call(at=NOON, id="call_1", ended_at=end, disposition="DNC"),
        hand.call(hand.CHICAGO, NOON, ended_at=None, disposition="DNC"),
        hand.call(hand.PHOENIX, NOON, ended_at=NOON - DAY, disposition="DNC"),
        hand.call(hand.HONOLULU, None, disposition="DNC"),
    ).set_index("phone")
    assert found.loc[hand.NEW_YORK, ["call_id", "began_at", "at"]].tolist() == [
        "call_1",
        NOON,
        end,
    ]
    assert found.loc[[hand.CHICAGO, hand.PHOENIX], "at"].tolist() == [NOON, NOON]
    assert hand.HONOLULU not in found.index


@pytest.mark.parametrize(
    ("updated_at", "at"),
    [
        (NOON - DAY, NOON - DAY),
        (NOON, None),
        (NOON + DAY, None),
        (None, None),
    ],
)
def test_a_request_explains_a_flag_that_was_set_with_it_or_later(updated_at: Any, at: Any) -> None:
    """A flag from before the request has another reason."""
    asked = _requests(hand.call(at=NOON, disposition="DNC"))
    people = take_leads(hand.leads(hand.lead(status="dnc", updated_at=updated_at)))
    assert flags(people, asked, now=NOW)["at"].tolist() == ([] if at is None else [at])


def test_a_flag_without_a_request_holds_from_its_last_change() -> None:
    """Of several leads the earliest counts; without a time it holds from now."""
    people = take_leads(
        hand.leads(
            hand.lead(id="lead_1", status="dnc", updated_at=NOON),
            hand.lead(id="lead_2", status="dnc", updated_at=NOON - DAY),
            hand.lead(hand.CHICAGO, status="dnc", updated_at=None),
            hand.lead(hand.PHOENIX),
        )
    )
    found = flags(people, _requests(), now=NOW).set_index("phone")
    assert found.loc[hand.NEW_YORK, "lead_id"] == "lead_2"
    assert found.loc[hand.CHICAGO, "at"] == NOW
    assert hand.PHOENIX not in found.index


@pytest.mark.parametrize(
    ("direction", "exact", "refs"),
    [
        ("backward", True, ["b", "d", None, None]),
        ("backward", False, ["a", "d", None, None]),
        ("forward", True, ["b", None, None, None]),
        ("forward", False, ["d", None, None, None]),
    ],
)
def test_the_nearest_record_is_of_the_same_number(
    direction: Any, exact: bool, refs: list[str | None]
) -> None:
    """Of two at one instant the one that says listed is taken, from both sides."""
    table = records(
        take_leads(None),
        take_checks(
            hand.checks(
                hand.check(NOON - DAY, request_id="a"),
                hand.check(NOON, listed=True, request_id="b"),
                hand.check(NOON, request_id="c"),
                hand.check(NOON + DAY, request_id="d"),
            )
        ),
        import_screen_counts=False,
    )
    calls = hand.calls(
        hand.call(at=NOON),
        hand.call(at=NOON + 9 * DAY),
        hand.call(hand.CHICAGO, NOON),
        hand.call(),
    )
    found = nearest(calls, table, direction, exact=exact)
    assert hand.missing(found["ref"]) == refs
