"""Names from the data are drawn as they are, colors are what they are meant to be, scales do not exaggerate."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.legend import Legend
from PIL import Image

from analytics.everything import Account
from analytics.made import call, calls, lead, leads
from dialframe import analytics, plots
from plots.examples import COVERAGE
from plots.looked_at import overlapping, words

NAMES = (
    "costs $5 or $10",
    "北京の顧客リスト",
    "_underscore",
    "line\nbreak",
    "Überregionale Käuferliste – Herbst 2026 (Zürich, Genève, Łódź)",
    "<b>bold</b>",
)


def _account(names: tuple[str, ...]) -> Account:
    people = leads(
        *(lead(i, custom_fields={"lead_source": names[i % len(names)]}) for i in range(60))
    )
    made = [
        call(i, answered=i % 3 == 0, disposition="NI" if i % 3 == 0 else "NA") for i in range(60)
    ]
    return Account(calls(*made), people)


def test_names_in_any_script() -> None:
    """Dollars, underscores, line breaks and letters without a font are no formula, no warning, no gap."""
    account = _account(NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = analytics.time_to_contact(account.calls, account.leads, by="lead_source")
        picture = plots.time_to_contact(result)
        picture.png()
    said = words(picture)
    assert "costs $5 or $10 (10)" in said
    assert "_underscore (10)" in said
    assert "line break (10)" in said
    assert all(name in picture.alt for name in NAMES)


def test_six_groups_have_one_legend() -> None:
    """Six long names stand in one legend above the axes, in lines that fit the page."""
    account = _account(tuple(f"a source with a long name {i}" for i in range(6)))
    result = analytics.time_to_contact(account.calls, account.leads, by="lead_source")
    picture = plots.time_to_contact(result)

    (legend,) = picture.findobj(Legend)
    assert len(legend.get_texts()) == 6
    assert overlapping(picture) == []


def test_written_colors_mean_what_they_are_in_the_legend() -> None:
    """The palette of the file has every color of the bars to the bit, and the white of the page."""
    written = np.asarray(Image.open(io.BytesIO(plots.coverage(COVERAGE).png())).convert("RGB"))
    for color in ("#009E73", "#E69F00", "#D55E00", "#FFFFFF"):
        wanted = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
        assert (written == wanted).all(axis=2).sum() > 500, color


def test_odds_are_drawn_to_the_logarithm_under_their_dimension() -> None:
    """Hours and weekdays have a heading each, twice as likely is as far as half, 1 has a line."""
    account = _account(("web",))
    many = pd.concat([account.calls.assign(id=account.calls["id"] + str(d),
                      created_at=account.calls["created_at"] + pd.Timedelta(hours=25 * d),
                      answered_at=account.calls["answered_at"] + pd.Timedelta(hours=25 * d),
                      ended_at=account.calls["ended_at"] + pd.Timedelta(hours=25 * d))
                      for d in range(12)], ignore_index=True)  # fmt: skip
    picture = plots.hours(analytics.hours(many, account.leads))

    assert {"Local hour"} <= set(words(picture).splitlines())
    (axes,) = picture.axes
    assert axes.get_xscale() == "log"
    low, high = axes.get_xlim()
    assert low <= 0.67
    assert high >= 1.5


@pytest.mark.parametrize("share", [0, 1])
def test_no_share_is_drawn_beyond_what_there_can_be(share: int) -> None:
    """With nobody reached, or everybody, the axis ends near 0 or 100 and spans two points at least."""
    made = calls(*(call(i, answered=bool(share), disposition="NI" if share else "NA")
                   for i in range(40)))  # fmt: skip
    (axes,) = plots.changes(analytics.changes(made, None)).axes
    low, high = axes.get_xlim()
    assert -3 < low < high < 103
    assert high - low >= 2


def test_too_few_is_not_none() -> None:
    """Calls that are too few for an answer are not said to be none."""
    account = _account(("web",))
    picture = plots.hours(analytics.hours(account.calls[:4], account.leads))
    assert "There are too few calls to show." in words(picture)
