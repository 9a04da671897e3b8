"""The outcomes are counted."""

from __future__ import annotations

from dialframe import leads


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
