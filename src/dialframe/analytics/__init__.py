"""What dialing data says: pure functions on frames, each number with definition, interval and exclusions.

Functions take the frames of an account (`calls`, `leads`, ...), a `taxonomy` and `as_of`, and give a
result with `.answer`, `.claims`, `.table`, `.excluded`, `.explain()` and `.to_dict()`; `by=` asks each
group; `dialframe.plots` has a picture of the same name.
"""

from dialframe.analytics import groups as groups  # puts in place what `by=` asks
from dialframe.analytics.analyses.attempts_and_gaps import attempts, recycle
from dialframe.analytics.analyses.caller_ids import caller_ids
from dialframe.analytics.analyses.campaigns import changes, compare
from dialframe.analytics.analyses.forecast import forecast
from dialframe.analytics.analyses.lead_funnel import funnel
from dialframe.analytics.analyses.lead_sources import duplicates, scorecard
from dialframe.analytics.analyses.lead_waiting_times import speed_to_lead, time_to_contact
from dialframe.analytics.analyses.outcome_tables import cohorts, dispositions
from dialframe.analytics.analyses.rank import rank
from dialframe.analytics.analyses.reconcile import reconcile
from dialframe.analytics.analyses.record_quality import classify, completeness, match
from dialframe.analytics.analyses.telephony import carriers, machines
from dialframe.analytics.analyses.time_of_day import hours
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
from dialframe.analytics.metrics import METRICS, NOT_AVAILABLE, Metric, metrics, summary

__all__ = [
    "DEFAULT",
    "METRICS",
    "NOT_AVAILABLE",
    "OUTCOMES",
    "STAGES",
    "Claim",
    "Funnel",
    "Metric",
    "Outcome",
    "Result",
    "Stage",
    "Summary",
    "Taxonomy",
    "attempts",
    "attempts_frame",
    "caller_ids",
    "carriers",
    "changes",
    "classify",
    "cohorts",
    "compare",
    "completeness",
    "dispositions",
    "duplicates",
    "forecast",
    "funnel",
    "hours",
    "machines",
    "match",
    "metrics",
    "rank",
    "reconcile",
    "recycle",
    "scorecard",
    "speed_to_lead",
    "summary",
    "time_to_contact",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
