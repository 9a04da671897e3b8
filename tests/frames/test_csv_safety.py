"""Formulas are disarmed, and every text comes back exactly."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.csv_safety import escape, escape_frame, unescape

TRICKY = st.text(st.sampled_from("'=+-@ \t\r\n＝＋－＠\u00a0aé1,\""), max_size=12)


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "+cmd|x",
        "-2+3",
        "@SUM(A1)",
        " =x",
        "\u00a0+x",
        "\t=x",
        "＝1",
        "'=x",
        "''+x",
        "\n-x",
        "-",
    ],
)
def test_dangerous_cells_get_an_apostrophe(cell):
    """What a spreadsheet could run does not begin a cell."""
    assert escape(cell) == f"'{cell}"


@pytest.mark.parametrize(
    "cell", ["+12125550142", "+442079460123", "plain", "'tis", "", "1-2", "a=b", " x"]
)
def test_harmless_cells_stay(cell):
    """Numbers in E.164, names and texts are untouched."""
    assert escape(cell) == cell


@given(st.one_of(st.text(), TRICKY))
def test_unescaping_undoes_escaping(cell):
    """No text is lost or changed on the way."""
    assert unescape(escape(cell)) == cell


@given(TRICKY, TRICKY)
def test_escaping_keeps_texts_apart(one, other):
    """Two texts are never escaped to the same."""
    assert (escape(one) == escape(other)) == (one == other)


@given(st.lists(TRICKY, min_size=1, max_size=8))
def test_a_frame_is_escaped_cell_by_cell(cells):
    """Whole columns are escaped as single cells are, names included, nulls become empty."""
    frame = pd.DataFrame(
        {
            "=name": pd.array([*cells, None], dtype="str"),
            "n": pd.array([1] * (len(cells) + 1), dtype="Int64"),
        }
    )

    escaped = escape_frame(frame)

    assert escaped.columns.tolist() == ["'=name", "n"]
    assert escaped["'=name"].tolist() == [*map(escape, cells), ""]
    assert str(escaped["n"].dtype) == "Int64"
