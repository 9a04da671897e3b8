"""Countries as people write them, to the region of their numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe import leads
from dialframe.leads.columns.country_names import named_regions, read_region
from leads.national_lists import COUNTRIES
from leads.tables import table
from rows import every_row

NAMES = table("country_names")


@every_row("region, names", NAMES["spellings"].items())
def test_a_country_in_every_spelling(region, names):
    """Codes, dialing codes, and names in the languages of the package."""
    regions = {name: read_region(name) or "none" for name in names.split("|")}

    assert {name: got for name, got in regions.items() if got != region} == {}
    assert read_region("") is None


def test_headers_name_countries_and_not_everything_in_capitals():
    """`No`, `Nr`, `ID` and little words are no countries."""
    named = {header: "".join(named_regions(header)) for header in NAMES["headers"]}

    assert named == NAMES["headers"]
    for country in COUNTRIES.values():
        assert not any(map(named_regions, country.headers))


@given(st.text(max_size=80))
def test_any_text_can_be_asked(cell):
    """A region is two letters or nothing."""
    region = read_region(cell)

    assert region is None or len(region) == 2


@pytest.mark.parametrize(("header", "region", "cells"), [
    ("Mobil CH", "DE", ["079 123 45 67", "079 123 45 68"]),
    ("Tel. (UK)", "US", ["207 555 0123", "551 234 5678"]),
    ("Celular MX", "US", ["551 234 5678", "818 358 1234"]),
    ("phone_us", "MX", ["818 358 1234", "332 615 4500"]),
    ("Tel. Schweiz", "DE", ["079 123 45 67"]),
    ("German mobile", "IT", ["333 123 4567"]),
    ("Handy (D)", "AT", ["0664 1234567"]),
])  # fmt: skip
def test_a_phone_column_of_another_country_is_held(lead_file, header, region, cells):
    """Its header speaks against the region given: only a number with its own code is dialed."""
    rows = "".join(f"Kim {at},{cell}\n" for at, cell in enumerate([*cells, "+41 79 345 67 89"]))
    file = lead_file(f"Name,{header}\n{rows}")

    assert leads.clean(file, region=region).clean["phone"].tolist() == ["+41793456789"]
    insisted = leads.clean(file, region=region, force_region=True)
    assert len(insisted.clean) == len(cells) + 1


def test_where_every_country_is_unknown_nobody_is_called(lead_file):
    """Acres under `Land` are no countries."""
    every = "".join(f"A,{('EMEA', 'Home')[at % 2]},(212) 555-01{at:02}\n" for at in range(9))
    acres = every.replace("EMEA", "2.5 acres").replace("Home", "1 acre")
    assert leads.clean(lead_file(f"Name,Country,Phone\n{every}"), region="US").counts["clean"] == 0
    assert leads.clean(lead_file(f"Name,Land,Phone\n{acres}"), region="US").counts["clean"] == 9


def test_an_empty_country_is_the_given_one(lead_file):
    """Who gives one says it of the records that say none."""
    rows = "".join(
        f"Kim,{name},999{at:02}5501\n" for at, name in enumerate(["Peru", "Ecuador", "", "n/a"])
    )
    cleaned = leads.clean(lead_file(f"Name,Country,Phone\n{rows}"), region="PE").clean

    assert cleaned["phone"].str[:4].tolist() == ["+519", "+593", "+519", "+519"]
