"""Field rules say what they check, and mistakes in them are told at once."""

from __future__ import annotations

import pytest

from dialframe.errors import ConfigError
from dialframe.leads import FieldRule


@pytest.mark.parametrize(
    ("rule", "value", "broken"),
    [
        (FieldRule("email", required=True), "", True),
        (FieldRule("email", required=True), "a@example.com", False),
        (FieldRule("external_id", pattern=r"[A-Z]\d+"), "A1", False),
        (FieldRule("external_id", pattern=r"[A-Z]\d+"), "A1x", True),
        (FieldRule("external_id", pattern=r"[A-Z]\d+"), "", False),
        (FieldRule("full_name", max_length=3), "Anna", True),
    ],
)
def test_rules(rule, value, broken):
    """Required, pattern and length; an empty optional field breaks nothing."""
    assert rule.is_broken_by(value) is broken


def test_custom_fields_are_named_by_their_column():
    """As the service names them in its refusals."""
    assert FieldRule("custom_fields.City").column == "City"
    assert FieldRule("email").column == "email"


@pytest.mark.parametrize(("field", "pattern"), [("city", None), ("email", "(")])
def test_mistakes_are_told(field, pattern):
    """An unknown field and a pattern that is none."""
    with pytest.raises(ConfigError, match=field):
        FieldRule(field, pattern=pattern)
