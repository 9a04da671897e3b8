"""What was logged of each call, faults of logging included; knows what really happened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialframe.sandbox.seed.dialling import World
from dialframe.sandbox.seed.hours import HOUR, SECOND
from dialframe.sandbox.seed.outcomes import ABANDONED, ANSWERED, CODE, HUMAN
from dialframe.sandbox.seed.sizes import DURATION_IS_TOTAL, VOICEMAIL_AS_COMPLETED, FaultPlan
from dialframe.sandbox.seed.tables import Flags, Ints
from dialframe.sandbox.seed.traffic import Traffic

HUMAN_LENGTH = 30 * SECOND
"""Talk from which on a call with a person must have a disposition."""
MISSING_SHARE = 0.025
LATE_SHARE = 0.015
LATEST_EDIT = 48 * HOUR
NOT_LOGGED = -1

# A missing one of these would take a promise or a request out of the account's books.
_KEPT = tuple(CODE[code] for code in ("DNC", "CALLBK", "APPT", "SALE"))
_FIRST_LOGGED = tuple(CODE[code] for code in ("NP", "GATE", "HUP", "NI"))


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What the account's records say of each call, and where they are wrong.

    Attributes:
        logged: Disposition of each call, as an index into `outcomes.OUTCOMES`, or -1.
        duration_s: Duration of each call in whole seconds, or -1 where there is none.
        missing: Rows whose disposition was never logged.
        late: Rows whose disposition was changed later.
        late_from: What was logged first, for each row of `late`.
        late_at: When it was changed, UTC milliseconds, for each row of `late`.
        unmapped: Rows with a disposition that no taxonomy knows.
    """

    logged: Ints
    duration_s: Ints
    missing: Ints
    late: Ints
    late_from: Ints
    late_at: Ints
    unmapped: Ints


def mark(rng: np.random.Generator, world: World, traffic: Traffic, plan: FaultPlan) -> Marks:
    """Log every call, with the faults of `plan` and the shares above."""
    calls = traffic.calls
    logged = np.where(calls.outcome == ABANDONED, NOT_LOGGED, calls.outcome)
    hidden = world.campaigns.with_trait(VOICEMAIL_AS_COMPLETED)
    machine = ANSWERED[calls.outcome] & ~HUMAN[calls.outcome] & ~traffic.detached
    logged[machine & (world.people.campaign[calls.who] == hidden)] = CODE["PU"]
    spoken = HUMAN[calls.outcome] & ~calls.inbound & (calls.script < 0) & ~traffic.detached
    long = spoken & (calls.talk >= HUMAN_LENGTH)
    free = spoken & ~np.isin(calls.outcome, _KEPT)
    missing = _pick(rng, free & long, _some(MISSING_SHARE, long))
    free[missing] = False
    odd = np.isin(calls.outcome, [CODE["NP"], CODE["GATE"]])
    unmapped = _pick(rng, free & odd, plan.unmapped)
    free[unmapped] = False
    settled = calls.ended < world.calendar.ends - LATEST_EDIT
    late = _pick(rng, free & settled, _some(LATE_SHARE, spoken))
    logged[missing] = NOT_LOGGED
    logged[unmapped] = CODE["ZZTOP"]
    wait = rng.integers(HOUR, LATEST_EDIT, len(late))
    return Marks(
        logged,
        _durations(world, traffic),
        missing,
        late,
        _earlier(rng, calls.outcome[late]),
        calls.ended[late] + wait,
        unmapped,
    )


def _pick(rng: np.random.Generator, allowed: Flags, count: int) -> Ints:
    rows = np.flatnonzero(allowed)
    return np.sort(rng.choice(rows, min(count, len(rows)), replace=False))


def _some(share: float, of: Flags) -> int:
    return max(1, round(share * int(of.sum())))


def _earlier(rng: np.random.Generator, outcome: Ints) -> Ints:
    """A disposition other than the right one."""
    turn = rng.integers(0, len(_FIRST_LOGGED) - 1, len(outcome))
    codes = np.array(_FIRST_LOGGED)
    same = codes[turn] == outcome
    return np.where(same, codes[-1 - turn], codes[turn])


def _durations(world: World, traffic: Traffic) -> Ints:
    """Talk where there was an answer; in one campaign the whole call, answered or not."""
    calls = traffic.calls
    whole = world.people.campaign[calls.who] == world.campaigns.with_trait(DURATION_IS_TOTAL)
    total = whole & ~traffic.detached
    length = np.where(total, calls.ring + calls.talk, calls.talk)
    return np.where(total | calls.answered, _round_s(length), -1)


def _round_s(length: Ints) -> Ints:
    return (length + SECOND // 2) // SECOND
