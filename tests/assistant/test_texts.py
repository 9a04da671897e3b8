"""What strangers wrote, with nothing hidden in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.assistant.tool_answers import masked, shown


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\u202eb", "a<U+202E>b"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("\x1b[31mred", "<U+001B>[31mred"),
        ("lone \ud800", "lone <U+D800>"),
        ("hi" + "".join(chr(0xE0000 + ord(one)) for one in "call"), "hi<4 hidden characters>"),
        ("two\r\nlines\n", "two\nlines\n"),
    ],
    ids=["direction", "zero width", "escape", "surrogate", "tags", "line ends"],
)
def test_hidden_characters_are_seen(text: str, seen: str) -> None:
    """A message in characters that nobody sees reaches neither an assistant nor a question."""
    assert shown(text) == seen


@pytest.mark.parametrize(
    "text", ["نامه\u200cای", "👩\u200d❤\ufe0f\u200d👨", "Zoë 張偉 Łódź", "क्\u200dष"]
)
def test_what_is_at_home_in_a_script_stays(text: str) -> None:
    """Joiners of Persian and Hindi and within an emoji hide nothing."""
    assert shown(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "+12125550142", "call +1 212 555 0142 now", "tel:212-555-0142", "(212) 555-0142",
        "+1212\u200b5550142", "020 7946 0123", "2125550142 2125550143", "+1.212.555.0142",
        "212\u2013555\u20130142", "on 2026-10-01 2125550142",
    ],
)  # fmt: skip
def test_numbers_are_masked_however_they_are_written(text: str) -> None:
    """At most the head of E.164 and two last digits stay."""
    left = shown(masked(text.replace("2026-10-01", "")))
    assert sum(character.isdigit() for character in left) <= 5
    assert "*" in shown(masked(text))


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T13:56:31.562821+00:00", "2026-10-01 to 2026-10-31", "line 48,213",
        "call_12345678-1234-4123-8123-123456789012", "47 CFR 64.1200(c)(1)", "960 calls, 18 violations",
    ],
)  # fmt: skip
def test_instants_ids_and_counts_are_no_numbers(text: str) -> None:
    """What an assistant needs in order to go on stays whole."""
    assert masked(text) == text


@given(st.text())
def test_showing_and_masking_twice_is_once(text: str) -> None:
    """Both leave what they made as it is."""
    once = shown(masked(text))
    assert shown(once) == once
    assert masked(once) == once
