"""Accounts by another hand: a dialer that works through its lists day by day, in days that are not alike.

It shares no code and no idea with `worlds.py`: there a lead draws the moments of its attempts, here a
dialer has a queue and a number of lines, and what happens on a day happens to all that is dialed on it.
The claims were not tuned on how this file draws.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd

MONDAY = np.datetime64("2026-01-05T00:00", "us")
#: Area codes of zones without summer time: hours behind UTC.
ZONES = {602: 7, 808: 10, 787: 4}


@dataclass(frozen=True)
class Dialer:
    """What is going on; all spreads are standard deviations of logarithms.

    Attributes:
        campaigns: Dialed at the same time.
        days: Calendar days; Sundays are off.
        lines: Calls of a campaign and day.
        fresh: Leads of a campaign and week.
        base: Chance of a person at an average call.
        shared: Spread of days common to all campaigns.
        shared_memory: How much a common day resembles the day before (autoregressive).
        own: Spread of days of each campaign alone.
        own_memory: The same of these.
        halves: Spread of half days of each campaign.
        lists: Spread of the quality of lists, uploaded weekly by source.
        frailty: Spread of leads.
        order: How a queue is worked: `new` leads first, `sorted` by quality, or `mixed`.
        bound: Caller IDs belong to one list each.
        rotate: Caller IDs move from campaign to campaign each week.
        late: Mean days until the right outcome is entered; until then the call has none.
        season: Rise from the first day to the last.
        sparse: A few leads are dialed far more often than all others.
        evening: Multiplier from 17:00 on.
        saturday: Multiplier on Saturdays.
        first: Multiplier of the first campaign.
        near: Multiplier where caller ID and number share their area code.
        lately: Multiplier of the first campaign in the last 14 days.
        source: Multiplier of the first source.
    """

    campaigns: int = 8
    days: int = 56
    lines: int = 20
    fresh: int = 40
    base: float = 0.12
    shared: float = 0.0
    shared_memory: float = 0.0
    own: float = 0.0
    own_memory: float = 0.0
    halves: float = 0.0
    lists: float = 0.0
    frailty: float = 0.6
    order: str = "new"
    bound: bool = False
    rotate: bool = False
    late: float = 0.0
    season: float = 0.0
    sparse: bool = False
    evening: float = 1.0
    saturday: float = 1.0
    first: float = 1.0
    near: float = 1.0
    lately: float = 1.0
    source: float = 1.0


@dataclass(frozen=True, eq=False)
class Account:
    """Frames of calls and leads, and of each call the chance that a person answered."""

    calls: pd.DataFrame
    leads: pd.DataFrame
    chance: np.ndarray


def played(seed: int, d: Dialer) -> Account:
    """One account."""
    rng = np.random.default_rng([seed, 7])
    weeks = -(-d.days // 7)
    n = d.campaigns * d.fresh * weeks
    lead_campaign = np.repeat(np.arange(d.campaigns), d.fresh * weeks)
    # Lists arrive on any day of their week.
    lead_day = np.tile(np.repeat(np.arange(weeks) * 7, d.fresh), d.campaigns)
    lead_day = lead_day + np.repeat(rng.integers(0, 6, (d.campaigns, weeks)), d.fresh)
    lead_week = lead_day // 7
    lead_source = rng.integers(0, 4, n)
    batch = (lead_campaign * weeks + lead_week) * 4 + lead_source
    quality = rng.normal(0, d.lists, d.campaigns * weeks * 4)[batch]
    ease = quality + rng.normal(-(d.frailty**2) / 2, d.frailty, n)
    ease += np.log(d.source) * (lead_source == 0)
    areas = np.array(list(ZONES))
    lead_area = rng.integers(0, len(areas), n)
    stubborn = (rng.random(n) < 0.004) if d.sparse else np.zeros(n, bool)
    rest = rng.integers(1, 4, n)
    tries, last, over = np.zeros(n, int), np.full(n, -9), np.zeros(n, bool)
    place = -ease + rng.normal(0, 0.2, n) if d.order == "sorted" else rng.random(n)
    common = _memory(rng, d.days, d.shared, d.shared_memory)
    alone = np.array([_memory(rng, d.days, d.own, d.own_memory) for _ in range(d.campaigns)])
    half = rng.normal(0, d.halves, (d.campaigns, d.days, 2))
    opens = 9 + rng.integers(0, 4, d.campaigns)
    lots: list[tuple[np.ndarray, ...]] = []
    for day in np.arange(d.days)[np.arange(d.days) % 7 != 6]:
        free = (lead_day <= day) & ~over & (tries < np.where(stubborn, 14, 6))
        free &= (day - last >= rest) | stubborn
        key = place + (tries if d.order == "new" else rng.random(n) if d.order == "mixed" else 0)
        key = np.where(stubborn, -5, key)
        for c in range(d.campaigns):
            queue = np.flatnonzero(free & (lead_campaign == c))
            queue = queue[np.argsort(key[queue])][: d.lines]
            if not len(queue):
                continue
            # Lines work through the queue from the opening hour on, eight hours a day.
            hour = opens[c] + 8 * (np.arange(len(queue)) + rng.random(len(queue))) / len(queue)
            if d.order == "mixed":
                hour = rng.permutation(hour)
            pool = (batch[queue] if d.bound else c + (day // 7 if d.rotate else 0)) % 6
            caller = np.where(rng.random(len(queue)) < 0.6, pool, rng.integers(0, 6, len(queue))) if (
                not d.bound
            ) else pool  # fmt: skip
            close = areas[caller % len(areas)] == areas[lead_area[queue]]
            log = np.log(d.base) + ease[queue] + common[day] + alone[c, day]
            log = log + half[c, day, (hour >= opens[c] + 4).astype(int)] + d.season * day / d.days
            log = log + np.log(d.evening) * (hour >= 17) + np.log(d.saturday) * (day % 7 == 5)
            log = log + np.log(d.first) * (c == 0) + np.log(d.near) * close
            log = log + np.log(d.lately) * ((c == 0) & (day >= d.days - 14))
            chance = np.minimum(np.exp(log), 0.95)
            spoke = rng.random(len(queue)) < chance
            tries[queue] += 1
            last[queue] = day
            over[queue[spoke]] = True
            size = len(queue)
            lots.append(
                (queue, np.full(size, day) * 24 + hour, caller, spoke, chance, np.full(size, c))
            )
    lead, hour, caller, spoke, chance, campaign = (
        np.concatenate(part) for part in zip(*lots, strict=True)
    )
    return _frames(rng, d, lead, hour, caller, spoke, chance, campaign,
                   lead_campaign, lead_day, lead_source, areas[lead_area])  # fmt: skip


def _memory(rng: np.random.Generator, days: int, spread: float, memory: float) -> np.ndarray:
    values = np.empty(days)
    values[0] = rng.normal(0, spread)
    for day in range(1, days):
        values[day] = memory * values[day - 1] + rng.normal(0, spread * (1 - memory**2) ** 0.5)
    return values


def _frames(
    rng, d, lead, hour, caller, spoke, chance, campaign, lead_campaign, lead_day, lead_source, area
):  # type: ignore[no-untyped-def]
    behind = np.array([ZONES[int(a)] for a in area])
    at = MONDAY + ((hour + behind[lead]) * 3.6e9).astype(np.int64)
    machine = ~spoke & (rng.random(len(lead)) < 0.3)
    words = np.where(
        spoke, np.where(rng.random(len(lead)) < 0.6, "NI", "SALE"), np.where(machine, "A", "NA")
    )
    answered = spoke | machine
    outcome = pd.Series(words, dtype="str")
    if d.late:
        entered = hour + 24 * rng.exponential(d.late, len(lead))
        outcome = outcome.where(pd.Series(~(answered & (entered > hour.max()))), None)
    numbers = np.array([f"+1{list(ZONES)[i % 3]}5550{100 + i}" for i in range(6)])
    phones = np.array([f"+1{a}4{i:06d}" for i, a in enumerate(area)])
    none = np.datetime64("NaT", "us")
    order = np.argsort(at, kind="stable")[::-1]
    calls = pd.DataFrame({
        "id": pd.array([f"c{i}" for i in range(len(lead))], dtype="str"),
        "direction": pd.array(["outbound"] * len(lead), dtype="str"),
        "from_number": pd.array(numbers[caller], dtype="str"),
        "to_number": pd.array(phones[lead], dtype="str"),
        "campaign_id": pd.array([f"k{c}" for c in campaign], dtype="str"),
        "status": pd.array(np.where(answered, "completed", "no_answer"), dtype="str"),
        "created_at": pd.DatetimeIndex(at, tz="UTC"),
        "answered_at": pd.DatetimeIndex(np.where(answered, at + np.timedelta64(8, "s"), none), tz="UTC"),
        "ended_at": pd.DatetimeIndex(at + np.timedelta64(50, "s"), tz="UTC"),
        "duration_seconds": pd.array(np.where(answered, 42.0, 0.0), dtype="Float64"),
        "disposition": outcome.array,
        "hangup_cause": pd.array(np.where(answered, "NORMAL_CLEARING", "NO_ANSWER"), dtype="str"),
    })  # fmt: skip
    leads = pd.DataFrame({
        "id": pd.array([f"l{i}" for i in range(len(area))], dtype="str"),
        "campaign_id": pd.array([f"k{c}" for c in lead_campaign], dtype="str"),
        "phone": pd.array(phones, dtype="str"),
        "status": pd.array(["contacted"] * len(area), dtype="str"),
        "attempts": pd.array(np.bincount(lead, minlength=len(area)), dtype="Int64"),
        "custom_fields": pd.array([json.dumps({"lead_source": f"s{s}"}) for s in lead_source], dtype="str"),
        "created_at": pd.DatetimeIndex(
            MONDAY + (lead_day * 24 * 3_600_000_000).astype(np.int64), tz="UTC"),
    })  # fmt: skip
    return Account(calls.iloc[order].reset_index(drop=True), leads, chance[order])
