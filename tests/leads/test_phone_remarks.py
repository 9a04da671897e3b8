"""Words beside a number are read before they are taken off."""

from __future__ import annotations

import pytest

from dialframe.leads.judging.phone_cells import (
    every_number,
    is_fax,
    numbers_of,
    read_phone,
    type_column,
)

ANN, BOB = "+12125550142", "+12125550143"

#: Cell, what is said of the person.
PERSON = [
    *(
        "DNC 212-555-0142",
        "212-555-0142 (do not call)",
        "opted out 212-555-0142",
        "212-555-0142 DNC",
    ),
    *("212-555-0142 STOP", "212-555-0142, DNC", "212-555-0142 - no llamar", "(DNC) 212-555-0142"),
    *("ne pas appeler 212-555-0142", "212-555-0142 nicht anrufen", "não ligar: 212-555-0142"),
    *("212-555-0142（電話不可）", "unsubscribed 212-555-0142", "212-555-0142 [removed]"),
]


@pytest.mark.parametrize("cell", PERSON)
def test_a_prohibition_beside_a_number_is_one_of_the_person(cell):
    """The number is read too, so that it is forbidden everywhere."""
    reading = read_phone(cell, "US")

    assert reading.remark in ("opt_out", "opt_out_unclear")
    assert every_number(cell, "US") == (ANN,)


#: Cell, reason, what number is left.
NUMBERS = [
    ("212-555-0142 (fax)", "fax_only", ""),
    ("FAX 212-555-0142", "fax_only", ""),
    ("Telefax: 212-555-0142", "fax_only", ""),
    ("212-555-0142, fax", "fax_only", ""),
    ("wrong number 212-555-0142", "wrong_number", ""),
    ("212-555-0142 disconnected", "wrong_number", ""),
    ("old: 212-555-0142", "wrong_number", ""),
    ("212-555-0142 numéro erroné", "wrong_number", ""),
    ("212-555-0142 (wife)", "phone_of_another", ""),
    ("emergency: 212-555-0142", "phone_of_another", ""),
    ("Tel 212-555-0142 Fax 212-555-0143", None, ANN),
    ("Fax: 212-555-0143 / Tel: 212-555-0142", None, ANN),
    ("old 212-555-0143; 212-555-0142", None, ANN),
    ("212-555-0142, 212-555-0143 (fax)", None, ANN),
    ("212-555-0142 (mobile)", None, ANN),
    ("M: 212-555-0142 H: 212-555-0143", None, ANN),
    ("No. 212-555-0142", None, ANN),
    ("212-555-0142 call after 5pm", None, ANN),
    ("(212) 555-0142 (call after 5pm)", None, ANN),
    ("212-555-0142 alt", None, ANN),
    ("0044 20 7946 0123", None, "+442079460123"),
]


@pytest.mark.parametrize(("cell", "reason", "e164"), NUMBERS)
def test_words_say_whose_number_it_is(cell, reason, e164):
    """A fax, a wrong one, another person's; other remarks are taken off."""
    reading = read_phone(cell, "US")

    assert (reading.reason, reading.e164, reading.remark) == (reason, e164, None)


def test_letters_of_a_remark_are_no_digits():
    """1-800-FLOWERS is a number, `alt` behind a German one is not three more digits of it."""
    assert read_phone("1-800-FLOWERS", "US").e164 == "+18003569377"
    assert read_phone("030 23125123 alt", "DE").e164 == "+493023125123"
    assert read_phone("030 23125123 privat", "DE").e164 == "+493023125123"


@pytest.mark.parametrize("cell", ["212-555-01XX", "212-555-****", "212-555-01??", "? 23125123"])
def test_a_masked_number_is_too_short(cell):
    """No digit is guessed, and none is left out to make it valid."""
    assert read_phone(cell, "DE").reason == read_phone(cell, "US").reason == "phone_too_short"


def test_every_number_of_a_cell_can_be_had():
    """For the reach of a prohibition: three numbers, faxes, and what was refused."""
    cell = "212-555-0142 / 212-555-0143 (fax) / 212-555-0144 dnc"

    assert every_number(cell, "US") == (ANN, BOB, "+12125550144")
    assert numbers_of(cell, read_phone(cell, "US"), "US") == (ANN, BOB, "+12125550144")
    assert numbers_of("12", read_phone("12", "US"), "US") == ()
    assert numbers_of("212-555-0142", read_phone("212-555-0142", "US"), "US") == (ANN,)


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
