"""The picture of calling hours marks every offender at its place on the clock."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.lines import Line2D

from dialframe import plots
from dialframe.errors import ConfigError
from dialframe.plots import Picture
from plots.examples import HOURS, shown
from plots.looked_at import has_color, overlapping, words


def _marked(picture: Picture, marker: str) -> list[tuple[float, int]]:
    """Minute and row of every sign of this form."""
    lines = [line for line in picture.figure.axes[0].lines if isinstance(line, Line2D)]
    return [
        (float(x), round(float(y)))
        for line in lines
        if line.get_marker() == marker
        for x, y in zip(*line.get_data(), strict=True)
    ]


def test_offenders_are_in_their_place() -> None:
    """A violation on Sunday at 21:10 is in the row of Sunday at minute 1,270."""
    picture = shown("calling_hours")
    assert _marked(picture, "X") == [(1270.0, 6)]
    assert _marked(picture, "D") == [(465.0, 0)]


def test_form_and_color() -> None:
    """Offenders have a form and a color of their own, which the picture without them lacks."""
    picture = shown("calling_hours")
    good = plots.calling_hours(HOURS[HOURS["grade"] == "pass"])
    assert has_color(picture, "#D55E00")
    assert has_color(picture, "#E69F00")
    assert words(good).startswith("All 3 calls judged were made within the hours")


def test_title_and_words() -> None:
    """The title counts; the words say where the offenders lie and what is not drawn."""
    picture = shown("calling_hours")
    title = "1 of 6 calls was made outside the hours; 2 cannot be decided"
    assert words(picture).startswith(title)
    assert picture.alt.startswith(title)
    assert "The offenders lie between 21:10 and 21:10." in picture.alt
    assert picture.alt.endswith("1 call without a known local time not drawn.")
    assert "outside the hours (1)" in words(picture)


def test_weekdays_by_number_or_not_at_all() -> None:
    """Weekdays may come as numbers; without any there is one row."""
    numbered = HOURS.drop(columns="local_date").assign(weekday=[0, 1, 6, 0, pd.NA, 0])
    assert _marked(plots.calling_hours(numbered), "X") == [(1270.0, 6)]
    plain = plots.calling_hours(HOURS.drop(columns="local_date"))
    assert _marked(plain, "X") == [(1270.0, 0)]
    assert plain.figure.get_figheight() < shown("calling_hours").figure.get_figheight()
    assert "Mon" not in words(plain)


def test_other_hours() -> None:
    """The band is where the caller says; the grades stay those of the frame."""
    picture = plots.calling_hours(HOURS, opens_min=9 * 60, closes_min=20 * 60 + 30)
    assert "the band is 09:00 to 20:30" in words(picture)
    assert picture.alt.startswith("1 of 6")


def test_counts_are_whole() -> None:
    """Two calls do not give an axis of half calls."""
    picture = plots.calling_hours(HOURS[:2])
    ticks = [text.get_text() for text in picture.figure.axes[1].get_yticklabels()]
    assert ticks[0] == "0"
    assert all(tick.isdigit() for tick in ticks)
    assert len(set(ticks)) == len(ticks)


def test_a_hundred_thousand_calls() -> None:
    """Many calls are drawn as many as they are, and stay readable."""
    minute = np.linspace(485, 1255, 100_000)
    frame = pd.DataFrame({"local_minute": minute, "grade": "pass"})
    picture = plots.calling_hours(frame)
    assert words(picture).startswith("All 100,000 calls judged were made within the hours")
    assert overlapping(picture) == []


def test_calls_that_could_not_be_judged() -> None:
    """What could not be judged is neither good nor bad: it is left out of the count and named."""
    frame = HOURS.assign(grade=["pass", "violation", "not evaluable", *["not_evaluable"] * 3])
    picture = plots.calling_hours(frame)
    assert words(picture).startswith("1 of 2 calls was made outside the hours\n")
    assert "4 calls could not be judged. 1 call without a known local time not drawn." in words(
        picture
    )
    nothing = plots.calling_hours(frame[2:])
    assert words(nothing).startswith("None of 4 calls could be judged")


def test_unknown_grades() -> None:
    """A grade that has no sign is refused instead of not drawn."""
    with pytest.raises(ConfigError, match="grade 'maybe' is not known"):
        plots.calling_hours(HOURS.assign(grade="maybe"))
