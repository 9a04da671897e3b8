"""The country of numbers without a country code: given, in the records, inferred beyond doubt, or asked for."""

from __future__ import annotations

import phonenumbers
import pytest

from dialframe import leads
from dialframe.errors import LeadFileError
from dialframe.leads.columns.region import decide_region
from leads.national_lists import COUNTRIES, bare_list, national_list

CODE = phonenumbers.country_code_for_region


@pytest.mark.parametrize("region", COUNTRIES)
def test_a_national_list_says_its_country(lead_file, region):
    """By its cities, mail domains and language, each named with its share."""
    decision = decide_region(lead_file(national_list(region)))

    assert decision.source == "inferred"
    assert CODE(decision.region) == CODE(region)
    assert "%" in decision.in_words()


@pytest.mark.parametrize("region", COUNTRIES)
def test_numbers_alone_never_choose_a_wrong_country(lead_file, region):
    """Most plans fit others' numbers, so a list of names and numbers is asked about."""
    decision = decide_region(lead_file(bare_list(region)))

    assert decision.region is None or CODE(decision.region) == CODE(region)
    if decision.is_open:
        with pytest.raises(LeadFileError, match="--region"):
            decision.settled()


@pytest.mark.parametrize("region", COUNTRIES)
@pytest.mark.parametrize("wrong", ["US", "DE", "IN"])
def test_a_list_that_speaks_against_the_given_region_is_refused(lead_file, region, wrong):
    """Unless somebody insists."""
    if CODE(region) == CODE(wrong):
        return
    decision = decide_region(lead_file(national_list(region)), wrong)

    with pytest.raises(LeadFileError, match="--force-region"):
        decision.settled()
    assert decision.settled(force=True) == wrong


@pytest.mark.parametrize("region", COUNTRIES)
def test_the_right_region_is_taken_without_a_word(lead_file, region):
    """Whatever else the list holds."""
    decision = decide_region(lead_file(national_list(region)), region)

    assert decision.against is None
    assert decision.settled() == region


def test_numbers_with_their_own_country_need_none(lead_file):
    """A plus says it."""
    file = lead_file("Name,Phone\nAnn,+44 20 7946 0018\nBob,+57 310 555 0142\n")
    decision = decide_region(file)

    assert (decision.source, decision.settled()) == ("records", None)


def test_a_column_of_countries_says_it(lead_file):
    """Record by record."""
    file = lead_file("Name,Phone,Country\nAnn,020 7946 0018,UK\nBob,212 555 0142,USA\n")
    decision = decide_region(file, columns=leads.map_columns(file, region=None))

    assert decision.source == "records"


def test_a_list_of_the_united_states_says_so(lead_file):
    """By its states, its ZIP codes and the way its numbers are written."""
    rows = "".join(
        f"Kim {at},({area}) 555-01{at:02},{city},{state},{zip_code}\n"
        for at, (area, city, state, zip_code) in enumerate(
            [("212", "New York", "NY", "10001"), ("312", "Chicago", "IL", "60601")] * 10
        )
    )
    decision = decide_region(lead_file(f"Name,Phone,City,State,Zip\n{rows}"))

    assert decision.region == "US"


def test_the_refusal_names_the_best_candidates(lead_file):
    """With the share of the numbers that are valid there, and an option that works."""
    decision = decide_region(lead_file(bare_list("CO")))

    assert decision.is_open
    assert "100% of the numbers" in decision.why()
    assert decision.to_dict()["source"] == "open"
