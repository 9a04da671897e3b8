"""What a column looks like is measured on its filled cells."""

from __future__ import annotations

import pandas as pd
import pytest

from dialframe.leads.columns.column_scores import SAMPLE_ROWS, examine


def evidence(*cells: str, region: str | None = "US"):
    return examine(pd.Series(cells, dtype="str"), region)


def test_shares_are_of_filled_cells():
    """Blanks lower only the filled share."""
    seen = evidence("212-555-0142", "", "(312) 555-0111", "", "12")

    assert seen.filled == pytest.approx(0.6)
    assert seen.phone == pytest.approx(2 / 3)


def test_kinds_of_cells():
    """Addresses, names, words and repetition."""
    assert evidence("a@example.com", "b@example.com").email == 1.0
    assert evidence("Ann Lee", "Renée", "山田").name == 1.0
    assert evidence("Ann Lee", "Bob").spaced == 0.5
    assert evidence("a", "a", "b", "b").distinct == 0.5


def test_an_empty_column_is_evidence_of_nothing():
    """All shares are zero."""
    assert evidence("", " ").filled == 0.0
    assert evidence().filled == 0.0


def test_ids_count_and_phones_do_not():
    """Growing in small steps is what ids do; a sorted list of phones grows in large ones."""
    assert evidence(*map(str, range(2125550100, 2125550120))).counting
    assert evidence(*(f"2024-{at:04}" for at in range(20))).counting
    assert not evidence("2125550142", "3125550111", "4045550101", "6175550100").counting
    for phones in ("212-555-01{:02}", "020 7946 00{:02}", "(212) 55501{:02}", "+4420794600{:02}"):
        assert not evidence(*(phones.format(at) for at in range(20))).counting
    assert not evidence("a1", "b2", "c", "d4").counting


def test_a_cell_of_thousands_of_digits_is_no_id():
    """Nor an error: Python refuses to read so long a number."""
    assert not evidence(*["9" * 5000] * 5).counting
    assert not evidence("1", "2", "3", "4", "9" * 5000).counting


def test_the_sample_is_spread_over_the_file():
    """A column that changes late is seen to change."""
    cells = ["212-555-0142"] * (SAMPLE_ROWS * 3) + ["a@example.com"] * (SAMPLE_ROWS * 3)

    assert evidence(*cells).email == pytest.approx(0.5, abs=0.01)


def test_national_numbers_need_the_region():
    """What is valid in one country is nothing in another."""
    assert evidence("020 7946 0123", "020 7946 0124", region="GB").phone == 1.0
    assert evidence("020 7946 0123", "020 7946 0124", region="US").phone == 0.0
    assert evidence("212-555-0142", region=None).phone == pytest.approx(0.7)  # perhaps
