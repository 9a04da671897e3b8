"""Cells that pass by their bytes are cells that the reading function leaves alone; lines and CSV likewise."""

from __future__ import annotations

import csv
import io

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dialframe import arrow_text
from dialframe.csv_safety import escape
from dialframe.leads import formats, plain_cells
from dialframe.leads.cells import read_email, read_name
from dialframe.leads.lead_file import split_lines
from dialframe.leads.phones_in_cells import read_phone
from dialframe.leads.rows import line_bounds
from dialframe.phones import read_number

CELLS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        st.from_regex(r"[+(]?[0-9 ().,-]{0,14}(x|ext\.?| Extension )?[0-9]{0,5}(\.0)?", fullmatch=True),
        st.from_regex(r"[a-z.]{1,8}@[a-z-]{1,8}(\.[a-z]{1,4})?", fullmatch=True),
        st.sampled_from(
            ["n/a", "=1+1", "+12125550142", "'x", "-5", 'a"b', "", "1,234,567", "Núñez", "Weiß", " a"]
        ),
    ),
    max_size=12,
)  # fmt: skip


@given(CELLS)
def test_what_passes_is_what_the_reader_would_say(cells: list[str]) -> None:
    """Names and addresses stay, and a readable phone cell is what phonenumbers makes of it."""
    column = arrow_text.column(cells)
    untidy, odd = (
        set(plain_cells.untidy(column)),
        set(plain_cells.odd_emails(column)),
    )
    worded = set(plain_cells.worded(column))
    shapes, readable = plain_cells.phone_shapes(column)
    for row, (cell, shape, text) in enumerate(
        zip(cells, shapes.tolist(), readable.to_pylist(), strict=True)
    ):
        assert row in untidy or read_name(cell) == cell
        assert row in odd or read_email(cell).email == cell
        assert row in worded or not any(map(str.isalpha, cell))
        assert (shape >= plain_cells.PLAIN) == bool(text)
        number = read_number(text, "US")
        if text and number.valid:
            assert read_phone(cell, "US").e164 == number.e164


@given(CELLS)
def test_a_column_is_judged_alike_in_slices(cells: list[str]) -> None:
    """Wherever a column begins in its memory, and whatever stands before and behind it."""
    column = pa.concat_arrays([arrow_text.column(["x ", *cells, " y"])]).slice(1, len(cells))
    own = arrow_text.column(cells)
    for judge in (
        plain_cells.untidy,
        plain_cells.odd_emails,
        plain_cells.worded,
    ):
        assert judge(column).tolist() == judge(own).tolist()
    for one, other in zip(plain_cells.keys(column), plain_cells.keys(own), strict=True):
        assert one.tolist() == other.tolist()
        assert len(set(one.tolist())) == len(set(cells))
    assert (
        plain_cells.phone_shapes(column)[0].tolist() == plain_cells.phone_shapes(own)[0].tolist()
    )


def test_numbers_are_whole_numbers_again() -> None:
    """Empty texts are 0."""
    found = plain_cells.numbers(arrow_text.column(["+12125550142", "", "+442079460018"]))

    assert found.tolist() == [12125550142, 0, 442079460018]


@given(st.text("ab\r\n", max_size=30))
def test_lines_end_where_a_text_is_split(text: str) -> None:
    """LF, CR LF, CR CR LF and CR, mixed as they come."""
    data = text.encode()
    begins, ends, behind = line_bounds(data, len(data))
    lines = [data[begin:end].decode() for begin, end in zip(begins, ends, strict=True)]

    assert lines == split_lines(text).texts
    assert [0, *behind[:-1]][: len(begins)] == begins.tolist()
    assert not len(behind) or behind[-1] == len(data)


@given(CELLS)
def test_csv_is_that_of_the_standard_library(cells: list[str]) -> None:
    """Quotes, apostrophes and line ends, of one column and of two."""
    for guard in (True, False):
        wanted = io.StringIO(newline="")
        writer = csv.writer(wanted, lineterminator="\r\n")
        column = arrow_text.column(cells)
        for columns in ([column], [column, pa.array(np.arange(len(cells))), column]):
            rows = zip(*(one.to_pylist() for one in columns), strict=True)
            disarmed = ([escape(str(one)) if guard else one for one in row] for row in rows)
            wanted.seek(0)
            wanted.truncate()
            writer.writerows(disarmed)
            found = bytes(formats._csv_rows(columns, guard=guard))
            assert found.decode() == wanted.getvalue()
