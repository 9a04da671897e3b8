"""An outcome that does not add up cannot be made."""

from __future__ import annotations

import dataclasses

import pytest

from dialframe import leads
from dialframe.errors import LeadFileError


def test_a_lost_record_is_noticed(lead_file):
    """Records in and records out are compared when the value is made."""
    cleaned = leads.clean(lead_file("phone\n212-555-0142\n12\n"), region="US")

    with pytest.raises(LeadFileError, match="2 records went in and 1 came out"):
        dataclasses.replace(cleaned, rejected=cleaned.rejected.iloc[:0])


def test_a_record_in_two_outcomes_is_noticed(lead_file):
    """The sum alone would not show it."""
    cleaned = leads.clean(lead_file("phone\n212-555-0142\n12\n"), region="US")
    twice = cleaned.rejected.assign(_row=cleaned.clean["_row"].to_numpy())

    with pytest.raises(LeadFileError, match="fault of the program"):
        dataclasses.replace(cleaned, rejected=twice)


def test_reasons_and_warnings_are_counted(lead_file):
    """By outcome, most frequent first."""
    text = (
        "phone,email\n12,\n34,\n2125550142,a@example.com\n2125550143.0,b@\n\nphone,email\n,\n99,\n"
    )
    cleaned = leads.clean(lead_file(text), region="US")

    assert cleaned.reasons == {
        "rejected": {"phone_too_short": 3},
        "duplicates": {},
        "do_not_call": {},
        "skipped": {"blank": 2, "repeated_header": 1},
    }
    assert list(cleaned.reasons["skipped"]) == ["blank", "repeated_header"]
    assert cleaned.warnings == {"email_invalid": 1, "phone_repaired": 1}
