"""Answers made small."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from dialframe.assistant import tool_answers
from dialframe.assistant.offered_operations import PEOPLE, Exposure

GIVEN = Exposure.of(people=PEOPLE)
WHOLE = Exposure.of(reveal=True, people=PEOPLE)


def test_numbers_and_secrets_are_hidden() -> None:
    """Unless they are asked for."""
    raw = {"phone": "+12125550142", "deep": [{"secret": "whsec_abcdef"}]}
    assert tool_answers.tidy(raw, exposure=GIVEN) == {
        "phone": "+121******42",
        "deep": [{"secret": "whsec_[hidden]"}],
    }
    assert tool_answers.tidy(raw, exposure=WHOLE) == raw


def test_cut_page_gives_no_cursor_past_its_rows() -> None:
    """Rows that do not fit would be skipped: it says how many to ask for instead."""
    rows = [{"notes": "x" * 3_000} for _ in range(20)]
    made = tool_answers.page({"data": rows, "page": {"next_cursor": "abc"}}, exposure=GIVEN)
    assert "next_cursor" not in made
    assert 0 < len(made["rows"]) < 20
    assert f"limit={len(made['rows'])}" in made["note"]
    assert len(json.dumps(made)) < tool_answers.MOST_CHARS + 200


def test_page_that_fits_goes_on() -> None:
    """With the service's cursor, or with none at the end."""
    made = tool_answers.page({"data": [{"id": 1}], "page": {"next_cursor": "abc"}}, exposure=GIVEN)
    assert made == {"rows": [{"id": 1}], "next_cursor": "abc"}


def test_long_texts_say_how_much_is_left_out() -> None:
    """A transcript of a book's length does not fill the conversation."""
    made = tool_answers.tidy("a" * 5_000, exposure=GIVEN)
    assert made.endswith("(1000 more characters)")


def test_answers_that_are_too_long_are_cut() -> None:
    """To what fits, and each place says how much is left out."""
    made = tool_answers.whole({"segments": [{"text": "a" * 300}] * 600}, exposure=GIVEN)
    assert len(json.dumps(made)) <= tool_answers.MOST_CHARS
    assert made["segments"][0] == {"text": "a" * 300}
    assert made["segments"][-1] == f"... ({600 - len(made['segments']) + 1} more)"


def test_one_row_that_is_too_long_is_cut_and_the_page_goes_on() -> None:
    """No row can stop a list for ever."""
    row = {"id": "lead_1", "custom_fields": {f"f{n}": "x" * 4_000 for n in range(20)}}
    made = tool_answers.page({"data": [row], "page": {"next_cursor": "abc"}}, exposure=GIVEN)
    assert made["next_cursor"] == "abc"
    assert made["rows"][0]["id"] == "lead_1"
    assert len(json.dumps(made)) < tool_answers.MOST_CHARS + 100


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_null(value: float) -> None:
    """JSON has no word for it."""
    assert tool_answers.tidy({"share": value}, exposure=WHOLE) == {"share": None}


def test_instants_are_iso_8601() -> None:
    """With their zone."""
    at = datetime(2026, 10, 1, 9, 30, tzinfo=UTC)
    assert tool_answers.tidy([at], exposure=GIVEN) == ["2026-10-01T09:30:00+00:00"]


def test_numbers_hide_wherever_they_stand() -> None:
    """In keys, in notes however written, and as numbers of JSON."""
    raw = {"call +12125550142": "ring (212) 555-0142 first", "mobile": 2125550142, "attempts": 3}
    said = json.dumps(tool_answers.tidy(raw, exposure=GIVEN))
    assert "5550142" not in said
    assert "555-0142" not in said
    assert '"attempts": 3' in said
