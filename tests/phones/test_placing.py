"""A column of numbers is placed as its numbers are, one by one."""

from __future__ import annotations

import random
import re

import pandas as pd

from dialframe.phones.zones import NOT_E164, as_integers, of_number, place

ODD = [None, "", "+", "+1", "12025550142", "+0123456789", "+12a25550142", "+1202555014２", "+123456", "+1234567",
       "+123456789012345", "+1234567890123456", "+12025550142 ", "+442079460018", "+61712345678"]  # fmt: skip


def numbers(count: int) -> list[str | None]:
    """American, foreign and odd ones."""
    rng = random.Random(4)
    american = [f"+1{rng.randrange(2 * 10**9, 10**10)}" for _ in range(count)]
    foreign = [
        f"+{rng.randrange(2, 10)}{rng.randrange(10 ** rng.randrange(5, 15))}" for _ in american
    ]
    return [*american, *foreign, *ODD, *american[:20]]


def test_text_becomes_an_integer_where_it_is_a_whole_number():
    """Also where the column begins within another."""
    texts = numbers(300)
    expected = [
        int(text[1:]) if text and re.fullmatch(r"\+[1-9][0-9]{6,14}", text) else NOT_E164
        for text in texts
    ]
    column = pd.Series(texts, dtype="str")

    assert as_integers(column).tolist() == expected
    assert as_integers(column.iloc[7:]).tolist() == expected[7:]
    assert as_integers(pd.Series([], dtype="str")).tolist() == []


def test_each_number_of_a_column_has_the_place_that_it_has_alone():
    """And the cases stand in the order of their first use, those of North America first."""
    texts = numbers(150)

    placed = place(pd.Series(texts, dtype="str"))

    assert [placed.kinds[code] for code in placed.codes] == [
        of_number(text or "") for text in texts
    ]
    assert place(pd.Series([], dtype="str")).kinds == ()
