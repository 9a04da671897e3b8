"""All calls of the history in order: drawn attempt by attempt, scripted, and returned ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dialframe.sandbox.seed import call_outcomes
from dialframe.sandbox.seed.call_outcomes import ABANDONED, ANSWERED, CODE
from dialframe.sandbox.seed.people_and_calendar import (
    DAY,
    FIRST_HOUR,
    HOUR,
    MINUTE,
    SOURCES,
    Calendar,
    Callers,
    Campaigns,
    People,
    hour,
    is_sunday,
    weekday,
)
from dialframe.sandbox.seed.planted_faults import Script
from dialframe.sandbox.seed.sizes_and_columns import Flags, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Calls, one value each; instants are UTC milliseconds, lengths milliseconds.

    Attributes:
        lead: The lead whose number it is.
        created: When it began.
        ring: From its beginning to the answer, or to the end without one.
        talk: From the answer to the end; 0 without an answer.
        outcome: What happened, as an index into `outcomes.OUTCOMES`.
        caller: The account's own number in it, as an index into the caller IDs.
        attempt: Which drawn attempt on the lead it is; 0 where it is none.
        awaited: It keeps a callback.
        inbound: The lead called.
        script: Number of the scripted call, or -1.
    """

    lead: Ints
    created: Ints
    ring: Ints
    talk: Ints
    outcome: Ints
    caller: Ints
    attempt: Ints
    awaited: Flags
    inbound: Flags
    script: Ints

    def __len__(self) -> int:
        return len(self.lead)

    @property
    def answered(self) -> Flags:
        """Whether anything answered."""
        answered: Flags = ANSWERED[self.outcome]
        return answered

    @property
    def ended(self) -> Ints:
        """When each ended."""
        return self.created + self.ring + self.talk

    def take(self, rows: Ints | Flags) -> Calls:
        """The calls of these rows, in this order."""
        return Calls(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


def join(parts: Sequence[Calls]) -> Calls:
    """Several sets of calls as one."""
    return Calls(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Calls)
        }
    )


PENDING, KEPT, CANCELLED = 0, 1, 2

# Local clocks jump by an hour twice a year; the margin keeps the windows whole then.
# At most three in 24 hours (Fla. Stat. 501.616(6)(b)), seven in seven days (12 CFR 1006.14(b)(2)(i)).
_IN_A_DAY, _A_DAY = 3, DAY + HOUR + 5 * MINUTE
_IN_A_WEEK, _A_WEEK = 7, 7 * DAY + HOUR + 5 * MINUTE
_NEVER = -(10**15)
_LAST_QUICK_RETRY = 20 * HOUR + 50 * MINUTE
#: Callbacks dialed on time, dialed late, cancelled; the rest are lost.
_FATES = np.cumsum([0.62, 0.20, 0.08])


@dataclass(frozen=True, slots=True, eq=False)
class Callbacks:
    """Promised calls, one value each; instants are UTC milliseconds.

    Attributes:
        lead: The lead.
        made: When it was promised.
        due: For when.
        state: `PENDING`, `KEPT` or `CANCELLED`.
    """

    lead: Ints
    made: Ints
    due: Ints
    state: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Dialed:
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


def dial(rng: np.random.Generator, world: World) -> Dialed:
    """Every drawn call of the history."""
    people = world.people
    count = len(people.first)
    state = _State(
        people.first.copy(),
        np.full((count, _IN_A_WEEK), _NEVER),
        np.full(count, -1),
        np.full(count, -1),
    )
    # Round by round and not lead by lead: a round is one draw for all who are still dialed.
    alive = np.flatnonzero((people.first >= 0) & ~people.scripted)
    made: list[Calls] = []
    promised: list[Callbacks] = []
    kept: list[Ints] = []
    attempt = 0
    while len(alive):
        attempt += 1
        calls, local = _round(rng, world, state, alive, attempt)
        kept.append(state.promise[calls.lead[calls.awaited]])
        promises, alive = _go_on(rng, world, state, calls, local)
        # Rounds number their promises from 0; what came before them is added.
        state.promise[promises.lead] += sum(len(part.lead) for part in promised)
        made.append(calls)
        promised.append(promises)
    callback_states = np.concatenate([part.state for part in promised])
    callback_states[np.concatenate(kept)] = KEPT
    callbacks = Callbacks(
        np.concatenate([part.lead for part in promised]),
        np.concatenate([part.made for part in promised]),
        np.concatenate([part.due for part in promised]),
        callback_states,
    )
    return Dialed(join(made), callbacks, state.planned)


def _round(
    rng: np.random.Generator, world: World, state: _State, alive: Ints, attempt: int
) -> tuple[Calls, Ints]:
    """One attempt on each lead, and its local time; leads whose time has run out are left."""
    people, closes = world.people, world.campaigns.closes[world.people.campaign]
    utc = world.calendar.to_utc(people.zone[alive], state.next[alive])
    open_ = utc < closes[alive]
    state.planned[alive[~open_]] = utc[~open_]
    lead, utc = alive[open_], utc[open_]
    local = state.next[lead]
    awaited = state.promise[lead] >= 0
    caller = _callers(rng, world, lead, utc)
    callers, source = world.callers, people.source[lead]
    dials = call_outcomes.Dials(
        bad=people.bad[lead],
        reach=people.reach[lead],
        voicemail=people.voicemail[lead],
        wrong=np.array([kind.wrong for kind in SOURCES])[source],
        factor=np.array([kind.factor for kind in SOURCES])[source],
        hour=np.clip(hour(local) - FIRST_HOUR, 0, len(call_outcomes.HUMAN_BY_HOUR) - 1),
        weekday=weekday(local),
        attempt=np.full(len(lead), attempt),
        flagged=(caller == callers.new) & (utc >= callers.new_flagged),
        local=callers.places[caller] == people.place[lead],
        awaited=awaited,
    )
    outcome = call_outcomes.draw(rng, dials)
    calls = _place_calls(
        rng, lead, utc, outcome, caller, attempt=np.full(len(lead), attempt), awaited=awaited
    )
    # A campaign that closes takes no call that would end after it.
    within = calls.ended < closes[lead]
    state.planned[lead[~within]] = utc[~within]
    return calls.take(within), local[within]


def _place_calls(
    rng: np.random.Generator, lead: Ints, created: Ints, outcome: Ints, caller: Ints, **marks: Any
) -> Calls:
    """Calls that ring and talk as their outcomes do; drawn outbound ones unless `marks` says otherwise."""
    count = len(lead)
    plain = {
        "attempt": np.zeros(count, dtype=np.int64),
        "awaited": np.zeros(count, dtype=np.bool_),
        "inbound": np.zeros(count, dtype=np.bool_),
        "script": np.full(count, -1),
    }
    # Ringing is drawn before talking: the other way round is another account for every seed.
    ring = call_outcomes.ring_ms(rng, outcome)
    talk = call_outcomes.talk_ms(rng, outcome)
    return Calls(lead, created, ring, talk, outcome, caller, **{**plain, **marks})


def _callers(rng: np.random.Generator, world: World, lead: Ints, utc: Ints) -> Ints:
    """The number each call is made from: mostly a local one where there is one."""
    callers, people = world.callers, world.people
    chance = rng.random((3, len(lead)))
    # Without a local caller ID: one of two main numbers, by campaign, or the new one while it is in use.
    main = (people.campaign[lead] + (chance[0] < 0.5)) % len(callers.mains)
    new = (utc >= callers.new_from) & (utc < callers.new_until) & (chance[1] < 0.5)
    other = np.where(new, callers.new, callers.mains[main])
    local = callers.local[people.place[lead]]
    return np.where((local >= 0) & (chance[2] < 0.8), local, other)


def _go_on(
    rng: np.random.Generator, world: World, state: _State, calls: Calls, local: Ints
) -> tuple[Callbacks, Ints]:
    """The callbacks that the calls led to, and the leads that are dialed again."""
    lead, calendar = calls.lead, world.calendar
    # The last seven attempts, newest first: both limits are read off them.
    state.recent[lead, 1:] = state.recent[lead, :-1]
    state.recent[lead, 0] = local
    state.promise[lead] = -1
    recent = state.recent[lead]
    floor = np.maximum(
        recent[:, _IN_A_DAY - 1] + _A_DAY,
        recent[:, _IN_A_WEEK - 1] + _A_WEEK,
    )
    following = _next_attempts(rng, calendar, calls.outcome, local)
    # Ordinary leads are clean by construction: what would break a limit is put off, not left out.
    early = np.flatnonzero(following <= floor)
    later = calendar.volume(floor[early]) + rng.uniform(0.01, 0.3, len(early))
    following[early] = calendar.moment(later)
    again = ~call_outcomes.FINAL[calls.outcome] & (calls.attempt < world.people.target[lead])
    asked = np.flatnonzero(calls.outcome == CODE["CALLBK"])
    due, dialed, at = _promise(rng, calendar, local[asked], floor[asked])
    # A callback that was cancelled or lost ends the lead's calls.
    again[asked] = dialed == KEPT
    following[asked] = at
    state.next[lead] = following
    state.promise[lead[asked]] = np.arange(len(asked))
    promises = Callbacks(
        lead[asked],
        calls.ended[asked],
        calendar.to_utc(world.people.zone[lead[asked]], due),
        np.where(dialed == CANCELLED, CANCELLED, PENDING),
    )
    return promises, lead[again]


def _next_attempts(
    rng: np.random.Generator, calendar: Calendar, outcome: Ints, local: Ints
) -> Ints:
    """When each lead would be dialed next: busy lines soon, machines in another part of a day."""
    low, high = call_outcomes.GAPS[outcome].T
    gap = rng.uniform(low, high)
    machine = (outcome == CODE["A"]) | (outcome == CODE["AA"])
    # Either later in the next day's round or earlier in it: not at the hour the machine answered.
    gap = np.where(machine & (rng.random(len(gap)) < 0.5), (gap - 1.25) / 2.5 + 0.6, gap)
    # A busy line is free again soon; a machine is tried at another time of day.
    quick = (outcome == CODE["B"]) | (outcome == CODE["CG"])
    soon = local + rng.integers(30 * MINUTE, 40 * MINUTE, len(local))
    today = quick & (soon % DAY < _LAST_QUICK_RETRY) & (soon // DAY == local // DAY)
    start = np.where(quick, calendar.day_after(local), calendar.volume(local))
    return np.where(today, soon, calendar.moment(start + gap))


def _promise(
    rng: np.random.Generator, calendar: Calendar, local: Ints, floor: Ints
) -> tuple[Ints, Ints, Ints]:
    """For when each callback is promised, its fate, and when it is dialed; all local times."""
    count = len(local)
    day = local // DAY + rng.integers(1, 8, count)
    day += is_sunday(day * DAY)
    due = day * DAY + 9 * HOUR + rng.integers(0, 40, count) * 15 * MINUTE
    # Two in three are dialed on time, one in five late, the rest cancelled or forgotten.
    fate = np.searchsorted(_FATES, rng.random(count), side="right")
    prompt = due + rng.integers(-4 * MINUTE, 18 * MINUTE, count)
    tardy = calendar.moment(calendar.volume(due + 75 * MINUTE) + rng.uniform(0.02, 1.5, count))
    due_at = np.where(fate == 0, prompt, tardy)
    state = np.select(
        [(fate <= 1) & (due_at > floor), fate == len(_FATES) - 1], [KEPT, CANCELLED], PENDING
    )
    return due, state, due_at


INBOUND_SHARE = 0.04
CLICKED_SHARE = 0.03
#: Part of the click-to-calls that belong to no campaign.
DETACHED_SHARE = 0.40

# A missed call is returned within the day, if at all.
_RETURN_WITHIN = 23 * HOUR
_RETURNED = tuple(CODE[code] for code in ("NA", "A", "AA", "B"))
_PASSING = tuple(
    CODE[code] for code in ("NA", "A", "AA", "B", "HUP", "GATE", "NP", "CG", "BLOCKED")
)


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """Every call, oldest first, with what belongs to it, one value each.

    Attributes:
        calls: The calls.
        clicked: It was placed by hand (click-to-call).
        detached: It belongs to no campaign and names no lead.
        cause: Hang-up cause, as an index into `outcomes.CAUSES`.
    """

    calls: Calls
    clicked: Flags
    detached: Flags
    cause: Ints


def flow(
    rng: np.random.Generator, world: World, drawn: Calls, scripts: Sequence[Script], total: int
) -> Traffic:
    """Exactly `total` calls: the scripted ones, 4% inbound, and drawn ones for the rest."""
    scripted = _scripted_calls(rng, world, scripts)
    # Scripted calls are never left out: the answer sheet names them.
    room = total - len(scripted) - round(total * INBOUND_SHARE)
    spare = _spare(drawn)
    while len(drawn) > room and len(spare):
        is_kept = np.ones(len(drawn), dtype=np.bool_)
        is_kept[rng.choice(spare, min(len(drawn) - room, len(spare)), replace=False)] = False
        drawn = drawn.take(is_kept)
        spare = _spare(drawn)
    inbound = _callback_calls(rng, world, drawn, total - len(scripted) - len(drawn))
    calls = join([scripted, drawn, inbound])
    calls = calls.take(np.argsort(calls.created, kind="stable"))
    clicked, detached = _click_flags(rng, calls)
    return Traffic(calls, clicked, detached, call_outcomes.causes(rng, calls.outcome))


def _scripted_calls(rng: np.random.Generator, world: World, scripts: Sequence[Script]) -> Calls:
    lead = np.array([script.lead for script in scripts])
    local = np.array([script.local for script in scripts])
    outcome = np.array([CODE[script.code] for script in scripts])
    mains = world.callers.mains
    calls = _place_calls(
        rng,
        lead,
        world.calendar.to_utc(world.people.zone[lead], local),
        outcome,
        mains[world.people.campaign[lead] % len(mains)],
        script=np.arange(len(scripts)),
    )
    # Kept short: a scripted call must not run into the next one.
    return replace(calls, talk=np.minimum(calls.talk, 10 * MINUTE))


def _spare(drawn: Calls) -> Ints:
    """Last attempts on a lead that left nothing behind, not counting its only one."""
    attempts = np.bincount(drawn.lead)
    last = (drawn.attempt == attempts[drawn.lead]) & (drawn.attempt > 1)
    return np.flatnonzero(last & np.isin(drawn.outcome, _PASSING) & ~drawn.awaited)


def _callback_calls(rng: np.random.Generator, world: World, drawn: Calls, count: int) -> Calls:
    """Calls back from people who saw a missed call, to the number that called them."""
    settled = drawn.ended < world.calendar.ends - _RETURN_WITHIN - 2 * HOUR
    missed = np.flatnonzero(np.isin(drawn.outcome, _RETURNED) & settled)
    seen = drawn.take(np.sort(rng.choice(missed, count, replace=False)))
    # Log-normal around 25 minutes: most call back at once, some after work.
    lag = np.exp(np.log(25 * MINUTE) + 1.2 * rng.standard_normal(count))
    # Inbound: a question answered, a transfer, or given up while waiting.
    outcome = np.array([CODE["INFO"], CODE["XFER"], ABANDONED])
    outcome = rng.choice(outcome, count, p=[0.57, 0.25, 0.18])
    created = seen.ended + np.clip(lag, MINUTE, _RETURN_WITHIN).astype(np.int64)
    inbound = np.ones(count, dtype=np.bool_)
    return _place_calls(rng, seen.lead, created, outcome, seen.caller, inbound=inbound)


def _click_flags(rng: np.random.Generator, calls: Calls) -> tuple[Flags, Flags]:
    """Which drawn calls an agent placed by hand, and which of those outside any campaign."""
    # A call outside a campaign changes no lead, so it is never one that a lead's state needs.
    passing = np.isin(calls.outcome, _PASSING) & ~calls.awaited & ~calls.inbound
    passing &= calls.script < 0
    wanted = round(len(calls) * CLICKED_SHARE)
    clicked = np.zeros(len(calls), dtype=np.bool_)
    clicked[rng.choice(np.flatnonzero(passing), wanted, replace=False)] = True
    detached = np.zeros(len(calls), dtype=np.bool_)
    free = np.flatnonzero(clicked)
    detached[rng.choice(free, round(wanted * DETACHED_SHARE), replace=False)] = True
    return clicked, detached
