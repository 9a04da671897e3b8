"""What a person reads before anybody is reached."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.assistant import confirmations
from dialframe.assistant.confirmations import MOST_CHARS, question

EFFECT = "adds leads to a campaign"


def test_whole_number_and_every_value_stand_in_it() -> None:
    """A person can only agree to what they see; a masked number is no number."""
    told = question(
        "calls_start",
        "rings an agent, then the customer",
        {"to": "+12125550142", "agent_extension": "101", "lead_id": "lead_1"},
        {"lead_id": '"Ann Example", "+12125550142"'},
        open_writes=0,
    )
    assert told.splitlines() == [
        "calls_start rings an agent, then the customer. May exactly this be done now?",
        'to: "+12125550142"',
        'agent_extension: "101"',
        'lead_id: "lead_1" = "Ann Example", "+12125550142"',
    ]


def test_earlier_calls_with_an_open_outcome_are_told() -> None:
    """Whoever says yes twice knows it."""
    told = question("sms_send", "sends a text", {"to": "+12125550142"}, {}, open_writes=1)
    assert "of 1 earlier such calls it is not known whether they were done" in told


@given(st.text(), st.text())
def test_no_value_can_pass_for_a_part_of_the_question(name: str, notes: str) -> None:
    """Each argument stays on its own line, however it is written."""
    told = question("tool", EFFECT, {"full_name": name, "notes": notes}, {}, open_writes=0)
    first, *rest = told.split("\n")
    assert first.startswith("tool adds")
    assert [line.split(":")[0] for line in rest] == ["full_name", "notes"]
    assert not any(mark in told for mark in "\r\u2028\u2029\u202e\u200b\x1b\x85")


def test_two_hundred_leads_are_all_seen() -> None:
    """A long question shortens names and fields, never a number."""
    leads = [
        {"phone": f"+1212555{n:04}", "full_name": "N" * 150, "custom_fields": {"a": "b" * 500}}
        for n in range(100, 300)
    ]
    told = question("leads_import", EFFECT, {"leads": leads}, {}, open_writes=0)
    assert all(lead["phone"] in told for lead in leads)
    assert "leads: 200" in told
    assert len(told) < 60_000


def test_overlong_value_says_how_much_is_left_out() -> None:
    """Where a value cannot be shown whole, that is said."""
    told = question("t", EFFECT, {"to": "+12125550142", "notes": "x" * 9_000}, {}, open_writes=0)
    assert "+12125550142" in told
    assert "more characters)" in told
    assert len(told) < MOST_CHARS


@pytest.mark.parametrize(
    "address",
    ["https://\u0430pi.example.com/in", "https://example.com@203.0.113.7/x", "https://example.com:443@x.example",
     "https://x.example\\@example.com/", "https://example.com%2ex.example/", "https://example.com\t.x.example/",
     "https://\uff45xample.com/", "https://example\u3002com/", "https://example.com/\u202ex", "//x.example",
     "https:x.example", "https://example.com/\n"],
)  # fmt: skip
def test_an_address_whose_host_cannot_be_read_is_not_asked_about(address: str) -> None:
    """Letters that look alike, a user name that looks like the host, what is hidden: refused, not shown."""
    assert not confirmations.readable(address)
    for plain in (
        "https://xn--pi-6kc.example.com/",
        "http://127.0.0.1:9/hook",
        "https://[::1]/a?b=c#d",
    ):
        assert confirmations.readable(plain)


def test_an_answer_is_to_a_question_that_was_asked_and_still_stands() -> None:
    """A made-up token, one of another call or caller, one that was used and one that comes late are no yes."""
    asked = confirmations.Confirmations()
    token, other = asked.open("call of Ada"), asked.open("call of Bob")

    assert not asked.take("made up", "call of Ada")
    assert not asked.take(other, "call of Ada")
    assert asked.take(token, "call of Ada")
    assert not asked.take(token, "call of Ada")
    late = confirmations.Confirmations(answer_s=-1)
    assert not late.take(late.open("call"), "call")
