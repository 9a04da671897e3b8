"""Records are cut where they end, on the right line, and damage stays in the record that has it."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads import parser
from dialframe.leads.lead_file import Dialect, Lines, Records, Shape, split_lines
from dialframe.leads.parser import CLEAN, parse, scan
from leads.tables import table
from rows import every_row

LEADS = Shape(3, digits=(1,))
NOTED = Shape(4, digits=(1,), ats=(2,))


def parsed(text: str, dialect: Dialect | None = None, shape: Shape = LEADS) -> Records:
    return parse(split_lines(text), dialect or Dialect(), shape)


@every_row("text, cells", table("records")["usual"])
def test_cells_of_a_record(text, cells):
    """Quotes, doubled quotes and quotes inside cells are read as stated."""
    assert scan(text, Dialect()).cells == cells


@every_row("text, told, cells", table("records")["others"])
def test_other_dialects(text, told, cells):
    """Any delimiter, also of several characters, any quote, a backslash, blanks behind a delimiter."""
    told = {
        **told,
        "quote": told.get("quote", '"') or None,
        "starts": tuple(told.get("starts", ())),
    }

    assert scan(text, Dialect(**told)).cells == cells


def test_line_ends_may_be_mixed():
    """CR LF, LF, CR and CR CR LF each end one line."""
    lines = split_lines("a\r\nb\nc\rd\r\r\ne")

    assert lines.texts == ["a", "b", "c", "d", "e"]
    assert lines.ends == ["\r\n", "\n", "\r", "\r\r\n", ""]


def test_lines_are_cut_at_line_ends_only():
    """A form feed or a Unicode line separator inside a cell ends nothing."""
    assert split_lines("a\x0bb\x0cc\u2028d\x85e\n").texts == ["a\x0bb\x0cc\u2028d\x85e"]


@every_row("made", table("records")["lines"])
def test_records_end_where_they_end_and_damage_stays_in_its_record(made):
    """Quotes that stay open, that are lost, and those around several lines; see the table."""
    records = parsed(made["text"], shape=NOTED if "note" in made else LEADS)

    def numbered(part):
        return {int(at): value for at, value in made.get(part, {}).items()}

    assert records.faults == numbered("faults")
    assert records.starts == made.get("starts", records.starts)
    assert records.raw(0) == made.get("raw", records.raw(0))
    for own, name in ((records.cells, "cells"), (records.warnings, "warnings")):
        assert {at: own[at] for at in numbered(name)} == numbered(name)


def test_quotes_that_mean_nothing_do_not_cost_the_square_of_the_lines():
    """A file full of open quotes is given up line by line after a while."""
    text = '"a,212-555-0142,x\n' * 3000

    records = parsed(text, shape=Shape(9, digits=(1,)))

    assert len(records.cells) == 3000
    assert set(records.faults.values()) == {"unclosed_quote"}


@given(
    st.lists(
        st.lists(
            st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=8),
            min_size=2,
            max_size=4,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_what_csv_wrote_is_read_back(rows):
    """Rows in are rows out, cell by cell, for any text that the standard writer can write."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)

    records = parsed(text.getvalue(), shape=Shape(1))

    assert records.cells == rows
    assert records.faults == {}


@given(st.text(st.sampled_from('",ab \n\r'), max_size=60))
def test_every_line_is_in_exactly_one_record(text):
    """No line is lost and none is read twice, whatever the quotes do."""
    lines = split_lines(text)
    records = parse(lines, Dialect(), Shape(3, digits=(1,)))

    covered = [
        at
        for start, stop in zip(records.starts, records.stops, strict=True)
        for at in range(start, stop)
    ]
    assert covered == list(range(len(lines.texts)))


@given(st.text(st.sampled_from('"¬ab '), min_size=1, max_size=14))
def test_the_fast_way_reads_what_the_slow_way_reads(text):
    """Two readings of a record agree wherever the record is clean."""
    dialect = Dialect("¬")
    slow = parser._scan(text, dialect, '"') if '"' in text else scan(text, dialect)
    fast = scan(text, dialect)

    assert fast == slow or CLEAN not in (fast.state, slow.state)


def test_raw_text_keeps_its_line_ends():
    """The text of several lines is the file's own."""
    lines = Lines(["a", "b", "c"], ["\r\n", "\n", ""])

    assert lines.raw(0, 3) == "a\r\nb\nc"


def test_two_accidents_far_apart_do_not_make_one_note():
    """A quote that opens on one line and one that closes many leads below enclose no cell."""
    leads = "".join(f"P{n},212-555-{n:04d},p@example.com,NY\n" for n in range(100, 120))
    text = f'"Ann,212-555-0142,a@example.com,NY\n{leads}Bob",212-555-0143,b@example.com,LA\n'

    records = parsed(text, shape=NOTED)

    assert len(records.cells) == 22
    assert set(records.faults) == {0, 21} or set(records.faults) == {0}
