"""Weeks of calls whose true chances are known, with what a planner must get right: hours, weekdays, growth, holidays, bad days."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

#: A Monday, midnight UTC.
MONDAY = np.datetime64("2026-01-05T00:00", "us")
_WEEKDAYS = np.array([1.0, 1.15, 1.1, 1.05, 0.85, 0.4, 0.0])


@dataclass(frozen=True)
class Office:
    """An office that dials; spreads are standard deviations of logarithms.

    Attributes:
        people: Reached in an average hour.
        weeks: Of history.
        ahead: Weeks after it.
        growth: Of a week.
        days: Spread of days.
        memory: How much a day resembles the day before.
        hours: Spread of hours of a day.
        holidays: Days, counted from the first, on which nobody works.
        told: Whether the forecast is told of them.
        talk: Spread of lengths of talks.
    """

    people: float = 8.0
    weeks: int = 10
    ahead: int = 4
    growth: float = 0.0
    days: float = 0.0
    memory: float = 0.0
    hours: float = 0.0
    holidays: tuple[int, ...] = ()
    told: bool = True
    talk: float = 0.9


def worked(seed: int, o: Office) -> tuple[pd.DataFrame, pd.Timestamp, list[str]]:
    """Calls of history and of the weeks after it, when the history ends, and the holidays that are told."""
    rng = np.random.default_rng([seed, 3])
    size = 7 * (o.weeks + o.ahead)
    shape = 1 + 0.5 * np.sin(np.arange(9, 19) / 3 + rng.uniform(0, 6))
    day = np.arange(size)
    log = o.growth * day / 7
    shock = np.zeros(size)
    for i in day:
        before = shock[i - 1] if i else 0.0
        shock[i] = o.memory * before + rng.normal(0, o.days * (1 - o.memory**2) ** 0.5)
    mean = o.people * np.exp(log + shock)[:, None] * _WEEKDAYS[day % 7][:, None] * shape
    mean *= np.exp(rng.normal(-(o.hours**2) / 2, o.hours, mean.shape))
    mean[list(o.holidays)] = 0
    reached = rng.poisson(mean)
    missed = rng.poisson(3 * mean)
    hour = np.add.outer(day * 24, np.arange(9, 19)).ravel()
    at_hour = np.concatenate([np.repeat(hour, reached.ravel()), np.repeat(hour, missed.ravel())])
    person = np.arange(len(at_hour)) < reached.sum()
    at = MONDAY + ((at_hour + rng.random(len(at_hour))) * 3.6e9).astype(np.int64)
    talk = rng.lognormal(4.5, o.talk, len(at))
    none = np.datetime64("NaT", "us")
    answered = np.where(person, at + np.timedelta64(8, "s"), none)
    calls = pd.DataFrame({
        "id": pd.array(np.char.add("c", np.arange(len(at)).astype(str)), dtype="str"),
        "direction": pd.array(np.full(len(at), "outbound"), dtype="str"),
        "from_number": pd.array(np.full(len(at), "+16025550100"), dtype="str"),
        "to_number": pd.array(np.char.add("+1602", (4_000_000 + np.arange(len(at))).astype(str)), dtype="str"),
        "campaign_id": pd.array(np.full(len(at), "k0"), dtype="str"),
        "status": pd.array(np.where(person, "completed", "no_answer"), dtype="str"),
        "created_at": pd.DatetimeIndex(at, tz="UTC"), "answered_at": pd.DatetimeIndex(answered, tz="UTC"),
        "ended_at": pd.DatetimeIndex(np.where(person, answered + (talk * 1e6).astype("timedelta64[us]"), at + np.timedelta64(30, "s")), tz="UTC"),
        "duration_seconds": pd.array(np.where(person, talk, 0.0), dtype="Float64"),
        "disposition": pd.array(np.where(person, "NI", "NA"), dtype="str"),
        "hangup_cause": pd.array(np.where(person, "NORMAL_CLEARING", "NO_ANSWER"), dtype="str"),
    })  # fmt: skip
    told = (
        [str((MONDAY + np.timedelta64(d, "D")).astype("datetime64[D]")) for d in o.holidays]
        if o.told
        else []
    )
    return calls, pd.Timestamp(MONDAY + np.timedelta64(7 * o.weeks, "D"), tz="UTC"), told


#: Worlds by name.
OFFICES = {
    "plain": Office(),
    "few people": Office(people=1.0),
    "many people": Office(people=40.0, days=0.1),
    "growing": Office(growth=0.03, days=0.1),
    "shrinking": Office(growth=-0.04, days=0.1),
    "bad days": Office(days=0.3),
    "days that resemble their neighbors": Office(days=0.3, memory=0.8),
    "restless hours": Office(hours=0.4, days=0.1),
    "holidays that are told": Office(days=0.1, holidays=(24, 53, 77, 88)),
    "a holiday that nobody told": Office(days=0.1, holidays=(24, 53, 77), told=False),
    "five weeks alone": Office(weeks=5, days=0.15),
}
