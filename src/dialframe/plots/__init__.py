"""Pictures of results, each with a title that says what it finds and words for those who cannot see it.

A picture is a matplotlib figure with `.alt`, `.table` and `.look`; it bears the name of the analysis
whose result it draws.
"""

from dialframe.plots.bars_and_heat_maps import (
    cohorts,
    completeness,
    duplicates,
    outcomes,
    reconcile,
    recycle,
)
from dialframe.plots.funnel_pictures import funnel, funnel_by
from dialframe.plots.list_and_audit_pictures import calling_hours, cleaning, coverage, listed_calls
from dialframe.plots.picture import Picture
from dialframe.plots.plan_pictures import forecast, rank
from dialframe.plots.rate_pictures import (
    attempts,
    caller_ids,
    carriers,
    changes,
    compare,
    hours,
    machines,
    scorecard,
    speed_to_lead,
    time_to_contact,
)

__all__ = [
    "Picture",
    "attempts",
    "caller_ids",
    "calling_hours",
    "carriers",
    "changes",
    "cleaning",
    "cohorts",
    "compare",
    "completeness",
    "coverage",
    "duplicates",
    "forecast",
    "funnel",
    "funnel_by",
    "hours",
    "listed_calls",
    "machines",
    "outcomes",
    "rank",
    "reconcile",
    "recycle",
    "scorecard",
    "speed_to_lead",
    "time_to_contact",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
