"""Without a compiler, a column of usual shapes is read by numpy, and says what phonenumbers says."""

from __future__ import annotations

import random

import phonenumbers
import pyarrow as pa
from phonenumbers import PhoneNumber, PhoneNumberFormat

from dialframe.phones import column_reader, outcomes, read_number
from dialframe.phones.column_reader import read_column
from dialframe.phones.vectorized import are_valid, read_usual
from phones.agreement import rows
from phones.samples import DUMMIES, NOISE, REGIONS, written

FORMATS = [PhoneNumberFormat.NATIONAL, PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.E164]


def usual(rng: random.Random, region: str) -> str:
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


def test_every_answer_is_that_of_phonenumbers():
    """Of usual numbers of all plans most are answered, of spoilt ones some, and none differently."""
    rng = random.Random(8)
    regions = [*REGIONS * 12, *(rng.choice([*REGIONS, None]) for _ in range(1_500))]
    texts = [usual(rng, region) for region in regions[:-1_500]]
    texts += [written(rng, region) or "-" for region in regions[-1_500:]]

    column = pa.array(texts, pa.large_string())
    found = column_reader._by_tables(column, regions)

    answered = found.outcome != outcomes.HANDED_OVER
    assert answered[:-1_500].mean() > 0.5
    assert answered[-1_500:].sum() > 100
    truth = [read_number(text, region) for text, region in zip(texts, regions, strict=True)]
    asked = zip(texts, regions, rows(found), truth, answered.tolist(), strict=True)
    assert [
        (text, region, reading, own)
        for text, region, reading, own, is_answered in asked
        if is_answered and reading != own
    ] == []
    assert are_valid(texts, regions) == [bool(own.valid) for own in truth]
    # In a country that it is not of, a number is as certainly none.
    abroad = regions[1:] + regions[:1]
    assert are_valid(texts, abroad) == [
        bool(read_number(text, region).valid) for text, region in zip(texts, abroad, strict=True)
    ]


def test_the_ways_of_four_plans_are_certain():
    """With the trunk 0, behind the 1 of North America, in full, with the trunk in brackets, at home."""
    texts = [
        "020 7946 0018",
        "1 (212) 555-0142",
        "+39 393 123 4567",
        "+44 (0)20 7946 0018",
        "212.555.0142",
    ]
    column = pa.array(texts, pa.large_string())
    assert read_usual(column, ["GB", "US", None, "DE", "US"]).valid.tolist() == [True] * 5


def test_a_number_is_of_a_length_that_its_own_region_takes():
    """The Isle of Man shares its code with Britain, and has no number of nine digits."""
    column = pa.array(["0800 595289"], pa.large_string())

    assert read_usual(column, "GB").valid.tolist() == [True]
    assert len(read_usual(column, "IM").rows) == 0
    assert read_number("0800 595289", "IM").e164 is None


def test_numbers_are_certain_whatever_stands_around_them_and_in_any_digits():
    """Words before them, marks of direction, blanks that do not break; not what may be a digit or a parameter."""
    texts = ["Tél. 212 555 0142", "\u202a(212) 555-0142\u202c", "٢١٢-٥٥٥-٠١٤٢", "📞 212\u00a0555\u00a00142…",
             "212\u2011555\u20110142\u00a0ext.\u00a07", "0115521555501420", "049-4189",
             "٢١٢-٥٥٥-٠١٤٢ x٧", "212555014\U0001d7ce", "a;isub=2125550142"]  # fmt: skip
    found = read_usual(pa.array(texts, pa.large_string()), "US")

    assert sorted(found.rows.tolist()) == list(range(7))
    truth = [read_number(texts[row], "US") for row in found.rows]
    assert found.valid.tolist() == [reading.valid for reading in truth]
    assert found.extension.to_pylist() == [reading.extension for reading in truth]


def test_extensions_behind_usual_numbers_are_certain():
    """And of what is no number with one phonenumbers says why."""
    texts = [
        "212-555-0142 x7",
        "(212) 555 0142 ext. 123",
        "2125550142extension 12345",
        "2125550142, ext: 9",
        "12 x7",
    ]
    found = read_usual(pa.array(texts, pa.large_string()), "US")

    assert found.rows.tolist() == [0, 1, 2, 3]
    assert found.extension.to_pylist() == ["7", "123", "12345", "9"]


def test_what_is_not_certain_is_read_one_by_one(monkeypatch):
    """Missing and odd texts included, in the order of the texts."""
    monkeypatch.setattr(column_reader, "is_loaded", lambda: False)
    monkeypatch.setattr(column_reader, "pays", lambda texts: False)
    texts = [None, *DUMMIES, *NOISE, "(212) 555-0142", "212 555 0142 ext. 7"] * 40
    found = rows(read_column(pa.array(texts, pa.large_string()), "US"))

    assert found == [read_number(text, "US") for text in texts]
