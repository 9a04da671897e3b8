"""Pictures of results, each with a title that says what it finds and words for those who cannot see it."""

from dialframe.plots.dnc import coverage, listed_calls
from dialframe.plots.funnels import funnel, funnel_by
from dialframe.plots.hours import calling_hours
from dialframe.plots.outcomes import outcomes
from dialframe.plots.picture import Picture

__all__ = [
    "Picture",
    "calling_hours",
    "coverage",
    "funnel",
    "funnel_by",
    "listed_calls",
    "outcomes",
]
