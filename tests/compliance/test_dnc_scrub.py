"""How far checks reach: numbers, counts with their denominators, groups, single calls, and what to check next."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance import hand
from dialframe import frames
from dialframe.compliance import dnc
from dialframe.compliance.dnc import POPULATIONS
from dialframe.errors import ConfigError

DAY, TICK = timedelta(days=1), timedelta(microseconds=1)
CALLED = hand.utc("2026-06-15T15:00")
NOW = hand.utc("2026-07-01")
OLD = {"created_at": NOW - 90 * DAY}


def _cover(
    leads: list[dict[str, Any]],
    calls: list[dict[str, Any]] | None = None,
    checks: list[dict[str, Any]] | None = None,
    **further: Any,
) -> dnc.Coverage:
    return dnc.coverage(
        hand.leads(*leads),
        hand.calls(*(calls or [])),
        hand.checks(*(checks or [])),
        now=NOW,
        **further,
    )


@cache
def _one() -> dnc.Coverage:
    """The coverage of one lead, called and checked now; nothing changes it."""
    return _cover([hand.lead()], [hand.call(at=NOW)], [hand.check(NOW)])


#: Scrubs of a number as list and days of age, what the newest check is, and what the coverage says then.
NATIONAL = "US National DNC Registry"
SCRUBS: list[tuple[list[tuple[str, int]], int | None, str, str | None]] = [
    ([], None, "never checked", None),
    ([(NATIONAL, 3)], None, "fresh", "scrub"),
    ([(NATIONAL, 40), (NATIONAL, 3)], None, "fresh", "scrub"),
    ([(NATIONAL, 40)], None, "stale", "scrub"),
    (
        [("Indiana Do Not Call list", 3)],
        None,
        "never checked",
        None,
    ),  # not the list that the rules speak of
    ([(NATIONAL, 3)], 40, "fresh", "scrub"),
    ([(NATIONAL, 40)], 3, "fresh", "check"),
]


def test_a_scrub_against_the_list_is_a_record_of_the_number() -> None:
    """Beside the checks of the service: the newest of either counts."""
    phones = [f"{hand.NEW_YORK[:-1]}{n}" for n in range(len(SCRUBS))]
    rows = [
        (phone, name, NOW - age * DAY, False)
        for phone, (scrubs, *_) in zip(phones, SCRUBS, strict=True)
        for name, age in scrubs
    ]
    checks = [
        hand.check(NOW - age * DAY, phone=phone)
        for phone, (_, age, *_) in zip(phones, SCRUBS, strict=True)
        if age is not None
    ]
    scrubs = pd.DataFrame(rows, columns=["phone", "list", "checked_at", "listed"])
    calls = [hand.call(phone, CALLED) for phone in phones]
    numbers = _cover([], calls, checks, scrubs=scrubs).numbers.set_index("phone").loc[phones]
    found = zip(numbers["state"], hand.missing(numbers["source"]), strict=True)
    assert list(found) == [(state, source) for *_, state, source in SCRUBS]


#: Statuses of the leads of a number, and whether it is callable.
STATUSES: list[tuple[list[str | None], bool]] = [
    (["new"], True),
    (["contacted"], True),
    (["callback"], True),
    (["dnc"], False),
    (["completed"], False),
    ([None], True),
    (["something new"], True),
    (["dnc", "new"], True),
    (["dnc", "completed"], False),
]


def test_a_number_is_callable_if_any_lead_of_it_is() -> None:
    """An unknown status counts as callable: leaving it out would flatter the share."""
    phones = [f"{hand.NEW_YORK[:-1]}{n}" for n in range(len(STATUSES))]
    leads = [
        hand.lead(phone, id=f"{phone}/{n}", status=status)
        for phone, (statuses, _) in zip(phones, STATUSES, strict=True)
        for n, status in enumerate(statuses)
    ]
    wanted = {
        phone for phone, (_, is_callable) in zip(phones, STATUSES, strict=True) if is_callable
    }
    numbers = _cover(leads).numbers["phone"].tolist()
    assert set(numbers) == wanted
    assert len(numbers) == len(wanted)


def test_numbers_that_were_called_count_whatever_their_lead() -> None:
    """A completed lead's number, and a number without any lead."""
    leads = [hand.lead(hand.CHICAGO, status="completed", **OLD)]
    calls = [
        hand.call(hand.CHICAGO, NOW - DAY),
        hand.call(hand.PHOENIX, NOW - DAY),
        hand.call(hand.HONOLULU, NOW - DAY, direction="inbound"),
        hand.call(hand.NEW_YORK, NOW + DAY),
    ]
    numbers = _cover(leads, calls).numbers
    assert numbers[["phone", "callable", "called"]].to_numpy().tolist() == [
        [hand.CHICAGO, False, True],
        [hand.PHOENIX, False, True],
    ]


#: Age of the newest check of a number, and how fresh that makes it.
FRESHNESS = [
    (timedelta(0), "fresh"),
    (31 * DAY, "fresh"),
    (31 * DAY + timedelta(microseconds=1), "stale"),
    (-DAY, "never checked"),
    (None, "never checked"),
]


def test_a_number_is_as_fresh_as_its_newest_check() -> None:
    """A check after the moment is not yet known."""
    phones = [f"{hand.NEW_YORK[:-1]}{n}" for n in range(len(FRESHNESS))]
    ages = [age for age, _ in FRESHNESS]
    checks = [
        hand.check(NOW - age, phone=phone)
        for phone, age in zip(phones, ages, strict=True)
        if age is not None
    ]
    found = _cover([hand.lead(phone, created_at=None) for phone in phones], [], checks)
    states = found.numbers.set_index("phone").loc[phones, "state"].tolist()
    assert list(zip(ages, states, strict=True)) == FRESHNESS


def test_counts_have_their_denominators() -> None:
    """Fresh, stale and never add up to the numbers, and the import alone is told apart."""
    leads = [
        hand.lead(hand.NEW_YORK, created_at=NOW - DAY),
        hand.lead(hand.CHICAGO, **OLD),
        hand.lead(hand.PHOENIX, created_at=None),
        hand.lead(hand.HONOLULU, status="dnc", **OLD),
    ]
    calls = [hand.call(hand.HONOLULU, NOW - DAY), hand.call(hand.CHICAGO, NOW - DAY)]
    checks = [hand.check(NOW - DAY, phone=hand.HONOLULU, listed=True)]
    summary = _cover(leads, calls, checks).summary.set_index("population")
    counts = ["numbers", "fresh", "screened", "stale", "never", "listed"]
    assert summary.loc["callable", counts].tolist() == [3, 0, 1, 1, 1, 0]
    assert summary.loc["called", counts].tolist() == [2, 1, 0, 1, 0, 1]
    assert summary.loc["callable or called", counts].tolist() == [4, 1, 1, 1, 1, 1]
    assert summary.loc["called", "share"] == pytest.approx(1 / 2)


def test_groups_count_a_number_in_each_of_its_campaigns() -> None:
    """By campaign, callable and called numbers are those of that campaign."""
    leads = [
        hand.lead(hand.NEW_YORK, id="lead_1", campaign_id="cmp_1", **OLD),
        hand.lead(hand.NEW_YORK, id="lead_2", campaign_id="cmp_2", **OLD),
        hand.lead(hand.CHICAGO, campaign_id="cmp_2", status="dnc", **OLD),
    ]
    calls = [
        hand.call(hand.NEW_YORK, NOW - DAY, campaign_id="cmp_2"),
        hand.call(hand.CHICAGO, NOW - DAY, campaign_id=None),
    ]
    checks = [hand.check(NOW - DAY)]
    summary = _cover(leads, calls, checks, by="campaign_id").summary
    rows = summary[["group", "population", "numbers", "fresh"]].astype(object)
    assert rows.where(rows.notna(), None).to_numpy().tolist() == [
        ["cmp_1", "callable", 1, 1],
        ["cmp_1", "called", 0, 0],
        ["cmp_1", "callable or called", 1, 1],
        ["cmp_2", "callable", 1, 1],
        ["cmp_2", "called", 1, 1],
        ["cmp_2", "callable or called", 1, 1],
        [None, "callable", 0, 0],
        [None, "called", 1, 0],
        [None, "callable or called", 1, 0],
    ]


def test_groups_may_be_a_column_that_was_added() -> None:
    """A custom field, for instance; a called number has the groups of its leads."""
    leads = hand.leads(
        hand.lead(hand.NEW_YORK, custom_fields={"lead_source": "web"}),
        hand.lead(hand.CHICAGO, status="completed", custom_fields={"lead_source": "bought"}),
    )
    leads = leads.assign(source=frames.custom_field(leads, "lead_source"))
    calls = hand.calls(hand.call(hand.CHICAGO, NOW - DAY))
    found = dnc.coverage(leads, calls, hand.checks(), now=NOW, by="source").summary
    counted = found.set_index(["group", "population"])["numbers"].to_dict()
    assert counted[("web", "callable")] == 1
    assert counted[("bought", "callable")] == 0
    assert counted[("bought", "called")] == 1
    with pytest.raises(ConfigError, match="leads frame has no column region"):
        dnc.coverage(leads, calls, hand.checks(), now=NOW, by="region")


def test_a_number_of_several_leads_names_none() -> None:
    """Which lead is meant is not guessed."""
    leads = [hand.lead(id="lead_1"), hand.lead(id="lead_2"), hand.lead(hand.CHICAGO)]
    numbers = _cover(leads).numbers.set_index("phone")
    assert hand.missing(numbers["lead_id"]) == [None, f"lead_{hand.CHICAGO}"]


def test_nothing_gives_three_rows_of_nothing() -> None:
    """Empty frames keep the schema, and a share of nothing is null."""
    empty, full = _cover([]), _one()
    assert empty.summary["population"].tolist() == list(POPULATIONS)
    assert empty.summary["numbers"].tolist() == [0, 0, 0]
    assert empty.summary["share"].isna().all()
    for name in ("numbers", "calls", "summary"):
        assert getattr(empty, name).dtypes.equals(getattr(full, name).dtypes)


def test_coverage_shows_no_number() -> None:
    """Its repr and HTML count."""
    found = _one()
    assert repr(found) == (
        "Coverage(1 of 1 numbers have a check of at most 31 days on 2026-07-01; 1 calls)"
    )
    assert hand.NEW_YORK[2:] not in repr(found) + found._repr_html_()


def test_the_moment_needs_a_zone() -> None:
    """A naive moment is refused in words."""
    with pytest.raises(ConfigError, match="has no time zone"):
        dnc.coverage(hand.leads(), hand.calls(), hand.checks(), now=NOW.replace(tzinfo=None))


PHONES = st.sampled_from([f"{hand.NEW_YORK[:-1]}{n}" for n in range(10)])
AGES = st.integers(0, 80).map(lambda days: days * DAY)


@settings(max_examples=4)
@given(
    st.lists(st.tuples(PHONES, st.sampled_from(["new", "dnc", "completed"]), AGES), max_size=20),
    st.lists(st.tuples(PHONES, AGES), max_size=20),
    st.lists(st.tuples(PHONES, AGES, st.booleans()), max_size=20),
)
def test_every_number_is_counted_once(
    leads: list[Any], calls: list[Any], checks: list[Any]
) -> None:
    """The parts add up, and a slow look at each number says the same."""
    found = _cover(
        [
            hand.lead(phone, id=f"lead_{n}", status=status, created_at=NOW - age)
            for n, (phone, status, age) in enumerate(leads)
        ],
        [hand.call(phone, NOW - age, id=f"call_{n}") for n, (phone, age) in enumerate(calls)],
        [hand.check(NOW - age, phone=phone, listed=listed) for phone, age, listed in checks],
    )
    parts = found.summary[["fresh", "screened", "stale", "never"]].sum(axis=1)
    assert parts.tolist() == found.summary["numbers"].tolist()
    told = found.numbers.set_index("phone")["state"].to_dict()
    wanted = {phone for phone, status, _ in leads if status == "new"} | {p for p, _ in calls}
    assert set(told) == wanted
    for phone in wanted:
        ages = [age for other, age, _ in checks if other == phone]
        # A lead that is dnc and was changed before it came was never screened as clean.
        screens = [age for p, s, age in leads if p == phone and _screened(s, age)]
        state = "fresh" if any(age <= 31 * DAY for age in ages) else "never checked"
        if state != "fresh" and (ages or screens):
            state = "screened at import" if any(a <= 31 * DAY for a in screens) else "stale"
        assert told[phone] == state


def _screened(status: str, age: timedelta) -> bool:
    return status != "dnc" or hand.lead()["updated_at"] > NOW - age


CALL = hand.call(at=CALLED, id="a")
CHECKED = {"state": "checked in time", "grade": "pass"}
STALE = {"state": "stale", "grade": "uncertain"}
NO_CHECK = {"grade": "not evaluable", "missing": "a Do-Not-Call check at or before the call"}
SCREENED = hand.lead(id="lead", created_at=CALLED - 5 * DAY)

#: What is on record of a number (calls, leads, checks), and what is said of the call to it.
CASES: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    # 31 days of 24 hours to the instant; a later check helps nobody.
    **{
        name: ([CALL], [], [hand.check(CALLED - age) for age in ages], wanted)
        for name, ages, wanted in (
            ("at the call", [0 * DAY], CHECKED), ("31 days old", [31 * DAY], CHECKED),
            ("older by a tick", [31 * DAY + TICK], STALE), ("old and young", [90 * DAY, 2 * DAY], CHECKED),
            ("old and later", [90 * DAY, -DAY], STALE),
            ("later by a tick", [-TICK], NO_CHECK | {"state": "only after"}),
            ("none", [], NO_CHECK | {"state": "never"}),
        )
    },
    # Numbers are compared whole, and only an answer is evidence.
    "of another number": ([CALL], [], [hand.check(CALLED, phone=hand.CHICAGO)], {"state": "never"}),
    "without an answer": ([CALL], [], [hand.check(CALLED, listed=None)], {"state": "never"}),
    # Screened at import never passes; a newer check takes its place.
    "screened": ([CALL], [SCREENED], [], {
        "state": "screened at import", "grade": "uncertain", "source": "import screen", "ref": "screened/lead",
        "reason": "screened at import 5.00 days before the call, not checked; within 31 days",
    }),
    "screened and checked": (
        [CALL], [SCREENED], [hand.check(CALLED - DAY)], {"source": "check", "grade": "pass"}
    ),
    # A check of the number does not help a call that cannot be placed.
    **{
        f"no {name}": ([CALL | {name: None}], [], [hand.check(CALLED)], {"grade": "not evaluable", "missing": name})
        for name in ("to_number", "created_at", "direction")
    },
}  # fmt: skip


@cache
def _graded() -> dict[str, dict[str, Any]]:
    """Every case on a number of its own: its call in the table of calls."""
    leads, calls, checks = (hand.apart(CASES)[n] for n in (1, 0, 2))
    rows = _cover(leads, calls, checks, max_age_days=31).calls.to_dict("records")
    return {str(row["call_id"]).split("/", maxsplit=1)[0]: row for row in rows}


@pytest.mark.parametrize("case", CASES)
def test_the_newest_record_at_or_before_the_call_decides(case: str) -> None:
    """By its age to the instant, its kind, and whether the call can be placed at all."""
    wanted = CASES[case][-1]
    assert {name: _graded()[case][name] for name in wanted} == wanted


def test_another_age_may_be_asked_for() -> None:
    """Some registries allow less."""
    ages = {hand.NEW_YORK: 28 * DAY, hand.CHICAGO: 28 * DAY + TICK}
    calls = [hand.call(phone, CALLED) for phone in ages]
    checks = [hand.check(CALLED - age, phone=phone) for phone, age in ages.items()]
    found = _cover([], calls, checks, max_age_days=28).calls
    assert found.set_index("to_number").loc[list(ages), "grade"].tolist() == ["pass", "uncertain"]


LEADS = hand.leads(
    hand.lead(custom_fields={"lead_source": "web"}, created_at=None),
    hand.lead(id="lead_2", campaign_id="cmp_2", created_at=None),
    hand.lead(hand.CHICAGO, created_at=None, custom_fields={"lead_source": "bought"}),
    hand.lead(hand.PHOENIX, created_at=None, campaign_id="cmp_2"),
)
CALLS = hand.calls(
    hand.call(hand.CHICAGO, hand.utc("2026-06-17T16:00")),
    hand.call(hand.LONDON, hand.utc("2026-06-22T16:00")),
)
CHECKS = hand.checks(
    hand.check(NOW - DAY, phone=hand.NEW_YORK), hand.check(NOW - 40 * DAY, phone=hand.CHICAGO)
)


@cache
def _covered() -> dnc.Coverage:
    """The coverage of these."""
    return dnc.coverage(LEADS, CALLS, CHECKS, now=NOW)


def test_every_number_counts_once_in_each_view() -> None:
    """A number of two campaigns is in neither, so that the groups add up to all numbers."""
    covered = _covered()
    found = dnc.dashboard(covered, LEADS, CALLS, campaigns={"cmp_1": "First"})
    totals = found.by.groupby("view")["numbers"].sum()
    assert set(totals) == {len(covered.numbers)} == {4}
    of = {(row.view, row.group): row for row in found.by.itertuples()}
    assert of["campaign", "several"].fresh == 1
    assert of["campaign", "First"].stale == 1
    assert of["campaign", "cmp_2"].never == 1
    assert of["source", "web"].numbers == 1
    assert of["state", "US-IL"].stale == 1
    assert of["state", "GB"].numbers == 1
    assert of["week", "2026-06-15"].numbers == 1
    assert of["week", "none"].numbers == 2


def test_what_to_check_next_begins_with_what_may_be_called() -> None:
    """Open leads without any record first; the cost is in requests and minutes."""
    found = dnc.dashboard(_covered(), LEADS, CALLS)
    assert found.next["phone"].tolist() == [hand.PHOENIX, hand.CHICAGO, hand.LONDON]
    assert found.requests == 1
    assert found.minutes == 1 / 600


def test_a_dashboard_of_nothing_is_empty() -> None:
    """No numbers, no requests."""
    covered = dnc.coverage(hand.leads(), hand.calls(), hand.checks(), now=NOW)
    found = dnc.dashboard(covered, hand.leads(), hand.calls())
    assert (len(found.by), len(found.next), found.requests) == (0, 0, 0)
