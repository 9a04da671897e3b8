"""Dispositions, notes and codes by which somebody is not called again, and those by which one is."""

from __future__ import annotations

import pytest

from dialframe.opt_outs import (
    is_refusal,
    is_suspect,
    read_remark,
    read_screening,
    result_codes,
    scope_of,
)
from opt_outs.notes import NOTES, parted
from rows import every_row, labeled


@every_row("text", parted("hurried"))
def test_a_hurried_note_of_a_refusal_holds_its_record(text):
    """As a refusal, a doubt, a death or another's number: nobody is dialed."""
    assert read_remark(text) is not None
    assert is_suspect(text)


@every_row("text", parted("hurried_ordinary"))
def test_a_hurried_note_of_a_call_holds_nobody(text):
    """Words of not and of calls that only stand near each other."""
    assert read_remark(text) is None


@every_row(("language", "text"), labeled(NOTES["refusals"]))
def test_a_refusal_is_known_in_ten_languages(language, text):
    """In prose, in dispositions, and as a threat with the law."""
    assert is_refusal(text), language


@every_row(("language", "text"), labeled(NOTES["ordinary"]))
def test_an_ordinary_outcome_is_no_refusal(language, text):
    """Calls that reached nobody, and words that only look like a refusal."""
    assert not is_refusal(text), language


@pytest.mark.parametrize("row", result_codes(), ids=lambda row: f"{row.system} {row.code}")
def test_a_code_of_a_screening_service_is_read_as_the_service_says(row):
    """In a column of results; the worst where two services mean different things."""
    answer = read_screening(row.code)

    assert row.source
    assert answer == {"do_not_call": "yes", "clear": "no", "unclear": "unclear"}[row.says]


def test_a_code_that_no_table_knows_is_unclear():
    """So that nobody is called for whom it may mean no."""
    assert read_screening("Q7") == "unclear"


@pytest.mark.parametrize(
    ("header", "cell"),
    [
        ("Preferred contact method", "Email only"),
        ("Contact method", "only by e-mail"),
        ("Bevorzugter Kontaktweg", "nur per E-Mail"),
        ("Canal preferido", "solo correo electrónico"),
        ("Mode de contact", "uniquement par courriel"),
        ("Voorkeur", "alleen per e-mail"),
        ("Forma de contato", "somente por email"),
        ("Preferowany kontakt", "tylko mail"),
        ("Canale preferito", "solo via email"),
        ("Contact by", "no phone"),
    ],
)
def test_a_wish_for_another_channel_alone_forbids_calls(header, cell):
    """In the column that asks for it."""
    assert read_remark(cell, scope_of(header)) == "opt_out"


@every_row("text", parted("dispositions"))
def test_a_disposition_of_a_refusal_is_one(text):
    """Short, without a verb, in five languages."""
    assert is_refusal(text)


def test_the_ground_floor_is_no_refusal():
    """`Baja` with a number of a house is an address, with a day perhaps an opt-out."""
    assert read_remark("BAJA, 1") is None
    assert read_remark("Baja") == "opt_out_unclear"
    assert read_remark("baja 01/02/2024") == "opt_out_unclear"
