"""Records are cut where they end, on the right line, and damage stays in the record that has it."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads.lead_file import Dialect, Lines, Records, Shape, split_lines
from dialframe.leads.reading import parser
from dialframe.leads.reading.parser import CLEAN, parse, scan
from leads.tables import table
from rows import every_row

LEADS = Shape(3, digits=(1,))


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


def test_a_record_over_several_lines_starts_where_it_starts():
    """Line ends inside a quoted cell stay as they are, and the next record's line is right."""
    records = parsed('a,1\r\n"b\r\nc\nd",2\r\ne,3\r\n')

    assert records.cells == [["a", "1"], ["b\r\nc\nd", "2"], ["e", "3"]]
    assert records.starts == [0, 1, 4]


def test_an_unclosed_quote_takes_only_its_own_record():
    """The next line that looks like a record is one."""
    text = 'Ann,"212-555-0142,NY\nBob,212-555-0143,LA\n"Cy, Jr",212-555-0144,SF\n'

    records = parsed(text)

    assert records.faults == {0: "unclosed_quote"}
    assert [cells[0] for cells in records.cells[1:]] == ["Bob", "Cy, Jr"]
    assert records.raw(0) == 'Ann,"212-555-0142,NY'


def test_an_unclosed_quote_in_an_all_quoted_file_is_contained():
    """Quotes of the next record do not close the one that stayed open."""
    text = '"Ann","212-555-0142","NY\n"Bob","212-555-0143","LA"\n"Cy","212-555-0144","SF"\n'

    records = parsed(text)

    assert records.faults == {0: "unclosed_quote"}
    assert [cells[0] for cells in records.cells[1:]] == ["Bob", "Cy"]


def test_a_lost_quote_that_leaves_the_cells_alone_is_only_warned_of():
    """Without its quotes the record has the usual look, so nothing is missing."""
    records = parsed('"Ann,"212-555-0142","NY"\n"Bob","212-555-0143","LA"\n')

    assert records.faults == {}
    assert records.warnings == {0: "stray_quote"}
    assert records.cells[0] == ['"Ann', '"212-555-0142"', '"NY"']


def test_a_lost_quote_that_hides_a_delimiter_is_a_fault():
    """A record that can be read neither way is set aside with its text."""
    records = parsed('"Lee, Ann,"212-555-0142","NY"\n"Bob","212-555-0143","LA"\n')

    assert records.faults == {0: "unclosed_quote"}


def test_an_unclosed_quote_at_the_end_swallows_nothing():
    """A quote that opens in the last record leaves the ones before alone."""
    records = parsed('Bob,212-555-0143,LA\nAnn,212-555-0142,"NY\n')

    assert records.faults == {1: "unclosed_quote"}
    assert records.cells[0] == ["Bob", "212-555-0143", "LA"]


def test_text_over_lines_is_not_taken_for_records():
    """An address line with a comma inside a quoted cell has the width but not the look of a record."""
    text = '"12 Main St\nSpringfield, IL, US\nUSA",212-555-0142,x\nBob,212-555-0143,y\n'

    records = parsed(text)

    assert records.faults == {}
    assert [cells[1] for cells in records.cells] == ["212-555-0142", "212-555-0143"]


def test_bad_records_keep_their_own_text():
    """What lies between the open quote and the next record is in the bad record's text."""
    text = 'Ann,"212\nrest of it\nBob,212-555-0143,LA\n'

    records = parsed(text)

    assert records.raw(0) == 'Ann,"212\nrest of it'
    assert len(records.cells) == 2


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


NOTED = Shape(4, digits=(1,), ats=(2,))


def test_a_closed_note_may_hold_lines_that_look_like_records():
    """A list pasted into a quoted note stays in it, because the record then has the usual width."""
    inner = "ask:\nEve,212-555-0150,e@example.com,NY\nFay,212-555-0151,f@example.com,LA\nthanks"
    text = f'Ann,212-555-0142,a@example.com,"{inner}"\nBob,212-555-0143,b@example.com,x\n'

    records = parsed(text, shape=NOTED)

    assert records.cells[0] == ["Ann", "212-555-0142", "a@example.com", inner]
    assert records.starts == [0, 4]
    assert records.faults == {}


def test_two_accidents_far_apart_do_not_make_one_note():
    """A quote that opens on one line and one that closes many leads below enclose no cell."""
    leads = "".join(f"P{n},212-555-{n:04d},p@example.com,NY\n" for n in range(100, 120))
    text = f'"Ann,212-555-0142,a@example.com,NY\n{leads}Bob",212-555-0143,b@example.com,LA\n'

    records = parsed(text, shape=NOTED)

    assert len(records.cells) == 22
    assert set(records.faults) == {0, 21} or set(records.faults) == {0}


def test_an_open_quote_above_a_record_with_a_note_spoils_one_record():
    """The note of the next record is read whole, though its quote is the next one in the file."""
    text = (
        'Ann,212-555-0142,"a@example.com,x\n'
        'Bob,212-555-0143,b@example.com,"called\ntwice"\n'
        "Cy,212-555-0144,c@example.com,y\n"
    )

    records = parsed(text, shape=NOTED)

    assert records.faults == {0: "unclosed_quote"}
    assert records.starts == [0, 1, 3]
    assert records.cells[1][3] == "called\ntwice"


def test_a_record_with_too_many_cells_ends_an_open_one():
    """It is damaged as well, but it is a record."""
    records = parsed('1,"2,3\n4,212-555-0142,5,6\n', shape=LEADS)

    assert records.starts == [0, 1]


def test_a_word_in_quotes_at_the_beginning_of_a_cell_is_a_word():
    """Text goes on behind the closing quote: the record is whole, and flagged."""
    records = parsed('Ann "A",212-555-0142,x\n"Big" Bob,212-555-0143,y\nCy,212-555-0144,z\n')

    assert records.cells[1] == ['"Big" Bob', "212-555-0143", "y"]
    assert records.starts == [0, 1, 2]
    assert records.faults == {}
    assert records.warnings[1] == "stray_quote"
