"""Outcomes, funnels and rates of calls and leads: pure functions on frames, each number with its definition."""

from dialframe.analytics.classification import classify, unmapped
from dialframe.analytics.funnels import funnel
from dialframe.analytics.intervals import rates, wilson
from dialframe.analytics.matching import match
from dialframe.analytics.outcomes import OUTCOMES, Outcome
from dialframe.analytics.results import Funnel, Summary
from dialframe.analytics.stages import STAGES, Stage
from dialframe.analytics.summaries import dispositions, summary
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy

__all__ = [
    "DEFAULT",
    "OUTCOMES",
    "STAGES",
    "Funnel",
    "Outcome",
    "Stage",
    "Summary",
    "Taxonomy",
    "classify",
    "dispositions",
    "funnel",
    "match",
    "rates",
    "summary",
    "unmapped",
    "wilson",
]
