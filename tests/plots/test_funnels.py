"""The funnel's pictures say what the funnel's table says."""

from __future__ import annotations

import pandas as pd
import pytest

from analytics.made import call, calls, lead, leads
from dialframe import plots
from dialframe.analytics import funnel
from dialframe.errors import ConfigError
from plots.examples import CALLS, PEOPLE, shown
from plots.looked_at import overlapping, small, words


def test_title_states_the_finding() -> None:
    """The title gives the appointments, the line below it the narrowest step."""
    said = words(shown("funnel"))
    assert said.startswith(
        "3 to 4 of 60 leads made an appointment; who answered some calls is not known\n"
    )
    assert "The narrowest step is from “Connected” to “Reached a person”: 38.7% go on" in said


def test_every_number_is_in_the_picture_and_the_words() -> None:
    """Counts, shares and intervals are labels, and the words have the counts too."""
    result = funnel(CALLS, PEOPLE)
    picture = plots.funnel(result)
    said = words(picture)
    for row in result.table.to_dict("records"):
        assert f"\n{row['count']}\n" in said
        assert f"{row['of_loaded']:.1%}" in said
        assert f" {row['count']} (" in picture.alt
    assert "38.7%" in said
    assert result.taxonomy_version in said


def test_groups_and_their_shares() -> None:
    """Each group has its name, its leads and its shares; long names are shortened."""
    picture = shown("funnel_by")
    said = words(picture)
    assert "web 20 leads" in said
    assert "a purchased l…g name 20 leads" in said
    assert "fair & co: 20 leads loaded, Accepted 100.0%" in picture.alt


def test_the_title_compares_no_groups() -> None:
    """However far one group is ahead, the title counts: what else differs between groups is not held still."""
    people = leads(
        *(lead(i, custom_fields={"src": "web" if i < 50 else "fair"}) for i in range(90))
    )
    made = calls(*(call(i, answered=True, disposition="APPT") for i in range(25)))
    picture = plots.funnel_by(funnel(made, people, by="src"))
    title = "25 of 90 leads made an appointment (27.8%), by src"
    assert words(picture).startswith(f"{title}\n")
    assert picture.alt.startswith(f"{title}. ")
    assert "nothing is adjusted" in words(picture)


def test_no_interval_of_a_group_is_cut() -> None:
    """Each column's scale ends where its longest interval does."""
    picture = shown("funnel_by")
    cells = [line.get_xdata() for line in picture.figure.axes[0].get_lines()]
    assert all(len(ends) == 2 and ends[1] - int(ends[0]) <= 0.881 for ends in cells)


def test_many_groups_are_cut_and_it_says_so() -> None:
    """The greatest groups are drawn, and the picture says how many are not."""
    people = leads(*(lead(i, custom_fields={"src": f"s{i % 15:02d}"}) for i in range(45)))
    picture = plots.funnel_by(funnel(CALLS, people, by="src"))
    assert "3 smaller groups not shown." in words(picture)
    assert "s14" not in words(picture)
    assert overlapping(picture) == []


def test_great_numbers_have_room() -> None:
    """Millions of leads do not run into their neighbors."""
    result = funnel(CALLS, PEOPLE)
    table = result.table.assign(count=result.table["count"] * 1_234_567)
    object.__setattr__(result, "table", table)
    assert overlapping(plots.funnel(result)) == []
    split = funnel(CALLS, PEOPLE, by="src")
    object.__setattr__(split, "table", split.table.assign(count=split.table["count"] * 123_456))
    assert overlapping(plots.funnel_by(split)) == []


def test_a_stage_that_all_reach_has_room() -> None:
    """100% with its interval stands beside the count, not on it, in a small file too."""
    every = calls(*(call(i, answered=True, disposition="NI") for i in range(800)))
    result = funnel(every, leads(*(lead(i) for i in range(800))))
    picture = plots.funnel(result)
    picture.figure.set_dpi(70)
    small(picture)
    at = {text.get_text(): text.get_window_extent() for text in picture.figure.axes[0].texts}
    assert at["100.0%  (99.5 to 100.0%)"].x0 - at["800"].x1 > at["800"].height / 2


def test_each_picture_wants_its_funnel() -> None:
    """A split funnel is not drawn as one, nor one as split."""
    with pytest.raises(ConfigError, match="draw it with funnel_by"):
        plots.funnel(funnel(CALLS, PEOPLE, by="src"))
    with pytest.raises(ConfigError, match=r"draw it with funnel$"):
        plots.funnel_by(funnel(CALLS, PEOPLE))


def test_leads_that_nobody_called() -> None:
    """A funnel that ends at once is drawn with dashes, not with divisions by nothing."""
    picture = plots.funnel(funnel(CALLS[:0], PEOPLE))
    assert words(picture).startswith("0 of 60 leads made an appointment (0.0%)")
    assert isinstance(PEOPLE, pd.DataFrame)
