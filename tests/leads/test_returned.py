"""A damaged record stays damaged for as long as its cells are those that its own text gives."""

from __future__ import annotations

import pytest

from dialframe.leads.reading import damage


@pytest.mark.parametrize(
    ("raw", "cells"),
    [
        ("5,Ed,x,a,b", ["5", "Ed", "x", "a"]),
        ('5;"Ed; Jr";x;a;b', ["5", "Ed; Jr", "x", "a"]),
        ("5\tEd\tx\ta\tb", ["5", "Ed", "x", "a"]),
        ("5, Ed, x, a, b", ["5", "Ed", "x", "a"]),
    ],
)
def test_untouched_cells_are_known(raw, cells):
    """Whatever the delimiter and the quotes of the list were."""
    assert damage(cells, "too_many_cells", "too_many_cells", raw) == "too_many_cells"


@pytest.mark.parametrize(
    ("cells", "reason", "raw"),
    [
        (["5", "Ed", "x", "a,b"], "too_many_cells", "5,Ed,x,a,b"),
        (["5", "Ed", "x", "a"], "", "5,Ed,x,a,b"),
        (["5", "Ed", "x", "a"], "phone_too_short", "5,Ed,x,a,b"),
        (["5", "Ed", "x", "a"], "too_many_cells", ""),
    ],
)
def test_mended_records_are_let_go(cells, reason, raw):
    """A cell that was put right, a reason that was emptied, another reason, no text to compare."""
    assert damage(cells, reason, reason, raw) is None
