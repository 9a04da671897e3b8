"""Metrics of calls: who answered, for how long, after how much ringing."""

from __future__ import annotations

from typing import Final

import numpy as np

from dialframe.analytics.analyses.telephony import LONGEST_RING_S, rejected
from dialframe.analytics.attempt.arrays import Floats, Mask
from dialframe.analytics.metrics.metric_types import (
    Inputs,
    Measure,
    Rows,
    call_mean,
    call_share,
    share,
)
from dialframe.analytics.result.result_tables import median, ratio, table

_TOLERANCE_S: Final = 1.5


def _all(inputs: Inputs) -> Mask:
    return np.ones(len(inputs.attempts), dtype=bool)


def connection(inputs: Inputs) -> Measure:
    """Answered of attempts."""
    return call_share(inputs, inputs.attempts.flag("answered"), _all(inputs))


def network_effectiveness(inputs: Inputs) -> Measure:
    """Answered, busy, ring without answer and rejected by the person, of attempts."""
    found = inputs.attempts
    effective = found.flag("answered") | found.is_class("busy", "no_answer") | rejected(found)
    blocked = found.is_class("blocked_or_rejected") & ~rejected(found)
    return call_share(inputs, effective, _all(inputs), {"blocked_on_the_way": int(blocked.sum())})


def human_per_attempt(inputs: Inputs) -> Measure:
    """A person answered, of attempts."""
    return call_share(inputs, inputs.attempts.flag("human"), _all(inputs), _open(inputs))


def human_per_valid(inputs: Inputs) -> Measure:
    """The same without attempts on numbers that are not in service."""
    bad = inputs.attempts.is_class("disconnected")
    excluded = {**_open(inputs), "bad_number": int(bad.sum())}
    return call_share(inputs, inputs.attempts.flag("human"), ~bad, excluded)


def right_party_per_attempt(inputs: Inputs) -> Measure:
    """The person wanted, of attempts."""
    return call_share(inputs, inputs.attempts.flag("right_party"), _all(inputs), _open(inputs))


def right_party_per_human(inputs: Inputs) -> Measure:
    """The person wanted, of calls that a person answered."""
    found = inputs.attempts
    return call_share(inputs, found.flag("right_party"), found.flag("human"), _open(inputs))


def machine_per_attempt(inputs: Inputs) -> Measure:
    """An answering machine, of attempts."""
    return call_share(inputs, inputs.attempts.flag("machine"), _all(inputs), _open(inputs))


def machine_per_answered(inputs: Inputs) -> Measure:
    """An answering machine, of answered calls."""
    found = inputs.attempts
    return call_share(inputs, found.flag("machine"), found.flag("answered"), _open(inputs))


def talk_time(inputs: Inputs) -> Measure:
    """Mean seconds from answer to end."""
    answered = inputs.attempts.flag("answered")
    values = np.where(answered, inputs.attempts.talk_s, np.nan)
    unknown = int((answered & np.isnan(values)).sum())
    detail = table({"median_s": np.array([median(values)])})
    return call_mean(inputs, values, {"no_length": unknown}, detail=detail)


def duration_meaning(inputs: Inputs) -> Measure:
    """Share of answered calls whose `duration_seconds` is the talk rather than the whole call."""
    found = inputs.attempts
    given = found.column("duration_seconds")
    duration = given.to_numpy(dtype=float, na_value=np.nan)
    to_talk = np.abs(duration - found.talk_s)
    to_whole = np.abs(duration - found.talk_s - found.ring_s)
    answered = found.flag("answered")
    known = answered & ~np.isnan(to_talk) & ~np.isnan(to_whole)
    told = known & (np.abs(to_talk - to_whole) > _TOLERANCE_S)
    talk = told & (to_talk < to_whole)
    detail = table(
        {
            "median_off_talk_s": np.array([median(to_talk[known])]),
            "median_off_whole_s": np.array([median(to_whole[known])]),
        }
    )
    excluded = {
        "no_duration": int((answered & ~known).sum()),
        "both_fit": int((known & ~told).sum()),
    }
    rows = Rows("call", talk, told)
    return share(int(talk.sum()), int(told.sum()), excluded, detail=detail, rows=rows)


def short_calls(inputs: Inputs) -> Measure:
    """Answered calls of a few seconds, of answered calls."""
    found, limit = inputs.attempts, inputs.choices.short_call_s
    answered = found.flag("answered")
    known = answered & ~np.isnan(found.talk_s)
    short = np.nan_to_num(found.talk_s, nan=np.inf) <= limit
    excluded = {"no_length": int((answered & ~known).sum())}
    return call_share(inputs, short, known, excluded, used=("short_call_s",))


def ring_time(inputs: Inputs) -> Measure:
    """Mean seconds of ringing, with the median beside it."""
    ring = inputs.attempts.ring_s
    negative, long = ring < 0, ring > LONGEST_RING_S
    kept = np.where(negative | long, np.nan, ring)
    excluded = {
        "ring_unknown": int(np.isnan(ring).sum()),
        "ring_negative": int(negative.sum()),
        "ring_over_120_s": int(long.sum()),
    }
    answered = inputs.attempts.flag("answered")
    detail = table(
        {
            "median_s": np.array([median(kept)]),
            "median_answered_s": np.array([median(kept[answered])]),
            "median_unanswered_s": np.array([median(kept[~answered])]),
        }
    )
    return call_mean(inputs, kept, excluded, detail=detail)


def bad_numbers_per_attempt(inputs: Inputs) -> Measure:
    """Attempts on numbers that are not in service."""
    return call_share(inputs, inputs.attempts.is_class("disconnected"), _all(inputs))


def bad_numbers_per_number(inputs: Inputs) -> Measure:
    """Distinct numbers dialed that were found not to be in service."""
    found = inputs.attempts
    number, names = found.numbered("to_number")
    off = found.is_class("disconnected")
    bad = np.unique(number[off & (number >= 0)])
    rows = Rows("call", off, number >= 0, "distinct", key=np.maximum(number, 0))
    return share(len(bad), len(names), rows=rows)


def abandoned_of_people(inputs: Inputs) -> Measure:
    """Calls that a person answered and no agent took, of calls that a person answered."""
    found, days = inputs.attempts, inputs.choices.abandon_days
    recent = found.when > inputs.attempts.as_of_us - int(days * 86_400e6)
    dropped, human = found.is_class("dropped_by_us"), found.flag("human") & recent
    used = ("abandon_days",)
    if not dropped.any():
        return _no_drops(int(human.sum()), used)
    excluded = {"older": int((~recent).sum())}
    return call_share(inputs, dropped & recent, human, excluded, used=used)


def abandoned_ofcom(inputs: Inputs) -> Measure:
    """Drops less those that machines answered, of live answers and these drops."""
    found = inputs.attempts
    dropped = int(found.is_class("dropped_by_us").sum())
    live = int((found.flag("human") & ~found.is_class("dropped_by_us")).sum())
    if not dropped:
        return _no_drops(live, ())
    machines = int(found.flag("machine").sum())
    adjusted = dropped * (1 - (machines / (live + machines) if live + machines else 0.0))
    total = live + adjusted
    lost, human = found.is_class("dropped_by_us"), found.flag("human")
    rows = Rows("call", lost, _all(inputs), "formula", formula=_ofcom,
                parts=(lost, human & ~lost, found.flag("machine")))  # fmt: skip
    return Measure(adjusted / total if total else None, adjusted, total, rows=rows)


def _ofcom(lost: Floats, live: Floats, machines: Floats) -> tuple[Floats, Floats, Floats]:
    """Share, adjusted drops and their base of each cell."""
    adjusted = lost * (1 - np.nan_to_num(ratio(machines, live + machines)))
    return ratio(adjusted, live + adjusted), adjusted, live + adjusted


def _no_drops(people: int, used: tuple[str, ...]) -> Measure:
    why = (
        "no call carries an outcome that means dropped by us, so whether calls were abandoned "
        "cannot be told; map the code of a drop, or measure it where the calls are placed"
    )
    return Measure(None, None, people, used=used, why_null=why)


def _open(inputs: Inputs) -> dict[str, int]:
    """Calls of which nothing says who answered: they count as not reached."""
    return {"answered_by_unknown": int(inputs.attempts.is_class("connected_unknown").sum())}
