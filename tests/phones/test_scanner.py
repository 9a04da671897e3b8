"""The scanner's tables are whole and say what phonenumbers says of each character."""

from __future__ import annotations

import pytest
from phonenumbers import phonenumberutil

from dialframe.phones import vectorized

scanner = pytest.importorskip("dialframe.phones.number_lexer", exc_type=ModuleNotFoundError)


def test_every_state_has_a_next_state_for_every_class():
    """No cell of the table is left to chance."""
    steps = scanner.table()

    assert steps.shape == (len(scanner.STATES) - 1, len(scanner.CLASSES))
    assert steps.max() == scanner.STATES.index("hand")


def test_characters_beyond_ascii_are_what_phonenumbers_takes_them_for():
    """All of the basic plane: digits have their value, junk is trimmed, aliens make no number."""
    characters = vectorized.wide_characters()
    wrong = [char for char, (cls, digit) in characters.items() if not _is_right(char, cls, digit)]

    assert wrong == []
    assert len(characters) > 60_000


def _is_right(char: str, cls: str, digit: int) -> bool:
    if cls == "odd":
        return True  # phonenumbers itself looks at it
    is_mark = phonenumberutil._SEPARATOR_PATTERN.fullmatch(char) is not None
    is_plus = phonenumberutil._PLUS_CHARS_PATTERN.match(char) is not None
    starts = phonenumberutil._VALID_START_CHAR_PATTERN.match(char) is not None
    trimmed = phonenumberutil._UNWANTED_END_CHAR_PATTERN.fullmatch(char) is not None
    viable = phonenumberutil._VALID_PHONE_NUMBER_PATTERN.fullmatch(f"212555{char}0142") is not None
    if cls == "digit":
        return starts and phonenumberutil.normalize_digits_only(char) == str(digit)
    if starts != (cls == "plus"):
        return False
    if cls in ("mark", "space", "plus"):
        return is_mark == (cls != "plus") and is_plus == (cls == "plus")
    return not is_mark and not is_plus and not viable and trimmed == (cls == "junk")


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
