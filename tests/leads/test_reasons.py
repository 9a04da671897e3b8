"""The table of reasons is complete, unique and ordered as a record is judged."""

from __future__ import annotations

import pytest

from dialframe.leads import reasons

#: Words of the service's own answers (contract, "LeadResult") that are kept.
OF_THE_SERVICE = {
    *("missing_phone", "invalid_phone", "blocked_country", "field_rule", "on_dnc"),
    *("duplicate_in_request", "duplicate_in_campaign", "not_stored", "unrecognised"),
    "unknown_source",
}


def test_codes_are_unique_and_what_policy_decides_is_both_reason_and_warning():
    """Every other code is one thing."""
    codes = [reason.code for reason in reasons.REASONS]
    warned = {warning.code for warning in reasons.WARNINGS}

    assert len(codes) == len(set(codes))
    assert warned & set(codes) == {
        *("email_invalid", "email_length", "phone_line_type", "phone_reserved", "field_rule"),
    }


def test_words_of_the_service_are_kept():
    """Where the service has a word, no other one is made up."""
    assert set(reasons.BY_CODE) >= OF_THE_SERVICE


@pytest.mark.parametrize("reason", reasons.REASONS, ids=lambda reason: reason.code)
def test_each_reason_says_what_is_wrong_and_what_to_do(reason):
    """Meaning and remedy are there, and the outcome is one that is counted."""
    assert reason.meaning
    assert reason.remedy
    assert reason.outcome in {*reasons.COUNT_KEYS, "refused"}


def test_who_refused_comes_first_and_repetition_comes_last():
    """A refusal counts before damage, damage before bad numbers and unclear consents."""
    rank = reasons.RANK

    assert rank["opt_out"] < rank["unclosed_quote"] < rank["no_consent"] < rank["missing_phone"]
    assert rank["missing_phone"] < rank["name_length"] < rank["duplicate_in_file"]


def test_what_only_the_service_says_comes_from_no_file():
    """Its codes stand behind all others, so that they never outrank what a file shows."""
    outcomes = [reason.outcome for reason in reasons.REASONS]
    first = outcomes.index("refused")

    assert set(outcomes[first:]) == {"refused"}
    assert {reason.code for reason in reasons.REASONS[first:]} < OF_THE_SERVICE
