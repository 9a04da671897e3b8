"""The compiled kernel says what phonenumbers says, about any text, wherever it was written."""

from __future__ import annotations

import random
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialframe.phones import column_reader, read_number
from dialframe.phones.column_reader import read_column
from phones.agreement import differences, rows
from phones.samples import DUMMIES, LABELS, NOISE, REGIONS, written

pytestmark = pytest.mark.skipif(
    find_spec("numba") is None, reason="the kernel is compiled by the extra `fast`"
)

#: `release_check` reads two million.
ROWS = 5_000


@pytest.fixture(autouse=True)
def _kernel(monkeypatch):
    """Columns are long enough for the kernel here, however few rows they have."""
    monkeypatch.setattr(column_reader, "pays", lambda rows: True)


@pytest.mark.slow
def test_no_spoilt_number_of_any_plan_is_read_differently():
    """Of 5,000 numbers from every plan, read at home everywhere and nowhere, none differs."""
    rng = random.Random(20)
    regions = [rng.choice(REGIONS) if rng.random() < 0.95 else None for _ in range(ROWS)]
    texts = [written(rng, region) for region in regions]

    assert set(regions) == {*REGIONS, None}
    assert differences(texts, regions) == []


def test_the_comparison_sees_a_wrong_region():
    """Numbers that are read for another region than they are compared for do differ."""
    rng = random.Random(3)
    texts = [written(rng, "GB") for _ in range(500)]
    column = rows(read_column(pa.array(texts, pa.large_string()), "DE"))

    assert column != [read_number(text, "GB") for text in texts]
    assert column == [read_number(text, "DE") for text in texts]


@pytest.mark.parametrize("region", ["US", "GB", "DE", "AR", "BR", "AG", "IT", "RU", "FR", None])
def test_one_region_for_all_is_read_as_one_for_each(region):
    """The region as one value and as a column of equal values give the same."""
    rng = random.Random(f"one {region}")
    texts = [written(rng, region) for _ in range(400)] + DUMMIES
    array = pa.array(texts, pa.large_string())

    assert rows(read_column(array, region)) == rows(read_column(array, [region] * len(texts)))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(
                st.one_of(
                    st.sampled_from([*LABELS, *NOISE]),
                    st.text("0123456789", min_size=1, max_size=12),
                    st.text(max_size=3),
                ),
                max_size=8,
            ).map("".join),
            st.sampled_from(["US", "GB", "DE", "AR", "MX", "SG", None]),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_any_pieces_put_together_are_read_alike(pairs):
    """Labels, noise, digits and any characters at all, in any order."""
    texts, regions = map(list, zip(*pairs, strict=True))

    assert differences(texts, regions) == []


def test_slices_nulls_and_both_sizes_of_strings_are_read_in_place():
    """An array that begins and ends within another is read from where it begins."""
    texts = ["junk 999", "(212) 555-0142", None, "", "020 7946 0123", "212-555-0142 x7", "tail"]
    for kind in (pa.string(), pa.large_string()):
        array = pa.array(texts, kind).slice(1, 5)

        found = rows(read_column(array, "US"))

        assert found == [read_number(text, "US") for text in texts[1:6]]


@pytest.mark.parametrize("texts", [[], [None], [None, None], [""]])
def test_columns_without_text_are_read(texts):
    """An array without bytes has no data buffer, and is as good as any."""
    found = rows(read_column(pa.array(texts, pa.large_string()), "US"))

    assert found == [read_number(text, "US") for text in texts]


def test_extensions_of_each_length_survive():
    """Up to the twenty digits that a label allows, whoever reads them."""
    texts = [f"212-555-0142 ext. {'1234567890' * 2:.{n}}" for n in range(1, 21)]

    assert differences(texts, ["US"] * len(texts)) == []


def test_what_a_list_has_is_left_to_nobody():
    """The shapes of ordinary lists are settled by the tables alone."""
    texts = ["(212) 555-0142", "212.555.0142 ext 12", "+44 20 7946 0123", "1-800-FLOWERS",
             "n/a", "2.12555E+9", "Tel: 212-555-0142", "212-555-0142 home", "0000000000",
             "٥٥٥-٠١٤٢", "２１２５５５０１４２０１４２", "٢.١٢e+٩", "२१२-५५५-०१४२ home", "212\u00a0555\u00a00142\u00a0x\u00a07",
             "\u202a(212) 555-0142\u202c", "212-555-0142 • cell", "212-555-0142, 2125550143", "212-555-0142; 7",
             "٥٥", "\u3000\u00a0"]  # fmt: skip

    column = read_column(pa.array(texts, pa.large_string()), "US")

    assert column.left == 0
    assert rows(column) == [read_number(text, "US") for text in texts]


def test_the_outcome_is_that_of_its_row():
    """Rows that phonenumbers reads come back to their own places."""
    texts = ["212-555-0142", "212-555-0142~3", "junk", "212-555-0143", "1~2", None]

    column = read_column(pa.array(texts, pa.large_string()), "US")

    assert column.left == 2
    assert np.flatnonzero(column.kind != 255).tolist() == [0, 1, 3]
    assert rows(column) == [read_number(text, "US") for text in texts]
