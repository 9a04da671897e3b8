"""Yes, no, nothing and unclear in opt-out and consent cells."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dialframe.opt_outs import is_answer, read_answer, read_consent
from dialframe.opt_outs.answers import answer_set
from rows import every_row


@every_row("word", sorted(answer_set("yes")))
def test_yes_forbids_in_one_column_and_allows_in_the_other(word):
    """The same word is opposite in an opt-out and a consent column."""
    assert read_answer(word.upper()) == "yes"
    assert read_consent(f" {word} ") == "yes"


@every_row("word", sorted(answer_set("no")))
def test_no(word):
    """No is no in both."""
    assert read_answer(word) == read_consent(word) == "no"


@pytest.mark.parametrize("word", ["Sí", "NÃO", "1.0", "0.0", "'yes'", "Yes."])
def test_accents_and_spreadsheets_do_not_matter(word):
    """`1.0` is what a column of numbers makes of 1."""
    assert is_answer(word)


@every_row("word", sorted(answer_set("opted_out")))
def test_words_of_refusal(word):
    """A cell that says it with the column's name."""
    assert (read_answer(word), read_consent(word)) == ("yes", "no")


@every_row("word", sorted(answer_set("opted_in")))
def test_words_of_consent(word):
    """And the other way round."""
    assert (read_answer(word), read_consent(word)) == ("no", "yes")


@pytest.mark.parametrize("word", ["maybe", "2", "ask", "see notes", "検討中"])
def test_anything_else_is_unclear(word):
    """A remark is no answer."""
    assert read_answer(word) == read_consent(word) == "unclear"


@pytest.mark.parametrize(
    "date",
    [
        *("2024-05-01", "2024-05-01 10:12:00", "2024-05-01T10:12:00Z", "01/05/2024", "1.5.24"),
        *("5 May 2024", "May 5, 2024", "20240501", "2024年5月1日", "2024/5/1", "01-May-2024"),
    ],
)
def test_a_date_in_an_opt_out_column_is_the_day_of_the_opt_out(date):
    """In a consent column it is no answer."""
    assert (read_answer(date), read_consent(date)) == ("yes", "unclear")


#: Cell, what it says in an opt-out column, what it says in a consent column.
WORDS = [
    ("DNC since 2021", "yes", "no"),
    ("Not on DNC", "no", "unclear"),
    ("DNC: no", "no", "no"),
    ("Registered", "yes", "unclear"),
    ("not registered", "no", "unclear"),
    ("No match", "no", "unclear"),
    ("Listed", "yes", "unclear"),
    ("Clear", "no", "unclear"),
    ("Opted-In", "no", "yes"),
    ("opted_out", "yes", "no"),
    ("Phone; Email", "unclear", "yes"),
    ("SMS, E-mail", "unclear", "no"),
    ("email only", "unclear", "no"),
    ("All", "yes", "yes"),
    ("OK", "unclear", "yes"),
    ("NG", "yes", "no"),
    ("不可", "yes", "no"),
    ("可", "unclear", "yes"),
    ("同意する", "no", "yes"),
    ("同意しない", "yes", "no"),
    ("登録済", "yes", "unclear"),
    ("未登録", "no", "unclear"),
    ("Einwilligung widerrufen", "yes", "no"),
    ("erteilt", "no", "yes"),
    ("Refusé", "yes", "no"),
    ("accepté", "no", "yes"),
    ("inscrito", "yes", "unclear"),
    ("no inscrito", "no", "unclear"),
    ("não ligar", "yes", "no"),
    ("autorizado", "no", "yes"),
    ("asked to be removed from the list", "yes", "no"),
    ("Yes - requested 2021", "yes", "yes"),
    ("No - ok to call", "no", "no"),
    ("No, do not call", "yes", "no"),
    ("Yes (verbal)", "yes", "yes"),
    ("Sí, por teléfono", "yes", "yes"),
    ("1 - low", "unclear", "unclear"),
    ("yes and no", "unclear", "unclear"),
    ("Yes - email only", "unclear", "no"),
    ("only e-mail", "unclear", "no"),
    ("No (by post)", "unclear", "unclear"),
    *(
        (day, "yes", "unclear")
        for day in (
            "3 mars 2024",
            "12-MAR-24",
            "1. März 2024",
            "15 août 2023",
            "5 ağu 2024",
            "2 окт 2024",
            "May 4, 2023",
            "2024-05-01 10:00",
            "20240501",
            "31/12/2023",
        )
    ),
]


@every_row(("cell", "opt_out", "consent"), WORDS)
def test_words_mean_what_they_mean_in_their_column(cell, opt_out, consent):
    """As the table says, in both kinds of column."""
    assert (read_answer(cell), read_consent(cell)) == (opt_out, consent)


@pytest.mark.parametrize("word", ["", "  ", "-", "N/A", "null"])
def test_nothing_is_blank(word):
    """What people write for nothing is nothing."""
    assert read_answer(word) == read_consent(word) == "blank"


@given(st.text("qwzvk7 ", min_size=3).filter(str.strip))
@example("7kkk77")
@example("3 rings 24")
def test_no_unknown_word_is_ever_a_permission(word):
    """Only a word of the tables lets a record pass."""
    assert read_answer(word) == "unclear"
    assert read_consent(word) == "unclear"


def test_tables_do_not_contradict_each_other():
    """No word is both yes and no."""
    assert not answer_set("yes") & answer_set("no")
    assert not answer_set("opted_in") & answer_set("opted_out")
