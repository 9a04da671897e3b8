"""Answers made small."""

from __future__ import annotations

import json

from dialframe.assistant import answering


def test_numbers_and_secrets_are_hidden() -> None:
    """Unless they are asked for."""
    raw = {"phone": "+12125550142", "deep": [{"secret": "whsec_abcdef"}]}
    assert answering.tidy(raw, reveal=False) == {
        "phone": "+121******42",
        "deep": [{"secret": "whsec_[hidden]"}],
    }
    assert answering.tidy(raw, reveal=True) == raw


def test_cut_page_gives_no_cursor_past_its_rows() -> None:
    """Rows that do not fit would be skipped: it says how many to ask for instead."""
    rows = [{"notes": "x" * 3_000} for _ in range(20)]
    made = answering.page({"data": rows, "page": {"next_cursor": "abc"}}, reveal=False)
    assert "next_cursor" not in made
    assert 0 < len(made["rows"]) < 20
    assert f"limit={len(made['rows'])}" in made["note"]
    assert len(json.dumps(made)) < answering.MOST_CHARS + 200


def test_page_that_fits_goes_on() -> None:
    """With the service's cursor, or with none at the end."""
    made = answering.page({"data": [{"id": 1}], "page": {"next_cursor": "abc"}}, reveal=False)
    assert made == {"rows": [{"id": 1}], "next_cursor": "abc"}


def test_long_texts_say_how_much_is_left_out() -> None:
    """A transcript of a book's length does not fill the conversation."""
    made = answering.tidy("a" * 5_000, reveal=False)
    assert made.endswith("(1000 more characters)")


def test_answers_that_are_too_long_give_their_size() -> None:
    """And where to read them instead."""
    made = answering.whole(["a" * 3_000] * 20, reveal=False)
    assert "characters" in made["note"]
