"""Pictures of results, each with a title that says what it finds and words for those who cannot see it.

A picture is a matplotlib figure with `.alt`, `.table` and `.look`; it bears the name of the analysis
whose result it draws.
"""

from dialframe.plots.bars_and_heat_maps import (
    appointments_kept,
    callbacks_kept,
    caller_load,
    causes,
    cohorts,
    completeness,
    conflicts,
    duplicates,
    durations,
    hours,
    outcome_mix,
    outcomes,
    reconcile,
    recycle,
)
from dialframe.plots.funnel_pictures import funnel, funnel_by, outcome_flows
from dialframe.plots.list_and_audit_pictures import calling_hours, cleaning, coverage, listed_calls
from dialframe.plots.picture import Picture
from dialframe.plots.rate_pictures import (
    attempts,
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
    ring_times,
    scorecard,
    speed_to_lead,
    time_to_contact,
)

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


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
