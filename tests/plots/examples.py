"""Results to be drawn, of every kind, full and empty."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pandas as pd

from analytics.made import call, calls, lead, leads
from dialframe import plots
from dialframe.analytics import dispositions, funnel
from dialframe.plots import Picture

SOURCES = ("web", "fair & co", "a purchased list with a very long name")
PEOPLE = leads(*(lead(i, custom_fields={"src": SOURCES[i % 3]}) for i in range(60)))
CALLS = calls(
    *(call(i) for i in range(40)),
    *(call(i, 1, answered=True, disposition="AM") for i in range(30)),
    *(call(i, 2, answered=True, disposition="NI") for i in range(12)),
    *(call(i, 3, answered=True, disposition="APPT") for i in range(3)),
    call(50, answered=True, disposition="ZZTOP"),
)

COVERAGE = pd.DataFrame(
    {
        "group": ["Spring", "cmp_0b3f5c1e-8a41-4a67-9d27-5f0d2f1c9b77", "Empty"],
        "fresh": [812, 61, 0],
        "stale": [44, 120, 0],
        "never": [12, 31, 0],
    }
)

HOURS = pd.DataFrame(
    {
        "local_minute": [600.0, 700.5, 1270.0, 465.0, None, 480.0],
        "grade": ["pass", "pass", "violation", "uncertain", "uncertain", "pass"],
        "local_date": ["2026-03-02", "2026-03-03", "2026-03-08", "2026-03-02", None, "2026-03-02"],
    }
)

LISTED = pd.DataFrame({"grade": ["clear", "proven", "indeterminate"], "calls": [4598, 5, 12]})

Draw = Callable[[str], Picture]

FULL: dict[str, Draw] = {
    "funnel": lambda look: plots.funnel(funnel(CALLS, PEOPLE), look=look),
    "funnel_by": lambda look: plots.funnel_by(funnel(CALLS, PEOPLE, by="src"), look=look),
    "coverage": lambda look: plots.coverage(COVERAGE, look=look),
    "calling_hours": lambda look: plots.calling_hours(HOURS, look=look),
    "listed_calls": lambda look: plots.listed_calls(LISTED, look=look),
    "outcomes": lambda look: plots.outcomes(dispositions(CALLS).table, look=look),
}

EMPTY: dict[str, Draw] = {
    "funnel": lambda look: plots.funnel(funnel(CALLS[:0], PEOPLE[:0]), look=look),
    "funnel_by": lambda look: plots.funnel_by(
        funnel(CALLS[:0], PEOPLE[:0], by="campaign_id"), look=look
    ),
    "coverage": lambda look: plots.coverage(COVERAGE[2:], look=look),
    "calling_hours": lambda look: plots.calling_hours(HOURS[:0], look=look),
    "listed_calls": lambda look: plots.listed_calls(LISTED[:0], look=look),
    "outcomes": lambda look: plots.outcomes(dispositions(CALLS[:0]).table, look=look),
}


@cache
def light(draw: Draw) -> Picture:
    """A picture in the light look; drawn once, since a picture does not change."""
    return draw("light")


@cache
def written(draw: Draw) -> bytes:
    """The bytes of that picture."""
    return light(draw).png()


def shown(name: str) -> Picture:
    """One of the full pictures, light."""
    return light(FULL[name])
