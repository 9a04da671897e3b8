"""Columns are found by the blanks that stand above each other, and not in prose."""

from __future__ import annotations

from dialframe.leads.dialect import column_starts

TABLE = [
    "ID    NAME        CITY",
    "1     Ann Lee     New York",
    "22    Bob         Rome",
    "333   Cy Young    Paris",
]


def test_columns_of_a_fixed_width(lead_file):
    """Blanks inside a name do not split it, and cells lose the blanks that fill them up."""
    assert column_starts(TABLE) == (0, 6, 18)

    file = lead_file("\n".join(TABLE) + "\n")

    assert file.header == ("ID", "NAME", "CITY")
    assert file.frame.to_numpy().tolist()[0] == ["1", "Ann Lee", "New York"]
    assert file.dialect.starts == (0, 6, 18)


def test_lines_that_have_the_same_number_of_blanks(lead_file):
    """As where names and numbers are all of one length: one blank is no delimiter among many."""
    lines = [f"Ann{at:<3} Lee    (212) 555-0{at} New York" for at in range(100, 110)]
    file = lead_file("\n".join([f"{'Name':<14}{'Phone':<15}City", *lines]) + "\n")

    assert file.header == ("Name", "Phone", "City")
    assert file.frame["Phone"].tolist() == [f"(212) 555-0{at}" for at in range(100, 110)]


def test_numbers_set_to_the_right():
    """One blank between is enough where every line falls into as many words."""
    assert column_starts(["  1   2.5 10", " 10  13.5  9", "100 250.0 11", "  7   1.0 12"]) == (
        0,
        4,
        10,
    )


def test_prose_and_few_lines_have_no_columns():
    """Nothing is guessed from two lines or from sentences."""
    assert column_starts(TABLE[:2]) == ()
    assert column_starts(["one two  three", "four  five six", "seven eight nine", "ten"] * 3) == ()
