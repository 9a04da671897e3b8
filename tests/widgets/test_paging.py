"""Pages of rows, and the sentence between their buttons."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.widgets.cleaning_findings import PER_PAGE, page_of


@given(st.integers(0, 500), st.integers(-3, 20))
def test_a_page_is_always_there(rows: int, number: int) -> None:
    """A number beyond the ends gives the nearest page."""
    page = page_of(pd.DataFrame({"a": range(rows)}), number, noun="rows")
    assert 0 <= page.number < page.pages
    assert len(page.rows) <= PER_PAGE
    assert bool(len(page.rows)) == bool(rows)


@given(st.integers(0, 500))
def test_the_pages_together_are_the_frame(rows: int) -> None:
    """No row is on two pages or on none."""
    frame = pd.DataFrame({"a": range(rows)})
    first = page_of(frame, 0, noun="rows")
    pages = [page_of(frame, number, noun="rows").rows for number in range(first.pages)]
    assert pd.concat(pages)["a"].tolist() == list(range(rows))


@pytest.mark.parametrize(
    ("rows", "whole", "words"),
    [
        (0, 0, "0 of 0 rows"),
        (0, 9, "0 of 9 rows"),
        (3, 3, "1 to 3 of 3 rows"),
        (1200, 5000, "1 to 50 of 1,200 rows, filtered from 5,000"),
    ],
)
def test_the_words_say_which_of_how_many(rows: int, whole: int, words: str) -> None:
    """`n of N`, filtered or not."""
    assert page_of(pd.DataFrame({"a": range(rows)}), 0, noun="rows", whole=whole).words == words
