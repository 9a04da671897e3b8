"""The picture of outcomes adds up classes and colors them by who answered."""

from __future__ import annotations

import pandas as pd

from dialframe import plots
from plots.examples import shown
from plots.looked_at import has_color, words


def test_counts() -> None:
    """The title gives those who were reached and the most frequent outcome."""
    said = words(shown("outcomes"))
    assert said.startswith("17.4% of 86 calls reached a person; most often: no answer (46.5%)")
    assert "Answering machine" in said


def test_rows_of_a_class_are_added_up() -> None:
    """Several dispositions of one class make one bar."""
    frame = pd.DataFrame({"outcome": ["busy", "busy", "machine"], "calls": [2, 3, 1]})
    picture = plots.outcomes(frame)
    assert picture.alt.endswith("Busy 5 (83.3%); Answering machine 1 (16.7%).")


def test_a_class_from_elsewhere_is_unknown() -> None:
    """A class that is not in the table is drawn, as not known."""
    picture = plots.outcomes(pd.DataFrame({"outcome": ["new_class"], "calls": [1]}))
    assert "New class" in words(picture)
    assert has_color(picture, "#E69F00")
