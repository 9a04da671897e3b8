"""Accounts by a third hand: agents who take the next person from a heap, minute by minute, in plain Python.

Nothing here is shared with `worlds.py` (arrays, one draw a lead) or `other_worlds.py` (a queue a campaign and day). A person
answers with a logistic chance, agents are busy while they talk, and lists, moods and clocks are objects of their own.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pandas as pd

from dialframe import frames

OPENING = datetime(2026, 2, 2, tzinfo=UTC)
#: Area code and hours behind UTC, of places without summer time.
PLACES = (("480", 7), ("808", 10), ("787", 4), ("602", 7))


@dataclass(frozen=True)
class Shop:
    """How an account lives.

    Attributes:
        campaigns: How many, each with an agent or more.
        agents: Agents of a campaign.
        weeks: How long.
        lists: Lists that are uploaded on each Monday, all campaigns getting a part of each.
        people: People of a list and campaign.
        base: Log odds of a person at the phone.
        outages: Days on which everything goes worse for everybody: a holiday, a flagged trunk.
        mood: Spread of days, common to all, each like the day before by `memory`.
        memory: How much.
        lunch: Spread of half days, common to all.
        quality: Spread of lists.
        stubborn: Spread of people.
        ranked: Agents take the best lead of a list first.
        own_callers: Each list has caller IDs of its own.
        entered: Mean days until an outcome is entered.
        silent: Part of the answered calls that never get an outcome.
        drift: Rise of the log odds over the whole time.
        most: Attempts on a person at most; a few are tried three times as often.
    """

    campaigns: int = 3
    agents: int = 2
    weeks: int = 8
    lists: int = 3
    people: int = 24
    base: float = -1.9
    outages: int = 0
    mood: float = 0.0
    memory: float = 0.0
    lunch: float = 0.0
    quality: float = 0.0
    stubborn: float = 0.7
    ranked: bool = False
    own_callers: bool = False
    entered: float = 0.0
    silent: float = 0.0
    drift: float = 0.0
    most: int = 6


@dataclass
class Person:
    """Somebody on a list."""

    number: str
    behind: int
    campaign: str
    source: str
    list_name: str
    arrived: datetime
    ease: float
    tries: int = 0
    limit: int = 6


@dataclass
class Diary:
    """What was dialed."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    chance: list[float] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Account:
    """Frames of calls and leads, and of each call the chance that a person answered."""

    calls: pd.DataFrame
    leads: pd.DataFrame
    chance: Any


def lived(seed: int, shop: Shop) -> Account:
    """One account."""
    luck = Random(f"{seed} {shop}")
    moods = list(_moods(luck, shop))
    people = [person for week in range(shop.weeks) for person in _uploaded(luck, shop, week)]
    diary = Diary()
    for name in sorted({person.campaign for person in people}):
        _dial(luck, shop, moods, [p for p in people if p.campaign == name], diary)
    order = sorted(
        range(len(diary.calls)), key=lambda i: diary.calls[i]["created_at"], reverse=True
    )
    leads = [
        {"id": f"p{i}", "campaign_id": p.campaign, "phone": p.number, "status": "contacted", "attempts": p.tries,
         "custom_fields": f'{{"lead_source": "{p.source}"}}', "created_at": p.arrived}
        for i, p in enumerate(people)
    ]  # fmt: skip
    return Account(
        frames.conform(pd.DataFrame([diary.calls[i] for i in order]), "calls"),
        frames.conform(pd.DataFrame(leads), "leads"),
        [diary.chance[i] for i in order],
    )


def _moods(luck: Random, shop: Shop) -> Iterator[tuple[float, float]]:
    """Of each day, what morning and afternoon add to everybody's log odds."""
    bad = set(luck.sample(range(7 * shop.weeks), shop.outages))
    mood = luck.gauss(0, shop.mood)
    for day in range(7 * shop.weeks):
        rise = shop.drift * day / (7 * shop.weeks) - 1.2 * (day in bad)
        yield rise + mood + luck.gauss(0, shop.lunch), rise + mood + luck.gauss(0, shop.lunch)
        mood = shop.memory * mood + luck.gauss(0, shop.mood * math.sqrt(1 - shop.memory**2))


def _uploaded(luck: Random, shop: Shop, week: int) -> Iterator[Person]:
    for place in range(shop.lists):
        quality, arrived = (
            luck.gauss(0, shop.quality),
            OPENING + timedelta(days=7 * week, hours=11),
        )
        for campaign in range(shop.campaigns):
            for _ in range(shop.people):
                area, behind = luck.choice(PLACES)
                number = f"+1{area}{luck.randrange(2_000_000, 9_999_999)}"
                limit = 3 * shop.most if luck.random() < 0.01 else shop.most
                yield Person(number, behind, f"team {campaign}", f"list {place}", f"{week}-{place}", arrived,
                             quality + luck.gauss(0, shop.stubborn), limit=limit)  # fmt: skip


def _dial(
    luck: Random, shop: Shop, moods: list[tuple[float, float]], people: list[Person], diary: Diary
) -> None:
    """Agents of a campaign take the next person whose time has come, between 9 and 18 of that person's clock."""
    heap: list[tuple[float, float, int]] = []
    for i, person in enumerate(people):
        wait = luck.expovariate(1 / 20)
        heap.append(((person.arrived - OPENING) / timedelta(hours=1) + wait, luck.random(), i))
    heapq.heapify(heap)
    opens = 9 + luck.randrange(3)
    for day in range(7 * shop.weeks):
        if day % 7 == 6:
            continue
        ready: list[tuple[float, int]] = []
        while heap and heap[0][0] < 24 * (day + 1):
            _, tie, i = heapq.heappop(heap)
            ready.append((-people[i].ease + luck.gauss(0, 0.3) if shop.ranked else tie, i))
        ready.sort()
        free = [opens + luck.random() / 10 for _ in range(shop.agents)]
        heapq.heapify(free)
        for at, (_, i) in enumerate(ready):
            clock = heapq.heappop(free)
            if clock > opens + 8:
                for _, left in ready[at:]:
                    heapq.heappush(heap, (24.0 * (day + 1), luck.random(), left))
                break
            spoke, length = _call(luck, shop, moods[day], people[i], day, clock, diary)
            heapq.heappush(free, clock + length + luck.expovariate(6))
            if not spoke and people[i].tries < people[i].limit:
                again = 24 * day + clock + luck.choice((4, 20, 44, 70))
                heapq.heappush(heap, (again, luck.random(), i))


def _call(
    luck: Random, shop: Shop, mood: tuple[float, float], person: Person, day: int, clock: float, diary: Diary
) -> tuple[bool, float]:  # fmt: skip
    """Dial once; whether a person spoke, and hours that it took."""
    odds = shop.base + person.ease + mood[clock >= 13]
    chance = 1 / (1 + math.exp(-odds))
    spoke = luck.random() < chance
    machine = not spoke and luck.random() < 0.35
    person.tries += 1
    at = OPENING + timedelta(days=day, hours=clock + person.behind)
    length = luck.expovariate(40) if spoke else 0.004
    outcome = luck.choice(("NI", "NI", "CALLBK", "SALE")) if spoke else "A" if machine else "NA"
    ends = OPENING + timedelta(days=7 * shop.weeks)
    late = shop.entered and at + timedelta(days=luck.expovariate(1 / shop.entered)) > ends
    if (spoke or machine) and (late or luck.random() < shop.silent):
        outcome = None
    caller = abs(hash_of(person.list_name)) % 5 if shop.own_callers else luck.randrange(5)
    diary.calls.append({
        "id": f"d{len(diary.calls)}", "direction": "outbound", "from_number": f"+1480555010{caller}",
        "to_number": person.number, "campaign_id": person.campaign,
        "status": "completed" if spoke or machine else "no_answer", "created_at": at,
        "answered_at": at + timedelta(seconds=7) if spoke or machine else None,
        "ended_at": at + timedelta(hours=length, seconds=9), "duration_seconds": 3600 * length,
        "disposition": outcome, "hangup_cause": "NORMAL_CLEARING" if spoke or machine else "NO_ANSWER",
    })  # fmt: skip
    diary.chance.append(chance)
    return spoke, length


def hash_of(text: str) -> int:
    """A number that a text always has."""
    return sum(ord(letter) * 31**place for place, letter in enumerate(text))
