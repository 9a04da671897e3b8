"""The report tells everything and shows no one's number."""

from __future__ import annotations

import json
import re

import pytest

from dialframe import leads
from dialframe.privacy import mask


@pytest.fixture
def cleaned(lead_file):
    return leads.clean(
        lead_file(
            "name,phone,email,City\nAnn,212-555-0142,ann@exampl,NY\nBob,212-555-01,b@example.com,LA\nCy,(212) 555-0142,,SF\nDi,12,,\n"
        ),
        region="US",
    )


def test_the_report_has_counts_reasons_and_decisions(cleaned):
    """What happened, why, and how the file was read."""
    found = leads.report(cleaned)

    assert found["counts"] == cleaned.counts
    assert [reason["code"] for reason in found["reasons"]["rejected"]] == ["phone_too_short"]
    assert found["reasons"]["rejected"][0]["count"] == 2
    assert found["reasons"]["duplicates"][0]["remedy"]
    assert [warning["code"] for warning in found["warnings"]] == ["email_invalid"]
    assert found["files"][0]["columns"]["fields"]["phone"] == ["phone"]
    assert found["files"][0]["decisions"]["dialect"]["delimiter"] == ","
    assert found["leftovers"] == ["City"]
    assert found["csv_escape"] == "apostrophe-1"


def test_the_report_is_json_without_a_number_or_an_address(cleaned):
    """Values in it are masked."""
    text = json.dumps(leads.report(cleaned))

    assert not re.search(r"\+?\d[\d() -]{6,}\d", re.sub(r'"[0-9a-f]{64}"', "", text))
    assert "ann@" not in text


def test_examples_say_where_to_look(cleaned):
    """File and line of the first records with a reason."""
    example = leads.report(cleaned)["reasons"]["rejected"][0]["examples"][0]

    assert example == {"file": "leads.csv", "line": 3, "value": "212-****01"}


def test_long_lists_of_lines_are_cut_and_counted(lead_file):
    """A file with a million repaired lines has a short report."""
    data = b"name,phone\n" + b"".join(
        b"O\x92Dea,212-555-0142\nZo\xc3\xab,212-555-0143\n" for _ in range(200)
    )
    file = lead_file(data)

    decisions = leads.report(leads.clean(file, region="US"))["files"][0]["decisions"]

    assert decisions["repaired_lines_count"] == 200
    assert len(decisions["repaired_lines"]) == 100


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ("+12125550142", "+121******42"),
        ("12", "**"),
        ("ann@example.com", "a***@example.com"),
        ("Ann", "A**"),
        ("x", "x"),
        ("", ""),
        ("Ann <ann@example.com>", "Ann <***@example.com>"),
    ],
)
def test_masks(value, masked):
    """Enough to recognize, too little to call."""
    assert mask(value, reach="cell") == masked
