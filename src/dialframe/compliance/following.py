"""Calls that come too soon after what happened on an earlier one: a dropped call, a machine, a conversation; knows outcomes, not intentions.

An event counts from the end of its call, as far as that is known. Where no outcome tells of such
events, a call that had another one before it within the time is not evaluable, and so is one after
an answered call whose own outcome nobody says; a call that had none before it keeps the rule
whatever the outcomes were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance.abandonment import DROPPED, LIVE, MACHINE, NO_OUTCOME
from dialframe.compliance.clock import Flags, Ints, local
from dialframe.compliance.facts import CapRule
from dialframe.phones.placing import as_integers

Texts = npt.NDArray[np.object_]

NO_MACHINE: Final = "an outcome that says that a machine answered"
NO_TALK: Final = "an outcome that says that a person was spoken to"

#: What a cap follows, by the outcome of the call before, the input it needs, and in words.
EVENTS: Final = {
    "abandoned": (DROPPED, NO_OUTCOME, "a call that was dropped"),
    "machine": (MACHINE, NO_MACHINE, "a call that a machine was said to answer"),
}
_TOLD: Final = (DROPPED, LIVE, MACHINE)
_HOUR_US: Final = 3_600_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Earlier:
    """Calls of both directions in order of their start, with what is known of how each ended.

    Attributes:
        phones: The customer's number as an integer.
        starts: Start of each call, microseconds.
        ends: Its end, or the latest instant of it that is known.
        outcomes: `dropped`, `live`, `machine`, or None where nobody says.
        answered: Whether it was answered.
        places: Place of an outbound call among those that are graded, -1 for an inbound one.
        mapped: Outcomes that are told of any call.
    """

    phones: Ints
    starts: Ints
    ends: Ints
    outcomes: Texts
    answered: Flags
    places: Ints
    mapped: frozenset[str]

    def of(self, phone: int) -> slice:
        """Where the calls of a number stand."""
        first, last = np.searchsorted(self.phones, [phone, phone + 1])
        return slice(int(first), int(last))


#: Nothing is known of calls before others.
NOTHING: Final = Earlier(
    phones=np.zeros(0, dtype=np.int64),
    starts=np.zeros(0, dtype=np.int64),
    ends=np.zeros(0, dtype=np.int64),
    outcomes=np.zeros(0, dtype=object),
    answered=np.zeros(0, dtype=bool),
    places=np.zeros(0, dtype=np.int64),
    mapped=frozenset(),
)


def take(
    calls: pd.DataFrame, every: pd.DataFrame, outcomes: Mapping[str, str] | pd.Series | None
) -> Earlier:
    """Calls before others.

    Args:
        calls: The outbound calls that are graded, as `intake` gives them.
        every: Calls of both directions; its inbound ones are taken.
        outcomes: Call id to `dropped`, `live` or `machine`.
    """
    inbound = every[(every["direction"].str.strip().str.lower() == "inbound").to_numpy(bool)]
    both = pd.concat(
        [
            calls.assign(phone=calls["to_number"], place=np.arange(len(calls))),
            inbound.assign(phone=inbound["from_number"], place=-1),
        ],
        ignore_index=True,
    )
    phones = as_integers(both["phone"])
    usable = both["created_at"].notna().to_numpy() & (phones >= 0)
    both, phones = both[usable], phones[usable]
    said = pd.Series(dtype=object) if outcomes is None else pd.Series(outcomes, dtype=object)
    said = said[~said.index.duplicated(keep="last")]
    told = said.reindex(both["id"]).to_numpy(dtype=object)
    starts = microseconds(both["created_at"])
    ends = np.maximum.reduce(
        [
            starts,
            *(
                microseconds(both[name].fillna(both["created_at"]))
                for name in ("answered_at", "ended_at")
            ),
        ]
    )
    order = np.lexsort((starts, phones))
    return Earlier(
        phones[order], starts[order], ends[order], told[order],
        both["answered_at"].notna().to_numpy()[order], both["place"].to_numpy(np.int64)[order],
        frozenset(str(each) for each in said.unique()),
    )  # fmt: skip


def after_event(rule: CapRule, phones: Ints, at: Ints, earlier: Earlier) -> tuple[Ints, Flags]:
    """Attempts since the first event within the rule's time, and of which calls nobody can tell.

    Args:
        rule: A cap with a trigger.
        phones: Numbers of the calls that it reaches.
        at: Their starts, microseconds.
        earlier: Calls before them.

    Returns:
        The attempts of each call, itself included, 0 where no event came before; and whether the
        outcome of a call before it is wanted and not told.
    """
    outcome = EVENTS[str(rule.parameters.trigger)][0]
    p = rule.parameters
    length = (p.window_hours or 24 * (p.window_days or 1)) * _HOUR_US
    found = np.zeros(len(at), dtype=np.int64)
    unknown = np.zeros(len(at), dtype=bool)
    for phone, rows in _by_number(phones):
        spot = earlier.of(phone)
        outbound = earlier.places[spot] >= 0
        event = outbound & (earlier.outcomes[spot] == outcome)
        perhaps = outbound & ~event
        if outcome in earlier.mapped:
            perhaps &= _untold(earlier, spot)
        for row in rows:
            near = _near(earlier, spot, event, at[row], length)
            if len(near):
                since = at[rows]
                found[row] = int(((since > near.min()) & (since <= at[row])).sum())
            else:
                unknown[row] = len(_near(earlier, spot, perhaps, at[row], length)) > 0
    return found, unknown


def after_conversation(
    rule: CapRule, places: Ints, phones: Ints, at: Ints, zones: tuple[str, ...], earlier: Earlier
) -> tuple[Ints, Ints, Flags]:
    """In how many zones a call lies in the pause after a conversation, of how many, and the doubtful.

    The day of the conversation is the first day of the pause, by the called party's date. Calls
    that come in start it as well.

    Returns:
        Number of zones in which the call is too soon; number of zones; whether an answered call
        before it may have been the conversation and no outcome says so.
    """
    days = rule.parameters.cooldown_after_conversation_days or 0
    inside = np.zeros(len(at), dtype=np.int64)
    unknown = np.zeros(len(at), dtype=bool)
    reached = set(places.tolist())
    for phone, rows in _by_number(phones):
        spot = earlier.of(phone)
        own = earlier.places[spot]
        inbound = own < 0
        fits = inbound | np.array([place in reached for place in own.tolist()], dtype=bool)
        talked = (earlier.outcomes[spot] == LIVE) | (inbound & earlier.answered[spot])
        perhaps = fits & ~talked & _untold(earlier, spot)
        for which, told in ((fits & talked, True), (perhaps, False)):
            starts = earlier.starts[spot][which]
            if not len(starts):
                continue
            for zone in zones:
                hit = _in_pause(at[rows], starts, zone, days)
                if told:
                    inside[rows] += hit
                else:
                    unknown[rows] |= hit
    return inside, np.full(len(at), len(zones), dtype=np.int64), unknown


def microseconds(at: pd.Series) -> Ints:
    """Instants (UTC, no nulls) as microseconds since 1970."""
    found: Ints = at.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)
    return found


def _untold(earlier: Earlier, spot: slice) -> Flags:
    """Whether each call was answered and nobody says what came of it."""
    told = [outcome in _TOLD for outcome in earlier.outcomes[spot].tolist()]
    found: Flags = earlier.answered[spot] & ~np.array(told, dtype=bool)
    return found


def _near(earlier: Earlier, spot: slice, which: Flags, at: int, length: int) -> Ints:
    """Starts of the calls before an instant that ended within a time of it."""
    starts, ends = earlier.starts[spot][which], earlier.ends[spot][which]
    found: Ints = starts[(starts < at) & (at - ends < length)]
    return found


def _in_pause(at: Ints, starts: Ints, zone: str, days: int) -> Flags:
    """Whether each instant lies after a conversation and within its days, by the clock of a zone."""
    here, there = (local(_instants(values), zone).day for values in (at, starts))
    later = at[:, None] > starts[None, :]
    near = here[:, None] - there[None, :] < days
    found: Flags = np.asarray((later & near).any(axis=1), dtype=bool)
    return found


def _by_number(phones: Ints) -> list[tuple[int, Ints]]:
    if not len(phones):
        return []
    order = np.argsort(phones, kind="stable")
    values, first = np.unique(phones[order], return_index=True)
    return list(zip(values.tolist(), np.split(order, first[1:]), strict=True))


def _instants(at: Ints) -> pd.Series:
    return pd.Series(pd.to_datetime(at, unit="us", utc=True)).astype("datetime64[us, UTC]")
