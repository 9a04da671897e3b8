"""Phone cells are repaired where that is certain, split where they hold two, and their words are read; nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads.phones_in_cells import (
    every_number,
    is_fax,
    read_extension,
    read_phone,
    type_column,
)
from dialframe.phones import normalize
from leads.tables import table
from rows import every_row

ANN, BOB = "+12125550142", "+12125550143"
CELLS = table("phone_cells")


@every_row(
    "cell, region, e164, other, extension, warnings, reason, remark",
    [row for part in CELLS["parts"] for row in part["cells"]],
)
def test_what_is_read_of_a_cell(cell, region, e164, other, extension, warnings, reason, remark):
    """The number, a second one, what was done to get it, or why there is none: no digit is made up."""
    reading = read_phone(cell, region or None)

    assert (reading.e164, reading.other, reading.extension) == (e164, other, extension)
    assert ";".join(reading.warnings) == warnings
    assert (reading.reason or "", reading.remark or "") == (reason, remark)


@every_row("cell", CELLS["prohibitions"]["cells"])
def test_a_prohibition_beside_a_number_is_one_of_the_person(cell):
    """The number is read too, so that it is forbidden everywhere."""
    assert read_phone(cell, "US").remark in ("opt_out", "opt_out_unclear")
    assert every_number(cell, "US") == (ANN,)


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


def test_a_prohibition_reaches_every_number_that_a_blank_parts():
    """Not the first two alone."""
    cell = "212-555-0142 212-555-0143 212-555-0144"
    assert every_number(cell, "US") == ("+12125550142", "+12125550143", "+12125550144")


def test_every_number_of_a_cell_can_be_had():
    """For the reach of a prohibition: three numbers, faxes, and what was refused."""
    cell = "212-555-0142 / 212-555-0143 (fax) / 212-555-0144 dnc"

    assert every_number(cell, "US") == (ANN, BOB, "+12125550144")
    assert every_number("12", "US") == ()
    assert every_number("212-555-0142", "US") == (ANN,)


def test_a_column_that_tells_the_kind_of_number():
    """Named after the phone column, or plainly about the only one."""
    assert type_column("Phone", ["Phone"], ["City", "Phone Type"]) == "Phone Type"
    assert type_column("Phone 2", ["Phone 1", "Phone 2"], ["Phone 1 Type", "Phone 2 Type"]) == (
        "Phone 2 Type"
    )
    assert type_column("Home", ["Phone", "Home"], ["Phone Type"]) is None
    assert type_column("Phone", ["Phone"], ["Account Type"]) is None
    assert [is_fax(kind) for kind in ("Fax", "Work Fax", "Mobile", "", "Phone/Fax")] == [
        *(True, True, False, False, False),
    ]
