"""Every metric with the words of `metrics.toml` and the function that measures it, and what this API cannot give."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib import resources
from typing import Final

from dialframe.analytics.metrics import caller_and_compliance_metrics, lead_and_call_metrics
from dialframe.analytics.metrics.caller_and_compliance_metrics import graded
from dialframe.analytics.metrics.lead_and_call_metrics import (
    calls_with,
    first_conversions,
    leads_with,
)
from dialframe.analytics.metrics.metric_types import Definition, Inputs, Measure

_TABLES: Final = tomllib.loads(
    resources.files(__package__).joinpath("metrics.toml").read_text(encoding="utf-8")
)
#: What `counts` of a row begins with, and what makes a function of the rest.
_COUNTED: Final[dict[str, Callable[..., Callable[[Inputs], Measure]]]] = {
    "calls": calls_with,
    "leads": leads_with,
    "first conversions": first_conversions,
    "audit": graded,
}


def _measure(name: str, counts: list[str]) -> Callable[[Inputs], Measure]:
    """The function of a metric: made of what it counts, or the one of its name."""
    if counts:
        kind, *rest = counts
        return _COUNTED[kind](*rest)
    by_name = vars(lead_and_call_metrics) | vars(caller_and_compliance_metrics)
    function: Callable[[Inputs], Measure] = by_name[name]
    return function


#: Every metric. Names are attributes of `dialframe.analytics.metrics`.
METRICS: Final[tuple[Definition, ...]] = tuple(
    Definition(
        name=name, measure=_measure(name, row.pop("counts", [])),
        needs=tuple(row.pop("needs", ())), **row,
    )
    for name, row in _TABLES["metrics"].items()
)  # fmt: skip

#: What this API cannot give, and why; asked for by name, it is refused with these words.
NOT_AVAILABLE: Final[dict[str, str]] = _TABLES["not_available"]
