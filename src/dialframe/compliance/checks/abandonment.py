"""Abandoned calls by campaign and period: the conditions of a rate in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dialframe.compliance.checks.check_results import Check
from dialframe.compliance.rules.rule_model import AbandonmentRule, Rule


def _values(_: Any, laws: Sequence[Rule]) -> Mapping[str, object]:
    (law,) = laws
    assert isinstance(law, AbandonmentRule)  # noqa: S101 - no other kind is in the table
    p = law.parameters
    # 16 CFR 310.4(b)(4): a rate of 3 % is a safe harbor with the ringing and the message alone.
    start = p.clock_starts.replace("_", " ")
    conditions = [f"the {p.seconds_to_answer} seconds" + (f" from {start}" if start else "")]
    ringing = [] if p.min_ring_seconds is None else [f"{p.min_ring_seconds} seconds"]
    ringing += [] if p.min_rings is None else [f"{p.min_rings} rings"]
    if ringing:
        conditions.append(f"the ringing of {' or '.join(ringing)}")
    if p.recorded_message_required:
        conditions.append("the recorded message")
    whether = "were" if len(conditions) > 1 or p.seconds_to_answer > 1 else "was"
    unknown = f"whether {' and '.join(conditions)} {whether} kept is not in the data"
    return {"conditions": unknown, "rank": p.severity}


CHECK: Final = Check("abandonment", "campaign period", values=_values, by_call=False)
