"""How the called party behaves: what becomes of a call, drawn as the synthetic history is drawn.

Everything follows from the seed, the lead and the number of the attempt, so that the same dial gives
the same call wherever it stands in the order.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from dialframe.sandbox import clock
from dialframe.sandbox.clock import SECOND_US
from dialframe.sandbox.dialer import CallPlan
from dialframe.sandbox.seed import call_outcomes
from dialframe.sandbox.seed.after_the_calls import (
    ALWAYS_LOGGED,
    HUMAN_LENGTH,
    LATE_SHARE,
    LATEST_EDIT,
    MISSING_SHARE,
)
from dialframe.sandbox.seed.call_outcomes import CAUSES, CODE, GAPS, OUTCOMES, Dials
from dialframe.sandbox.seed.people_and_calendar import HOUR, SOURCES, Source

_MS_US: Final = 1_000
#: Seconds of wrap-up after which an agent has logged the disposition.
_WRAP_UP_S: Final = (4, 45)
#: Where a lead comes from that names no source of the history.
_OTHER: Final = next(source for source in SOURCES if source.code == "partner")
_SOURCES: Final = {source.code: source for source in SOURCES}
_QUICK: Final = (CODE["B"], CODE["CG"])


@dataclass(frozen=True, slots=True)
class Dial:
    """One number about to be dialed.

    Attributes:
        key: What the number's owner is drawn from: the lead, or the number where there is no lead.
        source: Code of the lead's source, where it names one.
        attempt: Which attempt on the lead it is, from 1.
        at_us: When.
        zone: Time zone of the called party.
        awaited: They asked for a call at this time.
        local: The caller ID has the called number's area code.
        answer_rate: Share of calls that a person answers, or None for the history's parameters.
        gain: How many times as often a person answers, by the arm of an experiment that the lead is in.
    """

    key: str
    source: str | None
    attempt: int
    at_us: int
    zone: str
    awaited: bool
    local: bool
    answer_rate: float | None
    gain: float = 1.0


def plan_call(seed: int, dial: Dial) -> CallPlan:
    """What becomes of one call."""
    rng = _generator(seed, dial.key, dial.attempt)
    outcome = _outcome(rng, dial, _owner(seed, dial.key, dial.source))
    chosen = OUTCOMES[outcome]
    # The history draws whole columns; one call is a column of one.
    outcomes = np.array([outcome])
    ring_us = int(call_outcomes.ring_ms(rng, outcomes)[0]) * _MS_US
    talk_us = int(call_outcomes.talk_ms(rng, outcomes)[0]) * _MS_US
    cause = CAUSES[int(call_outcomes.causes(rng, outcomes)[0])]
    answered_at = dial.at_us + ring_us if chosen.answered else None
    # In volume time a working day is 1; here days of the clock stand for it.
    low, high = GAPS[outcome]
    gap_us = int(float(rng.uniform(low, high)) * 86_400) * SECOND_US
    # A busy or congested line is dialed again soon.
    if outcome in _QUICK:
        gap_us = int(rng.integers(30 * 60, 40 * 60)) * SECOND_US
    plan = CallPlan(
        code=chosen.code or None,
        status=chosen.status,
        cause=cause,
        human=chosen.human,
        answered_at=answered_at,
        ended_at=dial.at_us + ring_us + talk_us,
        final=chosen.final,
        gap_us=gap_us,
    )
    if chosen.human:
        plan = replace(plan, logged_at=_log_instant(rng, outcome, talk_us, plan.ended_at))
    if chosen.code in ("CALLBK", "APPT"):
        plan = replace(
            plan,
            promised_at=_callback_instant(rng, dial, plan.ended_at),
            minutes=int(rng.choice([30, 45, 60])),
        )
    return plan


@dataclass(frozen=True, slots=True)
class _Owner:
    source: Source
    bad: bool
    reach: float
    voicemail: float


def _generator(seed: int, *parts: object) -> np.random.Generator:
    text = "/".join(str(part) for part in (seed, *parts))
    digest = hashlib.sha256(text.encode()).digest()
    # PCG64 and not the default generator, whose algorithm numpy may change.
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))


@lru_cache(maxsize=1 << 15)
def _owner(seed: int, key: str, source_code: str | None) -> _Owner:
    """Who has the number: the same person at every attempt."""
    rng = _generator(seed, key)
    source = _SOURCES.get(source_code or "", _OTHER)
    bad = bool(rng.random() < source.bad)
    # The same law as that of the history's leads (`people_and_calendar.people`).
    reach = float(rng.beta(5.0 * source.reach, 5.0 * (1 - source.reach)))
    return _Owner(source, bad, reach, float(rng.beta(6.0, 2.6)))


def _outcome(rng: np.random.Generator, dial: Dial, owner: _Owner) -> int:
    # Tried first and by itself, so that the share is kept whatever the hour, source or attempt.
    rate = dial.answer_rate
    if rate is not None and rng.random() < rate * dial.gain:
        source = owner.source
        return int(
            call_outcomes.answers(rng, np.array([source.wrong]), np.array([source.factor]))[0]
        )
    local = dt.datetime.fromtimestamp(dial.at_us / SECOND_US, tz=ZoneInfo(dial.zone))
    dials = Dials(
        bad=np.array([owner.bad]),
        reach=np.array([min(owner.reach * dial.gain, 1.0) if rate is None else 0.0]),
        voicemail=np.array([owner.voicemail if rate is None else 0.0]),
        wrong=np.array([owner.source.wrong]),
        factor=np.array([owner.source.factor]),
        # `HUMAN_BY_HOUR` has the local hours 8 to 20; nights count as its edges.
        hour=np.array([min(max(local.hour - 8, 0), 12)]),
        weekday=np.array([local.weekday()]),
        attempt=np.array([dial.attempt]),
        flagged=np.array([False]),
        local=np.array([dial.local]),
        awaited=np.array([dial.awaited]),
    )
    return int(call_outcomes.draw(rng, dials)[0])


def _log_instant(
    rng: np.random.Generator, outcome: int, talk_us: int, ended_at: int
) -> int | None:
    chance = float(rng.random())
    wrap_up_us = int(rng.integers(_WRAP_UP_S[0] * 1_000, _WRAP_UP_S[1] * 1_000)) * _MS_US
    late_us = int(rng.integers(HOUR, LATEST_EDIT)) * _MS_US
    if outcome in ALWAYS_LOGGED:
        return ended_at + wrap_up_us
    # As in the history: only of talks long enough that a disposition would be missed.
    if chance < MISSING_SHARE and talk_us >= HUMAN_LENGTH * _MS_US:
        return None
    return ended_at + (late_us if chance > 1 - LATE_SHARE else wrap_up_us)


def _callback_instant(rng: np.random.Generator, dial: Dial, ended_at: int) -> int:
    """A quarter hour between 09:00 and 18:45 there, one to seven days later, never on a Sunday."""
    zone = ZoneInfo(dial.zone)
    day = dt.datetime.fromtimestamp(ended_at / SECOND_US, tz=zone).date()
    day += dt.timedelta(days=int(rng.integers(1, 8)))
    if day.weekday() == 6:
        day += dt.timedelta(days=1)
    minute = 9 * 60 + int(rng.integers(0, 40)) * 15
    local = dt.datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=zone)
    return clock.from_datetime(local)
