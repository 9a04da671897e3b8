"""A column of texts has the answers that phonenumbers gives one by one, whatever way each text takes."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phonenumbers import PhoneNumber, PhoneNumberFormat

import dialframe.phones
from dialframe.phones import COLUMNS, Reading, normalize, read_number
from phones.samples import DUMMIES, LABELS, NOISE, REGIONS, written
from rows import every_row

AMERICAN = [code for code in REGIONS if phonenumbers.country_code_for_region(code) == 1]
FORMATS = [PhoneNumberFormat.NATIONAL, PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.E164]
TRICKY = tomllib.loads(Path(__file__).with_name("shapes.toml").read_text("utf-8"))["tricky"]


def differences(texts: list[str | None], regions: list[str | None]) -> list[tuple[object, ...]]:
    """Rows in which any of the seven columns differs from the answer for the text alone."""
    frame = normalize(texts, regions).astype(object)
    rows = frame.where(frame.notna(), None).itertuples(index=False, name=None)
    return [
        (text, region, row, truth)
        for text, region, row in zip(texts, regions, rows, strict=True)
        if Reading(*row) != (truth := read_number(text, region))
    ]


def near_example(rng: random.Random, region: str) -> str:
    """A number near an example of the region, as people there write it; some with a slip."""
    example = phonenumbers.example_number_for_type(region, rng.choice([0, 1]))
    example = example or phonenumbers.example_number(region)
    number = PhoneNumber(
        country_code=example.country_code,
        national_number=max(1, example.national_number + rng.randint(-9_999, 99_999)),
        italian_leading_zero=example.italian_leading_zero,
    )
    text = phonenumbers.format_number(number, rng.choice(FORMATS))
    return rng.choice([text] * 8 + [text.replace("+", ""), f"0{text}", f"1{text}", f"({text})"])


def test_the_comparison_sees_a_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that are compared with those of another region do differ."""
    texts: list[str | None] = ["020 7946 0018"]
    assert differences(texts, ["GB"]) == []
    monkeypatch.setitem(
        globals(), "read_number", lambda text, _: dialframe.phones.read_number(text, "DE")
    )
    assert differences(texts, ["GB"]) != []


def test_usual_numbers_of_all_plans_are_read_alike() -> None:
    """At home and in a country that they are not of."""
    rng = random.Random(8)
    regions: list[str | None] = [*REGIONS * 6]
    texts: list[str | None] = [near_example(rng, region) for region in REGIONS * 6]
    assert differences(texts, regions) == []
    assert differences(texts, regions[1:] + regions[:1]) == []


def test_spoilt_numbers_of_all_plans_are_read_alike() -> None:
    """Of numbers from every pattern of every plan, read at home everywhere and nowhere, none differs."""
    rng = random.Random(20)
    regions = [rng.choice(REGIONS) if rng.random() < 0.95 else None for _ in range(4_000)]
    assert differences([written(rng, region) for region in regions], regions) == []


def test_any_digits_are_read_alike_in_north_america() -> None:
    """Behind a 1 that may be a trunk prefix, a calling code or a slip, of every length."""
    rng = random.Random(5)
    drawn = ["".join(rng.choices("0123456789", k=rng.randint(1, 20))) for _ in range(3_000)]
    texts = [*drawn[:1_500], *(f"1{digits[:18]}" for digits in drawn[1_500:])]
    assert differences(texts, [rng.choice(AMERICAN) for _ in texts]) == []


@settings(max_examples=150, deadline=None)
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
def test_any_pieces_put_together_are_read_alike(pairs: list[tuple[str, str | None]]) -> None:
    """Labels, noise, digits and any characters at all, in any order."""
    texts, regions = map(list, zip(*pairs, strict=True))
    assert differences(texts, regions) == []


@every_row("text, region", TRICKY)
def test_a_tricky_text_is_read_alike(text: str, region: str) -> None:
    """Among dummies and noise, and with missing values around it."""
    texts = [None, text, "", *DUMMIES, *NOISE, text]
    assert differences(texts, [region or None] * len(texts)) == []


@pytest.mark.parametrize("region", ["US", "gb", "AR", "IT", None])
def test_one_region_for_all_is_read_as_one_for_each(region: str | None) -> None:
    """The region as one value and as a column of equal values give the same frame."""
    rng = random.Random(f"one {region}")
    texts = [written(rng, region and region.upper()) for _ in range(400)]
    pd.testing.assert_frame_equal(normalize(texts, region), normalize(texts, [region] * 400))


def test_a_slice_of_a_column_of_text_keeps_its_index() -> None:
    """It is read from where it begins."""
    texts = ["junk 999", "(212) 555-0142", None, "", "020 7946 0123", "212-555-0142 x7", "tail"]
    series = pd.Series(texts, dtype="str", index=np.arange(7) * 2).iloc[1:6]
    frame = normalize(series, "US")
    assert frame.index.tolist() == [2, 4, 6, 8, 10]
    assert frame["extension"].tolist()[-1] == "7"
    pd.testing.assert_frame_equal(frame.reset_index(drop=True), normalize(texts[1:6], "US"))


def test_numbers_among_values_are_the_digits_that_a_person_sees() -> None:
    """A column of floats or mixed objects is read as it is shown."""
    values = [2125550142.0, 2125550142, float("nan"), pd.NA, "212-555-0142"]
    assert normalize(values, "US")["e164"].fillna("").tolist() == [
        "+12125550142", "+12125550142", "", "", "+12125550142",
    ]  # fmt: skip


def test_text_that_is_no_unicode_is_read() -> None:
    """Half of a surrogate pair cannot be in an Arrow column."""
    values = ["212-555-0142", "\ud800 212-555-0142"]
    assert normalize(values, "US")["e164"].tolist() == ["+12125550142"] * 2


def test_extensions_of_each_length_survive() -> None:
    """Up to the twenty digits that a label allows."""
    texts = [f"212-555-0142 ext. {'1234567890' * 2:.{n}}" for n in range(1, 21)]
    frame = normalize(texts, "US")
    assert [len(each) for each in frame["extension"].dropna()] == list(range(1, 21))
    assert all(re.fullmatch(r"\+12125550142", each) for each in frame["e164"])


@pytest.mark.parametrize("texts", [[], [None], [None, None], [""]])
def test_columns_without_text_have_the_same_columns(texts: list[str | None]) -> None:
    """An array without bytes has no data buffer, and is as good as any."""
    frame = normalize(texts, "US")
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == COLUMNS
    assert frame["reason"].tolist() == ["missing_phone"] * len(texts)
