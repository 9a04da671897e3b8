"""Without a compiler, a column of usual shapes is read by numpy, and says what phonenumbers says."""

from __future__ import annotations

import random

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat

from dialframe.phones import read_number
from dialframe.phones.vectorized import are_valid, read_all, read_usual
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

    readings = read_usual(texts, regions)

    answered = [reading is not None for reading in readings]
    assert sum(answered[:-1_500]) > 0.5 * len(answered[:-1_500])
    assert sum(answered[-1_500:]) > 100
    truth = [read_number(text, region) for text, region in zip(texts, regions, strict=True)]
    assert [
        (text, region)
        for text, region, reading, own in zip(texts, regions, readings, truth, strict=True)
        if reading is not None and reading != own
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
    assert None not in read_usual(texts, ["GB", "US", None, "DE", "US"])


def test_what_is_not_certain_is_read_one_by_one():
    """Missing, odd and half characters included, in the order of the texts."""
    texts = [None, *DUMMIES, *NOISE, "\ud800", "(212) 555-0142", "212 555 0142 ext. 7"] * 8
    regions = ["US"] * len(texts)

    assert read_all(texts, regions) == [read_number(text, "US") for text in texts]
