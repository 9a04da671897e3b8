"""Column names are unique and never those that this package adds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads.lead_file import META, unique_names


@pytest.mark.parametrize(
    ("header", "width", "names"),
    [
        (("a", "b"), 2, ["a", "b"]),
        ((" a ", "\ufeffb\n c"), 2, ["a", "b c"]),
        (("a", "", "a", "a"), 4, ["a", "column_2", "a (2)", "a (3)"]),
        (("a",), 3, ["a", "column_2", "column_3"]),
        (None, 2, ["column_1", "column_2"]),
        (("_line", "_raw"), 2, ["_line (2)", "_raw (2)"]),
        (("column_2", ""), 2, ["column_2", "column_2 (2)"]),
    ],
)
def test_names(header, width, names):
    """Repeated, empty and reserved headers get a name of their own."""
    assert unique_names(header, width) == names


@given(st.lists(st.sampled_from(["", "a", "a (2)", "_line", "column_1", " a"]), max_size=8))
def test_names_are_unique_and_free(header):
    """Whatever stands in the header."""
    names = unique_names(tuple(header), len(header))

    assert len(set(names)) == len(header)
    assert not set(names) & set(META)


def test_the_repr_shows_no_cell(lead_file):
    """A number does not get into a log by way of a repr."""
    file = lead_file("name,phone\nAnn,2125550142\n")

    assert repr(file) == "LeadFile('leads.csv', 1 rows x 2 columns, csv)"
    assert "2125550142" not in f"{file!r} {file.decisions!r}"


def test_the_least_sure_decision_is_the_confidence(lead_file):
    """One number tells whether a person should look."""
    decisions = lead_file("(212) 555-0142\n(212) 555-0143\n").decisions

    assert decisions.confidence == min(decisions.delimiter_confidence, decisions.header_confidence)
    assert decisions.to_dict()["confidence"] == decisions.confidence
