"""Calling hours: every edge by hand, and the whole against a slow audit of one call at a time."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance import hand
from dialframe import frames
from dialframe.compliance import hours
from dialframe.compliance.hours import COLUMNS
from dialframe.compliance.rules import rulebook
from dialframe.errors import ConfigError
from dialframe.phones import zones
from dialframe.phones.zones import area_codes

BOOK = rulebook.load().select(["us"])
EASTERN, CENTRAL = "America/New_York", "America/Chicago"


def _audit(*rows: dict[str, Any], **further: Any) -> pd.DataFrame:
    return hours.audit(hand.calls(*rows), rules=BOOK, **further)


def _each(*rows: dict[str, Any], **further: Any) -> pd.DataFrame:
    """Calls graded in one audit, each for itself."""
    return _audit(*(dict(row, id=f"call_{n}") for n, row in enumerate(rows)), **further)


NOON = hand.utc("2026-07-01T16:00")
LATE = hand.utc("2026-07-02T01:30")
#: A number in two zones: when it is called, the grade, and the minute by the clock that is shown.
IN_TWO_ZONES = [
    ("2026-07-01T12:59", "uncertain", 7 * 60 + 59),
    ("2026-07-01T13:00", "pass", 8 * 60),
    ("2026-07-02T00:59", "pass", 20 * 60 + 59),
    ("2026-07-02T01:00", "uncertain", 21 * 60),
    ("2026-07-02T01:59", "uncertain", 21 * 60 + 59),
    ("2026-07-02T02:00", "violation", 22 * 60),
    ("2026-07-01T11:59", "violation", 6 * 60 + 59),
]
#: Calls that cannot be placed, and what is missing.
LACKING = [
    (hand.call(hand.TOLL_FREE, NOON), "the number's time zone"),
    (hand.call("+17105550142", NOON), "the number's time zone"),
    (hand.call(hand.LONDON, NOON), "a rule in force on the day"),
    (hand.call(hand.TORONTO, NOON), "a rule in force on the day"),
    (hand.call(None, NOON), "to_number"),
    (hand.call("anonymous", NOON), "to_number"),
    (hand.call(), "created_at"),
    (hand.call(at=NOON, direction=None), "direction"),
    (hand.call(at=NOON, direction="internal"), "direction"),
]
#: Calls of which one audit is asked.
CALLS: dict[str, list[dict[str, Any]]] = {
    # 20:30 in winter and 21:30 in summer.
    "clocks": [hand.call(at=hand.utc(f"2026-03-{day}T01:30")) for day in ("08", "09")],
    "two zones": [hand.call(hand.FLORIDA_PANHANDLE, hand.utc(utc)) for utc, *_ in IN_TWO_ZONES],
    "shown": [hand.call(hand.FLORIDA_PANHANDLE, LATE)],
    "arizona": [
        hand.call("+19285550142", hand.utc(f"2026-{month}-01T14:30")) for month in ("07", "12")
    ],
    "lacking": [row for row, _ in LACKING],
    "before its day": [hand.call(hand.FLORIDA_PANHANDLE, hand.utc("2026-07-01T04:30"))],
    "no state": [hand.call(at=hand.utc("2026-07-01T12:00"))],
}


@cache
def _plain() -> pd.DataFrame:
    """One audit of all of them; the index of the frame means nothing."""
    rows = [
        dict(row, id=f"{name}/{n}") for name, calls in CALLS.items() for n, row in enumerate(calls)
    ]
    index = [7, 7, 1, 0, -3, *range(len(rows) - 5)]
    return hours.audit(hand.calls(*rows).set_index(pd.Index(index)), rules=BOOK)


def _of(name: str) -> pd.DataFrame:
    """Its rows for some of the calls."""
    found = _plain()
    return found[found["call_id"].str.startswith(f"{name}/").to_numpy()]


def test_rows_keep_their_order_and_any_index_is_accepted() -> None:
    """One row for each call, by position."""
    found = _plain()
    names = [f"{name}/{n}" for name, calls in CALLS.items() for n in range(len(calls))]
    assert found["call_id"].tolist() == names
    assert found.index.tolist() == list(range(len(names)))


def test_the_same_instant_moves_with_the_clocks() -> None:
    """01:30 UTC is 20:30 in New York in winter and 21:30 in summer."""
    assert _of("clocks")["grade"].tolist() == ["pass", "violation"]
    assert _of("clocks")["local_minute"].tolist() == [20 * 60 + 30, 21 * 60 + 30]


def test_a_number_in_two_zones_is_uncertain_between_them() -> None:
    """Inside in both passes, outside in both is a violation; the most exposed zone is shown."""
    found = _of("two zones")
    shown = zip(IN_TWO_ZONES, found["grade"], found["local_minute"], strict=True)
    assert [(case[0], grade, minute) for case, grade, minute in shown] == IN_TWO_ZONES


def test_an_uncertain_call_shows_both_local_times_and_where_it_is_inside() -> None:
    """The reader can check it by hand."""
    found = _of("shown")
    assert found["zones"].item() == "America/Chicago; America/New_York"
    assert found["local_times"].item() == (
        "2026-07-01T20:30:00-05:00 America/Chicago; 2026-07-01T21:30:00-04:00 America/New_York"
    )
    assert found["reason"].item() == (
        "inside 08:00-21:00 in America/Chicago, outside in America/New_York"
    )
    assert found["rule_id"].item() == "us-tsr-hours; us-tcpa-hours"
    assert found["citation"].item() == "16 CFR 310.4(c); 47 CFR 64.1200(c)(1)"


def test_arizona_is_uncertain_where_the_navajo_nation_keeps_summer_time() -> None:
    """928 has both clocks in summer, one in winter."""
    assert _of("arizona")["grade"].tolist() == ["uncertain", "violation"]


def test_a_missing_input_is_named_and_never_passes() -> None:
    """At noon in New York nothing passes that cannot be placed."""
    found = _of("lacking")
    assert set(found["grade"]) == {"not evaluable"}
    assert found["missing"].tolist() == [missing for _, missing in LACKING]
    assert found["reason"].notna().all()
    assert found[["rule_id", "local_minute"]].isna().all(axis=None)


def test_a_known_state_places_a_number_and_makes_a_pass_uncertain_that_it_contradicts() -> None:
    """All zones of the state count, with low confidence; eight in New York is five in California."""
    found = _each(
        hand.call(hand.TOLL_FREE, LATE), CALLS["no state"][0],
        states={hand.TOLL_FREE: "FL", hand.NEW_YORK: "CA"},
    )  # fmt: skip
    assert found["grade"].tolist() == ["uncertain", "uncertain"]
    assert found["zone_source"].iloc[0] == "state FL"
    assert found["zone_confidence"].iloc[0] == "low"
    assert _of("no state")["grade"].item() == "pass"
    assert found["reason"].iloc[1].endswith("area code and state disagree")


def test_inbound_calls_are_left_out_and_counted() -> None:
    """The rules speak of calls that one makes; a repeated row counts once."""
    at = hand.utc("2026-07-01T03:00")
    found = _audit(
        hand.call(at=at, id="call_1", direction="inbound"),
        hand.call(at=at, id="call_2"),
        hand.call(at=at, id="call_2"),
        hand.call(at=at, id=None),
        hand.call(at=at, id=None, direction=" Inbound "),
    )
    assert hand.missing(found["call_id"]) == ["call_2", None]
    assert found.attrs["excluded"] == {
        "inbound call": 2,
        "call after the moment of the audit": 0,
        "second row of a call that is already counted": 1,
    }


def _callback(minutes: int, **fields: Any) -> dict[str, Any]:
    made = {
        "id": "cb_1",
        "lead_id": f"lead_{hand.NEW_YORK}",
        "campaign_id": "cmp_1",
        "scheduled_at": LATE - timedelta(minutes=minutes),
        "status": "pending",
    }
    return made | fields


def test_a_callback_that_was_due_is_named_and_the_grade_stays() -> None:
    """From 15 minutes before its time to 60 after, same campaign and number, not cancelled."""
    cases: list[tuple[int, dict[str, Any], bool]] = [
        (0, {}, True),
        (-15, {}, True),
        (-16, {}, False),
        (60, {}, True),
        (61, {}, False),
        (0, {"status": "completed"}, True),
        (0, {"status": "cancelled"}, False),
        (0, {"campaign_id": "cmp_2"}, False),
        (0, {"lead_id": "lead_other"}, False),
        (0, {"lead_id": None}, False),
        (0, {"scheduled_at": None}, False),
    ]
    phones = [f"+121255501{n:02}" for n in range(len(cases))]
    rows = [
        _callback(minutes, **{"id": f"cb_{n}", "lead_id": f"lead_{phones[n]}", **fields})
        for n, (minutes, fields, _) in enumerate(cases)
    ]
    found = _each(
        *(hand.call(phone, LATE) for phone in phones),
        leads=hand.leads(*map(hand.lead, phones)), callbacks=hand.callbacks(*rows),
    )  # fmt: skip
    assert set(found["grade"]) == {"violation"}
    for n, (reason, case) in enumerate(zip(found["reason"], cases, strict=True)):
        assert (f"exempt candidate: callback cb_{n} was due at " in reason) == case[-1], case
        assert reason.count("exempt candidate") == case[-1], case


def test_of_many_callbacks_the_one_that_is_near_is_named() -> None:
    """An older and a later callback of the number do not hide it; a pass is not marked."""
    rows = [
        _callback(3000, id="cb_old"),
        _callback(30, id="cb_near"),
        _callback(-40, id="cb_next"),
    ]
    found = _audit(
        hand.call(at=LATE),
        hand.call(at=LATE - timedelta(hours=3)),
        leads=hand.leads(hand.lead()),
        callbacks=hand.callbacks(*rows, _callback(200, id="cb_noon")),
    )
    assert "callback cb_near was due at 2026-07-02T01:00:00Z" in found["reason"].iloc[0]
    assert found["reason"].iloc[1] == "inside 08:00-21:00 in America/New_York"


def _book(*changes: tuple[str, str]) -> rulebook.RuleBook:
    text = rulebook.packaged_text()
    for old, new in changes:
        text = text.replace(old, new, 1)
    return rulebook.parse(text).select(["us"])


def _first_day(day: str) -> tuple[str, str]:
    """The change that gives the next rule that always held a first day."""
    return '\nsince = "always"\n', f"\neffective_from = {day}\n"


def test_the_strictest_rule_in_force_decides_and_is_the_one_named() -> None:
    """One rule ends at 20:00 from July on: before that day it does not bind."""
    book = _book(
        ("end = 21:00:00", "end = 20:00:00"),
        _first_day("2026-07-01"),
    )
    rows = [hand.call(at=hand.at(f"2026-{day}T20:30", EASTERN)) for day in ("06-30", "07-01")]
    found = hours.audit(hand.calls(*rows), rules=book)
    assert found["grade"].tolist() == ["pass", "violation"]
    assert found["rule_id"].tolist() == ["us-tcpa-hours", "us-tsr-hours"]
    assert found["reason"].iloc[1] == "outside 08:00-20:00 in America/New_York"


def test_a_rule_begins_in_each_zone_on_its_own_day() -> None:
    """At 00:30 in the east it is still the day before in the west, where no rule binds yet."""
    dated = _first_day("2026-07-01")
    found = hours.audit(hand.calls(*CALLS["before its day"]), rules=_book(dated, dated))
    assert found["grade"].item() == "uncertain"
    assert _of("before its day")["grade"].item() == "violation"


def test_without_a_rule_in_force_nothing_passes() -> None:
    """Before the first day of every rule, and with an empty book, the missing rule is named."""
    dated = _first_day("2030-01-01")
    for book in (_book(dated, dated), rulebook.RuleBook("0", BOOK.generated_on, "", "none", ())):
        found = hours.audit(hand.calls(hand.call(at=LATE)), rules=book)
        assert found["grade"].item() == "not evaluable"
        assert found["missing"].item() == "a rule in force on the day"


def test_an_empty_frame_has_the_same_columns() -> None:
    """Schema and dtypes do not depend on the data."""
    empty = hours.audit(frames.empty(frames.CALLS), rules=BOOK)
    full = _plain()
    assert list(empty.columns) == [column.name for column in COLUMNS]
    assert empty.dtypes.equals(full.dtypes)
    assert len(empty) == 0


def test_a_frame_of_another_shape_is_refused_in_words() -> None:
    """A column that is missing, or an instant without a zone, is said at the door."""
    frame = hand.calls(hand.call(at=LATE))
    with pytest.raises(ConfigError, match="calls frame has no column to_number, created_at"):
        hours.audit(frame.drop(columns=["to_number", "created_at"]), rules=BOOK)
    naive = frame.assign(created_at=frame["created_at"].dt.tz_localize(None))
    with pytest.raises(ConfigError, match="created_at of the calls frame is not an instant"):
        hours.audit(naive, rules=BOOK)


def _slowly(phone: str, at: datetime, state: str | None) -> str:
    """The grade of one call, written down from the rule and nothing else."""
    place = zones.of_number(phone, state or ())
    names = place.names
    if not names or "US" not in place.regions:
        return "not evaluable"
    clocks = [at.astimezone(ZoneInfo(name)).time() for name in names]
    inside = {time(8) <= clock < time(21) for clock in clocks}
    return "uncertain" if len(inside) == 2 else "pass" if inside == {True} else "violation"


PHONES = st.sampled_from(
    [f"+1{code}5550142" for code in sorted(area_codes())] + [hand.LONDON, "unknown"]
)
# Half of the moments lie within seconds of an edge, in some zone and some season.
EDGES = st.builds(
    lambda day, hour, shift: (
        hand.utc("2024-01-01") + timedelta(days=day, hours=hour, microseconds=shift)
    ),
    st.integers(0, 1095),
    st.integers(0, 23),
    st.sampled_from([-1, 0, 1]),
)
MOMENTS = EDGES | hand.moments("2024-01-01", "2027-01-01")
STATES = st.sampled_from(["FL", "TX", "ID", "AK", "HI", "Nowhere"]) | st.none()


@settings(max_examples=5)
@given(st.lists(st.tuples(PHONES, MOMENTS, STATES), max_size=180))
def test_the_audit_grades_as_a_slow_one_does(
    cases: list[tuple[str, datetime, str | None]],
) -> None:
    """All at once or one by one, the grade is the same."""
    states = {phone: state for phone, _, state in cases if state}
    rows = [hand.call(phone, at, id=f"call_{n}") for n, (phone, at, _) in enumerate(cases)]
    found = _audit(*rows, states=states)
    wanted = [_slowly(phone, at, states.get(phone)) for phone, at, _ in cases]
    assert found["grade"].tolist() == wanted
