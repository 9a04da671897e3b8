"""Countries as people write them, to the region of their numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads.columns.country_names import read_region

#: Region to spellings.
SPELLINGS = {
    "US": "US|us|USA|U.S.A.|United States|United States of America|Estados Unidos|EE.UU.|États-Unis"
    "|Vereinigte Staaten|アメリカ|米国|+1|1|001|1.0|1-242|United States (US)|America",
    "GB": "GB|UK|GBR|United Kingdom|England|Scotland|Great Britain|Reino Unido|Royaume-Uni"
    "|Großbritannien|イギリス|英国|+44|0044|44|UK (+44)",
    "DE": "DE|DEU|GER|D|Germany|Deutschland|Alemania|Allemagne|Alemanha|ドイツ|+49|49|DE - Germany",
    "FR": "FR|FRA|France|Francia|Frankreich|França|フランス|+33|33",
    "ES": "ES|ESP|Spain|España|Espagne|Spanien|Espanha|スペイン|+34",
    "BR": "BR|BRA|Brazil|Brasil|Brésil|Brasilien|ブラジル|+55",
    "JP": "JP|JPN|Japan|Japón|Japon|Japão|日本|+81",
    "CI": "Côte d'Ivoire|CIV",
    "CH": "Schweiz|Suisse|Svizzera|Switzerland|CHE",
    "PE": "Perú|Peru|Pérou|ペルー|Perú (PE)",
}


@pytest.mark.parametrize("region", sorted(SPELLINGS))
def test_a_country_in_every_spelling(region):
    """Codes, dialing codes, and names in the languages of the package."""
    found = {name: read_region(name) for name in SPELLINGS[region].split("|")}

    assert {name: got for name, got in found.items() if got != region} == {}


@pytest.mark.parametrize("cell", ["", "Atlantis", "Rural", "x", "840", "+999", "DE or FR", "n/a?"])
def test_what_nobody_knows_is_none(cell):
    """So that a national number of it is refused, not read as another country's."""
    assert read_region(cell) is None


@given(st.text(max_size=80))
def test_any_text_can_be_asked(cell):
    """A region is two letters or nothing."""
    region = read_region(cell)

    assert region is None or len(region) == 2
