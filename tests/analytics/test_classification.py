"""A call's class follows from both layers, and what contradicts itself says so."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.made import call, calls
from dialframe import frames
from dialframe.analytics import DEFAULT, OUTCOMES, classify, completeness
from rows import every_row

CASES = [
    # answered, status, cause, disposition -> outcome, layer, conflict, unmapped
    (True, "completed", "16", "NI", "not_interested", "business", False, False),
    (True, "completed", "16", None, "connected_unknown", "telephony", False, False),
    (True, None, None, None, "connected_unknown", "telephony", False, False),
    (True, "voicemail", "16", None, "machine", "telephony", False, False),
    (True, "voicemail", "16", "SALE", "conversion", "business", False, False),
    # Ended by the network in mid-call: connected all the same.
    (True, "completed", "41", None, "connected_unknown", "telephony", False, False),
    # A recording says that the number is not in service.
    (True, "completed", "16", "DC", "disconnected", "business", False, False),
    (False, "completed", "NO_ANSWER", None, "no_answer", "telephony", False, False),
    (False, "no-answer", "USER_BUSY", None, "busy", "telephony", False, False),
    (False, "busy", None, None, "busy", "telephony", False, False),
    (False, "failed", "SIP 404", None, "disconnected", "telephony", False, False),
    (False, "completed", None, None, "unanswered_unknown", "telephony", False, False),
    (False, "completed", "16", None, "unanswered_unknown", "telephony", False, False),
    # The network says nothing, the dialer's code does.
    (False, "completed", None, "ADC", "disconnected", "business", False, False),
    (False, "completed", "16", "DNCL", "dnc_screened", "business", False, False),
    # The network says something else than the dialer: the network stands.
    (False, "completed", "17", "NA", "busy", "telephony", False, False),
    (False, "ringing", None, None, "in_progress", "telephony", False, False),
    (False, "queued", None, "DNCC", "dnc_screened", "business", False, False),
    # Contradictions: the disposition cannot have happened, or the network's words cannot.
    (False, "completed", "NO_ANSWER", "NI", "no_answer", "telephony", True, False),
    (False, "completed", None, "SALE", "unanswered_unknown", "telephony", True, False),
    (True, "completed", "16", "NA", "connected_unknown", "telephony", True, False),
    (True, "no-answer", "16", None, "connected_unknown", "telephony", True, False),
    (True, "completed", "USER_BUSY", "NI", "not_interested", "business", True, False),
    (False, "voicemail", None, None, "unanswered_unknown", "telephony", True, False),
    # Unmapped codes are marked where they would have decided.
    (True, "completed", "16", "ZZTOP", "connected_unknown", "telephony", False, True),
    (False, "completed", "19", "ZZTOP", "no_answer", "telephony", False, True),
    (False, "completed", "CAUSE_X", None, "unanswered_unknown", "telephony", False, True),
    (False, "limbo", None, None, "unanswered_unknown", "telephony", False, True),
    (True, "completed", "CAUSE_X", "NI", "not_interested", "business", False, False),
    (False, "limbo", "17", None, "busy", "telephony", False, False),
    # Blank is not a code.
    (True, "completed", " ", "", "connected_unknown", "telephony", False, False),
]


@every_row(
    ("answered", "status", "cause", "disposition", "outcome", "layer", "conflict", "missing"),
    CASES,
)
def test_layers(
    answered: bool,
    status: str | None,
    cause: str | None,
    disposition: str | None,
    outcome: str,
    layer: str,
    conflict: bool,
    missing: bool,
) -> None:
    """The disposition decides where it can have happened; else the network does."""
    made = call(1, answered=answered, status=status, hangup_cause=cause, disposition=disposition)
    row = classify(calls(made)).table.iloc[0]
    assert row["outcome"] == outcome
    assert row["layer"] == layer
    assert bool(row["conflict"]) is conflict
    assert bool(row["unmapped"]) is missing
    assert bool(row["answered"]) is answered


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.name)
def test_flags_are_those_of_the_class(outcome: Any) -> None:
    """Each class hands its flags to its calls; what it does not know is null."""
    taxonomy = DEFAULT.with_codes({"X": outcome.name})
    answered = outcome.when == "answered"
    made = call(1, answered=answered, hangup_cause=None, disposition="X")
    row = classify(calls(made), taxonomy=taxonomy).table.iloc[0]
    assert row["outcome"] == outcome.name
    for flag in ("human", "right_party", "positive", "appointment", "conversion", "machine",
                 "final", "attempt", "dnc_request"):  # fmt: skip
        expected = getattr(outcome, flag)
        assert (None if pd.isna(row[flag]) else bool(row[flag])) is expected, flag


def test_a_wish_not_to_be_called_survives_a_conflict() -> None:
    """A request logged on a call that was not answered is still a request."""
    row = classify(calls(call(1, disposition="DNC"))).table.iloc[0]
    assert row["outcome"] == "no_answer"
    assert row["conflict"]
    assert row["dnc_request"]


def test_direction_does_not_matter_to_the_class() -> None:
    """An inbound call is classed like any other; leaving it out is for the rate to do."""
    row = classify(
        calls(call(1, answered=True, direction="inbound", disposition="NI"))
    ).table.iloc[0]
    assert row["outcome"] == "not_interested"
    assert row["attempt"]


def test_both_layers_can_be_seen() -> None:
    """The class of each layer stands beside the result, for a matrix of conflicts."""
    found = classify(calls(call(1, disposition="NI"), call(2), call(3, disposition="ZZTOP"))).table
    assert found["telephony"].tolist() == ["no_answer"] * 3
    assert found["business"].iloc[0] == "not_interested"
    assert found["business"].isna().tolist() == [False, True, True]


def test_index_and_types_stay() -> None:
    """The result stands on the index of the calls, and its types do not depend on the data."""
    frame = calls(call(1, answered=True), call(2))
    frame.index = pd.Index([7, 3])
    found = classify(frame).table
    assert found.index.tolist() == [7, 3]
    nothing = classify(frames.empty(frames.CALLS))
    assert len(nothing.table) == 0
    assert nothing.taxonomy_version == DEFAULT.version
    assert set(found.dtypes.astype(str)) == {"str", "boolean"}


codes = st.none() | st.sampled_from(
    ["NI", "NA", "ZZTOP", "16", "USER_BUSY", "completed", "AM", ""]
)


@given(rows=st.lists(st.tuples(st.booleans(), codes, codes, codes), max_size=12))
def test_a_call_is_classed_alone_and_only_an_answered_one_reaches_a_person(
    rows: list[tuple[bool, str | None, str | None, str | None]],
) -> None:
    """A call's class does not depend on the calls around it; whatever the codes say, nobody is reached unanswered."""
    made = [
        call(i, answered=answered, status=status, hangup_cause=cause, disposition=disposition)
        for i, (answered, status, cause, disposition) in enumerate(rows)
    ]
    together = classify(calls(*made)).table
    for i, record in enumerate(made):
        alone = classify(calls(record)).table.iloc[0]
        assert together.iloc[i].equals(alone)
        assert alone["outcome"] in {o.name for o in OUTCOMES}
    unanswered = together.loc[~together["answered"], "human"]
    assert not unanswered.isna().any()
    assert not unanswered.any()


def test_unmapped_codes_are_counted() -> None:
    """Codes that no table has are listed with their calls and a line to fill in."""
    frame = calls(
        call(1, disposition="ZZTOP"),
        call(2, disposition="ZZTOP"),
        call(3, disposition="it's"),
        call(4, status="limbo", hangup_cause="NI"),
        call(5, disposition=" "),
        call(6, disposition="NI"),
    )
    found = completeness(frame).tables["unmapped"]
    assert found[["field", "code", "calls"]].to_numpy().tolist() == [
        ["disposition", "ZZTOP", 2],
        ["disposition", "it's", 1],
        ["hangup_cause", "NI", 1],
        ["status", "limbo", 1],
    ]
    assert found["stub"].tolist()[0] == '"ZZTOP" = "?"  # disposition, 2 calls'


def test_a_stub_can_be_pasted() -> None:
    """The lines make a mapping as soon as the question marks are replaced."""
    found = completeness(calls(call(1, disposition="it's"), call(2, disposition="ZZTOP"))).tables[
        "unmapped"
    ]
    mine = DEFAULT.with_toml(found.attrs["stub"].replace('"?"', '"busy"'))
    assert (
        len(completeness(calls(call(1, disposition="it's")), taxonomy=mine).tables["unmapped"])
        == 0
    )
