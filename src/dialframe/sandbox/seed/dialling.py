"""The drawn attempts: one round per attempt number, all leads at once; knows no faults.

A lead is dialled until it gives a final answer, is given up, or its campaign or the history ends.
No number is dialled more than three times in 24 hours or seven times in seven days: an attempt
that would be is put off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialframe.sandbox.seed import outcomes
from dialframe.sandbox.seed.calls import Calls, join
from dialframe.sandbox.seed.hours import (
    DAY,
    FIRST_HOUR,
    HOUR,
    MINUTE,
    Calendar,
    hour,
    is_sunday,
    weekday,
)
from dialframe.sandbox.seed.outcomes import CODE
from dialframe.sandbox.seed.population import SOURCES, Callers, Campaigns, People
from dialframe.sandbox.seed.tables import Flags, Ints

PENDING, KEPT, CANCELLED = 0, 1, 2

# Local clocks jump by an hour twice a year; the margin keeps the windows whole then.
_IN_A_DAY, _A_DAY = 3, DAY + HOUR + 5 * MINUTE
_IN_A_WEEK, _A_WEEK = 7, 7 * DAY + HOUR + 5 * MINUTE
_NEVER = -(10**15)
_LAST_QUICK_RETRY = 20 * HOUR + 50 * MINUTE
_FATES = np.cumsum([0.62, 0.20, 0.08])
"""Callbacks dialled on time, dialled late, cancelled; the rest are lost."""


@dataclass(frozen=True, slots=True, eq=False)
class Callbacks:
    """Promised calls, one value each; instants are UTC milliseconds.

    Attributes:
        who: The lead.
        made: When it was promised.
        due: For when.
        state: `PENDING`, `KEPT` or `CANCELLED`.
    """

    who: Ints
    made: Ints
    due: Ints
    state: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Dialled:
    """What the rounds made.

    Attributes:
        calls: The drawn calls, in no order.
        callbacks: The promised calls.
        planned: Per lead, when the next attempt would have been, UTC milliseconds, or -1.
    """

    calls: Calls
    callbacks: Callbacks
    planned: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Per lead, what a round leaves for the next one; written in place, in this module alone."""

    next: Ints
    recent: Ints
    promise: Ints
    planned: Ints


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What does not change from round to round."""

    calendar: Calendar
    campaigns: Campaigns
    callers: Callers
    people: People


def dial(rng: np.random.Generator, world: World) -> Dialled:
    """Every drawn call of the history."""
    people = world.people
    count = len(people.first)
    state = _State(
        people.first.copy(),
        np.full((count, _IN_A_WEEK), _NEVER),
        np.full(count, -1),
        np.full(count, -1),
    )
    alive = np.flatnonzero((people.first >= 0) & ~people.scripted)
    made: list[Calls] = []
    promised: list[Callbacks] = []
    kept: list[Ints] = []
    attempt = 0
    while len(alive):
        attempt += 1
        calls, local = _round(rng, world, state, alive, attempt)
        kept.append(state.promise[calls.who[calls.awaited]])
        promises, alive = _go_on(rng, world, state, calls, local)
        state.promise[promises.who] += sum(len(part.who) for part in promised)
        made.append(calls)
        promised.append(promises)
    return Dialled(join(made), _settled(promised, kept), state.planned)


def _round(
    rng: np.random.Generator, world: World, state: _State, alive: Ints, attempt: int
) -> tuple[Calls, Ints]:
    """One attempt on each lead, and its local time; leads whose time has run out are left."""
    people, closes = world.people, world.campaigns.closes[world.people.campaign]
    utc = world.calendar.to_utc(people.zone[alive], state.next[alive])
    open_ = utc < closes[alive]
    state.planned[alive[~open_]] = utc[~open_]
    who, utc = alive[open_], utc[open_]
    local = state.next[who]
    awaited = state.promise[who] >= 0
    caller = _callers(rng, world, who, utc)
    outcome = outcomes.draw(rng, _dials(world, who, local, caller, utc, attempt, awaited))
    calls = Calls(
        who=who,
        created=utc,
        ring=outcomes.ring_ms(rng, outcome),
        talk=outcomes.talk_ms(rng, outcome),
        outcome=outcome,
        caller=caller,
        attempt=np.full(len(who), attempt),
        awaited=awaited,
        inbound=np.zeros(len(who), dtype=np.bool_),
        script=np.full(len(who), -1),
    )
    within = calls.ended < closes[who]
    state.planned[who[~within]] = utc[~within]
    return calls.take(within), local[within]


def _dials(
    world: World, who: Ints, local: Ints, caller: Ints, utc: Ints, attempt: int, awaited: Flags
) -> outcomes.Dials:
    people, callers = world.people, world.callers
    source = people.source[who]
    return outcomes.Dials(
        bad=people.bad[who],
        reach=people.reach[who],
        voicemail=people.voicemail[who],
        wrong=np.array([kind.wrong for kind in SOURCES])[source],
        factor=np.array([kind.factor for kind in SOURCES])[source],
        hour=np.clip(hour(local) - FIRST_HOUR, 0, len(outcomes.HUMAN_BY_HOUR) - 1),
        weekday=weekday(local),
        attempt=np.full(len(who), attempt),
        flagged=(caller == callers.new) & (utc >= callers.new_flagged),
        local=callers.places[caller] == people.place[who],
        awaited=awaited,
    )


def _callers(rng: np.random.Generator, world: World, who: Ints, utc: Ints) -> Ints:
    """The number each call is made from: mostly a local one where there is one."""
    callers, people = world.callers, world.people
    chance = rng.random((3, len(who)))
    main = (people.campaign[who] + (chance[0] < 0.5)) % len(callers.mains)
    new = (utc >= callers.new_from) & (utc < callers.new_until) & (chance[1] < 0.5)
    other = np.where(new, callers.new, callers.mains[main])
    local = callers.local[people.place[who]]
    return np.where((local >= 0) & (chance[2] < 0.8), local, other)


def _go_on(
    rng: np.random.Generator, world: World, state: _State, calls: Calls, local: Ints
) -> tuple[Callbacks, Ints]:
    """The callbacks that the calls led to, and the leads that are dialled again."""
    who, calendar = calls.who, world.calendar
    state.recent[who, 1:] = state.recent[who, :-1]
    state.recent[who, 0] = local
    state.promise[who] = -1
    recent = state.recent[who]
    floor = np.maximum(
        recent[:, _IN_A_DAY - 1] + _A_DAY,
        recent[:, _IN_A_WEEK - 1] + _A_WEEK,
    )
    following = _following(rng, calendar, calls.outcome, local)
    early = np.flatnonzero(following <= floor)
    later = calendar.volume(floor[early]) + rng.uniform(0.01, 0.3, len(early))
    following[early] = calendar.moment(later)
    again = ~outcomes.FINAL[calls.outcome] & (calls.attempt < world.people.target[who])
    asked = np.flatnonzero(calls.outcome == CODE["CALLBK"])
    due, dialled, at = _promise(rng, calendar, local[asked], floor[asked])
    again[asked] = dialled == KEPT
    following[asked] = at
    state.next[who] = following
    state.promise[who[asked]] = np.arange(len(asked))
    promises = Callbacks(
        who[asked],
        calls.ended[asked],
        calendar.to_utc(world.people.zone[who[asked]], due),
        np.where(dialled == CANCELLED, CANCELLED, PENDING),
    )
    return promises, who[again]


def _following(rng: np.random.Generator, calendar: Calendar, outcome: Ints, local: Ints) -> Ints:
    """When each lead would be dialled next: busy lines soon, machines in another part of a day."""
    low, high = outcomes.GAPS[outcome].T
    gap = rng.uniform(low, high)
    machine = (outcome == CODE["A"]) | (outcome == CODE["AA"])
    # Either later in the next day's round or earlier in it: not at the hour the machine answered.
    gap = np.where(machine & (rng.random(len(gap)) < 0.5), (gap - 1.25) / 2.5 + 0.6, gap)
    quick = (outcome == CODE["B"]) | (outcome == CODE["CG"])
    soon = local + rng.integers(30 * MINUTE, 40 * MINUTE, len(local))
    today = quick & (soon % DAY < _LAST_QUICK_RETRY) & (soon // DAY == local // DAY)
    start = np.where(quick, calendar.day_after(local), calendar.volume(local))
    return np.where(today, soon, calendar.moment(start + gap))


def _promise(
    rng: np.random.Generator, calendar: Calendar, local: Ints, floor: Ints
) -> tuple[Ints, Ints, Ints]:
    """For when each callback is promised, its fate, and when it is dialled; all local times."""
    count = len(local)
    day = local // DAY + rng.integers(1, 8, count)
    day += is_sunday(day * DAY)
    due = day * DAY + 9 * HOUR + rng.integers(0, 40, count) * 15 * MINUTE
    fate = np.searchsorted(_FATES, rng.random(count), side="right")
    prompt = due + rng.integers(-4 * MINUTE, 18 * MINUTE, count)
    tardy = calendar.moment(calendar.volume(due + 75 * MINUTE) + rng.uniform(0.02, 1.5, count))
    at = np.where(fate == 0, prompt, tardy)
    state = np.select(
        [(fate <= 1) & (at > floor), fate == len(_FATES) - 1], [KEPT, CANCELLED], PENDING
    )
    return due, state, at


def _settled(promised: list[Callbacks], kept: list[Ints]) -> Callbacks:
    """All callbacks, those that a call kept marked so."""
    state = np.concatenate([part.state for part in promised])
    state[np.concatenate(kept)] = KEPT
    return Callbacks(
        np.concatenate([part.who for part in promised]),
        np.concatenate([part.made for part in promised]),
        np.concatenate([part.due for part in promised]),
        state,
    )
