"""Which calls a rate counts, and why each other call is set aside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    EPOCH,
    NO_TIME,
    Mask,
    micros,
    micros_of,
    present,
    repeated,
    require,
    within,
    word_of,
)
from dialframe.analytics.attempt.taxonomy import PLACE, REASONS
from dialframe.errors import ConfigError

#: Counts worth a note, by reason and unit.
Notes = dict[tuple[str, str], int]

#: Instants that have happened.
_PAST: Final = ("_observed_at", "created_at", "ended_at", "updated_at", "last_attempt_at")


#: Columns of a table of what was counted and set aside.
_COLUMNS: Final = {"reason": "str", "unit": "str", "count": "Int64", "role": "str"}


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Which calls are counted, and how many were set aside for each reason.

    `history` has the calls outside the window too: an attempt is the third one of its lead whether
    or not the first two are in the window.
    """

    counted: Mask
    set_aside: dict[str, int]
    history: Mask


def scope(
    calls: pd.DataFrame,
    outcome: npt.NDArray[np.int8],
    *,
    since: datetime | None,
    until: datetime | None,
    include_no_campaign: bool,
    as_of: datetime | None = None,
    further: Mapping[str, Mask] | None = None,
) -> Scope:
    """Sort calls into counted and set aside.

    Args:
        calls: Frame of the calls table.
        outcome: Place in `OUTCOMES` of each, as `classes` gives it.
        since: First instant of the window, or None.
        until: First instant after the window, or None.
        include_no_campaign: Count calls outside any campaign too.
        as_of: What was known at this instant counts; calls that began or were read later do not, and
            calls that ended later were not over.
        further: Reasons of the caller's own (keys of `REASONS`) and the calls they apply to.

    Raises:
        ConfigError: A column is missing, or the window has no time zone.
    """
    require(calls, ("direction", "created_at", "campaign_id"), "calls")
    # The values are `inbound` and `outbound` (contract, Call record); any other is neither.
    way = word_of(calls["direction"], ("inbound", "outbound"))
    campaign = present(calls["campaign_id"])
    reasons: dict[str, Mask] = {}
    if as_of is not None:
        # A frame that was read at once after the instant has no memory of it: it goes by its dates.
        later = micros(calls["created_at"]) > micros_of(as_of)
        reasons["after_as_of"] = later | _unread(calls, as_of)
    reasons |= {
        "outside_window": ~within(calls["created_at"], since, until),
        "inbound": way == 0,
        "direction_unknown": way < 0,
        **{
            name: outcome == PLACE[name]
            for name in ("dnc_screened", "in_progress", "system_noise")
        },
        "no_campaign": np.zeros(len(calls), dtype=bool) if include_no_campaign else ~campaign,
        "no_time": ~present(calls["created_at"]),
        **(further or {}),
    }
    again = repeated(calls["id"]) if "id" in calls.columns else np.zeros(0, dtype=bool)
    if again.any():
        reasons["duplicate"] = again
    if as_of is not None:
        ended = micros(calls["ended_at"]) if "ended_at" in calls.columns else None
        if ended is not None:
            reasons["in_progress"] |= ended > micros_of(as_of)
    # What is outside the window is of the history all the same, or attempts would be numbered anew in each window.
    history = np.ones(len(calls), dtype=bool)
    for reason, mask in reasons.items():
        if reason != "outside_window":
            history &= ~mask
    # Each call has one reason, the first that applies, so that counted and set aside sum to the calls.
    open_ = np.ones(len(calls), dtype=bool)
    set_aside = {}
    for reason in REASONS:
        if reason in reasons:
            taken = open_ & reasons[reason]
            set_aside[reason] = int(taken.sum())
            open_ &= ~taken
    return Scope(open_, set_aside, history)


def _unread(frame: pd.DataFrame, as_of: datetime) -> Mask:
    """Rows that were read after an instant, unless all of them were."""
    nothing = np.zeros(len(frame), dtype=bool)
    if "_observed_at" not in frame.columns:
        return nothing
    observed = micros(frame["_observed_at"])
    unread: Mask = observed > micros_of(as_of)
    return unread if (~unread & (observed != NO_TIME)).any() else nothing


def known_then(frame: pd.DataFrame, as_of: datetime | None) -> pd.DataFrame:
    """The rows of a frame that could be known at an instant: dated and read by then.

    A count of a whole day could be known when the day was over.

    Args:
        frame: Calls, leads, appointments, callbacks, checks or a report by day.
        as_of: The instant, or None for all rows.
    """
    if as_of is None:
        return frame
    later = np.zeros(len(frame), dtype=bool)
    if "date" in frame.columns and "created_at" not in frame.columns:
        day = micros(pd.to_datetime(frame["date"].astype("str"), utc=True, errors="coerce"))
        later |= day > micros_of(as_of) - DAY_US
    # A Do-Not-Call check is known from when it was asked.
    for name in ("created_at", "checked_at"):
        if name in frame.columns:
            later |= micros(frame[name]) > micros_of(as_of)
    later |= _unread(frame, as_of)
    return frame[~later] if later.any() else frame


def balance(scope: Scope, notes: Notes, words: Mapping[str, str]) -> pd.DataFrame:
    """The table of what was counted, set aside and is worth a note.

    Args:
        scope: The calls.
        notes: Further counts by reason and unit (`calls`, `leads`, `appointments`, `records`).
        words: What each of these reasons means.

    Returns:
        Columns `reason`, `unit`, `count`, `role`, `meaning`. Rows whose `role` is `counted` or
        `set aside` sum to the calls given; those of role `note` are a part of the counted calls
        or speak of other things.
    """
    rows = [("counted", "calls", int(scope.counted.sum()), "counted", "everything else")]
    rows += [(r, "calls", n, "set aside", REASONS[r]) for r, n in scope.set_aside.items()]
    rows += [(r, unit, n, "note", words[r]) for (r, unit), n in notes.items()]
    columns = zip({**_COLUMNS, "meaning": "str"}.items(), zip(*rows, strict=True), strict=True)
    return pd.DataFrame({name: pd.array(values, dtype=kind) for (name, kind), values in columns})


def latest(*frames: pd.DataFrame | None) -> datetime | None:
    """The latest instant that some frames speak of, or None where they speak of none.

    Planned instants (`scheduled_at`, `next_attempt_at`) do not count: they lie in the future.

    Raises:
        ConfigError: A column holds something else than instants, or one that no calendar has.
    """
    instants_seen = [
        int(micros(frame[name]).max(initial=NO_TIME))
        for frame in frames
        if frame is not None
        for name in _PAST
        if name in frame.columns
    ]
    last = max(instants_seen, default=NO_TIME)
    try:
        return None if last == NO_TIME else EPOCH + timedelta(microseconds=last)
    except OverflowError:
        raise ConfigError(
            "an instant of the data is after the year 9999; set those that cannot be to null"
        ) from None
