"""What dialling data says: pure functions on frames, each number with definition, interval and exclusions.

Functions take the frames of an account (`calls`, `leads`, ...), a `taxonomy` and `as_of`, and give a
result with `.answer`, `.table`, `.excluded`, `.explain()` and `.to_dict()`; `dialframe.plots` has a
picture of the same name. `metrics` has one function per metric.
"""

from dialframe.analytics import metrics
from dialframe.analytics.arriving import speed_to_lead
from dialframe.analytics.caller_use import caller_ages, caller_load
from dialframe.analytics.callers import caller_ids
from dialframe.analytics.checking import completeness
from dialframe.analytics.classification import classify, unmapped
from dialframe.analytics.comparing import compare
from dialframe.analytics.dayparting import dayparts
from dialframe.analytics.funnels import funnel
from dialframe.analytics.intervals import rates, wilson
from dialframe.analytics.journeys import cohorts, outcome_flows, outcome_mix
from dialframe.analytics.lists import penetration, scorecard
from dialframe.analytics.matching import match
from dialframe.analytics.meaning import durations, machines
from dialframe.analytics.network import carriers, causes, ring_times
from dialframe.analytics.outcomes import OUTCOMES, Outcome
from dialframe.analytics.persistence import attempts, recycle
from dialframe.analytics.presence import local_presence, return_calls
from dialframe.analytics.promises import appointments_kept, callbacks_kept
from dialframe.analytics.questions import CAPABILITIES, Capability, capabilities
from dialframe.analytics.reconciling import reconcile
from dialframe.analytics.records import duplicates, import_outcomes
from dialframe.analytics.result import Result
from dialframe.analytics.results import Funnel, Summary
from dialframe.analytics.stages import STAGES, Stage
from dialframe.analytics.summaries import dispositions, summary
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.timing import best_time, hours
from dialframe.analytics.trust import conflicts, late_dispositions, missing_dispositions
from dialframe.analytics.waiting import time_to_contact
from dialframe.analytics.watching import ai_agreement, changes, running_rates, taxonomy_effect

__all__ = [
    "CAPABILITIES",
    "DEFAULT",
    "OUTCOMES",
    "STAGES",
    "Capability",
    "Funnel",
    "Outcome",
    "Result",
    "Stage",
    "Summary",
    "Taxonomy",
    "ai_agreement",
    "appointments_kept",
    "attempts",
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
