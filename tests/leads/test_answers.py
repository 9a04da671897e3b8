"""Yes, no, nothing and unclear in opt-out and consent cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads.answers import (
    NO,
    OPTED_IN,
    OPTED_OUT,
    YES,
    is_answer,
    read_answer,
    read_consent,
)


@pytest.mark.parametrize("word", sorted(YES))
def test_yes_forbids_in_one_column_and_allows_in_the_other(word):
    """The same word is opposite in an opt-out and a consent column."""
    assert read_answer(word.upper()) == "yes"
    assert read_consent(f" {word} ") == "yes"


@pytest.mark.parametrize("word", sorted(NO))
def test_no(word):
    """No is no in both."""
    assert read_answer(word) == read_consent(word) == "no"


@pytest.mark.parametrize("word", ["Sí", "NÃO", "1.0", "0.0", "'yes'", "Yes."])
def test_accents_and_spreadsheets_do_not_matter(word):
    """`1.0` is what a column of numbers makes of 1."""
    assert is_answer(word)


@pytest.mark.parametrize("word", sorted(OPTED_OUT))
def test_words_of_refusal(word):
    """A cell that says it with the column's name."""
    assert (read_answer(word), read_consent(word)) == ("yes", "no")


@pytest.mark.parametrize("word", sorted(OPTED_IN))
def test_words_of_consent(word):
    """And the other way round."""
    assert (read_answer(word), read_consent(word)) == ("no", "yes")


@pytest.mark.parametrize("word", ["maybe", "2024-05-01", "only e-mail", "2", "ask"])
def test_anything_else_is_unclear(word):
    """A date or a remark is no answer."""
    assert read_answer(word) == read_consent(word) == "unclear"


@pytest.mark.parametrize("word", ["", "  ", "-", "N/A", "null"])
def test_nothing_is_blank(word):
    """What people write for nothing is nothing."""
    assert read_answer(word) == read_consent(word) == "blank"


@given(st.text("qwzvk7 ", min_size=3).filter(str.strip))
def test_no_unknown_word_is_ever_a_permission(word):
    """Only a word of the tables lets a record pass."""
    assert read_answer(word) == "unclear"
    assert read_consent(word) == "unclear"


def test_tables_do_not_contradict_each_other():
    """No word is both yes and no."""
    assert not YES & NO
    assert not OPTED_IN & OPTED_OUT
