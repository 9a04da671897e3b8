"""Accounts whose truth is known: a fast generator with a switch for each effect and each confounder.

A person answers with a chance that is a product of factors, each of which can be switched on alone:
what is under study (hour, weekday, wait, gap, attempt, caller ID, local presence, source, campaign)
and what merely looks like it (campaign shifts, ladders of attempts, frailty of leads, seasons, fast
web leads, caller IDs bound to campaigns). The truth of an effect is what the chances say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

DAY_US: Final = 86_400_000_000
HOUR_US: Final = 3_600_000_000
START_US: Final = 1_767_571_200_000_000  # Monday 2026-01-05, midnight UTC
#: Area codes of one zone each that keeps no summer time, with hours behind UTC.
AREAS: Final = ((602, 7), (480, 7), (623, 7), (808, 10), (787, 4))
EVENING: Final = (17, 20)
#: Day from which on the first campaign changes, where it does: two weeks before `AS_OF`.
LATELY_DAY: Final = 32
AS_OF: Final = "2026-02-20"


@dataclass(frozen=True)
class Switches:
    """What is going on in a world; every multiplier of 1 and every spread of 0 is off.

    Attributes:
        leads: How many.
        campaigns: How many.
        sources: How many.
        weeks: Over how many weeks leads arrive.
        base: Chance that a person answers, before everything else.
        hour: Multiplier from 17:00 to 20:59 local time.
        weekday: Multiplier on Saturdays.
        wait: Multiplier of leads first dialed a day or more after they arrived.
        gap: Multiplier of attempts a day or more after the last one.
        gap_until: Hours from which on it is off again.
        attempt: Multiplier of each further attempt.
        local: Multiplier of caller IDs of the called number's area code.
        sick: Share of caller IDs that lose their answers.
        sick_keeps: Part of their answers that these keep.
        sick_from: Part of the time after which they do.
        source_effect: Multiplier of the first source.
        campaign_effect: Multiplier of the first campaign.
        lately: Multiplier of the first campaign from `LATELY_DAY` on.
        source_spread: Standard deviation of the log rates of sources (not under study).
        campaign_spread: The same of campaigns.
        season: Fall of the log rate from the first week to the last.
        frailty: Variance of how easily a lead is reached, relative to its mean.
        shifts: Campaigns are dialed at hours of their own.
        ladders: Attempts follow a ladder: later ones at other hours and after longer gaps.
        bound: Caller IDs belong to one campaign each.
        web_first: The first source is dialed within minutes, the others after days.
        staggered: Campaigns run at different times.
        late: Share of dispositions that are logged days after the call.
        dead: Share of leads whose number is not in service.
        callers: How many caller IDs.
        days: Standard deviation of the log rate of a campaign's days, each of its own.
        areas: The same of area codes.
        office: Calls are made by the clock of the office, not of the person called.
        shared: Share of the leads that have the number of another lead of their campaign's neighbor.
        giant: The first source has most leads.
        paused: Campaigns pause for two weeks in the middle.
        stops: Chance that a running campaign pauses after a day, for two to seven days each time.
        delay: Mean days until a disposition is logged; those that are not yet are not there.
        until: Day at which the data ends; 0 for the last call.
    """

    leads: int = 1600
    campaigns: int = 4
    sources: int = 4
    weeks: int = 8
    base: float = 0.14
    hour: float = 1.0
    weekday: float = 1.0
    wait: float = 1.0
    gap: float = 1.0
    gap_until: float = 1e9
    attempt: float = 1.0
    local: float = 1.0
    sick: float = 0.0
    sick_keeps: float = 0.5
    sick_from: float = 0.45
    source_effect: float = 1.0
    campaign_effect: float = 1.0
    lately: float = 1.0
    source_spread: float = 0.0
    campaign_spread: float = 0.0
    season: float = 0.0
    frailty: float = 0.0
    shifts: bool = False
    ladders: bool = False
    bound: bool = False
    web_first: bool = False
    staggered: bool = False
    late: float = 0.0
    dead: float = 0.04
    callers: int = 12
    days: float = 0.0
    areas: float = 0.0
    office: bool = False
    shared: float = 0.0
    giant: bool = False
    paused: bool = False
    stops: float = 0.0
    delay: float = 0.0
    until: int = 0


@dataclass(frozen=True, eq=False)
class World:
    """One account with its truth.

    Attributes:
        calls: Frame of the calls table.
        leads: Frame of the leads table.
        chance: Of each call, the chance that a person answered.
        truth: What each switch really did here, by name: a difference of rates.
        sick: The caller IDs that are answered half as often.
        since: When they began to be, microseconds.
    """

    calls: pd.DataFrame
    leads: pd.DataFrame
    chance: np.ndarray
    truth: dict[str, float]
    sick: frozenset[str] = field(default_factory=frozenset)
    since: int = 0


@lru_cache(maxsize=48)
def made(seed: int, s: Switches) -> World:
    """One world of a seed; analyses do not change it, and several are asked of it."""
    rng = np.random.Generator(np.random.PCG64(seed))
    n = s.leads
    campaign = rng.integers(0, s.campaigns, n)
    # Sources come in different shares to each campaign.
    lean = rng.random((s.campaigns, s.sources)) + 0.3
    lean[:, 0] += s.giant * 2 * lean[:, 1:].sum(axis=1)
    lean /= lean.sum(axis=1, keepdims=True)
    source = (rng.random(n)[:, None] > np.cumsum(lean, axis=1)[campaign]).sum(axis=1)
    source = np.minimum(source, s.sources - 1)
    area = rng.integers(0, len(AREAS), n)
    behind = np.array([hours for _, hours in AREAS])[area]
    # What came later draws from elsewhere: the worlds of a seed stay what they were.
    more = np.random.Generator(np.random.PCG64([seed, 1]))
    area_log = more.normal(0, s.areas, len(AREAS))
    day_log = more.normal(0, s.days, (s.campaigns, 400))
    span = s.weeks * 7
    opens = np.linspace(0, span * 0.5, s.campaigns)[campaign] if s.staggered else np.zeros(n)
    length = span * (0.5 if s.staggered else 1.0)
    arrived = opens + np.floor(rng.random(n) * length)
    arrived_h = arrived * 24 + rng.uniform(8, 20, n)
    reach = rng.gamma(1 / s.frailty, s.frailty, n) if s.frailty else np.ones(n)
    dead = rng.random(n) < s.dead
    # One person is two leads, in neighboring campaigns and of the same source.
    one, other = more.permutation(n)[: 2 * int(n * s.shared / 2)].reshape(-1, 2).T
    owner_of = np.arange(n)
    owner_of[other], campaign[other] = one, (campaign[one] + 1) % s.campaigns
    for values in (source, area, behind, reach, dead):
        values[other] = values[one]
    runs_on = _running_days(more, s)
    source_log = (
        rng.normal(0, s.source_spread, s.sources) if s.source_spread else np.zeros(s.sources)
    )
    source_log[0] += np.log(s.source_effect)
    campaign_log = (
        rng.normal(0, s.campaign_spread, s.campaigns)
        if s.campaign_spread
        else np.zeros(s.campaigns)
    )
    campaign_log[0] += np.log(s.campaign_effect)
    wait_h = rng.choice([0.3, 3.0, 30.0, 80.0], n, p=[0.3, 0.25, 0.25, 0.2])
    if s.web_first:
        wait_h = np.where(
            source == 0, rng.uniform(0.02, 0.3, n), rng.choice([20.0, 40.0, 90.0], n)
        )
    wait_h = wait_h * rng.uniform(0.8, 1.25, n)
    parts: dict[str, list[np.ndarray]] = {k: [] for k in ("lead", "at", "p", "hour", "person", "gap",
                                                           "attempt", "caller", "near", "wait",
                                                           "weekday", "ill")}  # fmt: skip
    active = np.arange(n)
    last, wait_of = np.zeros(n), np.zeros(n)
    caller_area = np.array([AREAS[i % len(AREAS)][0] for i in range(s.callers)])
    numbers = np.array([f"+1{a}5550{100 + i}" for i, a in enumerate(caller_area)], dtype=object)
    owner = np.arange(s.callers) % s.campaigns
    ill = np.zeros(s.callers, dtype=bool)
    ill[rng.permutation(s.callers)[: round(s.sick * s.callers)]] = True
    middle = span * 24 * s.sick_from
    for k in range(1, 9):
        if not len(active):
            break
        if k == 1:
            at = arrived_h[active] + wait_h[active]
        else:
            shares = (
                [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6]][min(k - 2, 2)]
                if s.ladders else [0.35, 0.35, 0.3]
            )  # fmt: skip
            gap = rng.choice([3.0, 20.0, 70.0], len(active), p=shares)
            at = last[active] + gap * rng.uniform(0.8, 1.4, len(active))
            at += s.paused * 14 * 24 * ((at > span * 12) & (last[active] <= span * 12))
        if k > 1 or not s.web_first:
            at = _shifted(rng, at, last[active], campaign[active], k, s, hold=k == 1)
        day = np.floor(at / 24)
        at = at + 24 * (runs_on[campaign[active], day.astype(int)] - day)
        # What was an hour of the person called is one of the office, six hours behind UTC.
        ahead = s.office * (6 - behind[active])
        at = at + ahead
        local_hour = np.floor(at % 24).astype(int)
        day = np.floor(at / 24)
        caller = _callers(rng, s, active, campaign, area, caller_area, owner)
        near = caller_area[caller] == np.array([a for a, _ in AREAS])[area[active]]
        gap_h = at - ahead - last[active]
        evening = (local_hour >= EVENING[0]) & (local_hour <= EVENING[1])
        if k == 1:
            wait_of[active] = at - arrived_h[active]
        waited = wait_of[active]
        sick_now = ill[caller] & (at > middle)
        weekday = (day.astype(int)) % 7
        p = (
            s.base
            * reach[active]
            * np.exp(source_log[source[active]] + campaign_log[campaign[active]])
        )
        p = p * np.where(evening, s.hour, 1) * np.where(weekday == 5, s.weekday, 1)
        p = p * np.where(waited >= 24, s.wait, 1) * s.attempt ** (k - 1)
        p = p * (np.where((gap_h >= 24) & (gap_h < s.gap_until), s.gap, 1) if k > 1 else 1)
        p = p * np.where(near, s.local, 1) * np.where(sick_now, s.sick_keeps, 1)
        p = p * np.where((campaign[active] == 0) & (at >= LATELY_DAY * 24), s.lately, 1)
        p = p * np.exp(-s.season * (at / 24 / span - 0.5))
        p = p * np.exp(area_log[area[active]] + day_log[campaign[active], day.astype(int)])
        p = np.where(dead[active], 0.0, np.minimum(p, 0.9))
        person = rng.random(len(active)) < p
        for name, value in (("lead", active), ("at", at), ("p", p), ("hour", local_hour),
                            ("person", person), ("gap", gap_h if k > 1 else np.full(len(active), np.nan)),
                            ("attempt", np.full(len(active), k)), ("caller", caller), ("near", near),
                            ("wait", waited), ("weekday", weekday), ("ill", sick_now)):  # fmt: skip
            parts[name].append(value)
        last[active] = at - ahead
        stop = person | (dead[active] & (k > 1)) | (rng.random(len(active)) < 0.12)
        active = active[~stop]
    col = {name: np.concatenate(values) for name, values in parts.items()}
    here = col["at"] + behind[col["lead"]] < (s.until * 24 or np.inf)
    col = {name: values[here] for name, values in col.items()}
    return _framed(
        rng,
        s,
        col,
        campaign,
        source,
        area,
        behind,
        arrived_h,
        dead,
        numbers,
        ill,
        middle,
        owner_of,
    )


def _running_days(more, s):  # type: ignore[no-untyped-def]
    """Of each campaign and day, the day itself or the next one on which the campaign runs."""
    days = np.tile(np.arange(400), (s.campaigns, 1))
    if not s.stops:
        return days
    for mine in days:
        day = 0
        while day < 380:
            day += int(more.geometric(s.stops))
            length = int(more.integers(2, 8))
            mine[day : day + length] = day + length
            day += length + 1
    return days


def _shifted(rng, at, last, campaign, k, s, *, hold):  # type: ignore[no-untyped-def]
    """Local hours at which campaigns dial: whole days, shifts of their own, ladders through the day."""
    low, high = np.full(len(at), 9.0), np.full(len(at), 21.0)
    if s.shifts:
        half = (campaign % 2).astype(bool)
        low, high = np.where(half, 14.0, 9.0), np.where(half, 21.0, 16.0)
    if s.ladders and k > 1:
        late = k % 2 == 0
        low, high = (np.maximum(low, 13.0), high) if late else (low, np.minimum(high, 17.0))
    hour = at % 24
    outside = (hour < low) | (hour >= high)
    drawn = low + (high - low) * rng.random(len(at))
    day = np.floor(at / 24)
    moved = np.where(outside, np.where(hour >= high, day + 1, day) * 24 + drawn, at)
    return np.where(moved <= last + 0.2, moved + 24, moved)


def _callers(rng, s, active, campaign, area, caller_area, owner):  # type: ignore[no-untyped-def]
    """A caller ID for each call: any, one of the campaign's, or half the time a local one."""
    count = s.callers
    if s.bound:
        options = [np.flatnonzero(owner == c) for c in range(s.campaigns)]
        out = np.zeros(len(active), dtype=int)
        for c, mine in enumerate(options):
            rows = campaign[active] == c
            out[rows] = mine[rng.integers(0, len(mine), rows.sum())]
        return out
    out = rng.integers(0, count, len(active))
    want = rng.random(len(active)) < 0.3
    for a, (code, _) in enumerate(AREAS):
        mine = np.flatnonzero(caller_area == code)
        rows = want & (area[active] == a)
        if len(mine):
            out[rows] = mine[rng.integers(0, len(mine), rows.sum())]
    return out


_CODES: Final = ("NA", "A", "B", "NI", "NP", "APPT", "SALE", "ADC")
_MACHINE, _DEAD = _CODES.index("A"), _CODES.index("ADC")


def _texts(words: Sequence[str] | np.ndarray, places: np.ndarray | None = None) -> Any:
    """A column of text: the words, or those at some places."""
    column = pa.array(words, pa.large_string())
    return pd.array(column if places is None else column.take(pa.array(places)), dtype="str")


def _framed(
    rng, s, col, campaign, source, area, behind, arrived_h, dead, numbers, ill, middle, owner_of
):  # type: ignore[no-untyped-def]
    size, everyone = len(col["at"]), np.arange(len(behind))
    at = (
        START_US
        + np.round((col["at"] + behind[col["lead"]]) * HOUR_US / 1000).astype(np.int64) * 1000
    )
    order = np.argsort(at, kind="stable")[::-1]
    spoken, missed = (
        rng.choice(4, size, p=[0.55, 0.2, 0.15, 0.1]),
        rng.choice(3, size, p=[0.6, 0.33, 0.07]),
    )
    code = np.where(col["person"], spoken + 3, np.where(dead[col["lead"]], _DEAD, missed))
    unlogged = np.zeros(size, dtype=bool)
    if s.late:
        held = (rng.random(size) < s.late) & (code != _DEAD)
        unlogged |= held & (col["at"] > col["at"].max() - 72)
    if s.delay:
        logged = col["at"] + 24 * rng.exponential(s.delay, size)
        unlogged |= (logged > (s.until * 24 or col["at"].max())) & (code != _DEAD)
    # Newest first, as the service lists them.
    at, code, lead, caller = (values[order] for values in (at, code, col["lead"], col["caller"]))
    answered = (code == _MACHINE) | ((code > 2) & (code != _DEAD))
    campaigns = [f"cmp_{c}" for c in range(s.campaigns)]
    phones = [
        f"+1{AREAS[a][0]}5{i // 10000:02d}{i % 10000:04d}"
        for i, a in zip(owner_of, area, strict=True)
    ]
    created, none = at.astype("datetime64[us]"), np.datetime64("NaT", "us")
    calls = pd.DataFrame({
        "id": _texts([f"call_{i:024d}" for i in order]),
        "direction": _texts(["outbound"], np.zeros(size, dtype=np.int64)),
        "from_number": _texts(numbers, caller),
        "to_number": _texts(phones, lead),
        "status": _texts(["no_answer", "completed"], answered.astype(np.int64)),
        "created_at": pd.DatetimeIndex(created, tz="UTC"),
        "answered_at": pd.DatetimeIndex(np.where(answered, created + np.timedelta64(9, "s"), none), tz="UTC"),
        "ended_at": pd.DatetimeIndex(created + np.timedelta64(60, "s"), tz="UTC"),
        "duration_seconds": pd.array(np.full(size, 51.0), dtype="Float64"),
        "campaign_id": _texts(campaigns, campaign[lead]),
        "disposition": _texts([*_CODES, None], np.where(unlogged[order], len(_CODES), code)),
        "hangup_cause": _texts(
            ["NORMAL_CLEARING", "UNALLOCATED_NUMBER", "NO_ANSWER"],
            np.select([answered, dead[lead]], [0, 1], default=2),
        ),
    })  # fmt: skip
    leads = pd.DataFrame({
        "id": _texts([f"lead_{i:024d}" for i in everyone]),
        "campaign_id": _texts(campaigns, campaign),
        "phone": _texts(phones),
        "status": _texts(["contacted"], np.zeros(len(behind), dtype=np.int64)),
        "attempts": pd.array(np.bincount(lead, minlength=len(behind)), dtype="Int64"),
        "custom_fields": _texts([f'{{"lead_source": "source {i:02d}"}}' for i in range(s.sources)], source),
        "created_at": pd.DatetimeIndex((START_US + ((arrived_h + behind) * HOUR_US).astype(np.int64)).astype("datetime64[us]"), tz="UTC"),
    })  # fmt: skip
    if s.until:
        leads = leads[arrived_h + behind < s.until * 24].reset_index(drop=True)
    truth = _truth(s, col, campaign, source)
    sick = frozenset(str(numbers[i]) for i in np.flatnonzero(ill))
    return World(calls, leads, col["p"][order], truth, sick, START_US + int(middle * HOUR_US))


def _truth(s, col, campaign, source):  # type: ignore[no-untyped-def]
    """Differences of rates: every call with the effect less every call without."""
    p, evening = col["p"], (col["hour"] >= EVENING[0]) & (col["hour"] <= EVENING[1])
    later = col["attempt"] > 1

    def difference(rows, on, factor):  # type: ignore[no-untyped-def]
        plain = p[rows] / np.where(on[rows], factor, 1)
        return float(plain.mean() * (factor - 1)) if rows.any() else 0.0

    everything = np.ones(len(p), dtype=bool)
    first = col["attempt"] == 1
    return {
        "hour": difference(everything, evening, s.hour),
        "weekday": difference(everything, col["weekday"] == 5, s.weekday),
        "gap": difference(later, np.nan_to_num(col["gap"]) >= 24, s.gap),
        "wait": difference(first, col["wait"] >= 24, s.wait),
        "local": difference(everything, col["near"], s.local),
        "sick": s.sick_keeps - 1 if s.sick else 0.0,
        "source": difference(everything, source[col["lead"]] == 0, s.source_effect),
        "campaign": difference(everything, campaign[col["lead"]] == 0, s.campaign_effect),
    }
