"""Numbers in event data are hidden wherever they stand; ids and instants stay readable."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.webhooks.masking import masked, numbers

WRITINGS = (
    "+12125550142", "0012125550142", "1 (212) 555-0142", "+1 212 555 0142", "(212) 555-0142",
    "212.555.0142", "2125550142", "020 7946 0018", "+44 20 7946 0018",
)  # fmt: skip


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("text", ["{}", "call {}, please", "{}\n{}"])
def test_a_number_is_masked_in_any_usual_writing(writing: str, text: str) -> None:
    """Fields and prose alike lose all but a few digits."""
    said = text.replace("{}", writing)

    for value in (said, [said], {"notes": said}, {"customer": {"phone": writing}}, {said: 1}):
        shown = json.dumps(masked(value))
        assert "55501" not in shown.replace("-", "").replace(".", "").replace(" ", "")
        assert "79460" not in shown.replace(" ", "")
        assert "*" in shown


@pytest.mark.parametrize(
    "value",
    [
        "2026-09-14", "2026-09-14T15:06:35Z", "2026-09-14T15:06:35.123456+00:00",
        "call_00000000-0000-4000-8000-000000000007", "America/New_York", "no_answer", "", None,
        True, 61, 61.5, {"a": [1, {"b": None}]},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_number_stays(value: object) -> None:
    """Instants, days, ids, codes and figures are left as they are."""
    assert masked(value) == value


def test_a_number_field_is_masked_whatever_it_holds() -> None:
    """Fields that are a number are masked although they do not look like one; flags are none."""
    assert masked({"from": "anonymous-caller"}) == {"from": "anon**********er"}
    assert masked({"to": 5550142, "phone": None, "from": True}) == {
        "to": "*******", "phone": None, "from": True,
    }  # fmt: skip


def test_numbers_are_found_in_order() -> None:
    """The numbers that an event is about come from their fields only, at any depth."""
    data = {"from": "1", "notes": "2", "customer": {"phone": "3"}, "list": [{"to": 4}], "to": None}

    assert list(numbers(data)) == ["1", "3", "4"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
        ),
    )
)
def test_masking_is_done_once_and_for_all(value: object) -> None:
    """Masking what is masked changes nothing, and any JSON value stays JSON."""
    once = masked(value)

    json.dumps(once)
    assert json.dumps(masked(once)) == json.dumps(once)
