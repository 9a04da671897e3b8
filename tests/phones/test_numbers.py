"""Phone numbers are read as their numbering plans say, in order, and nothing invalid gets a number."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.errors import ConfigError
from dialframe.phones import COLUMNS, TYPES, check_region, is_placeholder, normalize, read_number
from rows import every_row

SHAPES = tomllib.loads(Path(__file__).with_name("shapes.toml").read_text("utf-8"))["shapes"]


@every_row("text, region, e164, extension, reason", SHAPES)
def test_each_shape_is_read_as_stated(text, region, e164, extension, reason):
    """A number, its extension and the reason why it is none are those of the table."""
    reading = read_number(text, region or None)

    assert reading.e164 == (e164 or None)
    assert (reading.extension, reading.reason) == (extension or None, reason or None)
    assert read_number(None, region or None).reason == "missing_phone"


def test_order_length_and_dtypes_are_those_of_the_input():
    """The answer has a row for each value, in its order, with fixed dtypes."""
    texts = [text for text, *_ in SHAPES]

    frame = normalize(texts, region="US")

    assert len(frame) == len(texts)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == COLUMNS
    assert (
        frame["e164"].isna().tolist() == frame["valid"].ne(other=True).fillna(value=True).tolist()
    )


def test_no_values_give_the_same_columns():
    """An empty list has the columns and dtypes of any other."""
    assert {name: str(dtype) for name, dtype in normalize([]).dtypes.items()} == COLUMNS


def test_a_series_keeps_its_index():
    """The answer can be joined to the frame whose column was asked about."""
    frame = normalize(pd.Series(["212-555-0142", None], index=["b", "a"]), "US")

    assert frame.index.tolist() == ["b", "a"]


def test_missing_values_are_null_in_every_column_but_the_reason():
    """A missing value is neither valid nor invalid."""
    frame = normalize([None, float("nan"), pd.NA, pd.NaT, ""])

    assert frame["reason"].tolist() == ["missing_phone"] * 5
    assert frame.drop(columns="reason").isna().all(axis=None)


def test_numbers_are_the_digits_that_a_person_sees():
    """A column of floats or integers is read as it is shown, not with `.0` behind it."""
    frame = normalize(
        [2125550142.0, 2125550142, np.int64(2125550142), np.float64(2125550142)], "US"
    )

    assert set(frame["e164"]) == {"+12125550142"}


def test_each_value_can_have_a_region_of_its_own():
    """An unknown or missing region of a row accepts international numbers only."""
    values = ["020 7946 0123", "212-555-0142", "+1 212 555 0142", "212-555-0142", "212-555-0142"]

    frame = normalize(values, region=["GB", "us", None, None, "nowhere"])

    assert frame["e164"].fillna("").tolist() == [
        "+442079460123",
        "+12125550142",
        "+12125550142",
        "",
        "",
    ]
    assert frame["reason"].tolist()[3:] == ["phone_ambiguous_region"] * 2


def test_regions_and_values_must_be_as_many():
    """A list of regions that is too short is a mistake, not a silent default."""
    with pytest.raises(ConfigError, match="2 values"):
        normalize(["1", "2"], region=["US"])


@pytest.mark.parametrize(
    ("region", "hint"), [("UK", "GB"), ("Germany", "two-letter"), ("", "two-letter")]
)
def test_an_unknown_region_is_refused_with_a_hint(region, hint):
    """A region that is no country is named, with what to write instead."""
    with pytest.raises(ConfigError, match=hint):
        normalize(["212-555-0142"], region=region)


def test_one_text_is_not_taken_for_a_list_of_characters():
    """A forgotten pair of brackets is told."""
    with pytest.raises(ConfigError, match="one text"):
        normalize("2125550142")


def test_regions_are_known_in_any_case():
    """`gb` and `GB ` are the same region."""
    assert check_region(" gb ") == "GB"
    assert check_region(None) is None


def test_types_are_named_in_words():
    """Every type that phonenumbers knows has a name."""
    known = {value for name, value in vars(phonenumbers.PhoneNumberType).items() if name.isupper()}

    assert known - set(TYPES) == set()
    assert normalize(["0491 570 006", "02 5550 1234"], region="AU")["type"].tolist() == [
        "mobile",
        "fixed_line",
    ]


@pytest.mark.parametrize(
    "digits", ["00000", "9999999999", "1234567890", "987654321", "0123456789"]
)
def test_dummies_are_placeholders(digits):
    """Repeated and counting digits are what people type to get past a form."""
    assert is_placeholder(digits)


@pytest.mark.parametrize(
    "digits", ["0000", "2125550142", "+12125550100", "2129999999", "+49 30 1234567"]
)
def test_real_looking_numbers_are_no_placeholders(digits):
    """A number that only ends in a pattern may be a real one."""
    assert not is_placeholder(digits)


@given(
    st.lists(
        st.one_of(
            st.none(),
            st.text(max_size=30),
            st.from_regex(r"[+(]?[\d ().\-/x]{5,18}", fullmatch=True),
        )
    )
)
def test_any_text_is_read_without_failing(values):
    """Whatever stands in a cell, there is a row with either a number or a reason."""
    frame = normalize(values, region="US")

    assert len(frame) == len(values)
    assert (frame["e164"].notna() ^ frame["reason"].notna()).all()
    assert frame.loc[frame["e164"].notna(), "e164"].str.fullmatch(r"\+[1-9]\d{1,14}").all()


@given(
    st.from_regex(
        r"(\+?(1|44|49|33|61|39|81|55|52|54))?[ \-(]?\d{2,4}[)\- ]?\d{3,4}[- ]?\d{3,5}",
        fullmatch=True,
    ),
    st.sampled_from(["US", "GB", "DE", "IT", "AR", "BR", "JP", None]),
)
def test_normalizing_twice_is_normalizing_once(text, region):
    """An E.164 number is read as itself, whatever the region."""
    once = read_number(text, region).e164

    assert once is None or read_number(once, region).e164 == once


@given(st.from_regex(r"\(?[2-9]\d{2}\)?[ \-]?555[ \-]?01\d{2}", fullmatch=True))
def test_agrees_with_phonenumbers(text):
    """Validity, region and number are those of the package that everyone uses."""
    number = phonenumbers.parse(text, "US")
    reading = read_number(text, "US")

    assert reading.valid == phonenumbers.is_valid_number(number)
    assert reading.region == phonenumbers.region_code_for_number(number)
    assert reading.possible == phonenumbers.is_possible_number(number)


def test_a_repeated_value_costs_once():
    """The same text a hundred thousand times is parsed one time."""
    frame = normalize(["212-555-0142"] * 100_000, "US")

    assert set(frame["e164"]) == {"+12125550142"}
    assert len(frame) == 100_000
