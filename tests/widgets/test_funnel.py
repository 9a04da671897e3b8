"""The state of a funnel as JSON and in an address."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.errors import ConfigError
from dialframe.widgets import FunnelState

_TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=20
)
_DAYS = st.dates(date(2000, 1, 1), date(2040, 1, 1))


@st.composite
def states(draw: st.DrawFn) -> FunnelState:
    """Any state that can be chosen."""
    days = sorted(draw(st.lists(_DAYS, min_size=2, max_size=2)))
    return FunnelState(
        campaigns=tuple(draw(st.lists(_TEXT, max_size=3))),
        since=draw(st.sampled_from([None, days[0]])),
        until=draw(st.sampled_from([None, days[1]])),
        by=draw(st.none() | _TEXT),
        order=draw(st.sampled_from(["ordered", "strict", "any"])),
        window_days=draw(st.none() | st.integers(1, 3650)),
    )


@given(states())
def test_a_state_comes_back_from_json(state: FunnelState) -> None:
    """What was saved is what is loaded."""
    assert FunnelState.from_json(state.to_json()) == state


@given(states())
def test_a_state_comes_back_from_an_address(state: FunnelState) -> None:
    """What a link carries is what is opened."""
    assert FunnelState.from_query(state.to_query()) == state


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '{"since": "May"}', '{"campaigns": 3}', '{"order": "x"}']
)
def test_what_is_no_state_is_refused(text: str) -> None:
    """One clear sentence, whatever was pasted."""
    with pytest.raises(ConfigError):
        FunnelState.from_json(text)


@pytest.mark.parametrize(
    "query", ["window=x", "since=May", "order=up", "window=0", "since=2026-02-02&until=2026-01-01"]
)
def test_an_address_that_says_nonsense_is_refused(query: str) -> None:
    """A day or a number that is none is said."""
    with pytest.raises(ConfigError):
        FunnelState.from_query(query)


def test_words_of_others_in_an_address_are_left_alone() -> None:
    """The token and the tab are not the funnel's."""
    assert FunnelState.from_query("token=abc&tab=funnel") == FunnelState()
