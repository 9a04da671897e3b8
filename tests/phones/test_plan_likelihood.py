"""How likely numbers are under a plan: the plan they were drawn from beats those that merely hold them."""

from __future__ import annotations

import random

import phonenumbers
import pytest

from dialframe.phones.plan_likelihood import _codes_with, plan_fits


def _drawn(first: list[str], digits: int, count: int = 24) -> list[str]:
    rng = random.Random(0)
    return [
        f"{first[at % len(first)]}{rng.randrange(10**digits):0{digits}}" for at in range(count)
    ]


@pytest.mark.parametrize(("code", "numbers"), [
    (49, _drawn(["160", "162", "170", "172", "174", "177", "178", "179"], 7)),
    (92, _drawn([f"3{at:02}" for at in range(0, 49, 3)], 7)),
    (31, _drawn([f"06{at}" for at in (1, 2, 3, 4, 5)], 7)),
    (91, _drawn(["98", "97", "96", "88", "79", "70", "63"], 8)),
    (54, [f"011 15-5{at:03}-{at * 37 % 10000:04}" for at in range(24)]),
    (36, _drawn(["620", "630", "670"], 7)),
], ids=["DE without its zero", "PK", "NL", "IN", "AR with 15", "HU without the zero of 06"])  # fmt: skip
def test_numbers_are_likeliest_in_their_own_plan(code, numbers):
    """By much, however many other plans all of them fit."""
    fits = plan_fits(numbers)
    best = max(fits, key=lambda one: fits[one].log_likelihood)
    others = [fit.log_likelihood for other, fit in fits.items() if other != code]

    assert best == code
    assert fits[code].fit > 0.9
    assert fits[code].log_likelihood - max(others, default=-1e9) > 3


def test_a_city_of_one_area_code_is_no_sample_of_a_country():
    """Landlines of one area are a list like any other; prefixes of mobile numbers are not gathered so."""
    fits = plan_fits([f"305{2 + at % 8}{at * 37129 % 10**6:06}" for at in range(1, 25)])

    assert fits[1].log_likelihood > fits[57].log_likelihood


@pytest.mark.parametrize("habit", ["few_landlines", "mobile_by_area"])
def test_habits_are_of_plans_that_there_are(habit):
    """A calling code that nobody has would be a slip of the table."""
    assert _codes_with(habit) <= set(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)


def test_a_plan_that_was_asked_for_is_answered():
    """Also where hardly a number fits."""
    assert set(plan_fits(["07400123456"], [1])) >= {1, 44}
    assert plan_fits(["07400123456"], [1])[1].fit == 0.0
    assert plan_fits([], [1])[1].fit == 0.0
