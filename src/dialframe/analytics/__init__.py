"""What dialing data says: pure functions on frames, each number with definition, interval and exclusions.

Functions take the frames of an account (`calls`, `leads`, ...), a `taxonomy` and `as_of`, and give a
result with `.answer`, `.table`, `.excluded`, `.explain()` and `.to_dict()`; `dialframe.plots` has a
picture of the same name. `metrics` has one function per metric.
"""

from dialframe.analytics import metrics
from dialframe.analytics.analyses.attempts_and_gaps import attempts, recycle
from dialframe.analytics.analyses.callbacks_and_appointments import (
    appointments_kept,
    callbacks_kept,
)
from dialframe.analytics.analyses.caller_id_use import (
    caller_ages,
    caller_load,
    local_presence,
    return_calls,
)
from dialframe.analytics.analyses.caller_ids import caller_ids
from dialframe.analytics.analyses.campaigns import ai_agreement, changes, compare, running_rates
from dialframe.analytics.analyses.lead_funnel import funnel
from dialframe.analytics.analyses.lead_sources import duplicates, import_outcomes, scorecard
from dialframe.analytics.analyses.lead_waiting_times import speed_to_lead, time_to_contact
from dialframe.analytics.analyses.outcome_mix import (
    cohorts,
    dispositions,
    outcome_flows,
    outcome_mix,
    summary,
)
from dialframe.analytics.analyses.question_catalog import (
    CAPABILITIES,
    Capability,
    capabilities,
)
from dialframe.analytics.analyses.reconcile import reconcile
from dialframe.analytics.analyses.record_quality import (
    classify,
    completeness,
    conflicts,
    late_dispositions,
    match,
    missing_dispositions,
    unmapped,
)
from dialframe.analytics.analyses.telephony import (
    carriers,
    causes,
    durations,
    machines,
    ring_times,
)
from dialframe.analytics.analyses.time_of_day import best_time, dayparts, hours
from dialframe.analytics.analysis_result import Funnel, Result, Summary
from dialframe.analytics.attempt.attempts_frame import attempts_frame
from dialframe.analytics.attempt.taxonomy import (
    DEFAULT,
    OUTCOMES,
    STAGES,
    Outcome,
    Stage,
    Taxonomy,
)
from dialframe.analytics.claims_and_tables import Claim
from dialframe.analytics.inference import rates, wilson
from dialframe.analytics.metrics.penetration_and_taxonomy import penetration, taxonomy_effect

__all__ = [
    "CAPABILITIES",
    "DEFAULT",
    "OUTCOMES",
    "STAGES",
    "Capability",
    "Claim",
    "Funnel",
    "Outcome",
    "Result",
    "Stage",
    "Summary",
    "Taxonomy",
    "ai_agreement",
    "appointments_kept",
    "attempts",
    "attempts_frame",
    "best_time",
    "callbacks_kept",
    "caller_ages",
    "caller_ids",
    "caller_load",
    "capabilities",
    "carriers",
    "causes",
    "changes",
    "classify",
    "cohorts",
    "compare",
    "completeness",
    "conflicts",
    "dayparts",
    "dispositions",
    "duplicates",
    "durations",
    "funnel",
    "hours",
    "import_outcomes",
    "late_dispositions",
    "local_presence",
    "machines",
    "match",
    "metrics",
    "missing_dispositions",
    "outcome_flows",
    "outcome_mix",
    "penetration",
    "rates",
    "reconcile",
    "recycle",
    "return_calls",
    "ring_times",
    "running_rates",
    "scorecard",
    "speed_to_lead",
    "summary",
    "taxonomy_effect",
    "time_to_contact",
    "unmapped",
    "wilson",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
