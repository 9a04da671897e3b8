"""The quote, the escape and the lines of one cell are found before the delimiter is known."""

from __future__ import annotations

import pytest

from dialframe.leads.dialect import escape_of, joined, quote_of

LINES = ["a,b,c", *(f"x{n},y{n},z{n}" for n in range(8))]


def test_lines_of_a_quoted_cell_are_joined():
    """Also where the cell holds quotes of its own."""
    lines = ["a,b", '1,"one', 'two ""three""', 'four"', "2,five"]

    assert joined(lines, inside=False) == ["a,b", '1,"one\ntwo ""three""\nfour"', "2,five"]


def test_inches_and_open_quotes_join_nothing():
    """A quote behind a digit opens no cell, and one that never closes swallows no line."""
    lines = ['1,pipe 5"', '2,pipe 7"', '3,"open', "4,x", "5,y"]

    assert joined(lines, inside=False) == lines


def test_a_sample_may_begin_inside_a_cell():
    """The end of a cell that began above is left out."""
    assert joined(["rest of it", 'end",7', "a,b"], inside=True) == ["a,b"]


@pytest.mark.parametrize(
    ("lines", "quote"),
    [
        (LINES, '"'),
        ([*LINES, '"x,y",1,2'], '"'),
        (["'a','b'", "'c','d'"], "'"),
        (["~a~,~b~", "~c~,~d, e~"], "~"),
        ([*LINES, "'x, y',1,2", "'z, w',3,4"], "'"),
        (["a,it's,b", "c,that's,d", "e,o'clock,f"], '"'),
        ([*LINES, '1,"big" one,2', '3,"old" one,4', '5,the "new" one,6'], None),
    ],
)
def test_quotes(lines, quote):
    """The quote is the one that makes records regular."""
    assert quote_of(lines, ",") == quote


@pytest.mark.parametrize(
    ("lines", "escape"),
    [
        (LINES, None),
        (['1,"say \\"x\\", y",2', '3,"a",4'], "\\"),
        ([*LINES, "a\\,b,c,d", "e,f\\,g,h"], "\\"),
        (['1,"C:\\temp\\",2', '3,"a",4'], None),
    ],
)
def test_escapes(lines, escape):
    """A backslash escapes only where records are read more cleanly so."""
    assert escape_of(lines, ",", '"') == escape
