"""Every analysis has a picture of its name that is a figure, reads aloud, and says when there is nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from matplotlib.figure import Figure

from analytics.everything import EVERYTHING, Account
from analytics.made import calls, leads
from analytics.synthetic import account
from dialframe import analytics, plots
from dialframe.errors import ConfigError
from dialframe.plots import Picture
from plots.looked_at import overlapping, words
from rows import every_row

MADE = account("tiny")
CAMPAIGNS = MADE.calls["campaign_id"].dropna().unique()


DAY = MADE.calls["created_at"].dt.strftime("%Y-%m-%d")
KEYS = ["date", "campaign_id", "disposition"]
ACCOUNT = Account(
    MADE.calls, MADE.leads, MADE.callbacks, MADE.appointments,
    report=MADE.calls.assign(date=DAY).groupby(KEYS, dropna=False).size().reset_index(name="calls"),
)  # fmt: skip


Ask = Callable[[Account], Any]
ASKED: dict[str, Ask] = {
    **{
        name: ask for name, ask in EVERYTHING.items() if name in plots.__all__ and name != "funnel"
    },
    "compare": lambda a: analytics.compare(a.calls, a.leads, a=CAMPAIGNS[0], b=CAMPAIGNS[1]),
    "scorecard": lambda a: analytics.scorecard(a.calls, a.leads),
    "time_to_contact": lambda a: analytics.time_to_contact(a.calls, a.leads, by="lead_source"),
}


@cache
def answer(name: str) -> Any:
    """What an analysis says of the account."""
    return ASKED[name](ACCOUNT)


def _draw(name: str, result: Any, look: str = "light") -> Picture:
    picture: Picture = getattr(plots, name)(result, look=look)
    return picture


@cache
def picture_of(name: str) -> Picture:
    """That answer, drawn once, since a picture does not change."""
    return _draw(name, answer(name))


@every_row("name", ASKED)
def test_a_result_becomes_a_figure(name: str) -> None:
    """A figure of its own with the finding as title, numbers in its words, and its table beside it."""
    result, picture = answer(name), picture_of(name)
    assert isinstance(picture, Figure)
    assert picture.alt == picture.alt_text
    assert picture.alt.endswith(".")
    negative = "no " in picture.alt or "cannot be judged" in picture.alt
    assert negative or any(letter.isdigit() for letter in picture.alt)
    assert overlapping(picture) == []
    assert picture.table is result.table
    if ": no " not in picture.alt:
        assert result.answer.split()[0] in words(picture)


@pytest.mark.parametrize("name", ["caller_ids", "machines", "carriers", "changes", "scorecard"])
def test_rows_stand_in_the_order_of_what_is_drawn(name: str) -> None:
    """The greatest share on top, whatever the order of the table."""
    picture = picture_of(name)
    marks = [
        line for line in picture.figure.axes[0].lines if line.get_marker() not in ("", "None", "|")
    ]
    points = sorted((float(line.get_ydata()[0]), float(line.get_xdata()[0])) for line in marks)
    values = [value for _, value in points]
    assert len(values) > 1
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    "name",
    [
        "attempts", "cohorts", "duplicates", "hours", "reconcile", "recycle", "time_to_contact",
    ],
)  # fmt: skip
def test_nothing_is_said(name: str) -> None:
    """Without data the picture says so."""
    picture = _draw(name, EVERYTHING[name](Account(calls(), leads())))
    assert "There are no " in words(picture)


@pytest.mark.parametrize("name", ["caller_ids", "hours"])
def test_dark_says_the_same(name: str) -> None:
    """The dark look has the same words on another ground."""
    light, dark = picture_of(name), _draw(name, answer(name), "dark")
    assert light.alt == dark.alt
    assert light.get_facecolor() != dark.get_facecolor()


def test_another_analysis_is_refused() -> None:
    """A picture is drawn of its own analysis only."""
    with pytest.raises(ConfigError, match=r"plots\.hours draws the result of analytics\.hours"):
        plots.hours(answer("carriers"))


def test_the_numbers_are_below_the_image() -> None:
    """A notebook shows image and table; the table folds away."""
    page = picture_of("carriers")._repr_html_()
    assert "<details><summary>The numbers</summary>" in page
    assert str(CAMPAIGNS[0]) in page
