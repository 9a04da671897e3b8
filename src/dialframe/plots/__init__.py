"""Pictures of results, each with a title that says what it finds and words for those who cannot see it.

A picture is a matplotlib figure with `.alt`, `.table` and `.look`; it bears the name of the analysis
whose result it draws.
"""

from dialframe.plots import cleaning as _cleaning
from dialframe.plots import grids
from dialframe.plots.counts import (
    appointments_kept,
    callbacks_kept,
    caller_load,
    causes,
    completeness,
    conflicts,
    duplicates,
    durations,
    reconcile,
)
from dialframe.plots.curves import attempts, outcome_mix, ring_times, time_to_contact
from dialframe.plots.dnc import coverage, listed_calls
from dialframe.plots.flows import outcome_flows
from dialframe.plots.funnels import funnel, funnel_by
from dialframe.plots.grids import cohorts, recycle
from dialframe.plots.hours import calling_hours
from dialframe.plots.outcomes import outcomes
from dialframe.plots.picture import Picture
from dialframe.plots.rates import (
    best_time,
    caller_ages,
    caller_ids,
    carriers,
    changes,
    compare,
    local_presence,
    machines,
    missing_dispositions,
    penetration,
    return_calls,
    scorecard,
    speed_to_lead,
)

# Modules of the package bear these names too; what people call is the picture.
hours = grids.hours
cleaning = _cleaning.cleaning

__all__ = [
    "Picture",
    "appointments_kept",
    "attempts",
    "best_time",
    "callbacks_kept",
    "caller_ages",
    "caller_ids",
    "caller_load",
    "calling_hours",
    "carriers",
    "causes",
    "changes",
    "cleaning",
    "cohorts",
    "compare",
    "completeness",
    "conflicts",
    "coverage",
    "duplicates",
    "durations",
    "funnel",
    "funnel_by",
    "hours",
    "listed_calls",
    "local_presence",
    "machines",
    "missing_dispositions",
    "outcome_flows",
    "outcome_mix",
    "outcomes",
    "penetration",
    "reconcile",
    "recycle",
    "return_calls",
    "ring_times",
    "scorecard",
    "speed_to_lead",
    "time_to_contact",
]
