"""Reasons of findings: what a template of `words.toml` may name, and which of its parts are said."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dialframe.compliance.checks.check_reasons import _fields, _Said, filled, texts
from dialframe.compliance.rules import rulebook

#: Columns of queries, and values that Python makes, which reasons name; all else is a parameter of a rule or a reason.
COLUMNS = frozenset(
    [
        "absent",
        "age_days",
        "allowed",
        "attempts",
        "conditions",
        "copy",
        "denied_at",
        "doubts",
        "dropped",
        "due_at",
        "few",
        "kind_asked",
        "least",
        "limit",
        "live",
        "missing",
        "most",
        "presumed",
        "rank",
        "rate",
        "records",
        "source",
        "subjects",
        "untold",
        "within",
    ]
)


@pytest.mark.parametrize("check", texts())
def test_a_reason_names_what_there_is(check: str) -> None:
    """A misspelled name would leave its words out, or fail where somebody reads the finding."""
    reasons = texts()[check].reasons
    parameters = {
        name for rule in rulebook.load().rules for name in type(rule.parameters).model_fields
    }
    known = COLUMNS | parameters | {"allowed"} | set(reasons)
    named = {name.removesuffix("?") for text in reasons.values() for name in _fields(text)}
    assert named <= known


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("called {days} days after", "called 3 days after"),
        ("called[ by {method}], late", "called, late"),
        ("called[ by {means}], late", "called by letter, late"),
        ("within [{limit}|30] days", "within 30 days"),
        ("[{days?}day {days}|no day], [{none?}number {none}|no number]", "day 3, no number"),
        ("[{none} calls|none]", "0 calls"),
        ("counted by {scope:, }", "counted by caller, called number"),
        ("kept: {inner}", "kept: day 3"),
    ],
)
def test_a_part_is_said_where_its_values_are_there(template: str, said: str) -> None:
    """Of a part in brackets the first alternative whose values are there; 0 is a value, and nothing to `?`."""
    parameters = SimpleNamespace(
        method="", means="letter", limit=None, scope=("caller", "called_number")
    )
    law: Any = SimpleNamespace(parameters=parameters)
    assert filled(template, _Said({"days": 3, "none": 0}, {"inner": "day {days}"}, law)) == said


def test_a_name_that_nobody_has_is_no_silence() -> None:
    """It fails instead of leaving words out."""
    law: Any = SimpleNamespace(parameters=SimpleNamespace())
    with pytest.raises(AttributeError, match="methd"):
        filled("called[ by {methd}]", _Said({}, {}, law))
