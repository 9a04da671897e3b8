"""Calls to listed numbers: what counts as a record, cases by hand, and the whole against a slow reading of all records."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance import hand
from dialframe import frames
from dialframe.compliance import dnc

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
AT, NOON = hand.utc("2026-06-15T15:00"), hand.utc("2026-06-15T12:00")
NOW = hand.utc("2026-07-01")


def _listed(
    calls: list[dict[str, Any]],
    leads: list[dict[str, Any]] | None = None,
    checks: list[dict[str, Any]] | None = None,
    **further: Any,
) -> pd.DataFrame:
    return dnc.listed_calls(
        hand.calls(*calls),
        hand.leads(*(leads or [])),
        hand.checks(*(checks or [])),
        now=NOW,
        **further,
    )


def test_a_number_that_nothing_speaks_against_has_no_row() -> None:
    """Only flagged numbers are looked at; inbound calls never are."""
    found = _listed(
        [
            hand.call(at=AT),
            hand.call(hand.CHICAGO, AT),
            hand.call(hand.CHICAGO, AT, id="in", direction="inbound"),
        ],
        [hand.lead()],
        [hand.check(AT - DAY), hand.check(AT + DAY, phone=hand.CHICAGO, listed=True)],
    )
    assert found["to_number"].tolist() == [hand.CHICAGO]


def test_a_call_after_a_positive_check_is_proven() -> None:
    """With the answer that we had, and the interval in which the number became listed."""
    checks = [hand.check(AT - 9 * DAY), hand.check(AT - DAY, listed=True)]
    found = _listed([hand.call(at=AT)], checks=checks).iloc[0]
    assert found["grade"] == "proven"
    assert (found["listed_after"], found["listed_by"]) == (AT - 9 * DAY, AT - DAY)
    assert found["evidence"] == (
        "check req_1415 said listed at 2026-06-14T15:00:00Z; "
        "check req_0615 said not listed at 2026-06-06T15:00:00Z"
    )


@pytest.mark.parametrize(
    ("shift", "grade"),
    [
        (-timedelta(microseconds=1), "proven"),
        (timedelta(0), "indeterminate"),
        (timedelta(microseconds=1), "indeterminate"),
    ],
)
def test_a_check_at_the_instant_of_the_call_came_too_late_to_be_known(
    shift: timedelta, grade: str
) -> None:
    """Proven means strictly after the answer."""
    found = _listed([hand.call(at=AT)], checks=[hand.check(AT + shift, listed=True)])
    assert found["grade"].item() == grade


def test_a_call_inside_the_interval_is_indeterminate() -> None:
    """Between the import and the first positive check nobody knows."""
    found = _listed(
        [hand.call(at=AT), hand.call(at=AT + 3 * DAY, id="later")],
        [hand.lead(created_at=AT - DAY)],
        [hand.check(AT + DAY, listed=True)],
    )
    assert found["grade"].tolist() == ["indeterminate", "proven"]
    assert found["listed_after"].tolist() == [AT - DAY, AT - DAY]


def test_an_import_never_outweighs_a_positive_check() -> None:
    """A second lead of a listed number does not make it callable; a negative check would."""
    later = hand.lead(id="lead_2", created_at=AT - DAY)
    positive = hand.check(AT - 5 * DAY, listed=True)
    assert _listed([hand.call(at=AT)], [later], [positive])["grade"].item() == "proven"
    lifted = [positive, hand.check(AT - 2 * DAY)]
    assert _listed([hand.call(at=AT)], [later], lifted)["grade"].item() == "clear"


def test_requests_bind_every_campaign_from_the_end_of_their_call() -> None:
    """Days and weekdays since the request are given beside the grade."""
    asked = hand.call(at=AT, id="asked", disposition="DNC", ended_at=AT + HOUR)
    rows = [
        hand.call(at=AT - DAY, id="before"),
        asked,
        hand.call(at=AT + HOUR / 2, id="during"),
        hand.call(at=AT + 5 * DAY, id="after", campaign_id="cmp_2"),
    ]
    found = _listed(rows).set_index("call_id")
    assert found["grade"].to_dict() == {
        "before": "not evaluable",
        "asked": "not evaluable",
        "during": "indeterminate",
        "after": "proven",
    }
    assert found.loc["after", "days_after_request"] == pytest.approx(5 - 1 / 24)
    assert found.loc["after", "weekdays_after_request"] == 4
    assert found.loc[["before", "asked", "during"], "days_after_request"].isna().all()
    assert found["requested_at"].tolist() == [AT + HOUR] * 4


def test_grace_makes_a_call_indeterminate_and_never_clear() -> None:
    """Ten business days are the regulator's outer limit, not a license."""
    rows = [hand.call(at=AT, disposition="DNC"), hand.call(at=AT + 5 * DAY, id="after")]
    assert _listed(rows)["grade"].tolist() == ["not evaluable", "proven"]
    assert _listed(rows, grace=14 * DAY)["grade"].tolist() == [
        "not evaluable", "indeterminate",
    ]  # fmt: skip


def test_a_request_on_an_inbound_call_counts() -> None:
    """Who calls in to be left alone is not called back; nobody else is meant."""
    inbound = hand.call(
        "+16465550180", AT, direction="inbound", from_number=hand.PHOENIX, disposition="REMOVE"
    )
    found = _listed([inbound, *(hand.call(to, AT + DAY) for to in (hand.PHOENIX, hand.CHICAGO))])
    assert found[["to_number", "grade"]].to_numpy().tolist() == [[hand.PHOENIX, "proven"]]


def test_a_listing_after_a_request_has_the_request_as_its_reason() -> None:
    """The service lists who asked; no record says that it was not listed before."""
    rows = [hand.call(at=AT - DAY), hand.call(at=AT, disposition="DNC")]
    found = _listed(
        rows, [hand.lead(status="dnc", updated_at=AT)], [hand.check(AT + DAY, listed=True)]
    )
    assert found["grade"].tolist() == ["not evaluable", "not evaluable"]
    assert found["basis"].tolist() == ["request", "request"]


def test_a_flag_without_a_request_is_a_listing_of_unknown_day() -> None:
    """Between the lead's creation and its last change, and proven after it."""
    flagged = hand.lead(status="dnc", created_at=AT - 9 * DAY, updated_at=AT)
    rows = [hand.call(at=AT - DAY), hand.call(at=AT + DAY, campaign_id="cmp_2")]
    found = _listed(rows, [flagged])
    assert found["grade"].tolist() == ["indeterminate", "proven"]
    assert found["basis"].tolist() == ["lead status", "lead status"]
    assert found["listed_after"].tolist() == [AT - 9 * DAY] * 2


def test_nothing_after_the_moment_is_used() -> None:
    """Neither calls nor checks nor requests."""
    later = NOW + DAY
    assert len(_listed([hand.call(at=AT)], [], [hand.check(later, listed=True)])) == 0
    assert len(_listed([hand.call(at=AT), hand.call(at=later, disposition="DNC")])) == 0
    flagged = [hand.lead(status="dnc", updated_at=AT)]
    assert len(_listed([hand.call(at=later)], flagged)) == 0


def test_a_call_without_a_time_is_shown_as_not_evaluable() -> None:
    """It went to a listed number, but when?"""
    found = _listed([hand.call()], checks=[hand.check(AT, listed=True)])
    assert found["grade"].item() == "not evaluable"
    assert found["missing"].item() == "created_at"


def test_an_empty_frame_has_the_same_columns() -> None:
    """Schema and dtypes do not depend on the data."""
    empty = dnc.listed_calls(
        frames.empty(frames.CALLS),
        frames.empty(frames.LEADS),
        frames.empty(frames.DNC_CHECKS),
        now=NOW,
    )
    full = _listed([hand.call(at=AT)], checks=[hand.check(AT, listed=True)])
    assert empty.dtypes.equals(full.dtypes)
    assert len(empty) == 0


def _slowly(
    at: datetime,
    listed: list[datetime],
    clean: list[datetime],
    asked: list[datetime],
    marked: list[datetime],
) -> str:
    """The grade of one call to a number, read off all its records."""
    asked_at = min(asked, default=None)
    marks = [mark for mark in marked if asked_at is None or mark < asked_at]
    mark_at = min(marks, default=None)
    before = [moment for moment in listed if moment < at]
    lifted = any(moment > max(before) for moment in clean if moment < at) if before else False
    if before and not lifted:
        return "proven"
    if (asked_at is not None and at > asked_at) or (mark_at is not None and at > mark_at):
        return "proven"
    bad = [m for m in [*listed, *([mark_at] if mark_at else [])] if m >= at]
    good = [moment for moment in clean if moment >= at]  # an import after the call clears nothing
    first = min(bad, default=None)
    explained = first is None or (asked_at is not None and first > asked_at)
    if any(first is None or moment < first for moment in good):
        return "clear"
    newest = max((moment for moment in (*listed, *clean) if moment <= at), default=None)
    shown = newest is not None and newest not in listed
    return ("clear" if shown else "not evaluable") if explained else "indeterminate"


# Few instants, so that records and calls meet at the same one often.
INSTANTS = st.integers(0, 9).map(lambda day: AT + day * DAY)
SETS = st.lists(INSTANTS, max_size=3, unique=True)


#: What is on record of one number: when it was called, listed, clean, imported, when somebody asked, and marked.
NUMBERS = st.tuples(st.lists(INSTANTS, min_size=1, max_size=6), SETS, SETS, SETS, SETS, SETS)


@settings(max_examples=4)
@given(st.lists(NUMBERS, min_size=1, max_size=24))
def test_the_grade_is_what_a_slow_reading_says(numbers: list[tuple[list[datetime], ...]]) -> None:
    """Every constellation of checks, imports, requests and flags of a number, whatever others have."""
    rows, leads, checks = [], [], []
    phones = [f"+1212555{n:04}" for n in range(len(numbers))]
    for phone, (called, listed, clean, imports, asked, marked) in zip(
        phones, numbers, strict=True
    ):
        rows += [hand.call(phone, at, id=f"{phone}/{n}") for n, at in enumerate(called)]
        rows += [
            hand.call(
                "+16465550180", at, id=f"{phone}/asked_{n}", direction="inbound",
                from_number=phone, disposition="DNC",
            )
            for n, at in enumerate(asked)
        ]  # fmt: skip
        leads += [
            hand.lead(phone, id=f"{phone}/lead_{n}", created_at=at) for n, at in enumerate(imports)
        ]
        # A lead that was flagged at once says nothing of the time before.
        leads += [
            hand.lead(phone, id=f"{phone}/flag_{n}", status="dnc", created_at=at, updated_at=at)
            for n, at in enumerate(marked)
        ]
        checks += [hand.check(at, listed=True, phone=phone) for at in listed]
        checks += [hand.check(at, listed=False, phone=phone) for at in clean]
    found = _listed(rows, leads, checks)
    wanted = [
        (phone, at, _slowly(at, listed, clean, asked, marked))
        for phone, (called, listed, clean, _, asked, marked) in zip(phones, numbers, strict=True)
        if listed or asked or marked
        for at in called
    ]
    told = zip(found["to_number"], found["created_at"], found["grade"], strict=True)
    assert list(told) == wanted
    proven = found["grade"] == "proven"
    assert found.loc[proven, "listed_by"].notna().all()
    assert (found.loc[proven, "listed_by"] < found.loc[proven, "created_at"]).all()
    between = found[found["grade"] == "indeterminate"]
    assert (between["listed_by"] >= between["created_at"]).all()
    bounded = between[between["listed_after"].notna()]
    assert (bounded["listed_after"] < bounded["created_at"]).all()


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
