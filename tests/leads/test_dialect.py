"""The delimiter is found among all characters, and one column is an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.errors import ConfigError
from dialframe.leads.lead_file import Dialect, split_lines
from dialframe.leads.reading.dialect import detect

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
    found = detect([delimiter.join(row) for row in ROWS])

    assert found.dialect.delimiter == delimiter
    assert found.shape.width == 3


#: Lines and the delimiter that they have.
TRAPS = {
    "decimal commas": (["name;score;phone", "Ann;1,5;2125550142", "Bob;2,5;2125550143"], ";"),
    "commas in names": (["name|phone", "Lee, Ann|2125550142", "Roe, Bob|2125550143"], "|"),
    "times": (["name,phone,at", "Ann,2125550142,10:30:00", "Bob,2125550143,11:30:00"], ","),
    "one column of phones": (["(212) 555-0142", "(212) 555-0143", "212-555-0144"], ""),
    "one column with a header": (["phone", "2125550142", "2125550143"], ""),
    "one column of addresses": (["a@example.com", "b@example.com"], ""),
    "more preamble than rows": (
        [
            "Report, made today",
            "By: me",
            "Name,Phone,City",
            "Ann,212-555-0142,NY",
            "Bob,212-555-0143,LA",
            "Total: 2",
            "Made by X",
        ],
        ",",
    ),
    "brackets around names": (["[Name],[Phone]", "Ann,2125550142"], ","),
    "notes over lines": (
        [
            "name,phone,note",
            'Ann,2125550142,"one;',
            "two;x",
            "three;y",
            'four;"',
            "Bob,2125550143,z",
        ],
        ",",
    ),
    "numbers with blanks": (["1.5 2 3.25", "4 5.5 6", "70 8 9"], " "),
    "one column of times": (["10:30:00", "11:30:00", "12:30:59"], ""),
    "one column of instants": (["2024-01-05 10:30:00", "2024-01-06 11:30:00"], ""),
    "one column of sentences": (
        ["One day, all was well.", "Then it rained.", "He left, she stayed, and so on."],
        "",
    ),
    "signs of three characters": (["a~|~b~|~c", "d~|~e~|~f", "g~|~h~|~i"], "~|~"),
    "a bar between blanks": (["a | b | c", "d | e | f"], " | "),
    "quotes that are tildes": (["~a~;~b, c~", "~d~;~e, f~", "~g~;~h~"], ";"),
    "markup in quotes": (["id;html", '1;"<p a=""b"">x; y</p>"', '2;"<p>z; w</p>"'], ";"),
    "many columns in few lines": (
        [",".join(f"c{n}" for n in range(9000)), ",".join("1" * 9000)],
        ",",
    ),
    "a NUL in a cell": (["name,phone", "A\x00nn,2125550142", "Bob,212\x005550143"], ","),
}


@pytest.mark.parametrize("case", sorted(TRAPS))
def test_traps(case):
    """What looks like a delimiter and is none does not mislead."""
    lines, delimiter = TRAPS[case]

    assert detect(lines).dialect.delimiter == delimiter


def test_sep_line_is_honored():
    """A first line `sep=;` decides and is no record."""
    found = detect(["sep=;", "a,b;c", "d,e;f"])

    assert found.dialect.delimiter == ";"
    assert found.sep_line


@pytest.mark.parametrize(
    ("word", "delimiter"),
    [("tab", "\t"), ("\\t", "\t"), ("Comma", ","), ("pipe", "|"), ("semicolon", ";"), (";", ";")],
)
def test_delimiters_have_names(word, delimiter):
    """What is hard to type on a command line can be said."""
    assert detect(["a b", "c d"], delimiter=word).dialect.delimiter == delimiter


def test_a_quote_is_one_character():
    """More than one is no quote."""
    with pytest.raises(ConfigError, match="not one character"):
        detect(["a,b"], quote="''")


def test_what_is_told_is_not_doubted():
    """A delimiter and a quote from the caller are used."""
    found = detect(["a,b|c", "d,e|f"], delimiter="|", quote="'")

    assert found.dialect == Dialect("|", "'")
    assert found.confidence == 1.0


def test_blanks_behind_the_delimiter_belong_to_it():
    """`, ` delimits where it does so throughout."""
    spaced = ["name, phone, city", 'Ann, 212-555-0142, "New York, NY"', "Bob, 212-555-0143, Rome"]

    assert detect(spaced).dialect == Dialect(",", skip_space=True)
    assert not detect(["name,phone", "Lee Ann, 2125550142", "Bob,2125550143"]).dialect.skip_space


@pytest.mark.parametrize(
    ("lines", "quote", "escape"),
    [
        (['"a","b"', '"c","d"'], '"', None),
        (["'a','b'", "'c','d'", "'O''Neil','e'"], "'", None),
        (["O'Neil,212-555-0142", "D'Arcy,212-555-0143", "Ann,212-555-0144"], '"', None),
        (["a,b,c", '"Bob \\"B\\" Roe",212-555-0142,NY', "Ann,212-555-0143,LA"], '"', "\\"),
        (["a,b", *(f'"{n} inch,2125550{n}' for n in range(100, 120))], None, None),
        (["a,b,c", 'Ann,"212-555-0142,NY', "Bob,212-555-0143,LA"], '"', None),
    ],
)
def test_quotes(lines, quote, escape):
    """The quote is `"` unless another is used or none means anything; no escape is made up."""
    dialect = detect(lines).dialect

    assert (dialect.quote, dialect.escape) == (quote, escape)


def test_doubt_is_told():
    """A rival lowers the confidence and is named with its score."""
    found = detect(["Ann 5,5", "Bob 6,5"])

    assert found.confidence < 0.8
    assert found.runner_up is not None
    assert found.runner_up.startswith("' ' (")


def test_usual_records_are_described():
    """The shape knows which columns hold numbers and addresses."""
    shape = detect(
        ["a,b,c", "Ann,212-555-0142,a@example.com", "Bob,212-555-0143,b@example.com"]
    ).shape

    assert (shape.width, shape.digits, shape.ats) == (3, (1,), (2,))


@given(st.text(max_size=200))
def test_any_text_has_a_dialect(text):
    """No text breaks the search."""
    found = detect(split_lines(text).texts)

    assert 0 <= found.confidence <= 1


@pytest.mark.parametrize("delimiter", ",;\t|")
def test_records_that_are_quoted_as_one_cell(lead_file, delimiter):
    """As a list is written that was opened as one column; a column of quoted sentences stays one."""
    rows = [["Name", "Phone", "City"], ["Ann Lee", "(212) 555-0142", '""New"" York']]
    file = lead_file("".join(f'"{delimiter.join(row)}"\n' for row in rows))

    assert file.header == ("Name", "Phone", "City")
    assert file.frame.iloc[0].tolist()[:2] == ["Ann Lee", "(212) 555-0142"]
    assert lead_file('"Phone, please"\n"212-555-0142, or so"\n').frame.shape == (1, 1)


@pytest.mark.parametrize("line", ["310 555 0142", "+44 20 7946 0018", "(212) 555 0142"])
def test_one_number_alone_is_one_cell(line):
    """A list of one number that must not be called, as it was typed."""
    assert detect([line]).dialect.delimiter == ""


@pytest.mark.parametrize(("header", "lines"), [
    ("", ["0176 28388461", "030 23125101", "0151 23456789"]),
    ("", ["609 293 736", "915 550 142", "915 550 143"]),
    ("Telefon", ["02 5550 1421", "0491 570 156", "07 5550 1422"]),
    ("Phone number", ["020 7946 0018", "020 7946 0019"]),
])  # fmt: skip
def test_numbers_with_blanks_are_one_column(header, lines):
    """Half of a number is another number somewhere."""
    assert detect([header, *lines] if header else lines).dialect.delimiter == ""


@pytest.mark.parametrize("text", [
    "Klantnr,Telefoon\n1,012 82 69 97\n2,012 10 08 15\n3,055 82 55 50\n",
    "رقم,الهاتف\n1,03 484 3435\n2,050 139 9812\n3,050 435 2532\n4,050 435 2533\n5,02 435 2534\n",
    "编号,电话\n1,136 1239 6903\n2,138 0184 7123\n3,0456 374 1549\n4,\n5,186 0184 7123\n6,186 0184 7124\n",
], ids=["Belgium", "Emirates", "China"])  # fmt: skip
def test_blanks_within_numbers_part_nothing(text):
    """A list of a count and a number has two columns, though `1,012` may be a quantity."""
    assert detect(text.splitlines()).dialect.delimiter == ","
