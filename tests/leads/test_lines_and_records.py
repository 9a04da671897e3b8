"""A usual record is recognized by its width and by what stands in its columns."""

from __future__ import annotations

import pytest

from dialframe.leads.lead_file import Records, Shape, has_many_digits


@pytest.mark.parametrize(
    ("shape", "cells", "fits"),
    [
        (Shape(3, digits=(1,)), ["Ann", "212-555-0142", "NY"], True),
        (Shape(3, digits=(1,)), ["call", "left", "message"], False),
        (Shape(3, digits=(1,)), ["Ann", "212-555-0142"], False),
        (Shape(2, ats=(1,)), ["Ann", "a@example.com"], True),
        (Shape(2, ats=(1,)), ["Hello", "world"], False),
        (Shape(2), ["Hello", "world"], False),
        (Shape(4), ["a", "b", "c", "d"], True),
        (Shape(1), ["2125550142"], False),
    ],
)
def test_shape(shape, cells, fits):
    """Narrow records need a telling column, wide ones only their width."""
    assert shape.fits(cells) is fits


def test_records_with_a_cell_too_many_still_resemble_one():
    """What stands in the telling columns counts, not the width."""
    shape = Shape(3, digits=(1,))

    assert shape.resembles(["Ann", "212-555-0142", "NY", "surplus"])
    assert shape.resembles(["Ann", "212-555-0142"])
    assert not shape.resembles(["call", "back", "later", "please"])
    assert not Shape(4).resembles(["a", "b", "c"])


def test_many_digits():
    """A post code counts, a house number does not."""
    assert has_many_digits("NY 10001")
    assert not has_many_digits("12 Main St")


def test_records_without_lines_show_their_cells():
    """A sheet's row has no text of its own."""
    assert Records([["Total", "", "3", ""]], [6], [7]).raw(0) == "Total\t\t3"
