"""A column map is a value: saved, loaded, compared."""

from __future__ import annotations

import pytest

from dialframe.errors import ConfigError
from dialframe.leads import ColumnMap

MAP = ColumnMap(
    phone=("Mobile", "Home"),
    full_name="Näme",
    opt_out=("DNC",),
    leftovers=("City",),
    confidence={"phone": 0.9},
    uncertain={"full_name": "Contact"},
)


def test_a_saved_map_is_the_same_map(tmp_path):
    """Every column, confidence and doubt comes back."""
    MAP.save(tmp_path / "map.json")
    loaded = ColumnMap.load(tmp_path / "map.json")

    assert loaded == MAP
    assert (loaded.confidence, loaded.uncertain) == (MAP.confidence, MAP.uncertain)


def test_a_joined_phone_column_is_saved_with_its_parts(tmp_path):
    """And told by its parts, once each, in order; two such maps are equal by them."""
    joined = ColumnMap(
        phone=("Cell", "Area + Phone"),
        country="Land",
        joined={"Area + Phone": ("Area", "Phone")},
    )
    joined.save(tmp_path / "map.json")

    assert ColumnMap.load(tmp_path / "map.json") == joined
    assert joined.phone_parts == ("Cell", "Area", "Phone")
    assert joined != ColumnMap(phone=("Cell", "Area + Phone"), country="Land")
    assert len({joined, ColumnMap.load(tmp_path / "map.json")}) == 1


def test_fields_are_those_that_have_columns():
    """Empty fields are left out."""
    assert MAP.fields() == {
        "phone": ("Mobile", "Home"),
        "opt_out": ("DNC",),
        "full_name": ("Näme",),
    }


@pytest.mark.parametrize(
    "text", ["", "[]", '{"fields": 1}', '{"fields": {"phone": ["x"]}}', "\x00"]
)
def test_what_is_no_map_is_refused(tmp_path, text):
    """A wrong file is named."""
    path = tmp_path / "map.json"
    path.write_text(text)

    with pytest.raises(ConfigError, match=r"map\.json is not a saved column map"):
        ColumnMap.load(path)


def test_unknown_fields_and_too_many_columns_are_refused():
    """The error lists the fields that there are."""
    with pytest.raises(ConfigError, match="no field 'mobile'; it has: phone"):
        ColumnMap.of({"mobile": ["x"]})
    with pytest.raises(ConfigError, match="email is given by one column, not 2"):
        ColumnMap.of({"email": ["x", "y"]})
