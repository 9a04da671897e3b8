"""A delivery as a row, as JSON and as a line."""

from __future__ import annotations

import json
from typing import Any

from dialframe import frames
from dialframe.webhooks import Delivery, verify
from dialframe.webhooks.verifying import as_json, as_line, record
from webhooks.made import CALLER, NOW, PERSON, SECRET, delivery, event


def made(**changes: Any) -> Delivery:
    """A genuine delivery of an event."""
    sent = delivery(event(**changes))
    return verify(sent.body, sent.headers, SECRET, NOW)


def test_a_row_has_every_field_as_it_came() -> None:
    """Data and call details are those of the body to the letter; the rest says when it came."""
    one = made(mood="glad")

    row = record(one)

    assert set(row) == {*frames.EVENTS.names, "mood"} - {"_extra"}
    assert (row["data"], row["call_details"]) == (event()["data"], event()["call_details"])
    assert row["created_at"] == one.envelope.created_at
    assert (row["received_at"], row["delivery_id"]) == (NOW, one.delivery_id)
    assert frames.from_records(frames.EVENTS, [row])["_extra"].iloc[0] == '{"mood":"glad"}'


def test_json_is_one_line_with_masked_numbers() -> None:
    """Numbers are masked in fields and in prose, unless they are asked for."""
    one = made(data={"from": CALLER, "to": PERSON, "notes": "a\nb (212) 555-0142 é"})

    hidden, shown = as_json(one), as_json(one, show_numbers=True)

    assert json.loads(shown)["data"] == one.envelope.data
    assert json.loads(hidden)["data"]["to"] == "+121******42"
    assert json.loads(hidden)["id"] == one.event_id
    assert json.loads(hidden)["created_at"] == "2026-09-14T15:06:30+00:00"
    assert "555" not in hidden
    assert hidden.isascii()
    assert "\n" not in hidden + shown


def test_a_line_names_the_event_and_masked_numbers() -> None:
    """Type, event id, and the numbers that it is about."""
    one = made()

    assert as_line(one).split() == [
        "2026-09-14", "15:06:35Z", "call.completed", one.event_id, "+121******99", "+121******42",
    ]  # fmt: skip
    assert PERSON in as_line(one, show_numbers=True)


def test_nothing_that_was_sent_steers_the_terminal() -> None:
    """Control characters and line ends of a field are shown as question marks."""
    line = as_line(made(data={"phone": "\x1b[2J\n\x9b" + PERSON}), show_numbers=True)

    assert line.isprintable()
