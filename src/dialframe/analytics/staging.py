"""Which leads reach which stage, and in which order in time; knows calls and appointments, not tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.classification import Classes
from dialframe.analytics.columns import (
    NO_TIME,
    Ints,
    Mask,
    micros,
    require,
    within,
)
from dialframe.analytics.counting import Notes
from dialframe.analytics.matching import Matched
from dialframe.analytics.tabled import instants

#: Stages that calls decide, with the column of `classify` that does.
CALL_STAGES: Final = {
    "attempted": "attempt",
    "connected": "answered",
    "human": "human",
    "right_party": "right_party",
    "positive": "positive",
    "appointment": "appointment",
}


_NEVER: Final = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True, eq=False)
class Booked:
    """Lead and instant of each appointment, the call that it came after, and notes."""

    leads: Ints
    when: Ints
    call: Ints
    notes: Notes


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """Which leads are counted, and between which instants their events are."""

    here: Mask
    opens: Ints
    closes: Ints
    bounded: bool = True


def span_of(
    leads: pd.DataFrame,
    here: Mask,
    at: Ints,
    matched: Matched,
    counted: Mask,
    window: timedelta | None,
    entry: str,
    as_of: datetime | None,
) -> Span:
    """When each lead's events count, and which leads have had all of their time."""
    if window is None:
        return Span(here, np.full(len(here), -_NEVER), np.full(len(here), _NEVER), bounded=False)
    opens = micros(leads["created_at"])
    if entry == "first_dial":
        opens = _earliest(np.flatnonzero(counted), at, matched.lead, len(here))
    entered = (opens != _NEVER) & (opens != NO_TIME)
    opens = np.where(entered, opens, 0)
    closes = opens + round(window.total_seconds() * 1e6)
    ends = 0 if as_of is None else round(as_of.timestamp() * 1e6)
    return Span(here & (~entered | (closes <= ends)), opens, np.where(entered, closes, -_NEVER))


def stages_of(
    span: Span, classified: Classes, matched: Matched, counted: Mask, at: Ints, booked: Booked,
    order: str,
) -> dict[str, Mask]:  # fmt: skip
    """The leads of each stage: those that a counted call puts there, if in every stage before."""
    inside = {"accepted": span.here}
    so_far, since = span.here, span.opens
    rows = np.flatnonzero(counted & (matched.lead >= 0))
    lead = matched.lead[rows]
    if span.bounded:
        rows = rows[(at[rows] >= span.opens[lead]) & (at[rows] <= span.closes[lead])]
    for stage, column in CALL_STAGES.items():
        rows = rows[classified.flag(column)[rows]] if stage != "appointment" else rows
        last = rows[classified.flag(column)[rows]] if stage == "appointment" else rows
        if order != "any" and (span.bounded or stage != "attempted"):
            last = last[at[last] >= since[matched.lead[last]]]
        reached = _earliest(last, at, matched.lead, len(span.here))
        if stage == "appointment":
            reached = np.minimum(reached, _bookings(span, booked, classified, since, order))
        so_far = so_far & (reached != _NEVER)
        since = reached
        inside[stage] = so_far
    return inside


def _bookings(span: Span, booked: Booked, classified: Classes, since: Ints, order: str) -> Ints:
    """When each lead's first appointment that counts was booked."""
    keep = (booked.when >= span.opens[booked.leads]) & (booked.when <= span.closes[booked.leads])
    if order != "any":
        keep &= booked.when >= since[booked.leads]
    if order == "strict":
        keep &= classified.flag("positive")[booked.call]
    first = np.full(len(span.here), _NEVER)
    np.minimum.at(first, booked.leads[keep], booked.when[keep])
    return first


def _earliest(rows: Ints, at: Ints, lead: npt.NDArray[np.int32], size: int) -> Ints:
    """The first instant among some calls of each lead."""
    first = np.full(size + 1, _NEVER)
    np.minimum.at(first, lead[rows], at[rows])
    return first[:-1]


def booked_of(
    appointments: pd.DataFrame | None,
    calls: pd.DataFrame,
    matched: Matched,
    counted: Mask,
    since: datetime | None,
    until: datetime | None,
) -> Booked:
    """Leads with an appointment booked at or after a counted call to its number.

    It is given to the lead of the last such call, which settles a number that several campaigns
    dialled.
    """
    if appointments is None:
        none = np.zeros(0, dtype=np.int64)
        return Booked(none, none, none, {})
    require(appointments, ("phone", "created_at"), "appointments")
    inside = within(appointments["created_at"], since, until)
    wanted = _dated(appointments.loc[inside, ["phone", "created_at"]])
    dialled = pd.DataFrame(
        {
            "phone": calls["to_number"].array,
            "created_at": calls["created_at"].array,
            "lead": matched.lead,
            "call": np.arange(len(calls)),
        }
    )[counted & (matched.lead >= 0)]
    dialled = _dated(dialled[dialled["phone"].isin(wanted["phone"])])
    paired = pd.DataFrame({"lead": [], "call": [], "created_at": wanted["created_at"][:0]})
    if len(wanted) and len(dialled):  # pandas does not join a text column without rows
        paired = pd.merge_asof(wanted, dialled, on="created_at", by="phone").dropna(
            subset=["lead"]
        )
    lead, call = (paired[name].to_numpy(dtype=np.int64) for name in ("lead", "call"))
    notes = {
        ("booked_outside_window", "appointments"): int((~inside).sum()),
        ("no_call_before", "appointments"): int(inside.sum()) - len(lead),
    }
    return Booked(lead, micros(paired["created_at"]), call, notes)


def _dated(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with number and instant, in time's order, ready to be paired."""
    known = rows.dropna(subset=["phone", "created_at"])
    known = known.assign(created_at=instants(micros(known["created_at"])))
    return known.sort_values("created_at", kind="stable")
