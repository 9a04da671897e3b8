"""Automata match what the regular expressions match, and prefer what they prefer."""

from __future__ import annotations

import re

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phonenumbers import PhoneMetadata

from dialframe.phones.number_automata import nodes, prefix_automaton

PREFIXES = sorted(
    {
        pattern
        for region in phonenumbers.SUPPORTED_REGIONS
        for meta in [PhoneMetadata.metadata_for_region(region)]
        for pattern in (meta.national_prefix_for_parsing, meta.international_prefix)
        if pattern
    }
)


def matched(pattern, digits):
    """End of the match and span of the last group, by the automaton."""
    states = prefix_automaton(pattern)
    at, found = 1, None
    for position in range(len(digits) + 1):
        state = states[at]
        if state.match is not None:
            found = (position, tuple(state.match))
        if position == len(digits):
            if state.match_at_end is not None:
                found = (position, tuple(state.match_at_end))
            break
        at = state.steps[int(digits[position])]
        if at == 0:
            break
    return found


def truth(pattern, digits):
    match = re.match(pattern, digits)
    if match is None:
        return None
    last = match.re.groups
    return match.end(), match.span(last) if last else (-1, -1)


@given(st.sampled_from(PREFIXES), st.text("0123456789", max_size=16))
def test_every_prefix_of_the_world_matches_as_re_does(pattern, digits):
    """The end of the match, and the last group, are those of `re.match`."""
    assert matched(pattern, digits) == truth(pattern, digits)


@given(st.sampled_from(PREFIXES), st.data())
def test_every_prefix_matches_its_own_texts_as_re_does(pattern, data):
    """The same on digits that do match, with more behind them."""
    # `$` matches before a line end at the end, too, and no number has one.
    digits = data.draw(st.from_regex(pattern, alphabet="0123456789")).rstrip("\n")

    assert matched(pattern, digits) == truth(pattern, digits)


@pytest.mark.parametrize("pattern", ["a", "[a-f]", r"\w", "1*?", "(?=1)2", "[^1]", "^1"])
def test_what_no_plan_used_is_refused(pattern):
    """An unknown construct stops the compilation rather than match something else."""
    with pytest.raises(ValueError, match="which no plan did before"):
        nodes(pattern)
