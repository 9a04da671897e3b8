"""The delimiter is found among all characters, and one column is an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.errors import ConfigError
from dialframe.leads.dialect import detect
from dialframe.leads.lead_file import Dialect, split_lines
from leads.tables import table
from rows import every_row

ROWS = [
    ["name", "phone", "city"],
    ["Ann Lee", "212-555-0142", "New York"],
    ["Bob", "(212) 555-0143", "Boston"],
    ["Cy", "+1 212 555 0144", "Rome"],
]


@pytest.mark.parametrize(
    "delimiter",
    [",", ";", "\t", "|", "¬", "#", "^", "~", "¦", "§", ":", "\x1f", "\x01", "||", "!", "*"],
)
def test_delimiters_are_found(delimiter):
    """Each delimiter that lists have been seen with."""
    found = detect([[delimiter.join(row) for row in ROWS]])

    assert found.dialect.delimiter == delimiter
    assert found.shape.width == 3


LINES = table("dialects")


@every_row("trap", LINES["traps"])
def test_traps(trap):
    """What looks like a delimiter and is none does not mislead."""
    assert detect([trap["lines"]]).dialect.delimiter == trap["delimiter"]


def test_many_columns_in_few_lines():
    """Nine thousand in two."""
    lines = [",".join(f"c{at}" for at in range(9000)), ",".join("1" * 9000)]

    assert detect([lines]).dialect.delimiter == ","


def test_sep_line_is_honored():
    """A first line `sep=;` decides and is no record."""
    found = detect([["sep=;", "a,b;c", "d,e;f"]])

    assert found.dialect.delimiter == ";"
    assert found.sep_line


@pytest.mark.parametrize(
    ("word", "delimiter"),
    [("tab", "\t"), ("\\t", "\t"), ("Comma", ","), ("pipe", "|"), ("semicolon", ";"), (";", ";")],
)
def test_delimiters_have_names(word, delimiter):
    """What is hard to type on a command line can be said."""
    assert detect([["a b", "c d"]], delimiter=word).dialect.delimiter == delimiter


def test_a_quote_is_one_character():
    """More than one is no quote."""
    with pytest.raises(ConfigError, match="not one character"):
        detect([["a,b"]], quote="''")


def test_what_is_told_is_not_doubted():
    """A delimiter and a quote from the caller are used."""
    found = detect([["a,b|c", "d,e|f"]], delimiter="|", quote="'")

    assert found.dialect == Dialect("|", "'")
    assert found.confidence == 1.0


def test_blanks_behind_the_delimiter_belong_to_it():
    """`, ` delimits where it does so throughout."""
    spaced = ["name, phone, city", 'Ann, 212-555-0142, "New York, NY"', "Bob, 212-555-0143, Rome"]

    assert detect([spaced]).dialect == Dialect(",", skip_space=True)
    assert not detect([["name,phone", "Lee Ann, 2125550142", "Bob,2125550143"]]).dialect.skip_space


@every_row("quoted", LINES["quotes"])
def test_quotes(quoted):
    """The quote is `"` unless another is used or none means anything; no escape is made up."""
    dialect = detect([quoted["lines"]]).dialect

    assert (dialect.quote, dialect.escape) == (quoted.get("quote"), quoted.get("escape"))


def test_doubt_is_told():
    """A rival lowers the confidence and is named with its score."""
    found = detect([["Ann 5,5", "Bob 6,5"]])

    assert found.confidence < 0.8
    assert found.runner_up is not None
    assert found.runner_up.startswith("' ' (")


def test_usual_records_are_described():
    """The shape knows which columns hold numbers and addresses."""
    shape = detect(
        [["a,b,c", "Ann,212-555-0142,a@example.com", "Bob,212-555-0143,b@example.com"]]
    ).shape

    assert (shape.width, shape.digits, shape.ats) == (3, (1,), (2,))


@given(st.text(max_size=200))
def test_any_text_has_a_dialect(text):
    """No text breaks the search."""
    found = detect([split_lines(text).texts])

    assert 0 <= found.confidence <= 1


@pytest.mark.parametrize("delimiter", ",;\t|")
def test_records_that_are_quoted_as_one_cell(lead_file, delimiter):
    """As a list is written that was opened as one column; a column of quoted sentences stays one."""
    rows = [["Name", "Phone", "City"], ["Ann Lee", "(212) 555-0142", '""New"" York']]
    file = lead_file("".join(f'"{delimiter.join(row)}"\n' for row in rows))

    assert file.header == ("Name", "Phone", "City")
    assert file.frame.iloc[0].tolist()[:2] == ["Ann Lee", "(212) 555-0142"]
    assert lead_file('"Phone, please"\n"212-555-0142, or so"\n').frame.shape == (1, 1)
