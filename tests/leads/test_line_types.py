"""Valid numbers that are no lead's: premium lines, and those kept for films."""

from __future__ import annotations

import pytest

from dialframe.leads.judging.phone_cells import RESERVED, PhoneReading, fit, read_phone
from dialframe.leads.judging.rules import Policy


@pytest.mark.parametrize(
    "number",
    [
        *(
            "+12125550142",
            "+442079460123",
            "+447700900123",
            "+441914980123",
            "+493023125123",
            "+33199001234",
        ),
        *("+61491570156", "+61255501234", "+441632960123", "+33639981234"),
    ],
)
def test_numbers_for_films_are_known(number):
    """As the regulators list them."""
    assert RESERVED.fullmatch(number)


@pytest.mark.parametrize(
    "number", ["+12125550199", "+12125551142", "+12125560142", "+4930231251", "+442079461123"]
)
def test_the_edges_of_the_ranges(number):
    """555-0100 to 555-0199 and nothing beside it."""
    assert bool(RESERVED.fullmatch(number)) is (number == "+12125550199")


def test_the_policy_decides():
    """Kept by default, since samples are made of them; refused or warned of on demand."""
    reading = read_phone("212-555-0142", "US")

    assert fit(reading, Policy()) == reading
    assert fit(reading, Policy(reserved_number="warn")).warnings == ("phone_reserved",)
    assert fit(reading, Policy(reserved_number="reject")) == PhoneReading(reason="phone_reserved")


def test_premium_lines_are_refused_on_demand_and_the_remark_stays():
    """By type, whatever the country; a prohibition beside the number is not lost."""
    strict = Policy(refused_types=frozenset({"premium_rate"}))
    premium = PhoneReading("+19005550142", type="premium_rate", remark="opt_out")
    shared = PhoneReading("+12125550142", type="shared_cost")

    assert fit(premium, strict) == PhoneReading(reason="phone_line_type", remark="opt_out")
    assert fit(premium, Policy()) == premium._replace(warnings=("phone_line_type",))
    assert fit(shared, Policy()).warnings == ("phone_line_type",)
    assert fit(PhoneReading(reason="missing_phone"), Policy()).reason == "missing_phone"
