"""Valid numbers that are no lead's: premium lines, and those kept for films."""

from __future__ import annotations

import pytest

from dialframe import leads
from dialframe.leads import Policy
from dialframe.leads.phones_in_cells import RESERVED


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


def outcome(lead_file, cell, region="US", **policy):
    """Reason codes and warnings of a record with this phone."""
    file = lead_file(f"Name,Phone\nAnn,{cell}\n")
    cleaned = leads.clean(file, region=region, policy=Policy(**policy), force_region=True)
    aside = [*cleaned.rejected["_all_reasons"], *cleaned.do_not_call["_all_reasons"]]
    return aside, cleaned.clean["_warnings"].tolist()


def test_the_policy_decides(lead_file):
    """Kept by default, since samples are made of them; refused or warned of on demand."""
    assert outcome(lead_file, "212-555-0142") == ([], [""])
    warned = outcome(lead_file, "212-555-0142", reserved_number="warn")
    assert warned == ([], ["phone_reserved"])
    refused = outcome(lead_file, "212-555-0142", reserved_number="reject")
    assert refused == (["phone_reserved"], [])


def test_premium_lines_are_refused_on_demand_and_the_remark_stays(lead_file):
    """By type, whatever the country; a prohibition beside the number is not lost."""
    strict = {"refused_types": frozenset({"premium_rate"})}
    shared = outcome(lead_file, "0843 555 0142", region="GB")

    assert outcome(lead_file, "900-555-0142 DNC", **strict) == (
        ["opt_out_unclear;phone_line_type"],
        [],
    )
    assert outcome(lead_file, "900-555-0142", **strict) == (["phone_line_type"], [])
    assert outcome(lead_file, "900-555-0142") == ([], ["phone_line_type"])
    assert shared == ([], ["phone_line_type"])
    assert outcome(lead_file, "", **strict) == (["missing_phone"], [])
