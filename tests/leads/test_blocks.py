"""Blocks of any size hold the records that the parser finds in the whole text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialframe.leads.lead_file import Dialect, Shape, split_lines
from dialframe.leads.reading.delimited_blocks import Block, split_blocks
from dialframe.leads.reading.parser import parse

CELLS = st.one_of(
    st.sampled_from(
        ["", "a", "x y", "212-555-0142", "+12125550142", "é", "日本", '"', '""', "a@b.co", "1"]
    ),
    st.text(alphabet="ab\"\n\r,;' 5é", max_size=6),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A table with rows that are quoted well, badly, or not, and of any width."""
    rows = []
    for _ in range(draw(st.integers(0, 12))):
        cells = draw(st.lists(CELLS, min_size=1, max_size=4))
        kind = draw(st.sampled_from(["raw", "quoted", "usual"]))
        if kind == "usual":
            rows.append(f"{draw(st.sampled_from(['Ann', 'Bö', '']))},212-555-0142,x")
        elif kind == "raw":
            rows.append(",".join(cells))
        else:
            rows.append(",".join('"' + cell.replace('"', '""') + '"' for cell in cells))
    end = draw(st.sampled_from(["\n", "\r\n", "\r", "\r\r\n"]))
    return end.join(rows) + draw(st.sampled_from(["", end]))


def walked(text: str, dialect: Dialect, shape: Shape, size: int) -> list[Block]:
    data = text.encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return list(split_blocks(pieces, dialect, shape))


def wide(cells: list[str], width: int) -> list[str]:
    return [*cells, *[""] * width][:width]


@given(texts(), st.sampled_from([1, 7, 64, 300, 10_000]), st.sampled_from(['"', "'", None]))
@settings(deadline=None, max_examples=300)
def test_blocks_are_what_the_parser_finds(text, size, quote):
    """Cells, lines, faults, warnings and texts of every record, whatever the size of the blocks."""
    dialect, shape = Dialect(",", quote), Shape(3, digits=(1,))
    whole = parse(split_lines(text), dialect, shape)

    blocks = walked(text, dialect, shape, size)

    found = [block.cells(row) for block in blocks for row in range(len(block))]
    assert found == [wide(cells, 3) for cells in whole.cells]
    assert [line for block in blocks for line in block.starts.tolist()] == whole.starts
    raws = [block.raw(row) for block in blocks for row in range(len(block))]
    assert raws == [whole.raw(at) for at in range(len(whole.cells))]
    faults = {
        block.first + row: code
        for block in blocks
        for row, code in block.faults.items()
        if code != "too_many_cells"
    }
    assert faults == whole.faults
    stray = {
        block.first + row
        for block in blocks
        for row, codes in block.warnings.items()
        if "stray_quote" in codes
    }
    assert stray == set(whole.warnings)


def test_quotes_that_never_close_are_given_up_alike():
    """Patience with such quotes ends after the same number of lines in blocks and in the whole."""
    text = "".join(f'"{at},2\n' + "x\n" * 7 for at in range(215)) + 'a"\n'
    dialect, shape = Dialect(), Shape(3, digits=(1,))
    whole = parse(split_lines(text), dialect, shape)

    blocks = walked(text, dialect, shape, 1000)

    found = [block.cells(row) for block in blocks for row in range(len(block))]
    assert found == [wide(cells, 3) for cells in whole.cells]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_one_column_and_other_widths(width):
    """Without a delimiter a line is a cell; other widths are filled up or cut and noted."""
    dialect = Dialect("" if width == 1 else ",")
    blocks = walked('a,b,c\n"x"\n\nd\n', dialect, Shape(width), 5)
    whole = parse(split_lines('a,b,c\n"x"\n\nd\n'), dialect, Shape(width))

    found = [block.cells(row) for block in blocks for row in range(len(block))]
    assert found == [wide(cells, width) for cells in whole.cells]


NASTY = st.text(alphabet="ab,;\"' \x1f\x85\u2028\ufeffé\n\r", max_size=9)


@given(
    st.lists(st.lists(NASTY, max_size=5), max_size=25),
    st.sampled_from([",", ";", "a", " ", ""]),
    st.sampled_from(['"', "'", None]),
    st.integers(1, 4),
    st.sampled_from([5, 40, 10_000]),
)
@settings(deadline=None, max_examples=300)
def test_any_dialect_is_split_as_the_parser_splits_it(rows, delimiter, quote, width, size):
    """Marks in the middle, signs that stand for no delimiter, quotes anywhere, empty lines between."""
    dialect, shape = Dialect(delimiter, quote), Shape(width if delimiter else 1)
    lines = [(delimiter or ",").join(cells) for cells in rows]
    text = "".join(
        line if line.count('"') % 2 else f"{line}\n\n" if at % 7 == 0 else f"{line}\n"
        for at, line in enumerate(lines)
    )
    whole = parse(split_lines(text), dialect, shape)

    blocks = walked(text, dialect, shape, size)

    found = [block.cells(row) for block in blocks for row in range(len(block))]
    assert found == [wide(cells, shape.width) for cells in whole.cells]
    assert sum(block.usual for block in blocks) == sum(
        len(cells) == shape.width for at, cells in enumerate(whole.cells) if at not in whole.faults
    )
