"""A funnel counts leads, in order, and says what it left out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from analytics.made import (
    CAMPAIGN,
    START,
    appointment,
    appointments,
    call,
    calls,
    lead,
    leads,
    phone,
)
from dialframe import frames
from dialframe.analytics import STAGES, Funnel, attempts_frame, cohorts, funnel, scorecard
from dialframe.errors import ConfigError

NAMES = [stage.name for stage in STAGES]

#: One lead at each stage: 1 never called, 2 not answered, ... 7 with an appointment.
PEOPLE = leads(
    *(lead(i, custom_fields={"lead_source": "web" if i % 2 else "fair"}) for i in range(1, 8))
)
CALLS = calls(
    call(2),
    call(3, answered=True, disposition="AM"),
    call(4, answered=True, disposition="WN"),
    call(5, answered=True, disposition="NI"),
    call(6, answered=True, disposition="SALE"),
    call(7),
    call(7, 4, answered=True, disposition="APPT"),
)


def _counts(result: Funnel) -> dict[str, int]:
    return {
        str(s): int(n) for s, n in zip(result.table["stage"], result.table["count"], strict=True)
    }


def _noted(result: Funnel) -> dict[str, int]:
    rows = result.excluded[result.excluded["count"] > 0]
    return {str(r): int(n) for r, n in zip(rows["reason"], rows["count"], strict=True)}


def test_booked_appointments_bound_those_that_answers_of_nobody_knows_whom_hide() -> None:
    """With a table of appointments only what came before a booking is unknown, not the booking."""
    people = leads(*(lead(i) for i in range(10)))
    dark = [call(i, answered=True) for i in range(1, 9)]
    made = calls(*dark, call(9, answered=True, disposition="APPT"))
    hidden = funnel(made, people).table.set_index("stage")["unknown"]
    assert hidden["appointment"] == hidden["positive"] == 8
    booked = appointments(appointment(9, 1), appointment(3, 1))
    known = funnel(made, people, appointments=booked).table.set_index("stage")
    assert (known.loc["appointment", "count"], known.loc["appointment", "unknown"]) == (1, 1)
    assert known.loc["positive", "unknown"] == 8


def test_each_stage() -> None:
    """A lead is in the stages that its best call reached."""
    result = funnel(CALLS, PEOPLE)
    assert list(_counts(result)) == NAMES
    assert list(_counts(result).values()) == [7, 7, 6, 5, 4, 3, 2, 1]


def test_rates_and_denominators() -> None:
    """A stage is divided by the stage before and by loaded; the first by loaded alone."""
    table = funnel(CALLS, PEOPLE).table.set_index("stage")
    assert pd.isna(table.loc["loaded", "denominator"])
    assert pd.isna(table.loc["loaded", "of_previous"])
    assert table.loc["loaded", "of_loaded"] == 1
    row = table.loc["human"]
    assert (row["denominator"], row["of_previous"]) == (5, pytest.approx(0.8))
    assert row["of_loaded"] == pytest.approx(4 / 7)
    # Wilson for 4 of 5.
    assert (row["low"], row["high"]) == pytest.approx((0.3755, 0.9638), abs=1e-4)


def test_nothing_divided_by_nothing() -> None:
    """Where the stage before is empty the share is null, and so is that of people where none was tried."""
    table = funnel(CALLS[:0], PEOPLE[:1]).table.set_index("stage")
    assert table.loc["attempted", "of_previous"] == 0
    assert table.loc["connected", ["of_previous", "low", "high"]].isna().all()
    assert pd.isna(table.loc["connected", "of_loaded"])


def test_types_do_not_depend_on_the_data() -> None:
    """The empty funnel has the rows and types of the full one, and null shares."""
    full = funnel(CALLS, PEOPLE, by="lead_source")
    nobody = funnel(frames.empty(frames.CALLS), frames.empty(frames.LEADS))
    assert nobody.table["count"].tolist() == [0] * len(STAGES)
    assert nobody.table["of_loaded"].isna().all()
    assert nobody.as_of is None
    expected = full.table.drop(columns="lead_source").dtypes
    assert nobody.table.dtypes.astype(str).tolist() == expected.astype(str).tolist()
    assert len(funnel(CALLS[:0], PEOPLE[:0], by="lead_source").table) == 0


def test_loaded_without_a_ledger() -> None:
    """Without the import ledger loaded equals accepted, and says that refusals are unknown."""
    result = funnel(CALLS, PEOPLE)
    assert result.definitions["loaded"].startswith("equals accepted")
    assert "unknown" in result.definitions["loaded"]


def test_loaded_with_a_ledger() -> None:
    """Rows that imports refused are loaded and not accepted."""
    statuses = ["accepted"] * 7 + ["on_dnc", "duplicate", "invalid", None, "unknown", "accepted"]
    ids = [f"lead_{i}" for i in range(1, 8)] + [None] * 5 + ["lead_gone"]
    imports = pd.DataFrame({"status": statuses, "lead_id": ids}, dtype="str")
    result = funnel(CALLS, PEOPLE, imports=imports)
    assert _counts(result)["loaded"] == 10
    assert _counts(result)["accepted"] == 7
    noted = _noted(result)
    assert (noted["refused"], noted["import_unknown"], noted["accepted_elsewhere"]) == (3, 2, 1)
    assert not result.definitions["loaded"].startswith("equals")


def test_order_is_kept() -> None:
    """A lead that skips a stage does not come back: a right party who is no person is nobody."""
    booked = appointments(appointment(5, 2))
    result = funnel(CALLS, PEOPLE, appointments=booked)
    assert _counts(result)["appointment"] == 1
    assert _noted(result)["not_positive"] == 1


def test_appointments_are_matched_by_number_and_time() -> None:
    """An appointment counts for the lead whose number was called before it was booked."""
    before = funnel(CALLS, PEOPLE, appointments=appointments(appointment(6, -1)))
    assert _counts(before)["appointment"] == 1
    assert _noted(before)["no_call_before"] == 1
    after = funnel(CALLS, PEOPLE, appointments=appointments(appointment(6, 0), appointment(9, 1)))
    assert _counts(after)["appointment"] == 2
    assert _noted(after)["no_call_before"] == 1
    nameless = funnel(CALLS, PEOPLE, appointments=appointments(appointment(6, 1, phone=None)))
    assert _noted(nameless)["no_call_before"] == 1


def test_an_appointment_goes_to_the_last_campaign_that_called() -> None:
    """A number in two campaigns: the one that called last before the booking booked it."""
    people = leads(lead(1), lead(1, id="lead_x", campaign_id="cmp_autumn"))
    made = calls(
        call(1, answered=True, disposition="INT"),
        call(1, 1, answered=True, disposition="INT", campaign_id="cmp_autumn"),
    )
    result = funnel(made, people, appointments=appointments(appointment(1, 2)), by="campaign_id")
    won = result.table[result.table["stage"] == "appointment"]
    assert won.set_index("campaign_id")["count"].to_dict() == {"cmp_autumn": 1, CAMPAIGN: 0}


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (call(1, direction="inbound", from_number=phone(1)), "inbound"),
        (call(1, campaign_id=None), "no_campaign"),
        (call(9), "unmatched"),
        (call(3, campaign_id="cmp_winter"), "ambiguous"),
        (call(1, -30), "outside_window"),
        (call(1, disposition="DNCL", hangup_cause=None), "dnc_screened"),
    ],
)
def test_calls_that_do_not_count(made: dict[str, Any], reason: str) -> None:
    """A call that is set aside moves no lead, and its reason is counted."""
    people = leads(lead(1), lead(3), lead(3, id="lead_x", campaign_id="cmp_autumn"))
    result = funnel(calls(made), people, since=START - timedelta(hours=1))
    assert _counts(result)["attempted"] == 0
    assert _noted(result) == {reason: 1}


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"disposition": "ZZTOP"}, "unmapped"),
        ({"disposition": None}, "answered_by_unknown"),
        ({"disposition": "NA"}, "conflict"),
        ({"disposition": "NI", "campaign_id": "cmp_gone"}, "number_only"),
    ],
)
def test_calls_that_count_with_a_note(fields: dict[str, Any], note: str) -> None:
    """A call that counts in part is an attempt, and the part is noted."""
    result = funnel(calls(call(1, answered=True, **fields)), leads(lead(1)))
    assert _counts(result)["connected"] == 1
    assert _counts(result)["human"] == (note == "number_only")
    assert _noted(result)[note] == 1


def test_click_to_call_when_it_is_asked_for() -> None:
    """Calls outside any campaign count by their number when they are wanted."""
    made = calls(call(1, campaign_id=None))
    assert _counts(funnel(made, PEOPLE, include_no_campaign=True))["attempted"] == 1


def test_window() -> None:
    """Calls and appointments count inside the window; newer leads are left out."""
    until = START + timedelta(hours=2)
    people = pd.concat([PEOPLE, leads(lead(8, created_at=until))], ignore_index=True)
    booked = appointments(appointment(6, 1), appointment(6, 3, id="appt_late"))
    result = funnel(CALLS, people, appointments=booked, since=START, until=until)
    assert _counts(result)["accepted"] == 7
    assert _counts(result)["appointment"] == 1
    noted = _noted(result)
    assert (noted["outside_window"], noted["imported_after_window"]) == (1, 1)
    assert noted["booked_outside_window"] == 1


def test_by_a_custom_field() -> None:
    """Groups come from the lead's custom field, the greatest first; no value is a group too."""
    people = pd.concat([PEOPLE, leads(lead(9))], ignore_index=True)
    result = funnel(CALLS, people, by="lead_source")
    assert result.groups == ["web", "fair", "(none)"]
    accepted = result.table[result.table["stage"] == "accepted"]
    assert accepted.set_index("lead_source")["count"].to_dict() == {
        "web": 4,
        "fair": 3,
        "(none)": 1,
    }
    assert result.table.columns[0] == "lead_source"


def test_a_group_that_was_never_tried_has_no_share_of_people() -> None:
    """Nobody of it was reached because nobody was called: that is not known to be 0%."""
    new = lead(40, custom_fields={"lead_source": "new"}, created_at=PEOPLE["created_at"].max())
    people = pd.concat([PEOPLE, leads(new)], ignore_index=True)
    table = funnel(CALLS, people, by="lead_source").table
    rows = table[table["lead_source"] == "new"].set_index("stage")
    assert rows["of_loaded"].isna().tolist() == [name not in NAMES[:3] for name in NAMES]
    assert rows.loc["attempted", "of_loaded"] == 0
    cards = scorecard(CALLS, people).table.set_index("lead_source")
    assert cards.loc["new", ["appointments_per_1000", "appt_low", "appt_high"]].isna().all()
    later = people.assign(created_at=people["created_at"].where(
        people.index < len(PEOPLE), people["created_at"] + pd.Timedelta(days=40)
    ))  # fmt: skip
    asked = cohorts(
        CALLS, later, ages=1, as_of=later["created_at"].max() + pd.Timedelta(days=70)
    ).table
    assert asked["rate"].isna().tolist() == [False, True]


def test_refused_rows_by_group() -> None:
    """A source whose rows were all refused is a group; without the column no group is guessed."""
    imports = pd.DataFrame(
        {"status": ["invalid", "on_dnc", "accepted"], "lead_source": ["rental", "web", "web"]},
        dtype="str",
    )
    result = funnel(CALLS, PEOPLE, imports=imports, by="lead_source")
    loaded = result.table[result.table["stage"] == "loaded"].set_index("lead_source")["count"]
    assert loaded.to_dict() == {"web": 5, "fair": 3, "rental": 1}
    plain = funnel(CALLS, PEOPLE, imports=imports[["status"]], by="lead_source")
    assert plain.definitions["loaded"].startswith("equals accepted: the import ledger does not")


@pytest.mark.parametrize("by", ["lead_sauce", "count"])
def test_a_group_that_is_none(by: str) -> None:
    """A field that no lead has, or one that hides a column, is refused and not shown as empty."""
    people = leads(lead(1, custom_fields={"count": 3}))
    with pytest.raises(ConfigError, match=f"by='{by}'"):
        funnel(CALLS, people, by=by)


def test_a_campaign_needs_a_ledger_of_campaigns() -> None:
    """Refusals of all campaigns are not counted against one."""
    imports = pd.DataFrame({"status": ["invalid"]}, dtype="str")
    with pytest.raises(ConfigError, match="imports frame has no column 'campaign_id'"):
        funnel(CALLS, PEOPLE, imports=imports, campaign=CAMPAIGN)
    imports["campaign_id"] = "cmp_autumn"
    result = funnel(CALLS, PEOPLE, imports=imports, campaign=CAMPAIGN)
    assert _counts(result)["loaded"] == 7


def test_as_of_is_the_data_or_the_caller() -> None:
    """The clock is never read: as of is the latest instant seen, or what was passed."""
    assert funnel(CALLS, PEOPLE).as_of == START + timedelta(hours=4, seconds=40)
    said = datetime(2026, 4, 1, tzinfo=UTC)
    assert funnel(CALLS, PEOPLE, as_of=said).as_of == said


def test_inputs_are_left_alone() -> None:
    """The frames that were passed are as they were."""
    people, made, booked = PEOPLE.copy(), CALLS.copy(), appointments(appointment(6, 1))
    kept = booked.copy()
    funnel(CALLS, PEOPLE, appointments=booked, by="lead_source")
    for before, after in ((people, PEOPLE), (made, CALLS), (kept, booked)):
        assert_frame_equal(before, after)


_campaigns = st.sampled_from([CAMPAIGN, "cmp_autumn"])
_person = st.tuples(st.integers(0, 5), _campaigns, st.sampled_from(["web", "fair", None]))
_call = st.tuples(
    st.integers(0, 6),
    st.floats(-48, 48),
    st.booleans(),
    st.sampled_from([None, "NI", "AM", "APPT", "SALE", "ZZTOP", "DNCL", "QUEUE", "WN"]),
    st.one_of(_campaigns, st.none()),
    st.sampled_from(["outbound", "outbound", "inbound", None]),
)
_booking = st.tuples(st.integers(0, 6), st.floats(-48, 96))


@st.composite
def accounts(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """A small account: leads, calls, appointments and the ledger of its imports."""
    people = [
        lead(n, id=f"lead_{i}", campaign_id=c, custom_fields={"lead_source": s})
        for i, (n, c, s) in enumerate(draw(st.lists(_person, max_size=6)))
    ]
    made = [
        call(n, h, answered=a, disposition=d, campaign_id=c, direction=way, id=f"call_{i}")
        for i, (n, h, a, d, c, way) in enumerate(draw(st.lists(_call, max_size=10)))
    ]
    booked = [appointment(n, h) for n, h in draw(st.lists(_booking, max_size=3))]
    refused = draw(
        st.lists(st.tuples(_campaigns, st.sampled_from(["on_dnc", "unknown"])), max_size=4)
    )
    rows = [(p["campaign_id"], "accepted") for p in people] + refused
    imports = pd.DataFrame(rows, columns=["campaign_id", "status"], dtype="str")
    return leads(*people), calls(*made), appointments(*booked), imports


@given(account=accounts(), data=st.data())
def test_the_laws_of_every_funnel(account: Any, data: st.DataObject) -> None:
    """Of any account, whole and split: it never grows, loses no call, sums up, and has no order of rows."""
    people, made, booked, imports = account
    whole = funnel(made, people, appointments=booked, imports=imports)
    split = funnel(made, people, appointments=booked, imports=imports, by="campaign_id")
    for result, by in ((whole, None), (split, "campaign_id")):
        _never_grows(result, by)
        excluded = result.excluded
        assert excluded.loc[excluded["role"] != "note", "count"].sum() == len(made)
    # Splitting moves no lead: the groups of each stage sum to the whole.
    parts = split.table.groupby("stage")["count"].sum()
    assert {stage: int(parts.get(stage, 0)) for stage in NAMES} == _counts(whole)
    # Looking at one campaign gives what splitting by campaign gives for it.
    for name in split.groups:
        one = funnel(made, people, appointments=booked, imports=imports, campaign=name)
        group = split.table[split.table["campaign_id"] == name].drop(columns="campaign_id")
        assert_frame_equal(one.table, group.reset_index(drop=True))
    # Calls at one instant to one number of two campaigns have no order to be kept.
    if made.duplicated(["to_number", "created_at"]).any():
        return
    shuffled = [
        frame.iloc[data.draw(st.permutations(range(len(frame))))]
        for frame in (people, made, booked)
    ]
    again = funnel(shuffled[1], shuffled[0], appointments=shuffled[2], imports=imports)
    assert_frame_equal(whole.table, again.table)


def _never_grows(result: Funnel, by: str | None) -> None:
    """No stage is greater than the one before, in no group, and no share is outside 0 to 1."""
    table = result.table
    for _, rows in table.groupby(by or (lambda _: 0)):
        counts = rows["count"].tolist()
        assert counts == sorted(counts, reverse=True)
    for column in ("of_previous", "of_loaded", "low", "high"):
        assert table[column].dropna().between(0, 1).all()
    known = table.dropna(subset="of_previous")
    assert (known["low"] <= known["of_previous"]).all()
    assert (known["of_previous"] <= known["high"]).all()


def test_a_frame_of_attempts_keeps_the_leads_that_its_calls_have() -> None:
    """What an event says of a call whose number two leads have is not guessed anew from the number."""
    people = leads(lead(1), lead(1, id="lead_x"))
    made = calls(call(1, id="call_a", answered=True, disposition="NI"))
    data = '{"call_id": "call_a", "lead_id": "lead_x", "disposition_code": "NI"}'
    events = frames.from_records(
        frames.EVENTS, [{"id": "evt_1", "type": "disposition.logged", "data": data}]
    )
    assert _counts(funnel(made, people))["attempted"] == 0
    assert _counts(funnel(attempts_frame(made, people, events=events), people))["human"] == 1
