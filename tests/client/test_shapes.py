"""JSON is read as tolerantly as the contract asks, and no more."""

from __future__ import annotations

import pytest

from client.fakes import a_call, a_lead
from dialframe.client.tolerant_json import (
    Mismatch,
    novel_values,
    read_object,
    read_rows,
    row_model,
)
from dialframe.contract import operations as rows
from dialframe.contract.models.call_models import Call
from dialframe.contract.models.dnc_and_message_models import Me
from dialframe.contract.models.lead_models import Lead


def test_declared_shape_has_to_fit() -> None:
    """The place is a path and the reason a sentence without the value."""
    with pytest.raises(Mismatch) as caught:
        read_object(Lead, a_lead(attempts="three"), assumed=False)

    assert caught.value.place == "attempts"
    assert "three" not in caught.value.reason


def test_unshown_shape_keeps_what_does_not_fit() -> None:
    """Fitting fields are parsed, others stay as they came, missing ones are None."""
    raw = a_lead(attempts="three", created_at="2026-11-20T15:04:05Z", extra=[1])
    del raw["phone"]

    lead = read_object(Lead, raw, assumed=True)

    assert isinstance(lead, Lead)
    assert (lead.attempts, lead.phone) == ("three", None)
    assert lead.created_at.year == 2026
    assert lead.model_extra == {"extra": [1]}


def test_unshown_shape_may_have_other_names_altogether() -> None:
    """Every field that comes is kept, whatever it is called."""
    me = read_object(Me, {"client": {"id": "cli_x"}, "scopes": "all"}, assumed=True)

    assert me.scopes == "all"
    assert me.model_extra == {"client": {"id": "cli_x"}}


def test_rows_of_an_unshown_shape_are_never_set_aside_for_a_field() -> None:
    """Only what is no object goes to quarantine."""
    calls, aside = read_rows(Call, [a_call(created_at=7), 5], assumed=True)

    assert [call.created_at for call in calls] == [7]
    assert [item.index for item in aside] == [1]


def test_every_list_has_rows_of_a_contract_shape() -> None:
    """The shape of a row follows from the row of the table."""
    assert row_model(rows.CALLS_LIST.response) is Call
    assert all(row_model(row.response) for row in rows.ALL if row.paged)
    with pytest.raises(TypeError):
        row_model(rows.EVENTS_GET.response)


def test_novel_values_are_those_outside_of_the_open_sets() -> None:
    """Known values and free text are no news."""
    calls = [
        Call.model_validate(a_call(direction=d, status="odd")) for d in ("outbound", "lateral")
    ]

    assert list(novel_values(calls)) == [("direction", "lateral")]
    assert list(novel_values([])) == []
