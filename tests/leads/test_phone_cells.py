"""Phone cells are repaired where that is certain, split where they hold two, and never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads.judging.phone_cells import every_number, read_extension, read_phone
from dialframe.phones import normalize

ANN, BOB = "+12125550142", "+12125550143"

#: Cell, region, number, other number, warnings.
FOUND = [
    ("(212) 555-0142", "US", ANN, "", ()),
    (" 212-555-0142\u200b", "US", ANN, "", ()),
    ("'2125550142", "US", ANN, "", ()),
    ('="2125550142"', "US", ANN, "", ()),
    ("2125550142.0", "US", ANN, "", ("phone_repaired",)),
    ("2,125,550,142", "US", ANN, "", ("phone_repaired",)),
    ("2.125550142E+9", "US", ANN, "", ("phone_repaired",)),
    ("2,125550142e9", "US", ANN, "", ("phone_repaired",)),
    ("212-555-0142 (mobile)", "US", ANN, "", ("phone_repaired",)),
    ("212-555-0142 home", "US", ANN, "", ("phone_repaired",)),
    ("212-555-0142 / 212-555-0143", "US", ANN, BOB, ("phone_split",)),
    ("212-555-0142;212-555-0143", "US", ANN, BOB, ("phone_split",)),
    ("212-555-0142\n212-555-0143", "US", ANN, BOB, ("phone_split",)),
    ("2125550142\n2125550143", "US", ANN, BOB, ("phone_split",)),
    ("2125550142; 2125550143", "US", ANN, BOB, ("phone_split",)),
    ("2125550142 - 2125550143", "US", ANN, BOB, ("phone_split",)),
    ("212-555-0142 or 212-555-0143", "US", ANN, BOB, ("phone_split",)),
    ("12 / 212-555-0143", "US", BOB, "", ("phone_split",)),
    ("212-555-0142, 212-555-0142", "US", ANN, "", ("phone_split",)),
    ("030/23125 123", "DE", "+493023125123", "", ()),
    ("+49 (0)30 23125-123", "DE", "+493023125123", "", ()),
    ("+44 20 7946 0123", "US", "+442079460123", "", ()),
]


@pytest.mark.parametrize(("cell", "region", "e164", "other", "warnings"), FOUND)
def test_numbers_are_found(cell, region, e164, other, warnings):
    """The number, a second one, and what was done to get it."""
    reading = read_phone(cell, region)

    assert (reading.e164, reading.other, reading.warnings, reading.reason) == (
        e164,
        other,
        warnings,
        None,
    )


#: Cell and reason; region US.
REFUSED = [
    ("", "missing_phone"),
    (" \u200b ", "missing_phone"),
    ("n/a", "missing_phone"),
    ("'-", "missing_phone"),
    ("2.12555E+9", "phone_precision_lost"),
    ("2.12555e9", "phone_precision_lost"),
    ("2.1255501421E+9", "phone_precision_lost"),
    ("000-000-0000", "phone_placeholder"),
    ("0000000000.0", "phone_placeholder"),
    ("1234567890", "phone_placeholder"),
    ("+1 999 999 9999", "phone_placeholder"),
    ("555-0142", "phone_too_short"),
    ("212-555-01", "phone_too_short"),
    ("2125550142999", "phone_too_long"),
    ("(555) 555-0142", "invalid_phone"),
    ("call the office", "invalid_phone"),
    ("442079460123", "phone_too_long"),
]


@pytest.mark.parametrize(("cell", "reason"), REFUSED)
def test_what_is_no_number_has_a_reason(cell, reason):
    """No digit is made up: a foreign number without + stays unread."""
    reading = read_phone(cell, "US")

    assert (reading.e164, reading.reason) == ("", reason)


def test_a_national_number_needs_a_region():
    """Without a region only international numbers are read."""
    assert read_phone("212-555-0142", None).reason == "phone_ambiguous_region"
    assert read_phone("+1 212-555-0142", None).e164 == ANN


def test_the_extension_comes_with_the_number():
    """As people write it."""
    assert read_phone("212-555-0142 ext. 12", "US").extension == "12"
    assert read_phone("212-555-0142 x7", "US").extension == "7"


@pytest.mark.parametrize(
    ("cell", "digits"),
    [
        ("12", "12"),
        ("x12", "12"),
        ("Ext. 7", "7"),
        ("12.0", "12"),
        ("", ""),
        ("front desk", ""),
        ("123456789", ""),
    ],
)
def test_extensions_in_a_column_of_their_own(cell, digits):
    """Digits, with or without a word before them."""
    assert read_extension(cell) == digits


@given(st.text(max_size=30))
def test_every_cell_has_a_number_or_a_reason(cell):
    """Exactly one of the two, for any text."""
    reading = read_phone(cell, "US")

    assert bool(reading.e164) != bool(reading.reason)


@given(st.from_regex(r"\+?1?[ (]?[2-9]\d\d[) -]{0,2}\d{3}[ -]?\d{4}", fullmatch=True))
def test_what_phonenumbers_reads_is_read_the_same(text):
    """Repairs touch only what is not valid as it stands."""
    expected = normalize([text], region="US")
    reading = read_phone(text, "US")

    if expected["valid"][0]:
        assert reading.e164 == expected["e164"][0] or reading.reason == "phone_placeholder"


@pytest.mark.parametrize(
    ("cell", "region", "first", "second"),
    [
        ("212-555-0142 212-555-0143", "US", "+12125550142", "+12125550143"),
        ("2125550142 2125550143", "US", "+12125550142", "+12125550143"),
        ("212 555 0142 212 555 0143 212 555 0144", "US", "+12125550142", "+12125550143"),
        ("020 7946 0018 020 7946 0019", "GB", "+442079460018", "+442079460019"),
        ("212-555-0142 / 0000000", "US", "+12125550142", ""),
        ("0000000, 212-555-0142", "US", "+12125550142", ""),
    ],
)
def test_numbers_that_a_blank_parts_are_two(cell, region, first, second):
    """Where they fall into whole numbers in one way; a placeholder beside a number is nothing."""
    reading = read_phone(cell, region)

    assert (reading.e164, reading.other, reading.warnings) == (first, second, ("phone_split",))


def test_a_prohibition_reaches_every_number_that_a_blank_parts():
    """Not the first two alone."""
    cell = "212-555-0142 212-555-0143 212-555-0144"
    assert every_number(cell, "US") == ("+12125550142", "+12125550143", "+12125550144")
