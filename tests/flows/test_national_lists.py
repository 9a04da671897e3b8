"""No number of a national list is read in a wrong country, and a clean list gives the same numbers again."""

from __future__ import annotations

import csv
from pathlib import Path

import phonenumbers
import pytest

from dialframe.errors import LeadFileError
from dialframe.flows import lead_lists
from dialframe.flows.lead_lists import Recipe
from leads.national_lists import COUNTRIES, bare_list, national_list

CODE = phonenumbers.country_code_for_region


def numbers(paths: list[Path], region: str | None, out: Path) -> list[str] | None:
    """The numbers of the clean list, or None where it was refused."""
    try:
        result = lead_lists.clean(paths, Recipe(region), out)
    except LeadFileError as problem:
        assert "--region" in str(problem)  # noqa: PT017 - every refusal names the option
        assert not list(out.glob("*.csv"))
        return None
    with result.paths["clean"].open(encoding="utf-8-sig", newline="") as file:
        return [row["phone"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("country", COUNTRIES)
def test_no_number_is_accepted_in_a_wrong_country(tmp_path: Path, country: str) -> None:
    """Without a region, with a wrong one, with the right one; then cleaned again in a wrong one."""
    path = tmp_path / "list.csv"
    path.write_text(national_list(country, rows=25), encoding="utf-8")
    right = numbers([path], country, tmp_path / "right")
    assert right
    for region in (None, "US"):
        found = numbers([path], region, tmp_path / f"{region}")
        assert found is None or found == right
    clean = tmp_path / "right" / "list.clean.csv"
    assert numbers([clean], "US", tmp_path / "again") == right


@pytest.mark.parametrize("country", ["CO", "MX", "IN", "GB", "DE", "PH"])
def test_names_and_numbers_alone_are_refused_or_right(tmp_path: Path, country: str) -> None:
    path = tmp_path / "list.csv"
    path.write_text(bare_list(country, rows=25), encoding="utf-8")
    right = numbers([path], country, tmp_path / "right")
    found = numbers([path], None, tmp_path / "none")
    assert found is None or found == right
