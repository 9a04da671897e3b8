"""The scanner's tables are whole and say what phonenumbers says of each character."""

from __future__ import annotations

import pytest
from phonenumbers import phonenumberutil

from dialframe.phones import scanner

CHARACTERS = scanner.wide_characters()


def test_every_state_has_a_next_state_for_every_class():
    """No cell of the table is left to chance."""
    steps = scanner.table()

    assert steps.shape == (len(scanner.STATES) - 1, len(scanner.CLASSES))
    assert steps.max() == scanner.STATES.index("hand")


@pytest.mark.parametrize("character", CHARACTERS)
def test_characters_beyond_ascii_are_what_phonenumbers_takes_them_for(character):
    """Digits have their value, marks are punctuation, junk is neither."""
    cls, digit = CHARACTERS[character]
    is_mark = phonenumberutil._SEPARATOR_PATTERN.fullmatch(character) is not None

    if cls == "digit":
        assert phonenumberutil.normalize_digits_only(character) == str(digit)
    else:
        assert phonenumberutil.normalize_digits_only(character) == ""
    assert is_mark == (cls == "mark")
    assert (phonenumberutil._PLUS_CHARS_PATTERN.match(character) is not None) == (cls == "plus")


def test_the_keypad_is_that_of_phonenumbers():
    """Each letter has the digit that the vanity map gives it."""
    keys = scanner.keypad()

    for letter, digit in phonenumberutil._ALPHA_MAPPINGS.items():
        assert keys[ord(letter)] == keys[ord(letter.lower())] == int(digit)


def test_ascii_punctuation_is_that_of_phonenumbers():
    """Every byte that the tables skip within a number is one that may stand there."""
    classes = scanner.byte_classes()
    skipped = {scanner.CLASSES.index(name) for name in ("space", "dash", "dot", "mark", "slash")}

    for byte in range(128):
        allowed = phonenumberutil._SEPARATOR_PATTERN.fullmatch(chr(byte)) is not None
        assert (classes[byte] in skipped) == (allowed and chr(byte) not in "x~")
