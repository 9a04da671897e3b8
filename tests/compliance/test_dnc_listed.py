"""Calls to listed numbers: what counts as a record, cases by hand, and the whole against a slow reading of all records."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance import hand
from dialframe import frames
from dialframe.compliance import dnc

DAY, HOUR, TICK = timedelta(days=1), timedelta(hours=1), timedelta(microseconds=1)
AT = hand.utc("2026-06-15T15:00")
NOW = hand.utc("2026-07-01")
Rows = list[dict[str, Any]]


def _listed(
    calls: Rows, leads: Rows | None = None, checks: Rows | None = None, **further: Any
) -> pd.DataFrame:
    return dnc.listed_calls(
        hand.calls(*calls), hand.leads(*(leads or [])), hand.checks(*(checks or [])),
        now=NOW, **further,
    )  # fmt: skip


def _call(name: str, at: datetime | None = AT, **fields: Any) -> dict[str, Any]:
    return hand.call(at=at, id=name, **fields)


def _asked(**fields: Any) -> dict[str, Any]:
    return _call("asked", **{"disposition": "DNC", **fields})


LATER = _call("later", AT + 7 * DAY)
IN: dict[str, Any] = {
    "direction": "inbound",
    "from_number": hand.NEW_YORK,
    "to_number": "+16465550180",
}
FLAG: dict[str, Any] = {"status": "dnc", "created_at": AT - 9 * DAY}

#: What is on record of a number (calls, leads, checks), and what is said of the calls to it, by their ids.
CASES: dict[str, tuple[Rows, Rows, Rows, dict[str, dict[str, Any]]]] = {
    # Only flagged numbers are looked at; inbound calls never are.
    "nothing speaks against it": ([_call("a")], [hand.lead()], [hand.check(AT - DAY)], {}),
    "listed since": (
        [_call("a"), _call("in", direction="inbound")], [], [hand.check(AT + DAY, listed=True)],
        {"a": {"grade": "indeterminate"}},
    ),
    "listed the day before": (
        [_call("a")], [], [hand.check(AT - 9 * DAY), hand.check(AT - DAY, listed=True)],
        {"a": {
            "grade": "proven", "listed_after": AT - 9 * DAY, "listed_by": AT - DAY,
            "evidence": "check req_1415 said listed at 2026-06-14T15:00:00Z; "
                        "check req_0615 said not listed at 2026-06-06T15:00:00Z",
        }},
    ),
    # Proven means strictly after the answer.
    **{
        f"listed {shift} from the call": (
            [_call("a")], [], [hand.check(AT + shift, listed=True)], {"a": {"grade": grade}}
        )
        for shift, grade in ((-TICK, "proven"), (0 * DAY, "indeterminate"), (TICK, "indeterminate"))
    },
    # Between the import and the first positive check nobody knows.
    "imported, then listed": (
        [_call("a"), _call("b", AT + 3 * DAY)], [hand.lead(created_at=AT - DAY)],
        [hand.check(AT + DAY, listed=True)],
        {"a": {"grade": "indeterminate", "listed_after": AT - DAY},
         "b": {"grade": "proven", "listed_after": AT - DAY}},
    ),
    # A second lead of a listed number does not make it callable; a negative check does.
    "listed, then imported": (
        [_call("a")], [hand.lead(created_at=AT - DAY)], [hand.check(AT - 5 * DAY, listed=True)],
        {"a": {"grade": "proven"}},
    ),
    "listed, then not": (
        [_call("a")], [hand.lead(created_at=AT - DAY)],
        [hand.check(AT - 5 * DAY, listed=True), hand.check(AT - 2 * DAY)], {"a": {"grade": "clear"}},
    ),
    "listed and not listed at one instant": (
        [_call("a", AT + DAY)], [], [hand.check(AT, listed=True), hand.check(AT)],
        {"a": {"grade": "proven"}},
    ),
    "not listed and listed at one instant": (
        [_call("a", AT + DAY)], [], [hand.check(AT), hand.check(AT, listed=True)],
        {"a": {"grade": "proven"}},
    ),
    # A request binds every campaign from the end of its call.
    "asked": (
        [_call("before", AT - DAY), _asked(ended_at=AT + HOUR), _call("during", AT + HOUR / 2),
         _call("after", AT + 5 * DAY, campaign_id="cmp_2")], [], [],
        {"before": {"grade": "not evaluable", "days_after_request": None, "requested_at": AT + HOUR},
         "asked": {"grade": "not evaluable", "days_after_request": None},
         "during": {"grade": "indeterminate", "days_after_request": None},
         "after": {"grade": "proven", "days_after_request": 5 - 1 / 24, "weekdays_after_request": 4}},
    ),
    "asked on a call that came in": ([_asked(**IN), LATER], [], [], {"later": {"grade": "proven"}}),
    # The end of a call that is missing or impossible falls back on its start.
    **{
        f"asked on a call that ended at {end}": (
            [_asked(ended_at=end), LATER], [], [], {"asked": {}, "later": {"requested_at": since}}
        )
        for end, since in ((None, AT), (AT - DAY, AT), (AT + DAY / 480, AT + DAY / 480))
    },
    # The service lists who asked; no record says that the number was not listed before.
    "asked, then listed and marked": (
        [_call("before", AT - DAY), _asked()], [hand.lead(status="dnc", updated_at=AT)],
        [hand.check(AT + DAY, listed=True)],
        {"before": {"grade": "not evaluable", "basis": "request"},
         "asked": {"grade": "not evaluable", "basis": "request"}},
    ),
    # A lead that is marked without a request became listed between its creation and its last change.
    "marked": (
        [_call("a", AT - DAY), _call("b", AT + DAY, campaign_id="cmp_2")],
        [hand.lead(**FLAG, updated_at=AT)], [],
        {"a": {"grade": "indeterminate", "basis": "lead status", "listed_after": AT - 9 * DAY},
         "b": {"grade": "proven", "basis": "lead status", "listed_after": AT - 9 * DAY}},
    ),
    # A request explains a mark that was set with it or later; one from before it has another reason.
    **{
        f"asked, and marked at {at}": (
            [_asked(), LATER], [hand.lead(status="dnc", updated_at=at)], [],
            {"asked": {}, "later": {"basis": basis}},
        )
        for at, basis in ((AT - DAY, "request + lead status"), (AT, "request"),
                          (AT + DAY, "request"), (None, "request"))
    },
    # Neither calls nor checks nor requests count after the moment of the audit.
    "listed after the moment": ([_call("a")], [], [hand.check(NOW + DAY, listed=True)], {}),
    "asked after the moment": ([_call("a"), _asked(at=NOW + DAY)], [], [], {}),
    "called after the moment": ([_call("a", NOW + DAY)], [hand.lead(status="dnc", updated_at=AT)], [], {}),
    "called nobody knows when": (
        [_call("a", None)], [], [hand.check(AT, listed=True)],
        {"a": {"grade": "not evaluable", "missing": "created_at"}},
    ),
    # Spelling does not matter; a number that the dialer held back made no request.
    **{
        f"disposition {code}": (
            [_asked(disposition=code), LATER], [], [], {"asked": {}, "later": {}} if is_request else {}
        )
        for is_request, codes in (
            (True, ("DNC", "dnc", "Do Not Call", "do-not-call", "do_not_call", "REMOVE", "Stop", "opt-out")),
            (False, ("DNCL", "NI", "", None)),
        )
        for code in codes
    },
}  # fmt: skip


@cache
def _graded() -> dict[str, dict[str, Any]]:
    """Every case on a number of its own, in one audit: `case/call` to its row."""
    return {str(row["call_id"]): row for row in _listed(*hand.apart(CASES)).to_dict("records")}


@pytest.mark.parametrize("case", CASES)
def test_a_call_is_graded_by_what_is_on_record_of_its_number(case: str) -> None:
    """Which calls have a row, and what it says."""
    wanted = CASES[case][-1]
    rows = {
        name.split("/")[1]: row for name, row in _graded().items() if name.split("/")[0] == case
    }
    assert set(rows) == set(wanted)
    for name, columns in wanted.items():
        for column, value in columns.items():
            found = None if pd.isna(rows[name][column]) else rows[name][column]
            assert found == (pytest.approx(value) if isinstance(value, float) else value)


def test_grace_makes_a_call_indeterminate_and_never_clear() -> None:
    """Ten business days are the regulator's outer limit, not a license."""
    rows = [_asked(), _call("after", AT + 5 * DAY)]
    assert _listed(rows)["grade"].tolist() == ["not evaluable", "proven"]
    assert _listed(rows, grace=14 * DAY)["grade"].tolist() == ["not evaluable", "indeterminate"]


def test_the_account_names_its_own_codes() -> None:
    """What is not named is not taken."""
    rows = [_asked(disposition="Bitte nicht mehr anrufen"), LATER]
    assert _listed(rows).empty
    assert "later" in set(_listed(rows, dnc_codes=("bitte_nicht_mehr_anrufen",))["call_id"])


def test_an_empty_frame_has_the_same_columns() -> None:
    """Schema and dtypes do not depend on the data."""
    empty = dnc.listed_calls(
        frames.empty(frames.CALLS), frames.empty(frames.LEADS), frames.empty(frames.DNC_CHECKS), now=NOW
    )  # fmt: skip
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


#: Fields of a lead, and whether it was screened as callable at import.
LEADS: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"status": "dnc", "updated_at": AT}, True),
    ({"status": "dnc"}, False),
    ({"status": "DNC", "updated_at": None}, False),
    ({"created_at": None}, False),
]


def test_a_lead_that_was_dnc_from_the_start_was_not_screened_clean() -> None:
    """Only a lead that came in as callable was screened at import."""
    phones = [f"+121255501{n:02}" for n in range(len(LEADS))]
    leads = [hand.lead(phone, **fields) for phone, (fields, _) in zip(phones, LEADS, strict=True)]
    calls = [hand.call(phone, AT) for phone in phones]
    found = dnc.coverage(hand.leads(*leads), hand.calls(*calls), hand.checks(), now=NOW)
    source = found.numbers.set_index("phone").loc[phones, "source"]
    assert (source == "import screen").tolist() == [counts for _, counts in LEADS]
