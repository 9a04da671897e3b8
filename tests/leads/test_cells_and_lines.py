"""A cell is told by its characters, a line that is one value by its whole."""

from __future__ import annotations

import pytest

from dialframe.leads.reading.dialect import is_cell, is_number, whole_share


@pytest.mark.parametrize("text", ["1", "-2.5", "+3", "1,234.50", "6.02e23", "€ 5", "7%", " 8 "])
def test_numbers(text):
    """Signs, thousands, exponents, currencies and percent belong to a number."""
    assert is_number(text)


@pytest.mark.parametrize("text", ["", "1-2", "12:30", "1 2", "a1", "2024-01-05"])
def test_no_numbers(text):
    """Dates, times and codes are no numbers."""
    assert not is_number(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "Ann Lee", "(212) 555-0142", "a@example.com", "https://example.com/?a=1&b=2",
        "2024-01-05T10:00:00Z", "12.5%", "-", "n/a", "@ann", "/var/log/x.txt", "Lee, Ann",
    ],
)  # fmt: skip
def test_cells(text):
    """What tables hold."""
    assert is_cell(text, text, '"')


@pytest.mark.parametrize("text", ["a;b", "x|y", "<p>", '{"a":1}', "a\tb"])
def test_cut_out_pieces(text):
    """What is left when a line is cut at the wrong character, unless it was quoted."""
    assert not is_cell(text, text, '"')
    doubled = text.replace('"', '""')
    assert is_cell(text, f'1,"{doubled}"', '"')


#: Lines, and whether they are one value each.
WHOLE = {
    "phones": (["(212) 555-0142", "212-555-0143", "+1 212 555 0144"], True),
    "times": (["10:30:00", "11:45:12", "09:00:59"], True),
    "instants": (["2024-01-05 10:30:00", "2024-01-06 11:30:00", "2024-01-07 12:30:00"], True),
    "web addresses": (["https://example.com/a?b=c:1", "https://example.com/d#e", "www.example.com"], True),
    "matrix": (["12 4567 891", "1 2 3456789", "123456 7 8"], False),
    "records": (["a,b", "c,d", "e,f"], False),
    "sentences": (["one two three", "four five", "six seven eight nine"], False),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(WHOLE))
def test_lines_of_one_value(case):
    """A column of times is no table with a colon between cells."""
    lines, whole = WHOLE[case]

    assert (whole_share(lines) > 0.5) == whole
