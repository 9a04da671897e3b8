"""All calls of the history in order: drawn, scripted and returned ones; knows no dispositions.

The number of calls is exact: slightly more attempts are drawn than wanted, and the surplus is the
last attempts of leads that were to be tried no more anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dialframe.sandbox.seed import outcomes
from dialframe.sandbox.seed.calls import Calls, join
from dialframe.sandbox.seed.dialling import World
from dialframe.sandbox.seed.faults import Script
from dialframe.sandbox.seed.hours import HOUR, MINUTE
from dialframe.sandbox.seed.outcomes import ABANDONED, CODE
from dialframe.sandbox.seed.tables import Flags, Ints

INBOUND_SHARE = 0.04
CLICKED_SHARE = 0.03
DETACHED_SHARE = 0.40
"""Part of the click-to-calls that belong to no campaign."""

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
    """Exactly `total` calls: the scripted ones, 4 % inbound, and drawn ones for the rest."""
    scripted = _scripted(rng, world, scripts)
    room = total - len(scripted) - round(total * INBOUND_SHARE)
    drawn = _without_surplus(rng, drawn, len(drawn) - room)
    inbound = _returned(rng, world, drawn, total - len(scripted) - len(drawn))
    calls = join([scripted, drawn, inbound])
    calls = calls.take(np.argsort(calls.created, kind="stable"))
    clicked, detached = _clicked(rng, calls)
    return Traffic(calls, clicked, detached, outcomes.causes(rng, calls.outcome))


def _scripted(rng: np.random.Generator, world: World, scripts: Sequence[Script]) -> Calls:
    who = np.array([script.lead for script in scripts])
    local = np.array([script.local for script in scripts])
    outcome = np.array([CODE[script.code] for script in scripts])
    none = np.zeros(len(scripts), dtype=np.bool_)
    mains = world.callers.mains
    return Calls(
        who=who,
        created=world.calendar.to_utc(world.people.zone[who], local),
        ring=outcomes.ring_ms(rng, outcome),
        talk=np.minimum(outcomes.talk_ms(rng, outcome), 10 * MINUTE),
        outcome=outcome,
        caller=mains[world.people.campaign[who] % len(mains)],
        attempt=np.zeros(len(scripts), dtype=np.int64),
        awaited=none,
        inbound=none,
        script=np.arange(len(scripts)),
    )


def _without_surplus(rng: np.random.Generator, drawn: Calls, surplus: int) -> Calls:
    spare = _spare(drawn)
    while surplus > 0 and len(spare):
        kept = np.ones(len(drawn), dtype=np.bool_)
        kept[rng.choice(spare, min(surplus, len(spare)), replace=False)] = False
        surplus -= int((~kept).sum())
        drawn = drawn.take(kept)
        spare = _spare(drawn)
    return drawn


def _spare(drawn: Calls) -> Ints:
    """Last attempts on a lead that left nothing behind, not counting its only one."""
    attempts = np.bincount(drawn.who)
    last = (drawn.attempt == attempts[drawn.who]) & (drawn.attempt > 1)
    return np.flatnonzero(last & np.isin(drawn.outcome, _PASSING) & ~drawn.awaited)


def _returned(rng: np.random.Generator, world: World, drawn: Calls, count: int) -> Calls:
    """Calls back from people who saw a missed call, to the number that called them."""
    settled = drawn.ended < world.calendar.ends - _RETURN_WITHIN - 2 * HOUR
    missed = np.flatnonzero(np.isin(drawn.outcome, _RETURNED) & settled)
    seen = drawn.take(np.sort(rng.choice(missed, count, replace=False)))
    lag = np.exp(np.log(25 * MINUTE) + 1.2 * rng.standard_normal(count))
    outcome = np.array([CODE["INFO"], CODE["XFER"], ABANDONED])
    outcome = rng.choice(outcome, count, p=[0.57, 0.25, 0.18])
    return Calls(
        who=seen.who,
        created=seen.ended + np.clip(lag, MINUTE, _RETURN_WITHIN).astype(np.int64),
        ring=outcomes.ring_ms(rng, outcome),
        talk=outcomes.talk_ms(rng, outcome),
        outcome=outcome,
        caller=seen.caller,
        attempt=np.zeros(count, dtype=np.int64),
        awaited=np.zeros(count, dtype=np.bool_),
        inbound=np.ones(count, dtype=np.bool_),
        script=np.full(count, -1),
    )


def _clicked(rng: np.random.Generator, calls: Calls) -> tuple[Flags, Flags]:
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
