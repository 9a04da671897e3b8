"""The table of reasons is complete, unique and ordered as a record is judged."""

from __future__ import annotations

import pytest

from dialframe.leads import reasons

#: Words of the service's own answers (contract, "LeadResult") that are kept.
OF_THE_SERVICE = {"missing_phone", "invalid_phone", "blocked_country", "field_rule", "on_dnc"}


def test_codes_are_unique_and_no_code_is_both_reason_and_warning_but_those_of_emails():
    """A bad e-mail address is a reason or a warning by policy; every other code is one thing."""
    codes = [reason.code for reason in reasons.REASONS]
    warned = {warning.code for warning in reasons.WARNINGS}

    assert len(codes) == len(set(codes))
    assert warned & set(codes) == {"email_invalid", "email_length"}


def test_words_of_the_service_are_kept():
    """Where the service has a word, no other one is made up."""
    assert set(reasons.BY_CODE) >= OF_THE_SERVICE


@pytest.mark.parametrize("reason", reasons.REASONS, ids=lambda reason: reason.code)
def test_each_reason_says_what_is_wrong_and_what_to_do(reason):
    """Meaning and remedy are there, and the outcome is one that is counted."""
    assert reason.meaning
    assert reason.remedy
    assert reason.outcome in reasons.COUNT_KEYS


def test_damage_comes_before_phones_and_repetition_comes_last():
    """The first reason in the table is the record's own."""
    rank = reasons.RANK

    assert rank["unclosed_quote"] < rank["missing_phone"] < rank["opt_out"] < rank["name_length"]
    assert rank["name_length"] < rank["duplicate_in_file"]
