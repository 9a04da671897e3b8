"""Names, ids and e-mail addresses become what the service takes, and small slips are mended."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads.cells import (
    is_nothing,
    read_email,
    read_name,
    tidy,
    turn_name,
    turns_names,
)
from leads.tables import table
from rows import every_row


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("  Ann \t Lee ", "Ann Lee"),
        ("Ann\u00a0Lee", "Ann Lee"),
        ("A\u200bnn\ufeff", "Ann"),
        ("A\x00nn\x1f", "Ann"),
        ("Ann\r\nLee", "Ann Lee"),
        ("", ""),
    ],
)
def test_superfluous_characters_go(cell, text):
    """Blanks, control and zero-width characters are no part of a name."""
    assert tidy(cell) == text


@given(st.text())
def test_tidying_twice_is_tidying_once(cell):
    """A tidy text stays as it is."""
    assert tidy(tidy(cell)) == tidy(cell)


@pytest.mark.parametrize("cell", ["", "n/a", "NULL", "-", "keine Angabe", "なし", "Unknown"])
def test_words_for_nothing_are_nothing(cell):
    """What people write into an empty field is an empty field."""
    assert is_nothing(tidy(cell))
    assert read_name(cell) == ""


def test_names_are_composed():
    """The same name in two Unicode forms is one name."""
    assert read_name("Rene\u0301e") == "Ren\u00e9e"


def test_columns_of_turned_names_are_recognized():
    """Only a column that is written so throughout; a comma in one name turns nothing."""
    assert turns_names(pd.Series(["Lee, Ann", "Roe, Bob", "", "Ng, Cy"]))
    assert not turns_names(pd.Series(["Ann Lee", "Fryatt Hospital, Harwich", "Bob Roe"]))
    assert not turns_names(pd.Series([], dtype="str"))
    assert turn_name("Lee, Ann Mary") == "Ann Mary Lee"
    assert turn_name("Ann Lee") == "Ann Lee"


EMAILS = [
    *table("emails")["emails"],
    [f"{'a' * 65}@example.com", "", "email_invalid", []],
    [f"{'a' * 60}@{'b' * 60}.{'c' * 60}.{'d' * 60}.example.com", "", "email_length", []],
]


@every_row("cell, email, reason, warnings", EMAILS)
def test_email_cells(cell, email, reason, warnings):
    """An address is taken by its syntax; nothing is looked up and nothing is guessed."""
    assert tuple(read_email(cell)) == (email, reason or None, tuple(warnings))


@given(st.text(st.sampled_from("ab@. ,;<>:")))
def test_addresses_that_are_found_are_addresses(cell):
    """Whatever is made of a cell is an address when it is read again."""
    email = read_email(cell).email

    assert email == "" or tuple(read_email(email)) == (email, None, ())
